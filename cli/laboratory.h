/* SPDX-License-Identifier: BSD-3-Clause */
/* What the commands of the laboratory share: learners with grids, data in memory, the store of finished work, Ctrl-C
 * and the progress bar. */
#ifndef LABORATORY_H
#define LABORATORY_H

#include "data.h"
#include "figure.h"
#include "grid.h"
#include "store.h"
#include "cell.h"
#include "terminal.h"

/* Options that all of them know; a command's own start at LAB_END. */
enum {
    LAB_TIES = DATA_END,
    LAB_NORMALIZE,
    LAB_BIAS,
    LAB_THREADS,
    LAB_CACHE,
    LAB_NO_CACHE,
    LAB_AGAIN,
    LAB_RESUME,
    LAB_ROWS,
    LAB_JSON,
    LAB_CSV,
    LAB_PLOT_DIR,
    LAB_END
};

/* clang-format off */
#define LAB_PLAY_OPTIONS                              \
    {"threads", required_argument, NULL, LAB_THREADS},\
    {"cache", required_argument, NULL, LAB_CACHE},    \
    {"no-cache", no_argument, NULL, LAB_NO_CACHE},    \
    {"again", no_argument, NULL, LAB_AGAIN},          \
    {"resume", no_argument, NULL, LAB_RESUME},        \
    {"quiet", no_argument, NULL, 'q'},                \
    {"help", no_argument, NULL, 'h'}
#define LAB_DATA_OPTIONS                                          \
    {"learner", required_argument, NULL, 'l'},                    \
    {"seed", required_argument, NULL, 's'},                       \
    {"ties", required_argument, NULL, LAB_TIES},                  \
    {"normalize", required_argument, NULL, LAB_NORMALIZE},        \
    {"bias", required_argument, NULL, LAB_BIAS},                  \
    {"rows", required_argument, NULL, LAB_ROWS},                  \
    {"max-features", required_argument, NULL, DATA_MAX_FEATURES}, \
    {"json", no_argument, NULL, LAB_JSON},                        \
    {"csv", required_argument, NULL, LAB_CSV},                    \
    {"plot-dir", required_argument, NULL, LAB_PLOT_DIR},          \
    DATA_OPTIONS
/* clang-format on */

#define LAB_PLAY_HELP                                                                                                  \
    "      --threads N       to use (as many as there are cores)\n"                                                    \
    "      --cache DIR       keep finished work there (hunch in XDG_CACHE_HOME or ~/.cache)\n"                         \
    "      --no-cache        keep nothing, and use nothing kept\n"                                                     \
    "      --again           do also what is kept\n"                                                                   \
    "      --resume          go on where it was stopped; so it does anyway\n"                                          \
    "  -q, --quiet           no progress bar, no remarks\n"                                                            \
    "  -h, --help            this text\n"

#define LAB_GRID_HELP                                                                                                  \
    "  -l, --learner SPEC    a learner; may be given several times. A setting may have several values:\n"              \
    "                        gamma=2^-13..2^-3 (whole powers) or gamma={0.01,0.1}; several such settings\n"            \
    "                        make a product. 'all' is every learner at its defaults\n"

struct laboratory {
    char **learners; /* as the user wrote them */
    size_t n;
    struct grid *grids;
    const char *ties, *normalize, *bias, *cache, *csv, *plot_dir;
    bool no_cache, again, json, quiet;
    uint64_t seed, threads, rows, max_features;
    struct stream_options stream;
    struct store store;
    struct meter meter;
    const char *what; /* the meter's label */
};

#define LABORATORY_INIT                                                                                                \
    {                                                                                                                  \
        .stream = STREAM_OPTIONS_INIT, .what = ""                                                                      \
    }

/* false: the option's argument is bad, and the user has been told. */
bool lab_option(struct laboratory *lab, int option, const char *argument);
/* Grids of the learners (the default learner when there are none); -1: go on, else the exit code. */
int lab_grids(struct laboratory *lab, const char *command);
/* Data of the files, read into memory. */
int lab_data(struct laboratory *lab, const char *command, char *const *files, size_t n, struct corpus *ret);
/* Opens the store, catches Ctrl-C; how the cells are to be played. */
int lab_begin(struct laboratory *lab, struct cells_options *ret);
void lab_free(struct laboratory *lab);

#endif
