/* SPDX-License-Identifier: BSD-3-Clause */
#include "scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bytes.h"
#include "linear.h"
#include "base/exact.h"

#define RARE 0.05          /* columns that are not 0 in a smaller share of the rows are rare */
#define FIRST_ROWS 32      /* as long as no column can be told to be rare */
#define TEXT_ENTRIES 8     /* rare entries per row that make rows text */
#define ALWAYS 0.98        /* beside text, columns with a larger share are numbers */
#define CENTRED 0.5        /* a larger share makes a column centred ... */
#define CENTRED_STILL 0.25 /* ... and as much lets it stay so */
#define LARGEST 5          /* of a z that has no curve, and of the linear half of a curve */
#define BEYOND 1           /* how far a z may go beyond the curve's ends */
#define SIZE_ROWS 64       /* rows that the running mean of |x| looks back on */
#define REFRESH 16         /* what is in force follows when a sixteenth more rows were seen ... */
#define REFRESH_MOST 256   /* ... or as many */
#define STRIDE_MOST 8      /* so a sample looks back on about a thousand values */
#define BESIDE_TEXT 0.25   /* energy of what stands beside text, whose own is 1 */

void scale_free(struct scale *c)
{
    free(c->column);
    free(c->curve);
    free(c->sample);
    free(c->centred);
    *c = (struct scale){.unit = 1, .share = 1};
}

uint64_t scale_bytes(const struct scale *c)
{
    return c->column_room * sizeof *c->column + c->curve_room * sizeof *c->curve + c->sample_room * sizeof *c->sample +
           c->centred_room * sizeof *c->centred;
}

/* Before a column can be rare, what tells is how few of all columns a row has. */
bool scale_looks_like_text(const struct scale *c)
{
    double most = TEXT_ENTRIES * (double)c->rows;
    bool few = c->entries < RARE * (double)c->rows * (double)c->columns;
    return c->rare > most || (c->rows <= FIRST_ROWS && c->entries > most && few);
}

/* --- the curve --- */

/* The normal distribution's quantile (P. J. Acklam's rational approximation, to 1.2e-9). */
static double normal_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    double tail = fmin(p, 1 - p);
    if (tail < 0.02425) {
        double q = sqrt(-2 * exact_log(tail));
        double z = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                   ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        return p < 0.5 ? z : -z;
    }
    double q = p - 0.5, r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

