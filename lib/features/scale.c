/* SPDX-License-Identifier: BSD-3-Clause */
#include "features/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rng.h"
#include "numeric/linear_ops.h"

#define RARE 0.05          /* columns that are not 0 in a smaller share of the rows are rare */
#define FIRST_ROWS 32      /* as long as no column can be recognised as rare */
#define TEXT_ENTRIES 8     /* rare entries per row that make rows text */
#define CENTRED 0.5        /* a larger share makes a column centred ... */
#define CENTRED_STILL 0.25 /* ... and as much lets it stay so */
#define SIZE_ROWS 64       /* rows that the running mean of |x| looks back on */
#define REFRESH 64         /* what is in force follows when a sixty-fourth more rows were seen, ... */
#define REFRESH_MAX 1024   /* ... or as many, and a curve when as much of its sample is new: in small steps */
#define BESIDE_TEXT 0.25   /* energy of what stands beside text, whose own is 1 */
#define WORDS_MIN 0.1      /* length of a row's words beside columns */
#define AHEAD 8            /* entries whose columns are fetched beforehand */

void scale_free(struct scale *c)
{
    free(c->column);
    free(c->word);
    free(c->rest);
    free(c->role);
    free(c->ordinal);
    free(c->plain);
    free(c->curve);
    free(c->line);
    free(c->sample);
    free(c->centred);
    free(c->late);
    *c = (struct scale){.unit = 1, .share = 1};
}

uint64_t scale_bytes(const struct scale *c)
{
    return c->column_room * sizeof *c->column + c->word_room * sizeof *c->word + c->rest_room * sizeof *c->rest +
           c->role_room + c->ordinal_room * sizeof *c->ordinal + c->plain_room * sizeof *c->plain +
           c->curve_room * sizeof *c->curve + c->line_room * sizeof *c->line + c->sample_room * sizeof *c->sample +
           c->centred_room * sizeof *c->centred + c->late_room * sizeof *c->late;
}

/* Before a column can be rare, what tells is how few of all columns a row has. */
bool scale_looks_like_text(const struct scale *c)
{
    if (c->has_roles)
        return c->words;
    double max = TEXT_ENTRIES * (double)c->rows;
    bool few = c->entries < RARE * (double)c->rows * (double)c->columns;
    return c->rare > max || (c->rows <= FIRST_ROWS && c->entries > max && few);
}

static void centred_insert(struct scale *c, uint32_t j)
{
    size_t i = c->centreds++;
    for (; i > 0 && c->centred[i - 1] > j; i--)
        c->centred[i] = c->centred[i - 1];
    c->centred[i] = j;
}

static void centred_remove(struct scale *c, uint32_t j)
{
    size_t i = 0;
    while (c->centred[i] != j)
        i++;
    memmove(c->centred + i, c->centred + i + 1, (c->centreds - i - 1) * sizeof *c->centred);
    c->centreds--;
}

static void centred_set(struct scale *c, uint32_t j, bool centred)
{
    if (centred && !c->column[j].centred)
        centred_insert(c, j);
    if (!centred && c->column[j].centred)
        centred_remove(c, j);
    c->column[j].centred = centred;
}

void scale_derive(struct scale *c, uint32_t j)
{
    const struct scale_column *column = &c->column[j];
    c->rest[j] = column->centred ? column->at_zero : 0;
    if (!column->knots)
        return;
    const struct scale_curve *curve = &c->curve[column->curve];
    int low = column->knots / 4, high = 3 * column->knots / 4; /* knots are spread evenly over the ranks */
    float rise = curve->piece[high].score - curve->piece[low].score, width = curve->knot[high] - curve->knot[low];
    struct scale_line line = {width > 0 ? rise / width : 0, curve->knot[low], curve->piece[low].score};
    c->line[column->curve] = column->centred ? line : (struct scale_line){line.slope, 0, 0};
}

