/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Panel: several learners, one label shown, all learn from it (the project's own; the default). See
 * docs/algorithms/panel.md.
 *
 * The first member is the champion. Every other one that is awake challenges, in turn, the champion so far where their
 * labels differ: a duel. A duel keeps, for each side, how often it was shown and how often it was right then, as a Beta
 * with mean mu and variance s^2; the challenger's label is taken with the chance Phi((mu_1 - mu_0)/sqrt(s_0^2 +
 * s_1^2)). So the chance of every label is known. Where the shown label is one side's, both sides are discounted by 1 -
 * 1/max(100, c age) towards their prior and that side is counted (with two classes both: one of them was right).
 *
 * A challenger is, by what it is made of, a rival (the champion's algorithm with other settings or features), a twin
 * (the champion but for its decay; asleep until the panel is stalled, then a copy of the champion), another (of another
 * kind; asleep until the panel is stalled) or the former (the same as the champion, whose place it takes after an
 * alarm). Their priors, when they retire, and when the panel is stalled or alarmed stand in that page.
 *
 * Last of all, where labels come in streaks, what the rounds before say is a challenger too: see streaks.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../duel.h"
#include "../explore.h"
#include "../members.h"
#include "../params.h"
#include "../progress.h"
#include "../streaks.h"

enum { MEMBERS, RESTART, FOLLOW };
enum { FOLLOW_AUTO, FOLLOW_NONE };
enum { DUELS, AWAKE, EPOCH, STALLED, ERRORS, RESTARTS, LAST_RESTART, STREAKS, LATE_LABELS };

/* Of a duel, behind its sides. */
enum { AGE = DUEL_SIDES, RETIRED, AWAKE_FROM, ASLEEP_TO, BORN, DUEL_NUMBERS, ERROR_BEFORE = AGE };
enum kind { CHAMPION, TWIN, RIVAL, ANOTHER, FORMER };

#define WINDOW 100 /* duels that count fully, at least */
#define RETIRE_AFTER 100
#define LOST 0.00135     /* a challenger's chance, Phi(-3), below which it retires; */
#define TWIN_LOST 0.01   /* and a twin's, for whom that is not the end */
#define WEIGHED_AFTER 50 /* wrong answers after which it is seen what a twin could save of them: ... */
#define WEIGHED 0.05     /* ... at least as large a share ... */
#define WEIGHED_WITH 2   /* ... if it is as many standard deviations better than it seems */
#define FORMER_ROUNDS 100
#define SLEEP 3     /* times as long as it was awake */
#define NOTE_BITS 2 /* of a choice's note, for each duel from NOTE_BITS on; the label stands above them */
#define NOTE_LABEL (NOTE_BITS * 8)
#define PANEL_MOST (LADDER_MOST - STREAKS_DUELS) /* behind them stand the duels of streaks.h */

static const char *const follow_choices[] = {"auto", "none", NULL};

#define CONFIDENT "confident:matrix=span,r=0.2,demote_mean=3"
static const hunch_setting settings[] = {
    {"members", HUNCH_TEXT,
     "[" CONFIDENT ",map=auto;" CONFIDENT ";" CONFIDENT ",decay=0.01,map=auto;" CONFIDENT
     ",map=auto;linucb:alpha=0.5,matrix=span]",
     0, 0, NULL,
     "the learners, the champion first: [name:setting=value,...;name;...]; those with map=auto see what a map has "
     "made"},
    SETTING_REAL("restart", "5", 0, 1e6,
                 "standard deviations that the errors of late must be above those of before to begin anew; 0: never"),
    SETTING_CHOICE("streaks", "auto", follow_choices,
                   "auto: where labels come in streaks, the round before challenges the choice; none: never"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"duels", PER_MODEL, 1, DUEL_NUMBERS, 0, MERGE_MEAN}, /* by challenger */
    {"awake", PER_MODEL, 1, 1, 0, MERGE_MEAN},            /* members that play */
    {"epoch", PER_MODEL, 1, EPOCH_NUMBERS, 0, MERGE_MEAN},
    {"stalled", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    {"errors", PER_MODEL, 1, ERROR_NUMBERS, 0, MERGE_MEAN},
    {"restarts", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"last_restart", PER_MODEL, 1, 1, 0, MERGE_MEAN}, /* its round */
    {"streaks", PER_MODEL, 1, STREAKS_NUMBERS, 0, MERGE_MEAN},
    {"late_labels", PER_MODEL, 2, CLASSES, 0, MERGE_MEAN}, /* of streaks.h: failed, share */
    TENSORS_END,
};

struct panel {
    struct members members; /* first: see members.h */
    enum kind kind[PANEL_MOST];
    size_t former;                   /* the first of that kind; 0: none */
    hunch_choice choice[PANEL_MOST]; /* of the example that predict saw last */
    struct ladder ladder;            /* likewise */
    size_t lead;                     /* likewise: who has made its greedy label */
};

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    hunch_status status = members_check("members", s->set[MEMBERS].text, reterr);
    if (status == HUNCH_OK && members_count(s->set[MEMBERS].text) > PANEL_MOST)
        return error_set(reterr, HUNCH_EINVAL, "members: at most %d", PANEL_MOST);
    return status;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    size_t n = members_count(s->set[MEMBERS].text);
    if (tensor == DUELS)
        inout->groups = n;
    if (tensor == AWAKE)
        inout->lanes = n;
}

static struct streaks streaks_of(const struct state *s)
{
    double *labels = model_numbers(s, LATE_LABELS);
    return (struct streaks){model_numbers(s, STREAKS), labels, labels + s->K, s->K};
}

static double *duel_of(const struct state *s, size_t i)
{
    return model_numbers(s, DUELS) + i * DUEL_NUMBERS;
}

/* --- who is who --- */

static enum kind kind_of(const struct state *champion, const struct state *child)
{
    if (champion->algo != child->algo)
        return ANOTHER;
    double more = params_number(child, "decay") - params_number(champion, "decay");
    if (!params_alike(champion, child, "decay") || champion->mapped != child->mapped || more < 0)
        return RIVAL;
    return more > 0 ? TWIN : FORMER;
}

/* What the sides have been met with before anything happened. */
static const double *prior_met(const struct panel *p, size_t i)
{
    static const double rival[] = {2, 16}, other[] = {2, 4};
    return p->kind[i] == RIVAL ? rival : other;
}

static void challenge(struct state *s, size_t i)
{
    double *d = duel_of(s, i);
    duel_begin(d, prior_met(s->extra, i));
    d[AGE] = d[RETIRED] = d[ASLEEP_TO] = 0;
    d[AWAKE_FROM] = model_numbers(s, ERRORS)[SINCE];
}

static void duels_begin(struct state *s)
{
    const struct panel *p = s->extra;
    for (size_t i = 0; i < p->members.n; i++)
        challenge(s, i);
    epoch_begin(model_numbers(s, EPOCH), s->K);
    model_numbers(s, STALLED)[0] = 0;
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
    if (status != HUNCH_OK)
        return status;
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        if (child->extra)
            return error_set(reterr, HUNCH_EINVAL, "%s cannot be a member: it keeps examples or learners of its own",
                             child->algo->info.name);
        p->kind[i] = i ? kind_of(p->members.child[0], child) : CHAMPION;
        p->former = p->kind[i] == FORMER && !p->former ? i : p->former;
        model_numbers(s, AWAKE)[i] = p->kind[i] == RIVAL;
    }
    model_numbers(s, AWAKE)[0] = 1;
    model_numbers(s, ERRORS)[FAST] = model_numbers(s, ERRORS)[SLOW] = 1;
    duels_begin(s);
    const struct streaks streaks = streaks_of(s);
    streaks_begin(&streaks);
    return HUNCH_OK;
}

