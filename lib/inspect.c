/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking inside a learner: its tensors by name, and the caller's bytes kept with it. */
#include <stdlib.h>
#include <string.h>

#include "learner.h"

/* Tensors that the settings leave out do not exist for the caller. */
size_t hunch_tensors(const hunch *h, size_t i, hunch_tensor *ret)
{
    const struct state *s = &h->state;
    size_t count = 0;
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        if (s->tensor[t].kind == ABSENT)
            continue;
        if (count++ == i && ret) {
            ret->name = s->algo->tensors[t].name;
            state_tensor_size(s, (int)t, &ret->rows, &ret->columns);
        }
    }
    return count;
}

hunch_status hunch_get(const hunch *h, const char *name, size_t row, size_t column, double *ret)
{
    const struct state *s = &h->state;
    for (size_t t = 0; t < state_tensors(s->algo); t++) {
        if (s->tensor[t].kind == ABSENT || strcmp(s->algo->tensors[t].name, name))
            continue;
        size_t rows, columns;
        state_tensor_size(s, (int)t, &rows, &columns);
        if (row >= rows || column >= columns)
            return HUNCH_EINVAL;
        *ret = state_get(s, (int)t, row, column);
        return HUNCH_OK;
    }
    return HUNCH_EINVAL;
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
    struct meta *grown = realloc(h->meta, (h->metas + 1) * sizeof *grown);
    char *name = strdup(key);
    if (grown)
        h->meta = grown;
    if (!grown || !name) {
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
