/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The results of experiments as files: results.json, results.csv, RESULTS.md and one page, index.html, that needs
 * nothing but itself.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include <stdio.h>

#include "result.h"

hunch_status results_write(const struct results *results, const char *folder, hunch_error *reterr);
/* What results_write has written to that folder; false: nothing, or something else. */
bool results_read(struct results *ret, const char *folder, struct arena *arena);

/* One experiment as text for a terminal. */
void result_print(FILE *out, const struct result *result, bool colours);

/* --- for the writers --- */

void time_print(FILE *out, double seconds);
void size_print(FILE *out, double bytes);
void verdicts_print(FILE *out, const struct result *result); /* how many of which */
/* That fewer runs were made than wanted, if so. */
void runs_made_print(FILE *out, const struct result *r, const char *before, const char *after);
/* The tables: of a grid one by one, otherwise all in one. */
void tables_print(FILE *out, const struct result *r, void (*matrix)(FILE *, const struct result *),
                  void (*grid)(FILE *, const struct result *, const struct table *));
/* A line for each learner: how its numbers grow, and what is proven. */
void growth_print(FILE *out, const struct result *r, const char *before, const char *between, const char *after);
/* "a (1.0) < b (2.0) ..." */
void order_medians_print(FILE *out, const struct result_order *order);
/* A line for each setting that breaks the order. */
void order_breaks_print(FILE *out, const struct result *r, const char *before, const char *after);

typedef void results_writer(FILE *out, const struct results *results, const char *folder);
results_writer page_print, markdown_print;

#endif
