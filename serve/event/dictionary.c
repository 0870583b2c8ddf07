/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/dictionary.h"

#define HEAD 12 /* bytes of a snapshot's part before the bits: hand and reused */

struct pair {
    uint32_t index;
    float value;
};

/* What an example's feature has come to. */
struct note {
    uint32_t number; /* NAMES_NONE: none */
    bool new;
};

static bool once(const struct dictionary *d, uint32_t number)
{
    return number / 64 < d->once_room && d->once[number / 64] >> number % 64 & 1;
}

static bool once_reserve(struct dictionary *d, size_t names)
{
    size_t before = d->once_room;
    if (!array_reserve(&d->once, &d->once_room, (names + 63) / 64, sizeof *d->once))
        return false;
    if (d->once_room > before)
        memset(d->once + before, 0, (d->once_room - before) * sizeof *d->once);
    return true;
}

/* The first that was seen once, from here on and then from 0; there is one. */
static uint32_t once_next(const struct dictionary *d, uint32_t from)
{
    assert(d->once_n > 0);
    size_t word = from / 64 < d->once_room ? from / 64 : 0;
    uint64_t bits = from / 64 < d->once_room ? d->once[word] & ~UINT64_C(0) << from % 64 : d->once[0];
    while (!bits) {
        word = word + 1 < d->once_room ? word + 1 : 0;
        bits = d->once[word];
    }
    return (uint32_t)(word * 64 + (size_t)__builtin_ctzll(bits));
}

