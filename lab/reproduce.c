/* SPDX-License-Identifier: BSD-3-Clause */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "fail.h"

/* --- tables --- */

/* Errors are shares; tables have the paper's unit. */
static double unit_factor(const struct experiment *e, double rounds)
{
    const char *unit = json_text(e->json, "unit", "%");
    return !strcmp(unit, "%") ? 100 : !strcmp(unit, "mistakes") ? rounds : 1;
}

/* Processor time of all that was played, kept results included. */
static double table_seconds(const json_t *table)
{
    const json_t *line;
    double seconds = json_number(table, "tuning_seconds", 0);
    size_t i;
    json_array_foreach(json_object_get(table, "lines"), i, line)
    {
        seconds += json_number(line, "seconds", 0);
    }
    return seconds;
}

static void point_add(json_t *lines, const struct stage *s, size_t learner, size_t point)
{
    const struct sweep *sweep = s->sweep;
    const struct summary *entry = &sweep->entries[sweep->first[learner] + point];
    const struct grid *grid = &s->lineup->grids[learner];
    const struct grid_point *p = &grid->points[point];
    double factor = unit_factor(s->e, entry->rounds);
    if (!entry->runs)
        return;
    json_t *line = json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:f, s:f, s:f, s:b, s:b}", "learner",
                             s->lineup->names[learner], "spec", p->spec, "setting", p->setting, "mean",
                             factor * entry->error, "sd", factor * entry->error_sd, "runs", (json_int_t)entry->runs,
                             "greedy", factor * entry->greedy_error, "explored", 100 * entry->explored, "seconds",
                             entry->seconds, "best", point == sweep->best[learner], "edge", p->edge);
    if (isfinite(p->x))
        json_object_set_new(line, "x", json_real(p->x));
    json_array_append_new(lines, line);
}

static void fold_add(json_t *lines, const struct stage *s, size_t i)
{
    const struct cv_learner *l = &s->cv->learner[i];
    const struct grid_point *p = &s->lineup->grids[i].points[l->point];
    json_t *ps = json_object();
    for (size_t j = 0; j < s->cv->learners; j++)
        if (j != i)
            json_object_set_new(ps, s->lineup->names[j], json_real(s->cv->p[i * s->cv->learners + j]));
    double factor = unit_factor(s->e, 1);
    json_array_append_new(lines, json_pack("{s:s, s:s, s:s, s:f, s:f, s:I, s:f, s:f, s:f, s:b, s:b, s:f, s:o}",
                                           "learner", s->lineup->names[i], "spec", p->spec, "setting", p->setting,
                                           "mean", factor * l->error, "sd", factor * l->sd, "runs",
                                           (json_int_t)s->cv->folds, "greedy", 100 * l->summary.greedy_error,
                                           "explored", 100 * l->summary.explored, "seconds", l->summary.seconds, "best",
                                           true, "edge", l->edge, "tuning_error", factor * l->tuning_error, "p", ps));
}

static json_t *table_make(const struct stage *s)
{
    json_t *lines = json_array();
    const struct dataset *d = &s->corpus->data;
    for (size_t i = 0; i < s->lineup->n; i++) {
        for (size_t p = 0; s->sweep && p < s->lineup->grids[i].n; p++)
            point_add(lines, s, i, p);
        if (s->cv)
            fold_add(lines, s, i);
    }
    const char *id = json_text(s->data, "id", "");
    json_t *table = json_pack("{s:s, s:s, s:I, s:I, s:I, s:s, s:I, s:o}", "data", id, "title",
                              json_text(s->data, "title", id), "rows", (json_int_t)d->rows.n, "features",
                              (json_int_t)d->width, "classes", (json_int_t)d->classes, "checksum", s->corpus->sum,
                              "runs", (json_int_t)(s->cv ? s->cv->folds : s->sweep->runs), "lines", lines);
    const char *differs = json_text(s->data, "differs", NULL);
    if (differs)
        json_object_set_new(table, "differs", json_string(differs));
    if (s->cv)
        json_object_set_new(table, "tuning_seconds", json_real(s->cv->tuning_seconds));
    json_object_set_new(table, "processor_seconds", json_real(table_seconds(table)));
    table_compare(table, s->e, s->data, s->quick);
    return table;
}

/* --- playing --- */

static hunch_status sweep_data(struct stage *s, const struct collection *c, const struct reproduce_options *options,
                               struct sweep *ret, hunch_error *reterr)
{
    const json_t *e = s->e->json, *own = json_object_get(s->data, "shuffle");
    struct sweep_options sweep = {.runs = experiment_runs(s->e, s->data, options->quick, options->runs),
                                  .passes = (uint32_t)json_number(e, "passes", 1),
                                  .seed = (uint64_t)json_number(e, "seed", 0),
                                  .shuffle = !json_is_false(own ? own : json_object_get(e, "shuffle")),
                                  .cells = options->cells};
    const struct corpus **corpora = calloc(c->n + 1, sizeof *corpora);
    if (!corpora)
        return fail_memory(reterr);
    for (size_t i = 0; i < c->n; i++)
        corpora[i] = &c->corpora[i];
    hunch_status status = sweep_play(ret, corpora, c->n, s->lineup->grids, s->lineup->n, &sweep, reterr);
    free(corpora);
    s->sweep = status ? NULL : ret;
    return status;
}

