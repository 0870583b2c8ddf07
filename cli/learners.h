/* SPDX-License-Identifier: BSD-3-Clause */
/* The learners that a command plays: --learner, and the settings that hold for all of them. */
#ifndef LEARNERS_H
#define LEARNERS_H

#include "hunch.h"
#include "play/grid.h"
#include "options.h"

struct learners {
    char **texts; /* as the user wrote them */
    size_t n;
    const char *ties, *normalize, *bias;
    struct grid *grids; /* of each, with ties, normalize and bias */
};

extern const struct cli_option learners_options[]; /* for a struct learners */

void learners_add(struct learners *l, const char *text);
/* Bad specs are found here, before any data is read; the default learner plays when none was given. -1: go on, else the
 * exit code. */
int learners_check(struct learners *l, const char *command);
/* A learner that was named without any setting tries several values of the one that matters most. */
void learners_widen(struct learners *l);
void learners_free(struct learners *l);
/* The learner's spec without the settings that have their defaults; to be freed. */
char *learner_short_spec(const hunch *h);

#endif