static int order(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* What a curve is drawn from: the sorted sample, and the share of rows that are 0. */
struct distribution {
    const float *value;
    int n;
    double nonzero;  /* share of rows that are not 0 */
    double mean, sd; /* of all rows, zeros included, winsorised */
};

/* Mean and standard deviation with values beyond three times the middle four fifths' width brought back to there. */
static void distribution_moments(struct distribution *d)
{
    double low = d->value[d->n / 10], high = d->value[d->n - 1 - d->n / 10], width = high - low;
    double sum = 0, squares = 0;
    if (width > 0) {
        low -= 3 * width;
        high += 3 * width;
    } else {
        low = -INFINITY;
        high = INFINITY;
    }
    for (int i = 0; i < d->n; i++)
        sum += fmin(fmax(d->value[i], low), high);
    d->mean = sum / d->n * d->nonzero;
    for (int i = 0; i < d->n; i++) {
        double off = fmin(fmax(d->value[i], low), high) - d->mean;
        squares += off * off;
    }
    d->sd = sqrt(squares / d->n * d->nonzero + (1 - d->nonzero) * d->mean * d->mean);
}

/* The z of a value, given how many of the sample are smaller (its equals count half). */
static float distribution_score(const struct distribution *d, double x, double below)
{
    double end = 0.5 / (d->n + 1), zeros = 1 - d->nonzero;
    double rank = d->nonzero * below / d->n + (x > 0 ? zeros : x < 0 ? 0 : zeros / 2);
    double z = d->sd > 0 ? (x - d->mean) / d->sd : 0;
    z = fmin(fmax(z, -LARGEST), LARGEST);
    return (float)(0.5 * (normal_quantile(fmin(fmax(rank, end), 1 - end)) + z));
}

/* Knots at different values, evenly over the ranks; returns how many. */
static int curve_knots(const struct distribution *d, struct scale_curve *ret)
{
    int knots = 0, distinct = 0, last = -1;
    for (int i = 0; i < d->n; i++)
        distinct += i == 0 || d->value[i] > d->value[i - 1];
    for (int i = 0, next; i < d->n; i = next) {
        for (next = i + 1; next < d->n && d->value[next] == d->value[i];)
            next++;
        int slot = i * SCALE_KNOTS / d->n;
        if (distinct > SCALE_KNOTS && slot <= last && next < d->n)
            continue;
        if (knots == SCALE_KNOTS)
            knots--; /* the largest value always has one */
        last = slot;
        ret->knot[knots] = d->value[i];
        ret->score[knots++] = distribution_score(d, d->value[i], 0.5 * (i + next));
    }
    return knots;
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

static void curve_draw(struct scale *c, uint32_t j)
{
    struct scale_column *column = &c->column[j];
    struct scale_sample *s = &c->sample[column->curve];
    struct scale_curve *curve = &c->curve[column->curve];
    float value[SCALE_SAMPLE];
    memcpy(value, s->value, s->fill * sizeof *value);
    qsort(value, s->fill, sizeof *value, order);
    *curve = (struct scale_curve){{0}, {0}, {0}};
    struct distribution d = {value, s->fill, (double)column->rows / (double)c->rows, 0, 0};
    distribution_moments(&d);
    int negative = 0, knots = curve_knots(&d, curve);
    while (negative < d.n && value[negative] < 0)
        negative++;
    column->at_zero = distribution_score(&d, 0, negative);
    for (int i = 0; i < SCALE_KNOTS; i++) {
        if (i >= knots)
            curve->knot[i] = INFINITY;
        else if (i + 1 < knots)
            curve->slope[i] = (curve->score[i + 1] - curve->score[i]) / (curve->knot[i + 1] - curve->knot[i]);
    }
    bool centred = d.nonzero > (column->centred ? CENTRED_STILL : CENTRED);
    if (centred && !column->centred)
        centred_insert(c, j);
    if (!centred && column->centred)
        centred_remove(c, j);
    column->centred = centred;
    column->knots = (uint8_t)knots;
    s->fresh = 0;
}

static float curve_score(const struct scale_curve *curve, int knots, float x)
{
    int i = 0;
    for (int k = 0; k < SCALE_KNOTS; k++)
        i += curve->knot[k] <= x;
    if (i > 0 && i < knots)
        return curve->score[i - 1] + curve->slope[i - 1] * (x - curve->knot[i - 1]);
    if (i == 0)
        return curve->score[0] - fminf((curve->knot[0] - x) * curve->slope[0], BEYOND);
    float slope = knots > 1 ? curve->slope[knots - 2] : 0;
    return curve->score[knots - 1] + fminf((x - curve->knot[knots - 1]) * slope, BEYOND);
}

/* --- taking rows in --- */

/* Every other of the sorted values stays. */
static void sample_thin(struct scale_sample *s)
{
    qsort(s->value, s->fill, sizeof *s->value, order);
    uint16_t kept = 0;
    for (uint32_t i = s->parity; i < s->fill; i += 2)
        s->value[kept++] = s->value[i];
    s->fill = kept;
    s->parity ^= 1;
    s->stride = s->stride < STRIDE_MOST ? 2 * s->stride : STRIDE_MOST; /* what is old goes in halves: columns drift */
}

static void sample_take(struct scale *c, uint32_t j, float x)
{
    struct scale_sample *s = &c->sample[c->column[j].curve];
    if (s->wait > 0) {
        s->wait--;
        return;
    }
    if (s->fill == SCALE_SAMPLE)
        sample_thin(s);
    s->value[s->fill++] = x;
    s->fresh = (uint16_t)(s->fresh + 1 < s->fill ? s->fresh + 1 : s->fill);
    /* At random, so that columns with a period are met at all its phases. */
    struct rng skip = {((uint64_t)j << 32) + c->column[j].rows};
    s->wait = (uint32_t)rng_below(&skip, 2 * (uint64_t)s->stride - 1);
}

hunch_status scale_reserve(struct scale *c, size_t columns, size_t n)
{
    size_t had = c->column_room;
    if (!array_reserve(&c->column, &c->column_room, columns, sizeof *c->column))
        return HUNCH_ENOMEM;
    for (size_t j = had; j < c->column_room; j++)
        c->column[j] = (struct scale_column){.curve = -1};
    size_t curves = c->curves + n;
    if (!array_reserve(&c->curve, &c->curve_room, curves, sizeof *c->curve) ||
        !array_reserve(&c->sample, &c->sample_room, curves, sizeof *c->sample) ||
        !array_reserve(&c->centred, &c->centred_room, curves, sizeof *c->centred))
        return HUNCH_ENOMEM;
    return HUNCH_OK;
}

static void curve_begin(struct scale *c, struct scale_column *column)
{
    struct scale_sample *s = &c->sample[c->curves];
    *s = (struct scale_sample){.stride = 1};
    c->curve[c->curves] = (struct scale_curve){{0}, {0}, {0}};
    while (s->fill + 1u < column->rows && s->fill < SCALE_SAMPLE / 8) /* it was a 0/1 column until now */
        s->value[s->fill++] = 1;
    column->curve = (int32_t)c->curves++;
}

static void column_take(struct scale *c, uint32_t j, float x)
{
    struct scale_column *column = &c->column[j];
    column->rows++;
    column->seen |= (x != 1 ? SCALE_NUMERIC : 0) | (x < 0 || x != floorf(x) ? SCALE_FRACTION : 0);
    float size = fminf(fabsf(x), column->mean > 0 ? 10 * column->mean : INFINITY);
    column->mean += (size - column->mean) / (float)(column->rows < SIZE_ROWS ? column->rows : SIZE_ROWS);
    bool rare = column->rows < RARE * (double)c->rows, numeric = column->seen & SCALE_NUMERIC;
    if (numeric && column->curve < 0 && column->rows > 1 && !rare)
        curve_begin(c, column);
    if (column->curve >= 0)
        sample_take(c, j, x);
    if (rare)
        c->rare++;
    else if (!numeric)
        c->ones++;
}

void scale_observe(struct scale *c, const hunch_vec *x, const struct scaled *row)
{
    c->rows++;
    c->energy += row->energy;
    c->beside += row->beside;
    c->entries += (double)x->n;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = x->index ? x->index[i] : (uint32_t)i;
        if (j >= c->columns)
            c->columns = (size_t)j + 1;
        if (x->value[i] != 0)
            column_take(c, j, x->value[i]);
    }
}

bool scale_is_due(const struct scale *c)
{
    return c->rows >= c->next;
}

/* Beside text, all that is not always there is a word. */
static bool is_word(const struct scale *c, const struct scale_column *column)
{
    return c->text && (double)column->known < ALWAYS * (double)c->known;
}

static bool curve_is_due(const struct scale_sample *s)
{
    return s->fresh && s->fresh * 8 >= s->fill;
}

void scale_refresh(struct scale *c)
{
    double beside = c->rows ? c->beside / (double)c->rows : 0;
    for (size_t j = 0; j < c->columns; j++) {
        struct scale_column *column = &c->column[j];
        column->known = column->rows;
        column->size = column->mean;
        column->kind = column->seen;
    }
    c->known = c->rows;
    for (size_t j = 0; j < c->columns; j++) { /* words need no curve */
        int32_t curve = c->column[j].curve;
        if (curve >= 0 && curve_is_due(&c->sample[curve]) && !is_word(c, &c->column[j]))
            curve_draw(c, (uint32_t)j);
    }
    c->unit = c->energy > 0 ? sqrt((double)c->rows / c->energy) : 1;
    c->share = beside > BESIDE_TEXT ? sqrt(BESIDE_TEXT / beside) : 1;
    c->next = c->rows + 1 + (c->rows / REFRESH < REFRESH_MOST ? c->rows / REFRESH : REFRESH_MOST);
}

/* --- writing rows --- */

size_t scale_room(const struct scale *c, size_t n)
{
    return n + c->centreds;
}

bool scale_is_binary(const struct scale *c, uint32_t j)
{
    return j >= c->columns || !(c->column[j].kind & SCALE_NUMERIC);
}

static const struct scale_column unknown = {.curve = -1};

static const struct scale_column *column_of(const struct scale *c, uint32_t j)
{
    return j < c->columns ? &c->column[j] : &unknown;
}

static float word(const struct scale *c, const struct scale_column *column, float x)
{
    bool counts = !(column->kind & SCALE_FRACTION) && x > 0 && x == floorf(x);
    float times = counts ? 1 + log_near(x) : x;
    return times * log_near(1 + (float)c->known / (float)(column->known ? column->known : 1));
}

static float number(const struct scale *c, const struct scale_column *column, float x)
{
    if (!(column->kind & SCALE_NUMERIC))
        return x == 1;
    if (column->knots) {
        float z = curve_score(&c->curve[column->curve], column->knots, x);
        return column->centred ? z : z - column->at_zero;
    }
    return column->known > 1 ? fminf(fmaxf(x / column->size, -LARGEST), LARGEST) : 0;
}

/* One row on its way out. */
struct writing {
    const struct scale *c;
    uint32_t *index;
    float *value;
    struct scaled row;
    double words; /* squared length of the text */
};

static void write_entry(struct writing *w, uint32_t j, float z, bool text)
{
    if (z == 0)
        return;
    w->index[w->row.n] = j;
    w->value[w->row.n++] = z;
    if (text)
        w->words += (double)z * z;
    else
        w->row.beside += (double)z * z;
}

/* A 0 of centred columns that the row leaves out. */
static void write_zero(struct writing *w, uint32_t j)
{
    const struct scale_column *column = &w->c->column[j];
    if (!is_word(w->c, column))
        write_entry(w, j, column->at_zero, false);
}

static void write_value(struct writing *w, uint32_t j, float x)
{
    const struct scale_column *column = column_of(w->c, j);
    bool text = is_word(w->c, column);
    write_entry(w, j, text ? word(w->c, column, x) : number(w->c, column, x), text);
}

/* Text to length 1, what stands beside it to its share. */
static void write_text(struct writing *w)
{
    const struct scale *c = w->c;
    float words = (float)(w->words > 0 ? 1 / sqrt(w->words) : 0);
    for (size_t i = 0; i < w->row.n; i++)
        w->value[i] *= is_word(c, column_of(c, w->index[i])) ? words : (float)c->share;
    w->row.energy = w->row.beside * c->share * c->share + (w->words > 0);
}

struct scaled scale_write(const struct scale *c, const hunch_vec *x, size_t columns, uint32_t *ret_index,
                          float *ret_value)
{
    struct writing w = {.c = c, .index = ret_index, .value = ret_value};
    size_t next = 0; /* of the centred columns */
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = x->index ? x->index[i] : (uint32_t)i;
        if (x->value[i] == 0)
            continue;
        if (j >= columns) {
            w.row.unseen++;
            continue;
        }
        while (next < c->centreds && c->centred[next] < j)
            write_zero(&w, c->centred[next++]);
        next += next < c->centreds && c->centred[next] == j;
        write_value(&w, j, x->value[i]);
    }
    while (next < c->centreds)
        write_zero(&w, c->centred[next++]);
    w.row.energy = w.row.beside;
    if (c->text)
        write_text(&w);
    return w.row;
}

