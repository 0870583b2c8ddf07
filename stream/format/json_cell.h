/* SPDX-License-Identifier: BSD-3-Clause */
/* A JSON value as a cell of a table: for JSON lines and for rows that are sent to the server. */
#ifndef JSON_CELL_H
#define JSON_CELL_H

#include <jansson.h>

#include "base/number.h"

/* Strings as they are, numbers as shortly as they can be written (a category 0.1 is called 0.1), true and false by
 * name, null empty. room is for what is no string. NULL: an object or an array. */
const char *json_cell(const json_t *value, char room[NUMBER_TEXT], size_t *ret_length);

#endif
