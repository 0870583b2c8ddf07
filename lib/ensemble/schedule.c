/* SPDX-License-Identifier: BSD-3-Clause */
/* Which members of an ensemble take part: roles, when members begin, rest and retire, and what drift does. */
#include <math.h>
#include <string.h>

#include "ensemble/panel.h"
#include "state/params.h"

static const struct role roles[] = {
    {"champion", {2, 0, 0}, AT_ONCE, false, false, 0},       {"alternative", {16, 0.5, 0}, AT_ONCE, false, false, 0},
    {"forgetting", {4, 0.5, 0}, ON_PLATEAU, true, false, 0}, {"consistent", {2, 4, 0}, ON_PLATEAU, false, true, 16},
    {"finder", {16, 0.5, 0}, AT_ONCE, false, false, 0},
};

/* Of labels that were never right before (a finder's), and of the label before. */
static const struct comparison_rule persistence_rule = {4, 0.5, 1000};
#define FIND_WORTH 0.125 /* right answers at most, for each class that there is, that a class found is worth */

#define TRIAL 1000     /* rounds after which a copy must be better than the champion */
#define REST 3         /* times as long as its trial */
#define LOST 0.00135   /* probability, Phi(-3), below which one retires ... */
#define LOST_AFTER 100 /* ... when the label before it was shown as often */
#define FOREVER 1e300

const struct role *role_of(const struct state *s, size_t i)
{
    return &roles[panel_of(s)->role[i]];
}

hunch_status role_check(const struct state *s, size_t i, hunch_error *reterr)
{
    struct panel *p = panel_of(s);
    const char *name = p->members.role[i];
    const struct algo *algo = p->members.child[i]->algo;
    p->role[i] = i ? ALTERNATIVE : CHAMPION;
    for (int r = CHAMPION; r < ROLES; r++)
        if (!strcmp(roles[r].name, name))
            p->role[i] = r;
    if ((*name && strcmp(role_of(s, i)->name, name)) || (p->role[i] == CHAMPION) != (i == 0))
        return error_set(reterr, HUNCH_EINVAL, "member %zu: it cannot have the role %s", i + 1, name);
    if (role_of(s, i)->copies && algo != p->members.child[0]->algo)
        return error_set(reterr, HUNCH_EINVAL, "member %zu: %s is not a copy of the champion, %s", i + 1,
                         algo->info.name, p->members.child[0]->algo->info.name);
    if (p->role[i] == FINDER && !algo->is_guess)
        return error_set(reterr, HUNCH_EINVAL, "member %zu: %s cannot detect new classes", i + 1, algo->info.name);
    return HUNCH_OK;
}

/* Of K labels one is right: that is what a guess starts from. */
struct comparison_rule rule_of(const struct state *s, size_t i, int context)
{
    if (i == panel_of(s)->members.n)
        return persistence_rule;
    struct comparison_rule rule = role_of(s, i)->rule;
    if (context > 0)
        rule.prior = s->K;
    return rule;
}

/* A member that begins with nothing and is compared at once would be held to its first rounds. */
bool is_warm(const struct state *s, size_t i)
{
    return (double)s->round - life_of(s, i)->born >= role_of(s, i)->warm_up * s->K;
}

double chance_of(const struct state *s, size_t i)
{
    return comparison_chance(comparison_of(s, i, 0), 1);
}

/* The last member that is right more often than those before it. */
size_t leader_of(const struct state *s, bool finders)
{
    size_t best = 0;
    for (size_t i = 1; i < panel_of(s)->members.n; i++)
        if (is_active(s, i) && is_warm(s, i) && (finders || panel_of(s)->role[i] != FINDER) && chance_of(s, i) > 0.5)
            best = i;
    return best;
}

/* A class that is found will be right as often again as it would have been so far, if labels stay alike; but others would
 * have found it, too, the later the more classes there are. */
double find_worth(const struct state *s)
{
    return fmin(1 + drift_of(s)->rounds / s->K, fmax(1, FIND_WORTH * s->K));
}

uint32_t features_of(const struct state *s, const struct state *child, uint32_t features)
{
    return child->mapped || !s->mapped ? features : features > s->mapped ? features - s->mapped : 0;
}

