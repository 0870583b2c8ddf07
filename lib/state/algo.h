/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an algorithm is. This page teaches the design.
 *
 * An algorithm is one file in algo/ and one line in algo/list.h. The file declares its settings and its state (named
 * tensors) and gives predict, learn and scores. Everything else - allocation, growth with new features and classes,
 * saving, loading, merging, memory accounting, parsing, --help, the documentation's tables and the Python keywords -
 * comes from those declarations.
 *
 * Notation: K classes, x the example, o (choice->label) the label shown, g (choice->greedy) the label with the
 * largest score, p (choice->prob) the chance with which o was drawn. A feature's row is its index times the stride.
 */
#ifndef ALGO_H
#define ALGO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "hunch.h"
#include "numeric/vec.h"
#include "base/rng.h"

#define MAX_TENSORS 32
#define MAX_SETTINGS 16

/* How a tensor is laid out. groups x lanes numbers each:
 *   PER_FEATURE  for every feature; all such tensors of one feature lie side by side, lanes padded to whole vectors
 *   PER_MODEL    once, in double: vectors over classes, counters, sums
 *   PER_MODEL_REAL  once, as reals, lanes padded to whole vectors: larger things that loops run over
 *   MATRIX       `groups` symmetric matrices of (features * lanes) rows, see matrix.h */
enum tensor_kind { ABSENT, PER_FEATURE, PER_MODEL, PER_MODEL_REAL, MATRIX };

#define SCORE_ROOM 4

/* The last bit of a choice's note, in every algorithm: the label was drawn uniformly. The others are the algorithm's.
 */
#define NOTE_EXPLORED 1u
#define NOTE_GUESSED 2u /* of one that finds classes: see algo.is_guess */

#define CLASSES 0 /* as groups or lanes: the number of classes, growing with it */

/* What hunch_merge does: weights are averaged by rounds seen, counts are added. What follows from other tensors is
 * recomputed by algo.derive; covariance.h merges its own tensors. */
enum merge_rule { MERGE_MEAN, MERGE_SUM, MERGE_DERIVE, MERGE_COVARIANCE };

struct tensor {
    const char *name;
    enum tensor_kind kind;
    size_t groups, lanes;
    double initial; /* of every entry; of the diagonal for MATRIX */
    enum merge_rule merge;
};

union setting_value {
    double number;
    int choice;
    char *text;
};

/* A tensor's place in memory. PER_FEATURE: `at` is the offset in a feature's row. */
struct tensor_place {
    enum tensor_kind kind;
    size_t groups, lanes, padded; /* resolved: CLASSES replaced by K; padded: lanes in whole vectors */
    double initial;
    size_t at;
    double *numbers; /* PER_MODEL */
    real *reals;     /* PER_MODEL_REAL */
    real *matrices;  /* MATRIX: groups matrices, each of matrix_capacity reals */
    size_t matrix_capacity;
};

struct algo;
struct linear_ops;
struct covariance_form;
struct covariance_use;

/* The second moments of a state and a round's use of them: see covariance.h. */
struct covariance {
    const struct covariance_form *form; /* in force; NULL: the algorithm keeps none */
    bool automatic;                     /* matrix=auto: the form may change with growth */
    size_t rank;                        /* of matrix=span with rank=auto: for the classes that there were at first */
    void *room;                         /* the form's scratch; NULL: it needs none or there are no features yet */
    const struct vec *x;                /* the example that steps are taken on, from load to flush */
    double scale;                       /* and what it is multiplied with */
    const struct joint *z;              /* of joint steps */
    real *gains, *shrinks;              /* lanes each: steps that are noted until flush, per class */
    uint32_t noted, last[2];            /* how many, and of which classes the last two are */
};

struct state {
    const struct algo *algo;
    const struct linear_ops *linear; /* the loops chosen for this machine */
    uint32_t K;
    uint32_t features, capacity; /* rows in use (largest index + 1) and allocated */
    uint64_t memory;             /* what matrix=auto may take, in bytes */
    uint64_t round;
    struct rng rng;

