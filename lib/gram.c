/* SPDX-License-Identifier: BSD-3-Clause */
#include "gram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "linear.h"

#define GRAM_NONE UINT32_MAX /* no second class */

/* What an entry of a store is besides: z = scale (e_owner - e_minus) (x) phi(x), and its target. */
struct part {
    uint32_t minus;
    double scale, target;
};

struct gram {
    struct store kept; /* oldest first; entries have the class `plus` as owner and c_s as weight */
    struct part *part; /* of each entry */
    double *inverse;   /* B, rows of `room` numbers */
    size_t room, budget;
    double a;
};

/* Several grams (one per class, or one in all) with what they share. */
struct grams {
    struct kernel kernel;
    struct gram *of;
    size_t count;
    double *column, *product;
    size_t column_room;
    double self; /* <z, z> of the joint step under way */
};

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
    (void)features;
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
    size_t most = 0;
    for (size_t i = 0; i < g->count; i++) {
        struct gram *m = &g->of[i];
        hunch_status status = store_reserve(&m->kept, x, 1);
        if (status == HUNCH_OK && m->kept.entries < m->budget)
            status = gram_reserve(m, m->kept.entries + 1);
        if (status != HUNCH_OK)
            return status;
        most = m->room > most ? m->room : most;
    }
    return column_reserve(g, most + 1);
}

/* --- inner products --- */

/* <e_plus - e_minus, e_owner - e_minus'> */
static int pairs_agree(uint32_t plus, uint32_t minus, const struct store_entry *e, const struct part *part)
{
    return (plus == e->owner) - (plus == part->minus) - (minus != GRAM_NONE && minus == e->owner) +
           (minus != GRAM_NONE && minus == part->minus);
}

static double entry_kernel(const struct grams *g, const struct gram *m, size_t s, const struct vec *x, double norm2)
{
    uint32_t example = m->kept.entry[s].example;
    return kernel_value(&g->kernel, store_dot(&m->kept, example, x), m->kept.example[example].norm2, norm2);
}

/* What an entry stands for: z = scale (e_plus - e_minus) (x) phi(x). */
struct image {
    const struct vec *x;
    uint32_t plus, minus;
    double scale;
};

