/* SPDX-License-Identifier: BSD-3-Clause */
/* What is drawn on a terminal: the progress bar and the learning curves. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

bool terminal_has_colours(FILE *out);
/* Foreground colour number i of those that are easy to tell apart; terminal_plain ends it. */
const char *terminal_colour(size_t i);
#define TERMINAL_PLAIN "\033[0m"
#define TERMINAL_BOLD "\033[1m"
/* 1234567 as "1,234,567"; returns ret. */
const char *terminal_count(double number, char ret[32]);

/* --- progress --- */

struct meter {
    FILE *out; /* NULL: nothing is drawn */
    double began, drawn;
    bool visible;
};

void meter_begin(struct meter *m, bool wanted); /* draws only on a terminal */
/* fraction below 0: not known. what: "reading", "" ... */
void meter_draw(struct meter *m, const char *what, double fraction, uint64_t rows);
void meter_end(struct meter *m);

/* --- curves --- */

struct plot_series {
    const char *name;
    const double *x, *y;
    size_t n;
};

struct plot_style {
    const char *title;
    bool linear, colours; /* the rounds' axis is linear instead of logarithmic */
};

/* Error (0 .. 1) against rounds; the first PLOT_SERIES curves are
 * drawn: more cannot be distinguished. */
#define PLOT_SERIES 4
void plot_draw(FILE *out, const struct plot_series *series, size_t n, const struct plot_style *style);

#endif
