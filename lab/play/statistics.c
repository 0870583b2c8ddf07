/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/statistics.h"

#include <math.h>

double statistics_mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n ? sum / (double)n : NAN;
}

double statistics_sd(const double *x, size_t n)
{
    double mean = statistics_mean(x, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
}

/* Lentz's method for the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8). */
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 10000; m++) {
        double step = 1;
        for (int odd = 0; odd < 2; odd++) {
            double term = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                              : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + term * d;
            c = 1 + term / c;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = fabs(c) < tiny ? tiny : c;
            step *= c * d;
        }
        f *= step;
        if (fabs(step - 1) < 1e-15)
            break;
    }
    return f;
}

double statistics_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) /* where the fraction converges fast */
        return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double statistics_student(double t, double degrees)
{
    return statistics_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double statistics_quantile(double p, double degrees)
{
    double low = 0, high = 1;
    if (!(degrees > 0))
        return NAN;
    while (statistics_student(high, degrees) > p)
        high *= 2;
    for (int i = 0; i < 100 && high - low > 1e-12 * high; i++) {
        double middle = (low + high) / 2;
        if (statistics_student(middle, degrees) > p)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

double statistics_spread(double sd, double m, double other, double n)
{
    double ours = m * sd * sd, sum = ours + n * other * other;
    if (sum == 0)
        return 1;
    double below = statistics_beta(m / 2, n / 2, ours / sum);
    return 2 * fmin(below, 1 - below);
}

double statistics_paired(const double *a, const double *b, size_t n)
{
    double mean = 0, squares = 0;
    if (n < 2)
        return 1;
    for (size_t i = 0; i < n; i++)
        mean += (a[i] - b[i]) / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (a[i] - b[i] - mean) * (a[i] - b[i] - mean);
    double error = sqrt(squares / (double)(n - 1) / (double)n);
    if (error <= 1e-12 * fabs(mean) || error == 0)
        return mean == 0 ? 1 : 0;
    return statistics_student(mean / error, (double)(n - 1));
}