    union setting_value set[MAX_SETTINGS]; /* the algorithm's own settings, in the order of its table */
    bool ties_random, normalize;
    double bias;
    double floor;        /* share of rounds that show a uniform label */
    bool scale;          /* scale=auto: see front.h */
    int map;             /* map=...: see map.h; within another learner MAP_NONE: it sees the columns only */
    uint32_t mapped;     /* features that a map made, which come first */
    bool text;           /* examples are taken for text */
    double words_weight; /* how much words count beside columns, as learned; 0: not known */
    bool repeated;       /* examples were learned from before: see hunch_set_repeated */
    uint32_t expected;   /* columns that are known to come: the first room is for all of them */

    struct tensor_place tensor[MAX_TENSORS];
    real *rows;    /* capacity x stride: the PER_FEATURE tensors */
    real *blank;   /* one row of initial values */
    size_t stride; /* reals per feature */
    size_t lanes;  /* K padded to whole vectors */

    /* Scratch for one call, by class; what predict leaves there serves learn while `scored`. */
    real *scores;          /* SCORE_ROOM * lanes: w_k.x, and room behind them */
    real *variances;       /* lanes: x'S_k x */
    real *bounds;          /* lanes: scores that decide (upper bounds, projected or decoded scores) */
    real *steps;           /* lanes: how far w_k moves along x (or along S_k x) */
    double *probabilities; /* K: of the labels; gradient factors and standard deviations where it says so */
    bool explores;         /* note to predict: this is a round that explores */
    bool sampled;          /* explore_sample drew the label, from probabilities */
    bool scored;           /* scores (and variances) are this very example's, from predict just before */
    bool restarted;        /* note of learn and teach: what was learned before is void */

    /* While a choice is made among some labels only: by label, 1: it may be shown; and how many may. NULL: all. */
    const unsigned char *eligible;
    uint32_t eligible_n;

    struct covariance covariance;
    void *extra; /* what tensors cannot say: see struct extra */
};

struct algo {
    hunch_algorithm info; /* name, title, paper, settings; full_information: teach is the way it learns */
    const struct tensor *tensors;
    const struct covariance_use *covariance; /* how it keeps second moments; NULL: not at all */
    bool scaled;                             /* scale and map are auto unless set otherwise; none for most */

    /* Check settings against each other; NULL: nothing to check. */
    hunch_status (*check)(const struct state *s, hunch_error *reterr);
    /* Adapt a tensor to the settings (kind = ABSENT leaves it out); NULL: as declared. */
    void (*shape)(const struct state *s, int tensor, struct tensor *inout);

    /* What a round changes whatever label is shown: counts, scales, in PER_MODEL tensors. Called before predict. NULL:
     * nothing. */
    void (*note)(struct state *s, const struct vec *x);
    /* Changes nothing but scratch and the generator. */
    void (*predict)(struct state *s, const struct vec *x, hunch_choice *ret);
    /* The chance that predict, called just before, had of showing label. NULL: probabilities has them all if
     * explore_sample was called; else predict showed its label for certain, or all labels but one had the same chance.
     */
    double (*chance)(const struct state *s, uint32_t label);
    void (*learn)(struct state *s, const struct vec *x, const hunch_choice *c, bool right);
    /* The true label. NULL: learn as if it had been shown for certain and was right. */
    void (*teach)(struct state *s, const struct vec *x, uint32_t label);
    /* The K numbers whose first largest is the greedy label. Must not touch the state's scratch: ret has room for
     * SCORE_ROOM * lanes numbers, of which the first K are the answer and the rest is scratch. */
    void (*scores)(const struct state *s, const struct vec *x, real *ret);
    /* Where predict, called just before, has left these K numbers. NULL: in s->scores. */
    const real *(*scores_left)(struct state *s);
    /* After learn or teach: how the lead of label over its rival, by the scores that the example had, changes with each
     * feature. False: it does not tell. NULL: never. */
    bool (*lead)(const struct state *s, uint32_t label, real *ret);
    /* Which derived inputs the learner needs (WANT_...): in the next round (c NULL), or to learn from this
     * choice. NULL: WANT_MAP. */
    unsigned (*wants)(const struct state *s, const hunch_choice *c);
    /* Of learners that are made for finding classes, where there are many: label was never right before. NULL: of
     * others. */
    bool (*is_guess)(const struct state *s, uint32_t label);
    /* Compute the tensors that follow from others (MERGE_DERIVE), after those were merged. NULL: there are none. */
    void (*derive)(struct state *s);

