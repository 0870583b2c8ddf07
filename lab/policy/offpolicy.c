/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/offpolicy.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "betting.h"
#include "base/rng.h"

struct sums {
    double w, w2, wr, dr;
    double max;
    size_t positive;
};

const char *offpolicy_name(enum offpolicy_method method)
{
    static const char *const names[] = {"ips", "snips", "dr"};
    return names[method];
}

double offpolicy_normal(double p)
{
    /* bisection on erfc: fifty steps once a report, and nothing to get wrong */
    double low = -40, high = 40;
    for (int i = 0; i < 200 && high - low > 1e-13; i++) {
        double middle = (low + high) / 2;
        if (erfc(-middle / sqrt(2)) / 2 < p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static double dr_term(const struct offpolicy_row *row)
{
    return row->expected + row->weight * (row->reward - row->shown);
}

static struct sums rows_sum(const struct offpolicy_row *rows, size_t n)
{
    struct sums s = {0};
    for (size_t i = 0; i < n; i++) {
        double w = rows[i].weight;
        s.w += w;
        s.w2 += w * w;
        s.wr += w * rows[i].reward;
        s.dr += dr_term(&rows[i]);
        s.max = fmax(s.max, w);
        s.positive += w > 0;
    }
    return s;
}

/* What the value is, exactly or to first order, the mean of; less the value. */
static double deviation(enum offpolicy_method method, const struct offpolicy_row *row, double value, double scale)
{
    if (method == OFFPOLICY_IPS)
        return row->weight * row->reward - value;
    if (method == OFFPOLICY_DR)
        return dr_term(row) - value;
    return row->weight * (row->reward - value) * scale; /* the delta method */
}

static double std_error(enum offpolicy_method method, const struct offpolicy_row *rows, size_t n, double value,
                        double scale)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double d = deviation(method, &rows[i], value, scale);
        squares += d * d;
    }
    return n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : INFINITY;
}

/* Maurer and Pontil, theorem 4, from both sides: the terms lie in an interval of length range. */
static double bernstein(double error, size_t n, double range, double confidence)
{
    double l = log(4 / (1 - confidence));
    return n > 1 ? error * sqrt(2 * l) + 7 * range * l / (3 * (double)(n - 1)) : INFINITY;
}

static void interval_set(struct offpolicy_estimate *e, enum offpolicy_method method, size_t n,
                         const struct offpolicy_options *o)
{
    double half = offpolicy_normal(0.5 + o->confidence / 2) * e->std_error;
    if (o->interval == OFFPOLICY_BERNSTEIN && method == OFFPOLICY_SNIPS)
        half = NAN;
    else if (o->interval == OFFPOLICY_BERNSTEIN) /* rewards and the model's guesses lie in [0, 1] */
        half = bernstein(e->std_error, n, method == OFFPOLICY_IPS ? o->bound : 1 + 2 * o->bound, o->confidence);
    e->low = e->value - half;
    e->high = e->value + half;
}

/* From both sides: ips by w r and w (1 - r), whose means are the value and 1 - value, as the weights' is 1; dr by its
 * terms, which lie in [-bound, 1 + bound]. */
static hunch_status anytime(struct offpolicy *ret, const struct offpolicy_row *rows, size_t n,
                            const struct offpolicy_options *o, hunch_error *reterr)
{
    double *up = calloc(n, sizeof *up), *down = calloc(n, sizeof *down), alpha = (1 - o->confidence) / 2;
    for (enum offpolicy_method m = 0; up && down && m < OFFPOLICY_METHODS; m++) {
        struct offpolicy_estimate *e = &ret->estimate[m];
        double shift = m == OFFPOLICY_DR ? o->bound : 0;
        if (m == OFFPOLICY_SNIPS) {
            e->low = e->high = NAN;
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            up[i] = m == OFFPOLICY_DR ? dr_term(&rows[i]) + shift : rows[i].weight * rows[i].reward;
            down[i] = m == OFFPOLICY_DR ? 1 + shift - dr_term(&rows[i]) : rows[i].weight * (1 - rows[i].reward);
        }
        e->low = fmax(betting_lower(up, n, 1 + shift, alpha) - shift, 0);
        e->high = fmin(1 + shift - betting_lower(down, n, 1 + shift, alpha), 1);
        if (e->low > e->high) /* every value is refuted, as may happen to the share of streams 1 - confidence */
            e->low = e->high = (e->low + e->high) / 2;
    }
    bool room = up && down;
    free(up);
    free(down);
    return room ? HUNCH_OK : error_memory(reterr);
}

/* --- the bootstrap --- */

#define STEPS 65536

/* How often a round is counted, for each of 2^16 equally likely draws. */
static unsigned char *poisson_table(void)
{
    unsigned char *table = malloc(STEPS);
    double chance = exp(-1), below = chance;
    unsigned count = 0;
    for (size_t i = 0; table && i < STEPS; i++) {
        while (((double)i + 0.5) / STEPS > below && count < 12) {
            count++;
            chance /= count;
            below += chance;
        }
        table[i] = (unsigned char)count;
    }
    return table;
}

static void replicate(const struct offpolicy_row *rows, size_t n, const unsigned char *table, struct rng *state,
                      double ret[OFFPOLICY_METHODS])
{
    double count = 0, w = 0, wr = 0, dr = 0;
    uint64_t bits = 0;
    for (size_t i = 0; i < n; i++, bits >>= 16) {
        if (i % 4 == 0)
            bits = rng_next(state);
        double times = table[bits & (STEPS - 1)];
        count += times;
        w += times * rows[i].weight;
        wr += times * rows[i].weight * rows[i].reward;
        dr += times * dr_term(&rows[i]);
    }
    ret[OFFPOLICY_IPS] = wr / count;
    ret[OFFPOLICY_SNIPS] = w > 0 ? wr / w : NAN;
    ret[OFFPOLICY_DR] = dr / count;
}

static int numbers_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t low = (size_t)at;
    double rest = at - (double)low;
    return low + 1 < n ? sorted[low] * (1 - rest) + sorted[low + 1] * rest : sorted[n - 1];
}

