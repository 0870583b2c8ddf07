/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An orthonormal basis U (features x m) that is learned online, for covariances S_k = U T_k U' + sigma_k (I - U U').
 *
 * struct basis is the shared part: U, what the next U is made from, and the view z = U'x~ of the example at hand.
 * struct factor is one learner's part: its weights W + U A, and T_k and sigma_k of each class. Several learners of one
 * state may share a basis: each has a factor, and their weights and U stand side by side in a feature's row, so that
 * one pass over the example gives all scores and z.
 *
 * The calls of a round, for x~ = scale x:
 *
 *     linear->scores             over [W | ... | U]
 *     basis_read
 *     factor_scores              of each factor
 *     factor_variance            of the classes whose variance is needed; the others cost nothing
 *
 * and if the learner is updated:
 *
 *     basis_grow
 *     factor_grow                of each factor, for the new columns
 *     factor_step                of the classes whose weights change
 *     factor_flush               of each factor
 *     basis_collect
 *     if basis_is_due:           factor_fold of each factor, basis_renew, factor_turn of each factor
 *
 * grow:    while there are no more than m features, each is a column of its own: this is the full form. Else, while U
 *          has fewer than m columns and rho^2 = |x~|^2 - |z|^2 > 1e-3 |x~|^2: the normalised residual of x~ becomes a
 *          column, found twice where rho^2 < |x~|^2/10. T_k gets the diagonal entry sigma_k.
 *
 * collect: U being full, in every `every`-th round: Y += x~ z'. With the residuals r, r' of this and of the last
 *          collected example: s1 += rho^2, s2 += (r.r')^2, n += 1; from n = 16 on the effective dimension outside of U
 *          is (s1/n)^2/(s2/n), within 1 .. features - m.
 *
 * renew:   from round `next` on (3m at first), if m examples were collected: W += U A, A = 0; V = orth(Y), without
 *          columns that those before them make up (then U may grow again); with R = U'V: T_k = R'T_k R +
 *          sigma_k (I - R'R); U = V; Y = 0; s1, s2, n are quartered; next = 2t, every = max(1, t/512).
 *
 * step:    with g_k = T_k z, u_k = z'g_k, v_k = u_k + sigma_k rho^2, tau = b/max(1 - b v_k, 1e-3):
 *          a_k += c (g_k - sigma_k z), w_k += c sigma_k x~, T_k -= tau/(1 + tau u_k) g_k g_k',
 *          1/sigma_k += tau rho^2/dimension. Where only roundings are left of T_k along z, g_k and u_k count as 0.
 *
 * All of it is lane by lane or in a fixed order, without fused multiply-add: the same bits on every machine. z and g_k
 * are floats in double builds too.
 */
#ifndef BASIS_H
#define BASIS_H

#include <string.h>

#include "state/algo.h"

#define BASIS_MAX 256 /* largest m */

enum { LIVE_U = 1, LIVE_Y = 2 };

enum {
    BASIS_USED,      /* columns of U so far */
    BASIS_DIMENSION, /* 0: not known yet */
    BASIS_S1,
    BASIS_S2,
    BASIS_N,
    BASIS_NEXT,  /* 0: 3m */
    BASIS_EVERY, /* 0: 1 */
    BASIS_COLLECTED,
    BASIS_STAMP, /* number of the example collected last */
    BASIS_LAST,  /* 1: there is one, since this basis came */
    BASIS_COUNTERS
};

struct basis {
    int U;        /* tensor of features x m */
    int Y;        /* features x m */
    int last;     /* features x 2: the example collected last, x~'_j, and its number */
    int last_z;   /* m numbers: its z */
    int counters; /* BASIS_COUNTERS numbers */

    const struct basis_ops *ops;
    size_t m, padded;           /* columns at most; m in whole vectors: rows of T */
    float *z;                   /* padded: U'x~ */
    double norm2, inside, rest; /* |x~|^2, |z|^2 and rho^2 */
    double scale;               /* x~ = scale x */
    double *work;               /* BASIS_WORK * m * m numbers, for renew */
    uint8_t *live;              /* by feature: LIVE_U and LIVE_Y where its row there may be other than 0 */
    size_t live_columns;        /* columns of U, */
    double live_collected;      /* and examples in Y, for which that is known */
};

struct factor {
    int W;      /* tensor of features x classes */
    int A;      /* m x classes, PER_MODEL_REAL */
    int T;      /* classes x padded^2, PER_MODEL_REAL */
    int sigma;  /* 1 x classes */
    double max; /* variance before the first example, 1/precision */

    float *g;               /* classes x padded: T_k z */
    real *product;          /* padded: scratch */
    double *u;              /* classes: z'T_k z; negative: not computed for this example */
    real *gains;            /* classes in whole vectors: what w_k moves along x */
    uint32_t moved;         /* classes with a step in this round */
    uint32_t first, second; /* the first two of them */
};

/* Bytes of the arrays of each, and their setting up there (memory is zero and aligned to 64). */
size_t basis_size(size_t m, size_t features);
void basis_init(struct basis *b, size_t m, void *memory);
size_t factor_size(size_t m, uint32_t K);
void factor_init(struct factor *f, size_t m, uint32_t K, void *memory);

/* product: U'x, from the pass over the rows */
void basis_read(const struct state *s, struct basis *b, const struct vec *x, double scale, const real *product);
bool basis_may_grow(const struct state *s, const struct basis *b);        /* by this example */
size_t basis_grow(struct state *s, struct basis *b, const struct vec *x); /* how many columns came */
void basis_collect(struct state *s, struct basis *b, const struct vec *x);
bool basis_is_due(const struct state *s, const struct basis *b);
void basis_renew(struct state *s, struct basis *b);

/* ret_k = scale (W'x)_k + (A'z)_k, where ret holds W'x. room: lanes reals. */
void factor_scores(const struct state *s, const struct basis *b, struct factor *f, real *ret, real *room);
double factor_variance(const struct state *s, const struct basis *b, struct factor *f, uint32_t k);
void factor_step(struct state *s, const struct basis *b, struct factor *f, uint32_t k, double c, double weight);
void factor_flush(struct state *s, const struct basis *b, struct factor *f, const struct vec *x);
void factor_grow(struct state *s, const struct basis *b, struct factor *f, size_t columns);
void factor_fold(struct state *s, struct basis *b, const struct factor *f);
void factor_turn(struct state *s, const struct basis *b, const struct factor *f);

/* Const calls, for which the numbers of the tensors are enough: z = U'x of x itself (room for BASIS_MAX); ret_k +=
 * (A'z)_k (room: lanes reals); x'S_k x for |x|^2 = norm2. */
void basis_view(const struct state *s, const struct basis *b, const struct vec *x, float *ret_z);
void factor_view_scores(const struct state *s, const struct factor *f, const float *z, real *ret, real *room);
double factor_view_variance(const struct state *s, const struct factor *f, uint32_t k, const float *z, double norm2);

/* Classes from first_class on have just come: nothing is known about them in any direction. */
void factor_fresh(struct state *s, const struct basis *b, const struct factor *f, uint32_t first_class,
                  double variance);
size_t basis_used(const struct state *s, const struct basis *b); /* columns of U */
/* Add what other's factors have learned: A = A_1 + A_2 - precision I, A w = A_1 w_1 + A_2 w_2. May fail with nothing
 * changed (basis_merge.c). */
hunch_status basis_merge(struct state *s, const struct state *other, const struct basis *b, const struct factor *f,
                         size_t factors, double precision);

struct basis_square {
    const real *numbers;
    size_t rows, lanes;
};

/* Rows that the loops below visit: `stride` reals apart, those with live[j] != 0 (of sparse examples few are, at
 * first). */
struct basis_rows {
    size_t stride, n;
    const uint8_t *live;
};

/* The first of them from row j on, n after the last; where few are, eight rows are passed over at a time. */
static inline size_t basis_row(const struct basis_rows *rows, size_t j)
{
    uint64_t eight = 1;
    while (j < rows->n && !rows->live[j]) {
        if (j + sizeof eight <= rows->n)
            memcpy(&eight, rows->live + j, sizeof eight);
        j += eight ? 1 : sizeof eight;
        eight = 1;
    }
    return j;
}
#define FOR_EACH_ROW(rows, j) for (size_t j = basis_row(rows, 0); j < (rows)->n; j = basis_row(rows, j + 1))

struct basis_step {
    double c, sigma;
};

/* The heavy loops, in double, once per instruction set (basis_kernels.c). */
struct basis_ops {
    const char *name;
    /* c (g - sigma z), which a step adds to a_k */
    void (*gains)(const struct basis_step *p, const float *g, const float *z, size_t n, real *ret);
    /* g becomes h = root g, for T - h h'; returns -h */
    void (*shrink)(double root, float *g, size_t n, real *ret);
    /* all times keep */
    void (*decay)(real *inout, size_t n, real keep);
    /* G_ab += sum over rows of x_a y_b, for b < width(a): a + 1 where X and Y are the same, else m */
    void (*gram)(const real *X, const real *Y, const struct basis_rows *rows, size_t m, double *G);
    /* G = L L' becomes L, and its inverse by columns. Columns that those before them make up are zero in both. Returns
     * the least share of a column's squared length that those before it leave. */
    double (*invert)(double *G, size_t m, double *inverse);
    /* every row y becomes L y, for the lower triangle given as columns: Lt[b m + a] */
    void (*turn)(real *Y, const struct basis_rows *rows, size_t m, const double *Lt);
    /* Every row y becomes L y, as above, and takes the place of u; Y is zero then. R += sum over rows of u_a (L y)_b.
     */
    void (*renew)(real *U, real *Y, const struct basis_rows *rows, size_t m, const double *Lt, double *R);
    /* C = A B, all m x m; lower: at least on and below the diagonal */
    void (*product)(size_t m, const double *A, const double *B, bool lower, double *C);
    /* column a -= its projections on the columns before: Gram and Schmidt */
    void (*project)(real *U, const struct basis_rows *rows, size_t a);
    /* W += U A, in reals */
    void (*fold)(real *W, const real *U, const struct basis_rows *rows, const struct basis_square *A);
};
const struct basis_ops *basis_ops(const char *name); /* as linear_ops_named; NULL: the best */

#endif
