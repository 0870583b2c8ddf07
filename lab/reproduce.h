/* SPDX-License-Identifier: BSD-3-Clause */
/* Running experiments and setting the results beside what the papers printed. */
#ifndef REPRODUCE_H
#define REPRODUCE_H

#include "cv.h"
#include "experiment.h"
#include "sweep.h"

struct reproduce_options {
    const char *figures; /* folder to draw into; NULL: no figures */
    bool quick;
    uint32_t runs; /* at most; 0: as the experiments say */
    struct cells_options cells;
    /* Told what is being worked on, before it begins; may be NULL. */
    void (*begin)(void *context, const struct experiment *e, const char *data);
    void *context; /* cells.context is what cells.progress gets */
};

/* One data set of an experiment that has been played, by one of the two protocols. */
struct stage {
    const struct experiment *e;
    const json_t *data;
    const struct lineup *lineup;
    const struct corpus *corpus; /* the first */
    const struct sweep *sweep;   /* or */
    const struct cv *cv;
    bool quick;
};

/* The results of one experiment as JSON: tables of lines, verdicts, figures; see experiments/FORMAT.md. Data that are
 * not here make a table that says so. *ret_stopped: interrupted; there is no result then. */
hunch_status experiment_play(const struct experiment *e, const struct reproduce_options *options, json_t **ret,
                             bool *ret_stopped, hunch_error *reterr);

/* Adds the paper's numbers, the differences and verdicts to the table's lines. */
void table_compare(json_t *table, const struct experiment *e, const json_t *data, bool quick);
/* Counts the verdicts and gives the experiment its own. */
void result_judge(json_t *result, const struct experiment *e);

/* Draws the experiment's figures of this data set and adds their names to the array. HUNCH_EUNSUPPORTED: no gnuplot. */
hunch_status stage_draw(const struct stage *s, const char *folder, json_t *figures, hunch_error *reterr);

/* The results against those committed for --quick: how many lines are further off than the tolerance; each one is
 * described in an array. */
size_t quick_compare(const json_t *results, const json_t *expected, json_t *ret_remarks);
json_t *quick_make(const json_t *results);
/* Adds the committed numbers and verdicts (as expected, better, off) to the lines of one experiment. */
void quick_mark(json_t *result, const json_t *expected);

#endif