static bool is_awake(const struct state *s, size_t i)
{
    return model_numbers(s, AWAKE)[i] > 0;
}

static bool should_be_awake(const struct state *s, size_t i)
{
    const struct panel *p = s->extra;
    bool stalled = model_numbers(s, STALLED)[0] > 0;
    if (i == 0)
        return true;
    if (p->kind[i] == FORMER)
        return is_awake(s, i); /* from a restart to the end of its duel */
    if (duel_of(s, i)[RETIRED] > 0)
        return false;
    return p->kind[i] == RIVAL || stalled;
}

/* --- what a member sees --- */

static struct vec view_of(const struct state *s, const struct state *child, const struct vec *x)
{
    if (child->mapped || !s->mapped)
        return *x;
    size_t all = x->all - x->mapped, n = x->n > x->mapped ? x->n - x->mapped : 0;
    const uint32_t *columns = x->columns + x->mapped;
    return (struct vec){vec_is_dense(columns, n) ? NULL : columns, x->value + x->mapped, n, all, x->unseen, 0, NULL};
}

static uint32_t features_of(const struct state *s, const struct state *child, uint32_t features)
{
    return child->mapped || !s->mapped ? features : features > s->mapped ? features - s->mapped : 0;
}

/* --- choosing --- */

/* The former champion is only watched. */
static bool duels(const struct state *s, size_t i)
{
    return is_awake(s, i) && ((const struct panel *)s->extra)->kind[i] != FORMER;
}

