/* SPDX-License-Identifier: BSD-3-Clause */
/* Covariances as full matrices (matrix.h): one per class, or one over features times classes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "numeric/cholesky.h"
#include "covariance/covariance.h"
#include "state/linear.h"
#include "numeric/matrix.h"
#include "state/state.h"

#define NONE UINT32_MAX
#define LAZY_FROM 100 /* features from which on a variance is dear enough to be asked for one by one */

struct full {
    const struct matrix_ops *ops;
    struct matrix_vec x;
    real *product[2];   /* S_k x of two classes, padded with zeros */
    uint32_t owner[2];  /* which classes; NONE: of none */
    double variance[2]; /* x'S_k x */
    double *sums;       /* for mul_exact */
    double *ball;       /* joint: BALL_VECTORS vectors of doubles, for joint_shrunk */
    uint32_t *index;    /* of an outer product that is being loaded */
    float *value;
    double scale, norm2; /* of the example read last, scaled */
    bool is_read;        /* x holds the example at hand */
};

static bool shape(const struct state *s, int tensor, struct tensor *inout)
{
    bool joint = s->algo->covariance->joint;
    if (tensor == COVARIANCE_FULL)
        inout->initial = 1 / covariance_precision(s);
    if (tensor == COVARIANCE_FULL || tensor == COVARIANCE_LOW) {
        inout->groups = joint ? 1 : CLASSES;
        inout->lanes = joint ? CLASSES : 1;
    }
    return tensor == COVARIANCE_W || tensor == COVARIANCE_FULL || (tensor == COVARIANCE_LOW && MATRIX_KEEPS_LOW);
}

/* --- scratch: one block, each part in whole cache lines --- */

enum { PART_SELF, PART_VEC, PART_FIRST, PART_SECOND, PART_SUMS, PART_INDEX, PART_VALUE, PART_BALL, PARTS };
enum { BALL_W, BALL_Z, BALL_RESIDUAL, BALL_DIRECTION, BALL_VECTORS };

static size_t matrix_rows(const struct state *s, uint32_t K, size_t capacity)
{
    return size_mul(capacity, s->algo->covariance->joint ? K : 1);
}

static void parts_size(const struct state *s, size_t n, size_t ret[PARTS])
{
    size_t wide = size_mul(matrix_pad(n), sizeof(double)); /* at least what any part but the last needs */
    size_t ball = s->algo->covariance->joint ? size_mul(wide, BALL_VECTORS) : 0;
    const size_t sizes[PARTS] = {sizeof(struct full), matrix_vec_size(n), wide, wide, wide, wide, wide, ball};
    for (int i = 0; i < PARTS; i++)
        ret[i] = size_add(sizes[i], 63) / 64 * 64;
}

static size_t room_size(const struct state *s, uint32_t K, size_t capacity)
{
    size_t sizes[PARTS], all = 0, n = matrix_rows(s, K, capacity);
    if (n > SIZE_MAX / 1024)
        return SIZE_MAX;
    parts_size(s, n, sizes);
    for (int i = 0; i < PARTS; i++)
        all = size_add(all, sizes[i]);
    return capacity ? all : 0;
}

static void room_init(const struct state *s, uint32_t K, size_t capacity, void *room)
{
    size_t sizes[PARTS], n = matrix_rows(s, K, capacity);
    char *at[PARTS], *next = room;
    parts_size(s, n, sizes);
    for (int i = 0; i < PARTS; next += sizes[i++])
        at[i] = next;
    struct full *f = room;
    *f = (struct full){
        .ops = matrix_ops(NULL),
        .product = {(real *)(void *)at[PART_FIRST], (real *)(void *)at[PART_SECOND]},
        .owner = {NONE, NONE},
        .sums = (double *)(void *)at[PART_SUMS],
        .index = (uint32_t *)(void *)at[PART_INDEX],
        .value = (float *)(void *)at[PART_VALUE],
        .ball = (double *)(void *)at[PART_BALL],
    };
    matrix_vec_init(&f->x, n, at[PART_VEC]);
}

/* --- products --- */

static real *matrix_of(const struct state *s, int tensor, uint32_t k)
{
    const struct tensor_place *p = &s->tensor[tensor];
    return p->kind == MATRIX ? p->matrices + k * p->matrix_capacity : NULL;
}

/* S_k x in one of the two places; what is there already is not computed again. */
static int product_of(struct state *s, uint32_t k)
{
    struct full *f = s->covariance.room;
    if (f->owner[0] == k || f->owner[1] == k)
        return f->owner[1] == k;
    int at = f->owner[0] != NONE;
    f->variance[at] = f->ops->mul_exact(matrix_of(s, COVARIANCE_FULL, k), matrix_of(s, COVARIANCE_LOW, k), &f->x,
                                        f->product[at], f->sums);
    f->owner[at] = k;
    return at;
}

