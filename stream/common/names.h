/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and their numbers: a table of distinct byte strings, numbered 0, 1, 2 ... in the order they were added. One
 * thread may add while others look at names that it has told them of (names_count, names_text). */
#ifndef NAMES_H
#define NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE UINT32_MAX

struct names;

struct names *names_new(void);                       /* NULL: out of memory */
struct names *names_copy(const struct names *names); /* NULL: out of memory */
void names_free(struct names *names);                /* NULL is fine */
uint32_t names_count(const struct names *names);
uint32_t names_find(const struct names *names, const char *text, size_t length);
/* The same in two steps, for several names at once: names_ask fetches the memory that names_answer then reads. Names may
 * be added between them. text must stay. */
struct names_query {
    const char *text;
    size_t length;
    uint64_t bits, more;
};
struct names_query names_ask(const struct names *names, const char *text, size_t length);
uint32_t names_answer(const struct names *names, const struct names_query *query);
/* The number of text, added when new; NAMES_NONE: out of memory or full. */
uint32_t names_add(struct names *names, const char *text, size_t length);
/* Gives a number to another name that has none: the old name is forgotten, and its text is gone. The number stays.
 * false: out of memory, and nothing has changed. */
bool names_replace(struct names *names, uint32_t number, const char *text, size_t length);
/* NUL-terminated; text with NUL bytes inside is not accepted by names_add. */
const char *names_text(const struct names *names, uint32_t number, size_t *ret_length);
size_t names_bytes(const struct names *names);                  /* memory taken */
bool names_equal(const struct names *a, const struct names *b); /* the same in the same order */
/* The form kept in models (hunch_set_meta): all names in order, each with its NUL. To be freed; NULL: out of memory. */
char *names_block(const struct names *names, size_t *ret_size);
struct names *names_from_block(const void *block, size_t size); /* NULL: out of memory, duplicate or not terminated */

#endif
