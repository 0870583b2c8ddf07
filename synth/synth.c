/* SPDX-License-Identifier: BSD-3-Clause */
#include "synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rows.h"
#include "base/decimal.h"
#include "base/error.h"
#include "synth_set.h"

static const struct synth_set *const sets[] = {
    &synth_synsep,    &synth_synnonsep, &synth_confidit, &synth_separable_strong, &synth_separable_weak,
    &synth_zipf,      &synth_dense,     &synth_linear,   &synth_margin,           &synth_halfspaces,
    &synth_adversary, &synth_permuted,  &synth_rotating,
};
#define SETS (sizeof sets / sizeof *sets)

float synth_round(double value, int digits)
{
    double size = fabs(value), limit = decimal_powers[digits];
    int places = 0;
    if (!(size > 1e-8))
        return 0;
    while (places < 10 && round(size * decimal_powers[places + 1]) < limit)
        places++;
    /* both are exact floats, so the quotient is what reading the text gives */
    float rounded = (float)round(size * decimal_powers[places]) / (float)decimal_powers[places];
    return value < 0 ? -rounded : rounded;
}

double synth_gaussian(struct rng *state)
{
    double u = rng_uniform(state), v = rng_uniform(state);
    return sqrt(-2 * log(1 - u)) * cos(6.283185307179586 * v);
}

size_t synth_kinds(const struct synth_kind *const **ret)
{
    static const struct synth_kind *const kinds[SETS] = {
        &synth_synsep.kind,         &synth_synnonsep.kind,  &synth_confidit.kind,  &synth_separable_strong.kind,
        &synth_separable_weak.kind, &synth_zipf.kind,       &synth_dense.kind,     &synth_linear.kind,
        &synth_margin.kind,         &synth_halfspaces.kind, &synth_adversary.kind, &synth_permuted.kind,
        &synth_rotating.kind,
    };
    *ret = kinds;
    return SETS;
}

static const struct synth_set *set_find(const char *name)
{
    for (size_t i = 0; i < SETS; i++)
        if (strcmp(sets[i]->kind.name, name) == 0)
            return sets[i];
    return NULL;
}

const struct synth_kind *synth_find(const char *name)
{
    const struct synth_set *set = set_find(name);
    return set ? &set->kind : NULL;
}

static hunch_status options_check(const struct synth_kind *kind, const struct synth_options *o, hunch_error *reterr)
{
    if (o->rows == 0)
        return error_set(reterr, HUNCH_EINVAL, "%s: rows must be at least 1", kind->name);
    if (!(o->noise >= 0 && o->noise <= 1))
        return error_set(reterr, HUNCH_EINVAL, "%s: noise must be between 0 and 1", kind->name);
    if (!kind->sizable && (o->features != kind->defaults.features || o->classes != kind->defaults.classes))
        return error_set(reterr, HUNCH_EINVAL, "%s always has %u features and %u classes", kind->name,
                         kind->defaults.features, kind->defaults.classes);
    if (o->features < 1 || o->features > HUNCH_MAX_FEATURES)
        return error_set(reterr, HUNCH_EINVAL, "%s: features must be 1 to %u", kind->name, HUNCH_MAX_FEATURES);
    if (o->classes < 1 || o->classes > HUNCH_MAX_CLASSES)
        return error_set(reterr, HUNCH_EINVAL, "%s: classes must be 1 to %u", kind->name, HUNCH_MAX_CLASSES);
    if (!(o->nonzeros >= 1 && o->nonzeros <= o->features))
        return error_set(reterr, HUNCH_EINVAL, "%s: nonzeros must be between 1 and the features", kind->name);
    if (!(o->exponent >= 0 && o->exponent <= 10))
        return error_set(reterr, HUNCH_EINVAL, "%s: exponent must be between 0 and 10", kind->name);
    if (!(o->margin >= 0 && o->margin < 1))
        return error_set(reterr, HUNCH_EINVAL, "%s: margin must be from 0 to below 1", kind->name);
    return HUNCH_OK;
}

static hunch_status labels_make(struct synth *s, hunch_error *reterr)
{
    s->labels = names_new();
    for (uint32_t k = 0; s->labels && k < s->classes; k++) {
        char text[16];
        int length = snprintf(text, sizeof text, "%u", k + 1);
        if (names_add(s->labels, text, (size_t)length) != k)
            return error_memory(reterr);
    }
    return s->labels ? HUNCH_OK : error_memory(reterr);
}

hunch_status synth_open(struct synth **ret, const char *name, const struct synth_options *options, hunch_error *reterr)
{
    const struct synth_set *set = set_find(name);
    if (!set)
        return error_set(reterr, HUNCH_EINVAL, "there is no synthetic set '%s'", name);
    hunch_status status = options_check(&set->kind, options, reterr);
    if (status)
        return status;
    struct synth *s = calloc(1, sizeof *s);
    if (!s)
        return error_memory(reterr);
    s->set = set;
    s->options = *options;
    s->state.state = options->seed;
    s->noise_state.state = ~options->seed;
    s->features = options->features;
    s->classes = options->classes;
    s->max = options->features;
    status = set->begin(s, reterr);
    if (!status)
        status = labels_make(s, reterr);
    if (status) {
        synth_close(s);
        return status;
    }
    *ret = s;
    return HUNCH_OK;
}

hunch_status synth_record(struct synth *s, struct truth *t, hunch_error *reterr)
{
    if (!s->set->truth)
        return error_set(reterr, HUNCH_EUNSUPPORTED, "%s: the probabilities of its labels are unknown",
                         s->set->kind.name);
    t->classes = s->classes;
    s->truth = t;
    return HUNCH_OK;
}

static hunch_status truth_add(struct synth *s, hunch_error *reterr)
{
    struct truth *t = s->truth;
    if (!truth_reserve(t))
        return error_memory(reterr);
    t->best[t->n] = s->set->truth(s, t->chance + t->n * t->classes);
    t->n++;
    return HUNCH_OK;
}

hunch_status synth_next(struct synth *s, size_t max_rows, struct rows *batch, hunch_error *reterr)
{
    rows_clear(batch);
    if (max_rows == 0)
        max_rows = 32768 / s->max + 1;
    if (max_rows > s->options.rows - s->row)
        max_rows = (size_t)(s->options.rows - s->row);
    hunch_status status = rows_reserve(batch, max_rows, s->max, reterr);
    for (size_t i = 0; i < max_rows && !status; i++) {
        size_t begin = (size_t)batch->start[i];
        status = rows_reserve(batch, max_rows, begin + s->max, reterr);
        if (status)
            break;
        size_t n = s->set->row(s, batch->index + begin, batch->value + begin, &batch->label[i]);
        if (s->truth)
            status = truth_add(s, reterr);
        batch->line[i] = ++s->row;
        batch->start[++batch->n] = (int64_t)(begin + n);
    }
    rows_measure(batch);
    return status;
}

void synth_close(struct synth *s)
{
    if (!s)
        return;
    if (s->set->end)
        s->set->end(s);
    names_free(s->labels);
    free(s);
}

const struct names *synth_labels(const struct synth *s)
{
    return s->labels;
}

uint32_t synth_features(const struct synth *s)
{
    return s->features;
}