static void curve_draw(struct scale *c, uint32_t j)
{
    struct scale_column *column = &c->column[j];
    struct scale_sample *s = &c->sample[column->curve];
    /* The rows of a settled column are counted in eights. */
    bool always = sample_is_settled(s) && column->rows + 2 * SCALE_SPARE >= c->rows;
    double nonzero = always ? 1 : (double)column->rows / (double)c->rows;
    bool centred = nonzero > (column->centred ? CENTRED_STILL : CENTRED);
    column->knots = (uint8_t)curve_from_sample(&c->curve[column->curve], s, nonzero, &column->at_zero);
    centred_set(c, j, centred);
    scale_derive(c, j);
}

/* --- taking rows in --- */

static bool numbers_reserve(float **numbers, size_t *room, size_t columns)
{
    size_t had = *room;
    if (!array_reserve(numbers, room, columns, sizeof **numbers))
        return false;
    for (size_t j = had; j < *room; j++)
        (*numbers)[j] = 0;
    return true;
}

static bool columns_reserve(struct scale *c, size_t columns)
{
    size_t had = c->column_room;
    if (!array_reserve(&c->column, &c->column_room, columns, sizeof *c->column))
        return false;
    for (size_t j = had; j < c->column_room; j++)
        c->column[j] = (struct scale_column){.curve = -1};
    had = c->role_room;
    if (!array_reserve(&c->role, &c->role_room, columns, sizeof *c->role))
        return false;
    if (c->role_room > had) /* without columns there is no array yet */
        memset(c->role + had, HUNCH_ROLE_UNKNOWN, c->role_room - had);
    had = c->ordinal_room;
    if (!array_reserve(&c->ordinal, &c->ordinal_room, columns, sizeof *c->ordinal))
        return false;
    for (size_t j = had; j < c->ordinal_room; j++)
        c->ordinal[j] = SCALE_NO_ORDINAL;
    had = c->word_room;
    if (!numbers_reserve(&c->word, &c->word_room, columns) || !numbers_reserve(&c->rest, &c->rest_room, columns))
        return false;
    for (size_t j = had; j < c->word_room; j++)
        c->word[j] = scale_word_unknown(c);
    return true;
}

static void roles_begin(struct scale *c)
{
    c->has_roles = true;
    c->lates = SCALE_ANY_LATE;
    for (size_t j = 0; j < c->word_room; j++)
        c->word[j] = INFINITY;
}

hunch_status scale_set_role(struct scale *c, uint32_t j, hunch_role role)
{
    if (!columns_reserve(c, (size_t)j + 1))
        return HUNCH_ENOMEM;
    if (!c->has_roles)
        roles_begin(c);
    c->described = j >= c->described ? (size_t)j + 1 : c->described;
    c->role[j] = (uint8_t)role;
    c->word[j] = scale_word(c, j);
    return HUNCH_OK;
}

hunch_status scale_meet(struct scale *c, const hunch_vec *x)
{
    if (!c->has_roles)
        return HUNCH_OK;
    if (!array_reserve(&c->plain, &c->plain_room, c->plains + x->n, sizeof *c->plain))
        return HUNCH_ENOMEM;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = x->index ? x->index[i] : (uint32_t)i;
        bool known = j < c->described && c->role[j] != HUNCH_ROLE_UNKNOWN;
        if (!known && scale_set_role(c, j, c->words ? HUNCH_WORD : HUNCH_COLUMN) != HUNCH_OK)
            return HUNCH_ENOMEM;
        if (c->role[j] != HUNCH_COLUMN || c->ordinal[j] != SCALE_NO_ORDINAL)
            continue;
        c->ordinal[j] = (uint32_t)c->plains;
        c->plain[c->plains++] = j;
    }
    return HUNCH_OK;
}

static bool curves_reserve(struct scale *c, size_t curves)
{
    return array_reserve(&c->curve, &c->curve_room, curves, sizeof *c->curve) &&
           array_reserve(&c->line, &c->line_room, curves, sizeof *c->line) &&
           array_reserve(&c->sample, &c->sample_room, curves, sizeof *c->sample);
}

bool scale_make_room(struct scale *c, const struct scale_sizes *sizes)
{
    return columns_reserve(c, sizes->columns) && curves_reserve(c, sizes->curves) &&
           array_reserve(&c->centred, &c->centred_room, sizes->centred, sizeof *c->centred);
}

