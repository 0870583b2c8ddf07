/* SPDX-License-Identifier: BSD-3-Clause */
#include "covariance/kernel.h"

#include "state/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "numeric/byte_stream.h"
#include "state/state.h"

#define NONE UINT32_MAX
/* Examples beyond twice the entries and these are a reason to sweep. That depends on the content alone, not on how much
 * room there happens to be, so a model that was saved and loaded goes on to the very same bytes. */
#define SWEEP_SLACK 16
#define EXAMPLE_BYTES (sizeof(uint64_t) + sizeof(double)) /* in a model: length and norm2 */

double kernel_value(const struct kernel *k, double dot, double x2, double z2)
{
    switch (k->kind) {
    case KERNEL_POLY:
        return exact_pow(1 + dot, k->degree);
    case KERNEL_RBF:
        return exact_exp(-k->bandwidth * fmax(x2 + z2 - 2 * dot, 0));
    case KERNEL_RATIONAL:
        return 1 / (1 - k->nu * dot / sqrt(fmax(x2, 1) * fmax(z2, 1)));
    default:
        return dot;
    }
}

void store_clear(struct store *t)
{
    free(t->entry);
    free(t->example);
    free(t->number);
    free(t->index);
    free(t->value);
    *t = (struct store){0};
}

/* --- room --- */

/* For as many more. */
static bool room_grow(struct store *t, size_t entries, size_t examples, size_t numbers)
{
    entries = size_add(t->entries, entries);
    examples = size_add(t->examples, examples);
    numbers = size_add(t->used, numbers);
    return array_reserve(&t->entry, &t->entry_room, entries, sizeof *t->entry) &&
           array_reserve(&t->example, &t->example_room, examples, sizeof *t->example) &&
           array_reserve(&t->number, &t->number_room, examples, sizeof *t->number) &&
           array_reserve(&t->index, &t->index_room, numbers, sizeof *t->index) &&
           array_reserve(&t->value, &t->value_room, numbers, sizeof *t->value);
}

/* Examples move up over those that no entry refers to. */
static void store_sweep(struct store *t)
{
    uint32_t *number = t->number;
    uint32_t kept = 0;
    size_t used = 0;
    for (size_t i = 0; i < t->examples; i++)
        number[i] = NONE;
    for (size_t i = 0; i < t->entries; i++)
        number[t->entry[i].example] = 0;
    for (size_t i = 0; i < t->examples; i++) {
        struct store_example e = t->example[i];
        if (number[i] == NONE)
            continue;
        memmove(t->index + used, t->index + e.at, e.n * sizeof *t->index);
        memmove(t->value + used, t->value + e.at, e.n * sizeof *t->value);
        e.at = used;
        used += e.n;
        number[i] = kept;
        t->example[kept++] = e;
    }
    for (size_t i = 0; i < t->entries; i++)
        t->entry[i].example = number[t->entry[i].example];
    t->examples = kept;
    t->used = used;
}

hunch_status store_reserve(struct store *t, const struct vec *x, size_t entries)
{
    if (t->examples > 2 * t->entries + SWEEP_SLACK)
        store_sweep(t);
    if (t->examples >= NONE - 1)
        return HUNCH_ELIMIT;
    return room_grow(t, entries, 1, x->n) ? HUNCH_OK : HUNCH_ENOMEM;
}

/* --- entries --- */

/* Finite values, indices that increase. */
static bool example_is_valid(const struct store *t, const struct store_example *e)
{
    for (size_t i = e->at; i < e->at + e->n; i++)
        if (!isfinite(t->value[i]) || (i > e->at && t->index[i] <= t->index[i - 1]))
            return false;
    return true;
}

uint32_t store_example(struct store *t, const struct vec *x)
{
    struct store_example e = {t->used, 0, vec_norm2(x)};
    for (size_t i = 0; i < x->n; i++) {
        if (x->value[i] == 0)
            continue;
        t->index[t->used] = vec_index(x, i);
        t->value[t->used++] = x->value[i];
        e.n++;
    }
    t->example[t->examples] = e;
    return (uint32_t)t->examples++;
}

hunch_status store_take(struct store *t, const void *index, const void *value, size_t n, double norm2)
{
    if (t->examples >= NONE - 1)
        return HUNCH_EMODEL;
    if (!room_grow(t, 1, 1, n))
        return HUNCH_ENOMEM;
    if (n) {
        memcpy(t->index + t->used, index, n * sizeof *t->index);
        memcpy(t->value + t->used, value, n * sizeof *t->value);
    }
    t->example[t->examples++] = (struct store_example){t->used, n, norm2};
    t->used += n;
    return example_is_valid(t, &t->example[t->examples - 1]) ? HUNCH_OK : HUNCH_EMODEL;
}

void store_add(struct store *t, uint32_t example, uint32_t owner, double weight)
{
    t->entry[t->entries++] = (struct store_entry){example, owner, weight};
}

void store_replace(struct store *t, size_t i, uint32_t example, uint32_t owner, double weight)
{
    t->entry[i] = (struct store_entry){example, owner, weight};
}

void store_remove(struct store *t, size_t i)
{
    t->entries--;
    memmove(t->entry + i, t->entry + i + 1, (t->entries - i) * sizeof *t->entry);
}

size_t store_find(const struct store *t, uint32_t owner, size_t i)
{
    size_t at = 0;
    while (t->entry[at].owner != owner || i-- > 0)
        at++;
    return at;
}

size_t store_count(const struct store *t, uint32_t owner)
{
    size_t count = 0;
    for (size_t i = 0; i < t->entries; i++)
        count += t->entry[i].owner == owner;
    return count;
}