/* The member that wins the duels as they stand. */
static size_t leader(const struct state *s)
{
    const struct panel *p = s->extra;
    size_t best = 0;
    for (size_t i = 1; i < p->members.n; i++)
        if (duels(s, i) && duel_chance(duel_of(s, i)) > 0.5)
            best = i;
    return best;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    const struct panel *p = s->extra;
    const struct state *child = p->members.child[leader(s)];
    struct vec view = view_of(s, child, x);
    child->algo->scores(child, &view, ret);
}

static const real *scores_left(struct state *s)
{
    const struct panel *p = s->extra;
    struct state *child = p->members.child[p->lead];
    return child->algo->scores_left ? child->algo->scores_left(child) : child->scores;
}

static double chance(const struct state *s, uint32_t label)
{
    return ladder_chance(&((const struct panel *)s->extra)->ladder, label);
}

static void members_predict(struct state *s, const struct vec *x)
{
    struct panel *p = s->extra;
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        if (!is_awake(s, i))
            continue;
        struct vec view = view_of(s, child, x);
        child->scored = false;
        p->choice[i] = (hunch_choice){.round = s->round};
        child->algo->predict(child, &view, &p->choice[i]);
    }
}

static void note(struct state *s, const struct vec *x)
{
    const struct panel *p = s->extra;
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        struct vec view = view_of(s, child, x);
        child->round = s->round - (uint64_t)fmin(duel_of(s, i)[BORN], (double)s->round);
        if (is_awake(s, i) && child->algo->note)
            child->algo->note(child, &view);
    }
}

/* Which side of a duel a label is on, as a choice's note has it. */
static uint32_t side_of(uint32_t label, uint32_t before, uint32_t own)
{
    return before == own ? 0 : label == before ? 1 : label == own ? 2 : 0;
}

