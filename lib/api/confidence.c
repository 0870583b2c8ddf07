/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/confidence.h"

#include <math.h>

#include "base/exact.h"

#define NODES CONFIDENCE_NODES
#define WINDOW 2000     /* answers that are looked back on, at most; before that a third of all */
#define LARGEST 10      /* a margin counts as at most that many mean ones in the mean */
#define FIRST 20        /* answers after which that mean is known well enough */
#define PRIOR 0.2       /* answers that a node begins with, as right as all others */
#define REFRESH 16      /* answers after which the chances follow, ... */
#define REFRESH_FROM 64 /* ... at first after every one */
#define STEPS 50
#define SUREST (1 - 1e-9) /* something is left for the other labels */

/* Where a margin lies among the nodes: between the returned one and the next, *ret_share of the way. */
static int bin_of(const struct confidence *c, float margin, double *ret_share)
{
    double z = c->size > 0 ? fmin(fmax(margin / c->size, -1e9), 1e9) : 0, u = z / (1 + fabs(z)),
           at = (u + 1) / 2 * (NODES - 1);
    int i = at < NODES - 1 ? (int)at : NODES - 2;
    *ret_share = at - i;
    return i;
}

/* Pool adjacent violators: the chances that rise and are nearest to the nodes' shares. */
static void chances_fit(struct confidence *c, uint32_t K)
{
    double shown = 2, right = 2.0 / K, weight[NODES];
    int length[NODES], pools = 0;
    for (int i = 0; i < NODES; i++) {
        shown += c->shown[i];
        right += c->right[i];
    }
    for (int i = 0; i < NODES; i++) {
        double w = c->shown[i] + PRIOR, share = (c->right[i] + PRIOR * right / shown) / w;
        int n = 1;
        for (; pools > 0 && c->chance[pools - 1] >= share; pools--, n += length[pools]) {
            share = (c->chance[pools - 1] * weight[pools - 1] + share * w) / (weight[pools - 1] + w);
            w += weight[pools - 1];
        }
        c->chance[pools] = share;
        weight[pools] = w;
        length[pools++] = n;
    }
    for (int i = NODES; pools > 0; pools--)
        for (int n = length[pools - 1]; n > 0; n--)
            c->chance[--i] = c->chance[pools - 1];
}

void confidence_init(struct confidence *c, uint32_t K)
{
    *c = (struct confidence){0};
    chances_fit(c, K);
}

double confidence_read(const struct confidence *c, float margin)
{
    double share;
    int i = bin_of(c, margin, &share);
    return c->chance[i] + share * (c->chance[i + 1] - c->chance[i]);
}

void confidence_learn(struct confidence *c, uint32_t K, float margin, bool right)
{
    double n = ++c->learned, window = fmin(fmax(n / 3, 1), WINDOW), keep = 1 - 1 / window, share;
    double size = fabs((double)margin);
    if (n > FIRST)
        size = fmin(size, LARGEST * c->size);
    c->size += (size - c->size) * fmax(1 / window, 1 / n);
    for (int i = 0; i < NODES; i++) {
        c->shown[i] *= keep;
        c->right[i] *= keep;
    }
    int i = bin_of(c, margin, &share);
    c->shown[i] += 1 - share;
    c->shown[i + 1] += share;
    if (right) {
        c->right[i] += 1 - share;
        c->right[i + 1] += share;
    }
    if (n < REFRESH_FROM || (uint64_t)n % REFRESH == 0)
        chances_fit(c, K);
}

void confidence_merge(struct confidence *c, uint32_t K, const struct confidence *other)
{
    double n = c->learned + other->learned;
    if (n > 0)
        c->size = (c->learned * c->size + other->learned * other->size) / n;
    c->learned = n;
    for (int i = 0; i < NODES; i++) {
        c->shown[i] += other->shown[i];
        c->right[i] += other->right[i];
    }
    chances_fit(c, K);
}

/* --- chances of all labels --- */

/* The least b >= 0 with sum over k != best of exp(b (s_k - s_best)) <= rest: Newton's steps on the logarithm, which is
 * convex and falls, so that they come from the left. */
static double sharpness(const float *scores, uint32_t K, uint32_t best, double rest)
{
    double b = 0, target = exact_log(rest);
    for (int i = 0; i < STEPS; i++) {
        double sum = 0, slope = 0, nearest = -INFINITY;
        for (uint32_t k = 0; k < K; k++)
            if (k != best)
                nearest = fmax(nearest, (double)scores[k] - scores[best]);
        for (uint32_t k = 0; k < K; k++) {
            double d = (double)scores[k] - scores[best], e = k == best ? 0 : exact_exp(b * (d - nearest));
            sum += e;
            slope += e * d;
        }
        double over = b * nearest + exact_log(sum) - target;
        if (over <= 1e-12 || !(slope < 0))
            break;
        b += over / (-slope / sum);
    }
    return b;
}

void confidence_spread(const struct confidence *c, const float *scores, uint32_t K, double *ret)
{
    uint32_t best = 0, next;
    for (uint32_t k = 1; k < K; k++)
        best = scores[k] > scores[best] ? k : best;
    next = best == 0 && K > 1;
    for (uint32_t k = next + 1; k < K; k++)
        next = k != best && scores[k] > scores[next] ? k : next;
    double sure = K > 1 ? fmin(fmax(confidence_read(c, scores[best] - scores[next]), 1.0 / K), SUREST) : 1, sum = 0;
    double b = K > 2 ? sharpness(scores, K, best, 1 / sure - 1) : 0;
    for (uint32_t k = 0; k < K; k++)
        sum += ret[k] = k == best ? 0 : exact_exp(b * ((double)scores[k] - scores[next]));
    for (uint32_t k = 0; k < K; k++)
        ret[k] = k == best ? sure : ret[k] / sum * (1 - sure);
}

/* --- bytes --- */

void confidence_put(struct writer *w, const struct confidence *c)
{
    put(w, c, sizeof *c);
}

static bool is_share(double part, double all)
{
    return part >= 0 && all >= 0 && all <= 1e300 && part <= all * (1 + 1e-6) + 1e-6;
}

hunch_status confidence_take(struct reader *r, struct confidence *ret, hunch_error *reterr)
{
    const void *bytes = take(r, sizeof *ret);
    struct confidence c;
    if (!bytes)
        return damaged(reterr, "it is cut");
    memcpy(&c, bytes, sizeof c);
    bool valid = is_share(0, c.learned) && c.learned < 0x1p53 && is_share(0, c.size);
    for (int i = 0; i < NODES; i++)
        valid &= is_share(c.right[i], c.shown[i]) && is_share(c.chance[i], 1);
    if (!valid)
        return damaged(reterr, "its confidence makes no sense");
    *ret = c;
    return HUNCH_OK;
}
