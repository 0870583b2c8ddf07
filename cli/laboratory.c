/* SPDX-License-Identifier: BSD-3-Clause */
#include "laboratory.h"

#include "report/html.h"

#define PAGE_NUMBERS 4 /* in a row of a page's table, at most */

const struct cli_option laboratory_play_options[] = {
    {"threads", 0, "N", NULL, "number of threads (default: the number of cores)",
     TO_NUMBER(struct laboratory, threads, 1, 1024)},
    {"cache", 0, "DIR", NULL, "folder for finished results (default: hunch in XDG_CACHE_HOME or ~/.cache)",
     TO_TEXT(struct laboratory, cache)},
    {"no-cache", 0, NULL, NULL, "do not store results and do not use stored ones",
     TO_SET(struct laboratory, no_cache, true)},
    {"again", 0, NULL, NULL, "ignore stored results and compute them again", TO_SET(struct laboratory, again, true)},
    {"json", 0, NULL, NULL, "print the results as JSON", TO_SET(struct laboratory, json, true)},
    {"quiet", 'q', NULL, NULL, "print no progress bar and no remarks", TO_SET(struct laboratory, quiet, true)},
    {0}};

static const struct cli_option data_and_files[] = {
    {"seed", 's', "N", "0", "seed of noise, splits, orders and learners; run r uses seed N + r",
     TO_NUMBER(struct laboratory, seed, 0, UINT64_MAX)},
    {"rows", 0, "N", NULL, "use only N rows, drawn at random (the same rows for the same seed)",
     TO_NUMBER(struct laboratory, rows, 1, UINT32_MAX - 1)},
    {"max-features", 0, "N", NULL, "refuse feature numbers above N",
     TO_NUMBER(struct laboratory, max_features, 1, UINT32_MAX - 1)},
    {"csv", 0, "FILE", NULL, "write the results as CSV", TO_TEXT(struct laboratory, csv)},
    {"plot-dir", 0, "DIR", NULL, "write figures to this folder, as SVG", TO_TEXT(struct laboratory, plot_dir)},
    {"report", 0, "FILE", NULL, "write a self-contained HTML page: table, figures, next commands",
     TO_TEXT(struct laboratory, report)},
    {0}};

static void reading_show(void *context, uint64_t rows, uint64_t done, uint64_t total)
{
    struct laboratory *lab = context;
    meter_draw(&lab->meter, "reading", total ? (double)done / (double)total : -1, rows);
}

static int data_read(struct laboratory *lab, const char *command, char *const *files, size_t n)
{
    hunch_error error;
    if (!n)
        return cli_usage(command, "expected a data file ('-' for standard input)");
    struct corpus_options options = {.stream = lab->stream,
                                     .max_features = lab->max_features,
                                     .rows = lab->rows,
                                     .progress = reading_show,
                                     .context = lab};
    int code = data_schema_load(&options.stream);
    if (code)
        return code;
    char **paths = data_paths(files, n);
    meter_begin(&lab->meter, !lab->quiet);
    hunch_status status = corpus_read(&lab->corpus, (const char *const *)paths, n, &options, &error);
    meter_end(&lab->meter);
    data_free(paths, n);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    if (!lab->quiet)
        data_skipped(lab->corpus.skipped);
    return -1;
}

int lab_parse(struct laboratory *lab, const struct command_text *help, struct option_group own, int argc, char **argv)
{
    const struct option_group groups[] = {{NULL, learners_options, &lab->learners},
                                          own,
                                          {NULL, data_and_files, lab},
                                          {NULL, laboratory_play_options, lab},
                                          {DATA_TITLE, data_options, &lab->stream},
                                          {0}};
    int code = options_parse(help, groups, argc, argv);
    if (code < 0 && lab->widen)
        learners_widen(&lab->learners);
    if (code < 0)
        code = learners_check(&lab->learners, argv[0]);
    return code < 0 ? data_read(lab, argv[0], argv + optind, (size_t)(argc - optind)) : code;
}

