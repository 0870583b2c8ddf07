/* SPDX-License-Identifier: BSD-3-Clause */
#include "features/front.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "numeric/byte_stream.h"
#include "numeric/linear_ops.h"
#include "numeric/zeros.h"

#define CONSTANT 0.3f     /* beside columns of length 1 */
#define PAIRS_FROM 3      /* 0/1 entries per row that are worth pairing ... */
#define PAIRS_TO 64       /* ... and that can be afforded */
#define PAIRS_FEWEST 1024 /* places for pairs */
#define PAIRS_MAX 16384
#define FEW_COLUMNS 64 /* columns for which twice the directions can be afforded */
#define DIRECTIONS 128

void front_init(struct front *f, int map, double bias)
{
    *f = (struct front){.automatic = map == MAP_AUTO, .constant = (float)bias, .scale = {.unit = 1, .share = 1}};
    f->map.kind = f->automatic ? MAP_NONE : map;
    f->map.directions = DIRECTIONS;
    f->map.pairs = PAIRS_FEWEST;
}

void front_free(struct front *f)
{
    scale_free(&f->scale);
    map_free(&f->map);
    relevance_free(&f->relevance);
}

void front_room_free(struct front_room *room)
{
    free(room->index);
    free(room->columns);
    free(room->ones);
    free(room->value);
    free(room->weighted);
    free(room->straight);
    free(room->word_index);
    free(room->plain_index);
    free(room->word);
    free(room->plain);
    free(room->steps);
    free(room->scratch);
    *room = (struct front_room){0};
}

uint32_t front_columns_from(const struct front *f)
{
    return map_features(&f->map);
}

/* Of that many columns the first have weights, with Fourier. */
static size_t weighed(const struct map *m, size_t columns)
{
    size_t max = m->kind & MAP_FOURIER ? MAP_COLUMNS : 0;
    return columns < max ? columns : max;
}

static size_t columns_with(const struct front *f, const hunch_vec *x)
{
    size_t columns = scale_columns(x);
    return columns > f->scale.columns ? columns : f->scale.columns;
}

uint32_t front_features(const struct front *f, const hunch_vec *x)
{
    return front_columns_from(f) + 1 + (uint32_t)columns_with(f, x);
}

uint64_t front_bytes(const struct front *f)
{
    return scale_bytes(&f->scale) + map_bytes(&f->map) + relevance_bytes(&f->relevance);
}

/* --- what the rows are --- */

static int map_choose(const struct front *f, bool text)
{
    const struct scale *c = &f->scale;
    double rows = (double)c->rows, ones = (c->ones + c->rare) / rows;
    if (text && !c->has_roles)
        return MAP_NONE;
    int kind = c->curves > 1 && scale_plains(c) <= MAP_COLUMNS ? MAP_FOURIER : MAP_NONE;
    bool few = kind && ones < 0.5 * (double)c->curves;
    return ones >= PAIRS_FROM && ones <= PAIRS_TO && !few ? kind | MAP_PAIRS : kind;
}

static uint32_t pairs_choose(size_t columns)
{
    uint64_t places = PAIRS_FEWEST;
    while (places < PAIRS_MAX && places < (uint64_t)columns * columns / 2)
        places *= 4;
    return (uint32_t)places;
}

/* What the rows seen so far ask for, if that is something else than now. */
static void front_decide(struct front *f, struct front_change *ret)
{
    const struct map *now = &f->map;
    struct map m = *now;
    ret->text = scale_looks_like_text(&f->scale);
    ret->features = ret->text != f->scale.text;
    if (f->automatic)
        m.kind = map_choose(f, ret->text);
    m.directions = scale_plains(&f->scale) <= FEW_COLUMNS ? MAP_DIRECTIONS : DIRECTIONS;
    m.pairs = pairs_choose(scale_plains(&f->scale));
    bool fourier = m.kind & MAP_FOURIER && m.directions != now->directions;
    bool pairs = m.kind & MAP_PAIRS && m.pairs != now->pairs;
    ret->features |= m.kind != now->kind || fourier || pairs;
    if (!ret->features)
        return;
    m.direction = NULL;
    m.columns = 0;
    /* No memory: all stays as it is. */
    ret->features = relevance_reserve(&f->relevance, weighed(&m, scale_plains(&f->scale))) == HUNCH_OK &&
                    map_reserve(&m, scale_plains(&f->scale)) == HUNCH_OK;
    ret->map = m;
    ret->mapped = map_features(&m);
}

void front_commit(struct front *f, struct front_change *change)
{
    map_free(&f->map);
    relevance_begin(&f->relevance);
    f->map = change->map;
    scale_set_text(&f->scale, change->text);
    change->writing = true;
}

