/* SPDX-License-Identifier: BSD-3-Clause */
#include "features/relevance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "numeric/byte_stream.h"
#include "numeric/linear_ops.h"

#define TOGETHER 64 /* columns whose directions are turned at once */
#define FIRST 128   /* the first round in which weights are set */
#define WRONG 16    /* answers that must have been, for weights to be set */
#define SLOPES 128  /* of n rounds before the next setting one is looked at, for slopes, */
#define LABELS 512  /* and for labels */
#define FEW 8       /* silent columns fade by half */
#define CLEAR 2     /* c_j at which a column is half believed to tell */
#define FOURTH (RELEVANCE_SUMS - 1)

void relevance_free(struct relevance *r)
{
    free(r->slope);
    free(r->sums);
    free(r->weight);
    *r = (struct relevance){0};
}

uint64_t relevance_bytes(const struct relevance *r)
{
    return r->room * (sizeof *r->slope + RELEVANCE_SUMS * sizeof *r->sums + sizeof *r->weight);
}

static double *sums_of(const struct relevance *r, size_t column)
{
    return r->sums + column * RELEVANCE_SUMS;
}

/* Sums are 0 from the first column on. */
static void sums_begin(struct relevance *r, size_t first)
{
    for (size_t j = first; j < r->room; j++) {
        r->slope[j] = 0;
        memset(sums_of(r, j), 0, RELEVANCE_SUMS * sizeof *r->sums);
    }
}

static void weights_begin(struct relevance *r, size_t first)
{
    for (size_t j = first; j < r->room; j++)
        r->weight[j] = 1;
}

hunch_status relevance_reserve(struct relevance *r, size_t columns)
{
    size_t had = r->room;
    if (columns <= had)
        return HUNCH_OK;
    if (!array_reserve(&r->slope, &r->room, columns, sizeof *r->slope) ||
        !array_resize(&r->sums, r->room, RELEVANCE_SUMS * sizeof *r->sums) ||
        !array_resize(&r->weight, r->room, sizeof *r->weight)) {
        r->room = had;
        return HUNCH_ENOMEM;
    }
    sums_begin(r, had);
    weights_begin(r, had);
    return HUNCH_OK;
}

void relevance_begin(struct relevance *r)
{
    relevance_restart(r);
    weights_begin(r, 0);
}

void relevance_restart(struct relevance *r)
{
    r->rounds = r->next = r->wrong = 0;
    memset(r->right, 0, sizeof r->right);
    sums_begin(r, 0);
}

void relevance_weigh(const struct relevance *r, const uint32_t *index, const float *value, size_t n, float *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = value[i] * (index[i] < r->room ? r->weight[index[i]] : 1);
}

/* --- what is seen --- */

static uint64_t next_of(const struct relevance *r)
{
    return r->next ? r->next : FIRST;
}

/* About a third of `looks` rounds between two settings of the weights. */
static bool is_looked_at(const struct relevance *r, uint64_t looks)
{
    uint64_t every = next_of(r) / looks;
    return r->rounds % (every ? every : 1) == 0;
}

bool relevance_count(struct relevance *r, bool right)
{
    r->rounds++;
    r->wrong += !right;
    return is_looked_at(r, SLOPES);
}

void relevance_note(struct relevance *r, const struct vec *x, uint32_t from, uint32_t label)
{
    size_t k = label % RELEVANCE_CLASSES;
    if (!is_looked_at(r, LABELS))
        return;
    r->right[k]++;
    for (size_t i = 0; i < x->n; i++) {
        uint32_t j = vec_index(x, i);
        if (j < from || j - from >= r->room)
            continue;
        double *sums = sums_of(r, j - from), square = (double)x->value[i] * x->value[i];
        sums[2 * k] += x->value[i];
        sums[2 * k + 1] += square;
        sums[FOURTH] += square * square;
    }
}

/* --- weights --- */

/* Squared differences of the classes' means from the mean of all, over the variance; 0 without a variance. power: 0 for
 * z, 1 for z^2. square: the sum of squares of what is summed. */