static int by_index(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static void sort(struct pair *pairs, size_t n)
{
    if (n > 32) {
        qsort(pairs, n, sizeof *pairs, by_index);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct pair v = pairs[i];
        size_t j = i;
        for (; j > 0 && pairs[j - 1].index > v.index; j--)
            pairs[j] = pairs[j - 1];
        pairs[j] = v;
    }
}

/* Gives how many names are new. */
static size_t look_up(struct dictionary *d, const struct example *x)
{
    size_t new = 0;
    for (size_t i = 0; i < x->n; i++) {
        const struct feature *f = &x->features[i];
        d->notes[i] = (struct note){f->name ? names_find(d->names, f->name, f->length) : f->index, false};
        new += f->name && d->notes[i].number == NAMES_NONE;
    }
    return new;
}

/* The example's own names among those that were seen once: their numbers are not free. In pairs, sorted. */
static size_t own_names(struct dictionary *d, const struct example *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (x->features[i].name && d->notes[i].number != NAMES_NONE && once(d, d->notes[i].number))
            d->pairs[n++] = (struct pair){d->notes[i].number, 0};
    sort(d->pairs, n);
    return n;
}

static void number_new(struct dictionary *d, const struct settings *settings, const struct example *x, size_t new)
{
    uint32_t next = names_count(d->names), max = settings->max_features, hand = d->hand;
    bool reuse = settings->reuse_names && max - next < new;
    size_t own = reuse ? own_names(d, x) : 0, free_numbers = reuse ? d->once_n - own : 0;
    for (size_t i = 0; i < x->n; i++) {
        if (!x->features[i].name || d->notes[i].number != NAMES_NONE)
            continue;
        if (next < max) {
            d->notes[i] = (struct note){next++, true};
        } else if (free_numbers) {
            struct pair taken = {0, 0};
            do {
                taken.index = once_next(d, hand);
                hand = taken.index + 1;
            } while (own && bsearch(&taken, d->pairs, own, sizeof taken, by_index));
            d->notes[i] = (struct note){taken.index, true};
            free_numbers--;
        }
    }
}

/* What has a number, in the order of numbers. */
static size_t gather(struct dictionary *d, const struct example *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (d->notes[i].number != NAMES_NONE)
            d->pairs[n++] = (struct pair){d->notes[i].number, x->features[i].value};
    sort(d->pairs, n);
    d->ignored = x->n - n;
    return n;
}

bool dictionary_see(struct dictionary *d, const struct settings *settings, const struct example *x, bool grow,
                    struct event *e, struct http_error *err)
{
    if (!array_reserve(&d->notes, &d->notes_room, x->n, sizeof *d->notes) ||
        !array_reserve(&d->pairs, &d->pairs_room, x->n, sizeof *d->pairs))
        return http_error_no_memory(err);
    size_t unknown = look_up(d, x), m = 0;
    if (unknown && grow)
        number_new(d, settings, x, unknown);
    size_t n = gather(d, x);
    assert(n <= e->room);
    for (size_t i = 0; i < n; i++) {
        if (m > 0 && e->index[m - 1] == d->pairs[i].index) {
            float sum = e->value[m - 1] + d->pairs[i].value;
            if (!(fabsf(sum) <= settings->bounds.value))
                return http_error_set(err, 400, "bad_value", "values of features in one slot add up to more than %g",
                                      (double)settings->bounds.value);
            e->value[m - 1] = sum;
        } else {
            e->index[m] = d->pairs[i].index;
            e->value[m++] = d->pairs[i].value;
        }
    }
    e->n = m;
    e->reused = d->reused;
    return true;
}

/* Seen again. */
static void keep_old(struct dictionary *d, uint32_t number)
{
    if (!once(d, number))
        return;
    assert(d->once_n > 0);
    d->once[number / 64] &= ~(UINT64_C(1) << number % 64);
    d->once_n--;
}

static bool keep_new(struct dictionary *d, const struct feature *f, uint32_t number, bool reuse)
{
    if (number < names_count(d->names)) {
        d->reused++;
        d->hand = number + 1;
        return names_replace(d->names, number, f->name, f->length);
    }
    if (names_add(d->names, f->name, f->length) != number)
        return false;
    if (!reuse)
        return true;
    if (!once_reserve(d, (size_t)number + 1))
        return false;
    d->once[number / 64] |= UINT64_C(1) << number % 64;
    d->once_n++;
    return true;
}

bool dictionary_keep(struct dictionary *d, const struct settings *settings, const struct example *x, struct event *e)
{
    bool ok = true;
    for (size_t i = 0; ok && d->names && i < x->n; i++) {
        const struct note *n = &d->notes[i];
        if (n->new)
            ok = keep_new(d, &x->features[i], n->number, settings->reuse_names);
        else if (n->number != NAMES_NONE)
            keep_old(d, n->number);
    }
    e->reused = d->reused;
    return ok;
}

/* --- as bytes, the least significant first --- */

static void bytes_write(unsigned char *ret, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t bytes_read(const unsigned char *bytes, size_t n)
{
    uint64_t v = 0;
    for (size_t i = n; i-- > 0;)
        v = v << 8 | bytes[i];
    return v;
}

unsigned char *dictionary_write(const struct dictionary *d, size_t *ret_size)
{
    size_t n = d->names ? ((size_t)names_count(d->names) + 7) / 8 : 0;
    unsigned char *bytes = malloc(HEAD + n);
    if (!bytes)
        return NULL;
    bytes_write(bytes, d->hand, 4);
    bytes_write(bytes + 4, d->reused, 8);
    for (size_t i = 0; i < n; i++)
        bytes[HEAD + i] = (unsigned char)(i / 8 < d->once_room ? d->once[i / 8] >> i % 8 * 8 : 0);
    *ret_size = HEAD + n;
    return bytes;
}

bool dictionary_read(struct dictionary *d, const unsigned char *bytes, size_t size)
{
    size_t names = d->names ? names_count(d->names) : 0, n = (names + 7) / 8;
    if (!bytes || size != HEAD + n || !once_reserve(d, names))
        return false;
    d->hand = (uint32_t)bytes_read(bytes, 4);
    d->reused = bytes_read(bytes + 4, 8);
    for (size_t i = 0; i < n; i++)
        d->once[i / 8] |= (uint64_t)bytes[HEAD + i] << i % 8 * 8;
    d->once_n = 0;
    for (size_t i = 0; i < d->once_room; i++)
        d->once_n += (uint32_t)__builtin_popcountll(d->once[i]);
    return true;
}

void dictionary_free(struct dictionary *d)
{
    names_free(d->names);
    free(d->once);
    free(d->notes);
    free(d->pairs);
    *d = (struct dictionary){0};
}
