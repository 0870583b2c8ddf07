/* SPDX-License-Identifier: BSD-3-Clause */
/* The state folder: whose it is, and in which version's layout. */
#ifndef SERVE_FOLDER_H
#define SERVE_FOLDER_H

#include <stdbool.h>

#include "util/http_error.h"

#define FOLDER_FORMAT 1 /* of all files in the folder; counted up from the first release on */

/* Makes the folder if need be and wanted, locks it against other processes, checks its version. *ret_fd holds the lock.
 */
bool folder_claim(const char *dir, bool make, int *ret_fd, struct http_error *err);

#endif
