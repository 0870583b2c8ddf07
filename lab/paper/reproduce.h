/* SPDX-License-Identifier: BSD-3-Clause */
/* Running experiments and setting the results beside what the papers printed. */
#ifndef REPRODUCE_H
#define REPRODUCE_H

#include "play/cv.h"
#include "paper/experiment.h"
#include "paper/result.h"
#include "play/sweep.h"

struct reproduce_options {
    const char *figures; /* folder to draw into; NULL: no figures */
    bool quick;
    uint32_t runs; /* at most; 0: as the experiments say */
    struct trials_options trials;
    /* Told what is being worked on, before it begins; may be NULL. */
    void (*begin)(void *context, const struct experiment *e, const char *data);
    void *context; /* trials.context is what trials.progress gets */
};

/* One data set of an experiment that has been played, by one of the two protocols. */
struct stage {
    const struct experiment *e;
    const struct experiment_data *data;
    const struct learner_grids *learners;
    const struct corpus *corpus; /* the first */
    const struct sweep *sweep;   /* or */
    const struct cv *cv;
    bool quick;
};

/* The results of one experiment, in the arena's memory. Data that are not here make a table that says so.
 * *ret_stopped: interrupted; there is no result then. */
hunch_status experiment_play(const struct experiment *e, const struct reproduce_options *options, struct arena *arena,
                             struct result *ret, bool *ret_stopped, hunch_error *reterr);

/* An experiment's result before anything was played; runs: the limit, 0: none. */
hunch_status result_begin(struct result *ret, const struct experiment *e, bool quick, uint32_t runs,
                          struct arena *arena, hunch_error *reterr);
struct table table_empty(const struct experiment_data *data);
/* "needs data: rcv1-4" */
const char *data_needed(const struct experiment_data *data, struct arena *arena);
/* The experiment's figure of that data set. */
struct drawn figure_of(const struct experiment *e, const struct experiment_figure *what,
                       const struct experiment_data *data, struct arena *arena);

/* Adds the paper's numbers, the differences and verdicts to the table's lines; with --quick only marks. */
void table_compare(struct table *table, const struct experiment *e, const struct experiment_data *data, bool quick);
/* Counts the verdicts and gives the experiment its own. */
void result_judge(struct result *result, const struct experiment *e, struct arena *arena);

/* The exponents of the experiment's "growth", and their verdicts. */
void growth_judge(struct result *result, const struct experiment *e, struct arena *arena);
/* Draws them and adds the figure. */
hunch_status growth_draw(const struct experiment *e, const char *folder, struct arena *arena, struct result *result,
                         hunch_error *reterr);

/* Draws the experiment's figures of this data set and adds them to the result's, which have room for them. */
hunch_status stage_draw(const struct stage *s, const char *folder, struct arena *arena, struct result *result,
                        hunch_error *reterr);

/* The best settings' means and deviations as quick.json keeps them. */
json_t *quick_make(const struct results *results);
/* Compares with those committed for --quick: adds them and verdicts (as expected, better, off) to the lines, and prints
 * to out (NULL: nowhere) how each that is further off than the tolerance differs. How many are. */
size_t quick_mark(struct result *result, const json_t *expected, FILE *out);

#endif
