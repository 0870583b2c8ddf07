/* SPDX-License-Identifier: BSD-3-Clause */
#include "player.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

hunch_status player_create(struct player *p, const hunch_options *options, hunch *loaded, hunch_error *reterr)
{
    struct player made = {.learner = loaded, .borrowed = loaded};
    hunch_error why;
    if (!tally_init(&made.tally))
        return error_memory(reterr);
    hunch_status status = loaded ? HUNCH_OK : hunch_create(&made.learner, options, &why);
    if (status) {
        tally_free(&made.tally);
        return error_set(reterr, status, "%s: %s", options->learner, why.message);
    }
    *p = made;
    return HUNCH_OK;
}

static hunch_status player_fail(const struct player *p, hunch_status status, hunch_error *reterr)
{
    return error_set(reterr, status, "%s: %s", hunch_spec(p->learner), hunch_reason(p->learner));
}

hunch_status player_classes(struct player *p, uint32_t classes, hunch_error *reterr)
{
    uint32_t known = hunch_classes(p->learner);
    hunch_status status = classes > known ? hunch_add_classes(p->learner, classes - known) : HUNCH_OK;
    return status ? player_fail(p, status, reterr) : HUNCH_OK;
}

hunch_status player_play(struct player *p, const struct rows *block, const uint32_t *told, const atomic_bool *stop,
                         hunch_error *reterr)
{
    hunch_choice choices[PLAYER_ROWS];
    hunch_status status = HUNCH_OK;
    double began = clock_thread();
    for (size_t from = 0; !status && from < block->n; from += PLAYER_ROWS) {
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            break;
        size_t to = block->n - from > PLAYER_ROWS ? from + PLAYER_ROWS : block->n, done = 0;
        hunch_batch batch = rows_batch(block, from, to);
        const uint32_t *labels = block->label + from;
        status = hunch_run_batch(p->learner, &batch, told ? told + from : labels, choices, &done);
        tally_count(&p->tally, choices, labels, done);
        if (p->watch)
            p->watch(p->context, &(struct player_rounds){p->number, p->run, block, from, done, choices, labels});
    }
    p->tally.seconds += clock_thread() - began;
    return status ? player_fail(p, status, reterr) : HUNCH_OK;
}

hunch_status player_finish(struct player *p, bool keep, struct outcome *ret, hunch_error *reterr)
{
    char *spec = strdup(hunch_spec(p->learner));
    if (!spec) {
        player_free(p);
        return error_memory(reterr);
    }
    tally_finish(&p->tally);
    *ret = (struct outcome){.spec = spec,
                            .tally = p->tally,
                            .test_mistakes = ret->test_mistakes,
                            .bytes = hunch_bytes(p->learner),
                            .classes = hunch_classes(p->learner),
                            .features = hunch_features(p->learner),
                            .learner = keep ? p->learner : NULL};
    if (!keep)
        hunch_free(p->learner);
    *p = (struct player){0};
    return HUNCH_OK;
}

void player_free(struct player *p)
{
    tally_free(&p->tally);
    if (!p->borrowed)
        hunch_free(p->learner);
    *p = (struct player){0};
}

void outcome_free(struct outcome *o)
{
    free(o->spec);
    tally_free(&o->tally);
    hunch_free(o->learner);
    *o = (struct outcome){0};
}
