/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a state needs to know of the second moments that some algorithms keep: their layout, growth, bytes and merging.
 * The functions are those of covariance/, a layer above this one; algorithms use covariance/covariance.h.
 */
#ifndef SECOND_MOMENTS_H
#define SECOND_MOMENTS_H

#include "state/algo.h"

void covariance_init(struct state *s); /* the form that the settings name */
/* Changes the shape of a tensor that holds second moments; others stay. */
void covariance_shape(const struct state *s, int tensor, struct tensor *inout);
/* Of a feature's row, what is not read in every round: it follows all else. */
bool covariance_is_seldom(const struct algo *algo, size_t tensor);
/* The form in force where matrix=auto decides it, else "". */
const char *covariance_name(const struct state *s);
/* More features or classes are coming: matrix=auto may go over to a smaller form. */
hunch_status covariance_grow(struct state *s, uint32_t features, uint32_t classes);
/* The first rounds have told what rows are like: rank=auto may take fewer directions. */
hunch_status covariance_settle(struct state *s);
/* What a model file says of form and rank, and the change to that. */
uint32_t covariance_saved(const struct state *s);
hunch_status covariance_take_number(struct state *s, uint32_t number);
/* Grow s without a change of form: for loading, where the numbers that decide it are yet to come. */
hunch_status covariance_grow_as_is(struct state *s, uint32_t features);
/* Bring s to the form and rank that other has, if these are the smaller ones. */
hunch_status covariance_align(struct state *s, const struct state *other);
bool covariance_is_alike(const struct state *s, const struct state *other);
/* Add what other has learned: information adds up, A = A_1 + A_2 - precision I and A w = A_1 w_1 + A_2 w_2. Both have
 * the same form, s at least other's features. May fail with nothing changed. */
hunch_status covariance_merge(struct state *s, const struct state *other);
/* Scratch of the form in force, for K classes and `capacity` features: its size (0: none), and its first state. */
size_t covariance_room_size(const struct state *s, uint32_t K, size_t capacity);
void covariance_room_init(const struct state *s, uint32_t K, size_t capacity, void *room);
const struct extra *covariance_extra(const struct state *s); /* NULL: nothing besides tensors */

#endif
