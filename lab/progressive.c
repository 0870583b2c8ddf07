/* SPDX-License-Identifier: BSD-3-Clause */
#include "progressive_common.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

#define REPORT_NANOSECONDS 100000000

bool progressive_init(struct progressive *p, size_t learners, size_t runs)
{
    *p = (struct progressive){.learners = learners, .runs = runs};
    p->results = calloc(learners * runs + 1, sizeof *p->results);
    return p->results;
}

void progressive_free(struct progressive *p)
{
    for (size_t i = 0; p->results && i < p->learners * p->runs; i++) {
        free(p->results[i].spec);
        tally_free(&p->results[i].tally);
        hunch_free(p->results[i].learner);
    }
    free(p->results);
    *p = (struct progressive){0};
}

unsigned progressive_threads(const struct progressive_options *options, size_t useful)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = options->threads ? options->threads : cores > 0 ? (size_t)cores : 1;
    return (unsigned)(threads < useful ? threads : useful);
}

hunch_status player_create(struct player *p, const struct progressive_options *options, size_t number, size_t run,
                           uint32_t classes, uint32_t features, hunch_error *reterr)
{
    *p = (struct player){.number = number, .run = run, .watch = options->watch, .context = options->context};
    if (!tally_init(&p->tally))
        return fail_memory(reterr);
    if (options->loaded) {
        p->learner = options->loaded;
        return HUNCH_OK;
    }
    hunch_options o = HUNCH_OPTIONS_INIT;
    o.learner = options->specs[number];
    o.classes = classes > options->classes ? classes : options->classes;
    o.features = features;
    o.max_features = options->max_features;
    o.memory = options->memory;
    o.seed = options->seed + run;
    if (!o.classes)
        o.classes = 1;
    hunch_error why;
    hunch_status status = hunch_create(&p->learner, &o, &why);
    if (status) {
        tally_free(&p->tally);
        return fail_with(reterr, status, "%s: %s", options->specs[number], why.message);
    }
    return HUNCH_OK;
}

void player_free(struct player *p, const struct progressive_options *options)
{
    tally_free(&p->tally);
    if (p->learner != options->loaded)
        hunch_free(p->learner);
    p->learner = NULL;
}

hunch_status player_finish(struct player *p, const struct progressive_options *options, struct progressive *results,
                           hunch_error *reterr)
{
    struct progressive_result *r = &results->results[p->number * results->runs + p->run];
    char *spec = strdup(hunch_spec(p->learner));
    if (!spec) {
        player_free(p, options);
        return fail_memory(reterr);
    }
    tally_finish(&p->tally);
    *r = (struct progressive_result){.spec = spec,
                                     .tally = p->tally,
                                     .bytes = hunch_bytes(p->learner),
                                     .classes = hunch_classes(p->learner),
                                     .features = hunch_features(p->learner)};
    if (options->keep)
        r->learner = p->learner;
    else
        hunch_free(p->learner);
    *p = (struct player){0};
    return HUNCH_OK;
}

void progressive_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += REPORT_NANOSECONDS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_cond_timedwait(condition, mutex, &until);
}
