/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a policy would have scored, estimated from rounds that another one played.
 *
 * Round t of the log has a context, the label a that was shown, its chance p, and the reward r that came back. The
 * policy pi would have shown a with chance pi(a); w = pi(a) / p is the round's weight. q is a model of rewards that has
 * not seen the round.
 *
 *     ips    mean of w r                                        unbiased; noisy where w is large
 *     snips  sum of w r / sum of w                              a little bias, much less noise, never outside [0, 1]
 *     dr     mean of (sum over b of pi(b) q(b)) + w (r - q(a))  unbiased whatever q; little noise where q is good
 *
 * Intervals:
 *     normal     value +- z s / sqrt(n), s the deviation of the terms whose mean the value is (snips: to first order)
 *     bootstrap  percentiles over resampled logs (each round counted a Poisson(1) number of times)
 *     bernstein  Maurer and Pontil's empirical Bernstein bound (2009): holds for every n, needs a bound on the weights;
 *                wide; not for snips
 *     anytime    a confidence sequence by betting (Waudby-Smith and Ramdas 2023; Karampatziakis, Mineiro and Ramdas
 *                2021): with the chance `confidence` it holds after every round at once, so one may look after each and
 *                stop when one likes; not for snips. See betting.h.
 * The first two are right for large logs, if the weights have no heavy tail; the others for all logs in which each round
 * was played as its probability says.
 */
#ifndef OFFPOLICY_H
#define OFFPOLICY_H

#include <stddef.h>
#include <stdint.h>

#include "hunch.h"

struct offpolicy_row {
    double weight, reward;
    double shown;    /* q(a) */
    double expected; /* q's mean over the policy's labels */
};

enum offpolicy_method { OFFPOLICY_IPS, OFFPOLICY_SNIPS, OFFPOLICY_DR, OFFPOLICY_METHODS };
enum offpolicy_interval { OFFPOLICY_NORMAL, OFFPOLICY_BOOTSTRAP, OFFPOLICY_BERNSTEIN, OFFPOLICY_ANYTIME };

struct offpolicy_options {
    enum offpolicy_interval interval;
    double confidence;   /* 0.95 */
    uint32_t replicates; /* of the bootstrap */
    uint64_t seed;
    double bound; /* bernstein, and anytime of dr: no weight can be larger */
};

/* NAN where there is no answer: no rounds, or no weight. */
struct offpolicy_estimate {
    double value, std_error, low, high;
};

struct offpolicy {
    struct offpolicy_estimate estimate[OFFPOLICY_METHODS];
    size_t rows;
    double effective;               /* rounds that would tell as much: (sum w)^2 / sum w^2 */
    double max_weight;              /* and */
    double mean_weight, mean_error; /* 1 on average, if the log's chances are right; its standard error */
    double matches;                 /* share of rounds with w > 0 */
};

/* HUNCH_ENOMEM is the only failure. */
hunch_status offpolicy_estimate(struct offpolicy *ret, const struct offpolicy_row *rows, size_t n,
                                const struct offpolicy_options *options, hunch_error *reterr);

const char *offpolicy_name(enum offpolicy_method method);
/* The quantile of the standard normal distribution; 0 < p < 1. */
double offpolicy_normal(double p);

#endif
