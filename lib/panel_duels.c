/* SPDX-License-Identifier: BSD-3-Clause */
#include "panel.h"

#include <math.h>

#include "params.h"
#include "progress.h"

#define WINDOW 100 /* duels that count fully, at least */
#define RETIRE_AFTER 100
#define LOST 0.00135        /* a challenger's chance, Phi(-3), below which it retires; */
#define TWIN_LOST 0.01      /* and a twin's, for whom that is not the end */
#define WEIGHED_AFTER 50    /* wrong answers after which it is seen what a twin could save of them, ... */
#define WEIGHED_LATEST 4000 /* ... or rounds, where there are fewer: ... */
#define WEIGHED (1 / 30.0)  /* ... at least as large a share ... */
#define WEIGHED_WITH 2      /* ... if it is as many standard deviations better than it seems */
#define TWIN_ROUNDS 1000    /* after which a twin counts as another, at the latest */
#define TURN_AFTER 10       /* duels that tell of the champion's side before a twin can be said to lead */
#define FORMER_ROUNDS 100
#define NEW_ROUNDS 16.0  /* for each class, in which one of another kind only learns */
#define SURE_LEAST 1     /* margin of the champion below which twins are asked: all that learners want */
#define SURE_WRONG 0.01  /* share of wrong answers above which it is to be larger, ... */
#define SURE_RATE 0.1    /* ... and how fast it follows */
#define REST_FROM 0.95   /* chance of one from which on those before it rest ... */
#define REST 4           /* ... in all but one of so many rounds */
#define SLEEP 3          /* times as long as it was awake */
#define FIND_WORTH 0.125 /* right answers at most, for each class that there is, that a label found is worth */

/* What the sides have been met with before anything happened. */
static const double *prior_met(const struct panel *p, size_t i)
{
    static const double rival[] = {2, 16}, twin[] = {2, 4}, another[] = {2, 2};
    return p->kind[i] == RIVAL || p->kind[i] == FINDER ? rival : p->kind[i] == ANOTHER ? another : twin;
}

/* The duel of guesses: NULL where nobody makes any. */
static double *finding_of(const struct state *s)
{
    return s->tensor[FINDING].kind != ABSENT ? model_numbers(s, FINDING) : NULL;
}

/* Of K labels one is right. */
static void finding_begin(struct state *s)
{
    duel_begin(finding_of(s), (const double[]){2, s->K});
    finding_of(s)[FINDING_AGE] = 0;
}

static void finding_learn(struct state *s, int side, bool right)
{
    double *d = finding_of(s);
    duel_learn(d, (const double[]){2, s->K}, fmax(WINDOW, ++d[FINDING_AGE] / 2),
               (struct duel_round){side, right, false});
}

bool panel_is_guess(const struct panel *p, size_t i)
{
    return p->kind[i] == FINDER && p->choice[i].note & NOTE_GUESSED;
}

/* A label that is found will be right as often again as it would have been so far, if labels are alike; but others
 * would have found it, too, the later the more labels there are. */
double panel_guess_chance(const struct state *s)
{
    return duel_chance_worth(finding_of(s),
                             fmin(1 + model_numbers(s, ERRORS)[SINCE] / s->K, fmax(1, FIND_WORTH * s->K)));
}

void panel_challenge(struct state *s, size_t i)
{
    double *d = panel_duel(s, i);
    duel_begin(d, prior_met(s->extra, i));
    d[AGE] = d[RETIRED] = d[ASLEEP_TO] = 0;
    d[AWAKE_FROM] = model_numbers(s, ERRORS)[SINCE];
}

void panel_duels_begin(struct state *s)
{
    const struct panel *p = s->extra;
    for (size_t i = 0; i < p->members.n; i++)
        panel_challenge(s, i);
    for (size_t i = 1; i < p->members.n; i++)
        panel_duel(s, i)[RETIRED] = p->kind[i] == CALM; /* until a warning */
    if (finding_of(s))
        finding_begin(s);
    epoch_begin(model_numbers(s, EPOCH), s->K);
    model_numbers(s, STALLED)[0] = 0;
}

enum kind panel_kind(const struct state *champion, const struct state *child)
{
    if (champion->algo != child->algo)
        return child->algo->is_guess ? FINDER : ANOTHER;
    static const char *const twin[] = {"decay", NULL}, *const calm[] = {"decay", "r", NULL};
    double more = params_number(child, "decay") - params_number(champion, "decay");
    if (!params_alike(champion, child, calm) || champion->mapped != child->mapped || more < 0)
        return RIVAL;
    if (params_alike(champion, child, twin))
        return more > 0 ? TWIN : FORMER;
    return more > 0 && params_number(child, "r") > params_number(champion, "r") ? CALM : RIVAL;
}

