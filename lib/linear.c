/* SPDX-License-Identifier: BSD-3-Clause */
#include "linear.h"

#include "base/cpu.h"

extern const struct linear_ops linear_ops_plain, linear_ops_avx2, linear_ops_avx512;

const struct linear_ops *linear_ops(const char *name)
{
    static const struct linear_ops *const sets[] = {
        [CPU_PLAIN] = &linear_ops_plain,
#ifdef HUNCH_X86
        [CPU_AVX2] = &linear_ops_avx2,
        [CPU_AVX512] = &linear_ops_avx512,
#endif
    };
    int cpu = name ? cpu_named(name) : (int)cpu_best();
    return cpu < 0 ? NULL : sets[cpu];
}

void linear_scores(const struct state *s, int W, const struct vec *x, real *ret)
{
    s->linear->scores(linear_row(s, W, 0), s->stride, s->tensor[W].padded, x, ret);
}

void linear_scores_widths(const struct state *s, int W, int V, const struct vec *x, real *ret, real *ret_widths)
{
    s->linear->scores_widths(linear_row(s, W, 0), linear_row(s, V, 0), s->stride, s->tensor[W].padded, x, ret,
                             ret_widths);
}

/* Runs body for every entry: row is the feature's place times the stride, v the value. Dense examples walk through the
 * rows, so that nothing is looked up or multiplied. */
#define FOR_EACH_ENTRY(body)                                                                                           \
    do {                                                                                                               \
        if (x->index) {                                                                                                \
            for (size_t i = 0; i < x->n; i++) {                                                                        \
                size_t row = (size_t)x->index[i] * s->stride;                                                          \
                real v = x->value[i];                                                                                  \
                body                                                                                                   \
            }                                                                                                          \
        } else {                                                                                                       \
            for (size_t i = 0, row = 0; i < x->n; i++, row += s->stride) {                                             \
                real v = x->value[i];                                                                                  \
                body                                                                                                   \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

double vec_norm2(const struct vec *x)
{
    double sum[8] = {x->unseen};
    size_t i = 0;
    for (; i + 8 <= x->n; i += 8)
        for (int c = 0; c < 8; c++)
            sum[c] += (double)x->value[i + c] * x->value[i + c];
    for (; i < x->n; i++)
        sum[0] += (double)x->value[i] * x->value[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

void linear_add(const struct state *s, int W, uint32_t k, double c, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, step = (real)c;
    FOR_EACH_ENTRY(w[row] += step * v;);
}

void linear_add_twice(const struct state *s, int W, uint32_t k, double a, double b, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, first = (real)a, second = (real)b;
    FOR_EACH_ENTRY(w[row] = (w[row] + first * v) + second * v;);
}

void linear_add_pair(const struct state *s, int W, uint32_t k, double a, uint32_t l, double b, const struct vec *x)
{
    real *w = linear_row(s, W, 0), first = (real)a, second = (real)b;
    FOR_EACH_ENTRY({
        w[row + k] += first * v;
        w[row + l] += second * v;
    });
}

void linear_add_all(const struct state *s, int W, const real *c, const struct vec *x)
{
    s->linear->add_all(linear_row(s, W, 0), s->stride, s->tensor[W].padded, x, c);
}

void linear_arow_all(const struct state *s, int W, int V, const real *c, const real *b, const struct vec *x)
{
    s->linear->arow_all(linear_row(s, W, 0), linear_row(s, V, 0), s->stride, s->tensor[W].padded, x, c, b);
}

double linear_width_pair(const struct state *s, int V, uint32_t k, uint32_t l, const struct vec *x)
{
    const real *u = linear_row(s, V, 0);
    double first = 0, second = 0;
    FOR_EACH_ENTRY({
        first += (double)u[row + k] * v * v;
        second += (double)u[row + l] * v * v;
    });
    return first + second;
}

void linear_arow(const struct state *s, int W, int V, uint32_t k, double c, double b, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, *u = linear_row(s, V, 0) + k;
    real step = (real)c, shrink = (real)b;
    FOR_EACH_ENTRY({
        real ux = u[row] * v;
        w[row] += step * ux;
        u[row] -= shrink * (ux * ux);
    });
}

void linear_arow_pair(const struct state *s, int W, int V, uint32_t k, uint32_t l, double c, double b,
                      const struct vec *x)
{
    real *w = linear_row(s, W, 0), *u = linear_row(s, V, 0);
    real step = (real)c, shrink = (real)b;
    FOR_EACH_ENTRY({
        real ux = u[row + k] * v;
        real uy = u[row + l] * v;
        w[row + k] += step * ux;
        u[row + k] -= shrink * (ux * ux);
        w[row + l] -= step * uy;
        u[row + l] -= shrink * (uy * uy);
    });
}

/* Lanes that hold classes, in whole vectors of the narrowest kind: for loops whose cost lies in the arithmetic. */
static size_t lanes_used(const struct state *s)
{
    size_t narrow = 16 / sizeof(real);
    return (s->K + narrow - 1) / narrow * narrow;
}

/* One class on its own costs about what so many lanes do together. */
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
void linear_sharpen(const struct state *s, int W, int V, const real *c, const real *p, const struct vec *x)
{
    size_t classes = 0, last = 0;
    for (uint32_t k = 0; k < s->K; k++) {
        classes += p[k] > 0;
        last = p[k] > 0 ? k : last;
    }
    if (classes * LANES_PER_COLUMN >= s->tensor[W].padded) {
        size_t lanes = lanes_moved(s->tensor[W].padded, last);
        s->linear->sharpen_all(linear_row(s, W, 0), linear_row(s, V, 0), s->stride, lanes, x, c, p);
        return;
    }
    for (uint32_t k = 0; k < s->K; k++)
        if (p[k] > 0)
            s->linear->sharpen_one(linear_row(s, W, 0) + k, linear_row(s, V, 0) + k, s->stride, x, c[k], p[k]);
}

double linear_regress(const struct state *s, int W, int V, uint32_t k, double c, const struct vec *x)
{
    real *w = linear_row(s, W, 0) + k, *u = linear_row(s, V, 0) + k, step = (real)c;
    double sum = 0;
    FOR_EACH_ENTRY({
        real shrink = 1 / (1 + u[row] * v * v);
        w[row] = (w[row] + step * v * u[row]) * shrink;
        u[row] *= shrink;
        sum += (double)u[row] * v * v;
    });
    return sum;
}

void linear_quotient_pair(const struct state *s, const int tensors[3], uint32_t k, uint32_t l, double c, double b,
                          const struct vec *x)
{
    real *w = linear_row(s, tensors[0], 0), *sum = linear_row(s, tensors[1], 0), *a = linear_row(s, tensors[2], 0);
    real step = (real)c, weight = (real)b;
    FOR_EACH_ENTRY({
        real square = weight * v * v;
        sum[row + k] += step * v;
        sum[row + l] -= step * v;
        a[row + k] += square;
        a[row + l] += square;
        w[row + k] = sum[row + k] / a[row + k];
        w[row + l] = sum[row + l] / a[row + l];
    });
}

double linear_newton(const struct state *s, int U, int B, int A, const real *first, const real *second, real *change,
                     const struct vec *x)
{
    struct linear_newton t = {linear_row(s, U, 0), linear_row(s, B, 0), linear_row(s, A, 0), first, second, change};
    double sum = 0;
    s->linear->newton_all(&t, s->stride, lanes_used(s), x);
    for (uint32_t k = 0; k < s->K; k++)
        sum += change[k];
    return sum;
}
