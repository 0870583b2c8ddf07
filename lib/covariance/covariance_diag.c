/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Covariances by their diagonals: S_k as one row of the features x classes tensor DIAGONAL, or the sums b and A. Steps
 * are noted per class and taken by flush in one pass over the example's rows.
 */
#include <math.h>
#include <string.h>

#include "covariance/covariance.h"
#include "state/linear.h"

static enum covariance_rule rule_of(const struct state *s)
{
    return s->algo->covariance->rule;
}

static bool keeps_sums(const struct state *s)
{
    return rule_of(s) >= DIAGONAL_SUMS;
}

static bool shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (tensor == COVARIANCE_DIAGONAL)
        inout->initial = keeps_sums(s) ? covariance_precision(s) : 1 / covariance_precision(s);
    return tensor == COVARIANCE_W || tensor == COVARIANCE_DIAGONAL || (tensor == COVARIANCE_B && keeps_sums(s));
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    linear_scores(s, COVARIANCE_W, x, ret);
}

static struct linear_tables tables(const struct state *s)
{
    return (struct linear_tables){linear_row(s, COVARIANCE_W, 0), linear_row(s, COVARIANCE_DIAGONAL, 0), s->stride,
                                  s->tensor[COVARIANCE_W].padded};
}

static void peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances)
{
    struct linear_tables t = tables(s);
    s->linear->scores_widths(&t, x, ret, ret_variances);
}

static void read(struct state *s, const struct vec *x, double scale)
{
    peek(s, x, s->scores, s->variances);
    covariance_rescale(s, scale);
}

static void load(struct state *s)
{
    memset(s->covariance.gains, 0, s->lanes * sizeof(real));
    memset(s->covariance.shrinks, 0, s->lanes * sizeof(real));
    s->covariance.noted = 0;
}

static void note(struct state *s, uint32_t k, double gain, double shrink)
{
    struct covariance *c = &s->covariance;
    c->gains[k] = (real)gain;
    c->shrinks[k] = (real)shrink;
    c->last[c->noted++ % 2] = k;
}

static double variance_pair(struct state *s, uint32_t k, uint32_t l)
{
    const struct vec *x = s->covariance.x;
    const real *u = linear_row(s, COVARIANCE_DIAGONAL, 0);
    double first = 0, second = 0;
    FOR_EACH_ENTRY({
        first += (double)u[row + k] * v * v;
        second += (double)u[row + l] * v * v;
    });
    return (first + second) * (s->covariance.scale * s->covariance.scale);
}

static void step(struct state *s, uint32_t k, double c, double b)
{
    double scale = s->covariance.scale;
    if (rule_of(s) == DIAGONAL_INVERT)
        b /= fmax(1 - b * s->variances[k], 1e-3);
    note(s, k, c * scale, b * scale * scale);
}

/* --- DIAGONAL_SUBTRACT --- */

static void subtract_one(const struct state *s, uint32_t k)
{
    const struct vec *x = s->covariance.x;
    real *w = linear_row(s, COVARIANCE_W, 0) + k, *u = linear_row(s, COVARIANCE_DIAGONAL, 0) + k;
    real gain = s->covariance.gains[k], shrink = s->covariance.shrinks[k];
    FOR_EACH_ENTRY({
        real ux = u[row] * v;
        w[row] += gain * ux;
        u[row] -= shrink * (ux * ux);
    });
}

static void subtract_pair(const struct state *s, uint32_t k, uint32_t l)
{
    const struct vec *x = s->covariance.x;
    real *w = linear_row(s, COVARIANCE_W, 0), *u = linear_row(s, COVARIANCE_DIAGONAL, 0);
    const real *gains = s->covariance.gains, *shrinks = s->covariance.shrinks;
    real gain = gains[k], shrink = shrinks[k], gain_l = gains[l], shrink_l = shrinks[l];
    FOR_EACH_ENTRY({
        real ux = u[row + k] * v;
        real uy = u[row + l] * v;
        w[row + k] += gain * ux;
        u[row + k] -= shrink * (ux * ux);
        w[row + l] += gain_l * uy;
        u[row + l] -= shrink_l * (uy * uy);
    });
}

static void subtract_noted(const struct state *s)
{
    const struct covariance *c = &s->covariance;
    if (c->noted == 1)
        subtract_one(s, c->last[0]);
    else if (c->noted == 2)
        subtract_pair(s, c->last[0], c->last[1]);
    struct linear_tables t = tables(s);
    if (c->noted > 2)
        s->linear->arow_all(&t, c->x, c->gains, c->shrinks);
}