static double differences(const struct relevance *r, const double *sums, int power, double n, double square)
{
    double between = 0, sum = 0;
    for (size_t k = 0; k < RELEVANCE_CLASSES; k++)
        if (r->right[k] > 0) {
            double of_class = sums[2 * k + (size_t)power];
            between += of_class * of_class / r->right[k];
            sum += of_class;
        }
    double variance = square / n - sum / n * (sum / n);
    return variance > 1e-9 * square / n ? (between - sum * sum / n) / variance : 0;
}

/* Sums over all classes: how many labels, how many classes have one. */
struct known {
    double labels, classes;
};

static struct known known_of(const struct relevance *r)
{
    struct known all = {0, 0};
    for (size_t k = 0; k < RELEVANCE_CLASSES; k++) {
        all.labels += r->right[k];
        all.classes += r->right[k] > 0;
    }
    return all;
}

static double squares_of(const double *sums)
{
    double sum = 0;
    for (size_t k = 0; k < RELEVANCE_CLASSES; k++)
        sum += sums[2 * k + 1];
    return sum;
}

static double informative(const struct relevance *r, const struct known *all, size_t column)
{
    if (all->classes < 2)
        return 0;
    const double *sums = sums_of(r, column);
    double chi =
        differences(r, sums, 0, all->labels, squares_of(sums)) + differences(r, sums, 1, all->labels, sums[FOURTH]);
    double freedom = 2 * (all->classes - 1), c = fmax(0, (chi - freedom) / sqrt(2 * freedom));
    return c * c / (c * c + CLEAR * CLEAR);
}

/* v_j */
static double energy_of(const struct relevance *r, const struct known *all, size_t column)
{
    return all->labels > 0 ? squares_of(sums_of(r, column)) / all->labels : 1;
}

static double silent_of(const struct relevance *r, const struct known *all, size_t columns)
{
    double silent = 0, energy = 0;
    for (size_t j = 0; j < columns; j++) {
        double v = energy_of(r, all, j);
        silent += v * (1 - informative(r, all, j));
        energy += v;
    }
    return energy > 0 ? (double)columns * silent / energy : 0;
}

/* e_j of all columns takes the place of the weights. */
static void shares_set(struct relevance *r, const struct known *all, size_t columns)
{
    double sum = 0, known = 0, silent = silent_of(r, all, columns), fade = silent / (silent + FEW);
    for (size_t j = 0; j < columns; j++) {
        sum += r->slope[j];
        known += r->slope[j] > 0;
    }
    for (size_t j = 0; j < columns; j++) {
        double share = r->slope[j] > 0 ? r->slope[j] * known / sum : 1;
        r->weight[j] = (float)((1 + share) * (1 - (1 - informative(r, all, j)) * fade));
    }
}

static void weights_set(struct relevance *r, size_t columns)
{
    struct known all = known_of(r);
    double V = 0, E = 0, Q = 0;
    shares_set(r, &all, columns);
    for (size_t j = 0; j < columns; j++) {
        double v = energy_of(r, &all, j), e = r->weight[j];
        V += v;
        E += v * e;
        Q += v * e * e;
    }
    double unit = E > 0 ? V / E * sqrt(V * Q) / E : 0;
    for (size_t j = 0; j < columns; j++)
        r->weight[j] = unit > 0 ? (float)sqrt(r->weight[j] * unit) : 1;
}

static void sums_halve(struct relevance *r, size_t columns)
{
    for (size_t k = 0; k < RELEVANCE_CLASSES; k++)
        r->right[k] /= 2;
    for (size_t j = 0; j < columns; j++)
        r->slope[j] /= 2;
    for (size_t i = 0; i < columns * RELEVANCE_SUMS; i++)
        r->sums[i] /= 2;
}