size_t panel_twin_before(const struct state *s, size_t i)
{
    const struct panel *p = s->extra;
    size_t before = 0;
    for (size_t j = 1; j < i && p->kind[i] == TWIN; j++)
        before = p->kind[j] == TWIN ? j : before;
    return before;
}

static bool leads(const struct state *s, size_t i)
{
    const double *d = panel_duel(s, i);
    return panel_is_awake(s, i) && d[MET_0] > TURN_AFTER && duel_chance(d) > 0.5;
}

/* The first is tried as soon as the panel is stalled, each of the others when the one before it leads. */
static bool twin_has_its_turn(const struct state *s, size_t i)
{
    size_t before = panel_twin_before(s, i);
    if (!before)
        return true;
    return panel_is_awake(s, i) ? panel_duel(s, before)[RETIRED] == 0 : leads(s, before);
}

/* A twin begins as the champion, and is another only when it has forgotten what that had learned. */
static bool twin_is_another(const struct state *s, size_t i)
{
    const struct panel *p = s->extra;
    double rounds = fmin(1 / params_number(p->members.child[i], "decay"), TWIN_ROUNDS);
    return model_numbers(s, ERRORS)[SINCE] - panel_duel(s, i)[AWAKE_FROM] >= rounds;
}

bool panel_should_be_awake(const struct state *s, size_t i)
{
    const struct panel *p = s->extra;
    bool stalled = model_numbers(s, STALLED)[0] > 0;
    if (i == 0)
        return true;
    if (p->kind[i] == FORMER)
        return panel_is_awake(s, i); /* from a restart to the end of its duel */
    if (panel_duel(s, i)[RETIRED] > 0)
        return false;
    if (p->kind[i] == FINDER)
        return s->K >= params_number(p->members.child[i], "from") && !s->text;
    if (p->kind[i] == ANOTHER && s->text) /* it has never won there, and words make it dear */
        return false;
    return p->kind[i] == RIVAL || (stalled && (!panel_is_twin(p, i) || twin_has_its_turn(s, i)));
}

/* Who begins with nothing would lose duels that tell of its first rounds only, and be held to them: it looks on. */
bool panel_is_new(const struct state *s, size_t i)
{
    bool is_another = ((const struct panel *)s->extra)->kind[i] == ANOTHER;
    return is_another && (double)s->round - panel_duel(s, i)[BORN] < NEW_ROUNDS * s->K;
}

bool panel_takes_part(const struct state *s, size_t i)
{
    return panel_is_awake(s, i) && ((const struct panel *)s->extra)->kind[i] != FORMER && !panel_is_new(s, i);
}

static double sure_margin(const struct state *s)
{
    return fmax(SURE_LEAST, panel_duel(s, 0)[SURE]);
}

bool panel_is_asked(const struct state *s, size_t i, double margin)
{
    return margin < sure_margin(s) || duel_chance(panel_duel(s, i)) > 0.5;
}

/* Twins are tried against the champion, the former one is watched beside it, and finders need to be met. */
static bool may_be_first(const struct panel *p, size_t i)
{
    return p->kind[i] == RIVAL || p->kind[i] == ANOTHER;
}

/* At random, so that streams with a period are met at all its phases. */
static bool is_for_rest(uint64_t round)
{
    struct rng which = {round / REST};
    return rng_below(&which, REST) != round % REST;
}

size_t panel_first(const struct state *s, uint64_t round)
{
    const struct panel *p = s->extra;
    size_t leader = 0;
    double chance = 0;
    if (!is_for_rest(round))
        return 0;
    for (size_t i = 1; i < p->members.n; i++) {
        if (!panel_is_awake(s, i) || panel_is_new(s, i))
            continue;
        if (!may_be_first(p, i))
            return 0;
        double wins = duel_chance(panel_duel(s, i));
        leader = wins > 0.5 ? i : leader;
        chance = wins > 0.5 ? wins : chance;
    }
    return chance > REST_FROM ? leader : 0;
}

size_t panel_first_of(const struct panel *p, uint32_t note)
{
    for (size_t i = 1; i < p->members.n; i++)
        if (may_be_first(p, i) && (note >> (NOTE_BITS * i) & 3) == NOTE_UNASKED)
            return i;
    return 0;
}

size_t panel_leader(const struct state *s, bool finders)
{
    const struct panel *p = s->extra;
    size_t best = 0;
    for (size_t i = 1; i < p->members.n; i++)
        if (panel_takes_part(s, i) && (finders || p->kind[i] != FINDER) && duel_chance(panel_duel(s, i)) > 0.5)
            best = i;
    return best;
}

/* --- learning --- */