/* --- bytes --- */

static void put_curve(struct writer *w, const struct scale_curve *curve, const struct scale_sample *s)
{
    put(w, curve, sizeof *curve);
    put_u32(w, s->stride);
    put_u32(w, s->wait);
    put_u32(w, s->parity);
    put_u32(w, s->fill);
    put_u32(w, s->fresh);
    put(w, s->value, s->fill * sizeof *s->value);
}

#define SUMS 7

void scale_put(struct writer *w, const struct scale *c)
{
    const double sums[SUMS] = {c->rare, c->ones, c->entries, c->energy, c->beside, c->unit, c->share};
    put_u64(w, c->rows);
    put_u64(w, c->known);
    put_u64(w, c->next);
    put_u32(w, (uint32_t)c->columns);
    put_u32(w, (uint32_t)c->curves);
    put_u32(w, c->text);
    put(w, sums, sizeof sums);
    for (size_t j = 0; j < c->columns; j++)
        put(w, &c->column[j], sizeof c->column[j]);
    for (size_t i = 0; i < c->curves; i++)
        put_curve(w, &c->curve[i], &c->sample[i]);
}

static bool take_curve(struct reader *r, struct scale_curve *curve, struct scale_sample *s)
{
    const void *p = take(r, sizeof *curve);
    if (p)
        memcpy(curve, p, sizeof *curve);
    s->stride = take_u32(r);
    s->wait = take_u32(r);
    s->parity = take_u32(r) & 1;
    uint32_t fill = take_u32(r), fresh = take_u32(r);
    if (fill > SCALE_SAMPLE || fresh > fill || s->stride == 0)
        return false;
    s->fill = (uint16_t)fill;
    s->fresh = (uint16_t)fresh;
    p = take(r, fill * sizeof *s->value);
    if (p)
        memcpy(s->value, p, fill * sizeof *s->value);
    for (uint32_t i = 0; i < fill && p; i++)
        if (!isfinite(s->value[i]))
            return false;
    return p != NULL;
}

