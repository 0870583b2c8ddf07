/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the example as it was given to the one that learners see, when scale=auto: the map's features (map.h), then a
 * constant, then the columns on a common scale (scale.h), the columns together of a length of about 1.
 *
 * What the rows are (text or not) and which map suits them (map=auto) is decided from the first of them: after 1, 2, 4
 * ... FRONT_DECIDES rows. A change of mind makes the learner start over.
 */
#ifndef FRONT_H
#define FRONT_H

#include "features/map.h"
#include "features/relevance.h"
#include "features/scale.h"

#define FRONT_DECIDES SCALE_DECIDES
#define FRONT_MAX 20000 /* features beside columns, at the most */

struct front {
    struct scale scale;
    struct map map;
    struct relevance relevance; /* of columns, with Fourier */
    bool automatic;             /* map=auto */
    float constant;             /* bias, if set; 0: what suits the rows */
};

/* Buffers of one call. */
struct front_room {
    uint32_t *index, *columns, *ones, *word_index, *plain_index;
    float *value, *weighted, *straight, *word, *plain;
    int16_t *steps;
    real *scratch;
    size_t entries, ones_room, scratches;
    struct scaled row; /* the last one written */
};

void front_init(struct front *f, int map, double bias); /* map: MAP_NONE ... MAP_AUTO */
void front_free(struct front *f);
void front_room_free(struct front_room *room);

/* Room for what x brings, so that observing it cannot fail. May fail, with nothing changed. */
hunch_status front_reserve(struct front *f, const hunch_vec *x);
/* x as learners see it, and what they want beside that (WANT_...), in the room's buffers. Columns that there is no room
 * for are left out: see struct vec. Fails only for want of memory. */
hunch_status front_write(const struct front *f, const struct linear_ops *ops, const hunch_vec *x, unsigned wants,
                         struct front_room *room, struct vec *ret);

/* What a row has changed. */
struct front_change {
    bool writing;    /* rows are written in another way now, */
    bool features;   /* or would be if the change were committed: learners will see other features then */
    uint32_t mapped; /* those that the map makes */
    bool text;
    struct map map;
};
/* Take x, reserved and written before, into the statistics. */
struct front_change front_observe(struct front *f, const hunch_vec *x, const struct scaled *row);
void front_commit(struct front *f, struct front_change *change);
void front_discard(struct front_change *change);

/* What was learned before is void. */
void front_restart(struct front *f);
/* What came of a round: the learner's answer was right or not, and the label shown or told is known to be x's or not.
 */
struct front_answer {
    uint32_t label;
    bool is_known, right;
};
/* A round has been learned from. True, if front_learn wants to know more about it. */
bool front_count(struct front *f, const struct vec *x, const struct front_answer *answer);
/* lead: by feature, how the lead of the label shown over its rival changes with it. x: as it was written. */
void front_learn(struct front *f, const struct linear_ops *ops, const struct vec *x, const real *lead);

uint64_t front_bytes(const struct front *f);                        /* memory that it takes */
uint32_t front_features(const struct front *f, const hunch_vec *x); /* of what learners see, with x */
/* Where the columns begin: the constant's feature. */
uint32_t front_columns_from(const struct front *f);

void front_put(struct writer *w, const struct front *f);
hunch_status front_take(struct reader *r, struct front *f, hunch_error *reterr);
/* May fail for want of memory, with nothing left. */
hunch_status front_copy(struct front *ret, const struct front *f);
/* Learners behind both see the same features. */
bool front_is_alike(const struct front *f, const struct front *other);
hunch_status front_merge(struct front *f, const struct front *other);

#endif
