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
 * A challenger is, by what it is made of,
 *   a twin    the champion but for its decay: asleep until the panel is stalled or has restarted, a copy of the
 * champion when it wakes; prior (1, 3), c = 1/2 a rival   of the champion's kind otherwise: prior (1, 15), c = 1/2;
 * retires another   a learner of another kind: asleep until the panel is stalled; prior (1, 3), c = 4; retires (a prior
 * (a, b) is a right answers in a + b; the champion's is (1, 1)). It retires, until a restart, when the champion was
 * shown more than 100 times and was right more often than not by three standard deviations.
 *
 * Stalled: in epochs of 32 K, 64 K ... rounds (K classes), one's share of errors is above 0.9 of the one before; or the
 * test below is at half its threshold. Restart, when the errors of late are too many: with e = 1 for an error,
 * fast += (e - fast) max(1/n, 0.01), slow likewise with 0.0005, p = max(slow, 0.01), n > 200 rounds since the last
 * restart: fast - slow > restart sqrt(p (1 - p) 0.01/1.99). All members and duels begin anew then.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../explore.h"
#include "../members.h"
#include "base/exact.h"

enum { MEMBERS, RESTART };
enum { DUELS, AWAKE, EPOCH, STALLED, ERRORS, RESTARTS, LAST_RESTART };

/* Of a duel; side 0 is the champion so far. */
enum { WON_0, MET_0, WON_1, MET_1, AGE, RETIRED, DUEL_NUMBERS };
enum { EPOCH_ROUNDS, EPOCH_WRONG, EPOCH_LENGTH, EPOCH_BEFORE, EPOCH_NUMBERS };
enum { FAST, SLOW, SINCE, ERROR_NUMBERS };
enum kind { CHAMPION, TWIN, RIVAL, ANOTHER };

#define FIRST_EPOCH 32 /* rounds for each class */
#define STALL 0.9
#define WARNING 0.5 /* of the threshold of a restart */
#define WINDOW 100  /* duels that count fully, at least */
#define RETIRE_AFTER 100
#define NOTE_BITS 2 /* of a choice's note, for each duel from NOTE_BITS on; the label stands above them */
#define NOTE_LABEL (NOTE_BITS * 8)
#define PANEL_MOST 8

#define CONFIDENT "confident:matrix=span,r=0.2,demote_mean=3"
static const hunch_setting settings[] = {
    {"members", HUNCH_TEXT,
     "[" CONFIDENT ",map=auto;" CONFIDENT ";" CONFIDENT ",decay=0.01,map=auto;linucb:alpha=0.5,matrix=span]", 0, 0,
     NULL,
     "the learners, the champion first: [name:setting=value,...;name;...]; those with map=auto see what a map has "
     "made"},
    SETTING_REAL("restart", "5", 0, 1e6,
                 "standard deviations that the errors of late must be above those of before to begin anew; 0: never"),
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
    TENSORS_END,
};

/* One label after the other: who was before, and with what chance. */
struct ladder {
    uint32_t label[PANEL_MOST];
    double chance[PANEL_MOST];
    size_t n;
};

struct panel {
    struct members members; /* first: see members.h */
    enum kind kind[PANEL_MOST];
    bool left_out[PANEL_MOST];       /* the champion's like, without a map to tell them apart */
    hunch_choice choice[PANEL_MOST]; /* of the example that predict saw last */
    struct ladder ladder;            /* likewise */
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

static double *duel_of(const struct state *s, size_t i)
{
    return model_numbers(s, DUELS) + i * DUEL_NUMBERS;
}

/* --- who is who --- */

static double decay_of(const struct state *child)
{
    const hunch_setting *settings_of = child->algo->info.settings;
    for (int i = 0; settings_of[i].name; i++)
        if (!strcmp(settings_of[i].name, "decay"))
            return setting_number(child, i);
    return 0;
}

/* All settings but decay are the same. */
static bool settings_alike(const struct state *a, const struct state *b)
{
    const hunch_setting *settings_of = a->algo->info.settings;
    if (a->algo != b->algo || a->mapped != b->mapped)
        return false;
    for (int i = 0; settings_of[i].name; i++) {
        if (!strcmp(settings_of[i].name, "decay"))
            continue;
        double mine = a->set[i].number, other = b->set[i].number;
        bool same = settings_of[i].kind == HUNCH_TEXT     ? !strcmp(a->set[i].text, b->set[i].text)
                    : settings_of[i].kind == HUNCH_CHOICE ? a->set[i].choice == b->set[i].choice
                                                          : mine == other || (isnan(mine) && isnan(other));
        if (!same)
            return false;
    }
    return true;
}

static enum kind kind_of(const struct state *champion, const struct state *child)
{
    if (champion->algo != child->algo)
        return ANOTHER;
    return settings_alike(champion, child) && decay_of(child) > decay_of(champion) ? TWIN : RIVAL;
}

/* What a challenger's side has been met with before anything happened. */
static double prior_met(const struct panel *p, size_t i)
{
    return p->kind[i] == RIVAL ? 16 : 4;
}

static void duels_begin(struct state *s)
{
    const struct panel *p = s->extra;
    double *epoch = model_numbers(s, EPOCH);
    for (size_t i = 0; i < p->members.n; i++) {
        double *d = duel_of(s, i);
        d[WON_0] = d[WON_1] = 1;
        d[MET_0] = 2;
        d[MET_1] = prior_met(p, i);
        d[AGE] = d[RETIRED] = 0;
    }
    epoch[EPOCH_ROUNDS] = epoch[EPOCH_WRONG] = 0;
    epoch[EPOCH_LENGTH] = FIRST_EPOCH * (double)s->K;
    epoch[EPOCH_BEFORE] = -1;
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
    const struct state *champion = p->members.child[0];
    for (size_t i = 0; i < p->members.n; i++)
        if (p->members.child[i]->extra)
            return error_set(reterr, HUNCH_EINVAL, "%s cannot be a member: it keeps examples or learners of its own",
                             p->members.child[i]->algo->info.name);
    for (size_t i = 1; i < p->members.n; i++) {
        const struct state *child = p->members.child[i];
        p->kind[i] = kind_of(champion, child);
        p->left_out[i] = settings_alike(champion, child) && decay_of(child) == decay_of(champion);
        model_numbers(s, AWAKE)[i] = p->kind[i] == RIVAL && !p->left_out[i];
    }
    model_numbers(s, AWAKE)[0] = 1;
    model_numbers(s, ERRORS)[FAST] = model_numbers(s, ERRORS)[SLOW] = 1;
    duels_begin(s);
    return HUNCH_OK;
}

static bool is_awake(const struct state *s, size_t i)
{
    return model_numbers(s, AWAKE)[i] > 0;
}

static bool should_be_awake(const struct state *s, size_t i)
{
    const struct panel *p = s->extra;
    bool stalled = model_numbers(s, STALLED)[0] > 0, restarted = model_numbers(s, RESTARTS)[0] > 0;
    if (i == 0)
        return true;
    if (p->left_out[i] || duel_of(s, i)[RETIRED] > 0)
        return false;
    return p->kind[i] == RIVAL || stalled || (p->kind[i] == TWIN && restarted);
}

/* --- what a member sees --- */

static struct vec view_of(const struct state *s, const struct state *child, const struct vec *x)
{
    if (child->mapped || !s->mapped)
        return *x;
    size_t all = x->all - x->mapped, n = x->n > x->mapped ? x->n - x->mapped : 0;
    return (struct vec){x->columns + x->mapped, x->value + x->mapped, n, all, x->unseen, 0, NULL};
}

static uint32_t features_of(const struct state *s, const struct state *child, uint32_t features)
{
    return child->mapped || !s->mapped ? features : features > s->mapped ? features - s->mapped : 0;
}

/* --- choosing --- */

/* Phi(z), to 1e-7 (Abramowitz and Stegun 7.1.26). */
static double normal_below(double z)
{
    double t = 1 / (1 + 0.3275911 * fabs(z) * M_SQRT1_2);
    double series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    double tail = 0.5 * series * exact_exp(-z * z / 2);
    return z > 0 ? 1 - tail : tail;
}

/* The chance that the challenger's label is taken. */
static double duel_chance(const double *d)
{
    double mean_0 = d[WON_0] / d[MET_0], mean_1 = d[WON_1] / d[MET_1];
    double variance = mean_0 * (1 - mean_0) / (d[MET_0] + 1) + mean_1 * (1 - mean_1) / (d[MET_1] + 1);
    return normal_below((mean_1 - mean_0) / sqrt(fmax(variance, 1e-12)));
}

/* The member that wins the duels as they stand. */
static size_t leader(const struct state *s)
{
    const struct panel *p = s->extra;
    size_t best = 0;
    for (size_t i = 1; i < p->members.n; i++)
        if (is_awake(s, i) && duel_chance(duel_of(s, i)) > 0.5)
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

static void ladder_climb(struct ladder *l, uint32_t label, double chance)
{
    size_t at = 0;
    while (at < l->n && l->label[at] != label)
        at++;
    if (at == l->n) {
        l->label[l->n] = label;
        l->chance[l->n++] = 0;
    }
    for (size_t i = 0; i < l->n; i++)
        if (i != at) {
            double moved = l->chance[i] * chance;
            l->chance[i] -= moved;
            l->chance[at] += moved;
        }
}

static double chance(const struct state *s, uint32_t label)
{
    const struct ladder *l = &((const struct panel *)s->extra)->ladder;
    for (size_t i = 0; i < l->n; i++)
        if (l->label[i] == label)
            return l->chance[i];
    return 0;
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
        child->round = s->round;
        if (is_awake(s, i) && child->algo->note)
            child->algo->note(child, &view);
    }
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    struct panel *p = s->extra;
    struct ladder *l = &p->ladder;
    uint32_t before[PANEL_MOST] = {0}, o, note = 0;
    members_predict(s, x);
    s->scored = true;
    o = p->choice[0].label;
    *l = (struct ladder){.label = {o}, .chance = {1}, .n = 1};
    for (size_t i = 1; i < p->members.n; i++) {
        before[i] = o;
        if (!is_awake(s, i))
            continue;
        double wins = duel_chance(duel_of(s, i));
        ladder_climb(l, p->choice[i].label, wins);
        if (p->choice[i].label != o && rng_uniform(&s->rng) < wins)
            o = p->choice[i].label;
    }
    for (size_t i = 1; i < p->members.n; i++)
        if (is_awake(s, i) && p->choice[i].label != before[i])
            note |= (uint32_t)(o == before[i] ? 1 : o == p->choice[i].label ? 2 : 0) << (NOTE_BITS * i);
    ret->label = o;
    ret->prob = fmin(chance(s, o), 1);
    ret->greedy = p->choice[leader(s)].greedy;
    ret->note = note | o << NOTE_LABEL;
}

/* --- learning --- */

static void duel_learn(struct state *s, size_t i, int side, bool right)
{
    const struct panel *p = s->extra;
    double *d = duel_of(s, i), window = (p->kind[i] == ANOTHER ? 4 : 0.5) * ++d[AGE];
    const double met[2] = {2, prior_met(p, i)};
    double keep = 1 - 1 / fmax(WINDOW, window);
    for (int j = 0; j < 2; j++) {
        d[2 * j] = 1 + (d[2 * j] - 1) * keep;
        d[2 * j + 1] = met[j] + (d[2 * j + 1] - met[j]) * keep;
        if (j == side || s->K == 2) {
            d[2 * j] += j == side ? right : !right;
            d[2 * j + 1]++;
        }
    }
    double share = d[WON_0] / d[MET_0];
    if (p->kind[i] != TWIN && d[MET_0] > RETIRE_AFTER && share - 3 * sqrt(share * (1 - share) / d[MET_0]) > 0.5)
        d[RETIRED] = 1;
}

static void duels_learn(struct state *s, const hunch_choice *c, bool right)
{
    const struct panel *p = s->extra;
    if (c->note >> NOTE_LABEL != (c->label & (UINT32_MAX >> NOTE_LABEL)))
        return; /* the label was not the ladder's */
    for (size_t i = 1; i < p->members.n; i++) {
        uint32_t side = c->note >> (NOTE_BITS * i) & 3;
        if (side == 1 || side == 2)
            duel_learn(s, i, (int)side - 1, right);
    }
}

static void epoch_learn(struct state *s, bool right)
{
    double *e = model_numbers(s, EPOCH);
    e[EPOCH_ROUNDS]++;
    e[EPOCH_WRONG] += !right;
    if (e[EPOCH_ROUNDS] < e[EPOCH_LENGTH])
        return;
    double share = e[EPOCH_WRONG] / e[EPOCH_ROUNDS];
    if (e[EPOCH_BEFORE] >= 0 && share > STALL * e[EPOCH_BEFORE])
        model_numbers(s, STALLED)[0] = 1;
    e[EPOCH_BEFORE] = share;
    e[EPOCH_LENGTH] *= 2;
    e[EPOCH_ROUNDS] = e[EPOCH_WRONG] = 0;
}

static void restart(struct state *s)
{
    const struct panel *p = s->extra;
    double *errors = model_numbers(s, ERRORS);
    for (size_t i = 0; i < p->members.n; i++)
        state_restart(p->members.child[i]);
    duels_begin(s);
    model_numbers(s, RESTARTS)[0]++;
    model_numbers(s, LAST_RESTART)[0] = (double)s->round;
    errors[SINCE] = 0;
    errors[SLOW] = errors[FAST];
}

/* Returns whether all begins anew. */
static bool errors_learn(struct state *s, bool right)
{
    double *e = model_numbers(s, ERRORS), n = ++e[SINCE];
    e[FAST] += (!right - e[FAST]) * fmax(1 / n, 0.01);
    e[SLOW] += (!right - e[SLOW]) * fmax(1 / n, 0.0005);
    double p = fmax(e[SLOW], 0.01), threshold = setting_number(s, RESTART) * sqrt(p * (1 - p) * 0.01 / 1.99);
    if (threshold <= 0 || n <= 200 || e[FAST] - e[SLOW] <= WARNING * threshold)
        return false;
    model_numbers(s, STALLED)[0] = 1;
    return e[FAST] - e[SLOW] > threshold;
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
    bool shown = !(c->note & NOTE_EXPLORED); /* a uniform label says nothing about the panel */
    if (shown) {
        duels_learn(s, c, right);
        epoch_learn(s, right);
    }
    members_learn(s, x, c, right);
    if (shown && errors_learn(s, right))
        restart(s);
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    const struct panel *p = s->extra;
    for (size_t i = 0; i < p->members.n; i++)
        if (is_awake(s, i)) {
            struct vec view = view_of(s, p->members.child[i], x);
            round_teach(p->members.child[i], &view, label);
        }
}

/* --- what is no tensor --- */

/* A twin begins as a copy of the champion; others as they are. */
static hunch_status wake(struct state *s, size_t i)
{
    struct panel *p = s->extra;
    struct state *child = p->members.child[i], *champion = p->members.child[0], *copy = NULL;
    hunch_status status;
    if (p->kind[i] == TWIN && !model_numbers(s, RESTARTS)[0]) {
        status = child_copy(&copy, champion);
        if (status != HUNCH_OK)
            return status;
        memcpy(copy->set, child->set, sizeof copy->set); /* no text among them: see settings_alike */
        child_free(child);
        p->members.child[i] = copy;
    } else if ((status = state_grow_features(child, features_of(s, child, s->features))) != HUNCH_OK) {
        return status;
    }
    model_numbers(s, AWAKE)[i] = 1;
    return HUNCH_OK;
}

static hunch_status reserve(struct state *s, const struct vec *x)
{
    const struct panel *p = s->extra;
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
    .extra = &members,
};
