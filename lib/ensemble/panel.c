/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Panel: an ensemble of learners; one label is shown, all learn from it (the project's own; the default). See
 * docs/reference/algorithms/panel.md.
 *
 * Every member that takes part proposes a label. The first is the champion, whose label stands at first; each of the
 * others is compared in turn with the label that stands, where the two differ, and takes its place with the probability
 * that it is right more often (comparison.h). So the probability of every label is known. A member's role says from when
 * on it takes part and what its comparison starts from: one row of the table below. After all members, the label of the
 * round before is proposed where labels persist (persistence.h). When the errors rise suddenly (drift.h), the champion
 * is reset, and what it had learned is kept by the forgetting member, which takes part from then on.
 */
#include <math.h>
#include <stdlib.h>

#include "ensemble/panel.h"
#include "state/explore.h"

/* A choice's note: the label, then for each comparison of a round NOTE_BITS: 0, or 1 + 2 context + side shown. */
#define NOTE_BITS 3
#define NOTE_FIRST 2 /* bits that all algorithms have: see NOTE_EXPLORED */
#define NOTE_LABEL (NOTE_FIRST + NOTE_BITS * PANEL_MAX)

enum { PERSIST_AUTO, PERSIST_NONE };
static const char *const persist_choices[] = {"auto", "none", NULL};

#define CONFIDENT "confident:matrix=span,r=0.2,demote_mean=3,doubt=250,decay="
static const hunch_setting settings[] = {
    {"members", HUNCH_TEXT,
     "[champion=" CONFIDENT "1e-5,map=auto;"
     "alternative=" CONFIDENT "1e-5;"
     "forgetting=" CONFIDENT "0.01,map=auto;"
     "consistent=linucb:alpha=0.5,matrix=span;"
     "finder=clouds:from=32]",
     0, 0, NULL,
     "the learners, the champion first: [role=name:setting=value,...;role=name;...]; those with map=auto see what a map "
     "has made"},
    SETTING_REAL("restart", "5", 0, 1e6,
                 "standard deviations by which recent errors must exceed earlier ones for the champion to restart; 0: "
                 "never"),
    SETTING_CHOICE("persistence", "auto", persist_choices,
                   "auto: where labels persist, the label of the round before is proposed; none: never"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"comparisons", PER_MODEL, 1, CONTEXTS *COMPARISON_NUMBERS, 0, MERGE_MEAN}, /* by member, persistence last */
    {"lives", PER_MODEL, 1, LIFE_NUMBERS, 0, MERGE_MEAN},
    {"drift", PER_MODEL, 1, DRIFT_NUMBERS, 0, MERGE_MEAN},
    {"restarts", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"last_restart", PER_MODEL, 1, 1, 0, MERGE_MEAN}, /* its round */
    {"persistence", PER_MODEL, 1, PERSISTENCE_NUMBERS, 0, MERGE_MEAN},
    {"late_labels", PER_MODEL, 2, CLASSES, 0, MERGE_MEAN}, /* of persistence.h: failed, share */
    TENSORS_END,
};

/* --- making it --- */

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    hunch_status status = members_check("members", s->set[MEMBERS].text, reterr);
    if (status == HUNCH_OK && members_count(s->set[MEMBERS].text) > PANEL_MAX)
        return error_set(reterr, HUNCH_EINVAL, "members: at most %d", PANEL_MAX);
    return status;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    size_t n = members_count(s->set[MEMBERS].text);
    if (tensor == COMPARISONS)
        inout->groups = n + 1;
    if (tensor == LIVES)
        inout->groups = n;
}

static void detach(struct state *s)
{
    struct panel *p = s->extra;
    members_free(&p->members);
    free(p);
}

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    struct panel *p = s->extra = calloc(1, sizeof *p);
    if (!p)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    hunch_status status = members_make(&p->members, s->set[MEMBERS].text, s, reterr);
    for (size_t i = 0; status == HUNCH_OK && i < p->members.n; i++) {
        const struct state *child = p->members.child[i];
        if (child->extra)
            status = error_set(reterr, HUNCH_EINVAL, "%s cannot be a member: it keeps examples or learners of its own",
                               child->algo->info.name);
        else
            status = role_check(s, i, reterr);
    }
    if (status == HUNCH_OK)
        schedule_begin(s);
    return status;
}

/* --- what a member sees --- */

static struct vec view_of(const struct state *s, size_t i, const struct vec *x)
{
    struct vec view = *x;
    if (role_of(s, i)->straight && x->straight) {
        view.value = x->straight;
        view.norm2 = view.absolute = 0;
    }
    bool as_champion = i == 0 || role_of(s, i)->copies || !x->plain.index;
    if (panel_of(s)->members.child[i]->mapped || (!s->mapped && as_champion))
        return view;
    if (x->plain.index) /* members that see columns only do not see the words */
        return (struct vec){.index = vec_is_dense(x->plain.index, x->plain.n) ? NULL : x->plain.index,
                            .value = x->plain.value,
                            .n = x->plain.n,
                            .all = x->plain.all,
                            .words = {.index = x->words.index}};
    size_t n = x->n > x->mapped ? x->n - x->mapped : 0;
    const uint32_t *columns = x->columns + x->mapped;
    return (struct vec){.index = vec_is_dense(columns, n) ? NULL : columns,
                        .value = view.value + x->mapped,
                        .n = n,
                        .all = x->all - x->mapped,
                        .unseen = x->unseen};
}

