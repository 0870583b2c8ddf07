/* SPDX-License-Identifier: BSD-3-Clause */
#include "paper/reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "paper/results.h"

/* --- tables --- */

/* Errors are shares; tables have the paper's unit. */
static double unit_factor(const struct experiment *e, double rounds)
{
    return !strcmp(e->unit, "%") ? 100 : !strcmp(e->unit, "mistakes") ? rounds : 1;
}

static struct line line_make(const struct stage *s, size_t learner, size_t point, struct arena *arena)
{
    const struct grid *grid = &s->learners->grids[learner];
    const struct grid_point *p = &grid->points[point];
    struct line l = line_empty(arena_text(arena, s->learners->names[learner]), arena_text(arena, p->spec),
                               arena_text(arena, p->setting));
    l.form = arena_text(arena, s->learners->forms[learner]);
    l.edge = p->edge;
    l.chosen = grid->n > 1;
    l.x = p->x;
    return l;
}

static void line_cost(struct line *l, const struct summary *s)
{
    l->seconds = s->seconds;
    l->rate = s->rate;
    l->bytes = s->bytes;
    l->balanced = 100 * s->balanced;
    l->discovery = s->discovery;
}

static struct line sweep_line(const struct stage *s, size_t learner, size_t point, struct arena *arena)
{
    const struct summary *entry = &s->sweep->entries[s->sweep->first[learner] + point];
    struct line l = line_make(s, learner, point, arena);
    double factor = unit_factor(s->e, entry->rounds);
    l.mean = factor * entry->error;
    l.sd = factor * entry->error_sd;
    if (!strcmp(s->e->unit, "regret")) {
        l.mean = entry->regret;
        l.sd = entry->regret_sd;
    }
    l.runs = entry->runs;
    l.greedy = factor * entry->greedy_error;
    l.explored = 100 * entry->explored;
    l.best = point == s->sweep->best[learner];
    line_cost(&l, entry);
    line_round(&l);
    return l;
}

static struct line cv_line(const struct stage *s, size_t i, struct arena *arena)
{
    const struct cv *cv = s->cv;
    const struct cv_learner *learner = &cv->learner[i];
    struct line l = line_make(s, i, learner->point, arena);
    double factor = unit_factor(s->e, 1);
    l.mean = factor * learner->error;
    l.sd = factor * learner->sd;
    l.runs = cv->folds;
    l.greedy = 100 * learner->summary.greedy_error;
    l.explored = 100 * learner->summary.explored;
    l.best = true;
    l.tuning_error = factor * learner->tuning_error;
    line_cost(&l, &learner->summary);
    line_round(&l);
    l.p.item = arena_zeros(arena, cv->learners, sizeof *l.p.item);
    for (size_t j = 0; l.p.item && j < cv->learners; j++)
        if (j != i)
            l.p.item[l.p.n++] = (struct line_p){arena_text(arena, s->learners->names[j]), cv->p[i * cv->learners + j]};
    return l;
}

struct table table_empty(const struct experiment_data *data)
{
    return (struct table){.data = data->id,
                          .title = data->title,
                          .differs = data->differs,
                          .tuning_seconds = NAN,
                          .processor_seconds = NAN};
}

const char *data_needed(const struct experiment_data *data, struct arena *arena)
{
    const char *text = "needs data:";
    for (size_t i = 0; i < data->files.n && text; i++)
        text = arena_print(arena, "%s%s %s", text, i ? "," : "", data->files.item[i]);
    return data->files.n ? text : "not run";
}

