/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on the scale in force: what scale.h says of each kind of column, entry by entry. */
#include "features/scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "numeric/linear_ops.h"

#define INLINE static inline __attribute__((always_inline))

const struct scale_column scale_unknown = {.curve = -1};

#define SPREAD 8 /* columns for each entry that a row may have to be laid out in full */

/* It takes less to lay a row out column by column than to merge its entries with the zeros that it leaves out. */
static bool is_laid_out(const struct scale *c, size_t n)
{
    return c->columns && c->columns <= SPREAD * (n + c->centreds);
}

size_t scale_room(const struct scale *c, size_t n)
{
    size_t merged = n + c->centreds;
    return (is_laid_out(c, n) && merged < c->columns ? c->columns : merged) + SCALE_SLACK;
}

bool scale_is_binary(const struct scale *c, uint32_t j)
{
    if (c->has_roles && scale_is_word(c, j))
        return false;
    return j >= c->columns || !(c->column[j].kind & SCALE_NUMERIC);
}

/* One row on its way out. */
struct writing {
    const struct scale *c;
    const struct scale_out *out;
    const uint32_t *zero; /* the next centred column of which it may leave out a zero */
    struct scaled row;
    double words;    /* squared length of the text, */
    size_t others;   /* and how many entries stand beside it */
    uint64_t always; /* rows of those: scale_always */
};

INLINE uint32_t column_of(const hunch_vec *x, size_t i)
{
    return x->index ? x->index[i] : (uint32_t)i;
}

INLINE void write_number(struct writing *w, uint32_t j, float z, bool text)
{
    if (z == 0)
        return;
    if (text)
        w->out->places[w->others++] = (uint32_t)w->row.n;
    w->out->index[w->row.n] = j;
    w->out->value[w->row.n++] = z;
    w->row.beside += (double)z * z;
}

/* Zeros of centred columns before column j that the row leaves out; and then of j it does not. */
INLINE void write_zeros(struct writing *w, uint32_t j, bool text)
{
    const struct scale *c = w->c;
    const uint32_t *end = c->centred + c->centreds;
    for (; w->zero < end && *w->zero < j; w->zero++)
        if (!text || c->column[*w->zero].known >= w->always)
            write_number(w, *w->zero, c->column[*w->zero].at_zero, text);
    w->zero += w->zero < end && *w->zero == j;
}

/* value: what the columns make of the entries, as far behind as zeros may push what is written: an entry is read before
 * its place is taken. */
static void write_merged(struct writing *w, const hunch_vec *x, const float *value)
{
    const struct scale_out out = *w->out;
    const uint32_t *end = w->c->centred + w->c->centreds;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = column_of(x, i);
        float z = value[i];
        if (w->zero < end && *w->zero < j) {
            w->row.n = n;
            write_zeros(w, j, false);
            n = w->row.n;
        } else {
            w->zero += w->zero < end && *w->zero == j;
        }
        out.index[n] = j;
        out.value[n] = z;
        n += z != 0;
    }
    w->row.n = n;
    write_zeros(w, UINT32_MAX, false);
}

/* Into the row that an example without entries would be. A dense one is laid out as it is. */
static void write_laid_out(struct writing *w, const struct linear_ops *ops, const hunch_vec *x, const float *value)
{
    const struct scale *c = w->c;
    const struct scale_out *out = w->out;
    const float *row = value;
    if (x->index || x->n < c->columns) {
        memcpy(out->room, c->rest, c->columns * sizeof *out->room);
        for (size_t i = 0; i < x->n; i++)
            out->room[column_of(x, i)] = value[i];
        row = out->room;
    }
    w->row.n = ops->nonzeros(row, c->columns, out->index, out->value);
}

static void write_numbers(struct writing *w, const struct linear_ops *ops, const hunch_vec *x, const float *value)
{
    if (scale_columns(x) <= w->c->columns && is_laid_out(w->c, x->n))
        write_laid_out(w, ops, x, value);
    else
        write_merged(w, x, value);
    w->row.energy = w->row.beside = ops->dot(w->out->value, w->out->value, w->row.n);
}

