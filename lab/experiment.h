/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An experiment as data: which learners play which data how often, what a paper printed, and which figures to draw.
 * experiments/FORMAT.md describes the files.
 */
#ifndef EXPERIMENT_H
#define EXPERIMENT_H

#include <jansson.h>

#include "cell.h"
#include "grid.h"

struct experiment {
    json_t *json;
    const char *id, *title, *paper; /* in json */
};

/* All of a folder, in order of their numbers ("rank") and names; those with other endings than .json, quick.json
 * (what --quick should find) and data.json (where data come from) are not experiments. */
hunch_status experiments_read(struct experiment **ret, size_t *ret_n, const char *folder, hunch_error *reterr);
void experiments_free(struct experiment *all, size_t n);
/* Where they are: folder when not NULL, HUNCH_EXPERIMENTS, ./experiments, or where they were installed; malloc'd. */
char *experiments_folder(const char *folder);

/* --- what is in the files --- */

double json_number(const json_t *object, const char *key, double fallback);
const char *json_text(const json_t *object, const char *key, const char *fallback);

/* With --quick an experiment is as its "quick" object says: fewer runs, fewer rows, some of the data. */
bool experiment_skipped(const struct experiment *e, bool quick);
uint32_t experiment_runs(const struct experiment *e, const json_t *data, bool quick, uint32_t most); /* 0: no limit */

/* The data sets as an array of objects, "id" in each. */
const json_t *experiment_data(const struct experiment *e);
bool experiment_has_data(const struct experiment *e, const json_t *data, bool quick);

/* The learners' grids on that data, and their names in the experiment (borrowed from json or the library). */
struct lineup {
    struct grid *grids;
    const char **names;
    size_t n;
};
hunch_status experiment_lineup(const struct experiment *e, const json_t *data, bool quick, struct lineup *ret,
                               hunch_error *reterr);
void lineup_free(struct lineup *l);

/* One corpus, or one for each run when the data are generated anew. HUNCH_EUNSUPPORTED: the data are not here, and
 * the message names what is missing. */
struct collection {
    struct corpus *corpora;
    size_t n;
};
hunch_status experiment_corpora(const struct experiment *e, const json_t *data, bool quick, uint32_t runs,
                                const struct corpus_options *options, struct collection *ret, hunch_error *reterr);
void collection_free(struct collection *c);

#endif