/* The last duel: with what the rounds before say, whatever the example looks like. */
static uint32_t streaks_duel(struct state *s, uint32_t o, uint32_t *inout_note)
{
    struct panel *p = s->extra;
    const struct streaks streaks = streaks_of(s);
    bool follows = setting_choice(s, FOLLOW) == FOLLOW_AUTO;
    uint32_t own = follows ? streaks_label(&streaks, scores_left(s)) : s->K, before = o;
    if (own == s->K)
        return o;
    double wins = streaks_chance(&streaks);
    ladder_climb(&p->ladder, own, wins);
    if (own != o && rng_uniform(&s->rng) < wins)
        o = own;
    *inout_note |= side_of(o, before, own) << (NOTE_BITS * (p->members.n + (size_t)streaks_which(&streaks)));
    return o;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    struct panel *p = s->extra;
    struct ladder *l = &p->ladder;
    uint32_t before[PANEL_MOST] = {0}, o, note = 0;
    members_predict(s, x);
    s->scored = true;
    p->lead = 0; /* as leader finds it */
    o = p->choice[0].label;
    *l = (struct ladder){.label = {o}, .chance = {1}, .n = 1};
    for (size_t i = 1; i < p->members.n; i++) {
        before[i] = o;
        if (!duels(s, i))
            continue;
        double wins = duel_chance(duel_of(s, i));
        ladder_climb(l, p->choice[i].label, wins);
        p->lead = wins > 0.5 ? i : p->lead;
        if (p->choice[i].label != o && rng_uniform(&s->rng) < wins)
            o = p->choice[i].label;
    }
    o = streaks_duel(s, o, &note);
    for (size_t i = 1; i < p->members.n; i++)
        if (is_awake(s, i) && !duels(s, i))
            note |= (uint32_t)(o == p->choice[i].label ? 2 : 1) << (NOTE_BITS * i);
        else if (is_awake(s, i))
            note |= side_of(o, before[i], p->choice[i].label) << (NOTE_BITS * i);
    ret->label = o;
    ret->prob = fmin(chance(s, o), 1);
    ret->greedy = p->choice[p->lead].greedy;
    ret->note = note | o << NOTE_LABEL;
}

/* --- learning --- */

static void retire(struct state *s, size_t i)
{
    double *d = duel_of(s, i), now = model_numbers(s, ERRORS)[SINCE];
    d[RETIRED] = 1;
    d[ASLEEP_TO] = now + SLEEP * (now - d[AWAKE_FROM]);
}

/* The champion and member i, and what each of them has said of the example at hand. */
static void places_change(struct state *s, size_t i)
{
    struct panel *p = s->extra;
    double *d = duel_of(s, 0), *e = duel_of(s, i), born = d[BORN];
    struct state *child = p->members.child[0];
    d[BORN] = e[BORN];
    e[BORN] = born;
    hunch_choice choice = p->choice[0];
    p->members.child[0] = p->members.child[i];
    p->choice[0] = p->choice[i];
    p->members.child[i] = child;
    p->choice[i] = choice;
}

/* Was the alarm false? Of the rounds that tell (its label was shown, or another one was right), the former champion
 * must have as many right as before the alarm, up to two standard deviations: then it is the champion again. */
static void former_learn(struct state *s, size_t i, bool shown, bool right)
{
    double *d = duel_of(s, i), *errors = model_numbers(s, ERRORS);
    if (!is_awake(s, i))
        return;
    d[WON_1] += shown && right;
    d[MET_1] += shown || right;
    if (d[MET_1] < FORMER_ROUNDS)
        return;
    double p = fmax(d[ERROR_BEFORE], 0.01), sd = sqrt(p * (1 - p) / d[MET_1]);
    model_numbers(s, AWAKE)[i] = 0;
    if (1 - d[WON_1] / d[MET_1] > p + 2 * sd)
        return;
    errors[FALSE_ALARMS]++;
    errors[SLOW] = errors[FAST] = d[ERROR_BEFORE];
    errors[SINCE] = ERRORS_FIRST_ROUNDS;
    places_change(s, i);
    duels_begin(s);
}

/* Errors are more than usual: a twin that is ready for it is tried again. */
static void twins_call(struct state *s)
{
    const struct panel *p = s->extra;
    for (size_t i = 1; i < p->members.n; i++)
        if (p->kind[i] == TWIN && duel_of(s, i)[RETIRED] > 0 &&
            model_numbers(s, ERRORS)[SINCE] >= duel_of(s, i)[ASLEEP_TO])
            challenge(s, i);
}

/* A twin that hardly ever says something else, or says so in vain: were it as good there as it may be, it would still
 * save next to none of the errors. */