/* --- DIAGONAL_INVERT --- */

/* One class on its own costs about what that many lanes do together. */
#define LANES_PER_COLUMN 12

/* Lanes from the first to the last class that moves, in whole vectors. */
static size_t lanes_moved(size_t padded, size_t last)
{
    for (size_t lanes = 16 / sizeof(real); lanes < padded; lanes *= 2)
        if (last < lanes)
            return lanes;
    return padded;
}

/* All classes in one pass, unless there is little to do for few among many: the bits are the same. */
static void invert_noted(const struct state *s)
{
    struct linear_tables t = tables(s);
    const real *gains = s->covariance.gains, *shrinks = s->covariance.shrinks;
    size_t classes = 0, last = 0;
    for (uint32_t k = 0; k < s->K; k++) {
        classes += shrinks[k] > 0;
        last = shrinks[k] > 0 ? k : last;
    }
    if (classes * LANES_PER_COLUMN >= t.lanes) {
        t.lanes = lanes_moved(t.lanes, last);
        s->linear->sharpen_all(&t, s->covariance.x, gains, shrinks);
        return;
    }
    for (uint32_t k = 0; k < s->K; k++)
        if (shrinks[k] > 0)
            s->linear->sharpen_one(t.W + k, t.V + k, s->stride, s->covariance.x, gains[k], shrinks[k]);
}

/* --- DIAGONAL_RIDGE, DIAGONAL_SOLVE --- */

static double ridge(struct state *s, uint32_t k, double target, double score)
{
    const struct vec *x = s->covariance.x;
    real *w = linear_row(s, COVARIANCE_W, 0) + k, *u = linear_row(s, COVARIANCE_DIAGONAL, 0) + k;
    double q = s->variances[k];
    real gain = (real)((target - score) / (1 + q));
    FOR_EACH_ENTRY({
        w[row] += gain * (u[row] * v);
        u[row] /= 1 + u[row] * v * v;
    });
    return q / (1 + q);
}

static double solve(struct state *s, uint32_t k, double target)
{
    const struct vec *x = s->covariance.x;
    real *w = linear_row(s, COVARIANCE_W, 0) + k, *u = linear_row(s, COVARIANCE_DIAGONAL, 0) + k;
    real gain = (real)target;
    double sum = 0;
    FOR_EACH_ENTRY({
        real shrink = 1 / (1 + u[row] * v * v);
        w[row] = (w[row] + gain * v * u[row]) * shrink;
        u[row] *= shrink;
        sum += (double)u[row] * v * v;
    });
    return sum;
}

/* --- DIAGONAL_SUMS, DIAGONAL_NEGATIVE --- */

/* Of two classes: b += gain x, A += shrink x^2, w = b / A. */
static void sums_pair(const struct state *s, uint32_t k, uint32_t l)
{
    const struct vec *x = s->covariance.x;
    real *w = linear_row(s, COVARIANCE_W, 0), *b = linear_row(s, COVARIANCE_B, 0);
    real *a = linear_row(s, COVARIANCE_DIAGONAL, 0);
    real gain = s->covariance.gains[k], gain_l = s->covariance.gains[l], weight = s->covariance.shrinks[k];
    FOR_EACH_ENTRY({
        real square = weight * v * v;
        b[row + k] += gain * v;
        b[row + l] += gain_l * v;
        a[row + k] += square;
        a[row + l] += square;
        w[row + k] = b[row + k] / a[row + k];
        w[row + l] = b[row + l] / a[row + l];
    });
}

static double regress(struct state *s, uint32_t k, double shift, double target, double score)
{
    if (rule_of(s) == DIAGONAL_RIDGE)
        return ridge(s, k, target, score);
    if (rule_of(s) == DIAGONAL_SOLVE)
        return solve(s, k, shift + target);
    note(s, k, target, 1);
    if (s->covariance.noted % 2 == 0) /* they come in pairs: a class is rewarded at another's expense */
        sums_pair(s, s->covariance.last[0], s->covariance.last[1]);
    return 0;
}

static void flush(struct state *s)
{
    if (rule_of(s) == DIAGONAL_INVERT)
        invert_noted(s);
    else if (!keeps_sums(s))
        subtract_noted(s);
}