static hunch_status table_make(const struct stage *s, struct arena *arena, struct table *ret, hunch_error *reterr)
{
    const struct dataset *d = &s->corpus->data;
    struct table t = {.data = s->data->id,
                      .title = s->data->title,
                      .checksum = arena_text(arena, s->corpus->sum),
                      .differs = s->data->differs,
                      .rows = d->rows.n,
                      .features = d->width,
                      .classes = d->classes,
                      .runs = s->cv ? s->cv->folds : s->sweep->runs,
                      .folds = s->cv,
                      .tuning_seconds = s->cv ? s->cv->tuning_seconds : NAN};
    size_t n = s->cv ? s->cv->learners : s->sweep->first[s->sweep->learners];
    t.lines.item = arena_zeros(arena, n, sizeof *t.lines.item);
    if (!t.lines.item)
        return error_memory(reterr);
    for (size_t i = 0; i < s->learners->n; i++) {
        for (size_t p = 0; s->sweep && p < s->learners->grids[i].n; p++)
            if (s->sweep->entries[s->sweep->first[i] + p].runs)
                t.lines.item[t.lines.n++] = sweep_line(s, i, p, arena);
        if (s->cv)
            t.lines.item[t.lines.n++] = cv_line(s, i, arena);
    }
    t.processor_seconds = s->cv ? t.tuning_seconds : 0; /* kept results included */
    for (size_t i = 0; i < t.lines.n; i++)
        t.processor_seconds += t.lines.item[i].seconds;
    table_compare(&t, s->e, s->data, s->quick);
    *ret = t;
    return HUNCH_OK;
}

/* --- playing --- */

struct play {
    const struct experiment *e;
    const struct reproduce_options *options;
    struct arena *arena;
    struct result *result;
    bool stopped;
};

static hunch_status sweep_data(struct stage *s, const struct collection *c, const struct play *p, struct sweep *ret,
                               hunch_error *reterr)
{
    const struct experiment *e = s->e;
    struct sweep_options sweep = {.runs = experiment_runs(e, s->data, s->quick, p->options->runs),
                                  .passes = (uint32_t)e->passes,
                                  .seed = e->seed,
                                  .shuffle = s->data->shuffle < 0 ? e->shuffle : s->data->shuffle,
                                  .trials = p->options->trials};
    struct sweep_input input = {c->corpora, c->n, s->learners->grids, s->learners->n};
    hunch_status status = sweep_play(ret, &input, &sweep, reterr);
    s->sweep = status ? NULL : ret;
    return status;
}

static uint64_t first_of(uint64_t a, uint64_t b)
{
    return a ? a : b;
}

static hunch_status cv_data(struct stage *s, const struct play *p, struct cv *ret, hunch_error *reterr)
{
    const struct experiment_cv *how = s->e->cv;
    const struct experiment_quick none = {0}, *quick = s->quick && s->e->quick ? s->e->quick : &none;
    struct cv_options cv = {.folds = (uint32_t)first_of(quick->folds, how->folds),
                            .epochs = (uint32_t)first_of(quick->epochs, how->epochs),
                            .tune = how->tune,
                            .noise = how->noise,
                            .seed = s->e->seed,
                            .trials = p->options->trials};
    hunch_status status = cv_play(ret, s->corpus, s->learners->grids, s->learners->n, &cv, reterr);
    s->cv = status ? NULL : ret;
    return status;
}

/* Draw what was played and put it into the result. */
static hunch_status stage_report(const struct stage *s, const struct play *p, hunch_error *reterr)
{
    hunch_status status = table_make(s, p->arena, &p->result->tables.item[p->result->tables.n], reterr);
    if (status)
        return status;
    p->result->tables.n++;
    if (p->options->figures)
        status = stage_draw(s, p->options->figures, p->arena, p->result, reterr);
    return status;
}

static hunch_status data_play(struct play *p, const struct experiment_data *data, const struct collection *c,
                              hunch_error *reterr)
{
    struct learner_grids learners = {0};
    struct sweep sweep = {0};
    struct cv cv = {0};
    struct stage s = {p->e, data, &learners, &c->corpora[0], NULL, NULL, p->options->quick};
    hunch_status status = experiment_learners(p->e, data, s.quick, &learners, reterr);
    if (!status)
        status = p->e->cv ? cv_data(&s, p, &cv, reterr) : sweep_data(&s, c, p, &sweep, reterr);
    p->stopped = !status && (sweep.stopped || cv.stopped);
    if (!status && !p->stopped)
        status = stage_report(&s, p, reterr);
    sweep_free(&sweep);
    cv_free(&cv);
    learner_grids_free(&learners);
    return status;
}

