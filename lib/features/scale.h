/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Columns on a common scale, learned while reading: what scale=auto does to an example before a learner sees it. The
 * rules and their reasons stand in docs/explanation/scale-and-map.md.
 *
 * A column is one feature of the examples as they are given.
 *   0/1 columns stay as they are.
 *   Numbers: z = (q(x) + (x - mean)/sd) / 2, where q is the normal score of x's rank and mean and sd are winsorised.
 *     All three come from a sample of the column's values and are stored as a curve of at most SCALE_KNOTS straight
 *     pieces. Where most values are 0, the score of 0 is subtracted, so that zeros stay zeros and sparse rows sparse.
 *   Rare columns (not 0 in less than a twentieth of the rows) of numbers: x over its mean size, at most 5.
 *   Words: counts c become 1 + log c, every entry is multiplied by log(1 + rows / rows with it), and a row's words are
 *     brought to length 1. Which columns are words, the caller says (scale_set_role); the others stand beside them as
 *     they would without, with a mean squared length of 1. Where nobody says, rows with more than eight rare entries on
 *     average are text: all columns that are not always there are words, and the others stand beside them at half their
 *     length.
 *
 * So one extreme value changes a column's curve by one of SCALE_SAMPLE values only, and its own z is bounded.
 */
#ifndef SCALE_H
#define SCALE_H

#include "numeric/vec.h"
#include "features/curve.h"

struct writer;
struct reader;

/* What was seen of a column, and what is in force: rows are written by the latter, which follows the former at certain
 * rounds only. In between a row is written in the same way before and after it was seen. */
struct scale_column {
    uint32_t rows;   /* examples in which it was not 0 */
    float mean;      /* running mean of |x| */
    int32_t curve;   /* the number of its curve and its sample; -1: none */
    uint32_t known;  /* in force: rows */
    float size;      /* in force: mean */
    float at_zero;   /* in force: the curve's score of 0 */
    uint32_t wait;   /* values to leave out before the sample takes the next */
    uint8_t seen;    /* SCALE_NUMERIC: a value other than 0 and 1 was seen; SCALE_FRACTION: one that is no count */
    uint8_t kind;    /* in force: seen, and whether it is settled */
    uint8_t knots;   /* in force: of the curve; 0: there is none yet */
    uint8_t centred; /* in force: most values are not 0: a 0 has a score, too */
};

#define SCALE_WHOLE_FROM 8388608 /* numbers from 2^23 on have no fraction */
#define SCALE_DECIDES 256 /* rows after which text stays text, and what is no text does not become it: see front.h */

/* SCALE_SETTLED, of what is in force: its curve follows slowly, so that one of SCALE_SPARE rows is enough of it. */
enum { SCALE_NUMERIC = 1, SCALE_FRACTION = 2, SCALE_SETTLED = 4 };
#define SCALE_SPARE 8

/* slope (x - from) + score */
struct scale_line {
    float slope, from, score;
};

struct scale {
    uint64_t rows;
    uint64_t known, next; /* rows at which the statistics in force were taken, and will be */
    bool text;            /* rows hold words: see scale_set_text */
    bool has_roles;       /* which columns are words, the caller says */
    uint8_t *role;        /* of each of the first `described` columns, if so: enum hunch_role */
    size_t described;
    bool words;        /* one that is a word was seen */
    uint32_t *ordinal; /* of each that is no word, once it is seen: its number among those; else SCALE_NO_ORDINAL */
    uint32_t *plain;   /* and which column has that number */
    size_t plains;
    struct scale_column *column;
    float *word; /* of each in force: known, in few bytes; -known: SCALE_FRACTION; infinite: told to be none */
    float *rest; /* of each in force: what a row that leaves it out holds */
    size_t columns, column_room, word_room, rest_room, role_room, ordinal_room,
        plain_room; /* columns: the largest index seen + 1 */
    size_t settled; /* of them */
    struct scale_curve *curve;
    struct scale_line *line; /* the straight line through the quartiles of each curve */
    struct scale_sample *sample;
    size_t curves, curve_room, line_room, sample_room;
    uint32_t *centred; /* which columns are, in order */
    size_t centreds, centred_room;
    uint32_t *late;          /* columns seen since the statistics in force were taken */
    size_t lates, late_room; /* SCALE_ANY_LATE: it may be any */
    double rare, ones;       /* entries so far: of rare columns; of other 0/1 columns */
    double entries;          /* and of all */
    double energy, beside;   /* sums of |z|^2 so far: of whole rows; of what stands beside text */
    double words_weight;     /* length of a row's words beside columns, 0: 1; and in force: */
    double words_length;
    double unit, share; /* in force: what brings rows to length 1; what stands beside text to its share */
};

#define SCALE_NO_ORDINAL UINT32_MAX
#define SCALE_ANY_LATE SIZE_MAX

void scale_free(struct scale *c);

/* The largest column of a row, and 1. */
static inline size_t scale_columns(const hunch_vec *x)
{
    return !x->n ? 0 : x->index ? (size_t)x->index[x->n - 1] + 1 : x->n;
}

/* Room for what a row with that many entries, of n columns in all, may bring. May fail, with nothing changed. */
hunch_status scale_reserve(struct scale *c, size_t columns, size_t n);
/* Take x, for which there is room, into the statistics, and what it was written as. */
struct scaled;
void scale_observe(struct scale *c, const hunch_vec *x, const struct scaled *row);
/* Rows are to be written by all that was seen so far. */
bool scale_is_due(const struct scale *c);
void scale_refresh(struct scale *c);
void scale_set_text(struct scale *c, bool text);
/* Rows hold words, as the caller said, or else as it seems from what was seen so far. */
bool scale_looks_like_text(const struct scale *c);
/* From now on the roles that are set here count; a column has one role for good. May fail for want of memory, with
 * nothing changed. */
