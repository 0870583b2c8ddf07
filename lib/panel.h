/* SPDX-License-Identifier: BSD-3-Clause */
/* Who of a panel is awake, challenges, wins and retires: the rules of docs/algorithms/panel.md, for algo/panel.c. */
#ifndef PANEL_H
#define PANEL_H

#include "duel.h"
#include "members.h"
#include "streaks.h"

/* Its tensors. */
enum { DUELS, AWAKE, EPOCH, STALLED, ERRORS, RESTARTS, LAST_RESTART, STREAKS, LATE_LABELS, FINDING };

/* Of a duel, behind its sides. */
enum { FINDING_AGE = DUEL_SIDES, FINDING_NUMBERS }; /* of the duel that guesses have */
enum { AGE = DUEL_SIDES, RETIRED, AWAKE_FROM, ASLEEP_TO, BORN, DUEL_NUMBERS };
enum { ERROR_BEFORE = AGE }; /* of the former champion */
enum { SURE = ASLEEP_TO };   /* of the champion, who never sleeps: the margin of which it is; 0: the least */
enum kind { CHAMPION, TWIN, CALM, RIVAL, ANOTHER, FINDER, FORMER };

/* Of a choice's note, for each duel from NOTE_BITS on; the label stands above them, NOTE_GUESSED below. A side is 1 or
 * 2, or 0 where labels are the same or somebody else's. */
#define NOTE_BITS 2
#define NOTE_UNASKED 3u /* not a side: of a twin, that it was not asked; of another, that those before it rested */
#define NOTE_LABEL (NOTE_BITS * LADDER_MOST)
#define PANEL_MOST (LADDER_MOST - STREAKS_DUELS) /* behind them stand the duels of streaks.h */

struct panel {
    struct members members; /* first: see members.h */
    enum kind kind[PANEL_MOST];
    size_t former;                   /* the first of that kind; 0: none */
    hunch_choice choice[PANEL_MOST]; /* of the example that predict saw last */
    bool asked[PANEL_MOST];          /* likewise: it has made a choice */
    size_t first;                    /* likewise: those before it rested */
    struct ladder ladder;            /* likewise */
    const real *offset;              /* likewise: what words say of it; NULL: nothing */
    size_t lead;                     /* likewise: who has made its greedy label */
};

static inline double *panel_duel(const struct state *s, size_t i)
{
    return model_numbers(s, DUELS) + i * DUEL_NUMBERS;
}

static inline bool panel_is_awake(const struct state *s, size_t i)
{
    return model_numbers(s, AWAKE)[i] > 0;
}

/* Or it begins with the round that comes. One of another kind then learns nothing from this one, whose example may have
 * been written for those that were awake. */
static inline bool panel_is_born(const struct state *s, size_t i)
{
    return panel_duel(s, i)[BORN] < (double)s->round;
}

/* The champion but for what it forgets, and how much it trusts an answer. */
static inline bool panel_is_twin(const struct panel *p, size_t i)
{
    return p->kind[i] == TWIN || p->kind[i] == CALM;
}

/* In a round in which some rest: they, and who is compared with the champion, which may have woken meanwhile. */
static inline bool panel_rests(const struct panel *p, size_t i)
{
    return p->first && (i < p->first || panel_is_twin(p, i) || p->kind[i] == FORMER);
}

static inline bool panel_may_be_unasked(const struct panel *p, size_t i)
{
    return panel_is_twin(p, i) && p->members.child[i]->algo->agree;
}

/* Member i was not asked for its label in the round of this note, which may come from outside. */
static inline bool panel_was_unasked(const struct panel *p, size_t i, uint32_t note)
{
    return panel_may_be_unasked(p, i) && (note >> (NOTE_BITS * i) & 3) == NOTE_UNASKED;
}

enum kind panel_kind(const struct state *champion, const struct state *child);
bool panel_should_be_awake(const struct state *s, size_t i);
/* Whom twin i begins as a copy of: the twin that is tried before it; 0: the champion. */
size_t panel_twin_before(const struct state *s, size_t i);
/* Of those that may be unasked: member i, awake, is asked where the champion's label leads by so much. */
bool panel_is_asked(const struct state *s, size_t i, double margin);
/* Who is the first to be asked in a round: where one has won its duel those before it rest in most rounds. */
size_t panel_first(const struct state *s, uint64_t round);
/* Who was in the round of this note, which may come from outside. */
size_t panel_first_of(const struct panel *p, uint32_t note);
/* One of another kind, awake, that has just begun to learn. */
bool panel_is_new(const struct state *s, size_t i);
/* In the duels: the former champion is only watched, and one of another kind looks on at first. */
bool panel_takes_part(const struct state *s, size_t i);
/* The member that wins the duels as they stand; with or without those that find classes. */
size_t panel_leader(const struct state *s, bool finders);

void panel_duels_begin(struct state *s);
/* Member i's, as if it had just come. */
void panel_challenge(struct state *s, size_t i);
/* An epoch has ended much better than the one before. */
void panel_duels_renew(struct state *s);
/* sides: the choice's note */
void panel_duels_learn(struct state *s, uint32_t sides, bool right);
/* Errors are more than usual: the twin whose turn it is is tried again, if it is ready for it. */
void panel_twins_call(struct state *s);
/* After a wrong answer: one that cannot matter goes to sleep. */
void panel_twins_weigh(struct state *s);
/* Whether member i's label, as it is in p->choice, was never right before; the chance that such guesses have. */
bool panel_is_guess(const struct panel *p, size_t i);
double panel_guess_chance(const struct state *s);
/* The champion and member i, and what each of them has said of the example at hand. */
void panel_places_change(struct state *s, size_t i);

#endif