static bool column_is_sound(const struct scale *c, const struct scale_column *column)
{
    return column->curve >= -1 && column->curve < (int64_t)c->curves && column->rows <= c->rows &&
           column->knots <= SCALE_KNOTS && (!column->knots || column->curve >= 0) &&
           (!column->centred || column->knots) && column->known <= c->known && isfinite(column->mean) &&
           isfinite(column->size) && column->size >= 0 && isfinite(column->at_zero);
}

static bool curve_is_sound(const struct scale *c, const struct scale_column *column)
{
    const struct scale_curve *curve = column->curve >= 0 ? &c->curve[column->curve] : NULL;
    for (int i = 0; i < column->knots; i++)
        if (!isfinite(curve->knot[i]) || !isfinite(curve->score[i]) || !isfinite(curve->slope[i]) ||
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
        if (!column_is_sound(c, &c->column[j]))
            return damaged(reterr, "a column makes no sense");
        if (c->column[j].centred)
            c->centred[c->centreds++] = (uint32_t)j;
    }
    c->columns = columns;
    for (size_t i = 0; i < c->curves; i++)
        if (!take_curve(r, &c->curve[i], &c->sample[i]))
            return damaged(reterr, "a column's sample makes no sense");
    for (size_t j = 0; j < columns; j++)
        if (!curve_is_sound(c, &c->column[j]))
            return damaged(reterr, "a column's curve makes no sense");
    return HUNCH_OK;
}