hunch_status scale_set_role(struct scale *c, uint32_t j, hunch_role role);
/* If roles are given: features of x without one are words if words were seen before, and else columns; columns get their
 * ordinals. May fail for want of memory, with nothing changed. */
hunch_status scale_meet(struct scale *c, const hunch_vec *x);
/* Words stand beside columns, which have numbers of their own: their ordinals. */
static inline bool scale_is_mixed(const struct scale *c)
{
    return c->has_roles && c->text && c->plains > 0;
}
/* Columns that maps are made of. */
static inline size_t scale_plains(const struct scale *c)
{
    return c->has_roles && c->text ? c->plains : c->columns;
}
static inline bool scale_has_ordinal(const struct scale *c, uint32_t j)
{
    return !scale_is_mixed(c) || (j < c->described && c->ordinal[j] != SCALE_NO_ORDINAL);
}
static inline uint32_t scale_ordinal(const struct scale *c, uint32_t j)
{
    return scale_is_mixed(c) ? c->ordinal[j] : j;
}

/* Rows in which a column must have been seen to be always there: if roles are not told it is no word then, but stands
 * beside them. */
#define SCALE_ALWAYS 0.98
static inline uint64_t scale_always(const struct scale *c)
{
    return c->has_roles ? UINT64_C(1) << 62 : (uint64_t)ceil(SCALE_ALWAYS * (double)c->known);
}
static inline bool scale_is_word(const struct scale *c, uint32_t j)
{
    if (c->has_roles) /* what comes late without a role is more often a word than a column */
        return j < c->described && c->role[j] ? c->role[j] == HUNCH_WORD : c->words;
    return c->text && (j >= c->columns || c->column[j].known < scale_always(c));
}

/* What a row that is no text holds in this column. */
static inline float scale_number(const struct scale *c, const struct scale_column *column, float x)
{
    if (column->knots) {
        float shift[] = {column->at_zero, 0};
        float z = curve_score(&c->curve[column->curve], x) - shift[column->centred];
        return x == 0 ? shift[!column->centred] : z;
    }
    if (!(column->kind & SCALE_NUMERIC))
        return x == 1;
    return column->known > 1 ? fminf(fmaxf(x / column->size, -CURVE_LARGEST), CURVE_LARGEST) : 0;
}

/* The same along a straight line: for learners that what is bent would lead astray for good, however many rows they
 * see. */
static inline float scale_straight(const struct scale *c, const struct scale_column *column, float x)
{
    if (!column->knots)
        return scale_number(c, column, x);
    const struct scale_line *line = &c->line[column->curve];
    float z = line->score + line->slope * (x - line->from);
    return z < -CURVE_LARGEST ? -CURVE_LARGEST : z > CURVE_LARGEST ? CURVE_LARGEST : z;
}

extern const struct scale_column scale_unknown; /* a column that was never seen */
static inline const struct scale_column *scale_column(const struct scale *c, uint32_t j)
{
    return j < c->columns ? &c->column[j] : &scale_unknown;
}

/* How many entries scale_write may write for an example of n, with room to work in. */
size_t scale_room(const struct scale *c, size_t n);
#define SCALE_SLACK 16 /* of it, for numbers that are written in whole vectors */
/* What a row came to. */
struct scaled {
    size_t n;
    double energy, beside; /* squared lengths: of all of it; of what stands beside text, before its share is set */
};
/* Where its entries go, and room to work in: scale_room of each. */
struct scale_out {
    uint32_t *index;
    float *value, *room;
    uint32_t *places;
};
/* The entries of x, scaled, in the order of columns (scale_write.c). */
struct linear_ops;
struct scaled scale_write(const struct scale *c, const struct linear_ops *ops, const hunch_vec *x,
                          const struct scale_out *out);
/* What the row that was written holds along straight lines (scale_straight), for its entries, which are numbered
 * from 1.
 */
struct scale_row {
    const uint32_t *column;
    size_t n;
};
void scale_write_straight(const struct scale *c, const hunch_vec *x, const struct scale_row *row, float *ret);
/* The column is one of 0 and 1, as far as is known. */
bool scale_is_binary(const struct scale *c, uint32_t j);

/* Room for that many of each; false: out of memory. */
struct scale_sizes {
    size_t columns, curves, centred;
};
bool scale_make_room(struct scale *c, const struct scale_sizes *sizes);
/* What is in force of a column as a word: see struct scale. */
static inline float scale_word(const struct scale *c, uint32_t j)
{
    float rows = (float)c->column[j].known;
    if (c->has_roles && !scale_is_word(c, j))
        return INFINITY;
    return c->column[j].kind & SCALE_FRACTION ? -rows : rows;
}
/* Of one that was never seen. */
static inline float scale_word_unknown(const struct scale *c)
{
    return c->has_roles && !c->words ? INFINITY : 0;
}
/* What follows from a column's curve: see struct scale. */
void scale_derive(struct scale *c, uint32_t j);

/* scale_bytes.c */
void scale_put(struct writer *w, const struct scale *c);
hunch_status scale_take(struct reader *r, struct scale *ret, hunch_error *reterr);
/* Add what other has seen. May fail for want of memory, with nothing changed. */
hunch_status scale_merge(struct scale *c, const struct scale *other);
uint64_t scale_bytes(const struct scale *c);

#endif
