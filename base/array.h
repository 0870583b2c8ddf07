/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes that cannot overflow unnoticed, and arrays that grow. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a * b and a + b, or SIZE_MAX (which no allocation grants) when that does not fit. */
static inline size_t size_mul(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

static inline size_t size_add(size_t a, size_t b)
{
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

/* Room for at least `wanted` elements of `size` bytes in the array whose address is given (&items; items may be NULL,
 * *room is 0 then). Grows by half and more, so that adding one at a time costs little. false: no memory, and nothing
 * has changed. */
bool array_reserve(void *address, size_t *room, size_t wanted, size_t size);

/* The same without a count of its own: exactly `count` elements. */
bool array_resize(void *address, size_t count, size_t size);

#endif
