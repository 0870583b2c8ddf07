/* SPDX-License-Identifier: BSD-3-Clause */
#include "covariance/gram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "state/state_bytes.h"
#include "state/linear.h"

#define SMALLEST_SHARE 1e-10 /* that is left of an example's length by those kept, to be moved by it */
#define LARGEST_SHARE 1e12   /* of a that an entry's squared length may be: beyond that B is rounding only */
#define LARGEST_REAL 1e30    /* of a score or a variance, so that sums of them are finite */

const char *const gram_kernel_choices[] = {"linear", "poly", "rbf", "rational", NULL};

/* --- memory --- */

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    int first_setting = s->algo->covariance->kernel;
    size_t count = s->algo->covariance->joint ? 1 : s->K;
    struct grams *g = calloc(1, sizeof *g);
    if (!g)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    g->kernel.kind = (enum kernel_kind)setting_choice(s, first_setting + GRAM_KERNEL);
    g->kernel.degree = setting_number(s, first_setting + GRAM_DEGREE);
    g->kernel.bandwidth = setting_number(s, first_setting + GRAM_BANDWIDTH);
    g->kernel.nu = setting_number(s, first_setting + GRAM_NU);
    g->of = calloc(count, sizeof *g->of);
    if (!g->of) {
        free(g);
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    }
    g->count = count;
    for (size_t i = 0; i < count; i++) {
        g->of[i].a = covariance_precision(s);
        g->of[i].budget = (size_t)setting_number(s, first_setting + GRAM_BUDGET);
    }
    s->extra = g;
    return HUNCH_OK;
}

static void detach(struct state *s)
{
    struct grams *g = s->extra;
    for (size_t i = 0; i < g->count; i++) {
        store_clear(&g->of[i].kept);
        store_clear(&g->of[i].moved);
        free(g->of[i].part);
        free(g->of[i].inverse);
    }
    free(g->of);
    free(g->column);
    free(g->product);
    free(g);
}

static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    struct grams *g = s->extra;
    if (s->algo->covariance->joint || classes <= g->count)
        return HUNCH_OK;
    if (!array_resize(&g->of, classes, sizeof *g->of))
        return HUNCH_ENOMEM;
    for (; g->count < classes; g->count++)
        g->of[g->count] = (struct gram){.a = g->of[0].a, .budget = g->of[0].budget};
    return HUNCH_OK;
}

/* Room for `wanted` entries, up to the budget. */
static hunch_status gram_reserve(struct gram *m, size_t wanted)
{
    if (wanted <= m->room)
        return HUNCH_OK;
    size_t room = m->room + m->room / 2 + 8, n = m->kept.entries;
    room = room < wanted ? wanted : room > m->budget ? m->budget : room;
    double *inverse = calloc(size_mul(room, room), sizeof *inverse);
    if (!inverse)
        return HUNCH_ENOMEM;
    if (!array_resize(&m->part, room, sizeof *m->part)) {
        free(inverse);
        return HUNCH_ENOMEM;
    }
    for (size_t s = 0; s < n; s++)
        memcpy(inverse + s * room, m->inverse + s * m->room, n * sizeof *inverse);
    free(m->inverse);
    m->inverse = inverse;
    m->room = room;
    return HUNCH_OK;
}

static hunch_status column_reserve(struct grams *g, size_t n)
{
    if (n <= g->column_room)
        return HUNCH_OK;
    if (!array_resize(&g->column, n, sizeof *g->column) || !array_resize(&g->product, n, sizeof *g->product))
        return HUNCH_ENOMEM;
    g->column_room = n;
    return HUNCH_OK;
}

/* Room for one more x in any of them. */
static hunch_status reserve(struct state *s, const struct vec *x)
{
    struct grams *g = s->extra;
    size_t max = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct gram *m = &g->of[i];
        hunch_status status = store_reserve(&m->kept, x, 1);
        if (status == HUNCH_OK && m->kept.entries < m->budget)
            status = gram_reserve(m, m->kept.entries + 1);
        if (status == HUNCH_OK && !s->algo->covariance->joint)
            status = store_reserve(&m->moved, x, 1);
        if (status != HUNCH_OK)
            return status;
        max = m->room > max ? m->room : max;
    }
    return column_reserve(g, max + 1);
}