/* S_k += c (S_k x)(S_k x)' */
static void update(struct state *s, uint32_t k, int at, double c)
{
    struct full *f = s->covariance.room;
    f->ops->update(matrix_of(s, COVARIANCE_FULL, k), matrix_of(s, COVARIANCE_LOW, k), f->x.d, (real)c, f->product[at]);
    f->owner[at] = NONE;
}

/* w_k += c S_k x */
static void weights_add(struct state *s, uint32_t k, int at, double c)
{
    const real *g = ((struct full *)s->covariance.room)->product[at];
    real *w = linear_row(s, COVARIANCE_W, 0) + k, gain = (real)c;
    for (size_t j = 0; j < s->features; j++)
        w[j * s->stride] += gain * g[j];
}

static void example_load(struct state *s, const struct vec *x)
{
    struct full *f = s->covariance.room;
    f->x.d = s->features;
    f->owner[0] = f->owner[1] = NONE;
    matrix_vec_load(&f->x, x->index, x->value, x->n);
}

/* h (x) x, a vector over features times classes: entry j K + k is h_k x_j. */
static void joint_load(struct state *s, const struct vec *x, const struct joint *z)
{
    struct full *f = s->covariance.room;
    size_t n = 0;
    double *h = s->probabilities;
    for (uint32_t k = 0; k < s->K; k++)
        h[k] = z->h ? z->h[k] : (k == z->plus) - (k == z->minus);
    for (size_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < s->K; k++) {
            if (h[k] == 0)
                continue;
            f->index[n] = vec_index(x, i) * s->K + k;
            f->value[n++] = 1;
        }
    f->x.d = (size_t)s->features * s->K;
    f->owner[0] = f->owner[1] = NONE;
    matrix_vec_load(&f->x, f->index, f->value, n);
    /* The places are known now; the numbers go in with the precision of real. */
    for (size_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < s->K; k++)
            if (h[k] != 0)
                f->x.x[(size_t)vec_index(x, i) * s->K + k] = (real)(h[k] * x->value[i]);
}

static void load(struct state *s)
{
    const struct full *f = s->covariance.room;
    if (!f) /* no features yet, so there is nothing in x */
        return;
    if (s->algo->covariance->joint)
        joint_load(s, s->covariance.x, s->covariance.z);
    else if (!f->is_read)
        example_load(s, s->covariance.x);
}

static void flush(struct state *s)
{
    struct full *f = s->covariance.room;
    if (f)
        f->is_read = false;
}

/* --- reading --- */

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, COVARIANCE_W, x, ret);
}

/* x'S_k x without scratch */
static double quad(const real *m, const struct vec *x)
{
    double sum = 0;
    for (size_t a = 0; a < x->n; a++) {
        double row = 0;
        for (size_t b = 0; b < a; b++)
            row += (double)matrix_get(m, vec_index(x, a), vec_index(x, b)) * x->value[b];
        row = 2 * row + (double)matrix_get(m, vec_index(x, a), vec_index(x, a)) * x->value[a];
        sum += row * x->value[a];
    }
    return sum;
}

static void peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances)
{
    scores(s, x, ret);
    for (uint32_t k = 0; k < s->K; k++)
        ret_variances[k] = (real)quad(matrix_of(s, COVARIANCE_FULL, k), x);
}

/* s->variances[k] is negative until it is known. */
static double variance(struct state *s, uint32_t k)
{
    if (s->variances[k] < 0) {
        const struct full *f = s->covariance.room;
        real q, c = (real)f->scale;
        f->ops->quads(matrix_of(s, COVARIANCE_FULL, k), 0, 1, &f->x, &q);
        s->variances[k] = q > 0 ? q * (c * c) : 0;
    }
    return s->variances[k];
}

static void read(struct state *s, const struct vec *x, double scale)
{
    const struct tensor_place *p = &s->tensor[COVARIANCE_FULL];
    struct full *f = s->covariance.room;
    bool all = s->features < LAZY_FROM;
    scores(s, x, s->scores);
    for (uint32_t k = 0; k < s->K; k++)
        s->variances[k] = x->n ? -1 : 0;
    if (!f)
        return;
    f->scale = scale;
    f->norm2 = all ? INFINITY : linear_norm2(s, x) * scale * scale;
    f->is_read = true;
    example_load(s, x);
    if (all && x->n)
        f->ops->quads(p->matrices, p->matrix_capacity, p->groups, &f->x, s->variances);
    for (uint32_t k = 0; all && k < s->K; k++) /* rounding may leave a tiny negative number */
        s->variances[k] = s->variances[k] > 0 ? s->variances[k] : 0;
    covariance_rescale(s, scale);
}

