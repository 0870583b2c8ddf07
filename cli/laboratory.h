/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands of the laboratory share: learners with grids, data in memory, the store of finished work, Ctrl-C
 * and the progress bar. */
#ifndef LABORATORY_H
#define LABORATORY_H

#include "data.h"
#include "report/figure.h"
#include "learners.h"
#include "play/store.h"
#include "play/trial.h"
#include "terminal.h"

extern const struct cli_option laboratory_play_options[]; /* for a struct laboratory: threads and kept work */

#define LABORATORY_GRIDS                                                                                               \
    "A learner's setting may have several values: gamma=2^-13..2^-3 (whole powers) or\n"                               \
    "gamma={0.01,0.1}; several such settings make a product. In sweep, a learner\n"                                    \
    "without any setting tries several values of the most important one.\n"

struct laboratory {
    struct learners learners;
    const char *cache, *csv, *plot_dir, *report;
    FILE *page; /* of --report, while it is written */
    bool no_cache, again, resume, json, quiet;
    bool widen; /* learners without settings get usual grids */
    uint64_t seed;
    uint32_t threads, rows, max_features;
    struct stream_options stream;
    struct corpus corpus; /* the data of the files, in memory */
    struct store store;
    struct meter meter;
    const char *what; /* the meter's label */
};

/* What a command says of its results, the command itself given to each. */
struct laboratory_report {
    const char *title, *next; /* of the page; what to type next */
    void (*table)(const void *command);
    int (*json)(const void *command);
    int (*csv)(const void *command);
    void (*page_table)(const void *command);
    hunch_status (*figures)(const void *command, hunch_error *reterr);
};

#define LABORATORY_INIT                                                                                                \
    {                                                                                                                  \
        .stream = STREAM_OPTIONS_INIT, .what = ""                                                                      \
    }

/* The options of a command that plays learners over data: its own, and those that all of these have; then the data is
 * read. -1: go on. */
int lab_parse(struct laboratory *lab, const struct command_text *help, struct option_group own, int argc, char **argv);
/* What any learner should beat: a line on standard output. */
void lab_baselines(const struct corpus *corpus);
/* Opens the store, catches Ctrl-C; how the trials are to be played. */
int lab_begin(struct laboratory *lab, struct trials_options *ret);
/* A table or JSON on standard output, and the files of --csv, --plot-dir and --report. Returns the exit code. */
int lab_report(struct laboratory *lab, const struct laboratory_report *r, const void *command);
/* For the functions of a report: a row of the page's table (shares are printed as %), and a figure in page and folder.
 */
void lab_page_row(const struct laboratory *lab, const struct grid_point *point, const double *shares, size_t n);
hunch_status lab_figure(const struct laboratory *lab, const struct figure *f, hunch_error *reterr);
void lab_free(struct laboratory *lab);

#endif
