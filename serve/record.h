/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event as a record of a shared journal, and back. All numbers are little-endian:
 *     format (1 byte, 1), kind (1), origin (8), counter (8), then by kind
 *     decision   handle (8), key (8), round (8), probability (8), seen (8), label, greedy, note (4 each), x as it came
 *     feedback   the decision's handle (8) and key (8), right (1), labelled (1), the true label's name
 *     lesson     length of the label's name (2), the name, x as it came
 *     label      its name
 *     hash       seq (8), XXH3-64 of the model then (8), the node's name
 * The time is the record's own, given by the broker. Places (seq) are not in it: each node counts the events it
 * applies.
 */
#ifndef SERVE_RECORD_H
#define SERVE_RECORD_H

#include "event.h"
#include "http_error.h"
#include "text.h"

#define RECORD_FORMAT 1

/* Until it is applied: of feedback, x is the true label's name and answer.label 0 when it was told; of a lesson, label
 * is the length of its label's name, which stands in front of the example in x. */
void record_write(const struct event *e, struct text *ret);
/* Error code "newer": a format that this program does not know; "damaged": not a record. */
bool record_read(const void *bytes, size_t size, struct event **ret, struct http_error *err);

#endif