hunch_status scale_take(struct reader *r, struct scale *ret, hunch_error *reterr)
{
    struct scale c = {.rows = take_u64(r)};
    c.known = take_u64(r);
    c.next = take_u64(r);
    size_t columns = take_u32(r), curves = take_u32(r);
    c.text = take_u32(r) != 0;
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
    if (!array_reserve(&c.column, &c.column_room, columns, sizeof *c.column) ||
        !array_reserve(&c.curve, &c.curve_room, curves, sizeof *c.curve) ||
        !array_reserve(&c.sample, &c.sample_room, curves, sizeof *c.sample) ||
        !array_reserve(&c.centred, &c.centred_room, columns, sizeof *c.centred))
        status = error_set(reterr, HUNCH_ENOMEM, "out of memory");
    for (size_t j = 0; status == HUNCH_OK && j < c.column_room; j++)
        c.column[j] = (struct scale_column){.curve = -1};
    if (status == HUNCH_OK)
        status = take_columns(r, &c, columns, reterr);
    if (status != HUNCH_OK) {
        scale_free(&c);
        return status;
    }
    *ret = c;
    return HUNCH_OK;
}

/* --- merging --- */

/* Both samples at one stride, thinned until they fit into one. */
static void sample_merge(struct scale_sample *s, const struct scale_sample *other)
{
    struct scale_sample more = *other;
    while (s->stride < more.stride)
        sample_thin(s);
    while (more.stride < s->stride)
        sample_thin(&more);
    while (s->fill + more.fill > SCALE_SAMPLE) {
        sample_thin(s);
        sample_thin(&more);
    }
    memcpy(s->value + s->fill, more.value, more.fill * sizeof *s->value);
    s->fill = (uint16_t)(s->fill + more.fill);
    s->wait = 0;
}

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
    } else if (more->curve >= 0) {
        c->sample[c->curves] = other->sample[more->curve];
        c->curve[c->curves] = other->curve[more->curve];
        column->curve = (int32_t)c->curves++;
    }
    if (column->curve >= 0)
        c->sample[column->curve].fresh = c->sample[column->curve].fill;
}

hunch_status scale_merge(struct scale *c, const struct scale *other)
{
    size_t had = c->column_room;
    if (!array_reserve(&c->column, &c->column_room, other->columns, sizeof *c->column))
        return HUNCH_ENOMEM;
    for (size_t j = had; j < c->column_room; j++)
        c->column[j] = (struct scale_column){.curve = -1};
    if (!array_reserve(&c->curve, &c->curve_room, c->curves + other->curves, sizeof *c->curve) ||
        !array_reserve(&c->sample, &c->sample_room, c->curves + other->curves, sizeof *c->sample) ||
        !array_reserve(&c->centred, &c->centred_room, c->columns + other->columns, sizeof *c->centred))
        return HUNCH_ENOMEM;
    c->columns = other->columns > c->columns ? other->columns : c->columns;
    c->rows += other->rows;
    c->rare += other->rare;
    c->ones += other->ones;
    c->entries += other->entries;
    c->energy += other->energy;
    c->beside += other->beside;
    for (size_t j = 0; j < other->columns; j++)
        column_merge(c, other, (uint32_t)j);
    scale_refresh(c);
    return HUNCH_OK;
}