void front_discard(struct front_change *change)
{
    map_free(&change->map);
}

/* --- rows --- */

static hunch_status room_reserve(const struct front *f, size_t n, struct front_room *room)
{
    size_t columns = 1 + scale_room(&f->scale, n), entries = columns + map_room(&f->map), had = room->entries;
    if (!array_reserve(&room->index, &room->entries, entries, sizeof *room->index))
        return HUNCH_ENOMEM;
    if (room->entries != had && (!array_resize(&room->value, room->entries, sizeof *room->value) ||
                                 !array_resize(&room->weighted, room->entries, sizeof *room->weighted) ||
                                 !array_resize(&room->straight, room->entries, sizeof *room->straight) ||
                                 !array_resize(&room->steps, room->entries, sizeof *room->steps) ||
                                 !array_resize(&room->columns, room->entries, sizeof *room->columns) ||
                                 !array_resize(&room->word_index, room->entries, sizeof *room->word_index) ||
                                 !array_resize(&room->plain_index, room->entries, sizeof *room->plain_index) ||
                                 !array_resize(&room->word, room->entries, sizeof *room->word) ||
                                 !array_resize(&room->plain, room->entries, sizeof *room->plain))) {
        room->entries = had;
        return HUNCH_ENOMEM;
    }
    if (f->map.kind & MAP_PAIRS && !array_reserve(&room->ones, &room->ones_room, columns, sizeof *room->ones))
        return HUNCH_ENOMEM;
    size_t scratches = map_scratch(&f->map);
    if (scratches > room->scratches) {
        real *scratch = zeros_allocate(scratches, sizeof *scratch);
        if (!scratch)
            return HUNCH_ENOMEM;
        free(room->scratch);
        room->scratch = scratch;
        room->scratches = scratches;
    }
    return HUNCH_OK;
}

/* The entries that pairs are made of, in order. */
static size_t ones_list(const struct scale *c, const uint32_t *index, size_t n, uint32_t *ret)
{
    size_t ones = 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = ones;
        if (!scale_is_binary(c, index[i]) || !scale_has_ordinal(c, index[i]))
            continue;
        uint32_t number = scale_ordinal(c, index[i]);
        for (ones++; at > 0 && ret[at - 1] > number; at--)
            ret[at] = ret[at - 1];
        ret[at] = number;
    }
    return ones;
}

/* Entries of columns that were seen before: the others turn no wave yet, whether they could or not. */
static size_t seen_count(const struct scale *c, const uint32_t *index, size_t n)
{
    while (n && index[n - 1] >= c->columns)
        n--;
    return n;
}

/* Where in the buffers the row's columns are written first: behind all that may come before them. */
static size_t columns_place(const struct front *f)
{
    return map_room(&f->map) + 1;
}

/* Where words stand beside columns: the columns alone, by their ordinals. */
static struct vec_part plain_part(const struct scale *c, const uint32_t *index, const float *value, size_t n,
                                  struct front_room *room)
{
    struct vec_part part = {room->plain_index, room->plain, 0, 0};
    for (size_t i = 0; i < n; i++)
        if (scale_has_ordinal(c, index[i])) {
            room->plain_index[part.n] = c->ordinal[index[i]];
            room->plain[part.n++] = value[i];
        }
    part.all = part.n;
    return part;
}

/* What the map makes of the row's n columns; returns how many features. */
static size_t row_map(const struct front *f, const struct linear_ops *ops, struct front_room *room, size_t n,
                      const struct vec_part *plain)
{
    size_t from = columns_place(f), seen = seen_count(&f->scale, room->index + from, n);
    const uint32_t *index = plain->index ? plain->index : room->index + from;
    const float *value = plain->index ? plain->value : room->value + from;
    seen = plain->index ? plain->n : seen;
    struct map_input in = {.ops = ops,
                           .weighted = {.index = vec_is_dense(index, seen) ? NULL : index,
                                        .value = room->weighted,
                                        .n = seen,
                                        .all = seen},
                           .one = (float)(f->scale.unit * (f->scale.text ? f->scale.share : 1)),
                           .steps = room->steps,
                           .scratch = room->scratch};
    if (f->map.kind & MAP_FOURIER)
        relevance_weigh(&f->relevance, index, value, seen, room->weighted);
    if (f->map.kind & MAP_PAIRS) {
        in.paired = ones_list(&f->scale, room->index + from, n, room->ones);
        in.ones = room->ones;
    }
    return map_write(&f->map, &in, room->index, room->value);
}

