/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "statistics.h"

static bool entry_make(struct entry *e, const struct cell *cells, size_t runs)
{
    *e = (struct entry){.errors = calloc(runs + 1, sizeof(double))};
    if (!e->errors)
        return false;
    for (size_t i = 0; i < runs; i++) {
        const struct cell *c = &cells[i];
        if (!c->done)
            continue;
        double rounds = (double)c->rounds;
        e->errors[e->runs++] = (double)c->mistakes / rounds;
        e->greedy += (double)c->greedy_mistakes / rounds;
        e->explored += (double)c->explored / rounds;
        e->rounds = rounds;
        e->seconds += c->seconds;
    }
    if (!e->runs)
        return true;
    e->error = statistics_mean(e->errors, e->runs);
    e->sd = statistics_sd(e->errors, e->runs);
    e->greedy /= (double)e->runs;
    e->explored /= (double)e->runs;
    return true;
}

/* The lowest mean error among the settings that have as many runs as any. */
static size_t best_find(const struct entry *entries, size_t n)
{
    size_t best = SIZE_MAX, most = 0;
    for (size_t i = 0; i < n; i++)
        most = entries[i].runs > most ? entries[i].runs : most;
    for (size_t i = 0; most && i < n; i++)
        if (entries[i].runs == most && (best == SIZE_MAX || entries[i].error < entries[best].error))
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
    s->cells = calloc(points * runs + 1, sizeof *s->cells);
    s->entries = calloc(points + 1, sizeof *s->entries);
    return s->first && s->best && s->cells && s->entries;
}

static void cells_name(struct sweep *s, const struct corpus *const *corpora, size_t n,
                       const struct sweep_options *options)
{
    for (size_t i = 0; i < s->learners; i++)
        for (size_t p = 0; p < s->grids[i].n; p++)
            for (size_t r = 0; r < s->runs; r++)
                s->cells[(s->first[i] + p) * s->runs + r] =
                    (struct cell){.corpus = corpora[n > 1 ? r : 0],
                                  .spec = s->grids[i].points[p].spec,
                                  .seed = options->seed + r,
                                  .passes = options->passes ? options->passes : 1,
                                  .shuffle = options->shuffle};
}

hunch_status sweep_play(struct sweep *ret, const struct corpus *const *corpora, size_t n, const struct grid *grids,
                        size_t learners, const struct sweep_options *options, hunch_error *reterr)
{
    struct sweep s;
    hunch_status status = HUNCH_OK;
    if (!sweep_init(&s, grids, learners, options->runs ? options->runs : 1)) {
        sweep_free(&s);
        return fail_memory(reterr);
    }
    cells_name(&s, corpora, n, options);
    status = cells_play(s.cells, s.first[learners] * s.runs, &options->cells, &s.stopped, reterr);
    for (size_t i = 0; i < s.first[learners] && !status; i++)
        if (!entry_make(&s.entries[i], &s.cells[i * s.runs], s.runs))
            status = fail_memory(reterr);
    if (status) {
        sweep_free(&s);
        return status;
    }
    for (size_t i = 0; i < learners; i++)
        s.best[i] = best_find(&s.entries[s.first[i]], grids[i].n);
    *ret = s;
    return HUNCH_OK;
}

void sweep_free(struct sweep *s)
{
    size_t points = s->first ? s->first[s->learners] : 0;
    for (size_t i = 0; s->cells && i < points * s->runs; i++)
        cell_free(&s->cells[i]);
    for (size_t i = 0; s->entries && i < points; i++)
        free(s->entries[i].errors);
    free(s->cells);
    free(s->entries);
    free(s->first);
    free(s->best);
    *s = (struct sweep){0};
}

bool curve_mean(struct curve *ret, const struct cell *cells, size_t n, size_t apart)
{
    size_t points = SIZE_MAX, done = 0;
    for (size_t i = 0; i < n; i++)
        if (cells[i * apart].done && cells[i * apart].points < points)
            points = cells[i * apart].points;
    if (points == SIZE_MAX || !points)
        return false;
    struct curve c = {points, calloc(4 * points, sizeof(double)), NULL, NULL, NULL};
    if (!c.round)
        return false;
    c.error = c.round + points;
    c.greedy = c.error + points;
    c.explored = c.greedy + points;
    for (size_t i = 0; i < n; i++) {
        const struct cell *cell = &cells[i * apart];
        if (!cell->done)
            continue;
        done++;
        for (size_t j = 0; j < points; j++) {
            double round = (double)cell->curve[j].round;
            c.round[j] = round;
            c.error[j] += (double)cell->curve[j].mistakes / round;
            c.greedy[j] += (double)cell->curve[j].greedy_mistakes / round;
            c.explored[j] += (double)cell->curve[j].explored / round;
        }
    }
    for (size_t j = 0; j < 3 * points; j++)
        c.error[j] /= (double)done;
    *ret = c;
    return true;
}

bool sweep_curve(const struct sweep *s, size_t learner, size_t point, struct curve *ret)
{
    return curve_mean(ret, &s->cells[(s->first[learner] + point) * s->runs], s->runs, 1);
}

void curve_free(struct curve *c)
{
    free(c->round);
    *c = (struct curve){0};
}
