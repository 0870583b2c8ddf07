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
#include "real.h"
#include "base/rng.h"

#define MAX_TENSORS 16
#define MAX_SETTINGS 16

/* One example as algorithms see it: checked, normalised and with its bias, if so set. index NULL: dense. */
struct vec {
    const uint32_t *index;
    const float *value;
    size_t n;
    /* Const calls do not grow the state, so features that it has never seen are left out there: entries n .. all-1 of
     * index and value, whose squared length is unseen. Elsewhere all = n and unseen = 0. */
    size_t all;
    double unseen;
};

/* How a tensor is laid out. groups x lanes numbers each:
 *   PER_FEATURE  for every feature; all such tensors of one feature lie side by side, lanes padded to whole vectors
 *   PER_MODEL    once, in double: vectors over classes, counters, sums
 *   MATRIX       `groups` symmetric matrices of (features * lanes) rows, see matrix.h */
enum tensor_kind { ABSENT, PER_FEATURE, PER_MODEL, MATRIX };

#define SCORE_ROOM 4

#define CLASSES 0 /* as groups or lanes: the number of classes, growing with it */

/* What hunch_merge does: weights are averaged by rounds seen, counts are added. */
enum merge_rule { MERGE_MEAN, MERGE_SUM };

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
    real *matrices;  /* MATRIX: groups matrices, each of matrix_capacity reals */
    size_t matrix_capacity;
};

struct algo;
struct linear_ops;
struct full;

struct state {
    const struct algo *algo;
    const struct linear_ops *linear; /* the loops chosen for this machine */
    uint32_t K;
    uint32_t features, capacity; /* rows in use (largest index + 1) and allocated */
    uint64_t memory;             /* what matrix=auto may take, in bytes */
    uint64_t round;
    struct rng rng;
    int form; /* of algorithms that change it while they run (matrix=auto); kept with the model; see state_reform */

    union setting_value set[MAX_SETTINGS]; /* the algorithm's own settings, in the order of its table */
    bool ties_random, normalize;
    double bias;

    struct tensor_place tensor[MAX_TENSORS];
    real *rows;    /* capacity x stride: the PER_FEATURE tensors */
    real *blank;   /* one row of initial values */
    size_t stride; /* reals per feature */
    size_t lanes;  /* K padded to whole vectors: the length of the scratch vectors below */

    real *scores;                  /* scratch of SCORE_ROOM * lanes reals, for one call */
    real *widths, *steps, *bounds; /* scratch of `lanes` reals each */
    double *chances;               /* scratch of K numbers */
    uint32_t *order;               /* scratch of K numbers */
    struct full *full;             /* scratch of full matrices (full.h); NULL without any */
    real *dense;                   /* scratch of capacity reals, when algo->needs_dense */
    bool scored;                   /* scores (and widths) hold this very example's, from predict just before */

    void *extra; /* what tensors cannot say: see attach */
};

struct algo {
    hunch_algorithm info; /* name, title, paper, settings; full_information: teach is the way it learns */
    bool needs_dense;     /* wants state.dense */
    const struct tensor *tensors;

    /* Check settings against each other; NULL: nothing to check. */
    hunch_status (*check)(const struct state *s, hunch_error *reterr);
    /* Adapt a tensor to the settings (kind = ABSENT leaves it out); NULL: as declared. */
    void (*shape)(const struct state *s, int tensor, struct tensor *inout);

    /* Where initial values differ from feature to feature: rows first .. last-1 have just been made (or, with
     * first_class > 0, have just got these classes). */
    void (*fresh)(struct state *s, uint32_t first, uint32_t last, uint32_t first_class);

    /* The form in force, as the user would set it; NULL: as set. */
    const char *(*form)(const struct state *s);
    /* The form has changed: fill the tensors that it brought, from those that s had before. */
    void (*reformed)(struct state *s, const struct state *before);

    void (*predict)(struct state *s, const struct vec *x, hunch_choice *ret);
    void (*learn)(struct state *s, const struct vec *x, const hunch_choice *c, bool right);
    /* The true label. NULL: learn as if it had been shown for certain and was right. */
    void (*teach)(struct state *s, const struct vec *x, uint32_t label);
    /* The K numbers whose first largest is the greedy label. Must not touch the state's scratch: ret has room for
     * SCORE_ROOM * lanes numbers, of which the first K are the answer and the rest is scratch. */
    void (*scores)(const struct state *s, const struct vec *x, real *ret);

    /* A merge: before it, bring s to a form whose numbers can be averaged with other's; after it, set the numbers that
     * follow from others. */
    void (*align)(struct state *s, const struct state *other);
    void (*merged)(struct state *s);

    /* State that is no tensor (support vectors, sub-learners): made, freed, serialised by the algorithm itself. */
    hunch_status (*attach)(struct state *s, hunch_error *reterr);
    void (*detach)(struct state *s);
    /* More features or classes are coming: called before the growth, may fail without having changed anything. */
    hunch_status (*grow)(struct state *s, uint32_t features, uint32_t classes);
    /* Room for what one learn call on x may need, so that learn itself never fails. */
    hunch_status (*reserve)(struct state *s, const struct vec *x);
    size_t (*extra_size)(const struct state *s);
    void (*extra_write)(const struct state *s, void *bytes);
    hunch_status (*extra_read)(struct state *s, const void *bytes, size_t size, hunch_error *reterr);
    hunch_status (*extra_merge)(struct state *s, const struct state *other);
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
