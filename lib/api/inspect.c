/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking inside a learner: its tensors by name, and the caller's bytes kept with it. */
#include <stdlib.h>
#include <string.h>

#include "api/learner.h"

/* A learner over others tells its own tensors, then those of the one within that leads. */
static const struct state *state_within(const struct state *s)
{
    return s->extra && state_extra(s)->shown ? state_extra(s)->shown(s) : NULL;
}

/* Where a front stands before the learner, rows of features are columns: the constant and what a map made are left out.
 */
static size_t rows_before(const hunch *h, const struct state *s, size_t t)
{
    return h->state.scale && s->tensor[t].kind == PER_FEATURE ? (size_t)s->mapped + 1 : 0;
}

static void tensor_size(const hunch *h, const struct state *s, size_t t, size_t *ret_rows, size_t *ret_columns)
{
    size_t before = rows_before(h, s, t);
    state_tensor_size(s, (int)t, ret_rows, ret_columns);
    *ret_rows = *ret_rows > before ? *ret_rows - before : 0;
}

/* Tensors that the settings leave out do not exist for the caller. */
size_t hunch_tensors(const hunch *h, size_t i, hunch_tensor *ret)
{
    size_t count = 0;
    for (const struct state *s = &h->state; s; s = s == &h->state ? state_within(s) : NULL)
        for (size_t t = 0; t < state_tensors(s->algo); t++) {
            if (s->tensor[t].kind == ABSENT)
                continue;
            if (count++ == i && ret) {
                ret->name = s->algo->tensors[t].name;
                tensor_size(h, s, t, &ret->rows, &ret->columns);
            }
        }
    return count;
}

static hunch_status tensor_get(const hunch *h, const struct state *s, size_t t, size_t row, size_t column, double *ret)
{
    size_t rows, columns;
    tensor_size(h, s, t, &rows, &columns);
    if (row >= rows || column >= columns)
        return HUNCH_EINVAL;
    *ret = state_get(s, (int)t, row + rows_before(h, s, t), column);
    return HUNCH_OK;
}

hunch_status hunch_get(const hunch *h, const char *name, size_t row, size_t column, double *ret)
{
    for (const struct state *s = &h->state; s; s = s == &h->state ? state_within(s) : NULL)
        for (size_t t = 0; t < state_tensors(s->algo); t++)
            if (s->tensor[t].kind != ABSENT && !strcmp(s->algo->tensors[t].name, name))
                return tensor_get(h, s, t, row, column, ret);
    return HUNCH_EINVAL;
}

static const double *decay_of(const struct state *s)
{
    const hunch_setting *settings = s->algo->info.settings;
    for (int i = 0; settings[i].name; i++)
        if (!strcmp(settings[i].name, "decay"))
            return &s->set[i].number;
    return NULL;
}

hunch_status hunch_get_drift(const hunch *h, hunch_drift *ret)
{
    const struct state *leader = state_within(&h->state);
    const double *decay = decay_of(leader ? leader : &h->state);
    double restarts = 0, last = 0;
    bool restarting =
        hunch_get(h, "restarts", 0, 0, &restarts) == HUNCH_OK && hunch_get(h, "last_restart", 0, 0, &last) == HUNCH_OK;
    if (!restarting && !decay)
        return HUNCH_EUNSUPPORTED;
    *ret = (hunch_drift){(uint64_t)restarts, restarts > 0 ? (uint64_t)last : 0, decay ? *decay : 0};
    return HUNCH_OK;
}

hunch_status hunch_get_weight(const hunch *h, uint32_t feature, double *ret)
{
    if (!h->state.scale || !(h->front.map.kind & MAP_FOURIER) || !h->state.algo->lead)
        return HUNCH_EUNSUPPORTED;
    if (feature >= hunch_features(h))
        return HUNCH_EINVAL;
    const struct scale *c = &h->front.scale;
    if (scale_is_mixed(c))
        feature = scale_has_ordinal(c, feature) ? c->ordinal[feature] : UINT32_MAX;
    *ret = feature < h->front.relevance.room ? (double)h->front.relevance.weight[feature] : 1;
    return HUNCH_OK;
}

static struct meta *meta_find(const hunch *h, const char *key)
{
    for (size_t i = 0; i < h->metas; i++)
        if (!strcmp(h->meta[i].key, key))
            return &h->meta[i];
    return NULL;
}

const void *hunch_get_meta(const hunch *h, const char *key, size_t *ret_size)
{
    const struct meta *m = meta_find(h, key);
    if (m && ret_size)
        *ret_size = m->size;
    return m ? m->bytes : NULL;
}

static void meta_remove(hunch *h, struct meta *m)
{
    free(m->key);
    free(m->bytes);
    *m = h->meta[--h->metas];
}

hunch_status hunch_set_meta(hunch *h, const char *key, const void *bytes, size_t size)
{
    struct meta *m = meta_find(h, key);
    if (!size) {
        if (m)
            meta_remove(h, m);
        return HUNCH_OK;
    }
    void *copy = malloc(size);
    if (!copy)
        return error_set(&h->error, HUNCH_ENOMEM, "out of memory for %zu bytes of meta data", size);
    memcpy(copy, bytes, size);
    if (m) {
        free(m->bytes);
        m->bytes = copy;
        m->size = size;
        return HUNCH_OK;
    }
    char *name = strdup(key);
    if (!name || !array_resize(&h->meta, h->metas + 1, sizeof *h->meta)) {
        free(copy);
        free(name);
        return error_set(&h->error, HUNCH_ENOMEM, "out of memory for meta data");
    }
    h->meta[h->metas++] = (struct meta){name, copy, size};
    return HUNCH_OK;
}

const char *hunch_status_text(hunch_status status)
{
    switch (status) {
#define STATUS_CASE(name, number, text)                                                                                \
    case name:                                                                                                         \
        return text;
        HUNCH_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}
