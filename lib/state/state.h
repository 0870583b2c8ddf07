/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a learner's state: made from the algorithm's tensor table, growing with features and classes. */
#ifndef STATE_H
#define STATE_H

#include "state/algo.h"
#include "base/array.h"

/* s->algo, K and settings are set; everything else is zero. On failure nothing is left allocated. */
hunch_status state_init(struct state *s, hunch_error *reterr);
void state_clear(struct state *s);
/* As s was before its first example: the same classes, settings, generator and number of rounds. */
hunch_status state_renew(struct state *s, uint32_t mapped, bool text, hunch_error *reterr);

/* All numbers as before the first example; features and memory stay. For states without anything attached. */
void state_restart(struct state *s);

/* Numbers by feature and by model only, in one form: such a state can take over another's, which has as many features
 * and the same layout, number by number. */
bool state_is_plain(const struct state *s);
bool state_is_laid_alike(const struct state *s, const struct state *other);
void state_copy(struct state *s, const struct state *other);

/* Make room for `features` features. Amortised; on failure the state is unchanged. */
hunch_status state_grow_features(struct state *s, uint32_t features);
/* Likewise for classes: new classes start from initial values. */
hunch_status state_grow_classes(struct state *s, uint32_t classes);

/* The covariances have got another form than the old one: tensors come and go; fill sets those that came. */
hunch_status state_reshape(struct state *s, const struct covariance_form *old,
                           void (*fill)(struct state *s, const struct state *before));

/* Rare hooks: the algorithm's own, or those of its form of covariances; never NULL. */
const struct extra *state_extra(const struct state *s);

/* The i-th learner within; NULL: there are no more. */
struct state *state_member(const struct state *s, size_t i);
/* Of s and of the learners within, each of which has a generator of its own. */
void state_reseed(struct state *s, uint64_t seed);
void state_set_repeated(struct state *s, bool repeated); /* and of learners within, likewise */

/* One round of a state, a learner's or a member's. x is the example as algorithms see it; the state has its features.
 * Learning may fail for want of memory, with nothing changed; after round_reserve it cannot. */
void round_note(struct state *s, const struct vec *x); /* the part of predict that does not choose */
/* ret_chances: the chance that each label had of being chosen; or NULL. */
void round_predict(struct state *s, const struct vec *x, hunch_choice *ret, double *ret_chances);
/* What is chosen from now on, here and by the learners within, is among these labels; NULL: among all. */
void state_restrict(struct state *s, const unsigned char *eligible, uint32_t n);
hunch_status round_reserve(struct state *s, const struct vec *x);
hunch_status round_learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right);
hunch_status round_teach(struct state *s, const struct vec *x, uint32_t label);

/* Add what other, of the same spec and classes, has learned. On failure s has learned nothing. */
hunch_status state_merge(struct state *s, const struct state *other);

/* Feature 0 is a constant. (With scale=auto it is the front's: see front.h.) */
static inline bool state_has_bias(const struct state *s)
{
    return s->bias != 0 && !s->scale;
}

size_t state_tensors(const struct algo *algo); /* how many the table has */
uint64_t state_bytes(const struct state *s);

size_t state_lanes(size_t lanes); /* in whole vectors */
/* A group of a PER_MODEL_REAL tensor. */
static inline real *state_reals(const struct state *s, int tensor, size_t group)
{
    return s->tensor[tensor].reals + group * s->tensor[tensor].padded;
}

/* One number of a tensor: rows are features (PER_FEATURE), groups (PER_MODEL, PER_MODEL_REAL), or matrix rows. */
void state_tensor_size(const struct state *s, int tensor, size_t *ret_rows, size_t *ret_columns);
double state_get(const struct state *s, int tensor, size_t row, size_t column);
void state_set(struct state *s, int tensor, size_t row, size_t column, double value);

#endif
