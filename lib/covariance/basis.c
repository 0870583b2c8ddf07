/* SPDX-License-Identifier: BSD-3-Clause */
#include "covariance/basis.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "state/linear.h"
#include "state/state.h"

#define GROW_FROM 1e-3    /* of |x~|^2: a smaller residual makes no direction */
#define TWICE_BELOW 0.1   /* of |x~|^2: what roundings leave of a smaller residual along U would count */
#define LEFT_MIN 1e-6     /* of any column: with more left, one pass makes them orthogonal to what floats can hold */
#define VARIANCE_MIN 1e-7 /* of what it was before the first example */
#define FEW 16            /* pairs of residuals before their dimension counts */
#define FEW_LANES 8       /* classes in whole vectors that cost no more to move all at once than two of them */
#define FIRST 3           /* rounds for each direction before the first basis that is made of examples */
#define COLLECT 512       /* examples collected while the number of rounds doubles, about */

extern const struct basis_ops basis_ops_plain, basis_ops_avx2, basis_ops_avx512;

const struct basis_ops *basis_ops(const char *name)
{
    static const struct basis_ops *const sets[] = CPU_SETS(basis_ops);
    int cpu = cpu_chosen(name);
    return cpu < 0 ? NULL : sets[cpu];
}

/* --- memory --- */

enum { WORK_L, WORK_INVERSE, WORK_R, WORK_R_TURNED, WORK_SQUARE, WORK_FIRST, WORK_SECOND, WORKS };

static size_t lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

size_t basis_size(size_t m, size_t features)
{
    return lines(state_lanes(m) * sizeof(float)) + lines(WORKS * m * m * sizeof(double)) + lines(features);
}

void basis_init(struct basis *b, size_t m, void *memory)
{
    char *at = memory;
    b->ops = basis_ops(NULL);
    b->m = m;
    b->padded = state_lanes(m);
    b->z = (float *)memory;
    at += lines(b->padded * sizeof(float));
    b->work = (double *)(void *)at;
    b->live = (uint8_t *)at + lines(WORKS * m * m * sizeof(double));
}

size_t factor_size(size_t m, uint32_t K)
{
    size_t padded = state_lanes(m);
    return lines(size_mul(size_mul(padded, K), sizeof(float))) + lines(padded * sizeof(real)) +
           lines(K * sizeof(double)) + lines(state_lanes(K) * sizeof(real));
}

void factor_init(struct factor *f, size_t m, uint32_t K, void *memory)
{
    size_t padded = state_lanes(m);
    char *at = memory;
    f->g = (float *)memory;
    at += lines(padded * K * sizeof(float));
    f->product = (real *)(void *)at;
    at += lines(padded * sizeof(real));
    f->u = (double *)(void *)at;
    at += lines(K * sizeof(double));
    f->gains = (real *)(void *)at;
}

/* --- the example --- */

static double *counter(const struct state *s, const struct basis *b, int which)
{
    return model_numbers(s, b->counters) + which;
}

size_t basis_used(const struct state *s, const struct basis *b)
{
    double n = *counter(s, b, BASIS_USED), m = (double)s->tensor[b->U].lanes;
    return n >= 1 ? (size_t)fmin(n, m) : 0; /* a model file may claim anything */
}

static struct vec view(const struct state *s, const struct basis *b)
{
    size_t n = basis_used(s, b);
    return (struct vec){.value = b->z, .n = n, .all = n};
}

void basis_read(const struct state *s, struct basis *b, const struct vec *x, double scale, const real *product)
{
    b->scale = scale;
    for (size_t i = 0; i < b->padded; i++)
        b->z[i] = (float)(product[i] * (real)scale);
    b->norm2 = linear_norm2(s, x) * scale * scale;
    b->inside = s->linear->dot(b->z, b->z, b->padded);
    b->rest = fmax(0, b->norm2 - b->inside);
}

/* --- rows that matter --- */

static void live_find(const struct state *s, struct basis *b, int tensor, size_t columns, uint8_t which)
{
    for (uint32_t j = 0; j < s->features; j++) {
        const real *row = linear_row(s, tensor, j);
        size_t i = 0;
        while (i < columns && row[i] == 0)
            i++;
        b->live[j] = (uint8_t)((b->live[j] & ~which) | (i < columns ? which : 0));
    }
}

