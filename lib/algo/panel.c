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
 * (the champion but for its decay; asleep until the panel is stalled, then a copy of the champion; one that forgets
 * faster sleeps until the one before it leads, and is a copy of that), another (of another kind; asleep until the panel
 * is stalled), a finder (made for finding classes, awake where there are many; where its label was never right before,
 * that is a guess, and guesses have a duel of their own) or the former (the same as the champion, whose place it takes
 * after an alarm). Their priors, when they retire, and when the panel is stalled or alarmed stand in that page.
 *
 * Last of all, where labels come in streaks, what the rounds before say is a challenger too: see streaks.h.
 */
#include <math.h>
#include <stdlib.h>

#include "../explore.h"
#include "../panel.h"
#include "../params.h"
#include "../progress.h"

enum { MEMBERS, RESTART, FOLLOW };
enum { FOLLOW_AUTO, FOLLOW_NONE };

static const char *const follow_choices[] = {"auto", "none", NULL};

#define CONFIDENT_WITH(r) "confident:matrix=span,r=" r ",demote_mean=3,doubt=250"
#define CONFIDENT CONFIDENT_WITH("0.2")
#define LINUCB "linucb:alpha=0.5,matrix=span"
#define CLOUDS "clouds:from=32"
static const hunch_setting settings[] = {
    {"members", HUNCH_TEXT,
     "[" CONFIDENT ",map=auto;"                   // the champion
     CONFIDENT ";"                                // on the columns as they are
     CONFIDENT ",decay=0.001,map=auto;"           // a twin that forgets
     CONFIDENT ",decay=0.01,map=auto;"            // and one that forgets fast
     CONFIDENT_WITH("5") ",decay=0.001,map=auto;" // the calm one
     CONFIDENT ",map=auto;"                       // the former champion
     LINUCB ";"                                   // for noise in the answers themselves
     CLOUDS "]",                                  // for classes that are to be found
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
    {"finding", PER_MODEL, 1, FINDING_NUMBERS, 0, MERGE_MEAN},
    TENSORS_END,
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
    if (tensor == FINDING && !members_find(s->set[MEMBERS].text))
        inout->kind = ABSENT;
}

static struct streaks streaks_of(const struct state *s)
{
    double *labels = model_numbers(s, LATE_LABELS);
    return (struct streaks){model_numbers(s, STREAKS), labels, labels + s->K, s->K};
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
        p->kind[i] = i ? panel_kind(p->members.child[0], child) : CHAMPION;
        p->former = p->kind[i] == FORMER && !p->former ? i : p->former;
        model_numbers(s, AWAKE)[i] = p->kind[i] == RIVAL;
    }
    model_numbers(s, AWAKE)[0] = 1;
    model_numbers(s, ERRORS)[FAST] = model_numbers(s, ERRORS)[SLOW] = 1;
    panel_duels_begin(s);
    const struct streaks streaks = streaks_of(s);
    streaks_begin(&streaks);
    return HUNCH_OK;
}

/* --- what a member sees --- */

/* Least squares are right in the end where chances are linear in the columns, but not in what curves make of them. */
static struct vec straightened(const struct panel *p, size_t i, const struct vec *x)
{
    struct vec view = *x;
    if (p->kind[i] == ANOTHER && x->straight) {
        view.value = x->straight;
        view.norm2 = view.absolute = 0;
    }
    return view;
}

static struct vec view_of(const struct state *s, size_t i, const struct vec *row)
{
    const struct panel *p = s->extra;
    const struct vec x = straightened(p, i, row);
    if (p->members.child[i]->mapped || !s->mapped)
        return x;
    size_t all = x.all - x.mapped, n = x.n > x.mapped ? x.n - x.mapped : 0;
    const uint32_t *columns = x.columns + x.mapped;
    return (struct vec){.index = vec_is_dense(columns, n) ? NULL : columns,
                        .value = x.value + x.mapped,
                        .n = n,
                        .all = all,
                        .unseen = x.unseen};
}

#define WORDS_ROOM 2 /* where in scratch for scores, in vectors of all classes: a member's own stand before it */

/* Champion and twins have counted the same words: what these say of x is found once, and counted once. */
static const real *offset_find(const struct state *s, const struct vec *x, real *room)
{
    const struct state *champion = ((const struct panel *)s->extra)->members.child[0];
    return champion->algo->offset && champion->algo->offset(champion, x, room) ? room : NULL;
}

/* What member i sees, given that. */
static struct vec view_with(const struct state *s, size_t i, const struct vec *x, const real *offset)
{
    const struct panel *p = s->extra;
    struct vec view = view_of(s, i, x);
    view.counted = panel_is_twin(p, i);
    view.offset = i == 0 || view.counted ? offset : NULL;
    return view;
}

static uint32_t features_of(const struct state *s, const struct state *child, uint32_t features)
{
    return child->mapped || !s->mapped ? features : features > s->mapped ? features - s->mapped : 0;
}

/* --- choosing --- */

