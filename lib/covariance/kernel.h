/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels and the examples that kernel learners keep.
 *
 * A store is a list of entries in the order of their arrival: an example, an owner (a class) and a weight. Examples
 * are shared by the entries that one round adds. Room is made beforehand by store_reserve, so that adding cannot fail;
 * it grows by half, and examples that no entry refers to any more are swept out when they are the larger part.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include "state/algo.h"

enum kernel_kind { KERNEL_LINEAR, KERNEL_POLY, KERNEL_RBF, KERNEL_RATIONAL };

/* linear <x,z>; poly (1 + <x,z>)^degree; rbf exp(-bandwidth |x-z|^2); rational 1/(1 - nu <x,z>) on the unit ball, to
 * whose surface longer examples are pulled. */
struct kernel {
    enum kernel_kind kind;
    double degree, bandwidth, nu;
};

/* From <x,z>, |x|^2 and |z|^2. */
double kernel_value(const struct kernel *k, double dot, double x2, double z2);

struct store_example {
    size_t at; /* of its first number in index and value */
    size_t n;
    double norm2;
};

struct store_entry {
    uint32_t example, owner;
    double weight;
};

struct store {
    struct store_entry *entry;
    size_t entries, entry_room;
    struct store_example *example;
    uint32_t *number; /* scratch for a sweep, one for each example */
    size_t examples, example_room, number_room;
    uint32_t *index; /* zeros are not kept */
    float *value;
    size_t used, index_room, value_room;
};

void store_clear(struct store *t);
/* Room for one more example with x's numbers and `entries` more entries. May fail, with nothing changed. */
hunch_status store_reserve(struct store *t, const struct vec *x, size_t entries);

/* Keep x; returns its number, for store_add and store_replace. */
uint32_t store_example(struct store *t, const struct vec *x);
/* The same from numbers of a file, without room made before; refuses what is no example (HUNCH_EMODEL). One entry more
 * can be added for it. */
hunch_status store_take(struct store *t, const void *index, const void *value, size_t n, double norm2);
void store_add(struct store *t, uint32_t example, uint32_t owner, double weight);
/* Entry i becomes another one, in its place. */
void store_replace(struct store *t, size_t i, uint32_t example, uint32_t owner, double weight);
/* Entry i goes; those behind it move up. */
void store_remove(struct store *t, size_t i);

/* The i-th entry of an owner, in order; how many there are. */
size_t store_find(const struct store *t, uint32_t owner, size_t i);
size_t store_count(const struct store *t, uint32_t owner);

double store_dot(const struct store *t, uint32_t example, const struct vec *x);
/* ret[owner] += weight * kernel(example, x), over all entries. */
void store_scores(const struct store *t, const struct kernel *k, const struct vec *x, real *ret);

/* As bytes. Reading checks everything: owners below `owners`, indices that increase, finite numbers. On failure
 * nothing has changed. */
size_t store_size(const struct store *t);
void store_write(const struct store *t, void *bytes);
hunch_status store_read(struct store *t, const void *bytes, size_t size, uint32_t owners, hunch_error *reterr);
/* For struct extra where s->extra begins with a store. */
size_t store_extra_size(const struct state *s);
void store_extra_write(const struct state *s, void *bytes);
hunch_status store_extra_read(struct state *s, const void *bytes, size_t size, hunch_error *reterr);
/* Add all of other's entries behind this one's own. May fail, with nothing changed. */
hunch_status store_append(struct store *t, const struct store *other);

#endif