/* The words of a row as learners see it, set apart. */
static struct vec_part words_part(const struct scale *c, struct front_room *room, size_t from, size_t n)
{
    struct vec_part part = {room->word_index, room->word, 0, 0};
    for (size_t i = from; i < n; i++)
        if (room->columns[i] && scale_is_word(c, room->columns[i] - 1)) {
            room->word_index[part.n] = room->index[i];
            room->word[part.n++] = room->value[i];
        }
    part.all = part.n;
    return part;
}

/* The constant stands before the columns, which move on by one. */
static void part_finish(struct front_room *room, float constant, struct vec_part *inout)
{
    for (size_t i = inout->n; i-- > 0;) {
        room->plain_index[i + (constant != 0)] = room->plain_index[i] + 1;
        room->plain[i + (constant != 0)] = room->plain[i];
    }
    if (constant != 0) {
        room->plain_index[0] = 0;
        room->plain[0] = constant;
        inout->n = ++inout->all;
    }
}

/* The row's columns stand at the buffers' end: bring them to length, put the constant and the map before them. */
static void row_finish(const struct front *f, const struct linear_ops *ops, struct front_room *room, bool mapped,
                       struct vec *ret)
{
    const struct scale *c = &f->scale;
    size_t from = columns_place(f), n = 0;
    const struct scaled *row = &room->row;
    struct vec_part plain = {0}, words = {0};
    uint32_t *index = room->index + from, features = front_columns_from(f);
    float *value = room->value + from, unit = (float)c->unit;
    bool apart = scale_is_mixed(c) || (c->has_roles && c->text && f->constant != 0);
    for (size_t i = 0; i < row->n; i++)
        value[i] *= unit;
    if (apart)
        plain = plain_part(c, index, value, row->n, room);
    if (f->map.kind && mapped)
        n = row_map(f, ops, room, row->n, &plain);
    size_t made = n;
    bool lone = f->map.kind == MAP_PAIRS || (c->text && !(apart && c->curves));
    float constant = f->constant != 0 ? f->constant : lone ? 0 : CONSTANT;
    if (constant != 0) {
        room->index[n] = features;
        room->columns[n] = 0;
        room->value[n++] = constant;
    }
    for (size_t i = 0; i < row->n; i++) {
        room->columns[n] = 1 + index[i];
        room->index[n] = features + room->columns[n];
        room->value[n++] = value[i];
    }
    if (apart) {
        part_finish(room, constant, &plain);
        words = words_part(c, room, made, n);
    }
    double absolute = 0;
    for (size_t i = 0; c->text && i < (apart ? words.n : n); i++)
        absolute += fabsf(apart ? words.value[i] : room->value[i]);
    bool dense = !(f->map.kind & MAP_PAIRS) && vec_is_dense(room->index, n);
    *ret = (struct vec){.index = dense ? NULL : room->index,
                        .value = room->value,
                        .n = n,
                        .all = n,
                        .mapped = made,
                        .columns = room->columns,
                        .words = words,
                        .plain = plain,
                        .norm2 = ops->dot(room->value, room->value, n),
                        .absolute = absolute};
}

/* The row's columns once more, along straight lines, behind what stands before them. */
static void row_straighten(const struct front *f, const hunch_vec *x, struct front_room *room, struct vec *inout)
{
    size_t from = inout->n - room->row.n;
    float unit = (float)f->scale.unit;
    if (f->scale.text || !f->scale.curves)
        return;
    memcpy(room->straight, room->value, from * sizeof *room->straight);
    scale_write_straight(&f->scale, x, &(struct scale_row){room->columns + from, room->row.n}, room->straight + from);
    for (size_t i = from; i < inout->n; i++)
        room->straight[i] *= unit;
    inout->straight = room->straight;
}

hunch_status front_reserve(struct front *f, const hunch_vec *x)
{
    size_t columns = columns_with(f, x);
    hunch_status status = scale_reserve(&f->scale, columns, x->n);
    if (status == HUNCH_OK)
        status = scale_meet(&f->scale, x);
    columns = scale_is_mixed(&f->scale) ? f->scale.plains : columns;
    if (status == HUNCH_OK)
        status = relevance_reserve(&f->relevance, weighed(&f->map, columns));
    return status == HUNCH_OK ? map_reserve(&f->map, columns) : status;
}

hunch_status front_write(const struct front *f, const struct linear_ops *ops, const hunch_vec *x, unsigned wants,
                         struct front_room *room, struct vec *ret)
{
    hunch_status status = room_reserve(f, x->n, room);
    if (status != HUNCH_OK)
        return status;
    size_t from = columns_place(f);
    struct scale_out out = {room->index + from, room->value + from, room->weighted, room->columns};
    room->row = scale_write(&f->scale, ops, x, &out);
    row_finish(f, ops, room, wants & WANT_MAP, ret);
    if (wants & WANT_STRAIGHT)
        row_straighten(f, x, room, ret);
    return HUNCH_OK;
}