/* --- text --- */

/* An entry that is no word, or before which zeros of centred columns may be missing. */
static __attribute__((noinline)) void write_beside(struct writing *w, uint32_t j, float x)
{
    const struct scale_column *column = scale_column(w->c, j);
    if (x == 0)
        return;
    write_zeros(w, j, true);
    if (column->known >= w->always)
        write_number(w, j, scale_number(w->c, column, x), true);
}

/* value: what words make of the entries, as above; 0 of those that are none. */
static void write_words(struct writing *w, const hunch_vec *x, const float *value)
{
    const struct scale_out out = *w->out;
    const uint32_t *end = w->c->centred + w->c->centreds;
    uint32_t zero = w->zero < end ? *w->zero : UINT32_MAX;
    size_t n = 0;
    double words = 0;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = column_of(x, i);
        float z = value[i];
        if (z == 0 || j >= zero) {
            w->row.n = n;
            write_beside(w, j, x->value[i]);
            n = w->row.n;
            zero = w->zero < end ? *w->zero : UINT32_MAX;
            if (z == 0)
                continue;
        }
        out.index[n] = j;
        out.value[n++] = z;
        words += (double)z * z;
    }
    w->row.n = n;
    w->words = words;
    write_zeros(w, UINT32_MAX, true);
}

/* Text to length 1, what stands beside it to its share. */
static void write_lengths(struct writing *w)
{
    const struct scale_out *out = w->out;
    double length = sqrt(w->words),
           unit = length > 0 ? (scale_is_mixed(w->c) && w->c->words_length > 0 ? w->c->words_length : 1) / length : 0;
    bool tiny = unit > FLT_MAX; /* no float can lengthen it at once */
    float words = tiny ? FLT_MAX : (float)unit, rest = tiny ? (float)(unit / FLT_MAX) : 1, share = (float)w->c->share;
    for (size_t i = 0; i < w->others; i++)
        out->room[i] = out->value[out->places[i]] * share;
    for (size_t i = 0; i < w->row.n; i++)
        out->value[i] *= words;
    for (size_t i = 0; tiny && i < w->row.n; i++)
        out->value[i] *= rest;
    for (size_t i = 0; i < w->others; i++)
        out->value[out->places[i]] = out->room[i];
    w->row.energy = w->row.beside * w->c->share * w->c->share;
    if (!w->c->has_roles || w->row.energy == 0) /* else words have their own length, whatever stands beside them */
        w->row.energy += w->words > 0;
}

struct scaled scale_write(const struct scale *c, const struct linear_ops *ops, const hunch_vec *x,
                          const struct scale_out *out)
{
    struct writing w = {.c = c, .out = out, .zero = c->centred, .always = c->has_roles ? 0 : scale_always(c)};
    float *value = out->value + c->centreds;
    if (c->text) {
        ops->words(c, x, value);
        write_words(&w, x, value);
        write_lengths(&w);
    } else {
        ops->columns(c, x, value);
        write_numbers(&w, ops, x, value);
    }
    return w.row;
}

void scale_write_straight(const struct scale *c, const hunch_vec *x, const struct scale_row *row, float *ret)
{
    size_t at = 0;
    bool whole = row->n && row->column[row->n - 1] == row->n; /* and so are all columns before its last */
    if (!x->index && whole && row->n <= x->n) {
        for (size_t i = 0; i < row->n; i++)
            ret[i] = scale_straight(c, scale_column(c, (uint32_t)i), x->value[i]);
        return;
    }
    for (size_t i = 0; i < row->n; i++) {
        uint32_t j = row->column[i] - 1;
        while (at < x->n && column_of(x, at) < j)
            at++;
        float value = at < x->n && column_of(x, at) == j ? x->value[at] : 0; /* of centred columns zeros are left out */
        ret[i] = scale_straight(c, scale_column(c, j), value);
    }
}
