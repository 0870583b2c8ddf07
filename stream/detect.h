/* SPDX-License-Identifier: BSD-3-Clause */
/* Which format a file has. */
#ifndef DETECT_H
#define DETECT_H

#include "parser.h"

/* By the name's ending, without .gz and its like; STREAM_AUTO: it tells nothing. */
enum stream_format detect_by_name(const char *path);
/* By the first line that is not empty or a comment. */
enum stream_format detect_by_text(const char *text, size_t size);
const struct format *detect_format(enum stream_format format); /* NULL: not a text format */

#endif
