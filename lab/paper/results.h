/* SPDX-License-Identifier: BSD-3-Clause */
/* The results of experiments as files: results.csv and RESULTS.md. */
#ifndef RESULTS_H
#define RESULTS_H

#include <stdio.h>

#include "paper/experiment.h"
#include "paper/result.h"

hunch_status results_write(const struct results *results, const char *folder, hunch_error *reterr);
/* What the folder's results.csv has of these experiments, judged again; false: there is none. */
bool results_read(struct results *ret, const struct experiment *all, size_t n, const char *folder, struct arena *arena);

/* To the digits that results.csv has, so that numbers print alike now and when they are read back. */
void line_round(struct line *inout);

/* One experiment as text for a terminal. */
void result_print(FILE *out, const struct result *result, bool colours);

/* --- for the writers --- */

void size_print(FILE *out, double bytes);
void verdicts_print(FILE *out, const struct result *result); /* how many of which */
/* A line for each learner: how its numbers grow, and what is proven. */
void growth_print(FILE *out, const struct result *r, const char *before, const char *between, const char *after);
/* "a (1.0) < b (2.0) ..." */
void order_medians_print(FILE *out, const struct result_order *order);
/* A line for each setting that breaks the order. */
void order_breaks_print(FILE *out, const struct result *r, const char *before, const char *after);

void csv_print(FILE *out, const struct results *results);
void markdown_print(FILE *out, const struct results *results);

#endif
