/* SPDX-License-Identifier: BSD-3-Clause */
/* What an ensemble's members are and which of them take part (schedule.c); the rounds are in panel.c. */
#ifndef PANEL_H
#define PANEL_H

#include "ensemble/comparison.h"
#include "ensemble/drift.h"
#include "ensemble/members.h"
#include "ensemble/persistence.h"

/* A state's tensors. */
enum { COMPARISONS, LIVES, DRIFT, RESTARTS, LAST_RESTART, PERSISTENCE, LATE_LABELS };
/* Its settings. */
enum { MEMBERS, RESTART, PERSIST };

#define CONTEXTS 2 /* of a member's proposals, each with a comparison of its own */

#define PANEL_MAX 6 /* comparisons in a round, and members */

enum role_number { CHAMPION, ALTERNATIVE, FORGETTING, CONSISTENT, FINDER, ROLES };
enum entry { AT_ONCE, ON_PLATEAU };
struct role {
    const char *name;
    struct comparison_rule rule;
    enum entry entry;
    bool copies;    /* it begins as a copy of the champion and rests when a trial was in vain; others retire */
    bool straight;  /* it sees columns on a linear scale */
    double warm_up; /* rounds for each class in which it only learns */
};

/* When a member takes part; rounds since the last restart. Kept as a tensor: numbers only. */
struct life {
    double active;
    double since; /* in which it became so */
    double until; /* it rests */
    double born;  /* the round of the learner before its own first one */
};
#define LIFE_NUMBERS (sizeof(struct life) / sizeof(double))

struct panel {
    struct members members; /* first: see members.h */
    int role[PANEL_MAX];
    /* Of the example that predict saw last: */
    uint32_t greedy[PANEL_MAX]; /* K: the member was not asked */
    struct distribution shown;
    size_t leader;
};

static struct panel *panel_of(const struct state *s)
{
    return s->extra;
}

/* The persistence of labels counts as a member behind all others. */
static inline struct comparison *comparison_of(const struct state *s, size_t i, int context)
{
    return (struct comparison *)model_numbers(s, COMPARISONS) + i * CONTEXTS + context;
}

static inline struct life *life_of(const struct state *s, size_t i)
{
    return (struct life *)model_numbers(s, LIVES) + i;
}

static inline struct drift *drift_of(const struct state *s)
{
    return (struct drift *)model_numbers(s, DRIFT);
}

static inline struct persistence persistence_of(const struct state *s)
{
    double *labels = model_numbers(s, LATE_LABELS);
    return (struct persistence){(struct persistence_counts *)model_numbers(s, PERSISTENCE), labels, labels + s->K,
                                s->K};
}

static inline bool is_active(const struct state *s, size_t i)
{
    return life_of(s, i)->active > 0;
}

/* The member's row of the table of roles. */
const struct role *role_of(const struct state *s, size_t i);
/* Member i may have the role that the list names. */
hunch_status role_check(const struct state *s, size_t i, hunch_error *reterr);
struct comparison_rule rule_of(const struct state *s, size_t i, int context);
/* It has been active for long enough to be compared. */
bool is_warm(const struct state *s, size_t i);
/* The probability with which member i's label is chosen where it differs from the one before. */
double chance_of(const struct state *s, size_t i);
/* The last member that is right more often than those before it; with or without those that find classes. */
size_t leader_of(const struct state *s, bool finders);
/* How many right answers it is worth to find a class. */
double find_worth(const struct state *s);
/* The number of a member's features, given the ensemble's. */
uint32_t features_of(const struct state *s, const struct state *child, uint32_t features);

/* Before the first round: the members that take part, and all comparisons. */
void schedule_begin(struct state *s);
/* Decides which members take part from this round on. May fail for want of memory with nothing changed. */
hunch_status schedule(struct state *s);

#endif