/* --- choosing --- */

static void member_scores(const struct state *s, size_t i, const struct vec *x, real *ret)
{
    const struct state *child = panel_of(s)->members.child[i];
    struct vec view = view_of(s, i, x);
    child->algo->scores(child, &view, ret);
}

/* A label that was never right before is chosen to find classes: a caller who does not report an answer gains nothing
 * from it. */
static void scores(const struct state *s, const struct vec *x, real *ret)
{
    size_t leader = leader_of(s, true);
    const struct state *child = panel_of(s)->members.child[leader];
    member_scores(s, leader, x, ret);
    if (panel_of(s)->role[leader] == FINDER && child->algo->is_guess(child, explore_first(ret, s->K)))
        member_scores(s, leader_of(s, false), x, ret);
}

static const real *member_scores_left(const struct panel *p, size_t i)
{
    struct state *child = p->members.child[i];
    return child->algo->scores_left ? child->algo->scores_left(child) : child->scores;
}

static const real *scores_left(struct state *s)
{
    return member_scores_left(panel_of(s), panel_of(s)->leader);
}

static double chance(const struct state *s, uint32_t label)
{
    return distribution_chance(&panel_of(s)->shown, label);
}

static unsigned wants(const struct state *s, const hunch_choice *c)
{
    unsigned all = WANT_MAP;
    for (size_t i = 0; i < panel_of(s)->members.n; i++)
        all |= role_of(s, i)->straight && is_active(s, i) ? WANT_STRAIGHT : 0;
    return all;
}

static void note(struct state *s, const struct vec *x)
{
    const struct panel *p = panel_of(s);
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        child->round = s->round - (uint64_t)fmin(fmax(life_of(s, i)->born, 0), (double)s->round);
        if (is_active(s, i) && child->algo->note) {
            struct vec view = view_of(s, i, x);
            child->algo->note(child, &view);
        }
    }
}

/* What a member says of an example. */
struct proposal {
    uint32_t label; /* K: none */
    int context;
    double worth; /* of its being right, in right answers */
};

static struct proposal propose(struct state *s, size_t i, const struct vec *x)
{
    struct panel *p = panel_of(s);
    struct state *child = p->members.child[i];
    hunch_choice c = {.round = s->round};
    child->scored = false;
    p->greedy[i] = s->K;
    if (!is_active(s, i) || !is_warm(s, i))
        return (struct proposal){.label = s->K};
    struct vec view = view_of(s, i, x);
    child->algo->predict(child, &view, &c);
    p->greedy[i] = c.greedy;
    bool guess = p->role[i] == FINDER && c.note & NOTE_GUESSED;
    return (struct proposal){c.label, guess, guess ? find_worth(s) : 1};
}

static struct proposal propose_persistent(struct state *s)
{
    const struct persistence labels = persistence_of(s);
    bool wanted = setting_choice(s, PERSIST) == PERSIST_AUTO;
    return (struct proposal){wanted ? persistence_label(&labels, scores_left(s)) : s->K, persistence_context(&labels),
                             1};
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    struct panel *p = panel_of(s);
    size_t n = p->members.n;
    struct proposal made[PANEL_MAX + 1];
    uint32_t before[PANEL_MAX + 1], label = made[0].label = propose(s, 0, x).label;
    p->leader = 0;
    p->shown = (struct distribution){.label = {label}, .chance = {1}, .n = 1};
    for (size_t i = 1; i <= n; i++) {
        made[i] = i < n ? propose(s, i, x) : propose_persistent(s);
        before[i] = label;
        if (made[i].label == s->K || !explore_may(s, made[i].label))
            continue;
        double wins = comparison_chance(comparison_of(s, i, made[i].context), made[i].worth);
        distribution_replace(&p->shown, made[i].label, wins);
        if (i < n && !(p->role[i] == FINDER && made[i].context) && chance_of(s, i) > 0.5)
            p->leader = i;
        if (made[i].label != label && rng_uniform(&s->rng) < wins)
            label = made[i].label;
    }
    s->scored = true;
    ret->note = label << NOTE_LABEL;
    for (size_t i = 1; i <= n; i++) {
        bool differ = made[i].label != s->K && explore_may(s, made[i].label) && made[i].label != before[i];
        if (differ && (label == before[i] || label == made[i].label))
            ret->note |= (1 + 2 * (uint32_t)made[i].context + (label == made[i].label))
                         << (NOTE_FIRST + NOTE_BITS * (i - 1));
    }
    ret->label = label;
    ret->prob = fmin(chance(s, label), 1);
    ret->greedy = p->greedy[p->leader];
}