static void retire(struct state *s, size_t i)
{
    double *d = panel_duel(s, i), now = model_numbers(s, ERRORS)[SINCE];
    d[RETIRED] = 1;
    d[ASLEEP_TO] = now + SLEEP * (now - d[AWAKE_FROM]);
}

void panel_places_change(struct state *s, size_t i)
{
    struct panel *p = s->extra;
    double *d = panel_duel(s, 0), *e = panel_duel(s, i), born = d[BORN];
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
    double *d = panel_duel(s, i), *errors = model_numbers(s, ERRORS);
    if (!panel_is_awake(s, i))
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
    panel_places_change(s, i);
    panel_duels_begin(s);
}

static bool is_rested(const struct state *s, size_t i)
{
    const double *d = panel_duel(s, i);
    return d[RETIRED] > 0 && model_numbers(s, ERRORS)[SINCE] >= d[ASLEEP_TO];
}

/* Of those that begin as the champion the one whose last trial was the longest ago; 0 while one of them is tried. */
static size_t turn(const struct state *s)
{
    const struct panel *p = s->extra;
    size_t next = 0;
    for (size_t i = 1; i < p->members.n; i++) {
        if (!panel_is_twin(p, i) || panel_twin_before(s, i))
            continue;
        if (panel_duel(s, i)[RETIRED] == 0 && !leads(s, i))
            return 0;
        if (is_rested(s, i) && (!next || panel_duel(s, i)[AWAKE_FROM] < panel_duel(s, next)[AWAKE_FROM]))
            next = i;
    }
    return next;
}

void panel_twins_call(struct state *s)
{
    const struct panel *p = s->extra;
    size_t next = turn(s);
    for (size_t i = 1; i < p->members.n; i++)
        if (panel_is_twin(p, i) && is_rested(s, i) && (i == next || panel_twin_before(s, i)))
            panel_challenge(s, i);
}

/* A twin that hardly ever says something else, or says so in vain: were it as good there as it may be, it would still
 * save next to none of the errors. */
void panel_twins_weigh(struct state *s)
{
    const struct panel *p = s->extra;
    const double *errors = model_numbers(s, ERRORS);
    for (size_t i = 1; i < p->members.n; i++) {
        double *d = panel_duel(s, i), rounds = errors[SINCE] - d[AWAKE_FROM], wrong = errors[SLOW] * rounds;
        if (panel_is_twin(p, i) && panel_is_awake(s, i) && (wrong >= WEIGHED_AFTER || rounds >= WEIGHED_LATEST) &&
            d[AGE] * duel_gain(d, WEIGHED_WITH) < WEIGHED * wrong && twin_is_another(s, i))
            retire(s, i);
    }
}

/* Of another kind, it may lead for a while and be overtaken; its duel, which hardly forgets, is to tell of those that
 * there are now. */
void panel_duels_renew(struct state *s)
{
    const struct panel *p = s->extra;
    for (size_t i = 1; i < p->members.n; i++)
        if (p->kind[i] == ANOTHER && panel_duel(s, i)[RETIRED] == 0)
            panel_challenge(s, i);
}

static void challenge_learn(struct state *s, size_t i, int side, bool right)
{
    const struct panel *p = s->extra;
    double *d = panel_duel(s, i), window = (p->kind[i] == ANOTHER ? 4 : 0.5) * ++d[AGE];
    duel_learn(d, prior_met(p, i), fmax(WINDOW, window), (struct duel_round){side, right, s->K == 2});
    bool twin = panel_is_twin(p, i);
    if (d[MET_0] > RETIRE_AFTER && duel_chance(d) < (twin ? TWIN_LOST : LOST) && (!twin || twin_is_another(s, i)))
        retire(s, i);
}

/* Where twins were not asked hardly any answer may be wrong. */
static void sure_learn(struct state *s, bool right)
{
    panel_duel(s, 0)[SURE] = sure_margin(s) * (1 + SURE_RATE * (!right - SURE_WRONG));
}

void panel_duels_learn(struct state *s, uint32_t sides, bool right)
{
    const struct panel *p = s->extra;
    bool unasked = false;
    for (size_t i = 1; i < p->members.n; i++) {
        uint32_t side = sides >> (NOTE_BITS * i) & 3;
        bool told = side == 1 || side == 2; /* a note comes from outside, and may be anything */
        if (side && p->kind[i] == FORMER)
            former_learn(s, i, side == 2, right);
        else if (told && p->kind[i] == FINDER && sides & NOTE_GUESSED)
            finding_learn(s, (int)side - 1, right);
        else if (told)
            challenge_learn(s, i, (int)side - 1, right);
        unasked |= panel_was_unasked(p, i, sides);
    }
    if (unasked)
        sure_learn(s, right);
}
