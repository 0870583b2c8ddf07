/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cluster/arithmetic.h"

#define ROUNDS 64
#define COLUMNS 16

/* Whole numbers by a linear congruence, so that nothing of the test itself can differ. */
static float test_value(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (float)((int)(*state >> 56) - 128) / 64;
}

static bool play(hunch *h, uint32_t classes, uint64_t *ret)
{
    float values[COLUMNS], *scores = malloc(classes * sizeof *scores);
    uint64_t random = 1, hash = 0;
    bool ok = scores != NULL;
    for (int i = 0; ok && i < ROUNDS; i++) {
        hunch_choice choice;
        for (size_t c = 0; c < COLUMNS; c++)
            values[c] = test_value(&random);
        const hunch_vec x = {NULL, values, COLUMNS};
        ok = hunch_predict(h, &x, &choice) == HUNCH_OK &&
             hunch_feedback(h, &x, &choice, choice.label == (uint32_t)i % classes) == HUNCH_OK &&
             hunch_scores(h, &x, scores) == HUNCH_OK;
        hash = XXH3_64bits_withSeed(&choice, sizeof choice, hash);
        hash = XXH3_64bits_withSeed(scores, classes * sizeof *scores, hash);
    }
    free(scores);
    *ret = hash & INT64_MAX; /* a JSON integer */
    return ok;
}

bool arithmetic_of(const struct settings *s, uint64_t *ret, struct http_error *err)
{
    hunch_options o = HUNCH_OPTIONS_INIT;
    hunch_error error = {{0}};
    hunch *h = NULL;
    o.learner = s->learner;
    o.classes = names_count(s->labels);
    o.memory = s->memory;
    o.seed = 1;
    bool ok = hunch_create(&h, &o, &error) == HUNCH_OK && play(h, o.classes, ret);
    hunch_free(h);
    return ok || http_error_set(err, 503, "bad_learner", "%s", error.message);
}