/* Recomputes b->live where U or Y was not changed by the steps that maintain it, such as by loading. */
static struct basis_rows live_rows(const struct state *s, struct basis *b)
{
    size_t columns = basis_used(s, b);
    double collected = *counter(s, b, BASIS_COLLECTED);
    if (b->live_columns != columns || !columns)
        live_find(s, b, b->U, columns, LIVE_U);
    if (b->live_collected != collected)
        live_find(s, b, b->Y, collected > 0 ? b->m : 0, LIVE_Y);
    b->live_columns = columns;
    b->live_collected = collected;
    return (struct basis_rows){s->stride, s->features, b->live};
}

static void live_mark(struct basis *b, const struct vec *x, uint8_t which)
{
    for (size_t i = 0; i < x->n; i++)
        b->live[vec_index(x, i)] |= which;
}

/* --- growth --- */

/* Column a of U times c; returns its squared length. */
static double column_scale(struct state *s, const struct basis *b, size_t a, double c)
{
    double norm2 = 0;
    const struct basis_rows rows = {s->stride, s->features, b->live};
    FOR_EACH_ROW(&rows, j) {
        real *u = linear_row(s, b->U, (uint32_t)j) + a;
        *u = (real)(*u * c);
        norm2 += (double)*u * *u;
    }
    return norm2;
}

/* Every feature is a direction. */
static size_t features_take(struct state *s, struct basis *b, const struct vec *x)
{
    size_t from = basis_used(s, b);
    for (size_t a = from; a < s->features; a++)
        linear_row(s, b->U, (uint32_t)a)[a] = 1;
    for (size_t i = 0; i < x->n; i++)
        b->z[vec_index(x, i)] = (float)(x->value[i] * (real)b->scale);
    b->rest = 0;
    *counter(s, b, BASIS_USED) = s->features;
    return s->features - from;
}

bool basis_may_grow(const struct state *s, const struct basis *b)
{
    size_t a = basis_used(s, b);
    return (a < s->features && s->features <= b->m) || (a < b->m && b->rest > GROW_FROM * b->norm2);
}

size_t basis_grow(struct state *s, struct basis *b, const struct vec *x)
{
    size_t a = basis_used(s, b);
    if (!basis_may_grow(s, b))
        return 0;
    if (s->features <= b->m && a < s->features)
        return features_take(s, b, x);
    const struct basis_rows rows = live_rows(s, b);
    live_mark(b, x, LIVE_U);
    for (size_t i = 0; i < x->n; i++)
        linear_row(s, b->U, vec_index(x, i))[a] = (real)(x->value[i] * b->scale);
    b->ops->project(linear_row(s, b->U, 0), &rows, a);
    if (b->rest < TWICE_BELOW * b->norm2)
        b->ops->project(linear_row(s, b->U, 0), &rows, a);
    double length = sqrt(column_scale(s, b, a, 1));
    if (!(length * length > GROW_FROM / 2 * b->norm2)) { /* rounding made z too small */
        column_scale(s, b, a, 0);
        return 0;
    }
    column_scale(s, b, a, 1 / length);
    b->z[a] = (float)length;
    b->rest = 0;
    ++*counter(s, b, BASIS_USED);
    b->live_columns = a + 1;
    return 1;
}

/* --- the next basis --- */

static bool is_full(const struct state *s, const struct basis *b)
{
    return basis_used(s, b) == b->m && s->features > b->m;
}

/* r.r' of this example's residual and the last one's: x~.x~' - z.z' */
static double residual_product(const struct state *s, const struct basis *b, const struct vec *x)
{
    const double *z = model_numbers(s, b->last_z);
    real stamp = (real)*counter(s, b, BASIS_STAMP);
    double sum = 0;
    for (size_t i = 0; i < x->n; i++) {
        const real *last = linear_row(s, b->last, vec_index(x, i));
        sum += last[1] == stamp ? (double)last[0] * x->value[i] : 0;
    }
    sum *= b->scale;
    for (size_t i = 0; i < b->m; i++)
        sum -= z[i] * b->z[i];
    return sum;
}

static void dimension_learn(struct state *s, const struct basis *b, const struct vec *x)
{
    double *s1 = counter(s, b, BASIS_S1), *s2 = counter(s, b, BASIS_S2), *n = counter(s, b, BASIS_N);
    double inner = residual_product(s, b, x), max = fmax(1, (double)s->features - (double)b->m);
    *s1 += b->rest;
    *s2 += inner * inner;
    ++*n;
    if (*n >= FEW)
        *counter(s, b, BASIS_DIMENSION) = fmin(max, fmax(1, *s1 / *n * *s1 / fmax(*s2, 1e-30)));
}

