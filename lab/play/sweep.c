/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/sweep.h"

#include <stdlib.h>

#include "base/error.h"

/* The lowest mean error among the settings that have as many runs as any. */
static size_t best_find(const struct summary *entries, size_t n)
{
    size_t best = SIZE_MAX, max = 0;
    for (size_t i = 0; i < n; i++)
        max = entries[i].runs > max ? entries[i].runs : max;
    for (size_t i = 0; max && i < n; i++)
        if (entries[i].runs == max && (best == SIZE_MAX || entries[i].error < entries[best].error))
            best = i;
    return best;
}

static bool sweep_init(struct sweep *s, const struct grid *grids, size_t learners, size_t runs)
{
    size_t points = 0;
    *s = (struct sweep){.grids = grids, .learners = learners, .runs = runs};
    s->first = calloc(learners + 1, sizeof *s->first);
    s->best = calloc(learners + 1, sizeof *s->best);
    for (size_t i = 0; s->first && i < learners; i++) {
        s->first[i] = points;
        points += grids[i].n;
    }
    if (s->first)
        s->first[learners] = points;
    s->outcomes = calloc(points * runs + 1, sizeof *s->outcomes);
    s->trials = calloc(points * runs + 1, sizeof *s->trials);
    s->entries = calloc(points + 1, sizeof *s->entries);
    return s->first && s->best && s->outcomes && s->trials && s->entries;
}

static hunch_status sweep_cells(struct sweep *s, const struct sweep_input *input, const struct sweep_options *options,
                                hunch_error *reterr)
{
    size_t at = 0;
    for (size_t i = 0; i < s->learners; i++)
        for (size_t p = 0; p < s->grids[i].n; p++)
            for (size_t r = 0; r < s->runs; r++, at++)
                s->trials[at] = (struct trial){.corpus = &input->corpora[input->n > 1 ? r : 0],
                                               .spec = s->grids[i].points[p].spec,
                                               .seed = options->seed + r,
                                               .passes = options->passes ? options->passes : 1,
                                               .shuffle = options->shuffle,
                                               .out = &s->outcomes[at]};
    return trials_play(s->trials, at, &options->trials, &s->stopped, reterr);
}

hunch_status sweep_play(struct sweep *ret, const struct sweep_input *input, const struct sweep_options *options,
                        hunch_error *reterr)
{
    struct sweep s;
    bool good = sweep_init(&s, input->grids, input->learners, options->runs ? options->runs : 1);
    hunch_status status = good ? sweep_cells(&s, input, options, reterr) : error_memory(reterr);
    if (status) {
        sweep_free(&s);
        return status;
    }
    for (size_t i = 0; i < s.first[s.learners]; i++)
        s.entries[i] = summary_make(&s.outcomes[i * s.runs], s.runs);
    for (size_t i = 0; i < s.learners; i++)
        s.best[i] = best_find(&s.entries[s.first[i]], s.grids[i].n);
    *ret = s;
    return HUNCH_OK;
}

void sweep_free(struct sweep *s)
{
    size_t points = s->first ? s->first[s->learners] : 0;
    for (size_t i = 0; s->outcomes && i < points * s->runs; i++)
        outcome_free(&s->outcomes[i]);
    free(s->outcomes);
    free(s->trials);
    free(s->entries);
    free(s->first);
    free(s->best);
    *s = (struct sweep){0};
}

bool sweep_curve(const struct sweep *s, size_t learner, size_t point, struct curve *ret)
{
    return curve_mean(ret, &s->outcomes[(s->first[learner] + point) * s->runs], s->runs);
}
