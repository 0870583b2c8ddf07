/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How regret grows with the rounds, the classes or the features: the exponent, its standard error, and what is proven.
 *
 * Each data set of the experiment is a point: log of the size against log of the mean. A line is fitted by least
 * squares, each point weighted by the variance of its logarithm over the runs; the slope's error is enlarged where the
 * points scatter more than the runs explain.
 */
#include <math.h>
#include <string.h>

#include "paper/reproduce.h"

enum { POINTS = 64 };

struct points {
    double x[POINTS], y[POINTS], weight[POINTS];
    size_t n;
};

static double size_of(const struct table *t, const char *by)
{
    return (double)(!strcmp(by, "classes") ? t->classes : !strcmp(by, "features") ? t->features : t->rows);
}

static struct points points_of(const struct result *r, const char *learner, const char *by)
{
    struct points p = {.n = 0};
    for (size_t i = 0; i < r->tables.n && p.n < POINTS; i++) {
        const struct line *l = table_best(&r->tables.item[i], learner);
        if (!l || !(l->mean > 0))
            continue;
        double relative = l->sd / l->mean;
        p.x[p.n] = log(size_of(&r->tables.item[i], by));
        p.y[p.n] = log(l->mean);
        p.weight[p.n++] = (double)l->runs / (relative * relative + 1e-6);
    }
    return p;
}

/* The slope of y over x; *ret_error NULL: not wanted. */
static double slope_fit(const struct points *p, const double *y, double *ret_error)
{
    double sum = 0, mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
    for (size_t i = 0; i < p->n; i++) {
        sum += p->weight[i];
        mean_x += p->weight[i] * p->x[i];
        mean_y += p->weight[i] * y[i];
    }
    mean_x /= sum;
    mean_y /= sum;
    for (size_t i = 0; i < p->n; i++) {
        xx += p->weight[i] * (p->x[i] - mean_x) * (p->x[i] - mean_x);
        xy += p->weight[i] * (p->x[i] - mean_x) * (y[i] - mean_y);
    }
    double slope = xy / xx;
    for (size_t i = 0; i < p->n; i++) {
        double off = y[i] - mean_y - slope * (p->x[i] - mean_x);
        rest += p->weight[i] * off * off / (double)(p->n - 2);
    }
    if (ret_error)
        *ret_error = sqrt(fmax(rest, 1) / xx);
    return slope;
}

/* What is proven, a power or [power, power of the logarithm], and the slope that it has at the same points. */
static void bound_take(struct growth *g, const struct points *p, const json_t *bound)
{
    double y[POINTS];
    g->power = g->logs = g->bound = NAN;
    if (!bound)
        return;
    g->power = json_number_value(json_is_array(bound) ? json_array_get(bound, 0) : bound);
    g->logs = json_number_value(json_array_get(bound, 1));
    for (size_t i = 0; i < p->n; i++)
        y[i] = log(growth_bound(g, exp(p->x[i])));
    g->bound = slope_fit(p, y, NULL);
}

void growth_judge(struct result *r, const struct experiment *e, struct arena *arena)
{
    const char *names[LEARNERS];
    size_t n = tables_learners(r->tables.item, r->tables.n, names, LEARNERS);
    if (!e->growth || !(r->growth.item = arena_zeros(arena, n, sizeof *r->growth.item)))
        return;
    r->growth_by = e->growth->by ? e->growth->by : "rows";
    for (size_t i = 0; i < n; i++) {
        struct points p = points_of(r, names[i], r->growth_by);
        const json_t *bound = json_object_get(e->growth->bounds, names[i]);
        if (p.n < 3)
            continue;
        struct growth g = {.learner = names[i]};
        g.slope = slope_fit(&p, p.y, &g.error);
        bound_take(&g, &p, bound);
        if (!isnan(g.bound))
            g.verdict = g.slope - 2 * g.error <= g.bound ? VERDICT_WITHIN : VERDICT_ABOVE;
        r->verdicts[g.verdict] += g.verdict != VERDICT_NONE;
        if (g.verdict == VERDICT_ABOVE || (g.verdict == VERDICT_WITHIN && r->verdict == VERDICT_APART))
            r->verdict = g.verdict;
        r->growth.item[r->growth.n++] = g;
    }
}
