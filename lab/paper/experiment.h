/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An experiment as data: which learners play which data how often, what a paper printed, and which figures to draw.
 * experiments/FORMAT.md describes the files.
 */
#ifndef EXPERIMENT_H
#define EXPERIMENT_H

#include "data/catalogue.h"
#include "play/corpus.h"
#include "paper/fields.h"
#include "play/grid.h"

/* --- what is in the files --- */

struct experiment_data {
    const char *id, *title, *synth, *settings, *differs;
    struct texts files, except;
    uint64_t rows, seed, runs, paper_runs, classes, features;
    double noise, margin;
    bool fresh;
    int shuffle; /* -1: as the experiment says */
};

struct experiment_learner {
    const char *id, *spec, *quick, *form;
    const json_t *specs; /* one for each data set */
    struct texts data;   /* only on these; none: on all */
    bool repeats;        /* its printed numbers are another learner's: shown, and not counted again */
};

struct experiment_figure {
    const char *id, *kind, *title, *log, *x;
    struct texts learners, data;
    const json_t *scale;
    double from;
    bool first_epoch, powers;
};

struct experiment_cv {
    uint64_t folds, epochs;
    double tune, noise;
    const json_t *apart;
};

struct experiment_quick {
    uint64_t rows, runs, folds, epochs;
    struct texts data, learners;
};

/* How a number grows from data set to data set. */
struct experiment_growth {
    const char *by;        /* rows, classes or features */
    const json_t *bounds;  /* of each learner what is proven: a power, or [power, power of the logarithm] */
    struct texts learners; /* those that are drawn; none: all */
};

struct experiment {
    json_t *json; /* private, like the arena */
    struct arena arena;
    const char *id, *title, *paper, *preparation, *unit, *layout, *settings;
    double rank;
    uint64_t runs, passes, seed;
    bool shuffle, improves;
    uint64_t paper_runs; /* behind a printed mean; 0: not told */
    double rounding;     /* half of the last place that is printed, or how well a figure can be read */
    double compare_from;
    struct texts notes, order;
    struct experiment_cv *cv;
    struct experiment_quick *quick;
    struct experiment_growth *growth;
    LIST_OF(struct experiment_data) data;
    LIST_OF(struct experiment_learner) learners;
    LIST_OF(struct experiment_figure) figures;
    const json_t *printed, *explanations;
};

/* All of a folder, in order of their numbers ("rank") and names; those with other endings than .json, quick.json
 * (what --quick should find) and data.json (where data come from) are not experiments. */
hunch_status experiments_read(struct experiment **ret, size_t *ret_n, const char *folder, hunch_error *reterr);
void experiments_free(struct experiment *all, size_t n);
/* One from JSON, which it takes; path is for messages. */
hunch_status experiment_parse(struct experiment *ret, json_t *json, const char *path, hunch_error *reterr);

/* What the paper printed for a learner: for its best setting, or for one of them. */
struct printed {
    double mean, sd;   /* sd NAN: not printed */
    const char *mark;  /* NULL: none */
    const char *text;  /* not NULL: a remark in place of a number */
    bool each_setting; /* numbers are printed for every setting */
};
bool experiment_printed(const struct experiment *e, const char *data, const char *learner, const char *setting,
                        struct printed *ret);
const char *experiment_why(const struct experiment *e, const char *data, const char *learner); /* NULL: not said */

/* With --quick an experiment is as its "quick" object says: fewer runs, fewer rows, some of the data. */
bool experiment_skipped(const struct experiment *e, bool quick);
uint32_t experiment_runs(const struct experiment *e, const struct experiment_data *data, bool quick,
                         uint32_t max); /* 0: no limit */
bool experiment_has_data(const struct experiment *e, const struct experiment_data *data, bool quick);

/* The learners' grids on that data, their names and forms in the experiment (borrowed from it or the library). */
struct learner_grids {
    struct grid *grids;
    const char **names, **forms;
    size_t n;
};
hunch_status experiment_learners(const struct experiment *e, const struct experiment_data *data, bool quick,
                                 struct learner_grids *ret, hunch_error *reterr);
void learner_grids_free(struct learner_grids *l);

/* One corpus, or one for each run when the data are generated. HUNCH_EUNSUPPORTED: the data are not here, and
 * the message names what is missing. */
struct collection {
    struct corpus *corpora;
    size_t n;
};
hunch_status experiment_corpora(const struct experiment_data *data, uint64_t rows_max, uint32_t runs,
                                const struct corpus_options *options, struct collection *ret, hunch_error *reterr);
void collection_free(struct collection *c);

#endif
