/* SPDX-License-Identifier: BSD-3-Clause */
/* The labels among which a decision was made, as the log has them: numbers and ranges of numbers, increasing, such as
 * "0-3,7". */
#ifndef SERVE_LABEL_SET_H
#define SERVE_LABEL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* in: by label, whether it belongs to the set. malloc'd; NULL: out of memory. */
char *label_set_write(const bool *in, uint32_t labels);
/* Numbers below `labels`, malloc'd; false: the text is no such set, or out of memory. */
bool label_set_read(const char *text, uint32_t labels, uint32_t **ret, size_t *ret_n);

#endif
