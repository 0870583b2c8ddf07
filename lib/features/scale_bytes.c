/* SPDX-License-Identifier: BSD-3-Clause */
/* The scale of a model: to bytes and back, and two of them made one. */
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "numeric/byte_stream.h"
#include "features/scale.h"

/* --- bytes --- */

static void put_curve(struct writer *w, const struct scale_curve *curve, const struct scale_sample *s)
{
    put(w, curve, sizeof *curve);
    put_u32(w, s->stride);
    put_u32(w, s->parity);
    put_u32(w, s->fill);
    put_u32(w, s->sorted);
    put_u32(w, s->fresh);
    put(w, s->value, s->fill * sizeof *s->value);
}

#define SUMS 7
enum { HAS_TEXT = 1, HAS_ROLES = 2, HAS_WORDS = 4 };

void scale_put(struct writer *w, const struct scale *c)
{
    const double sums[SUMS] = {c->rare, c->ones, c->entries, c->energy, c->beside, c->unit, c->share};
    put_u64(w, c->rows);
    put_u64(w, c->known);
    put_u64(w, c->next);
    put_u32(w, (uint32_t)c->columns);
    put_u32(w, (uint32_t)c->curves);
    put_u32(w, (c->text ? HAS_TEXT : 0) | (c->has_roles ? HAS_ROLES : 0) | (c->words ? HAS_WORDS : 0));
    put(w, sums, sizeof sums);
    for (size_t j = 0; j < c->columns; j++)
        put(w, &c->column[j], sizeof c->column[j]);
    for (size_t i = 0; i < c->curves; i++)
        put_curve(w, &c->curve[i], &c->sample[i]);
    if (!c->has_roles)
        return;
    const double words[] = {c->words_weight, c->words_length};
    put(w, words, sizeof words);
    put_u32(w, (uint32_t)c->described);
    put(w, c->role, c->described);
    put_u32(w, (uint32_t)c->plains);
    put(w, c->plain, c->plains * sizeof *c->plain);
}

static hunch_status take_roles(struct reader *r, struct scale *c, hunch_error *reterr)
{
    double words[2] = {0};
    const void *p = take(r, sizeof words);
    if (p)
        memcpy(words, p, sizeof words);
    if (!(words[0] >= 0 && words[0] <= 1 && words[1] >= 0 && words[1] <= 1))
        return damaged(reterr, "the weight of its words makes no sense");
    c->words_weight = words[0];
    c->words_length = words[1];
    size_t described = take_u32(r);
    const uint8_t *role = take(r, described);
    size_t plains = take_u32(r);
    const void *plain = plains <= described ? take(r, plains * sizeof *c->plain) : NULL;
    if (r->short_of || (plains && !plain))
        return damaged(reterr, "its features' roles are cut");
    for (uint32_t j = 0; j < described; j++)
        if (role[j] > HUNCH_WORD)
            return damaged(reterr, "its features' roles make no sense");
        else if (scale_set_role(c, j, role[j]) != HUNCH_OK)
            return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    if (!array_reserve(&c->plain, &c->plain_room, plains, sizeof *c->plain))
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    if (plains)
        memcpy(c->plain, plain, plains * sizeof *c->plain);
    for (uint32_t i = 0; i < plains; i++) {
        uint32_t j = c->plain[i];
        if (j >= described || role[j] != HUNCH_COLUMN || c->ordinal[j] != SCALE_NO_ORDINAL)
            return damaged(reterr, "its features' roles make no sense");
        c->ordinal[j] = i;
    }
    c->plains = plains;
    return HUNCH_OK;
}

static bool take_curve(struct reader *r, struct scale_curve *curve, struct scale_sample *s)
{
    const void *p = take(r, sizeof *curve);
    if (p)
        memcpy(curve, p, sizeof *curve);
    s->stride = take_u32(r);
    s->parity = take_u32(r) & 1;
    uint32_t fill = take_u32(r), sorted = take_u32(r), fresh = take_u32(r);
    if (fill > SCALE_SAMPLE || sorted > fill || fresh > fill || s->stride == 0)
        return false;
    s->fill = (uint16_t)fill;
    s->sorted = (uint16_t)sorted;
    s->fresh = (uint16_t)fresh;
    p = take(r, fill * sizeof *s->value);
    if (p)
        memcpy(s->value, p, fill * sizeof *s->value);
    for (uint32_t i = 0; i < fill && p; i++)
        if (!isfinite(s->value[i]))
            return false;
    return p != NULL;
}

static bool column_is_valid(const struct scale *c, const struct scale_column *column)
{
    return column->curve >= -1 && column->curve < (int64_t)c->curves && column->rows <= c->rows &&
           column->knots <= SCALE_KNOTS && (!column->knots || column->curve >= 0) &&
           column->centred <= (column->knots > 0) && column->known <= c->known && isfinite(column->mean) &&
           isfinite(column->size) && column->size >= 0 && isfinite(column->at_zero);
}

static bool curve_is_valid(const struct scale *c, const struct scale_column *column)
{
    const struct scale_curve *curve = column->curve >= 0 ? &c->curve[column->curve] : NULL;
    for (int i = 0; i < column->knots; i++)
        if (!isfinite(curve->knot[i]) || !isfinite(curve->piece[i].score) || !isfinite(curve->piece[i].slope) ||
            (i && curve->knot[i] <= curve->knot[i - 1]))
            return false;
    for (int i = column->knots; column->knots && i < SCALE_KNOTS; i++)
        if (curve->knot[i] != INFINITY)
            return false;
    return true;
}