/* --- inner products --- */

/* <e_plus - e_minus, e_owner - e_minus'> */
static int pairs_agree(uint32_t plus, uint32_t minus, const struct store_entry *e, const struct part *part)
{
    return (plus == e->owner) - (plus == part->minus) - (minus != GRAM_NONE && minus == e->owner) +
           (minus != GRAM_NONE && minus == part->minus);
}

static double entry_kernel(const struct grams *g, const struct store *t, size_t s, const struct vec *x, double norm2)
{
    uint32_t example = t->entry[s].example;
    return kernel_value(&g->kernel, store_dot(t, example, x), t->example[example].norm2, norm2);
}

real gram_real(double v)
{
    return (real)fmax(-LARGEST_REAL, fmin(LARGEST_REAL, v));
}

/* What an entry keeps of its example. */
static struct vec entry_vec(const struct store *t, size_t s)
{
    const struct store_example *e = &t->example[t->entry[s].example];
    return (struct vec){.index = t->index + e->at, .value = t->value + e->at, .n = e->n, .all = e->n};
}

double gram_moved_score(const struct grams *g, const struct gram *m, const struct vec *x)
{
    double norm2 = vec_norm2(x), sum = 0;
    for (size_t p = 0; p < m->moved.entries; p++)
        sum += m->moved.entry[p].weight * entry_kernel(g, &m->moved, p, x, norm2);
    return sum / m->a;
}

bool gram_limit(struct image *z, double self, double a)
{
    if (self <= LARGEST_SHARE * a)
        return false;
    z->scale *= sqrt(LARGEST_SHARE * a / self);
    return true;
}

double gram_column(struct grams *g, const struct gram *m, const struct image *z)
{
    double norm2 = vec_norm2(z->x);
    for (size_t s = 0; s < m->kept.entries; s++) {
        int agree = pairs_agree(z->plus, z->minus, &m->kept.entry[s], &m->part[s]);
        g->column[s] = agree ? agree * m->part[s].scale * z->scale * entry_kernel(g, &m->kept, s, z->x, norm2) : 0;
    }
    return (z->minus == GRAM_NONE ? 1 : 2) * z->scale * z->scale * kernel_value(&g->kernel, norm2, norm2, norm2);
}

/* g->product = B h; returns h'B h. */
static double column_product(struct grams *g, const struct gram *m)
{
    double sum = 0;
    for (size_t s = 0; s < m->kept.entries; s++) {
        const double *row = m->inverse + s * m->room;
        double dot = 0;
        for (size_t t = 0; t < m->kept.entries; t++)
            dot += row[t] * g->column[t];
        g->product[s] = dot;
        sum += dot * g->column[s];
    }
    return sum;
}

double gram_quad(struct grams *g, const struct gram *m, double self)
{
    return fmax(0, (self - column_product(g, m)) / m->a);
}

void gram_scores(const struct grams *g, const struct gram *m, const struct vec *x, real *ret)
{
    double norm2 = vec_norm2(x);
    for (size_t s = 0; s < m->kept.entries; s++) {
        const struct store_entry *e = &m->kept.entry[s];
        double score = e->weight * m->part[s].scale * entry_kernel(g, &m->kept, s, x, norm2);
        ret[e->owner] += gram_real(score);
        if (m->part[s].minus != GRAM_NONE)
            ret[m->part[s].minus] -= gram_real(score);
    }
    if (m->moved.entries)
        ret[m->moved.entry[0].owner] += gram_real(gram_moved_score(g, m, x));
}

