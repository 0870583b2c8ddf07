/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Learners inside a learner: what an algorithm over other algorithms (exp4) is made of. A child sees the example as its
 * parent does, normalised and with its bias, so it has no such settings of its own. It is asked for its greedy label
 * and told of the parent's choices (round_learn, round_teach); it never chooses itself.
 */
#ifndef CHILD_H
#define CHILD_H

#include "state/state.h"

/* A learner of the parent's classes, with the parent's generator as it is now; spec as hunch_create takes it. */
hunch_status child_create(struct state **ret, const char *spec, const struct state *parent, hunch_error *reterr);
hunch_status child_copy(struct state **ret, const struct state *child);
/* The child goes on as other, which is of the same algorithm, does, with settings of its own (none of which is a text);
 * in the memory that it has, if that will do. May fail with nothing changed. */
hunch_status child_follow(struct state **inout, const struct state *other);
void child_free(struct state *child); /* NULL is fine */

/* The child's greedy label; scratch is of SCORE_ROOM * lanes numbers. */
uint32_t child_advice(const struct state *child, const struct vec *x, real *scratch);

/* As bytes; reading is for a child just made of the same spec, which must be freed when it fails. */
size_t child_size(const struct state *child);
void child_write(const struct state *child, void *bytes);
hunch_status child_read(struct state *child, const void *bytes, size_t size, hunch_error *reterr);

#endif
