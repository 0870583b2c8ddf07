/* SPDX-License-Identifier: BSD-3-Clause */
/* Which format a file has. */
#ifndef DETECT_H
#define DETECT_H

#include "table/parser.h"

/* By the name's ending, without .gz and its like; STREAM_AUTO: it tells nothing. */
enum stream_format detect_by_name(const char *path);
/* By the first line that is not empty or a comment. */
enum stream_format detect_by_text(const char *text, size_t size);
/* The program of jq that makes columns of objects and arrays within an object. */
#define JQ_FLAT "[paths(scalars|[.]) as $p|{($p|map(tostring)|join(\".\")):getpath($p)}]|add"

/* HUNCH_EINVAL: these are the first bytes of something that is known and no text; the message has the command that
 * turns it into CSV. */
hunch_status detect_refuse(const char *path, const char *text, size_t size, hunch_error *reterr);
/* JSON that is no lines of objects: an array, or an object of several lines; and the refusal that has the command. */
bool detect_document(const char *text, size_t size);
hunch_status detect_refuse_document(const char *path, const char *text, size_t size, hunch_error *reterr);
const struct format *detect_format(enum stream_format format); /* NULL: not a text format */

#endif
