/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of an experiment, in the papers' arrangement. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/figure.h"
#include "paper/reproduce.h"

/* Whether the figure shows the learner; one that names none shows all. */
static bool is_shown(const struct texts *names, const char *name)
{
    return !names->n || texts_have(names, name);
}

/* The place of a learner among those of the figure: its colour, the same in all figures with the same learners. */
static size_t place(const struct stage *s, const struct experiment_figure *figure, size_t learner)
{
    size_t before = 0;
    for (size_t i = 0; i < learner; i++)
        before += is_shown(&figure->learners, s->learners->names[i]);
    return before;
}

static bool stage_curve(const struct stage *s, size_t learner, struct curve *ret)
{
    if (s->cv)
        return curve_mean(ret, s->cv->learner[learner].outcomes, s->cv->folds);
    return s->sweep->best[learner] != SIZE_MAX && sweep_curve(s->sweep, learner, s->sweep->best[learner], ret);
}

static double rounds_shown(const struct stage *s, const struct experiment_figure *figure)
{
    return figure->first_epoch && s->cv ? (double)s->cv->split->fold[0].n : INFINITY;
}

static bool learner_flat(const struct stage *s, size_t learner) /* never explores */
{
    const struct cv_learner *l = s->cv ? &s->cv->learner[learner] : NULL;
    return l ? l->summary.explored == 0 : false;
}

static enum curve_share share_of(const char *kind)
{
    return !strcmp(kind, "mistakes") ? CURVE_GREEDY : !strcmp(kind, "explored") ? CURVE_EXPLORED : CURVE_ERROR;
}

static hunch_status curves_add(struct figure *f, const struct stage *s, const struct experiment_figure *figure,
                               hunch_error *reterr)
{
    for (size_t i = 0; i < s->learners->n; i++) {
        struct curve c;
        enum curve_share share = share_of(figure->kind);
        if (!is_shown(&figure->learners, s->learners->names[i]) || (share == CURVE_EXPLORED && learner_flat(s, i)) ||
            !stage_curve(s, i, &c))
            continue;
        struct figure_series *series =
            figure_curve(f, s->learners->names[i], &c, share, figure->from, rounds_shown(s, figure));
        curve_free(&c);
        if (!series)
            return error_memory(reterr);
        series->colour = place(s, figure, i);
    }
    return HUNCH_OK;
}

/* --- error against a setting --- */

static hunch_status published_add(struct figure *f, const struct stage *s, size_t learner, hunch_error *reterr)
{
    const struct grid *grid = &s->learners->grids[learner];
    struct printed printed;
    char *name;
    if (s->quick ||
        !experiment_printed(s->e, s->data->id, s->learners->names[learner], grid->points[0].setting, &printed) ||
        !printed.each_setting)
        return HUNCH_OK;
    if (asprintf(&name, "%s, published", s->learners->names[learner]) < 0)
        return error_memory(reterr);
    struct figure_series *series = figure_add(f, name, grid->n);
    free(name);
    if (!series)
        return error_memory(reterr);
    series->published = series->marks = true;
    for (size_t i = 0; i < grid->n; i++) {
        bool known =
            experiment_printed(s->e, s->data->id, s->learners->names[learner], grid->points[i].setting, &printed);
        series->x[i] = grid->points[i].x;
        series->y[i] = known ? printed.mean : NAN;
    }
    return HUNCH_OK;
}

static double entry_value(const struct stage *s, const struct summary *e, double share)
{
    double factor = !strcmp(s->e->unit, "mistakes") ? e->rounds : !strcmp(s->e->unit, "%") ? 100 : 1;
    return e->runs ? share * factor : NAN;
}

static hunch_status setting_add(struct figure *f, const struct stage *s, size_t i, double scale, hunch_error *reterr)
{
    const struct grid *grid = &s->learners->grids[i];
    struct figure_series *series = figure_add(f, s->learners->names[i], grid->n);
    if (!series || !(series->sd = calloc(grid->n + 1, sizeof(double))))
        return error_memory(reterr);
    series->marks = true;
    for (size_t p = 0; p < grid->n; p++) {
        const struct summary *e = &s->sweep->entries[s->sweep->first[i] + p];
        series->x[p] = grid->points[p].x * scale;
        series->y[p] = entry_value(s, e, e->error);
        series->sd[p] = entry_value(s, e, e->error_sd);
    }
    return published_add(f, s, i, reterr);
}

/* A learner without a grid: a level line over the whole width. */
static hunch_status level_add(struct figure *f, const struct stage *s, size_t i, double low, double high,
                              hunch_error *reterr)
{
    const struct summary *e = &s->sweep->entries[s->sweep->first[i]];
    struct figure_series *series = figure_add(f, s->learners->names[i], 2);
    if (!series)
        return error_memory(reterr);
    series->x[0] = low;
    series->x[1] = high;
    series->y[0] = series->y[1] = entry_value(s, e, e->error);
    return HUNCH_OK;
}

static hunch_status settings_add(struct figure *f, const struct stage *s, const struct experiment_figure *figure,
                                 hunch_error *reterr)
{
    double low = INFINITY, high = -INFINITY;
    hunch_status status = HUNCH_OK;
    for (int level = 0; level < 2; level++)
        for (size_t i = 0; i < s->learners->n && !status; i++) {
            const struct grid *grid = &s->learners->grids[i];
            if (!is_shown(&figure->learners, s->learners->names[i]) || (grid->n < 2) != level)
                continue;
            const json_t *scaled = json_object_get(figure->scale, s->learners->names[i]);
            double scale = scaled ? json_number_value(scaled) : 1;
            for (size_t p = 0; !level && p < grid->n; p++) {
                low = fmin(low, grid->points[p].x * scale);
                high = fmax(high, grid->points[p].x * scale);
            }
            size_t first = f->n;
            status = level ? level_add(f, s, i, low, high, reterr) : setting_add(f, s, i, scale, reterr);
            for (size_t j = first; j < f->n; j++)
                f->series[j].colour = place(s, figure, i);
        }
    return status;
}