double gram_quad_peek(const struct grams *g, const struct gram *m, const struct vec *x)
{
    enum { BLOCK = 128 };
    double rows[BLOCK], columns[BLOCK], norm2 = vec_norm2(x), sum = kernel_value(&g->kernel, norm2, norm2, norm2);
    size_t n = m->kept.entries;
    for (size_t i = 0; i < n; i += BLOCK) {
        for (size_t s = i; s < n && s < i + BLOCK; s++)
            rows[s - i] = m->part[s].scale * entry_kernel(g, &m->kept, s, x, norm2);
        for (size_t j = 0; j <= i; j += BLOCK) {
            for (size_t t = j; t < n && t < j + BLOCK; t++)
                columns[t - j] = m->part[t].scale * entry_kernel(g, &m->kept, t, x, norm2);
            for (size_t s = i; s < n && s < i + BLOCK; s++)
                for (size_t t = j; t < n && t < j + BLOCK; t++)
                    sum -= (j < i ? 2 : 1) * rows[s - i] * m->inverse[s * m->room + t] * columns[t - j];
        }
    }
    return fmax(0, sum / m->a);
}

/* --- entries come and go --- */

/* The oldest entry goes: with B = [b c'; c D], what is left has the inverse D - c c'/b. */
static void gram_drop(struct gram *m)
{
    double *B = m->inverse, b = B[0];
    size_t n = m->kept.entries;
    for (size_t s = 1; s < n; s++)
        for (size_t t = 1; t < n; t++)
            B[s * m->room + t] -= B[s * m->room] * B[t] / b;
    for (size_t s = 1; s < n; s++)
        memmove(B + (s - 1) * m->room, B + s * m->room + 1, (n - 1) * sizeof *B);
    memmove(m->part, m->part + 1, (n - 1) * sizeof *m->part);
    store_remove(&m->kept, 0);
}

/* B grows by a row: with u = B h and r = a + <z,z> - h'u, it is [B + u u'/r, -u/r; -u'/r, 1/r]. */
static void inverse_border(struct grams *g, struct gram *m, double self)
{
    double r = m->a + self - column_product(g, m), *B = m->inverse;
    size_t n = m->kept.entries;
    for (size_t s = 0; s < n; s++) {
        for (size_t t = 0; t < n; t++)
            B[s * m->room + t] += g->product[s] * g->product[t] / r;
        B[s * m->room + n] = B[n * m->room + s] = -g->product[s] / r;
    }
    B[n * m->room + n] = 1 / r;
}

static void weights_solve(struct gram *m)
{
    for (size_t s = 0; s < m->kept.entries; s++) {
        double sum = 0;
        for (size_t t = 0; t < m->kept.entries; t++)
            sum += m->inverse[s * m->room + t] * m->part[t].target;
        m->kept.entry[s].weight = sum;
    }
}

void gram_append(struct grams *g, struct gram *m, const struct image *z, double target, double self)
{
    size_t n = m->kept.entries;
    if (n == m->budget) {
        memmove(g->column, g->column + 1, (n - 1) * sizeof *g->column);
        gram_drop(m);
    }
    inverse_border(g, m, self);
    m->part[m->kept.entries] = (struct part){z->minus, z->scale, target};
    store_add(&m->kept, store_example(&m->kept, z->x), z->plus, 0);
    weights_solve(m);
}

double gram_shift(struct grams *g, const struct gram *m, double self, double beta)
{
    return isfinite(beta) && self - column_product(g, m) > SMALLEST_SHARE * self ? beta : 0;
}

/* A w += beta phi(x) in the targets. */
static void targets_move(const struct grams *g, struct gram *m, const struct vec *x, double beta)
{
    double norm2 = vec_norm2(x);
    for (size_t s = 0; s < m->kept.entries; s++)
        m->part[s].target -= beta * m->part[s].scale * entry_kernel(g, &m->kept, s, x, norm2) / m->a;
}

void gram_move(const struct grams *g, struct gram *m, const struct vec *x, uint32_t k, double beta)
{
    if (m->moved.entries == m->budget) {
        struct vec oldest = entry_vec(&m->moved, 0);
        targets_move(g, m, &oldest, -m->moved.entry[0].weight);
        store_remove(&m->moved, 0);
    }
    targets_move(g, m, x, beta);
    store_add(&m->moved, store_example(&m->moved, x), k, beta);
    weights_solve(m);
}

/* --- as bytes --- */

static void put_example(struct writer *w, const struct store *t, size_t s)
{
    const struct store_example *e = &t->example[t->entry[s].example];
    put(w, &e->norm2, sizeof e->norm2);
    put_u64(w, e->n);
    put(w, t->index + e->at, e->n * sizeof *t->index);
    put(w, t->value + e->at, e->n * sizeof *t->value);
}