static hunch_status data_take(struct play *p, const struct experiment_data *data, hunch_error *reterr)
{
    const struct reproduce_options *o = p->options;
    struct corpus_options read = {.stream = STREAM_OPTIONS_INIT, .stop = o->trials.stop};
    struct collection c = {0};
    hunch_error why;
    if (o->begin)
        o->begin(o->context, p->e, data->id);
    uint32_t runs = experiment_runs(p->e, data, o->quick, o->runs);
    uint64_t max = o->quick && p->e->quick ? p->e->quick->rows : 0;
    hunch_status status = experiment_corpora(data, max, runs, &read, &c, &why);
    if (status == HUNCH_EUNSUPPORTED) {
        struct table *t = &p->result->tables.item[p->result->tables.n++];
        *t = table_empty(data);
        t->skipped = data_needed(data, p->arena);
        return HUNCH_OK;
    }
    p->stopped = status && o->trials.stop && atomic_load(o->trials.stop);
    if (status)
        return p->stopped ? HUNCH_OK : error_set(reterr, status, "experiment %s: %s", p->e->id, why.message);
    status = data_play(p, data, &c, reterr);
    collection_free(&c);
    return status;
}

/* How numbers are judged, for readers. */
static const char *test_print(const struct experiment *e, struct arena *arena)
{
    if (!e->printed)
        return NULL;
    return arena_print(
        arena,
        "Reproduced: no significant difference (Welch's t test at 1 %%; the paper's means over %s%.0f run%s, its standard "
        "deviation where printed, else ours) beyond rounding of %g%s; another spread: the means agree, the standard "
        "deviations differ significantly (F test at 1 %%)",
        e->paper_runs ? "" : "an unknown number of runs, taken as ", fmax(1, (double)e->paper_runs),
        e->paper_runs > 1 ? "s" : "", e->rounding, e->order.n ? "; the order alone" : "");
}

hunch_status result_begin(struct result *ret, const struct experiment *e, bool quick, uint32_t limit,
                          struct arena *arena, hunch_error *reterr)
{
    struct result r = {.id = e->id,
                       .title = e->title,
                       .paper = e->paper,
                       .unit = e->unit,
                       .layout = e->layout,
                       .preparation = e->preparation,
                       .test = test_print(e, arena),
                       .quick = quick,
                       .improves = e->improves,
                       .notes = e->notes};
    if (limit && !e->cv && limit < e->runs) {
        r.runs_made = limit;
        r.runs_wanted = e->runs;
    }
    r.tables.item = arena_zeros(arena, e->data.n, sizeof *r.tables.item);
    r.figures.item = arena_zeros(arena, e->data.n * e->figures.n + 1, sizeof *r.figures.item);
    if (!r.tables.item || !r.figures.item)
        return error_memory(reterr);
    *ret = r;
    return HUNCH_OK;
}

hunch_status experiment_play(const struct experiment *e, const struct reproduce_options *options, struct arena *arena,
                             struct result *ret, bool *ret_stopped, hunch_error *reterr)
{
    struct result r;
    struct play p = {e, options, arena, &r, false};
    double began = clock_seconds();
    hunch_status status = result_begin(&r, e, options->quick, options->runs, arena, reterr);
    for (size_t i = 0; i < e->data.n && !status && !p.stopped; i++)
        if (experiment_has_data(e, &e->data.item[i], options->quick))
            status = data_take(&p, &e->data.item[i], reterr);
    *ret_stopped = p.stopped;
    if (status || p.stopped)
        return status;
    result_judge(&r, e, arena);
    growth_judge(&r, e, arena);
    if (options->figures && r.growth.n)
        status = growth_draw(e, options->figures, arena, &r, reterr);
    r.seconds = clock_seconds() - began;
    for (size_t i = 0; i < r.tables.n; i++)
        r.processor_seconds += isnan(r.tables.item[i].processor_seconds) ? 0 : r.tables.item[i].processor_seconds;
    *ret = r;
    return status ? status : arena->failed ? error_memory(reterr) : HUNCH_OK;
}
