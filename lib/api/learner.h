/* SPDX-License-Identifier: BSD-3-Clause */
/* The learner behind the public handle, and the checks that every public call makes once. */
#ifndef LEARNER_H
#define LEARNER_H

#include "api/act.h"
#include "api/confidence.h"
#include "features/front.h"
#include "state/state.h"

struct meta {
    char *key;
    void *bytes;
    size_t size;
};

struct hunch {
    struct state state;
    uint32_t max_features; /* of internal features: one more with a bias */
    uint64_t seed;
    char *spec;
    struct meta *meta;
    size_t metas;
    /* A prepared copy of the example, when it must be normalised or gets a bias. */
    uint32_t *index;
    float *value;
    size_t room;
    struct confidence confidence;
    struct promises promises;
    struct front front; /* with scale=auto: between the examples and the state */
    struct front_room front_room;
    void *noted; /* what hunch_peek puts back */
    size_t noted_room;
    real *lead; /* by feature: see algo.lead */
    size_t lead_room;
    unsigned char *usable; /* by label: it is not retired; NULL: none is */
    uint32_t usable_n;
    unsigned char *eligible; /* scratch: the labels of one choice */
    size_t eligible_room;
    hunch_vec raw;     /* what the front last wrote; borrowed, for the call only */
    hunch_error error; /* of the last call that failed */
};

/* reterr is NULL in const calls, which may run together and so write nothing to the learner. */
hunch_status vec_check(const hunch *h, const hunch_vec *x, hunch_error *reterr);
/* x scaled and with its bias as feature 0, written to index and value (room for x->n + 1). */
void vec_rewrite(const struct state *s, const hunch_vec *x, uint32_t *index, float *value, struct vec *ret);
/* Row i of a batch; false: the batch's start does not increase. */
bool batch_row(const hunch_batch *batch, size_t i, hunch_vec *ret);

/* Fails unless the choice is one that this learner can have made. */
hunch_status learner_check(hunch *h, const hunch_choice *c);
/* Check x and turn it into what algorithms see; features: how many the state must have for it. */
hunch_status learner_see(hunch *h, const hunch_vec *x, unsigned wants, struct vec *ret, uint32_t *ret_features);
/* The same, and grow the state for features not seen before. wants: as algo.wants. */
hunch_status learner_prepare(hunch *h, const hunch_vec *x, unsigned wants, struct vec *ret);
unsigned learner_wants(const hunch *h, const hunch_choice *c);
/* The example that was just prepared counts for the scale of columns from now on. true: it would be prepared in another
 * way by now. */
bool learner_observe(hunch *h);
/* A choice for x among those labels, and how sure it is; ret_chances: NULL, or room for every label's chance. */
struct eligible;
void learner_predict(hunch *h, const struct vec *x, const struct eligible *among, hunch_choice *ret,
                     double *ret_chances);
/* Learning, of the answer's confidence too. */
hunch_status learner_learn(hunch *h, const struct vec *x, const hunch_choice *c, bool right);
hunch_status learner_teach(hunch *h, const struct vec *x, uint32_t label);

#endif
