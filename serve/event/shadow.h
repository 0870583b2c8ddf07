/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a version would have done while another one decided.
 *
 * What a version would have shown is its greedy label when the decision was made, before it learned from it. An answer
 * counts 1 / probability where that was the label shown, and 0 elsewhere (inverse propensity scores). The gain over the
 * version that decides is estimated from the same answers, greedy label against greedy label: where both are the same it
 * is 0, elsewhere right and wrong answers to either count 1 / probability for or against it. Its interval holds after
 * every answer at once (base/value_bounds.h), and is reset when another version decides.
 */
#ifndef SERVE_SHADOW_H
#define SERVE_SHADOW_H

#include <jansson.h>

#include "base/value_bounds.h"
#include "event/event.h"
#include "util/text.h"

#define SHADOW_PENDING 16384 /* decisions with another greedy label whose answers are awaited */

struct other_label {
    uint64_t seq;
    uint32_t greedy;
};

struct shadow {
    uint64_t decisions, agreed; /* agreed: its greedy label was the one shown */
    uint64_t answers, matched;  /* matched: answers to those */
    uint64_t wrong;             /* of those */
    struct value_bounds value;  /* of showing its greedy label */
    struct value_bounds gain;   /* of (1 + its value - that of the deciding version's greedy label) / 2 */
    uint32_t against;           /* the version that decides; 0: none yet */
    uint64_t since;             /* by which decisions from here on were made */
    uint64_t known;             /* decisions up to here are not counted any more: before its time, or too long ago */
    struct other_label *other; /* in order of seq, a ring: where its greedy label differs from the deciding version's */
    size_t other_room, other_first, other_n;
};

void shadow_free(struct shadow *s);
/* Version `by` made the decision; own: what this one would have. False: out of memory. */
bool shadow_decided(struct shadow *s, const struct event *decision, uint32_t by, const hunch_choice *own);
/* An answer to a decision that another version made. */
void shadow_answered(struct shadow *s, const struct event *decision, bool right);

/* The gain's interval, within [-1, 1]; what it is at least; and whether that is above 0: each at 95 %, so that the first may
 * still contain 0 when the last holds. */
void shadow_gain(const struct shadow *s, double *ret_gain, double *ret_low, double *ret_high);
double shadow_gain_least(const struct shadow *s);
bool shadow_better(const struct shadow *s);

/* An object; bit for bit. */
void shadow_write(const struct shadow *s, struct text *t);
bool shadow_read(struct shadow *ret, const json_t *json);

#endif
