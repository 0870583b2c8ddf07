/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * results.csv: every number that RESULTS.md shows, without times, one line for each learner and setting. It is written
 * and read back here: what a later run does not play again is taken from it, and judged by the experiments as they are
 * now. The columns from `paper` on follow from the others and the experiment, and are not read.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paper/reproduce.h"
#include "paper/results.h"

enum {
    EXPERIMENT,
    DATA,
    LEARNER,
    SETTING,
    SPEC,
    MARK,
    X,
    MEAN,
    SD,
    GREEDY,
    EXPLORED,
    BYTES,
    BALANCED,
    DISCOVERY,
    RUNS,
    ROWS,
    FEATURES,
    CLASSES,
    BEST,
    EDGE,
    CHOSEN,
    COLUMNS_READ
};

static const char head[] = "experiment,data,learner,setting,spec,mark,x,mean,sd,greedy,explored,bytes,balanced,"
                           "discovery,runs,rows,features,classes,best,edge,chosen,paper,paper_sd,difference,"
                           "tolerance,power,verdict\n";

#define NUMBER "%.8g"

/* --- writing --- */

void line_round(struct line *inout)
{
    double *const numbers[] = {&inout->mean,     &inout->sd,       &inout->greedy,
                               &inout->explored, &inout->balanced, &inout->discovery};
    char text[32];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, NUMBER, *numbers[i]);
        *numbers[i] = strtod(text, NULL);
    }
}

static void text_write(FILE *out, const char *text)
{
    bool quote = strpbrk(text, ",\"\n");
    fputs(quote ? "\"" : "", out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputs(quote ? "\"," : ",", out);
}

static void numbers_write(FILE *out, const double *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isnan(numbers[i]))
            fprintf(out, NUMBER, numbers[i]);
        fputc(',', out);
    }
}

static void line_write(FILE *out, const struct result *r, const struct table *t, const struct line *l)
{
    const char *texts[] = {r->id, t->data, l->learner, l->setting, l->spec, l->mark ? l->mark : ""};
    const double measured[] = {l->x, l->mean, l->sd, l->greedy, l->explored, l->bytes, l->balanced, l->discovery},
                 judged[] = {l->paper, l->paper_sd, l->difference, l->tolerance, l->power};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        text_write(out, texts[i]);
    numbers_write(out, measured, sizeof measured / sizeof *measured);
    const uint64_t counts[] = {l->runs, t->rows, t->features, t->classes, l->best, l->edge, l->chosen};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        fprintf(out, "%llu,", (unsigned long long)counts[i]);
    numbers_write(out, judged, sizeof judged / sizeof *judged);
    fprintf(out, "%s\n", verdict_words[l->verdict]);
}

void csv_print(FILE *out, const struct results *results)
{
    fputs(results->quick ? "quick " : "", out); /* no file that is read back */
    fputs(head, out);
    for (size_t i = 0; i < results->experiments.n; i++) {
        const struct result *r = &results->experiments.item[i];
        for (size_t j = 0; j < r->tables.n; j++) {
            const struct table *t = &r->tables.item[j];
            for (size_t k = 0; k < t->lines.n; k++)
                if (t->lines.item[k].best || result_is_grid(r) || t->lines.item[k].verdict)
                    line_write(out, r, t, &t->lines.item[k]);
        }
    }
}

/* --- reading --- */

struct csv_rows {
    char *(*field)[COLUMNS_READ];
    size_t n;
};