static hunch_status bootstrap(struct offpolicy *ret, const struct offpolicy_row *rows, size_t n,
                              const struct offpolicy_options *o, hunch_error *reterr)
{
    size_t replicates = o->replicates ? o->replicates : 1000;
    double *values = calloc(replicates * OFFPOLICY_METHODS, sizeof *values);
    unsigned char *table = poisson_table();
    struct rng state = {o->seed};
    hunch_status status = values && table ? HUNCH_OK : error_memory(reterr);
    for (size_t b = 0; b < replicates && !status; b++) {
        double got[OFFPOLICY_METHODS];
        replicate(rows, n, table, &state, got);
        for (size_t m = 0; m < OFFPOLICY_METHODS; m++)
            values[m * replicates + b] = got[m];
    }
    for (size_t m = 0; m < OFFPOLICY_METHODS && !status; m++) {
        double *of = values + m * replicates;
        size_t good = 0; /* a replicate of few rounds may have none that the policy agrees with */
        for (size_t b = 0; b < replicates; b++)
            if (!isnan(of[b]))
                of[good++] = of[b];
        qsort(of, good, sizeof *of, numbers_compare);
        ret->estimate[m].low = good ? quantile(of, good, (1 - o->confidence) / 2) : NAN;
        ret->estimate[m].high = good ? quantile(of, good, (1 + o->confidence) / 2) : NAN;
    }
    free(values);
    free(table);
    return status;
}

hunch_status offpolicy_estimate(struct offpolicy *ret, const struct offpolicy_row *rows, size_t n,
                                const struct offpolicy_options *options, hunch_error *reterr)
{
    struct sums s = rows_sum(rows, n);
    double count = (double)n;
    struct offpolicy r = {.rows = n, .max_weight = s.max};
    r.mean_weight = n ? s.w / count : NAN;
    r.mean_error = n > 1 ? sqrt(fmax(s.w2 / count - r.mean_weight * r.mean_weight, 0) / (count - 1)) : INFINITY;
    r.effective = s.w2 > 0 ? s.w * s.w / s.w2 : 0;
    r.matches = n ? (double)s.positive / count : 0;
    for (enum offpolicy_method m = 0; m < OFFPOLICY_METHODS; m++) {
        struct offpolicy_estimate *e = &r.estimate[m];
        e->value = m == OFFPOLICY_IPS ? s.wr / count : m == OFFPOLICY_DR ? s.dr / count : s.wr / s.w; /* 0/0: NAN */
        e->std_error = std_error(m, rows, n, e->value, s.w > 0 ? count / s.w : 0);
        if (isnan(e->value))
            e->std_error = NAN;
        interval_set(e, m, n, options);
    }
    hunch_status status = HUNCH_OK;
    if (options->interval == OFFPOLICY_BOOTSTRAP && n)
        status = bootstrap(&r, rows, n, options, reterr);
    if (options->interval == OFFPOLICY_ANYTIME && n)
        status = anytime(&r, rows, n, options, reterr);
    if (!status)
        *ret = r;
    return status;
}
