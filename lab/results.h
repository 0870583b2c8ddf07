/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of experiments as files: results.json, results.csv, RESULTS.md and one page, index.html, that needs
 * nothing but itself.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "hunch.h"

/* results: {"version", "library", "command", "cores", "seconds", "quick", "experiments": [...]}. */
hunch_status results_write(const json_t *results, const char *folder, hunch_error *reterr);

/* One experiment as text for a terminal. */
void result_print(FILE *out, const json_t *result, bool colours);

/* --- for the writers --- */

struct view { /* of an experiment's tables */
    const json_t *result;
    const char *unit;
    bool grid; /* settings down, learners across, a table for each data set; else learners down, data sets across */
};
struct view view_of(const json_t *result);
/* A number in the experiment's unit; signed: with its sign. */
void view_number(const struct view *v, double number, bool with_sign, char ret[32]);
const json_t *view_line(const json_t *table, const char *learner); /* the best one of that learner; NULL: none */
const json_t *view_point(const json_t *table, const char *learner, size_t point); /* the point-th; NULL: none */
size_t view_points(const json_t *table);                                          /* most settings of a learner */
/* The learners of all tables, in order; an array of strings, a new reference. */
json_t *view_learners(const json_t *tables);
const char *view_setting(const json_t *table, size_t point); /* of the first learner that has so many */
void time_print(FILE *out, double seconds);
const char *view_reference(const json_t *line);       /* the key of what ours is compared with; NULL: with nothing */
void verdicts_print(FILE *out, const json_t *result); /* how many of which */
/* Of "order": at how many settings it is kept, and how a setting breaks it. */
size_t order_kept(const json_t *order);
/* "a (1.0) < b (2.0) ..." */
void order_medians_print(FILE *out, const json_t *order);
/* A line for each setting that breaks the order. */
void order_breaks_print(FILE *out, const struct view *v, const json_t *order, const char *before, const char *after);

void page_print(FILE *out, const json_t *results, const char *folder);
void markdown_print(FILE *out, const json_t *results);

#endif