static double joint_variance(struct state *s)
{
    const struct joint *z = s->covariance.z;
    const struct vec *x = s->covariance.x;
    const real *a = linear_row(s, COVARIANCE_DIAGONAL, 0);
    double sum = 0;
    FOR_EACH_ENTRY(sum += (double)v * v * (1 / (double)a[row + z->plus] + 1 / (double)a[row + z->minus]););
    return sum / z->p;
}

/* Lanes that hold classes, in whole vectors of the narrowest kind: for loops whose cost is in the arithmetic. */
static size_t lanes_used(const struct state *s)
{
    size_t narrow = 16 / sizeof(real);
    return (s->K + narrow - 1) / narrow * narrow;
}

/* All classes at once, with w = -b / A; returns the change of W's squared norm. */
static double newton_step(struct state *s, const double *h, double first, double weight)
{
    struct covariance *c = &s->covariance;
    double sum = 0;
    for (uint32_t k = 0; k < s->K; k++) {
        c->gains[k] = (real)(first * h[k]);
        c->shrinks[k] = (real)(weight * h[k] * h[k]);
    }
    struct linear_newton t = {linear_row(s, COVARIANCE_W, 0),
                              linear_row(s, COVARIANCE_B, 0),
                              linear_row(s, COVARIANCE_DIAGONAL, 0),
                              c->gains,
                              c->shrinks,
                              s->variances};
    s->linear->newton_all(&t, s->stride, lanes_used(s), c->x);
    for (uint32_t k = 0; k < s->K; k++)
        sum += s->variances[k];
    return sum;
}

static double joint_step(struct state *s, double first, double weight, double inner)
{
    const struct joint *z = s->covariance.z;
    if (z->h)
        return newton_step(s, z->h, -first, weight);
    note(s, z->plus, first, weight);
    note(s, z->minus, -first, weight);
    sums_pair(s, z->plus, z->minus);
    return 0;
}

static double joint_shrunk(struct state *s, int into, double mu, double *ret_slope)
{
    double norm2 = 0, slope = 0;
    for (uint32_t j = 0; j < s->features; j++) {
        const real *u = linear_row(s, COVARIANCE_W, j), *a = linear_row(s, COVARIANCE_DIAGONAL, j);
        real *w = linear_row(s, into, j);
        for (uint32_t k = 0; k < s->K; k++) {
            double grown = a[k] + mu, shrunk = u[k] * (a[k] / grown);
            w[k] = (real)shrunk;
            norm2 += shrunk * shrunk;
            slope += shrunk * shrunk / grown;
        }
    }
    *ret_slope = slope;
    return norm2;
}

/* --- merges --- */

static void merge_sums(struct state *s, const struct state *other, uint32_t j, uint32_t k)
{
    real *b = linear_row(s, COVARIANCE_B, j) + k, *a = linear_row(s, COVARIANCE_DIAGONAL, j) + k;
    double more = (double)linear_row(other, COVARIANCE_DIAGONAL, j)[k] - covariance_precision(s);
    *b += linear_row(other, COVARIANCE_B, j)[k];
    *a = (real)(*a + more);
    linear_row(s, COVARIANCE_W, j)[k] = rule_of(s) == DIAGONAL_NEGATIVE ? -*b / *a : *b / *a;
}

static void merge_variances(struct state *s, const struct state *other, uint32_t j, uint32_t k)
{
    real *w = linear_row(s, COVARIANCE_W, j) + k, *u = linear_row(s, COVARIANCE_DIAGONAL, j) + k;
    double min = covariance_precision(s), mine = 1 / fmax(*u, 1e-30);
    double theirs = 1 / fmax(linear_row(other, COVARIANCE_DIAGONAL, j)[k], 1e-30);
    double all = fmax(mine + theirs - min, min);
    *w = (real)((mine * *w + theirs * linear_row(other, COVARIANCE_W, j)[k]) / all);
    *u = (real)(1 / all);
}

static hunch_status merge(struct state *s, const struct state *other)
{
    for (uint32_t j = 0; j < other->features; j++)
        for (uint32_t k = 0; k < s->K; k++)
            if (keeps_sums(s))
                merge_sums(s, other, j, k);
            else
                merge_variances(s, other, j, k);
    return HUNCH_OK;
}

const struct covariance_form covariance_diag = {
    .name = "diag",
    .shape = shape,
    .scores = scores,
    .peek = peek,
    .read = read,
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