double store_dot(const struct store *t, uint32_t example, const struct vec *x)
{
    const struct store_example *e = &t->example[example];
    const uint32_t *index = t->index + e->at;
    const float *value = t->value + e->at;
    double sum = 0;
    if (!x->index) {
        for (size_t a = 0; a < e->n && index[a] < x->n; a++)
            sum += (double)value[a] * x->value[index[a]];
        return sum;
    }
    for (size_t a = 0, b = 0; a < e->n && b < x->n;) {
        uint32_t i = index[a], j = x->index[b];
        if (i == j)
            sum += (double)value[a] * x->value[b];
        a += i <= j;
        b += j <= i;
    }
    return sum;
}

void store_scores(const struct store *t, const struct kernel *k, const struct vec *x, real *ret)
{
    uint32_t last = NONE;
    double value = 0, norm2 = vec_norm2(x);
    for (size_t i = 0; i < t->entries; i++) {
        const struct store_entry *e = &t->entry[i];
        if (e->example != last) {
            last = e->example;
            value = kernel_value(k, store_dot(t, last, x), t->example[last].norm2, norm2);
        }
        ret[e->owner] += (real)(e->weight * value);
    }
}

hunch_status store_append(struct store *t, const struct store *other)
{
    if (t->examples + other->examples >= NONE)
        return HUNCH_ELIMIT;
    if (!room_grow(t, other->entries, other->examples, other->used))
        return HUNCH_ENOMEM;
    for (size_t i = 0; i < other->examples; i++) {
        t->example[t->examples + i] = other->example[i];
        t->example[t->examples + i].at += t->used;
    }
    for (size_t i = 0; i < other->entries; i++) {
        t->entry[t->entries + i] = other->entry[i];
        t->entry[t->entries + i].example += (uint32_t)t->examples;
    }
    if (other->used) {
        memcpy(t->index + t->used, other->index, other->used * sizeof *t->index);
        memcpy(t->value + t->used, other->value, other->used * sizeof *t->value);
    }
    t->examples += other->examples;
    t->entries += other->entries;
    t->used += other->used;
    return HUNCH_OK;
}

/* --- bytes: three counts, the examples (their lengths tell where they are), the entries, the numbers --- */

static void put_store(struct writer *w, const struct store *t)
{
    put_u64(w, t->examples);
    put_u64(w, t->entries);
    put_u64(w, t->used);
    for (size_t i = 0; i < t->examples; i++) {
        put_u64(w, t->example[i].n);
        put(w, &t->example[i].norm2, sizeof(double));
    }
    put(w, t->entry, t->entries * sizeof *t->entry);
    put(w, t->index, t->used * sizeof *t->index);
    put(w, t->value, t->used * sizeof *t->value);
}

size_t store_size(const struct store *t)
{
    struct writer w = {NULL, 0};
    put_store(&w, t);
    return w.used;
}

void store_write(const struct store *t, void *bytes)
{
    struct writer w = {bytes, 0};
    put_store(&w, t);
}

static bool store_is_valid(const struct store *t, uint32_t owners)
{
    size_t at = 0;
    for (size_t i = 0; i < t->examples; at += t->example[i++].n) {
        const struct store_example *e = &t->example[i];
        if (e->n > t->used - at || !(e->norm2 >= 0 && isfinite(e->norm2)) || !example_is_valid(t, e))
            return false;
    }
    for (size_t i = 0; i < t->entries; i++) {
        const struct store_entry *e = &t->entry[i];
        if (e->example >= t->examples || e->owner >= owners || !isfinite(e->weight))
            return false;
    }
    return at == t->used;
}

hunch_status store_read(struct store *t, const void *bytes, size_t size, uint32_t owners, hunch_error *reterr)
{
    struct reader r = {bytes, size, false};
    size_t examples = take_u64(&r), entries = take_u64(&r), used = take_u64(&r), at = 0;
    struct store fresh = {0};
    if (r.short_of || r.left / EXAMPLE_BYTES < examples || r.left / sizeof *t->entry < entries || r.left < used)
        return damaged(reterr, "the examples it keeps are cut");
    if (!room_grow(&fresh, entries, examples, used)) {
        store_clear(&fresh);
        return error_set(reterr, HUNCH_ENOMEM, "out of memory for the examples of a model");
    }
    fresh.examples = examples;
    fresh.entries = entries;
    fresh.used = used;
    for (size_t i = 0; i < examples; at += fresh.example[i++].n) {
        struct store_example *e = &fresh.example[i];
        *e = (struct store_example){at, take_u64(&r), NAN};
        take_into(&r, &e->norm2, sizeof e->norm2);
    }
    take_into(&r, fresh.entry, entries * sizeof *fresh.entry);
    take_into(&r, fresh.index, used * sizeof *fresh.index);
    take_into(&r, fresh.value, used * sizeof *fresh.value);
    if (r.short_of || r.left || !store_is_valid(&fresh, owners)) {
        store_clear(&fresh);
        return damaged(reterr, "its kept examples are invalid");
    }
    store_clear(t);
    *t = fresh;
    return HUNCH_OK;
}

size_t store_extra_size(const struct state *s)
{
    return store_size(s->extra);
}

void store_extra_write(const struct state *s, void *bytes)
{
    store_write(s->extra, bytes);
}

/* Indices below the state's features are what linear_row relies on. */
hunch_status store_extra_read(struct state *s, const void *bytes, size_t size, hunch_error *reterr)
{
    struct store *t = s->extra;
    hunch_status status = store_read(t, bytes, size, s->K, reterr);
    for (size_t i = 0; status == HUNCH_OK && i < t->used; i++)
        if (t->index[i] >= s->features)
            status = damaged(reterr, "its kept examples are invalid");
    return status;
}