/* --- learning --- */

static void comparisons_learn(struct state *s, uint32_t note, bool right)
{
    struct panel *p = panel_of(s);
    for (size_t i = 1; i <= p->members.n; i++) {
        uint32_t met = note >> (NOTE_FIRST + NOTE_BITS * (i - 1)) & ((1 << NOTE_BITS) - 1);
        if (!met || met > 2 * CONTEXTS) /* a note comes from outside, and may be anything */
            continue;
        int context = (int)(met - 1) / 2;
        struct comparison *c = comparison_of(s, i, context);
        struct comparison_rule rule = rule_of(s, i, context);
        comparison_learn(c, &rule,
                         (struct comparison_round){(met - 1) % 2, right, s->K == 2 && !(context && i < p->members.n)});
    }
}

static void members_learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    struct panel *p = panel_of(s);
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        if (!is_active(s, i) || (role_of(s, i)->straight && life_of(s, i)->born >= (double)s->round))
            continue; /* the example was written for those that were active */
        struct vec view = view_of(s, i, x);
        hunch_choice own = *c;
        child->scored = child->scored && s->scored;
        own.greedy = child->scored ? p->greedy[i] : child_advice(child, &view, child->scores);
        own.round = child->round;
        own.note = c->note & NOTE_EXPLORED;
        round_learn(child, &view, &own, right);
    }
}

/* The label stands in the note, cut to the bits that are left. */
static bool is_own_note(const hunch_choice *c)
{
    return c->note >> NOTE_LABEL == (c->label & (UINT32_MAX >> NOTE_LABEL));
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    const struct persistence labels = persistence_of(s);
    /* A label that was drawn uniformly or that others chose says nothing about the members, nor does an example that they
     * have learned from before. */
    bool evidence = !(c->note & NOTE_EXPLORED) && !s->repeated;
    if (evidence && is_own_note(c))
        comparisons_learn(s, c->note, right);
    persistence_learn(&labels, c->label, right);
    members_learn(s, x, c, right);
    s->words_weight = panel_of(s)->members.child[0]->words_weight;
    if (evidence)
        drift_update(drift_of(s), setting_number(s, RESTART), right);
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    const struct panel *p = panel_of(s);
    const struct persistence labels = persistence_of(s);
    persistence_learn(&labels, label, true);
    for (size_t i = 0; i < p->members.n; i++)
        if (is_active(s, i)) {
            struct vec view = view_of(s, i, x);
            round_teach(p->members.child[i], &view, label);
        }
}

/* --- what is no tensor --- */

static hunch_status reserve(struct state *s, const struct vec *x)
{
    const struct panel *p = panel_of(s);
    hunch_status status = schedule(s);
    for (size_t i = 0; status == HUNCH_OK && i < p->members.n; i++)
        if (is_active(s, i)) {
            struct vec view = view_of(s, i, x);
            status = round_reserve(p->members.child[i], &view);
        }
    return status;
}

static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    struct panel *p = panel_of(s);
    if (classes > s->K)
        return members_grow_classes(&p->members, classes);
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; status == HUNCH_OK && i < p->members.n; i++)
        if (is_active(s, i))
            status = state_grow_features(p->members.child[i], features_of(s, p->members.child[i], features));
    return status;
}

static const struct state *shown(const struct state *s)
{
    return panel_of(s)->members.child[leader_of(s, true)];
}

/* A member that only the other has active becomes active here, with room for all features that were seen here. */
static hunch_status merge(struct state *s, const struct state *other)
{
    const struct panel *p = panel_of(s);
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; status == HUNCH_OK && i < p->members.n; i++)
        if (is_active(other, i) && !is_active(s, i))
            status = state_grow_features(p->members.child[i], features_of(s, p->members.child[i], s->features));
    return status == HUNCH_OK ? members_extra_merge(s, other) : status;
}

static void derive(struct state *s)
{
    const struct persistence labels = persistence_of(s);
    persistence_forget(&labels);
}

static const struct extra members = {
    .attach = attach,
    .detach = detach,
    .grow = grow,
    .reserve = reserve,
    .member = members_extra_member,
    .size = members_extra_size,
    .write = members_extra_write,
    .read = members_extra_read,
    .shown = shown,
    .merge = merge,
};

/* The champion's, if it sees what the map has made. */
static bool lead(const struct state *s, uint32_t label, real *ret)
{
    const struct state *champion = panel_of(s)->members.child[0];
    return champion->mapped && champion->algo->lead && champion->algo->lead(champion, label, ret);
}

const struct algo algo_panel = {
    .info = {"panel", "ensemble of learners, the default", "this project", 0, settings},
    .tensors = tensors,
    .scaled = true,
    .check = check,
    .shape = shape,
    .note = note,
    .predict = predict,
    .chance = chance,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .lead = lead,
    .scores_left = scores_left,
    .wants = wants,
    .derive = derive,
    .extra = &members,
};
