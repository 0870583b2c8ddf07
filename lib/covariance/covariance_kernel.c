/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix=kernel: the examples themselves in place of weights and matrices (gram.h). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "covariance/gram.h"

static bool shape(const struct state *s, int tensor, struct tensor *inout)
{
    return false;
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    const struct grams *g = s->extra;
    memset(ret, 0, s->K * sizeof *ret);
    for (size_t i = 0; i < g->count; i++)
        gram_scores(g, &g->of[i], x, ret);
}

static void peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances)
{
    const struct grams *g = s->extra;
    scores(s, x, ret);
    for (uint32_t k = 0; k < s->K; k++)
        ret_variances[k] = gram_real(gram_quad_peek(g, &g->of[k], x));
}

/* Kernels see an example's whole length. */
static double unseen(const struct state *s, uint32_t k)
{
    return 0;
}

static void read(struct state *s, const struct vec *x, double scale)
{
    struct grams *g = s->extra;
    scores(s, x, s->scores);
    for (uint32_t k = 0; k < s->K; k++) {
        const struct image z = {x, k, GRAM_NONE, 1};
        s->variances[k] = gram_real(gram_quad(g, &g->of[k], gram_column(g, &g->of[k], &z)));
    }
}

static void load(struct state *s)
{
}

static void step(struct state *s, uint32_t k, double c, double b)
{
    struct grams *g = s->extra;
    assert(b == 0); /* only what leaves A alone */
    const struct image z = {s->covariance.x, k, GRAM_NONE, 1};
    double self = gram_column(g, &g->of[k], &z), beta = gram_shift(g, &g->of[k], self, c);
    if (beta != 0)
        gram_move(g, &g->of[k], z.x, k, beta);
}

static double regress(struct state *s, uint32_t k, double shift, double target, double score)
{
    struct grams *g = s->extra;
    struct image z = {s->covariance.x, k, GRAM_NONE, 1};
    double self = gram_column(g, &g->of[k], &z);
    if (shift != 0)
        target += gram_shift(g, &g->of[k], self, shift);
    if (gram_limit(&z, self, g->of[k].a))
        self = gram_column(g, &g->of[k], &z);
    gram_append(g, &g->of[k], &z, target - z.scale * gram_moved_score(g, &g->of[k], z.x), self);
    return gram_quad(g, &g->of[k], gram_column(g, &g->of[k], &z));
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
    g->self = gram_column(g, &g->of[0], &z);
    return gram_quad(g, &g->of[0], g->self);
}

static double joint_step(struct state *s, double first, double weight, double inner)
{
    struct grams *g = s->extra;
    struct image z = joint_image(s);
    if (gram_limit(&z, g->self, g->of[0].a))
        g->self = gram_column(g, &g->of[0], &z);
    gram_append(g, &g->of[0], &z, z.scale, g->self);
    return 0;
}

const struct covariance_form covariance_kernel = {
    .name = "kernel",
    .extra = &gram_extra,
    .keeps_examples = true,
    .shape = shape,
    .scores = scores,
    .peek = peek,
    .unseen = unseen,
    .read = read,
    .load = load,
    .step = step,
    .regress = regress,
    .joint_variance = joint_variance,
    .joint_step = joint_step,
};
