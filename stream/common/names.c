/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names are stored in chunks, each with its NUL, and never move: a thread may read a name that it knows while another
 * thread adds more. An open-addressing table finds them. Names of up to sixteen bytes, which most features have, are
 * compared within the table; of longer ones it has the hash, which keeps probes that miss away from the text.
 */
#include "common/names.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAMES_LIMIT (UINT32_MAX - 1)
#define NAME_LIMIT UINT32_MAX /* bytes */

#define SHORT 16
#define LARGE_PAGE ((size_t)2 << 20)

struct slot {
    uint64_t bits, more; /* the bytes of a short name; else the hash, and 0 */
    uint32_t length;
    uint32_t number; /* NAMES_NONE: free */
};

struct entry {
    char *text;
    uint32_t length;
    bool own; /* it has its memory for itself: it has replaced another */
};

/* Entries lie in arrays of 16, 32, 64 ... */
#define FIRST_ENTRIES 16
#define ARRAYS 29

struct names {
    char **chunk; /* chunks of them */
    size_t chunks, chunks_capacity;
    size_t used, chunk_capacity; /* bytes of the last chunk */
    size_t size;                 /* of all names with their NULs */
    size_t memory;               /* of all chunks */
    size_t owned;                /* bytes of names outside of them */
    struct entry *entries[ARRAYS];
    atomic_uint count;
    struct slot *slots; /* mask + 1 of them */
    size_t mask;
};

static uint64_t word_at(const char *text)
{
    uint32_t word;
    memcpy(&word, text, sizeof word);
    return word;
}

/* Four bytes or more: two words that may overlap. Fewer: the first, the middle and the last, which may be the same. */
static uint64_t bytes_of(const char *text, size_t length)
{
    if (length >= 4)
        return word_at(text) | word_at(text + length - 4) << 8 * (length - 4);
    if (length == 0)
        return 0;
    size_t middle = length / 2, last = length - 1;
    return (uint64_t)(unsigned char)text[0] | (uint64_t)(unsigned char)text[middle] << 8 * middle |
           (uint64_t)(unsigned char)text[last] << 8 * last;
}

static struct slot slot_of(const char *text, size_t length)
{
    struct slot slot = {.length = (uint32_t)length, .number = NAMES_NONE};
    if (length > SHORT) {
        slot.bits = XXH3_64bits(text, length);
    } else if (length > 8) {
        memcpy(&slot.bits, text, 8);
        memcpy(&slot.more, text + length - 8, 8);
    } else {
        slot.bits = bytes_of(text, length);
    }
    return slot;
}

static size_t place_of(const struct slot *slot, size_t mask)
{
    uint64_t bits = slot->bits ^ slot->more * 0xc2b2ae3d27d4eb4fu;
    uint64_t mixed = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio: spreads into the upper half */
    return (size_t)(mixed >> 32) & mask;
}

/* A large table in large pages, where the system has them: finding the page is otherwise half of finding the name. */
static struct slot *slots_alloc(size_t size)
{
    size_t bytes = size * sizeof(struct slot);
    void *slots = NULL;
    if (bytes < LARGE_PAGE)
        return malloc(bytes);
    if (posix_memalign(&slots, LARGE_PAGE, bytes))
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(slots, bytes, MADV_HUGEPAGE);
#endif
    return slots;
}

static bool slots_resize(struct names *names, size_t size)
{
    struct slot *slots = slots_alloc(size);
    if (!slots)
        return false;
    memset(slots, 0xff, size * sizeof *slots);
    for (size_t i = 0; names->slots && i <= names->mask; i++) {
        struct slot old = names->slots[i];
        if (old.number == NAMES_NONE)
            continue;
        size_t at = place_of(&old, size - 1);
        while (slots[at].number != NAMES_NONE)
            at = (at + 1) & (size - 1);
        slots[at] = old;
    }
    free(names->slots);
    names->slots = slots;
    names->mask = size - 1;
    return true;
}

struct names *names_new(void)
{
    struct names *names = calloc(1, sizeof *names);
    if (!names || !slots_resize(names, 16)) {
        free(names);
        return NULL;
    }
    return names;
}

