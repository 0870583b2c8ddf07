/* SPDX-License-Identifier: BSD-3-Clause */
/* A round of a state, of a learner or of one within another. */
#include <assert.h>
#include <math.h>

#include "state/second_moments.h"
#include "state/explore.h"
#include "state/state.h"

struct state *state_member(const struct state *s, size_t i)
{
    return s->extra && state_extra(s)->member ? state_extra(s)->member(s, i) : NULL;
}

void state_reseed(struct state *s, uint64_t seed)
{
    struct state *child;
    struct rng seeds = {seed};
    s->rng.state = seed;
    for (size_t i = 0; (child = state_member(s, i)); i++)
        state_reseed(child, rng_next(&seeds));
}

void state_set_repeated(struct state *s, bool repeated)
{
    struct state *child;
    s->repeated = repeated;
    for (size_t i = 0; (child = state_member(s, i)); i++)
        state_set_repeated(child, repeated);
}

void round_note(struct state *s, const struct vec *x)
{
    s->round++;
    s->scored = false;
    if (s->algo->note)
        s->algo->note(s, x);
}

static double chance_of(const struct state *s, const hunch_choice *c, uint32_t label)
{
    if (s->algo->chance)
        return s->algo->chance(s, label);
    if (s->sampled)
        return s->probabilities[label];
    if (label == c->label || c->prob >= 1)
        return label == c->label ? c->prob : 0;
    uint32_t others = explore_labels(s) - 1;
    if (c->label == c->greedy)
        return (1 - c->prob) / others;
    return label == c->greedy ? 1 - others * c->prob : c->prob;
}

/* With the chance floor a uniform label takes the place of predict's. */
static void floor_draw(struct state *s, hunch_choice *c)
{
    if (rng_uniform(&s->rng) < s->floor) {
        uint32_t label = explore_uniform(s);
        c->prob = chance_of(s, c, label);
        c->label = label;
        c->note |= NOTE_EXPLORED;
    }
    c->prob = fmin(explore_floor(s, c->prob), 1);
}

/* Of each label, with the floor; own: what predict has chosen. */
static void chances_read(const struct state *s, const hunch_choice *own, double *ret)
{
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] = explore_may(s, k) ? fmin(explore_floor(s, chance_of(s, own, k)), 1) : 0;
}

void round_predict(struct state *s, const struct vec *x, hunch_choice *ret, double *ret_chances)
{
    round_note(s, x);
    hunch_choice c = {.round = s->round};
    s->sampled = false;
    s->algo->predict(s, x, &c);
    if (ret_chances)
        chances_read(s, &c, ret_chances);
    if (s->floor > 0)
        floor_draw(s, &c);
    c.margin = explore_margin(s->algo->scores_left ? s->algo->scores_left(s) : s->scores, s->K, c.label);
    assert(explore_may(s, c.label) && explore_may(s, c.greedy));
    *ret = c;
}

void state_restrict(struct state *s, const unsigned char *eligible, uint32_t n)
{
    struct state *child;
    s->eligible = eligible;
    s->eligible_n = n;
    s->scored = false; /* some of what was scored under another mask depends on it */
    for (size_t i = 0; (child = state_member(s, i)); i++)
        state_restrict(child, eligible, n);
}

hunch_status round_reserve(struct state *s, const struct vec *x)
{
    hunch_status status = s->covariance.form ? covariance_settle(s) : HUNCH_OK;
    return status == HUNCH_OK && s->extra && state_extra(s)->reserve ? state_extra(s)->reserve(s, x) : status;
}

hunch_status round_learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (s->algo->info.full_information)
        return right ? round_teach(s, x, c->label) : HUNCH_OK;
    hunch_status status = round_reserve(s, x);
    if (status == HUNCH_OK)
        s->algo->learn(s, x, c, right);
    s->scored = false;
    return status;
}

hunch_status round_teach(struct state *s, const struct vec *x, uint32_t label)
{
    hunch_status status = round_reserve(s, x);
    if (status == HUNCH_OK && s->algo->teach) {
        s->algo->teach(s, x, label);
    } else if (status == HUNCH_OK) {
        hunch_choice c = {.round = s->round, .label = label, .prob = 1};
        s->algo->scores(s, x, s->scores);
        c.greedy = explore_first(s->scores, s->K);
        s->algo->learn(s, x, &c, true);
    }
    s->scored = false;
    return status;
}