void relevance_learn(struct relevance *r, const struct relevance_look *look, size_t columns)
{
    const struct map *m = look->map;
    const real *lead = look->lead;
    _Alignas(64) real turn[MAP_DIRECTIONS];
    real turned[TOGETHER];
    size_t n = m->directions, from = map_features(m) + 1;
    const float *cosine = look->x->value, *sine = cosine + n;
    for (size_t i = 0; i < n; i++)
        turn[i] = (cosine[i] * lead[n + i] - sine[i] * lead[i]) * (real)(1 / MAP_WIDTH);
    for (size_t j = 0; j < columns; j++) {
        if (j % TOGETHER == 0)
            map_turned(m, look->ops, j, columns - j < TOGETHER ? columns - j : TOGETHER, turn, turned);
        double slope =
            (double)lead[from + (look->column ? look->column[j] : j)] + (double)r->weight[j] * turned[j % TOGETHER];
        r->slope[j] += slope * slope;
    }
    if (r->rounds < next_of(r))
        return;
    r->next = next_of(r) * 3 / 2;
    if (r->wrong < WRONG)
        return;
    r->wrong = 0;
    weights_set(r, columns);
    sums_halve(r, columns);
}

/* --- bytes and merging --- */

void relevance_put(struct writer *w, const struct relevance *r, size_t columns)
{
    size_t classes = RELEVANCE_CLASSES;
    while (classes && r->right[classes - 1] == 0)
        classes--;
    put_u64(w, r->rounds);
    put_u64(w, r->next);
    put_u64(w, r->wrong);
    put_u64(w, classes);
    put(w, r->right, classes * sizeof *r->right);
    for (size_t j = 0; j < columns; j++) {
        put(w, sums_of(r, j), 2 * classes * sizeof *r->sums);
        put(w, sums_of(r, j) + FOURTH, sizeof *r->sums);
    }
    put(w, r->slope, columns * sizeof *r->slope);
    put(w, r->weight, columns * sizeof *r->weight);
}

static bool is_count(double x)
{
    return x >= 0 && x < INFINITY;
}

static bool is_valid(const struct relevance *r, size_t columns)
{
    for (size_t k = 0; k < RELEVANCE_CLASSES; k++)
        if (!is_count(r->right[k]))
            return false;
    for (size_t j = 0; j < columns; j++)
        if (!(is_count(r->slope[j]) && is_count(r->weight[j])))
            return false;
    for (size_t i = 0; i < columns * RELEVANCE_SUMS; i++)
        if (!isfinite(r->sums[i]))
            return false;
    return true;
}

hunch_status relevance_take(struct reader *from, struct relevance *r, size_t columns, hunch_error *reterr)
{
    if (relevance_reserve(r, columns) != HUNCH_OK)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    relevance_begin(r);
    r->rounds = take_u64(from);
    r->next = take_u64(from);
    r->wrong = take_u64(from);
    uint64_t classes = take_u64(from);
    if (from->short_of || classes > RELEVANCE_CLASSES)
        return damaged(reterr, "its columns' weights make no sense");
    take_into(from, r->right, classes * sizeof *r->right);
    for (size_t j = 0; j < columns; j++) {
        take_into(from, sums_of(r, j), 2 * classes * sizeof *r->sums);
        take_into(from, sums_of(r, j) + FOURTH, sizeof *r->sums);
    }
    take_into(from, r->slope, columns * sizeof *r->slope);
    take_into(from, r->weight, columns * sizeof *r->weight);
    if (from->short_of)
        return damaged(reterr, "its columns' weights are cut");
    return is_valid(r, columns) ? HUNCH_OK : damaged(reterr, "its columns' weights make no sense");
}

hunch_status relevance_merge(struct relevance *r, const struct relevance *other, size_t columns)
{
    hunch_status status = relevance_reserve(r, columns);
    if (status != HUNCH_OK)
        return status;
    size_t known = columns < other->room ? columns : other->room; /* none before its map is decided */
    for (size_t j = 0; j < known; j++)
        r->slope[j] += other->slope[j];
    for (size_t i = 0; i < known * RELEVANCE_SUMS; i++)
        r->sums[i] += other->sums[i];
    for (size_t k = 0; k < RELEVANCE_CLASSES; k++)
        r->right[k] += other->right[k];
    r->rounds += other->rounds;
    r->wrong += other->wrong;
    r->next = other->next > r->next ? other->next : r->next;
    return HUNCH_OK;
}