static void comparisons_begin(struct state *s, size_t i)
{
    for (int context = 0; context < CONTEXTS; context++) {
        struct comparison_rule rule = rule_of(s, i, context);
        comparison_begin(comparison_of(s, i, context), &rule);
    }
}

static bool is_dormant(const struct state *s, size_t i)
{
    const struct panel *p = panel_of(s);
    if (p->role[i] == FINDER)
        return s->text || s->K < params_number(p->members.child[i], "from");
    if (p->role[i] == ALTERNATIVE && !s->mapped) { /* without a map it may be the champion once more */
        static const char *const none[] = {NULL};
        const struct state *champion = p->members.child[0], *child = p->members.child[i];
        return champion->algo == child->algo && params_alike(champion, child, none);
    }
    return p->role[i] == CONSISTENT && s->text; /* words make it expensive, and it never won there */
}

void schedule_begin(struct state *s)
{
    const struct panel *p = panel_of(s);
    drift_begin(drift_of(s), s->K);
    for (size_t i = 0; i <= p->members.n; i++)
        comparisons_begin(s, i);
    for (size_t i = 0; i < p->members.n; i++)
        *life_of(s, i) =
            (struct life){.active = role_of(s, i)->entry == AT_ONCE && !is_dormant(s, i), .born = (double)s->round};
}

/* It begins as a copy of the champion, or with nothing. May fail for want of memory with nothing changed. */
static hunch_status activate(struct state *s, size_t i)
{
    struct panel *p = panel_of(s);
    struct life *l = life_of(s, i);
    hunch_status status = role_of(s, i)->copies ? child_follow(&p->members.child[i], p->members.child[0])
                                                : state_grow_features(p->members.child[i],
                                                                      features_of(s, p->members.child[i], s->features));
    if (status != HUNCH_OK)
        return status;
    *l = (struct life){1, drift_of(s)->rounds, 0, role_of(s, i)->copies ? life_of(s, 0)->born : (double)s->round};
    comparisons_begin(s, i);
    return HUNCH_OK;
}

/* Resets the champion and all other members except those that forget, which keep what was learned before. */
static hunch_status restart(struct state *s)
{
    struct panel *p = panel_of(s);
    double recent = drift_of(s)->fast, born[PANEL_MAX];
    for (size_t i = 1; i < p->members.n; i++)
        if (role_of(s, i)->copies && !is_active(s, i)) {
            hunch_status status = activate(s, i);
            if (status != HUNCH_OK)
                return status;
        }
    for (size_t i = 0; i < p->members.n; i++)
        born[i] = life_of(s, i)->born;
    schedule_begin(s);
    drift_of(s)->fast = drift_of(s)->slow = recent;
    for (size_t i = 0; i < p->members.n; i++)
        if (role_of(s, i)->copies)
            *life_of(s, i) = (struct life){.active = 1, .born = born[i]};
        else
            state_restart(p->members.child[i]);
    s->restarted = true;
    model_numbers(s, RESTARTS)[0]++;
    model_numbers(s, LAST_RESTART)[0] = (double)s->round;
    return HUNCH_OK;
}

/* A copy that is not better than the champion after its trial rests; another member that is surely worse retires. */
static void rest(struct state *s, size_t i)
{
    struct life *l = life_of(s, i);
    double now = drift_of(s)->rounds, chance = chance_of(s, i);
    bool copies = role_of(s, i)->copies;
    bool lost = comparison_of(s, i, 0)->shown[0] > LOST_AFTER && chance < LOST;
    if (copies ? now - l->since < TRIAL || chance > 0.5 : !lost)
        return;
    l->active = 0;
    l->until = copies ? now + REST * (now - l->since) : FOREVER;
}

hunch_status schedule(struct state *s)
{
    const struct drift *d = drift_of(s);
    hunch_status status = d->found > 0 ? restart(s) : HUNCH_OK;
    for (size_t i = 1; status == HUNCH_OK && i < panel_of(s)->members.n; i++) {
        bool may = role_of(s, i)->entry == AT_ONCE || d->plateau > 0;
        if (is_active(s, i))
            rest(s, i);
        else if (may && d->rounds >= life_of(s, i)->until && !is_dormant(s, i))
            status = activate(s, i);
    }
    return status;
}