static void twins_weigh(struct state *s)
{
    const struct panel *p = s->extra;
    const double *errors = model_numbers(s, ERRORS);
    for (size_t i = 1; i < p->members.n; i++) {
        double *d = duel_of(s, i), wrong = errors[SLOW] * (errors[SINCE] - d[AWAKE_FROM]);
        if (p->kind[i] == TWIN && is_awake(s, i) && wrong >= WEIGHED_AFTER &&
            d[AGE] * duel_gain(d, WEIGHED_WITH) < WEIGHED * wrong)
            retire(s, i);
    }
}

static void challenge_learn(struct state *s, size_t i, int side, bool right)
{
    const struct panel *p = s->extra;
    double *d = duel_of(s, i), window = (p->kind[i] == ANOTHER ? 4 : 0.5) * ++d[AGE];
    duel_learn(d, prior_met(p, i), fmax(WINDOW, window), (struct duel_round){side, right, s->K == 2});
    if (d[MET_0] > RETIRE_AFTER && duel_chance(d) < (p->kind[i] == TWIN ? TWIN_LOST : LOST))
        retire(s, i);
}

/* sides: the choice's note */
static void duels_learn(struct state *s, uint32_t sides, bool right)
{
    const struct panel *p = s->extra;
    for (size_t i = 1; i < p->members.n; i++) {
        uint32_t side = sides >> (NOTE_BITS * i) & 3;
        if (side && p->kind[i] == FORMER)
            former_learn(s, i, side == 2, right);
        else if (side == 1 || side == 2)
            challenge_learn(s, i, (int)side - 1, right);
    }
}

static void members_learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    struct panel *p = s->extra;
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        if (!is_awake(s, i))
            continue;
        struct vec view = view_of(s, child, x);
        hunch_choice own = *c;
        child->scored = child->scored && s->scored;
        own.greedy = child->scored ? p->choice[i].greedy : child_advice(child, &view, child->scores);
        own.round = child->round;
        own.note = c->note & NOTE_EXPLORED;
        round_learn(child, &view, &own, right);
    }
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    const struct panel *p = s->extra;
    const struct streaks streaks = streaks_of(s);
    bool shown = !(c->note & NOTE_EXPLORED); /* a uniform label says nothing about the panel, */
    bool told = shown && c->note >> NOTE_LABEL == (c->label & (UINT32_MAX >> NOTE_LABEL)); /* nor one from elsewhere */
    if (told)
        duels_learn(s, c->note, right);
    streaks_learn(&streaks, told ? c->note >> (NOTE_BITS * p->members.n) : 0, c->label, right);
    if (shown && epoch_learn(model_numbers(s, EPOCH), right))
        model_numbers(s, STALLED)[0] = 1;
    if (shown && !right)
        twins_weigh(s);
    members_learn(s, x, c, right);
    if (shown && errors_learn(model_numbers(s, ERRORS), setting_number(s, RESTART), right)) {
        model_numbers(s, STALLED)[0] = 1;
        twins_call(s);
    }
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    const struct panel *p = s->extra;
    const struct streaks streaks = streaks_of(s);
    streaks_learn(&streaks, 0, label, true);
    for (size_t i = 0; i < p->members.n; i++)
        if (is_awake(s, i)) {
            struct vec view = view_of(s, p->members.child[i], x);
            round_teach(p->members.child[i], &view, label);
        }
}

/* --- what is no tensor --- */

/* Its clock begins with the round that comes. */
static void clock_begin(struct state *s, size_t i)
{
    ((struct panel *)s->extra)->members.child[i]->round = 0;
    duel_of(s, i)[BORN] = (double)s->round;
}