static hunch_status cv_data(struct stage *s, const json_t *how, const struct reproduce_options *options, struct cv *ret,
                            hunch_error *reterr)
{
    const json_t *quick = options->quick ? json_object_get(s->e->json, "quick") : NULL;
    struct cv_options cv = {.folds = (uint32_t)json_number(quick, "folds", json_number(how, "folds", 10)),
                            .epochs = (uint32_t)json_number(quick, "epochs", json_number(how, "epochs", 10)),
                            .tune = json_number(how, "tune", 0.8),
                            .noise = json_number(how, "noise", 0),
                            .seed = (uint64_t)json_number(s->e->json, "seed", 0),
                            .cells = options->cells};
    hunch_status status = cv_play(ret, s->corpus, s->lineup->grids, s->lineup->n, &cv, reterr);
    s->cv = status ? NULL : ret;
    return status;
}

/* Draw what was played and put it into the result. */
static hunch_status stage_report(const struct stage *s, const struct reproduce_options *options, json_t *result,
                                 hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    json_array_append_new(json_object_get(result, "tables"), table_make(s));
    if (options->figures)
        status = stage_draw(s, options->figures, json_object_get(result, "figures"), reterr);
    if (status == HUNCH_EUNSUPPORTED) {
        json_object_set_new(result, "undrawn", json_string(reterr ? reterr->message : "no gnuplot"));
        status = HUNCH_OK;
    }
    return status;
}

static hunch_status data_play(const struct experiment *e, const json_t *data, const struct collection *c,
                              const struct reproduce_options *options, json_t *result, bool *ret_stopped,
                              hunch_error *reterr)
{
    struct lineup lineup = {0};
    struct sweep sweep = {0};
    struct cv cv = {0};
    struct stage s = {e, data, &lineup, &c->corpora[0], NULL, NULL, options->quick};
    const json_t *how = json_object_get(e->json, "cv");
    hunch_status status = experiment_lineup(e, data, options->quick, &lineup, reterr);
    if (!status)
        status = how ? cv_data(&s, how, options, &cv, reterr) : sweep_data(&s, c, options, &sweep, reterr);
    *ret_stopped = !status && (sweep.stopped || cv.stopped);
    if (!status && !*ret_stopped)
        status = stage_report(&s, options, result, reterr);
    if (sweep.first)
        sweep_free(&sweep);
    cv_free(&cv);
    lineup_free(&lineup);
    return status;
}

static void data_missing(json_t *result, const json_t *data, const char *why)
{
    const char *id = json_text(data, "id", "");
    json_array_append_new(
        json_object_get(result, "tables"),
        json_pack("{s:s, s:s, s:s, s:[]}", "data", id, "title", json_text(data, "title", id), "skipped", why, "lines"));
}

static hunch_status data_take(const struct experiment *e, const json_t *data, const struct reproduce_options *options,
                              json_t *result, bool *ret_stopped, hunch_error *reterr)
{
    struct corpus_options read = {.stream = STREAM_OPTIONS_INIT, .stop = options->cells.stop};
    struct collection c = {0};
    hunch_error why;
    if (options->begin)
        options->begin(options->context, e, json_text(data, "id", ""));
    uint32_t runs = experiment_runs(e, data, options->quick, options->runs);
    hunch_status status = experiment_corpora(e, data, options->quick, runs, &read, &c, &why);
    if (status == HUNCH_EUNSUPPORTED) {
        data_missing(result, data, why.message);
        return HUNCH_OK;
    }
    if (status && options->cells.stop && atomic_load(options->cells.stop)) {
        *ret_stopped = true;
        return HUNCH_OK;
    }
    if (status)
        return fail_with(reterr, status, "experiment %s: %s", e->id, why.message);
    status = data_play(e, data, &c, options, result, ret_stopped, reterr);
    collection_free(&c);
    return status;
}

static json_t *result_begin(const struct experiment *e, bool quick, uint32_t limit)
{
    json_t *result = json_pack("{s:s, s:s, s:s, s:s, s:b, s:[], s:[]}", "id", e->id, "title", e->title, "paper",
                               e->paper, "unit", json_text(e->json, "unit", "%"), "quick", quick, "tables", "figures");
    static const char *const copied[] = {"preparation", "notes", "layout", "improves", NULL};
    for (size_t i = 0; copied[i]; i++)
        if (json_object_get(e->json, copied[i]))
            json_object_set(result, copied[i], json_object_get(e->json, copied[i]));
    if (limit && !json_object_get(e->json, "cv") && limit < json_number(e->json, "runs", 1))
        json_object_set_new(result, "fewer_runs",
                            json_pack("[I,I]", (json_int_t)limit, (json_int_t)json_number(e->json, "runs", 1)));
    return result;
}

hunch_status experiment_play(const struct experiment *e, const struct reproduce_options *options, json_t **ret,
                             bool *ret_stopped, hunch_error *reterr)
{
    json_t *result = result_begin(e, options->quick, options->runs);
    const json_t *data;
    double began = clock_seconds();
    hunch_status status = result ? HUNCH_OK : fail_memory(reterr);
    size_t i;
    *ret_stopped = false;
    json_array_foreach(experiment_data(e), i, data)
    {
        if (!status && !*ret_stopped && experiment_has_data(e, data, options->quick))
            status = data_take(e, data, options, result, ret_stopped, reterr);
    }
    if (status || *ret_stopped) {
        json_decref(result);
        return status;
    }
    result_judge(result, e);
    double processor = 0;
    json_array_foreach(json_object_get(result, "tables"), i, data)
    {
        processor += json_number(data, "processor_seconds", 0);
    }
    json_object_set_new(result, "seconds", json_real(clock_seconds() - began));
    json_object_set_new(result, "processor_seconds", json_real(processor));
    *ret = result;
    return HUNCH_OK;
}