struct front_change front_observe(struct front *f, const hunch_vec *x, const struct scaled *row)
{
    struct front_change change = {.text = f->scale.text};
    scale_observe(&f->scale, x, row);
    uint64_t rows = f->scale.rows;
    if (rows <= FRONT_DECIDES && !(rows & (rows - 1)))
        front_decide(f, &change);
    change.writing = scale_is_due(&f->scale);
    if (change.writing)
        scale_refresh(&f->scale);
    return change;
}

void front_restart(struct front *f)
{
    relevance_restart(&f->relevance);
}

bool front_count(struct front *f, const struct vec *x, const struct front_answer *answer)
{
    if (!(f->map.kind & MAP_FOURIER))
        return false;
    bool is_looked_at = relevance_count(&f->relevance, answer->right);
    const struct vec plain = {.index = x->plain.index, .value = x->plain.value, .n = x->plain.n};
    if (answer->is_known && plain.index)
        relevance_note(&f->relevance, &plain, 1, answer->label);
    else if (answer->is_known)
        relevance_note(&f->relevance, x, front_columns_from(f) + 1, answer->label);
    return is_looked_at;
}

void front_learn(struct front *f, const struct linear_ops *ops, const struct vec *x, const real *lead)
{
    struct relevance_look look = {ops, &f->map, x, lead, scale_is_mixed(&f->scale) ? f->scale.plain : NULL};
    relevance_learn(&f->relevance, &look, weighed(&f->map, scale_plains(&f->scale)));
}

/* --- bytes and merging --- */

void front_put(struct writer *w, const struct front *f)
{
    put_u32(w, (uint32_t)f->map.kind);
    put_u32(w, f->map.directions);
    put_u32(w, f->map.pairs);
    scale_put(w, &f->scale);
    relevance_put(w, &f->relevance, weighed(&f->map, scale_plains(&f->scale)));
}

hunch_status front_take(struct reader *r, struct front *f, hunch_error *reterr)
{
    uint32_t kind = take_u32(r), directions = take_u32(r), pairs = take_u32(r);
    if (r->short_of || kind > (MAP_FOURIER | MAP_PAIRS) || directions % 16 || !directions ||
        directions > MAP_DIRECTIONS || !pairs || pairs > PAIRS_MAX)
        return damaged(reterr, "its map makes no sense");
    hunch_status status = scale_take(r, &f->scale, reterr);
    f->map.kind = (int)kind;
    f->map.directions = directions;
    f->map.pairs = pairs;
    size_t columns = scale_plains(&f->scale);
    if (status == HUNCH_OK)
        status = relevance_take(r, &f->relevance, weighed(&f->map, columns), reterr);
    if (status != HUNCH_OK)
        return status;
    if (map_reserve(&f->map, columns) != HUNCH_OK ||
        relevance_reserve(&f->relevance, weighed(&f->map, columns)) != HUNCH_OK)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    return HUNCH_OK;
}

hunch_status front_copy(struct front *ret, const struct front *f)
{
    struct writer w = {NULL, 0};
    front_put(&w, f);
    w = (struct writer){malloc(w.used), 0};
    if (!w.bytes)
        return HUNCH_ENOMEM;
    front_put(&w, f);
    struct reader r = {w.bytes, w.used, false};
    struct front copy = {.automatic = f->automatic, .constant = f->constant};
    hunch_status status = front_take(&r, &copy, NULL);
    free(w.bytes);
    if (status == HUNCH_OK)
        *ret = copy;
    else
        front_free(&copy);
    return status;
}

bool front_is_alike(const struct front *f, const struct front *other)
{
    const struct map *a = &f->map, *b = &other->map;
    return f->scale.text == other->scale.text && f->scale.has_roles == other->scale.has_roles && a->kind == b->kind &&
           (!(a->kind & MAP_FOURIER) || a->directions == b->directions) &&
           (!(a->kind & MAP_PAIRS) || a->pairs == b->pairs);
}

hunch_status front_merge(struct front *f, const struct front *other)
{
    size_t columns = f->scale.columns > other->scale.columns ? f->scale.columns : other->scale.columns;
    hunch_status status = map_reserve(&f->map, columns);
    if (status == HUNCH_OK)
        status = relevance_merge(&f->relevance, &other->relevance, weighed(&other->map, other->scale.columns));
    return status == HUNCH_OK ? scale_merge(&f->scale, &other->scale) : status;
}
