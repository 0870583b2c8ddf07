/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/figure.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/error.h"

hunch_status figure_init(struct figure *f, const char *id, const char *title, const char *x, const char *y,
                         hunch_error *reterr)
{
    *f = (struct figure){.id = strdup(id), .title = strdup(title), .x_label = strdup(x), .y_label = strdup(y)};
    if (f->id && f->title && f->x_label && f->y_label)
        return HUNCH_OK;
    figure_free(f);
    return error_memory(reterr);
}

struct figure_series *figure_add(struct figure *f, const char *name, size_t n)
{
    if (!array_resize(&f->series, f->n + 1, sizeof *f->series))
        return NULL;
    struct figure_series *s = &f->series[f->n++];
    *s = (struct figure_series){.name = strdup(name),
                                .n = n,
                                .x = calloc(n + 1, sizeof(double)),
                                .y = calloc(n + 1, sizeof(double)),
                                .colour = f->n - 1};
    return s->name && s->x && s->y ? s : NULL;
}

/* Drawn of a curve at most; more are not seen and make heavy pages. */
enum { CURVE_POINTS = 120 };

struct figure_series *figure_curve(struct figure *f, const char *name, const struct curve *c, enum curve_share share,
                                   double from, double to)
{
    const double *means[] = {c->error, c->greedy, c->explored};
    const double *deviations[] = {c->error_sd, c->greedy_sd, c->explored_sd};
    struct figure_series *series = figure_add(f, name, c->n);
    if (!series || !(series->sd = calloc(c->n + 1, sizeof(double))))
        return NULL;
    size_t n = 0, step = c->n / CURVE_POINTS + 1;
    for (size_t j = 0; j < c->n; j++)
        if (c->round[j] <= to && (c->round[j] >= from || c->n < 20) && (c->n - 1 - j) % step == 0) {
            series->x[n] = c->round[j];
            series->y[n] = 100 * means[share][j];
            series->sd[n++] = 100 * deviations[share][j];
        }
    series->n = n;
    return series;
}

void figure_free(struct figure *f)
{
    for (size_t i = 0; i < f->n; i++) {
        free(f->series[i].name);
        free(f->series[i].x);
        free(f->series[i].y);
        free(f->series[i].sd);
    }
    free(f->series);
    free(f->id);
    free(f->title);
    free(f->x_label);
    free(f->y_label);
    *f = (struct figure){0};
}

bool figure_drawable(const struct figure *f, const struct figure_series *s, size_t i)
{
    return isfinite(s->x[i]) && isfinite(s->y[i]) && !(f->log_x && s->x[i] <= 0) && !(f->log_y && s->y[i] <= 0);
}

hunch_status figure_write(const struct figure *figure, const char *folder, hunch_error *reterr)
{
    size_t drawn = 0;
    char *path;
    for (size_t i = 0; i < figure->n; i++)
        for (size_t j = 0; j < figure->series[i].n; j++)
            drawn += figure_drawable(figure, &figure->series[i], j);
    if (!drawn)
        return error_set(reterr, HUNCH_EINVAL, "%s: nothing to draw", figure->id);
    if (asprintf(&path, "%s/%s.svg", folder, figure->id) < 0)
        return error_memory(reterr);
    FILE *out = fopen(path, "w");
    if (out)
        figure_svg(figure, out);
    bool failed = !out || ferror(out);
    if (out && fclose(out))
        failed = true;
    hunch_status status = failed ? error_set(reterr, HUNCH_EIO, "%s: %s", path, strerror(errno)) : HUNCH_OK;
    free(path);
    return status;
}
