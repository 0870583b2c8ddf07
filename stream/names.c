/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All names lie in one block, each with its NUL, so that the block can be stored as it is; an open-addressing table
 * finds them. Names of up to eight bytes, which most features have, are compared within the table; of longer ones it
 * has the hash, which keeps probes that miss away from the block.
 */
#include "names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAMES_LIMIT (UINT32_MAX - 1)
#define NAME_LIMIT UINT32_MAX /* bytes */

#define SHORT 8

struct key {
    uint64_t bits; /* the bytes of a short name; else the hash */
    uint32_t length;
};

struct slot {
    uint64_t bits; /* as in its key */
    uint32_t length;
    uint32_t number; /* NAMES_NONE: free */
};

struct names {
    char *block;
    size_t used, block_capacity;
    size_t *offset; /* count entries: where each name begins */
    uint32_t count;
    size_t capacity;
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

static struct key key_of(const char *text, size_t length)
{
    return (struct key){length <= SHORT ? bytes_of(text, length) : XXH3_64bits(text, length), (uint32_t)length};
}

static size_t place_of(uint64_t bits, size_t mask)
{
    uint64_t mixed = (bits ^ bits >> 32) * 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio: spreads into the upper half */
    return (size_t)(mixed >> 32) & mask;
}

static bool slots_resize(struct names *names, size_t size)
{
    struct slot *slots = malloc(size * sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xff, size * sizeof *slots);
    for (size_t i = 0; names->slots && i <= names->mask; i++) {
        struct slot old = names->slots[i];
        if (old.number == NAMES_NONE)
            continue;
        size_t at = place_of(old.bits, size - 1);
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

struct names *names_copy(const struct names *names)
{
    size_t size = 0;
    const char *block = names_block(names, &size);
    return names_from_block(block, size);
}

void names_free(struct names *names)
{
    if (!names)
        return;
    free(names->block);
    free(names->offset);
    free(names->slots);
    free(names);
}

uint32_t names_count(const struct names *names)
{
    return names->count;
}

static size_t length_of(const struct names *names, uint32_t number)
{
    size_t end = number + 1 < names->count ? names->offset[number + 1] : names->used;
    return end - names->offset[number] - 1;
}

static bool slot_is(const struct names *names, const struct slot *slot, const char *text, struct key key)
{
    return slot->bits == key.bits && slot->length == key.length &&
           (key.length <= SHORT || memcmp(names->block + names->offset[slot->number], text, key.length) == 0);
}

/* The slot that holds text, or the free one where it belongs. */
static struct slot *slot_find(const struct names *names, const char *text, struct key key)
{
    for (size_t at = place_of(key.bits, names->mask);; at = (at + 1) & names->mask) {
        struct slot *slot = &names->slots[at];
        if (slot->number == NAMES_NONE || slot_is(names, slot, text, key))
            return slot;
    }
}

uint32_t names_find(const struct names *names, const char *text, size_t length)
{
    return length > NAME_LIMIT ? NAMES_NONE : slot_find(names, text, key_of(text, length))->number;
}

static bool room_make(struct names *names, size_t length)
{
    if (names->count == names->capacity) {
        size_t capacity = names->capacity ? 2 * names->capacity : 16;
        size_t *offset = realloc(names->offset, capacity * sizeof *offset);
        if (!offset)
            return false;
        names->offset = offset;
        names->capacity = capacity;
    }
    if (length >= SIZE_MAX / 4 - names->used)
        return false;
    size_t need = names->used + length + 1;
    if (need > names->block_capacity) {
        size_t capacity = names->block_capacity + names->block_capacity / 2;
        if (capacity < need)
            capacity = need + 64;
        char *block = realloc(names->block, capacity);
        if (!block)
            return false;
        names->block = block;
        names->block_capacity = capacity;
    }
    return (size_t)names->count * 3 < names->mask * 2 || slots_resize(names, 2 * (names->mask + 1));
}

uint32_t names_add(struct names *names, const char *text, size_t length)
{
    if (length > NAME_LIMIT)
        return NAMES_NONE;
    struct key key = key_of(text, length);
    struct slot *slot = slot_find(names, text, key);
    if (slot->number != NAMES_NONE)
        return slot->number;
    if (names->count >= NAMES_LIMIT || (length > 0 && memchr(text, 0, length)) || !room_make(names, length))
        return NAMES_NONE;
    slot = slot_find(names, text, key); /* the table may have moved */
    if (length > 0)
        memcpy(names->block + names->used, text, length);
    names->block[names->used + length] = 0;
    names->offset[names->count] = names->used;
    names->used += length + 1;
    *slot = (struct slot){key.bits, key.length, names->count};
    return names->count++;
}

const char *names_text(const struct names *names, uint32_t number, size_t *ret_length)
{
    if (number >= names->count)
        return NULL;
    if (ret_length)
        *ret_length = length_of(names, number);
    return names->block + names->offset[number];
}

size_t names_bytes(const struct names *names)
{
    return sizeof *names + names->block_capacity + names->capacity * sizeof *names->offset +
           (names->mask + 1) * sizeof *names->slots;
}

const char *names_block(const struct names *names, size_t *ret_size)
{
    *ret_size = names->used;
    return names->used ? names->block : "";
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
        uint32_t before = names->count;
        if (names_add(names, text + at, (size_t)(end - text) - at) != before)
            goto fail; /* a duplicate, or out of memory */
        at = (size_t)(end - text) + 1;
    }
    return names;
fail:
    names_free(names);
    return NULL;
}