static void member_scores(const struct state *s, size_t i, const struct vec *x, real *ret)
{
    const struct panel *p = s->extra;
    const struct state *child = p->members.child[i];
    struct vec view = view_with(s, i, x, panel_is_twin(p, i) ? offset_find(s, x, ret + WORDS_ROOM * s->lanes) : NULL);
    child->algo->scores(child, &view, ret);
}

/* Guesses find classes; who is not told whether one was right has nothing of them. */
static void scores(const struct state *s, const struct vec *x, real *ret)
{
    const struct panel *p = s->extra;
    size_t leader = panel_leader(s, true);
    const struct state *child = p->members.child[leader];
    member_scores(s, leader, x, ret);
    if (p->kind[leader] == FINDER && child->algo->is_guess(child, explore_first(ret, s->K)))
        member_scores(s, panel_leader(s, false), x, ret);
}

static const real *member_scores_left(const struct panel *p, size_t i)
{
    struct state *child = p->members.child[i];
    return child->algo->scores_left ? child->algo->scores_left(child) : child->scores;
}

static const real *scores_left(struct state *s)
{
    const struct panel *p = s->extra;
    return member_scores_left(p, p->lead);
}

static double chance(const struct state *s, uint32_t label)
{
    return ladder_chance(&((const struct panel *)s->extra)->ladder, label);
}

/* By how much the champion's label, of the example that predict saw last, leads. */
static double champion_margin(const struct panel *p, uint32_t K)
{
    const real *scores = member_scores_left(p, 0);
    uint32_t label = p->choice[0].label;
    return (double)scores[label] - scores[explore_rival(scores, K, label)];
}

static void members_predict(struct state *s, const struct vec *x)
{
    struct panel *p = s->extra;
    p->offset = p->first ? NULL : offset_find(s, x, s->scores + WORDS_ROOM * s->lanes);
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        child->scored = false;
        p->asked[i] = i >= p->first && panel_is_awake(s, i) && !panel_is_new(s, i) &&
                      (!panel_may_be_unasked(p, i) || panel_is_asked(s, i, champion_margin(p, s->K)));
        if (!p->asked[i])
            continue;
        struct vec view = view_with(s, i, x, p->offset);
        p->choice[i] = (hunch_choice){.round = s->round};
        child->algo->predict(child, &view, &p->choice[i]);
    }
}

static unsigned wants(const struct state *s, const hunch_choice *c)
{
    const struct panel *p = s->extra;
    size_t first = c ? panel_first_of(p, c->note) : panel_first(s, s->round + 1);
    unsigned all = first ? 0 : WANT_MAP;
    for (size_t i = 0; i < p->members.n; i++)
        all |= p->kind[i] == ANOTHER && panel_is_awake(s, i) ? WANT_STRAIGHT : 0;
    return all;
}

