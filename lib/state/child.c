/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/child.h"

#include <stdlib.h>
#include <string.h>

#include "state/state_bytes.h"
#include "state/second_moments.h"
#include "state/explore.h"
#include "state/params.h"

static hunch_status settings_check(const struct state *s, hunch_error *reterr)
{
    if (s->normalize || s->bias != 0 || s->floor > 0)
        return error_set(reterr, HUNCH_EINVAL,
                         "%s: set normalize, bias and floor outside of the members, for all of them",
                         s->algo->info.name);
    return HUNCH_OK;
}

hunch_status child_create(struct state **ret, const char *spec, const struct state *parent, hunch_error *reterr)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    s->K = parent->K;
    s->memory = parent->memory;
    s->rng = parent->rng;
    hunch_status status = params_parse(s, spec, reterr);
    if (status != HUNCH_OK)
        goto fail_empty;
    s->text = parent->text;
    s->repeated = parent->repeated;
    s->mapped = s->map ? parent->mapped : 0;
    s->expected = parent->expected;
    status = settings_check(s, reterr);
    if (status == HUNCH_OK)
        status = state_init(s, reterr);
    if (status != HUNCH_OK)
        goto fail_params;
    *ret = s;
    return HUNCH_OK;
fail_params:
    params_clear(s);
fail_empty:
    free(s);
    return status;
}

void child_free(struct state *child)
{
    if (!child)
        return;
    state_clear(child);
    params_clear(child);
    free(child);
}

/* By way of the bytes that a model would have. */
static hunch_status bytes_copy(struct state *copy, const struct state *child)
{
    size_t size = child_size(child);
    void *bytes = malloc(size);
    if (!bytes)
        return HUNCH_ENOMEM;
    child_write(child, bytes);
    hunch_status status = child_read(copy, bytes, size, NULL);
    free(bytes);
    return status;
}

hunch_status child_copy(struct state **ret, const struct state *child)
{
    struct state *copy = NULL;
    char *spec = params_print(child);
    hunch_status status = spec ? child_create(&copy, spec, child, NULL) : HUNCH_ENOMEM;
    free(spec);
    if (status == HUNCH_OK && state_is_plain(copy) && state_is_plain(child)) {
        status = covariance_take_number(copy, covariance_saved(child));
        if (status == HUNCH_OK)
            status = state_grow_features(copy, child->features);
        if (status == HUNCH_OK)
            state_copy(copy, child);
    } else if (status == HUNCH_OK) {
        status = bytes_copy(copy, child);
    }
    if (copy && status == HUNCH_OK) {
        copy->repeated = child->repeated;
        *ret = copy;
    } else {
        child_free(copy);
    }
    return status;
}

hunch_status child_follow(struct state **inout, const struct state *other)
{
    struct state *child = *inout, *copy = NULL;
    hunch_status status;
    if (state_is_plain(child) && state_is_plain(other) && state_is_laid_alike(child, other) &&
        child->features <= other->features) {
        status = state_grow_features(child, other->features);
        if (status == HUNCH_OK)
            state_copy(child, other);
        return status;
    }
    status = child_copy(&copy, other);
    if (status != HUNCH_OK)
        return status;
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): child_copy has made one
    memcpy(copy->set, child->set, sizeof copy->set);
    child_free(child);
    *inout = copy;
    return HUNCH_OK;
}

uint32_t child_advice(const struct state *child, const struct vec *x, real *scratch)
{
    child->algo->scores(child, x, scratch);
    return explore_best(child, scratch);
}

/* --- bytes --- */

static void child_put(struct writer *w, const struct state *child)
{
    put_u32(w, sizeof(real));
    put_u32(w, child->features);
    put_u64(w, child->round);
    put_u64(w, child->rng.state);
    state_put(w, child);
}

size_t child_size(const struct state *child)
{
    struct writer w = {NULL, 0};
    child_put(&w, child);
    return w.used;
}

void child_write(const struct state *child, void *bytes)
{
    struct writer w = {bytes, 0};
    child_put(&w, child);
}

hunch_status child_read(struct state *child, const void *bytes, size_t size, hunch_error *reterr)
{
    struct reader r = {bytes, size, false};
    uint32_t cell = take_u32(&r), features = take_u32(&r);
    uint64_t round = take_u64(&r), rng = take_u64(&r);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): child_create has made it
    if (r.short_of || (cell != 4 && cell != 8) || features < child->features || features > HUNCH_MAX_FEATURES + 1)
        return damaged(reterr, "a member is invalid");
    hunch_status status = state_take(&r, child, features, cell, reterr);
    if (status != HUNCH_OK)
        return status;
    if (r.left)
        return damaged(reterr, "a member has another length than stated");
    child->round = round;
    child->rng.state = rng;
    return HUNCH_OK;
}