uint32_t names_count(const struct names *names)
{
    return atomic_load_explicit(&names->count, memory_order_acquire);
}

static unsigned array_of(uint32_t number)
{
    return 63 - 4 - (unsigned)__builtin_clzll((uint64_t)number + FIRST_ENTRIES);
}

static struct entry *entry_at(const struct names *names, uint32_t number)
{
    unsigned array = array_of(number);
    return &names->entries[array][(uint64_t)number + FIRST_ENTRIES - ((uint64_t)FIRST_ENTRIES << array)];
}

void names_free(struct names *names)
{
    if (!names)
        return;
    for (uint32_t i = 0; names->owned && i < names_count(names); i++)
        if (entry_at(names, i)->own)
            free(entry_at(names, i)->text);
    for (size_t i = 0; i < names->chunks; i++)
        free(names->chunk[i]);
    for (size_t i = 0; i < ARRAYS; i++)
        free(names->entries[i]);
    free(names->chunk);
    free(names->slots);
    free(names);
}

static bool slot_is(const struct names *names, const struct slot *slot, const char *text, const struct slot *key)
{
    return slot->bits == key->bits && slot->more == key->more && slot->length == key->length &&
           (key->length <= SHORT || memcmp(entry_at(names, slot->number)->text, text, key->length) == 0);
}

/* The slot that holds text, or the free one where it belongs. */
static inline struct slot *slot_find(const struct names *names, const char *text, const struct slot *key)
{
    for (size_t at = place_of(key, names->mask);; at = (at + 1) & names->mask) {
        struct slot *slot = &names->slots[at];
        if (slot->number == NAMES_NONE || slot_is(names, slot, text, key))
            return slot;
    }
}

uint32_t names_find(const struct names *names, const char *text, size_t length)
{
    struct slot key = slot_of(text, length);
    return length > NAME_LIMIT ? NAMES_NONE : slot_find(names, text, &key)->number;
}

struct names_query names_ask(const struct names *names, const char *text, size_t length)
{
    struct slot key = slot_of(text, length);
    const struct slot *slot = &names->slots[place_of(&key, names->mask)];
    __builtin_prefetch(slot);
    __builtin_prefetch((const char *)(slot + 1) - 1); /* it may lie in two lines of the cache */
    return (struct names_query){text, length, key.bits, key.more};
}

uint32_t names_answer(const struct names *names, const struct names_query *query)
{
    struct slot key = {query->bits, query->more, (uint32_t)query->length, NAMES_NONE};
    return query->length > NAME_LIMIT ? NAMES_NONE : slot_find(names, query->text, &key)->number;
}

/* Another chunk, half as large as all before. */
static bool chunk_add(struct names *names, size_t need)
{
    size_t capacity = names->memory / 2 + 64;
    if (need >= SIZE_MAX / 4)
        return false;
    if (capacity < need)
        capacity = need;
    char *chunk = array_reserve(&names->chunk, &names->chunks_capacity, names->chunks + 1, sizeof *names->chunk)
                      ? malloc(capacity)
                      : NULL;
    if (!chunk)
        return false;
    names->chunk[names->chunks++] = chunk;
    names->used = 0;
    names->chunk_capacity = capacity;
    names->memory += capacity;
    return true;
}

static bool room_make(struct names *names, uint32_t number, size_t length)
{
    unsigned array = array_of(number);
    if (!names->entries[array])
        names->entries[array] = malloc(((size_t)FIRST_ENTRIES << array) * sizeof(struct entry));
    if (!names->entries[array])
        return false;
    if (length >= names->chunk_capacity - names->used && !chunk_add(names, length + 1))
        return false;
    return (size_t)number * 3 < names->mask * 2 || slots_resize(names, 2 * (names->mask + 1));
}

