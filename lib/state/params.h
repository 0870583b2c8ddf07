/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings: "name:setting=value,..." to values checked against the algorithm's table, and back. */
#ifndef PARAMS_H
#define PARAMS_H

#include "state/algo.h"

extern const hunch_setting params_common[]; /* ties, normalize, bias, scale, map */

/* Set s->algo and all settings from the spec (NULL: the default learner). On failure nothing is left allocated. */
hunch_status params_parse(struct state *s, const char *spec, hunch_error *reterr);
void params_clear(struct state *s);
/* The full spec, defaults included; malloc'd, NULL when out of memory. */
char *params_print(const struct state *s);
/* The setting of that name, 0 where the algorithm has none; whether all settings but those are the same
 * (names, NULL behind them). */
double params_number(const struct state *s, const char *name);
bool params_alike(const struct state *a, const struct state *b, const char *const *but);

#endif