    const struct extra *extra; /* NULL for most */
};

/* What few algorithms need. Any of these may be NULL. */
struct extra {
    /* State that is no tensor (support vectors, sub-learners), at s->extra: made and freed. */
    hunch_status (*attach)(struct state *s, hunch_error *reterr);
    void (*detach)(struct state *s);
    /* More features or classes are coming: called before the growth, may fail without having changed anything. */
    hunch_status (*grow)(struct state *s, uint32_t features, uint32_t classes);
    /* Room for what one learn call on x may need, so that learn itself never fails. */
    hunch_status (*reserve)(struct state *s, const struct vec *x);
    /* As bytes. */
    size_t (*size)(const struct state *s);
    void (*write)(const struct state *s, void *bytes);
    hunch_status (*read)(struct state *s, const void *bytes, size_t size, hunch_error *reterr);
    /* The learners within: the i-th; NULL: there are no more. */
    struct state *(*member)(const struct state *s, size_t i);
    /* The learner within whose tensors are reported as this one's (hunch_tensors). */
    const struct state *(*shown)(const struct state *s);
    /* Add the other's. May fail without having changed anything. NULL: what is attached cannot be merged. */
    hunch_status (*merge)(struct state *s, const struct state *other);

    /* Tensors whose initial values differ from feature to feature: rows first .. last-1 have just been made (or, with
     * first_class > 0, have just got these classes). */
    void (*fresh)(struct state *s, uint32_t first, uint32_t last, uint32_t first_class);
    /* Before a merge: bring s to a form whose numbers can be averaged with other's. */
    void (*align)(struct state *s, const struct state *other);
};

/* What algorithm files use to read as the paper does. */
static inline double setting_number(const struct state *s, int i)
{
    return s->set[i].number;
}

/* The setting was left to the algorithm: gamma=auto. */
static inline bool setting_auto(const struct state *s, int i)
{
    return s->set[i].number != s->set[i].number;
}

static inline int setting_choice(const struct state *s, int i)
{
    return s->set[i].choice;
}

static inline double *model_numbers(const struct state *s, int tensor)
{
    return s->tensor[tensor].numbers;
}

extern const char *const params_auto[];

#define SETTINGS_END                                                                                                   \
    {                                                                                                                  \
        NULL, HUNCH_REAL, NULL, 0, 0, NULL, NULL                                                                       \
    }
#define TENSORS_END                                                                                                    \
    {                                                                                                                  \
        NULL, ABSENT, 0, 0, 0, MERGE_MEAN                                                                              \
    }
#define SETTING_REAL(name, fallback, low, high, help)                                                                  \
    {                                                                                                                  \
        name, HUNCH_REAL, fallback, low, high, NULL, help                                                              \
    }
#define SETTING_INTEGER(name, fallback, low, high, help)                                                               \
    {                                                                                                                  \
        name, HUNCH_INTEGER, fallback, low, high, NULL, help                                                           \
    }
/* A number, or the word "auto" (which is kept as NaN: see setting_auto). */
#define SETTING_REAL_OR_AUTO(name, fallback, low, high, help)                                                          \
    {                                                                                                                  \
        name, HUNCH_REAL, fallback, low, high, params_auto, help                                                       \
    }
#define SETTING_CHOICE(name, fallback, choices, help)                                                                  \
    {                                                                                                                  \
        name, HUNCH_CHOICE, fallback, 0, 0, choices, help                                                              \
    }

#endif