static double reach(const struct state *s)
{
    const struct full *f = s->covariance.room;
    return f ? COVARIANCE_REACH * f->norm2 / covariance_precision(s) : 0;
}

static double variance_pair(struct state *s, uint32_t k, uint32_t l)
{
    const struct full *f = s->covariance.room;
    double first = f->variance[product_of(s, k)], second = f->variance[product_of(s, l)];
    return (first + second) * (s->covariance.scale * s->covariance.scale);
}

/* --- steps --- */

/* Where examples are so long that nothing but roundings is left of S along them, x'Sx may come out negative, and a step
 * would make S grow without end: there is nothing left to learn in that direction, and no step. Likewise no step takes
 * more than all of x'Sx. */

static void step(struct state *s, uint32_t k, double c, double b)
{
    double scale = s->covariance.scale;
    int at = product_of(s, k);
    double variance = ((struct full *)s->covariance.room)->variance[at] * (scale * scale);
    if (variance <= 0)
        return;
    weights_add(s, k, at, c * scale);
    if (b != 0)
        update(s, k, at, -(b * variance > 1 ? 1 / variance : b) * scale * scale);
}

static double regress(struct state *s, uint32_t k, double shift, double target, double score)
{
    const struct full *f = s->covariance.room;
    int at = product_of(s, k);
    double q = f->variance[at];
    if (q <= 0)
        return 0;
    if (shift != 0)
        weights_add(s, k, at, shift);
    weights_add(s, k, at, (target - score) / (1 + q));
    update(s, k, at, -1 / (1 + q));
    return q / (1 + q);
}

static double joint_variance(struct state *s)
{
    const struct full *f = s->covariance.room;
    return f->variance[product_of(s, 0)] / s->covariance.z->p;
}

/* W = A^-1 b by recursive least squares. */
static double joint_step(struct state *s, double first, double weight, double inner)
{
    const struct full *f = s->covariance.room;
    int at = product_of(s, 0);
    if (f->variance[at] <= 0)
        return 0;
    double grown = 1 + weight * f->variance[at], c = (first - weight * inner) / grown, change = 0;
    for (size_t j = 0; j < s->features; j++) {
        real *w = linear_row(s, COVARIANCE_W, (uint32_t)j);
        for (uint32_t k = 0; k < s->K; k++) {
            real fresh = w[k] + (real)(c * f->product[at][j * s->K + k]);
            change += (double)fresh * fresh - (double)w[k] * w[k];
            w[k] = fresh;
        }
    }
    update(s, 0, at, -weight / grown);
    return change;
}

/* f->product[0] = A^-1 y for the n numbers y; returns y'A^-1 y. */
static double joint_multiply(struct state *s, const double *y)
{
    struct full *f = s->covariance.room;
    size_t n = (size_t)s->features * s->K;
    for (size_t i = 0; i < n; i++) {
        f->index[i] = (uint32_t)i;
        f->value[i] = 1;
    }
    f->x.d = n;
    f->owner[0] = f->owner[1] = NONE;
    matrix_vec_load(&f->x, f->index, f->value, n);
    for (size_t i = 0; i < n; i++)
        f->x.x[i] = (real)y[i];
    return f->ops->mul_exact(matrix_of(s, COVARIANCE_FULL, 0), matrix_of(s, COVARIANCE_LOW, 0), &f->x, f->product[0],
                             f->sums);
}

