/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/json_cell.h"

#include <stdio.h>
#include <string.h>

const char *json_cell(const json_t *value, char room[NUMBER_TEXT], size_t *ret_length)
{
    if (json_is_object(value) || json_is_array(value))
        return NULL;
    if (json_is_string(value)) {
        *ret_length = json_string_length(value);
        return json_string_value(value);
    }
    if (json_is_real(value)) {
        *ret_length = number_print(json_real_value(value), room);
        return room;
    }
    if (json_is_integer(value))
        snprintf(room, NUMBER_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(room, NUMBER_TEXT, "%s", json_is_true(value) ? "true" : json_is_false(value) ? "false" : "");
    *ret_length = strlen(room);
    return room;
}
