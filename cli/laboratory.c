/* SPDX-License-Identifier: BSD-3-Clause */
#include "laboratory.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "ranks.h"

/* Set by Ctrl-C; the only thing that a signal handler could reach. */
static atomic_bool interrupted;

static void interrupt(int signal)
{
    (void)signal;
    atomic_store(&interrupted, true);
}

static void learner_add(struct laboratory *lab, const char *text)
{
    lab->learners = realloc(lab->learners, (lab->n + 1) * sizeof *lab->learners);
    char *copy = strdup(text);
    if (!lab->learners || !copy)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    lab->learners[lab->n++] = copy;
}

static bool learners_add(struct laboratory *lab, const char *text)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    if (strcmp(text, "all")) {
        learner_add(lab, text);
        return true;
    }
    for (size_t i = 0; i < n; i++)
        learner_add(lab, all[i]->name);
    return true;
}

static bool number_option(struct laboratory *lab, int option, const char *argument)
{
    switch (option) {
    case 's':
        return cli_number("seed", argument, 0, UINT64_MAX, &lab->seed);
    case LAB_THREADS:
        return cli_number("threads", argument, 1, 1024, &lab->threads);
    case LAB_ROWS:
        return cli_number("rows", argument, 1, UINT32_MAX - 1, &lab->rows);
    default:
        return cli_number("max-features", argument, 1, UINT32_MAX - 1, &lab->max_features);
    }
}

bool lab_option(struct laboratory *lab, int option, const char *argument)
{
    const char **text = option == LAB_TIES        ? &lab->ties
                        : option == LAB_NORMALIZE ? &lab->normalize
                        : option == LAB_BIAS      ? &lab->bias
                        : option == LAB_CACHE     ? &lab->cache
                        : option == LAB_CSV       ? &lab->csv
                        : option == LAB_PLOT_DIR  ? &lab->plot_dir
                                                  : NULL;
    bool *flag = option == LAB_NO_CACHE ? &lab->no_cache
                 : option == LAB_AGAIN  ? &lab->again
                 : option == LAB_JSON   ? &lab->json
                 : option == 'q'        ? &lab->quiet
                                        : NULL;
    if (text)
        *text = argument;
    if (flag)
        *flag = true;
    if (text || flag || option == LAB_RESUME)
        return true;
    if (option == 'l')
        return learners_add(lab, argument);
    if (option >= DATA_FORMAT && option <= DATA_ON_ERROR)
        return data_option(option, argument, &lab->stream);
    return number_option(lab, option, argument);
}

/* --ties, --normalize and --bias as one list of settings. */
static char *extra_make(const struct laboratory *lab)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    if (lab->ties)
        fprintf(out, ",ties=%s", lab->ties);
    if (lab->normalize)
        fprintf(out, ",normalize=%s", lab->normalize);
    if (lab->bias)
        fprintf(out, ",bias=%s", lab->bias);
    fclose(out);
    return text;
}

int lab_grids(struct laboratory *lab, const char *command)
{
    char *extra = extra_make(lab);
    int code = -1;
    if (!lab->n)
        learner_add(lab, hunch_default_learner());
    lab->grids = cli_alloc(lab->n, sizeof *lab->grids);
    for (size_t i = 0; i < lab->n && code < 0; i++) {
        hunch_error error;
        hunch_status status = grid_parse(&lab->grids[i], lab->learners[i], *extra ? extra + 1 : NULL, &error);
        if (status == HUNCH_ENOMEM)
            code = cli_fail(EXIT_SYSTEM, "%s", error.message);
        else if (status)
            code = cli_usage(command, "%s", error.message);
    }
    free(extra);
    return code;
}

static void reading_show(void *context, uint64_t rows, uint64_t done, uint64_t total)
{
    struct laboratory *lab = context;
    meter_draw(&lab->meter, "reading", total ? (double)done / (double)total : -1, rows);
}

int lab_data(struct laboratory *lab, const char *command, char *const *files, size_t n, struct corpus *ret)
{
    hunch_error error;
    if (!n)
        return cli_usage(command, "expected a data file ('-' for standard input)");
    struct corpus_options options = {.stream = lab->stream,
                                     .max_features = (uint32_t)lab->max_features,
                                     .rows = (uint32_t)lab->rows,
                                     .progress = reading_show,
                                     .context = lab};
    char **paths = data_paths(files, n);
    meter_begin(&lab->meter, !lab->quiet);
    hunch_status status = corpus_read(ret, (const char *const *)paths, n, &options, &error);
    meter_end(&lab->meter);
    data_free(paths, n);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    if (!lab->quiet)
        data_skipped(ret->skipped);
    return EXIT_DONE;
}

static void playing_show(void *context, const struct progress *p)
{
    struct laboratory *lab = context;
    meter_draw(&lab->meter, lab->what, p->fraction, p->rows);
}

int lab_begin(struct laboratory *lab, struct cells_options *ret)
{
    /* the first Ctrl-C asks politely; a second one ends the program */
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    hunch_error error;
    if (!ranks_first()) { /* what is seen from outside is rank 0's */
        lab->csv = lab->plot_dir = NULL;
        lab->quiet = true;
    }
    if (!lab->threads && ranks_count() > 1)
        lab->threads = ranks_threads();
    if (!lab->no_cache && store_open(&lab->store, lab->cache, &error))
        return cli_fail(EXIT_SYSTEM, "%s (use --cache or --no-cache)", error.message);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    meter_begin(&lab->meter, !lab->quiet);
    *ret = (struct cells_options){.store = &lab->store,
                                  .again = lab->again,
                                  .threads = (unsigned)lab->threads,
                                  .stop = &interrupted,
                                  .progress = lab->meter.out ? playing_show : NULL,
                                  .context = lab};
    return EXIT_DONE;
}

void lab_free(struct laboratory *lab)
{
    for (size_t i = 0; i < lab->n; i++) {
        free(lab->learners[i]);
        if (lab->grids)
            grid_free(&lab->grids[i]);
    }
    free(lab->learners);
    free(lab->grids);
    store_close(&lab->store);
}
