/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernel.h"

#include "linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/exact.h"
#include "state.h"

#define NONE UINT32_MAX
/* Examples beyond twice the entries and these are a reason to sweep. That depends on the content alone, not on how much
 * room there happens to be, so a model that was saved and loaded goes on to the very same bytes. */
#define SWEEP_SLACK 16

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

/* The two arrays of numbers grow together; room says what both have. */
static bool numbers_grow(struct store *t, size_t want)
{
    size_t index_room = t->room, value_room = t->room;
    if (want <= t->room)
        return true;
    if (!array_reserve(&t->index, &index_room, want, sizeof *t->index) ||
        !array_reserve(&t->value, &value_room, want, sizeof *t->value))
        return false;
    t->room = index_room;
    return true;
}

static bool examples_grow(struct store *t, size_t want)
{
    size_t example_room = t->example_room, number_room = t->example_room;
    if (want <= t->example_room)
        return true;
    if (!array_reserve(&t->example, &example_room, want, sizeof *t->example) ||
        !array_reserve(&t->number, &number_room, want, sizeof *t->number))
        return false;
    t->example_room = example_room;
    return true;
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
    if (!array_reserve(&t->entry, &t->entry_room, size_add(t->entries, entries), sizeof *t->entry) ||
        !examples_grow(t, t->examples + 1) || !numbers_grow(t, size_add(t->used, x->n)))
        return HUNCH_ENOMEM;
    return HUNCH_OK;
}

/* --- entries --- */

/* Finite values, indices that increase. */
static bool example_is_sound(const struct store *t, const struct store_example *e)
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
    if (!array_reserve(&t->entry, &t->entry_room, t->entries + 1, sizeof *t->entry) ||
        !examples_grow(t, t->examples + 1) || !numbers_grow(t, size_add(t->used, n)))
        return HUNCH_ENOMEM;
    if (n) {
        memcpy(t->index + t->used, index, n * sizeof *t->index);
        memcpy(t->value + t->used, value, n * sizeof *t->value);
    }
    t->example[t->examples++] = (struct store_example){t->used, n, norm2};
    t->used += n;
    return example_is_sound(t, &t->example[t->examples - 1]) ? HUNCH_OK : HUNCH_EMODEL;
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
    if (!array_reserve(&t->entry, &t->entry_room, t->entries + other->entries, sizeof *t->entry) ||
        !examples_grow(t, t->examples + other->examples) || !numbers_grow(t, t->used + other->used))
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

/* --- bytes: three counts, the examples, the entries, the numbers --- */

enum { COUNT_EXAMPLES, COUNT_ENTRIES, COUNT_NUMBERS, COUNTS };

size_t store_size(const struct store *t)
{
    return COUNTS * sizeof(uint64_t) + t->examples * (sizeof(uint64_t) + sizeof(double)) +
           t->entries * (2 * sizeof(uint32_t) + sizeof(double)) + t->used * (sizeof(uint32_t) + sizeof(float));
}

static char *put(char *to, const void *from, size_t n)
{
    if (n)
        memcpy(to, from, n);
    return to + n;
}

void store_write(const struct store *t, void *bytes)
{
    uint64_t counts[COUNTS] = {t->examples, t->entries, t->used};
    char *p = put(bytes, counts, sizeof counts);
    /* Examples lie one after the other, so their lengths tell where they are. */
    for (size_t i = 0; i < t->examples; i++) {
        uint64_t n = t->example[i].n;
        p = put(p, &n, sizeof n);
        p = put(p, &t->example[i].norm2, sizeof(double));
    }
    for (size_t i = 0; i < t->entries; i++) {
        p = put(p, &t->entry[i].example, sizeof(uint32_t));
        p = put(p, &t->entry[i].owner, sizeof(uint32_t));
        p = put(p, &t->entry[i].weight, sizeof(double));
    }
    p = put(p, t->index, t->used * sizeof *t->index);
    put(p, t->value, t->used * sizeof *t->value);
}

static const char *take(const char *from, void *to, size_t n)
{
    if (n)
        memcpy(to, from, n);
    return from + n;
}

static bool examples_take(struct store *t, const char **p, size_t count, size_t numbers)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t n;
        double norm2;
        *p = take(*p, &n, sizeof n);
        *p = take(*p, &norm2, sizeof norm2);
        if (n > numbers - at || !(norm2 >= 0 && isfinite(norm2)))
            return false;
        t->example[i] = (struct store_example){at, n, norm2};
        at += n;
    }
    t->examples = count;
    return at == numbers;
}

static bool entries_take(struct store *t, const char **p, size_t count, uint32_t owners)
{
    for (size_t i = 0; i < count; i++) {
        struct store_entry *e = &t->entry[i];
        *p = take(*p, &e->example, sizeof e->example);
        *p = take(*p, &e->owner, sizeof e->owner);
        *p = take(*p, &e->weight, sizeof e->weight);
        if (e->example >= t->examples || e->owner >= owners || !isfinite(e->weight))
            return false;
    }
    t->entries = count;
    return true;
}

static bool numbers_take(struct store *t, const char *p, size_t count)
{
    p = take(p, t->index, count * sizeof *t->index);
    take(p, t->value, count * sizeof *t->value);
    t->used = count;
    for (size_t i = 0; i < t->examples; i++)
        if (!example_is_sound(t, &t->example[i]))
            return false;
    return true;
}

hunch_status store_read(struct store *t, const void *bytes, size_t size, uint32_t owners, hunch_error *reterr)
{
    struct store fresh = {0};
    uint64_t counts[COUNTS];
    const char *p = bytes;
    bool fits = size >= sizeof counts;
    if (fits) {
        p = take(p, counts, sizeof counts);
        struct store sized = {
            .examples = counts[COUNT_EXAMPLES], .entries = counts[COUNT_ENTRIES], .used = counts[COUNT_NUMBERS]};
        for (int i = 0; i < COUNTS; i++)
            fits &= counts[i] <= size;
        fits = fits && store_size(&sized) == size;
    }
    if (!fits)
        return error_set(reterr, HUNCH_EMODEL, "the model is damaged: the examples it keeps are cut");
    if (!array_reserve(&fresh.entry, &fresh.entry_room, counts[COUNT_ENTRIES], sizeof *fresh.entry) ||
        !examples_grow(&fresh, counts[COUNT_EXAMPLES]) || !numbers_grow(&fresh, counts[COUNT_NUMBERS])) {
        store_clear(&fresh);
        return error_set(reterr, HUNCH_ENOMEM, "out of memory for the examples of a model");
    }
    if (!examples_take(&fresh, &p, counts[COUNT_EXAMPLES], counts[COUNT_NUMBERS]) ||
        !entries_take(&fresh, &p, counts[COUNT_ENTRIES], owners) || !numbers_take(&fresh, p, counts[COUNT_NUMBERS])) {
        store_clear(&fresh);
        return error_set(reterr, HUNCH_EMODEL, "the model is damaged: the examples it keeps make no sense");
    }
    store_clear(t);
    *t = fresh;
    return HUNCH_OK;
}