static void put_gram(struct writer *w, const struct gram *m)
{
    const struct store *kept = &m->kept;
    put_u64(w, kept->entries);
    for (size_t s = 0; s < kept->entries; s++) {
        put_u32(w, kept->entry[s].owner);
        put_u32(w, m->part[s].minus);
        put(w, &m->part[s].scale, sizeof(double));
        put(w, &m->part[s].target, sizeof(double));
        put_example(w, kept, s);
        put(w, m->inverse + s * m->room, kept->entries * sizeof *m->inverse);
    }
}

/* What was moved stands at the end, and only if there is any. */
static void put_grams(struct writer *w, const struct grams *g)
{
    bool moved = false;
    put_u64(w, g->count);
    for (size_t i = 0; i < g->count; i++) {
        put_gram(w, &g->of[i]);
        moved = moved || g->of[i].moved.entries;
    }
    for (size_t i = 0; moved && i < g->count; i++) {
        const struct store *t = &g->of[i].moved;
        put_u64(w, t->entries);
        for (size_t p = 0; p < t->entries; p++) {
            put(w, &t->entry[p].weight, sizeof t->entry[p].weight);
            put_example(w, t, p);
        }
    }
}

static size_t size_of(const struct state *s)
{
    struct writer w = {NULL, 0};
    put_grams(&w, s->extra);
    return w.used;
}

static void write_to(const struct state *s, void *bytes)
{
    struct writer w = {bytes, 0};
    put_grams(&w, s->extra);
}

static double take_number(struct reader *r)
{
    double v = NAN;
    const void *p = take(r, sizeof v);
    if (p)
        memcpy(&v, p, sizeof v);
    return v;
}

/* An example, as an entry of t, which gets room for it. */
static hunch_status take_example(struct reader *r, struct store *t, uint32_t owner, double weight, hunch_error *reterr)
{
    double norm2 = take_number(r);
    uint64_t n = take_u64(r);
    const void *index = take(r, size_mul(n, sizeof(uint32_t))), *value = take(r, size_mul(n, sizeof(float)));
    if (!index || !value)
        return damaged(reterr, "a kept example is cut");
    if (!isfinite(weight) || !(norm2 >= 0 && isfinite(norm2)))
        return damaged(reterr, "a kept example makes no sense");
    hunch_status status = store_take(t, index, value, n, norm2);
    if (status == HUNCH_ENOMEM)
        return error_set(reterr, status, "out of memory");
    if (status != HUNCH_OK)
        return damaged(reterr, "a kept example makes no sense");
    store_add(t, (uint32_t)t->examples - 1, owner, weight);
    return HUNCH_OK;
}

/* The next entry of a gram that has room for it. */
static hunch_status take_entry(struct reader *r, const struct state *s, struct gram *m, hunch_error *reterr)
{
    uint32_t plus = take_u32(r), minus = take_u32(r);
    double scale = take_number(r), target = take_number(r);
    if (plus >= s->K || (minus >= s->K && minus != GRAM_NONE) || !isfinite(scale) || !isfinite(target))
        return damaged(reterr, "a kept example makes no sense");
    m->part[m->kept.entries] = (struct part){minus, scale, target};
    return take_example(r, &m->kept, plus, 0, reterr);
}