static void last_keep(struct state *s, const struct basis *b, const struct vec *x)
{
    double *z = model_numbers(s, b->last_z), *stamp = counter(s, b, BASIS_STAMP);
    *stamp = *stamp < 1 << 24 ? *stamp + 1 : 1;
    *counter(s, b, BASIS_LAST) = 1;
    for (size_t i = 0; i < x->n; i++) {
        real *last = linear_row(s, b->last, vec_index(x, i));
        last[0] = (real)(x->value[i] * b->scale);
        last[1] = (real)*stamp;
    }
    for (size_t i = 0; i < b->m; i++)
        z[i] = b->z[i];
}

void basis_collect(struct state *s, struct basis *b, const struct vec *x)
{
    uint64_t every = (uint64_t)fmin(fmax(1, *counter(s, b, BASIS_EVERY)), 1e15);
    if (!is_full(s, b) || s->round % every)
        return;
    if (*counter(s, b, BASIS_LAST) > 0)
        dimension_learn(s, b, x);
    last_keep(s, b, x);
    _Alignas(64) real step[BASIS_MAX];
    for (size_t i = 0; i < b->padded; i++)
        step[i] = (real)(b->scale * b->z[i]);
    live_rows(s, b);
    live_mark(b, x, LIVE_Y);
    s->linear->add_all(linear_row(s, b->Y, 0), s->stride, b->padded, x, step);
    b->live_collected = ++*counter(s, b, BASIS_COLLECTED);
}

bool basis_is_due(const struct state *s, const struct basis *b)
{
    double next = *counter(s, b, BASIS_NEXT);
    return is_full(s, b) && (double)s->round >= (next > 0 ? next : FIRST * (double)b->m) &&
           *counter(s, b, BASIS_COLLECTED) >= (double)b->m;
}

/* What makes orth(Y) of Y, columns in their order, in WORK_INVERSE; returns what of them is left beside those before
 * (basis_ops.invert). */
static double orthonormal_find(struct state *s, const struct basis *b, const struct basis_rows *rows)
{
    double *G = b->work + WORK_L * b->m * b->m, *inverse = b->work + WORK_INVERSE * b->m * b->m;
    const real *Y = linear_row(s, b->Y, 0);
    memset(G, 0, b->m * b->m * sizeof *G);
    b->ops->gram(Y, Y, rows, b->m, G);
    return b->ops->invert(G, b->m, inverse);
}

/* Columns of Y that were left out go behind the others; returns how many there are of these. */
static size_t columns_compact(struct state *s, const struct basis *b)
{
    const double *inverse = b->work + WORK_INVERSE * b->m * b->m;
    size_t kept = 0;
    for (size_t a = 0; a < b->m; a++) {
        if (inverse[a * (b->m + 1)] == 0)
            continue;
        for (uint32_t j = 0; kept < a && j < s->features; j++) {
            real *y = linear_row(s, b->Y, j);
            y[kept] = y[a];
            y[a] = 0;
        }
        kept++;
    }
    return kept;
}

/* U = orth(Y), Y = 0, R = U'U of before and now; returns how many columns there are. Columns that those before them
 * nearly make up are turned twice. */
static size_t columns_renew(struct state *s, const struct basis *b, const struct basis_rows *rows, double *R)
{
    const struct basis_ops *ops = b->ops;
    const double *inverse = b->work + WORK_INVERSE * b->m * b->m;
    size_t m = b->m, used = m;
    real *U = linear_row(s, b->U, 0), *Y = linear_row(s, b->Y, 0);
    memset(R, 0, m * m * sizeof *R);
    if (orthonormal_find(s, b, rows) >= LEFT_MIN) {
        ops->renew(U, Y, rows, m, inverse, R);
        return used;
    }
    ops->turn(Y, rows, m, inverse);
    orthonormal_find(s, b, rows);
    ops->turn(Y, rows, m, inverse);
    used = columns_compact(s, b);
    ops->gram(U, Y, rows, m, R);
    FOR_EACH_ROW(rows, row) {
        memcpy(U + row * rows->stride, Y + row * rows->stride, m * sizeof(real));
        memset(Y + row * rows->stride, 0, m * sizeof(real));
    }
    return used;
}