/* <z_s, z> for all entries s of a gram, into g->column; returns <z, z>. */
static double column_make(struct grams *g, const struct gram *m, const struct image *z)
{
    double norm2 = vec_norm2(z->x);
    for (size_t s = 0; s < m->kept.entries; s++) {
        int agree = pairs_agree(z->plus, z->minus, &m->kept.entry[s], &m->part[s]);
        g->column[s] = agree ? agree * m->part[s].scale * z->scale * entry_kernel(g, m, s, z->x, norm2) : 0;
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

/* z'A^-1 z for the column just made and its <z,z>: (<z,z> - h'B h) / a. */
static double column_quad(struct grams *g, const struct gram *m, double self)
{
    return fmax(0, (self - column_product(g, m)) / m->a);
}

/* ret[k] += score of class k from a gram. */
static void gram_scores(const struct grams *g, const struct gram *m, const struct vec *x, real *ret)
{
    double norm2 = vec_norm2(x);
    for (size_t s = 0; s < m->kept.entries; s++) {
        const struct store_entry *e = &m->kept.entry[s];
        double score = e->weight * m->part[s].scale * entry_kernel(g, m, s, x, norm2);
        ret[e->owner] += (real)score;
        if (m->part[s].minus != GRAM_NONE)
            ret[m->part[s].minus] -= (real)score;
    }
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

/* Keep z, made known by column_make just before. */
static void gram_append(struct grams *g, struct gram *m, const struct image *z, double target, double self)
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

/* --- as bytes --- */

static void put_gram(struct writer *w, const struct gram *m)
{
    const struct store *kept = &m->kept;
    put_u64(w, kept->entries);
    for (size_t s = 0; s < kept->entries; s++) {
        const struct store_example *e = &kept->example[kept->entry[s].example];
        put_u32(w, kept->entry[s].owner);
        put_u32(w, m->part[s].minus);
        put(w, &m->part[s].scale, sizeof(double));
        put(w, &m->part[s].target, sizeof(double));
        put(w, &e->norm2, sizeof e->norm2);
        put_u64(w, e->n);
        put(w, kept->index + e->at, e->n * sizeof *kept->index);
        put(w, kept->value + e->at, e->n * sizeof *kept->value);
        put(w, m->inverse + s * m->room, kept->entries * sizeof *m->inverse);
    }
}

static void put_grams(struct writer *w, const struct grams *g)
{
    put_u64(w, g->count);
    for (size_t i = 0; i < g->count; i++)
        put_gram(w, &g->of[i]);
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

/* Entry number s of a store that has room for it; x's numbers are those of the file. */
static hunch_status take_entry(struct reader *r, const struct state *s, struct gram *m, hunch_error *reterr)
{
    uint32_t plus = take_u32(r), minus = take_u32(r);
    double scale = take_number(r), target = take_number(r), norm2 = take_number(r);
    uint64_t n = take_u64(r);
    const void *index = take(r, size_mul(n, sizeof(uint32_t))), *value = take(r, size_mul(n, sizeof(float)));
    if (!index || !value)
        return damaged(reterr, "a kept example is cut");
    if (plus >= s->K || (minus >= s->K && minus != GRAM_NONE) || !isfinite(scale) || !isfinite(target) ||
        !(norm2 >= 0 && isfinite(norm2)))
        return damaged(reterr, "a kept example makes no sense");
    hunch_status status = store_take(&m->kept, index, value, n, norm2);
    if (status == HUNCH_ENOMEM)
        return error_set(reterr, status, "out of memory");
    if (status != HUNCH_OK)
        return damaged(reterr, "a kept example makes no sense");
    m->part[m->kept.entries] = (struct part){minus, scale, target};
    store_add(&m->kept, (uint32_t)m->kept.examples - 1, plus, 0);
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
    return r.left || r.short_of ? damaged(reterr, "its kept examples do not end where they should") : HUNCH_OK;
}

/* --- merge: the other's entries follow this one's own, in order; the oldest go --- */

static hunch_status entries_append(struct state *s, const struct grams *other)
{
    struct grams *g = s->extra;
    for (size_t i = 0; i < other->count; i++)
        for (size_t e = 0; e < other->of[i].kept.entries; e++) {
            const struct store *kept = &other->of[i].kept;
            const struct store_example *k = &kept->example[kept->entry[e].example];
            const struct part *part = &other->of[i].part[e];
            const struct vec x = {kept->index + k->at, kept->value + k->at, k->n, k->n, 0, 0, NULL};
            const struct image z = {&x, kept->entry[e].owner, part->minus, part->scale};
            if (reserve(s, &x) != HUNCH_OK)
                return HUNCH_ENOMEM;
            gram_append(g, &g->of[i], &z, part->target, column_make(g, &g->of[i], &z));
        }
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
    if (status == HUNCH_OK)
        status = entries_append(&copy, other->extra);
    void *old = s->extra;
    if (status == HUNCH_OK)
        s->extra = copy.extra;
    copy.extra = status == HUNCH_OK ? old : copy.extra;
    if (copy.extra)
        detach(&copy);
    return status;
}

/* --- the form --- */

static bool shape(const struct state *s, int tensor, struct tensor *inout)
{
    (void)s, (void)tensor, (void)inout;
    return false;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    const struct grams *g = s->extra;
    memset(ret, 0, s->K * sizeof *ret);
    for (size_t i = 0; i < g->count; i++)
        gram_scores(g, &g->of[i], x, ret);
}

static void read(struct state *s, const struct vec *x, double scale)
{
    struct grams *g = s->extra;
    (void)scale;
    scores(s, x, s->scores);
    for (uint32_t k = 0; k < s->K; k++) {
        const struct image z = {x, k, GRAM_NONE, 1};
        s->variances[k] = (real)column_quad(g, &g->of[k], column_make(g, &g->of[k], &z));
    }
}

static void load(struct state *s)
{
    (void)s;
}

static double regress(struct state *s, uint32_t k, double shift, double target, double score)
{
    struct grams *g = s->extra;
    const struct image z = {s->covariance.x, k, GRAM_NONE, 1};
    (void)shift, (void)score;
    gram_append(g, &g->of[k], &z, target, column_make(g, &g->of[k], &z));
    return column_quad(g, &g->of[k], column_make(g, &g->of[k], &z));
}

static struct image joint_image(const struct state *s)
{
    const struct joint *z = s->covariance.z;
    return (struct image){s->covariance.x, z->plus, z->minus, 1 / sqrt(z->p)};
}

static double joint_variance(struct state *s)
{
    struct grams *g = s->extra;
    struct image z = joint_image(s);
    g->self = column_make(g, &g->of[0], &z);
    return column_quad(g, &g->of[0], g->self);
}

static double joint_step(struct state *s, double first, double weight, double inner)
{
    struct grams *g = s->extra;
    struct image z = joint_image(s);
    (void)first, (void)weight, (void)inner;
    gram_append(g, &g->of[0], &z, z.scale, g->self);
    return 0;
}

static const struct extra kept_examples = {
    .attach = attach,
    .detach = detach,
    .grow = grow,
    .reserve = reserve,
    .size = size_of,
    .write = write_to,
    .read = read_from,
    .merge = merge,
};

const struct covariance_form covariance_kernel = {
    .name = "kernel",
    .extra = &kept_examples,
    .keeps_examples = true,
    .shape = shape,
    .scores = scores,
    .read = read,
    .load = load,
    .regress = regress,
    .joint_variance = joint_variance,
    .joint_step = joint_step,
};