static hunch_status take_columns(struct reader *r, struct scale *c, size_t columns, hunch_error *reterr)
{
    for (size_t j = 0; j < columns; j++) {
        const void *p = take(r, sizeof *c->column);
        if (!p)
            return damaged(reterr, "its columns are cut");
        memcpy(&c->column[j], p, sizeof *c->column);
        if (!column_is_valid(c, &c->column[j]))
            return damaged(reterr, "a column makes no sense");
        c->word[j] = scale_word(c, (uint32_t)j);
        if (c->column[j].centred)
            c->centred[c->centreds++] = (uint32_t)j;
        c->settled += (c->column[j].kind & SCALE_SETTLED) != 0;
    }
    c->columns = columns;
    for (size_t i = 0; i < c->curves; i++)
        if (!take_curve(r, &c->curve[i], &c->sample[i]))
            return damaged(reterr, "a column's sample makes no sense");
    for (size_t j = 0; j < columns; j++) {
        if (!curve_is_valid(c, &c->column[j]))
            return damaged(reterr, "a column's curve makes no sense");
        scale_derive(c, (uint32_t)j);
    }
    return HUNCH_OK;
}

hunch_status scale_take(struct reader *r, struct scale *ret, hunch_error *reterr)
{
    struct scale c = {.rows = take_u64(r), .lates = SCALE_ANY_LATE};
    c.known = take_u64(r);
    c.next = take_u64(r);
    size_t columns = take_u32(r), curves = take_u32(r);
    uint32_t has = take_u32(r);
    c.text = has & HAS_TEXT;
    c.words = has & HAS_WORDS;
    double sums[SUMS] = {0};
    const void *p = take(r, sizeof sums);
    if (p)
        memcpy(sums, p, sizeof sums);
    if (!p || columns > r->left / sizeof *c.column || curves > r->left / sizeof *c.curve)
        return damaged(reterr, "its scale is cut");
    for (int i = 0; i < SUMS; i++)
        if (!(sums[i] >= 0 && sums[i] < INFINITY))
            return damaged(reterr, "its scale makes no sense");
    c.rare = sums[0];
    c.ones = sums[1];
    c.entries = sums[2];
    c.energy = sums[3];
    c.beside = sums[4];
    c.unit = sums[5];
    c.share = sums[6];
    c.curves = curves;
    hunch_status status = HUNCH_OK;
    if (!scale_make_room(&c, &(struct scale_sizes){columns, curves, columns}))
        status = error_set(reterr, HUNCH_ENOMEM, "out of memory");
    if (status == HUNCH_OK)
        status = take_columns(r, &c, columns, reterr);
    if (status == HUNCH_OK && has & HAS_ROLES)
        status = take_roles(r, &c, reterr);
    if (status != HUNCH_OK) {
        scale_free(&c);
        return status;
    }
    *ret = c;
    return HUNCH_OK;
}

/* --- merging --- */

static void column_merge(struct scale *c, const struct scale *other, uint32_t j)
{
    struct scale_column *column = &c->column[j];
    const struct scale_column *more = &other->column[j];
    if (!more->rows)
        return;
    double rows = (double)column->rows + more->rows;
    column->mean = (float)((column->rows * (double)column->mean + more->rows * (double)more->mean) / rows);
    column->rows = (uint32_t)fmin(rows, UINT32_MAX);
    column->seen |= more->seen;
    if (more->curve >= 0 && column->curve >= 0) {
        sample_merge(&c->sample[column->curve], &other->sample[more->curve]);
        column->wait = 0;
    } else if (more->curve >= 0) {
        c->sample[c->curves] = other->sample[more->curve];
        column->wait = more->wait;
        c->curve[c->curves] = other->curve[more->curve];
        c->line[c->curves] = other->line[more->curve];
        column->curve = (int32_t)c->curves++;
    }
    if (column->curve >= 0)
        c->sample[column->curve].fresh = c->sample[column->curve].fill;
}

hunch_status scale_merge(struct scale *c, const struct scale *other)
{
    if (!scale_make_room(c,
                         &(struct scale_sizes){other->columns, c->curves + other->curves, c->columns + other->columns}))
        return HUNCH_ENOMEM;
    for (uint32_t j = 0; other->has_roles && j < other->described; j++)
        if ((j >= c->described || !c->role[j]) && scale_set_role(c, j, other->role[j]) != HUNCH_OK)
            return HUNCH_ENOMEM;
    if (scale_meet(c, &(hunch_vec){other->plain, NULL, other->plains}) != HUNCH_OK)
        return HUNCH_ENOMEM;
    c->words |= other->words;
    c->columns = other->columns > c->columns ? other->columns : c->columns;
    c->rows += other->rows;
    c->rare += other->rare;
    c->ones += other->ones;
    c->entries += other->entries;
    c->energy += other->energy;
    c->beside += other->beside;
    for (size_t j = 0; j < other->columns; j++)
        column_merge(c, other, (uint32_t)j);
    c->lates = SCALE_ANY_LATE;
    scale_refresh(c);
    return HUNCH_OK;
}