void basis_renew(struct state *s, struct basis *b)
{
    const struct basis_ops *ops = b->ops;
    size_t m = b->m, t = s->round;
    double *R = b->work + WORK_R * m * m, *turned = b->work + WORK_R_TURNED * m * m;
    const struct basis_rows rows = live_rows(s, b);
    *counter(s, b, BASIS_USED) = (double)columns_renew(s, b, &rows, R);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            turned[j * m + i] = R[i * m + j];
    ops->product(m, turned, R, true, b->work + WORK_SQUARE * m * m);
    for (size_t j = 0; j < rows.n; j++)
        b->live[j] = b->live[j] & LIVE_Y ? LIVE_U : 0;
    b->live_columns = basis_used(s, b);
    b->live_collected = *counter(s, b, BASIS_COLLECTED) = *counter(s, b, BASIS_LAST) = 0;
    *counter(s, b, BASIS_S1) /= 4;
    *counter(s, b, BASIS_S2) /= 4;
    *counter(s, b, BASIS_N) /= 4;
    *counter(s, b, BASIS_NEXT) = 2 * (double)t;
    uint64_t every = t / COLLECT;
    *counter(s, b, BASIS_EVERY) = every > 1 ? (double)every : 1;
}

/* --- a learner's part --- */

static real *T_of(const struct state *s, const struct factor *f, uint32_t k)
{
    return state_reals(s, f->T, k);
}

void factor_scores(const struct state *s, const struct basis *b, struct factor *f, real *ret, real *room)
{
    const struct vec z = view(s, b);
    real c = (real)b->scale;
    s->linear->scores(state_reals(s, f->A, 0), s->tensor[f->A].padded, s->tensor[f->A].padded, &z, room);
    for (uint32_t k = 0; k < s->K; k++) {
        ret[k] = ret[k] * c + room[k];
        f->u[k] = -1;
    }
    f->moved = 0;
}

double factor_variance(const struct state *s, const struct basis *b, struct factor *f, uint32_t k)
{
    float *g = f->g + k * b->padded;
    if (f->u[k] < 0) {
        const struct vec z = view(s, b);
        bool same = sizeof(real) == sizeof(float);
        s->linear->scores(T_of(s, f, k), b->padded, b->padded, &z, same ? (real *)(void *)g : f->product);
        for (size_t i = 0; !same && i < b->padded; i++)
            g[i] = (float)f->product[i];
        /* T is positive and not above `most` I, so |g|^2 <= most u. Where that fails, or u is smaller than what
         * roundings make of T, nothing is left of T along z, and steps by it would grow without end: it counts as none.
         */
        f->u[k] = s->linear->dot(g, b->z, b->padded);
        if (!(f->u[k] >= VARIANCE_MIN * f->max * b->inside &&
              s->linear->dot(g, g, b->padded) <= 1.01 * f->max * f->u[k])) {
            memset(g, 0, b->padded * sizeof *g);
            f->u[k] = 0;
        }
    }
    return f->u[k] + model_numbers(s, f->sigma)[k] * b->rest;
}

static double dimension(const struct state *s, const struct basis *b)
{
    double known = *counter(s, b, BASIS_DIMENSION);
    return known >= 1 ? known : fmax(1, (double)s->features - (double)b->m);
}

void factor_step(struct state *s, const struct basis *b, struct factor *f, uint32_t k, double c, double weight)
{
    const struct basis_ops *ops = b->ops;
    size_t n = basis_used(s, b);
    double v = factor_variance(s, b, f, k), tau = weight / fmax(1 - weight * v, 1e-3);
    double *sigma = model_numbers(s, f->sigma) + k, root = sqrt(tau / (1 + tau * fmax(f->u[k], 0)));
    float *g = f->g + k * b->padded;
    real *a = state_reals(s, f->A, 0) + k;
    if (v <= 0) /* there is nothing left to learn */
        return;
    ops->gains(&(struct basis_step){c, *sigma}, g, b->z, n, f->product);
    for (size_t i = 0; i < n; i++)
        a[i * s->tensor[f->A].padded] += f->product[i];
    if (!f->moved)
        memset(f->gains, 0, s->lanes * sizeof *f->gains);
    *(f->moved++ ? &f->second : &f->first) = k;
    f->gains[k] = (real)(c * *sigma * b->scale);
    if (tau == 0)
        return;
    ops->shrink(root, g, b->padded, f->product); /* T -= h h': the same bits above and below the diagonal */
    const struct vec h = {.value = g, .n = n, .all = n};
    s->linear->add_all(T_of(s, f, k), b->padded, b->padded, &h, f->product);
    if (s->features > n)
        *sigma = 1 / (1 / *sigma + tau * b->rest / dimension(s, b));
    f->u[k] = -1;
}