/* A twin begins as a copy of the champion; others as they are. */
static hunch_status wake(struct state *s, size_t i)
{
    struct panel *p = s->extra;
    struct state *child = p->members.child[i], *champion = p->members.child[0], *copy = NULL;
    hunch_status status;
    if (p->kind[i] == TWIN) {
        status = child_copy(&copy, champion);
        if (status != HUNCH_OK)
            return status;
        memcpy(copy->set, child->set, sizeof copy->set); /* text is only set by learners that cannot be members */
        child_free(child);
        p->members.child[i] = copy;
        duel_of(s, i)[AWAKE_FROM] = model_numbers(s, ERRORS)[SINCE];
        duel_of(s, i)[BORN] = duel_of(s, 0)[BORN];
    } else {
        status = state_grow_features(child, features_of(s, child, s->features));
        if (status != HUNCH_OK)
            return status;
        clock_begin(s, i);
    }
    model_numbers(s, AWAKE)[i] = 1;
    return HUNCH_OK;
}

/* All begin anew; the champion goes on as the former one, in case the alarm was false. */
static hunch_status restart(struct state *s)
{
    struct panel *p = s->extra;
    double *errors = model_numbers(s, ERRORS);
    if (p->former) {
        struct state *child = p->members.child[p->former];
        hunch_status status = state_grow_features(child, features_of(s, child, s->features));
        if (status != HUNCH_OK)
            return status;
        places_change(s, p->former);
    }
    for (size_t i = 0; i < p->members.n; i++) {
        if (p->former && i == p->former)
            continue;
        state_restart(p->members.child[i]);
        clock_begin(s, i);
    }
    double before = errors[SLOW];
    errors[SINCE] = errors[ALARM] = 0;
    errors[SLOW] = errors[FAST];
    duels_begin(s);
    model_numbers(s, RESTARTS)[0]++;
    model_numbers(s, LAST_RESTART)[0] = (double)s->round;
    if (p->former) {
        double *d = duel_of(s, p->former);
        d[WON_1] = d[MET_1] = 0;
        d[ERROR_BEFORE] = before;
        model_numbers(s, AWAKE)[p->former] = 1;
    }
    return HUNCH_OK;
}

static hunch_status reserve(struct state *s, const struct vec *x)
{
    const struct panel *p = s->extra;
    hunch_status alarm = model_numbers(s, ERRORS)[ALARM] > 0 ? restart(s) : HUNCH_OK;
    if (alarm != HUNCH_OK)
        return alarm;
    for (size_t i = 1; i < p->members.n; i++) {
        bool awake = is_awake(s, i), should = should_be_awake(s, i);
        hunch_status status = should && !awake ? wake(s, i) : HUNCH_OK;
        if (status != HUNCH_OK)
            return status;
        if (awake && !should)
            model_numbers(s, AWAKE)[i] = 0;
    }
    for (size_t i = 0; i < p->members.n; i++) {
        struct vec view = view_of(s, p->members.child[i], x);
        hunch_status status = is_awake(s, i) ? round_reserve(p->members.child[i], &view) : HUNCH_OK;
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    struct panel *p = s->extra;
    if (classes > s->K)
        return members_grow_classes(&p->members, classes);
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        hunch_status status = is_awake(s, i) ? state_grow_features(child, features_of(s, child, features)) : HUNCH_OK;
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

static const struct state *shown(const struct state *s)
{
    return ((const struct panel *)s->extra)->members.child[leader(s)];
}

/* A member that only the other has awake wakes here, with room for all features that were seen here. */
static hunch_status merge(struct state *s, const struct state *other)
{
    const struct panel *p = s->extra;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; status == HUNCH_OK && i < p->members.n; i++)
        if (is_awake(other, i) && !is_awake(s, i))
            status = state_grow_features(p->members.child[i], features_of(s, p->members.child[i], s->features));
    return status == HUNCH_OK ? members_extra_merge(s, other) : status;
}

static void derive(struct state *s)
{
    const struct streaks streaks = streaks_of(s);
    streaks_forget(&streaks);
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

const struct algo algo_panel = {
    .info = {"panel", "learners that duel where they disagree: the default", "this project", 0, settings},
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
    .scores_left = scores_left,
    .derive = derive,
    .extra = &members,
};
