/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/error.h"

#define FORMAT 4 /* of what is hashed and kept; a new number makes old results unknown */

/* The spec in full, so that a default written out is the same learner. */
static char *spec_full(const char *spec, hunch_error *reterr)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error why;
    hunch *h;
    options.learner = spec;
    hunch_status status = hunch_create(&h, &options, &why);
    if (status) {
        error_set(reterr, status, "%s: %s", spec, why.message);
        return NULL;
    }
    char *full = strdup(hunch_spec(h));
    hunch_free(h);
    return full;
}

static uint64_t numbers_hash(const uint32_t *numbers, size_t n)
{
    return numbers ? XXH3_64bits(numbers, n * sizeof *numbers) : 0;
}

static void part_print(FILE *out, const struct trial *c)
{
    const struct part *p = c->part;
    size_t rows = c->corpus->data.rows.n;
    fprintf(out, "part %u %016llx %016llx %u %016llx %016llx\n", p->n, (unsigned long long)numbers_hash(p->rows, p->n),
            (unsigned long long)numbers_hash(p->revealed, rows), p->tests,
            (unsigned long long)numbers_hash(p->test, p->tests), (unsigned long long)numbers_hash(p->test_label, rows));
}

const struct truth *trial_truth(const struct trial *c)
{
    return c->corpus->truth.n && !c->shuffle && !c->part ? &c->corpus->truth : NULL;
}

hunch_status trial_key(struct trial *c, hunch_error *reterr)
{
    char *spec = spec_full(c->spec, reterr), *text = NULL;
    size_t length;
    if (!spec)
        return HUNCH_EINVAL;
    FILE *out = open_memstream(&text, &length);
    if (!out) {
        free(spec);
        return error_memory(reterr);
    }
    fprintf(out, "hunch trial %d\nversion %s\nlibrary %s\nlearner %s\ndata %s\nseed %llu\npasses %u\nshuffle %d\n",
            FORMAT, hunch_version(), store_fingerprint(), spec, c->corpus->sum, (unsigned long long)c->seed, c->passes,
            c->shuffle);
    if (trial_truth(c))
        fputs("regret\n", out);
    if (c->part)
        part_print(out, c);
    free(spec);
    if (fclose(out)) {
        free(text);
        return error_memory(reterr);
    }
    corpus_hash(text, length, c->key);
    free(text);
    return HUNCH_OK;
}

json_t *trial_json(const struct trial *c)
{
    const struct tally *t = &c->out->tally;
    json_t *curve = json_array();
    for (size_t i = 0; i < t->points; i++) {
        const struct tally_point *p = &t->curve[i];
        json_array_append_new(curve, json_pack("[I,I,I,I,f]", (json_int_t)p->round, (json_int_t)p->mistakes,
                                               (json_int_t)p->greedy_mistakes, (json_int_t)p->explored, p->regret));
    }
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o}", "learner", c->spec, "rounds",
                     (json_int_t)t->rounds, "mistakes", (json_int_t)t->mistakes, "greedy_mistakes",
                     (json_int_t)t->greedy_mistakes, "explored", (json_int_t)t->explored, "test_mistakes",
                     (json_int_t)c->out->test_mistakes, "bytes", (json_int_t)c->out->bytes, "regret", t->regret,
                     "balanced", t->balanced, "discovery", t->discovery, "seconds", t->seconds, "curve", curve);
}

static bool point_read(struct tally_point *ret, const json_t *json)
{
    json_int_t v[4];
    double regret;
    if (json_unpack((json_t *)json, "[I,I,I,I,F]", &v[0], &v[1], &v[2], &v[3], &regret) || v[0] <= 0)
        return false;
    *ret = (struct tally_point){(uint64_t)v[0], (uint64_t)v[1], (uint64_t)v[2], (uint64_t)v[3], regret};
    return true;
}

bool trial_read(struct trial *c, const json_t *json)
{
    json_int_t rounds, mistakes, greedy, explored, test, bytes;
    struct tally t = {0};
    json_t *curve;
    if (json_unpack((json_t *)json, "{s:I, s:I, s:I, s:I, s:I, s:I, s:F, s:F, s:F, s:F, s:o}", "rounds", &rounds,
                    "mistakes", &mistakes, "greedy_mistakes", &greedy, "explored", &explored, "test_mistakes", &test,
                    "bytes", &bytes, "regret", &t.regret, "balanced", &t.balanced, "discovery", &t.discovery, "seconds",
                    &t.seconds, "curve", &curve) ||
        !json_is_array(curve) || rounds <= 0)
        return false;
    t.points = json_array_size(curve);
    t.curve = calloc(t.points + 1, sizeof *t.curve);
    bool good = t.curve;
    for (size_t i = 0; good && i < t.points; i++)
        good = point_read(&t.curve[i], json_array_get(curve, i));
    if (!good) {
        free(t.curve);
        return false;
    }
    t.rounds = (uint64_t)rounds;
    t.mistakes = (uint64_t)mistakes;
    t.greedy_mistakes = (uint64_t)greedy;
    t.explored = (uint64_t)explored;
    outcome_free(c->out);
    *c->out = (struct outcome){.tally = t, .test_mistakes = (uint64_t)test, .bytes = (uint64_t)bytes};
    c->done = c->cached = true;
    return true;
}
