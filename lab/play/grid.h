/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A learner's spec in which settings may have several values:
 *
 *     banditron:gamma=2^-13..2^-3       the whole powers of 2 from 2^-13 to 2^-3
 *     confidit:eta={0.1,1,10},alpha=1   a list
 *
 * Several such settings make a product; the last one changes fastest. What is in square brackets belongs to
 * another learner and is left alone.
 */
#ifndef GRID_H
#define GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "hunch.h"

struct grid_point {
    char *spec;    /* plain: what hunch_create takes */
    char *setting; /* what the grid chose: "gamma=2^-5"; "" when there is no grid */
    double x;      /* the first grid's value; NAN when it is not a number */
    bool edge;     /* at an end of a grid of three numbers or more */
};

struct grid {
    char *text; /* as given */
    char *axis; /* the name of the first setting that has a grid, or NULL */
    struct grid_point *points;
    size_t n;
};

#define GRID_POINTS 100000 /* at most */

/* Every point's spec is checked; HUNCH_EINVAL tells what is wrong with it. extra ("ties=random,bias=1" or NULL) is
 * added to every spec that does not set those itself. */
hunch_status grid_parse(struct grid *ret, const char *text, const char *extra, hunch_error *reterr);
void grid_free(struct grid *grid);

#endif
