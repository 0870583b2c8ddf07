/* SPDX-License-Identifier: BSD-3-Clause */
#include "summary.h"

#include <math.h>

static double share(uint64_t part, uint64_t all)
{
    return (double)part / (double)all;
}

struct summary summary_make(const struct progressive_result *results, size_t runs)
{
    struct summary s = {0};
    double rounds = 0, squares = 0;
    for (size_t i = 0; i < runs; i++) {
        const struct tally *t = &results[i].tally;
        if (!t->rounds)
            continue;
        s.runs++;
        rounds += (double)t->rounds;
        s.mistakes += (double)t->mistakes;
        s.error += share(t->mistakes, t->rounds);
        s.greedy_error += share(t->greedy_mistakes, t->rounds);
        s.explored += share(t->explored, t->rounds);
        s.seconds += t->seconds;
    }
    if (!s.runs)
        return s;
    double n = (double)s.runs;
    s.rounds = rounds / n;
    s.mistakes /= n;
    s.error /= n;
    s.greedy_error /= n;
    s.explored /= n;
    s.rate = s.seconds > 0 ? rounds / s.seconds : 0;
    for (size_t i = 0; i < runs; i++) {
        const struct tally *t = &results[i].tally;
        double off = t->rounds ? share(t->mistakes, t->rounds) - s.error : 0;
        squares += off * off;
    }
    s.error_sd = s.runs > 1 ? sqrt(squares / (n - 1)) : 0;
    return s;
}

bool summary_point(const struct progressive_result *results, size_t runs, size_t i, double *ret_round,
                   double *ret_error)
{
    double sum = 0;
    uint64_t round = 0;
    for (size_t r = 0; r < runs; r++) {
        const struct tally *t = &results[r].tally;
        if (i >= t->points || (r && t->curve[i].round != round))
            return false;
        round = t->curve[i].round;
        sum += share(t->curve[i].mistakes, round);
    }
    if (!runs)
        return false;
    *ret_round = (double)round;
    *ret_error = sum / (double)runs;
    return true;
}