uint32_t names_add(struct names *names, const char *text, size_t length)
{
    if (length > NAME_LIMIT)
        return NAMES_NONE;
    struct slot key = slot_of(text, length), *slot = slot_find(names, text, &key);
    if (slot->number != NAMES_NONE)
        return slot->number;
    uint32_t count = atomic_load_explicit(&names->count, memory_order_relaxed);
    if (count >= NAMES_LIMIT || (length > 0 && memchr(text, 0, length)) || !room_make(names, count, length))
        return NAMES_NONE;
    slot = slot_find(names, text, &key); /* the table may have moved */
    char *copy = names->chunk[names->chunks - 1] + names->used;
    if (length > 0)
        memcpy(copy, text, length);
    copy[length] = 0;
    *entry_at(names, count) = (struct entry){copy, (uint32_t)length, false};
    names->used += length + 1;
    names->size += length + 1;
    *slot = key;
    slot->number = count;
    atomic_store_explicit(&names->count, count + 1, memory_order_release);
    return count;
}

/* Those behind it that would not be found any more move up. */
static void slot_clear(struct names *names, struct slot *slot)
{
    size_t hole = (size_t)(slot - names->slots);
    for (size_t at = (hole + 1) & names->mask; names->slots[at].number != NAMES_NONE; at = (at + 1) & names->mask) {
        size_t home = place_of(&names->slots[at], names->mask);
        if (((at - home) & names->mask) >= ((at - hole) & names->mask)) {
            names->slots[hole] = names->slots[at];
            hole = at;
        }
    }
    names->slots[hole].number = NAMES_NONE;
}

bool names_replace(struct names *names, uint32_t number, const char *text, size_t length)
{
    struct entry *entry = entry_at(names, number);
    struct slot old = slot_of(entry->text, entry->length), key = slot_of(text, length);
    char *copy = length < NAME_LIMIT ? malloc(length + 1) : NULL;
    if (!copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    slot_clear(names, slot_find(names, entry->text, &old));
    key.number = number;
    *slot_find(names, text, &key) = key;
    names->size += length - entry->length;
    names->owned += length + 1;
    if (entry->own) {
        names->owned -= entry->length + 1;
        free(entry->text);
    }
    *entry = (struct entry){copy, (uint32_t)length, true};
    return true;
}

const char *names_text(const struct names *names, uint32_t number, size_t *ret_length)
{
    if (number >= names_count(names))
        return NULL;
    if (ret_length)
        *ret_length = entry_at(names, number)->length;
    return entry_at(names, number)->text;
}

size_t names_bytes(const struct names *names)
{
    size_t entries = (size_t)FIRST_ENTRIES << (array_of(names_count(names)) + 1);
    return sizeof *names + names->memory + names->owned + entries * sizeof(struct entry) +
           (names->mask + 1) * sizeof *names->slots;
}

char *names_block(const struct names *names, size_t *ret_size)
{
    char *block = malloc(names->size + 1);
    size_t at = 0;
    for (uint32_t i = 0; block && i < names_count(names); i++) {
        const struct entry *entry = entry_at(names, i);
        memcpy(block + at, entry->text, entry->length + 1);
        at += entry->length + 1;
    }
    *ret_size = at;
    return block;
}

bool names_equal(const struct names *a, const struct names *b)
{
    uint32_t n = names_count(a);
    bool equal = n == names_count(b) && a->size == b->size;
    for (uint32_t i = 0; equal && i < n; i++)
        equal = !strcmp(entry_at(a, i)->text, entry_at(b, i)->text);
    return equal;
}

struct names *names_copy(const struct names *names)
{
    struct names *copy = names_new();
    for (uint32_t i = 0; copy && i < names_count(names); i++)
        if (names_add(copy, entry_at(names, i)->text, entry_at(names, i)->length) == NAMES_NONE) {
            names_free(copy);
            return NULL;
        }
    return copy;
}

struct names *names_from_block(const void *block, size_t size)
{
    const char *text = block;
    struct names *names = names_new();
    if (!names)
        return NULL;
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, 0, size - at);
        if (!end)
            goto fail;
        uint32_t before = names_count(names);
        if (names_add(names, text + at, (size_t)(end - text) - at) != before)
            goto fail; /* a duplicate, or out of memory */
        at = (size_t)(end - text) + 1;
    }
    return names;
fail:
    names_free(names);
    return NULL;
}
