/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions of the libraries in use, and which of them have defects that matter to a server. */
#ifndef SERVE_LIBRARIES_H
#define SERVE_LIBRARIES_H

#include "util/text.h"

/* One line of the event log for each library with a defect. */
void libraries_log(void);
/* The same as an array in JSON. */
void libraries_json(struct text *t);
void libraries_metrics(struct text *t);

#endif