static const char *y_label(const struct stage *s, const char *kind)
{
    if (!strcmp(kind, "mistakes"))
        return "mistakes of the greedy label so far, % of the rounds";
    if (!strcmp(kind, "explored"))
        return "rounds explored so far, %";
    if (!strcmp(kind, "setting") && !strcmp(s->e->unit, "mistakes"))
        return "mistakes";
    return !strcmp(kind, "setting") && !strcmp(s->e->unit, "rate") ? "error rate" : "error, %";
}

static hunch_status figure_draw(const struct stage *s, const struct experiment_figure *what, const char *folder,
                                struct drawn *drawn, hunch_error *reterr)
{
    bool setting = !strcmp(what->kind, "setting");
    const char *axes = what->log ? what->log
                       : setting ? "x"
                                 : "",
               *x = what->x   ? what->x
                    : setting ? "setting"
                              : "rounds";
    struct figure f;
    hunch_status status = figure_init(&f, drawn->id, drawn->title, x, y_label(s, what->kind), reterr);
    if (status)
        return status;
    status = setting ? settings_add(&f, s, what, reterr) : curves_add(&f, s, what, reterr);
    f.log_x = strchr(axes, 'x');
    f.log_y = strchr(axes, 'y');
    f.powers = setting && what->powers;
    if (!status && f.n)
        status = figure_write(&f, folder, reterr);
    if (!f.n)
        drawn->id = NULL;
    figure_free(&f);
    return status;
}

struct drawn figure_of(const struct experiment *e, const struct experiment_figure *what,
                       const struct experiment_data *data, struct arena *arena)
{
    return (struct drawn){arena_print(arena, "%s-%s-%s", e->id, what->id, data->id),
                          arena_print(arena, "%s: %s", data->title, what->title), data->id};
}

hunch_status stage_draw(const struct stage *s, const char *folder, struct arena *arena, struct result *result,
                        hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < s->e->figures.n && !status; i++) {
        const struct experiment_figure *what = &s->e->figures.item[i];
        if (!is_shown(&what->data, s->data->id))
            continue;
        struct drawn drawn = figure_of(s->e, what, s->data, arena);
        status = arena->failed ? error_memory(reterr) : figure_draw(s, what, folder, &drawn, reterr);
        if (!status && drawn.id)
            result->figures.item[result->figures.n++] = drawn;
    }
    return status;
}

/* --- growth --- */

/* What is proven, through the learner's last point. */
static void bound_add(struct figure_series *to, const struct figure_series *from, const struct growth *g)
{
    size_t last = from->n - 1;
    for (size_t i = 0; i < from->n; i++) {
        to->x[i] = from->x[i];
        to->y[i] = from->y[last] * growth_bound(g, from->x[i]) / growth_bound(g, from->x[last]);
    }
    to->published = true;
    to->colour = from->colour;
}

static hunch_status growth_add(struct figure *f, const struct result *r, const struct growth *g, size_t colour,
                               hunch_error *reterr)
{
    struct figure_series *series = figure_add(f, g->learner, r->tables.n);
    if (!series || !(series->sd = calloc(r->tables.n + 1, sizeof(double))))
        return error_memory(reterr);
    series->marks = true;
    series->colour = colour;
    series->n = 0;
    for (size_t i = 0; i < r->tables.n; i++) {
        const struct table *t = &r->tables.item[i];
        const struct line *l = table_best(t, g->learner);
        if (!l)
            continue;
        series->x[series->n] = (double)(!strcmp(r->growth_by, "classes")    ? t->classes
                                        : !strcmp(r->growth_by, "features") ? t->features
                                                                            : t->rows);
        series->y[series->n] = l->mean;
        series->sd[series->n++] = l->sd;
    }
    if (isnan(g->bound) || !series->n)
        return HUNCH_OK;
    char words[GROWTH_WORDS], name[GROWTH_WORDS + 16];
    snprintf(name, sizeof name, "its bound, %s", growth_words(g, words));
    struct figure_series *bound = figure_add(f, name, series->n);
    if (!bound)
        return error_memory(reterr);
    bound_add(bound, &f->series[f->n - 2], g);
    return HUNCH_OK;
}

hunch_status growth_draw(const struct experiment *e, const char *folder, struct arena *arena, struct result *result,
                         hunch_error *reterr)
{
    struct drawn drawn = {arena_print(arena, "%s-growth", e->id), e->title, ""};
    struct figure f;
    size_t colour = 0;
    if (!drawn.id)
        return error_memory(reterr);
    hunch_status status = figure_init(&f, drawn.id, e->title, result->growth_by, e->unit, reterr);
    if (status)
        return status;
    f.log_x = f.log_y = true;
    for (size_t i = 0; i < result->growth.n && !status; i++)
        if (is_shown(&e->growth->learners, result->growth.item[i].learner))
            status = growth_add(&f, result, &result->growth.item[i], colour++, reterr);
    if (!status)
        status = figure_write(&f, folder, reterr);
    if (!status)
        result->figures.item[result->figures.n++] = drawn;
    figure_free(&f);
    return status;
}
