/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/state_bytes.h"

#include "state/second_moments.h"

static uint32_t tensors_present(const struct state *s)
{
    uint32_t count = 0;
    for (size_t t = 0; t < state_tensors(s->algo); t++)
        count += s->tensor[t].kind != ABSENT;
    return count;
}

static size_t tensor_cell(const struct tensor_place *p)
{
    return p->kind == PER_MODEL ? sizeof(double) : sizeof(real);
}

/* The numbers in order; symmetric matrices as their lower triangles. */
static void put_numbers(struct writer *w, const struct state *s, int tensor)
{
    const struct tensor_place *p = &s->tensor[tensor];
    size_t rows, columns;
    state_tensor_size(s, tensor, &rows, &columns);
    for (size_t i = 0; i < rows; i++) {
        size_t width = p->kind == MATRIX ? i % columns + 1 : columns;
        if (!w->bytes) {
            w->used += width * tensor_cell(p);
            continue;
        }
        for (size_t j = 0; j < width; j++) {
            double wide = state_get(s, tensor, i, j);
            real narrow = (real)wide;
            put(w, p->kind == PER_MODEL ? (void *)&wide : (void *)&narrow, tensor_cell(p));
        }
    }
}

void state_put(struct writer *w, const struct state *s)
{
    put_u32(w, covariance_saved(s));
    put_u32(w, tensors_present(s));
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        if (s->tensor[t].kind == ABSENT)
            continue;
        size_t rows, columns;
        state_tensor_size(s, (int)t, &rows, &columns);
        put_text(w, s->algo->tensors[t].name);
        put_u64(w, rows);
        put_u64(w, columns);
        put_numbers(w, s, (int)t);
    }
    size_t extra = s->extra && state_extra(s)->size ? state_extra(s)->size(s) : 0;
    put_u64(w, extra);
    if (extra && w->bytes)
        state_extra(s)->write(s, w->bytes + w->used);
    w->used += extra;
}

/* Where a tensor's numbers are in the file, after its name and size were found to fit. */
static hunch_status take_tensor(struct reader *r, const struct state *s, int t, size_t cell, const char **ret_numbers,
                                hunch_error *reterr)
{
    const struct tensor_place *p = &s->tensor[t];
    size_t rows, columns;
    state_tensor_size(s, t, &rows, &columns);
    size_t length = take_u32(r);
    const char *name = take(r, length);
    bool same = name && length == strlen(s->algo->tensors[t].name) && !memcmp(name, s->algo->tensors[t].name, length);
    if (!same || take_u64(r) != rows || take_u64(r) != columns)
        return damaged(reterr, "a tensor does not fit its learner");
    size_t count = size_mul(rows, columns);
    if (p->kind == MATRIX) /* lower triangles */
        count = size_mul(p->groups, size_mul(columns, columns + 1) / 2);
    *ret_numbers = take(r, size_mul(count, p->kind == PER_MODEL ? sizeof(double) : cell));
    return *ret_numbers ? HUNCH_OK : damaged(reterr, "a tensor is cut");
}

static void numbers_copy(struct state *s, int t, const char *from, size_t cell)
{
    const struct tensor_place *p = &s->tensor[t];
    size_t rows, columns;
    state_tensor_size(s, t, &rows, &columns);
    if (p->kind == PER_MODEL)
        cell = sizeof(double);
    for (size_t i = 0; i < rows; i++) {
        size_t width = p->kind == MATRIX ? i % columns + 1 : columns;
        for (size_t j = 0; j < width; j++, from += cell) {
            double wide;
            float narrow;
            if (cell == sizeof wide) {
                memcpy(&wide, from, cell);
            } else {
                memcpy(&narrow, from, cell);
                wide = narrow;
            }
            state_set(s, t, i, j, wide);
        }
    }
}

hunch_status state_take(struct reader *r, struct state *s, uint32_t features, size_t cell, hunch_error *reterr)
{
    const char *numbers[MAX_TENSORS] = {NULL};
    hunch_status status = covariance_take_number(s, take_u32(r));
    if (status == HUNCH_EMODEL)
        return damaged(reterr, "it has a form that no learner has");
    if (status != HUNCH_OK)
        return error_set(reterr, status, "out of memory");
    if (take_u32(r) != tensors_present(s))
        return damaged(reterr, "it has other tensors than its learner");
    struct state sized = *s; /* its tensors have the size that those of s will have once the features are there */
    sized.features = features;
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        if (s->tensor[t].kind == ABSENT)
            continue;
        status = take_tensor(r, &sized, (int)t, cell, &numbers[t], reterr);
        if (status != HUNCH_OK)
            return status;
    }
    for (size_t t = 0; t < state_tensors(s->algo); t++) /* growth may ask them: which members are awake, say */
        if (numbers[t] && s->tensor[t].kind == PER_MODEL)
            numbers_copy(s, (int)t, numbers[t], cell);
    if (covariance_grow_as_is(s, features) != HUNCH_OK)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory for %u features", features);
    for (size_t t = 0; t < state_tensors(s->algo); t++)
        if (numbers[t])
            numbers_copy(s, (int)t, numbers[t], cell);
    uint64_t extra = take_u64(r);
    const void *bytes = take(r, extra);
    if (!bytes)
        return damaged(reterr, "its end is not where it should be");
    if (s->extra && state_extra(s)->read)
        return state_extra(s)->read(s, bytes, extra, reterr);
    return extra ? damaged(reterr, "it keeps what its learner does not") : HUNCH_OK;
}