void lab_baselines(const struct corpus *corpus)
{
    const struct rows *rows = &corpus->data.rows;
    uint64_t *count = cli_alloc(corpus->data.classes, sizeof *count), max = 0;
    for (size_t i = 0; i < rows->n; i++)
        count[rows->label[i]]++;
    for (uint32_t k = 0; k < corpus->data.classes; k++)
        max = count[k] > max ? count[k] : max;
    printf("error of always the largest class %.2f %%, of a uniform guess %.2f %%\n",
           100 - 100 * (double)max / (double)rows->n, 100 - 100 / (double)corpus->data.classes);
    free(count);
}

static void playing_show(void *context, const struct progress *p)
{
    struct laboratory *lab = context;
    meter_draw(&lab->meter, lab->what, p->fraction, p->rows);
}

int lab_begin(struct laboratory *lab, struct trials_options *ret)
{
    hunch_error error;
    if (!lab->no_cache && store_open(&lab->store, lab->cache, &error))
        return cli_fail(EXIT_SYSTEM, "%s (use --cache or --no-cache)", error.message);
    meter_begin(&lab->meter, !lab->quiet);
    *ret = (struct trials_options){.store = &lab->store,
                                   .again = lab->again,
                                   .threads = lab->threads,
                                   .stop = cli_catch_interrupts(),
                                   .progress = lab->meter.out ? playing_show : NULL,
                                   .context = lab};
    return EXIT_DONE;
}

hunch_status lab_figure(const struct laboratory *lab, const struct figure *f, hunch_error *reterr)
{
    if (lab->page)
        html_figure(lab->page, f);
    return lab->plot_dir ? figure_write(f, lab->plot_dir, reterr) : HUNCH_OK;
}

void lab_page_row(const struct laboratory *lab, const struct grid_point *point, const double *shares, size_t n)
{
    char numbers[PAGE_NUMBERS][16];
    const char *trials[PAGE_NUMBERS + 2] = {point->spec};
    for (size_t i = 0; i < n; i++) {
        snprintf(numbers[i], sizeof numbers[i], "%.2f", 100 * shares[i]);
        trials[i + 1] = numbers[i];
    }
    trials[n + 1] = point->edge ? "at the edge of the grid; widen the range" : "";
    html_row(lab->page, trials, n + 2);
}

static int page_write(struct laboratory *lab, const struct laboratory_report *r, const void *command)
{
    hunch_error error;
    if (lab->plot_dir && store_folder(lab->plot_dir, &error))
        return cli_fail(EXIT_SYSTEM, "%s", error.message);
    if (lab->report && !(lab->page = cli_create(lab->report)))
        return EXIT_SYSTEM;
    if (lab->page) {
        html_begin(lab->page, r->title);
        r->page_table(command);
    }
    if (r->figures(command, &error))
        return cli_fail(EXIT_SYSTEM, "%s", error.message);
    if (!lab->page)
        return EXIT_DONE;
    data_schema_html(lab->corpus.schema, lab->page);
    fprintf(lab->page, "<h2>Next steps</h2>\n<p class=\"soft\">seed %llu · hunch %s</p>\n",
            (unsigned long long)lab->seed, hunch_version());
    html_commands(lab->page, r->next);
    html_end(lab->page);
    return cli_close(lab->page, lab->report);
}

int lab_report(struct laboratory *lab, const struct laboratory_report *r, const void *command)
{
    int code = EXIT_DONE;
    if (lab->json)
        code = r->json(command);
    else
        r->table(command);
    if (!code && lab->csv)
        code = r->csv(command);
    if (!code && (lab->plot_dir || lab->report))
        code = page_write(lab, r, command);
    return code;
}

void lab_free(struct laboratory *lab)
{
    learners_free(&lab->learners);
    corpus_free(&lab->corpus);
    store_close(&lab->store);
}
