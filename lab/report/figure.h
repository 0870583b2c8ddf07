/* SPDX-License-Identifier: BSD-3-Clause */
/* Plots as SVG; the style is in figure_svg.c. */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "hunch.h"
#include "play/summary.h"

struct figure_series {
    char *name;
    size_t n;
    double *x, *y;
    double *sd;     /* drawn as a band; NULL: none */
    bool marks;     /* points on the line */
    bool published; /* the paper's: hollow marks, dashed, in the colour of the series before it */
    size_t colour;  /* which one; figure_add gives every series the next */
};

struct figure {
    char *id; /* file name without ending */
    char *title, *x_label, *y_label;
    bool log_x, log_y;
    bool powers; /* x is labelled in powers of two */
    struct figure_series *series;
    size_t n;
};

enum { FIGURE_LABELS = 6 }; /* lines that are labelled where they end; more get a legend */

/* id.svg in folder. */
hunch_status figure_write(const struct figure *figure, const char *folder, hunch_error *reterr);

hunch_status figure_init(struct figure *f, const char *id, const char *title, const char *x, const char *y,
                         hunch_error *reterr);
/* A series with room for n points; NULL: out of memory. */
struct figure_series *figure_add(struct figure *f, const char *name, size_t n);
/* A curve in percent of the rounds so far, from one round to another, with its band. */
enum curve_share { CURVE_ERROR, CURVE_GREEDY, CURVE_EXPLORED };
struct figure_series *figure_curve(struct figure *f, const char *name, const struct curve *c, enum curve_share share,
                                   double from, double to);
void figure_free(struct figure *f);

/* Whether point i has a place on the axes. */
bool figure_drawable(const struct figure *f, const struct figure_series *s, size_t i);
void figure_svg(const struct figure *f, FILE *out);

#endif