void factor_flush(struct state *s, const struct basis *b, struct factor *f, const struct vec *x)
{
    bool few = s->tensor[f->W].padded <= FEW_LANES;
    if (f->moved == 1 && !few)
        linear_add(s, f->W, f->first, f->gains[f->first], x);
    else if (f->moved == 2 && !few)
        linear_add_pair(s, f->W, (struct linear_pair){f->first, f->gains[f->first], f->second, f->gains[f->second]}, x);
    else if (f->moved)
        linear_add_all(s, f->W, f->gains, x);
    f->moved = 0;
}

void factor_grow(struct state *s, const struct basis *b, struct factor *f, size_t columns)
{
    size_t n = basis_used(s, b);
    for (uint32_t k = 0; columns && k < s->K; k++) {
        double sigma = model_numbers(s, f->sigma)[k];
        for (size_t a = n - columns; a < n; a++) {
            double rho = b->z[a];
            T_of(s, f, k)[a * (b->padded + 1)] = (real)sigma;
            if (f->u[k] < 0)
                continue;
            f->g[k * b->padded + a] = (float)(sigma * rho);
            f->u[k] += sigma * rho * rho;
        }
    }
}

void factor_fold(struct state *s, struct basis *b, const struct factor *f)
{
    const struct basis_rows rows = live_rows(s, b);
    const struct tensor_place *A = &s->tensor[f->A];
    const struct basis_square square = {A->reals, basis_used(s, b), A->padded};
    b->ops->fold(linear_row(s, f->W, 0), linear_row(s, b->U, 0), &rows, &square);
    memset(A->reals, 0, A->groups * A->padded * sizeof *A->reals);
}

void factor_turn(struct state *s, const struct basis *b, const struct factor *f)
{
    const struct basis_ops *ops = b->ops;
    size_t m = b->m, n = basis_used(s, b), square = m * m;
    double *R = b->work + WORK_R * square, *turned = b->work + WORK_R_TURNED * square;
    double *first = b->work + WORK_FIRST * square, *second = b->work + WORK_SECOND * square;
    const double *RR = b->work + WORK_SQUARE * square;
    for (uint32_t k = 0; k < s->K; k++) {
        real *T = T_of(s, f, k);
        double sigma = model_numbers(s, f->sigma)[k];
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < m; j++)
                first[i * m + j] = T[i * b->padded + j];
        ops->product(m, first, R, false, second);
        ops->product(m, turned, second, true, first);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j <= i; j++)
                T[i * b->padded + j] = T[j * b->padded + i] =
                    i < n ? (real)(first[i * m + j] + sigma * ((i == j) - RR[i * m + j])) : 0;
    }
}

/* --- const calls, new classes --- */

void basis_view(const struct state *s, const struct basis *b, const struct vec *x, float *ret_z)
{
    _Alignas(64) real product[BASIS_MAX] = {0};
    linear_scores(s, b->U, x, product);
    for (size_t i = 0; i < BASIS_MAX; i++)
        ret_z[i] = (float)product[i];
}

void factor_view_scores(const struct state *s, const struct factor *f, const float *z, real *ret, real *room)
{
    const struct tensor_place *A = &s->tensor[f->A];
    const struct vec view = {.value = z, .n = A->groups, .all = A->groups};
    s->linear->scores(A->reals, A->padded, A->padded, &view, room);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] += room[k];
}

double factor_view_variance(const struct state *s, const struct factor *f, uint32_t k, const float *z, double norm2)
{
    const real *T = T_of(s, f, k);
    size_t m = s->tensor[f->A].groups, padded = state_lanes(m);
    double inside = 0, sum = 0;
    for (size_t i = 0; i < m; i++) {
        inside += (double)z[i] * z[i];
        for (size_t j = 0; j < m; j++)
            sum += (double)z[i] * T[i * padded + j] * z[j];
    }
    return fmax(0, sum + model_numbers(s, f->sigma)[k] * fmax(0, norm2 - inside));
}

void factor_fresh(struct state *s, const struct basis *b, const struct factor *f, uint32_t first_class, double variance)
{
    size_t n = basis_used(s, b), padded = s->tensor[b->U].padded;
    for (uint32_t k = first_class; k < s->K; k++)
        for (size_t i = 0; i < n; i++)
            T_of(s, f, k)[i * (padded + 1)] = (real)variance;
}
