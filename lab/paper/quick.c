/* SPDX-License-Identifier: BSD-3-Clause */
/* The small versions of --quick against the numbers committed for them in quick.json. */
#include <math.h>
#include <stdio.h>

#include "paper/reproduce.h"

json_t *quick_make(const struct results *results)
{
    json_t *all = json_object();
    for (size_t i = 0; i < results->experiments.n; i++) {
        const struct result *r = &results->experiments.item[i];
        json_t *numbers = json_object();
        for (size_t j = 0; j < r->tables.n; j++) {
            const struct table *t = &r->tables.item[j];
            json_t *of_data = json_object();
            for (size_t k = 0; k < t->lines.n; k++) {
                const struct line *l = &t->lines.item[k];
                if (l->best)
                    json_object_set_new(of_data, l->learner,
                                        json_pack("[f,f]", round(1e4 * l->mean) / 1e4, round(1e4 * l->sd) / 1e4));
            }
            json_object_set_new(numbers, t->data, of_data);
        }
        json_object_set_new(all, r->id, numbers);
    }
    return all;
}

static double number_or(const json_t *object, const char *key, double fallback)
{
    const json_t *number = json_object_get(object, key);
    return json_is_number(number) ? json_number_value(number) : fallback;
}

/* known: mean and standard deviation. Other compilers and processors may round differently, and one different choice
 * leads to a different run; and a change of a learner need not come with new numbers unless it shows. So the tolerance
 * is relative, at least some points, and some standard deviations. */
static void line_mark(struct line *l, const json_t *known, const json_t *expected, bool improves)
{
    double want = json_number_value(json_array_get(known, 0));
    double sd = fmax(json_number_value(json_array_get(known, 1)), l->sd);
    double tolerance = fmax(number_or(expected, "relative", 0.2) * fabs(want), number_or(expected, "points", 0.5)) +
                       number_or(expected, "deviations", 3) * sd;
    l->expected = want;
    l->difference = l->mean - want;
    l->verdict = fabs(l->difference) <= tolerance ? VERDICT_EXPECTED
                 : improves && l->difference < 0  ? VERDICT_BETTER
                                                  : VERDICT_OFF;
}

size_t quick_mark(struct result *result, const json_t *expected, FILE *out)
{
    const json_t *numbers = json_object_get(json_object_get(expected, "numbers"), result->id);
    size_t *counts = result->verdicts;
    for (size_t i = 0; i < result->tables.n; i++) {
        struct table *t = &result->tables.item[i];
        const json_t *of_data = json_object_get(numbers, t->data);
        for (size_t j = 0; j < t->lines.n; j++) {
            struct line *l = &t->lines.item[j];
            const json_t *known = json_object_get(of_data, l->learner);
            if (!l->best || !json_is_array(known))
                continue;
            line_mark(l, known, expected, result->improves);
            counts[l->verdict]++;
            if (l->verdict == VERDICT_OFF && out)
                fprintf(out, "hunch: %s, %s, %s: %.4g where %.4g was expected\n", result->id, t->data, l->learner,
                        l->mean, l->expected);
        }
    }
    result->verdict = counts[VERDICT_OFF]                                     ? VERDICT_OFF
                      : counts[VERDICT_EXPECTED] + counts[VERDICT_BETTER] > 0 ? VERDICT_EXPECTED
                                                                              : VERDICT_APART;
    return counts[VERDICT_OFF];
}
