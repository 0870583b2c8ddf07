/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The average reward of a policy, estimated from importance-weighted answers in their order, with an interval that holds
 * after every answer at once: one may look after each, and stop when one likes.
 *
 * An answer counts w r, r being 1 if it was right and 0 if not, and w the chance that the policy had of showing the
 * label, divided by the chance with which the label was shown (1 where the policy itself has shown it). The mean of w r
 * is the policy's average reward, or less of it where the log has no support for the policy; that of w (1 - r) is at most
 * 1 minus the same.
 *
 * The bounds are empirical Bernstein bounds of both sums. With x >= 0, a guess g in [0, 1] made before x is seen, and a
 * rate b in (0, 1),
 *
 *     exp(b (x - g) - psi(b) (x - g)^2) <= 1 + b (x - g),    psi(b) = -log(1 - b) - b     (Fan, Grama, Liu 2015)
 *
 * so that with m the mean of x given what was before, the product of exp(b (x - m) - psi(b) (x - g)^2) over all x so far
 * is a supermartingale, and so is a mixture of several rates. It ever exceeds 1/alpha with a chance of at most alpha
 * (Ville; Howard, Ramdas, McAuliffe, Sekhon 2021). The sum of the m is all that is unknown in it: an interval for the
 * average of the m so far, which may change as they like. No bound of the weights is needed, and nothing to be chosen.
 */
#ifndef BASE_VALUE_BOUNDS_H
#define BASE_VALUE_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct bounded_mean {
    double sum, squares; /* of x; of x - the mean before it */
};

/* All zeros: nothing yet. */
struct value_bounds {
    uint64_t n;
    struct bounded_mean right, wrong;
};

void value_add(struct value_bounds *v, double weight, bool right);
/* The same of any two series, neither below 0, with the means m and 1 - m given what was before: of whatever m is. */
void value_observe(struct value_bounds *v, double x, double other);
/* In [0, 1]; NAN: nothing yet. */
double value_mean(const struct value_bounds *v);
/* At each side the chance that it is ever wrong is at most (1 - confidence) / 2. */
void value_interval(const struct value_bounds *v, double confidence, double *ret_low, double *ret_high);
/* Whether the average of m so far is above `mean`: if it is not, the chance that this is ever claimed is at most
 * 1 - confidence. */
bool value_above(const struct value_bounds *v, double mean, double confidence);

#endif
