/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Policies over a log: every round is first judged (what would the policy have shown, what does that weigh), then
 * learned from. So a learner is judged by what it knew before each round, as in progressive validation, and so is the
 * model of rewards behind the doubly robust estimate.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include <stdatomic.h>

#include "policy/logged.h"
#include "policy/offpolicy.h"

enum policy_kind { POLICY_LEARNER, POLICY_MODEL, POLICY_LOGGED, POLICY_UNIFORM, POLICY_LABEL };

struct policy {
    enum policy_kind kind;
    const char *name; /* the learner's spec, the model's file, the label */
    hunch *learner;   /* of POLICY_MODEL: given; of POLICY_LEARNER: made here, and the caller's to free */
    /* what came out */
    struct offpolicy_row *rows; /* those whose probability is known */
    double direct;              /* what the model of rewards expects of its labels, the mean over all rounds */
    uint64_t
        unsupported; /* rounds in which the log's policy could show one label, and this one would have shown another */
    struct offpolicy result;
};

struct replay_options {
    uint64_t seed;
    uint32_t classes; /* at least that many */
    double clip;      /* weights are cut here; 0: they are not */
    struct offpolicy_options offpolicy;
    const atomic_bool *stop;                                         /* may be NULL */
    void (*progress)(void *context, uint64_t rows, double fraction); /* may be NULL; below 0: not known */
    void *context;
};

struct replay {
    struct policy *policies;
    size_t n;
    uint64_t rounds, lessons, right;
    uint64_t weighted; /* rounds whose probability is known */
    double low, high;  /* the log's chances there */
    uint64_t certain;  /* rounds whose label was shown with chance 1 */
    bool stopped;
};

/* Fills in policies; the rest of *r starts as zero. */
hunch_status replay_play(struct replay *r, struct logged *log, const struct replay_options *options,
                         hunch_error *reterr);
void replay_free(struct replay *r); /* not the policies themselves */

/* Why the estimates for a policy are not to be trusted: message number i from 0 on, or false when there are no more. */
bool replay_warning(const struct replay *r, const struct policy *p, size_t i, char *ret, size_t size);

#endif