static hunch_status take_moved(struct reader *r, struct gram *m, uint32_t k, hunch_error *reterr)
{
    uint64_t n = take_u64(r);
    if (n > m->budget)
        return damaged(reterr, "more examples are kept than the budget allows");
    for (uint64_t p = 0; p < n; p++) {
        hunch_status status = take_example(r, &m->moved, k, take_number(r), reterr);
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

static hunch_status take_gram(struct reader *r, const struct state *s, struct gram *m, hunch_error *reterr)
{
    uint64_t n = take_u64(r);
    if (n > m->budget || n > r->left / sizeof(double))
        return damaged(reterr, "more examples are kept than the budget allows");
    if (gram_reserve(m, n) != HUNCH_OK)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        hunch_status status = take_entry(r, s, m, reterr);
        if (status != HUNCH_OK)
            return status;
        const void *row = take(r, n * sizeof *m->inverse);
        if (!row)
            return damaged(reterr, "an inverse is cut");
        memcpy(m->inverse + i * m->room, row, n * sizeof *m->inverse);
    }
    weights_solve(m);
    return HUNCH_OK;
}

static hunch_status read_from(struct state *s, const void *bytes, size_t size, hunch_error *reterr)
{
    struct grams *g = s->extra;
    struct reader r = {bytes, size, false};
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): attached before anything is read
    if (take_u64(&r) != g->count)
        return damaged(reterr, "it keeps examples for other classes");
    for (size_t i = 0; i < g->count; i++) {
        hunch_status status = take_gram(&r, s, &g->of[i], reterr);
        if (status != HUNCH_OK)
            return status;
        if (column_reserve(g, g->of[i].room + 1) != HUNCH_OK)
            return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    }
    for (size_t i = 0; r.left && !s->algo->covariance->joint && i < g->count; i++) {
        hunch_status status = take_moved(&r, &g->of[i], (uint32_t)i, reterr);
        if (status != HUNCH_OK)
            return status;
    }
    return r.left || r.short_of ? damaged(reterr, "its kept examples do not end where they should") : HUNCH_OK;
}

/* --- merge: the other's entries follow this one's own, in order; the oldest go --- */

/* Targets with what was moved taken out of them (sign 1) or put in (-1). */
static void targets_shift(const struct grams *g, struct gram *m, double sign)
{
    for (size_t s = 0; m->moved.entries && s < m->kept.entries; s++) {
        struct vec x = entry_vec(&m->kept, s);
        m->part[s].target += sign * m->part[s].scale * gram_moved_score(g, m, &x);
    }
}

static hunch_status gram_merge(struct state *s, size_t i, const struct gram *from)
{
    struct grams *g = s->extra;
    struct gram *m = &g->of[i];
    targets_shift(g, m, 1);
    for (size_t e = 0; e < from->kept.entries; e++) {
        const struct part *part = &from->part[e];
        const struct vec x = entry_vec(&from->kept, e);
        const struct image z = {&x, from->kept.entry[e].owner, part->minus, part->scale};
        if (reserve(s, &x) != HUNCH_OK)
            return HUNCH_ENOMEM;
        gram_append(g, m, &z, part->target + part->scale * gram_moved_score(g, from, &x), gram_column(g, m, &z));
    }
    for (size_t p = 0; p < from->moved.entries; p++) {
        const struct vec x = entry_vec(&from->moved, p);
        if (store_reserve(&m->moved, &x, 1) != HUNCH_OK)
            return HUNCH_ENOMEM;
        if (m->moved.entries == m->budget)
            store_remove(&m->moved, 0);
        store_add(&m->moved, store_example(&m->moved, &x), (uint32_t)i, from->moved.entry[p].weight);
    }
    targets_shift(g, m, -1);
    weights_solve(m);
    return HUNCH_OK;
}

static hunch_status merge(struct state *s, const struct state *other)
{
    struct state copy = *s; /* what may fail is done to a copy */
    size_t size = size_of(s);
    void *bytes = malloc(size);
    copy.extra = NULL;
    hunch_status status = bytes ? attach(&copy, NULL) : HUNCH_ENOMEM;
    if (status == HUNCH_OK) {
        write_to(s, bytes);
        status = read_from(&copy, bytes, size, NULL);
    }
    free(bytes);
    const struct grams *from = other->extra;
    for (size_t i = 0; status == HUNCH_OK && i < from->count; i++)
        status = gram_merge(&copy, i, &from->of[i]);
    void *old = s->extra;
    if (status == HUNCH_OK)
        s->extra = copy.extra;
    copy.extra = status == HUNCH_OK ? old : copy.extra;
    if (copy.extra)
        detach(&copy);
    return status;
}

/* --- all of it --- */

const struct extra gram_extra = {
    .attach = attach,
    .detach = detach,
    .grow = grow,
    .reserve = reserve,
    .size = size_of,
    .write = write_to,
    .read = read_from,
    .merge = merge,
};
