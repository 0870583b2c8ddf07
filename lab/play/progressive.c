/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/progressive_common.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"

bool progressive_init(struct progressive *p, size_t learners, size_t runs)
{
    *p = (struct progressive){.learners = learners, .runs = runs};
    p->results = calloc(learners * runs + 1, sizeof *p->results);
    return p->results;
}

void progressive_free(struct progressive *p)
{
    for (size_t i = 0; p->results && i < p->learners * p->runs; i++)
        outcome_free(&p->results[i]);
    free(p->results);
    *p = (struct progressive){0};
}

hunch_status progressive_player(struct player *p, const struct progressive_options *options, size_t number,
                                const hunch_options *data, hunch_error *reterr)
{
    hunch_options o = *data;
    o.learner = options->loaded ? NULL : options->specs[number];
    o.classes = o.classes > options->classes ? o.classes : options->classes;
    o.classes = o.classes ? o.classes : 1;
    o.max_features = options->max_features;
    o.memory = options->memory;
    o.seed = options->seed;
    hunch_status status = player_create(p, &o, options->loaded, reterr);
    if (status)
        return status;
    p->number = number;
    p->tally.truth = options->truth;
    p->tally.per_class = options->per_class;
    p->tally.act_at = options->act_at;
    p->watch = options->watch;
    p->context = options->context;
    return options->taught ? player_teach(p, options->taught, reterr) : HUNCH_OK;
}

static hunch_status trials_make(struct progressive *p, const struct corpus *corpus,
                                const struct progressive_options *options, hunch_error *reterr)
{
    hunch_options learner = HUNCH_OPTIONS_INIT;
    struct trials_options trials_options = {.threads = options->threads,
                                            .stop = options->stop,
                                            .progress = options->progress,
                                            .context = options->context,
                                            .learner = &learner,
                                            .loaded = options->loaded,
                                            .keep_learner = options->keep,
                                            .per_class = options->per_class,
                                            .act_at = options->act_at,
                                            .whole = true,
                                            .runs = p->runs,
                                            .watch = options->watch,
                                            .taught = options->taught};
    struct trial *trials = calloc(p->learners * p->runs + 1, sizeof *trials);
    if (!trials)
        return error_memory(reterr);
    learner.classes = options->classes;
    learner.max_features = options->max_features;
    learner.memory = options->memory;
    for (size_t i = 0; i < p->learners * p->runs; i++)
        trials[i] = (struct trial){.corpus = corpus,
                                   .spec = options->loaded ? NULL : options->specs[i / p->runs],
                                   .seed = options->seed + i % p->runs,
                                   .passes = options->passes ? options->passes : 1,
                                   .shuffle = options->shuffle,
                                   .out = &p->results[i]};
    hunch_status status = trials_play(trials, p->learners * p->runs, &trials_options, &p->stopped, reterr);
    free(trials);
    return status;
}

hunch_status progressive_memory(struct progressive *ret, const struct dataset *data,
                                const struct progressive_options *options, hunch_error *reterr)
{
    struct corpus corpus = {.data = *data};
    if (options->truth)
        corpus.truth = *options->truth;
    struct progressive p;
    if (!progressive_init(&p, options->learners, options->runs ? options->runs : 1))
        return error_memory(reterr);
    hunch_status status = trials_make(&p, &corpus, options, reterr);
    if (status) {
        progressive_free(&p);
        return status;
    }
    p.stopped = progressive_stopped(options);
    *ret = p;
    return HUNCH_OK;
}