static void note(struct state *s, const struct vec *x)
{
    struct panel *p = s->extra;
    p->first = panel_first(s, s->round);
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        child->round = s->round - (uint64_t)fmin(panel_duel(s, i)[BORN], (double)s->round);
        if (i >= p->first && panel_is_born(s, i) && panel_is_awake(s, i) && child->algo->note) {
            struct vec view = view_of(s, i, x);
            child->algo->note(child, &view);
        }
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

/* Of member i, for the label o, when another one stood against it: what a choice's note has. */
static uint32_t side_noted(const struct state *s, size_t i, uint32_t o, uint32_t before)
{
    const struct panel *p = s->extra;
    uint32_t own = p->choice[i].label;
    if (!p->asked[i])
        return NOTE_UNASKED;
    return panel_takes_part(s, i) ? side_of(o, before, own) : o == own ? 2 : 1;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    struct panel *p = s->extra;
    struct ladder *l = &p->ladder;
    uint32_t before[PANEL_MOST] = {0}, o, note = 0;
    members_predict(s, x);
    s->scored = true;
    p->lead = p->first; /* as leader finds it */
    o = p->choice[p->first].label;
    *l = (struct ladder){.label = {o}, .chance = {1}, .n = 1};
    for (size_t i = p->first + 1; i < p->members.n; i++) {
        before[i] = o;
        if (!p->asked[i] || !panel_takes_part(s, i))
            continue;
        bool guess = panel_is_guess(p, i);
        double usual = duel_chance(panel_duel(s, i)), wins = guess ? panel_guess_chance(s) : usual;
        ladder_climb(l, p->choice[i].label, wins);
        p->lead = usual > 0.5 && !guess ? i : p->lead;
        note |= guess ? NOTE_GUESSED : 0;
        if (p->choice[i].label != o && rng_uniform(&s->rng) < wins)
            o = p->choice[i].label;
    }
    o = streaks_duel(s, o, &note);
    if (p->first)
        note |= NOTE_UNASKED << (NOTE_BITS * p->first);
    for (size_t i = p->first + 1; i < p->members.n; i++)
        if (p->asked[i] || (panel_is_awake(s, i) && panel_may_be_unasked(p, i)))
            note |= side_noted(s, i, o, before[i]) << (NOTE_BITS * i);
    ret->label = o;
    ret->prob = fmin(chance(s, o), 1);
    ret->greedy = p->choice[p->lead].greedy;
    ret->note = note | o << NOTE_LABEL;
}

/* --- learning --- */

/* told: the note is this panel's. */
static void members_learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right, bool told)
{
    struct panel *p = s->extra;
    p->first = panel_first_of(p, c->note);
    if (!s->scored)
        p->offset = p->first ? NULL : offset_find(s, x, s->scores + WORDS_ROOM * s->lanes);
    for (size_t i = 0; i < p->members.n; i++) {
        struct state *child = p->members.child[i];
        if (!panel_is_awake(s, i) || panel_rests(p, i) || (p->kind[i] == ANOTHER && !panel_is_born(s, i)))
            continue;
        struct vec view = view_with(s, i, x, p->offset);
        if (right && told && panel_was_unasked(p, i, c->note)) {
            child->algo->agree(child, &view, c);
            continue;
        }
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
        panel_duels_learn(s, c->note, right);
    streaks_learn(&streaks, told ? c->note >> (NOTE_BITS * p->members.n) : 0, c->label, right);
    enum progress progress = shown ? epoch_learn(model_numbers(s, EPOCH), right) : EPOCH_GOES_ON;
    if (progress == EPOCH_STALLED)
        model_numbers(s, STALLED)[0] = 1;
    if (progress == EPOCH_BETTER)
        panel_duels_renew(s);
    if (shown && !right)
        panel_twins_weigh(s);
    members_learn(s, x, c, right, told);
    if (shown && errors_learn(model_numbers(s, ERRORS), setting_number(s, RESTART), right)) {
        model_numbers(s, STALLED)[0] = 1;
        panel_twins_call(s);
    }
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    struct panel *p = s->extra;
    const struct streaks streaks = streaks_of(s);
    p->first = 0;
    streaks_learn(&streaks, 0, label, true);
    const real *offset = offset_find(s, x, s->scores + WORDS_ROOM * s->lanes);
    for (size_t i = 0; i < p->members.n; i++)
        if (panel_is_awake(s, i)) {
            struct vec view = view_with(s, i, x, offset);
            round_teach(p->members.child[i], &view, label);
        }
}

/* --- what is no tensor --- */

/* Its clock begins with the round that comes. */
static void clock_begin(struct state *s, size_t i)
{
    ((struct panel *)s->extra)->members.child[i]->round = 0;
    panel_duel(s, i)[BORN] = (double)s->round;
}

/* A twin begins as a copy of the one before it, the first as one of the champion; others as they are. */
static hunch_status wake(struct state *s, size_t i)
{
    struct panel *p = s->extra;
    struct state *child = p->members.child[i];
    hunch_status status;
    if (panel_is_twin(p, i)) {
        size_t from = panel_twin_before(s, i);
        status = child_follow(&p->members.child[i], p->members.child[from]); /* learners with texts are no members */
        if (status != HUNCH_OK)
            return status;
        panel_challenge(s, i);
        panel_duel(s, i)[BORN] = panel_duel(s, from)[BORN];
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
        panel_places_change(s, p->former);
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
    panel_duels_begin(s);
    model_numbers(s, RESTARTS)[0]++;
    s->restarted = true;
    model_numbers(s, LAST_RESTART)[0] = (double)s->round;
    if (p->former) {
        double *d = panel_duel(s, p->former);
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
        bool awake = panel_is_awake(s, i), should = panel_should_be_awake(s, i);
        hunch_status status = should && !awake ? wake(s, i) : HUNCH_OK;
        if (status != HUNCH_OK)
            return status;
        if (awake && !should)
            model_numbers(s, AWAKE)[i] = 0;
    }
    for (size_t i = 0; i < p->members.n; i++) {
        if (!panel_is_awake(s, i))
            continue;
        struct vec view = view_of(s, i, x);
        hunch_status status = round_reserve(p->members.child[i], &view);
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
        hunch_status status =
            panel_is_awake(s, i) ? state_grow_features(child, features_of(s, child, features)) : HUNCH_OK;
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

static const struct state *shown(const struct state *s)
{
    return ((const struct panel *)s->extra)->members.child[panel_leader(s, true)];
}

/* A member that only the other has awake wakes here, with room for all features that were seen here. */
static hunch_status merge(struct state *s, const struct state *other)
{
    const struct panel *p = s->extra;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; status == HUNCH_OK && i < p->members.n; i++)
        if (panel_is_awake(other, i) && !panel_is_awake(s, i))
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

/* The champion's, if it sees what the map has made. */
static bool lead(const struct state *s, uint32_t label, real *ret)
{
    const struct panel *p = s->extra;
    const struct state *champion = p->members.child[0];
    return !p->first && champion->mapped && champion->algo->lead && champion->algo->lead(champion, label, ret);
}

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
    .lead = lead,
    .scores_left = scores_left,
    .wants = wants,
    .derive = derive,
    .extra = &members,
};