hunch_status scale_reserve(struct scale *c, size_t columns, size_t n)
{
    /* one more: places are written to before it is known whether they are taken */
    if (!array_reserve(&c->late, &c->late_room, columns + 1, sizeof *c->late))
        return HUNCH_ENOMEM;
    size_t curves = c->curves + n;
    return scale_make_room(c, &(struct scale_sizes){columns, curves, curves}) ? HUNCH_OK : HUNCH_ENOMEM;
}

/* ones: it was a 0/1 column until now. */
static void curve_begin(struct scale *c, struct scale_column *column, bool ones)
{
    struct scale_sample *s = &c->sample[c->curves];
    *s = (struct scale_sample){.stride = 1};
    c->curve[c->curves] = (struct scale_curve){0};
    c->line[c->curves] = (struct scale_line){0};
    while (ones && s->fill + 1u < column->rows && s->fill < SCALE_SAMPLE / 8)
        s->value[s->fill++] = 1;
    column->curve = (int32_t)c->curves++;
}

/* A whole number that is not negative. */
static bool is_count(float x)
{
    return x >= 0 && (x >= SCALE_WHOLE_FROM || x == (float)(int32_t)x);
}

static void sample_next(struct scale *c, uint32_t j, float x)
{
    struct scale_column *column = &c->column[j];
    struct scale_sample *s = &c->sample[column->curve];
    sample_take(s, x);
    /* At random, so that columns with a period are met at all its phases. */
    struct rng skip = {((uint64_t)j << 32) + column->rows};
    column->wait = (uint32_t)rng_below(&skip, 2 * (uint64_t)s->stride - 1);
}

/* A row's entries so far: of rare columns; of other 0/1 columns. They are whole numbers, and their sums exact. */
struct entries {
    size_t rare, ones;
    uint64_t min; /* rows below which a column is rare */
};

/* Of a column without a curve in force, or whose sample takes this value. count: the rows that this one stands for. */
static __attribute__((noinline)) void column_learn(struct scale *c, uint32_t j, float x, uint32_t count,
                                                   struct entries *inout)
{
    struct scale_column *column = &c->column[j];
    float size = fabsf(x), max = 10 * column->mean;
    bool ones = column->mean == 1;
    size = column->mean > 0 && size > max ? max : size;
    float off = size - column->mean;
    column->mean += column->rows < SIZE_ROWS ? off / (float)column->rows : off * (1.0f / SIZE_ROWS);
    bool rare = column->rows < inout->min, numeric = column->seen & SCALE_NUMERIC;
    if (numeric && column->curve < 0 && column->rows > 1 && !rare)
        curve_begin(c, column, ones);
    if (column->curve >= 0 && column->wait >= count)
        column->wait -= count;
    else if (column->curve >= 0)
        sample_next(c, j, x);
    inout->rare += rare;
    inout->ones += !rare && !numeric;
}

static inline void column_note_kind(struct scale_column *column, float x)
{
    if (column->seen != (SCALE_NUMERIC | SCALE_FRACTION))
        column->seen |= (x != 1 ? SCALE_NUMERIC : 0) | (is_count(x) ? 0 : SCALE_FRACTION);
}

/* How many rows the one at hand stands for, in columns that are settled: one of SCALE_SPARE, at random so that streams
 * with a period are met at all its phases, for all of them, and the others for none. */
static uint32_t settled_count(const struct scale *c)
{
    struct rng which = {c->rows / SCALE_SPARE};
    return rng_below(&which, SCALE_SPARE) == c->rows % SCALE_SPARE ? SCALE_SPARE : 0;
}

/* words: rows below which a column is a word for good, as far as can be foreseen, so that it is enough in how many rows
 * it is, and of what kind. */