static double dot(const double *x, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* z = (I + mu A^-1)^-1 y by conjugate gradients. */
static void joint_solve(struct state *s, double mu, const double *y, double *z)
{
    struct full *f = s->covariance.room;
    size_t n = (size_t)s->features * s->K, wide = matrix_pad(n);
    double *r = f->ball + BALL_RESIDUAL * wide, *p = f->ball + BALL_DIRECTION * wide, norm2 = dot(y, y, n);
    const double tolerance = (sizeof(real) == sizeof(float) ? 1e-14 : 1e-28) * norm2;
    memcpy(r, y, n * sizeof *r);
    memcpy(p, y, n * sizeof *p);
    memset(z, 0, n * sizeof *z);
    for (size_t i = 0; i < n && norm2 > tolerance; i++) {
        double grown = dot(p, p, n) + mu * joint_multiply(s, p), step = norm2 / grown, before = norm2;
        for (size_t j = 0; j < n; j++) {
            z[j] += step * p[j];
            r[j] -= step * (p[j] + mu * (double)f->product[0][j]);
        }
        norm2 = dot(r, r, n);
        for (size_t j = 0; j < n; j++)
            p[j] = r[j] + norm2 / before * p[j];
    }
}

/* (A + mu I)^-1 b = (I + mu A^-1)^-1 U with U = A^-1 b. */
static double joint_shrunk(struct state *s, int into, double mu, double *ret_slope)
{
    struct full *f = s->covariance.room;
    size_t n = (size_t)s->features * s->K, wide = matrix_pad(n);
    *ret_slope = 0;
    if (!f)
        return 0;
    double *w = f->ball + BALL_W * wide, *z = f->ball + BALL_Z * wide;
    for (size_t i = 0; i < n; i++)
        z[i] = linear_row(s, COVARIANCE_W, (uint32_t)(i / s->K))[i % s->K];
    joint_solve(s, mu, z, w);
    for (size_t i = 0; i < n; i++)
        linear_row(s, into, (uint32_t)(i / s->K))[i % s->K] = (real)w[i];
    joint_solve(s, mu, w, z);
    joint_multiply(s, w);
    for (size_t i = 0; i < n; i++)
        *ret_slope += z[i] * (double)f->product[0][i];
    return dot(w, w, n);
}

/* --- merges --- */

/* Weight number i of group g. */
static real *weight_of(const struct state *s, size_t g, size_t i)
{
    size_t lanes = s->tensor[COVARIANCE_FULL].lanes;
    return linear_row(s, COVARIANCE_W, (uint32_t)(i / lanes)) + (lanes > 1 ? i % lanes : g);
}

/* A and b of n rows, and scratch for the inverse of one more matrix. */
struct information {
    size_t n;
    double *A, *b, *row, *inverse;
};

/* A += S^-1 - less I and b += S^-1 w, for group g of a state with n rows or fewer. */
static void information_add(struct information *to, const struct state *s, uint32_t g, double less)
{
    size_t n = (size_t)s->features * s->tensor[COVARIANCE_FULL].lanes;
    const real *m = matrix_of(s, COVARIANCE_FULL, g), *low = matrix_of(s, COVARIANCE_LOW, g);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            to->inverse[i * n + j] = (double)matrix_get(m, i, j) + (low ? (double)matrix_get(low, i, j) : 0);
    cholesky_invert(to->inverse, n, to->row);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            to->b[i] += to->inverse[i * n + j] * *weight_of(s, g, j);
            to->A[i * to->n + j] += to->inverse[i * n + j];
        }
        to->A[i * (to->n + 1)] -= less;
    }
}

/* w = A^-1 b and S = A^-1 */
static void information_take(struct information *from, struct state *s, uint32_t g)
{
    real *m = matrix_of(s, COVARIANCE_FULL, g), *low = matrix_of(s, COVARIANCE_LOW, g);
    size_t n = from->n;
    cholesky_invert(from->A, n, from->row);
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++)
            sum += from->A[i * n + j] * from->b[j];
        *weight_of(s, g, i) = (real)sum;
        for (size_t j = 0; j <= i; j++) {
            matrix_set(m, i, j, (real)from->A[i * n + j]);
            if (low)
                matrix_set(low, i, j, (real)(from->A[i * n + j] - (real)from->A[i * n + j]));
        }
    }
}

static hunch_status merge(struct state *s, const struct state *other)
{
    const struct tensor_place *p = &s->tensor[COVARIANCE_FULL];
    size_t n = (size_t)s->features * p->lanes, square = size_mul(n, n);
    if (!other->features)
        return HUNCH_OK;
    double *memory = malloc(size_mul(size_add(size_mul(square, 2), size_mul(n, 2)), sizeof *memory));
    if (!memory)
        return HUNCH_ENOMEM;
    struct information sum = {n, memory, memory + square, memory + square + n, memory + square + 2 * n};
    for (uint32_t g = 0; g < p->groups; g++) {
        memset(memory, 0, (square + n) * sizeof *memory);
        information_add(&sum, s, g, 0);
        information_add(&sum, other, g, covariance_precision(s));
        information_take(&sum, s, g);
    }
    free(memory);
    return HUNCH_OK;
}

const struct covariance_form covariance_full = {
    .name = "full",
    .shape = shape,
    .room_size = room_size,
    .room_init = room_init,
    .scores = scores,
    .peek = peek,
    .read = read,
    .variance = variance,
    .reach = reach,
    .load = load,
    .variance_pair = variance_pair,
    .step = step,
    .regress = regress,
    .flush = flush,
    .joint_variance = joint_variance,
    .joint_step = joint_step,
    .joint_shrunk = joint_shrunk,
    .merge = merge,
};
