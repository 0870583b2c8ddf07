/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of experiments: tables of lines, ours beside the papers' numbers. experiments/FORMAT.md describes the
 * JSON that they are kept as. All memory is the arena's of struct results, or the caller's. */
#ifndef RESULT_H
#define RESULT_H

#include <math.h>

#include "paper/fields.h"

enum verdict {
    VERDICT_NONE,
    VERDICT_REPRODUCED, /* within what chance explains */
    VERDICT_BETTER,     /* fewer errors than printed, the best of several settings */
    VERDICT_WORSE,
    VERDICT_DIFFERS,  /* beyond chance, with nothing to choose: the protocol must have been another one */
    VERDICT_ORDER,    /* the learners stand in the paper's order, and no number is printed */
    VERDICT_APART,    /* not comparable */
    VERDICT_EXPECTED, /* --quick: as committed */
    VERDICT_OFF,
    VERDICT_WITHIN, /* grows no faster than is proven */
    VERDICT_ABOVE,
    VERDICT_SPREAD, /* the means agree within chance, and the runs scatter otherwise than the paper's */
    VERDICTS
};
extern const char *const verdict_words[];

struct line_p { /* of a comparison with another line of the table */
    const char *learner;
    double p;
};

/* One learner at one setting on one data set; numbers in the experiment's unit. */
struct line {
    const char *learner, *spec, *setting;
    const char *form; /* of its matrices and examples, in words; NULL: not said */
    double mean, sd, greedy, explored;
    uint64_t runs;
    double seconds;          /* of processor time, all runs */
    double rate;             /* rounds a second */
    double bytes;            /* of the learner in the end */
    double balanced;         /* %: mean over the classes of their errors */
    double discovery;        /* rounds until a class is first answered right, on average */
    bool best, edge, chosen; /* chosen: the best of several settings */
    double x;                /* NAN: the setting is not a number */
    double tuning_error;
    LIST_OF(struct line_p) p;
    /* compared; NAN and NULL where there is nothing to compare with */
    double paper, paper_sd, expected, difference, tolerance;
    double power; /* chance that the test would notice errors a tenth higher or lower than the paper's */
    const char *paper_mark, *paper_text, *mark, *why;
    bool spread; /* whether the standard deviation is not the paper's */
    unsigned verdict;
};

/* One data set. */
struct table {
    const char *data, *title, *checksum;
    const char *differs, *skipped; /* how it is not the paper's, why it was not played; NULL: it is, it was */
    uint64_t rows, features, classes, runs;
    bool folds; /* runs are folds */
    double tuning_seconds, processor_seconds;
    LIST_OF(struct line) lines;
};

struct drawn {
    const char *id, *title, *data;
};

/* Whether the learners stand in the paper's order. */
struct order_break {
    const char *lower, *higher;
    double by;
};
struct order_setting {
    const char *setting;
    LIST_OF(struct order_break) breaks;
};
struct order_learner {
    const char *learner;
    double median;
};
struct result_order {
    bool holds; /* by the medians */
    LIST_OF(struct order_learner) learners;
    LIST_OF(struct order_setting) settings;
};

/* How a learner's numbers grow from data set to data set. */
struct growth {
    const char *learner;
    double slope, error; /* of the logarithms */
    double power, logs;  /* what is proven: n^power log^logs n; NAN: nothing */
    double bound;        /* the slope that this has over the same sizes */
    unsigned verdict;
};

/* One experiment. */
struct result {
    const char *id, *title, *paper, *unit, *layout, *preparation, *test, *command, *library;
    bool quick, improves;
    uint64_t runs_made, runs_wanted; /* where fewer were made than the experiment says; else 0 */
    double seconds, processor_seconds;
    unsigned verdict;
    size_t verdicts[VERDICTS];
    struct result_order *order;
    struct texts notes;
    LIST_OF(struct table) tables;
    LIST_OF(struct drawn) figures;
    const char *growth_by; /* rows, classes or features; NULL: growth was not measured */
    LIST_OF(struct growth) growth;
};

struct results {
    const char *version, *library, *command, *note;
    uint64_t cores;
    double seconds;
    bool quick;
    LIST_OF(struct result) experiments;
};

json_t *results_encode(const struct results *results);

/* With nothing measured and nothing compared. */
struct line line_empty(const char *learner, const char *spec, const char *setting);

/* --- for the writers --- */

/* A number in the experiment's unit; signed: with its sign. */
void result_number(const struct result *r, double number, bool with_sign, char ret[32]);
bool result_is_grid(const struct result *r); /* settings down, learners across, a table for each data set */
const char *result_unit(const struct result *r);

const struct line *table_best(const struct table *t, const char *learner); /* NULL: none */
const struct line *table_point(const struct table *t, const char *learner, size_t point);
size_t table_points(const struct table *t);                     /* most settings of a learner */
const char *table_setting(const struct table *t, size_t point); /* of the first learner that has that many */
/* The learners of n tables, in order: at most `room` of them; how many there are. */
size_t tables_learners(const struct table *tables, size_t n, const char **ret, size_t room);
enum { LEARNERS = 256 };

/* What ours is compared with: the paper's number, or the one committed for --quick; NAN: nothing. */
static inline double line_reference(const struct line *l)
{
    return isnan(l->paper) ? l->expected : l->paper;
}

/* n^power log^logs n. */
double growth_bound(const struct growth *g, double n);
/* What is proven, in words: "n^0.5 log n", "log^2 n", "constant". */
#define GROWTH_WORDS 64
const char *growth_words(const struct growth *g, char ret[GROWTH_WORDS]);

size_t order_kept(const struct result_order *o); /* at how many settings */

#endif