/* The next field of a line, its quotes taken away; *at moves behind it. */
static char *field_next(char **at)
{
    char *from = *at, *to = *at, *start = *at;
    bool quoted = *from == '"';
    for (from += quoted; *from && *from != '\n' && (quoted || *from != ','); from++) {
        if (quoted && *from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    *at = *from ? from + 1 : from;
    *to = 0;
    return start;
}

/* All lines of the file in the arena's memory; false: there is no such file, or another one. */
static bool rows_read(struct csv_rows *ret, const char *path, struct arena *arena)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, n = 0;
    if (!in)
        return false;
    while (getline(&line, &room, in) > 0)
        n++;
    rewind(in);
    struct csv_rows rows = {.field = arena_zeros(arena, n + 1, sizeof *rows.field)};
    bool good = rows.field && getline(&line, &room, in) > 0 && !strcmp(line, head);
    while (good && getline(&line, &room, in) > 0) {
        char *at = arena_copy(arena, line);
        for (size_t i = 0; at && i < COLUMNS_READ; i++)
            rows.field[rows.n][i] = field_next(&at);
        rows.n += at != NULL;
    }
    free(line);
    fclose(in);
    *ret = rows;
    return good;
}

static double number_of(const char *text)
{
    return *text ? strtod(text, NULL) : NAN;
}

static uint64_t count_of(const char *text)
{
    return strtoull(text, NULL, 10);
}

static struct line line_of(char *const *f, const struct experiment *e)
{
    struct line l = line_empty(f[LEARNER], f[SPEC], f[SETTING]);
    for (size_t i = 0; i < e->learners.n; i++)
        if (!strcmp(e->learners.item[i].id, f[LEARNER]))
            l.form = e->learners.item[i].form;
    l.mark = *f[MARK] ? f[MARK] : NULL;
    l.x = number_of(f[X]);
    l.mean = number_of(f[MEAN]);
    l.sd = number_of(f[SD]);
    l.greedy = number_of(f[GREEDY]);
    l.explored = number_of(f[EXPLORED]);
    l.bytes = number_of(f[BYTES]);
    l.balanced = number_of(f[BALANCED]);
    l.discovery = number_of(f[DISCOVERY]);
    l.runs = count_of(f[RUNS]);
    l.best = count_of(f[BEST]);
    l.edge = count_of(f[EDGE]);
    l.chosen = count_of(f[CHOSEN]);
    return l;
}

/* The data set's lines; none: it was not played. */
static struct table table_of(const struct csv_rows *rows, const struct experiment *e,
                             const struct experiment_data *data, struct arena *arena)
{
    struct table t = table_empty(data);
    for (size_t i = 0; i < rows->n; i++) {
        char *const *f = rows->field[i];
        if (strcmp(f[EXPERIMENT], e->id) || strcmp(f[DATA], data->id))
            continue;
        if (!t.lines.item && !(t.lines.item = arena_zeros(arena, rows->n - i, sizeof *t.lines.item)))
            break;
        t.rows = count_of(f[ROWS]);
        t.features = count_of(f[FEATURES]);
        t.classes = count_of(f[CLASSES]);
        t.lines.item[t.lines.n++] = line_of(f, e);
    }
    t.runs = t.lines.n ? t.lines.item[0].runs : 0;
    t.folds = e->cv;
    if (!t.lines.n)
        t.skipped = data_needed(data, arena);
    return t;
}

static void figure_find(struct result *r, const char *folder, const struct drawn *drawn)
{
    char *path;
    if (!drawn->id || asprintf(&path, "%s/figures/%s.svg", folder, drawn->id) < 0)
        return;
    if (!access(path, R_OK))
        r->figures.item[r->figures.n++] = *drawn;
    free(path);
}

static hunch_status result_of(struct result *r, const struct csv_rows *rows, const struct experiment *e,
                              const char *folder, struct arena *arena, hunch_error *reterr)
{
    hunch_status status = result_begin(r, e, false, 0, arena, reterr);
    bool any = false;
    for (size_t i = 0; i < e->data.n && !status; i++) {
        const struct experiment_data *data = &e->data.item[i];
        struct table *t = &r->tables.item[r->tables.n++];
        *t = table_of(rows, e, data, arena);
        any = any || t->lines.n;
        table_compare(t, e, data, false);
        for (size_t j = 0; j < e->figures.n && t->lines.n; j++) {
            struct drawn drawn = figure_of(e, &e->figures.item[j], data, arena);
            figure_find(r, folder, &drawn);
        }
    }
    if (status || !any)
        return status ? status : HUNCH_EUNSUPPORTED;
    result_judge(r, e, arena);
    growth_judge(r, e, arena);
    const struct drawn growth = {arena_print(arena, "%s-growth", e->id), e->title, ""};
    figure_find(r, folder, &growth);
    return arena->failed ? HUNCH_ENOMEM : HUNCH_OK;
}

bool results_read(struct results *ret, const struct experiment *all, size_t n, const char *folder, struct arena *arena)
{
    struct results r = {0};
    struct csv_rows rows;
    hunch_error ignored;
    char *path;
    if (asprintf(&path, "%s/results.csv", folder) < 0)
        return false;
    bool good = rows_read(&rows, path, arena) && (r.experiments.item = arena_zeros(arena, n, sizeof(struct result)));
    free(path);
    for (size_t i = 0; good && i < n; i++) {
        struct result *one = &r.experiments.item[r.experiments.n];
        r.experiments.n += !result_of(one, &rows, &all[i], folder, arena, &ignored);
    }
    if (good)
        *ret = r;
    return good;
}