static void row_take(struct scale *c, const hunch_vec *x, uint32_t words, struct entries *inout)
{
    const bool listed = c->lates != SCALE_ANY_LATE;
    const uint64_t min = inout->min;
    const uint32_t settled = settled_count(c);
    uint32_t *late = c->late + (listed ? c->lates : 0);
    size_t rare = 0, ones = 0;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = x->index ? x->index[i] : (uint32_t)i;
        struct scale_column *column = &c->column[j];
        uint32_t count = 1;
        if (x->value[i] == 0)
            continue;
        if (column->rows >= words && column->kind & SCALE_SETTLED) { /* words never are */
            if (!settled)
                continue;
            count = settled;
        }
        *late = j;
        late += listed && column->rows == column->known;
        column->rows++;
        column_note_kind(column, x->value[i]);
        if (c->has_roles && c->role[j] == HUNCH_WORD) {
            c->words = true;
            continue;
        }
        if (column->rows < words) {
            rare += column->rows < min;
            continue;
        }
        if (count > 1)
            column->rows = column->rows + count - 1 <= c->rows ? column->rows + count - 1 : (uint32_t)c->rows;
        if (column->knots && column->wait >= count) { /* its curve has taken the place of the mean */
            column->wait -= count;
            rare += column->rows < min;
        } else if (!column->seen && column->rows > 1) { /* 1 is its mean and its only value */
            rare += column->rows < min;
            ones += column->rows >= min;
        } else {
            column_learn(c, j, x->value[i], count, inout);
        }
    }
    c->lates = listed ? (size_t)(late - c->late) : SCALE_ANY_LATE;
    inout->rare += rare;
    inout->ones += ones;
}

void scale_observe(struct scale *c, const hunch_vec *x, const struct scaled *row)
{
    size_t columns = scale_columns(x);
    c->rows++;
    c->energy += row->energy;
    c->beside += row->beside;
    c->entries += (double)x->n;
    c->columns = columns > c->columns ? columns : c->columns;
    if (c->settled == c->columns && !settled_count(c))
        return;
    struct entries row_entries = {.min = (uint64_t)ceil(RARE * (double)c->rows)};
    uint64_t words = c->text && !c->has_roles && c->rows > SCALE_DECIDES ? c->rows / 2 : 0;
    row_take(c, x, (uint32_t)(words < UINT32_MAX ? words : UINT32_MAX), &row_entries);
    c->rare += (double)row_entries.rare;
    c->ones += (double)row_entries.ones;
}

bool scale_is_due(const struct scale *c)
{
    return c->rows >= c->next;
}

static bool curve_is_due(const struct scale_sample *s)
{
    return s->fresh && s->fresh * REFRESH >= s->fill;
}

static void column_refresh(struct scale *c, uint32_t j)
{
    struct scale_column *column = &c->column[j];
    c->settled -= (column->kind & SCALE_SETTLED) != 0;
    column->known = column->rows;
    column->size = column->mean;
    column->kind = column->seen;
    c->word[j] = scale_word(c, j);
    if (column->curve < 0 || scale_is_word(c, j)) /* words need no curve */
        return;
    const struct scale_sample *sample = &c->sample[column->curve];
    if (curve_is_due(sample))
        curve_draw(c, j);
    if (!column->knots || !sample_is_settled(sample))
        return;
    column->kind |= SCALE_SETTLED;
    c->settled++;
}

void scale_refresh(struct scale *c)
{
    double beside = c->rows ? c->beside / (double)c->rows : 0;
    bool any = c->lates == SCALE_ANY_LATE;
    c->known = c->rows;
    for (size_t i = 0; i < (any ? c->columns : c->lates); i++) {
        if (!any && i + 4 * AHEAD < c->lates)
            __builtin_prefetch(&c->column[c->late[i + 4 * AHEAD]], 1);
        column_refresh(c, any ? (uint32_t)i : c->late[i]);
    }
    c->lates = 0;
    c->words_length = scale_is_mixed(c) && c->words_weight > 0 ? fmax(c->words_weight, WORDS_MIN) : 1;
    c->unit = c->energy > 0 ? sqrt((double)c->rows / c->energy) : 1;
    if (c->has_roles)
        c->share = beside > 0 ? 1 / sqrt(beside) : 1;
    else
        c->share = beside > BESIDE_TEXT ? sqrt(BESIDE_TEXT / beside) : 1;
    c->next = c->rows + 1 + (c->rows / REFRESH < REFRESH_MAX ? c->rows / REFRESH : REFRESH_MAX);
}

void scale_set_text(struct scale *c, bool text)
{
    c->text = text;
    c->lates = SCALE_ANY_LATE; /* curves that words did not need */
}
