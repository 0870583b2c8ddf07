/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event as a record of a shared journal, and back. All numbers are little-endian:
 *     format (1 byte, 1), kind (1), origin (8), counter (8), the nodes' time (8), then by kind
 *     decision   handle (8), key (8), round (8), probability (8), seen (8), the model's own chance of the label (8),
 *                label, greedy, note (4 each), chooser, unknown chance, deferred (1 each), act_at (8), act (1),
 *                length of the eligible labels (4) and these, of the client's id (1) and this, x as it came
 *     feedback   the decision's handle (8) and key (8), right (1), labelled (1), silent (1), the true
 *                label's name
 *     lesson     length of the label's name (2), the name, x as it came
 *     label      its name
 *     retire     retired (1), the label's name
 *     hash       seq (8), XXH3-64 of the model then (8), the node's name
 * The nodes' time is in milliseconds by the clocks of most nodes when the event was proposed; 0: not known. Places (seq)
 * are not in it: each node counts the events it applies.
 */
#ifndef SERVE_RECORD_H
#define SERVE_RECORD_H

#include "event/event.h"
#include "util/http_error.h"
#include "util/text.h"

#define RECORD_FORMAT 1
#define CLOCK_SLACK_MS 60000

/* Until it is applied: of feedback, x is the true label's name and answer.label 0 when it was given; of a lesson, label
 * is the length of its label's name, which is in front of the example in x. */
void record_write(const struct event *e, struct text *ret);
/* When an event happened: by the broker's clock, unless that is ahead of most nodes' clocks by more than a minute. A broker
 * whose clock is far ahead would let decisions expire. */
static inline int64_t record_time(int64_t broker_ms, int64_t nodes_ms)
{
    return nodes_ms && broker_ms - CLOCK_SLACK_MS > nodes_ms ? nodes_ms + CLOCK_SLACK_MS : broker_ms;
}

/* time_ms of the event is the nodes' time. Error code "newer": a format that this program does not know; "damaged": not a record. */
bool record_read(const void *bytes, size_t size, struct event **ret, struct http_error *err);

#endif
