/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/summary.h"

#include <math.h>
#include <stdlib.h>

static double share(uint64_t part, uint64_t all)
{
    return (double)part / (double)all;
}

struct summary summary_make(const struct outcome *runs, size_t n)
{
    struct summary s = {0};
    double squares = 0, regret_squares = 0;
    for (size_t i = 0; i < n; i++) {
        const struct tally *t = &runs[i].tally;
        if (!t->rounds)
            continue;
        s.runs++;
        s.rounds += (double)t->rounds;
        s.mistakes += (double)t->mistakes;
        s.error += share(t->mistakes, t->rounds);
        s.unseen_error += t->unseen ? share(t->unseen_mistakes, t->unseen) : 0;
        s.greedy_error += share(t->greedy_mistakes, t->rounds);
        s.explored += share(t->explored, t->rounds);
        s.regret += t->regret;
        s.balanced += t->balanced;
        s.discovery += t->discovery;
        s.calibration += tally_calibration(t);
        s.acted += t->unseen ? share(t->acted, t->unseen) : 0;
        s.acted_right += t->acted ? share(t->acted_right, t->acted) : 0;
        s.seconds += t->seconds;
        s.bytes += (double)runs[i].bytes;
    }
    if (!s.runs)
        return s;
    s.rate = s.seconds > 0 ? s.rounds / s.seconds : 0;
    double *means[] = {&s.rounds, &s.mistakes, &s.error,     &s.unseen_error, &s.greedy_error, &s.explored,   &s.bytes,
                       &s.regret, &s.balanced, &s.discovery, &s.calibration,  &s.acted,        &s.acted_right};
    for (size_t i = 0; i < sizeof means / sizeof *means; i++)
        *means[i] /= (double)s.runs;
    for (size_t i = 0; i < n; i++) {
        const struct tally *t = &runs[i].tally;
        double off = t->rounds ? share(t->mistakes, t->rounds) - s.error : 0;
        double more = t->rounds ? t->regret - s.regret : 0;
        squares += off * off;
        regret_squares += more * more;
    }
    s.error_sd = s.runs > 1 ? sqrt(squares / (double)(s.runs - 1)) : 0;
    s.regret_sd = s.runs > 1 ? sqrt(regret_squares / (double)(s.runs - 1)) : 0;
    return s;
}

/* Least squares on the logarithms; NAN: too few points. */
static double run_growth(const struct tally *t)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < t->points; i++) {
        const struct tally_point *p = &t->curve[i];
        if (p->round * 30 < t->rounds || !(p->regret > 0))
            continue;
        double a = log((double)p->round), b = log(p->regret);
        n++;
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    return n < 5 ? NAN : (n * xy - x * y) / (n * xx - x * x);
}

bool summary_growth(const struct outcome *runs, size_t n, double *ret, double *ret_error)
{
    double sum = 0, squares = 0, done = 0;
    for (size_t i = 0; i < n; i++) {
        double slope = run_growth(&runs[i].tally);
        if (isnan(slope))
            continue;
        done++;
        sum += slope;
        squares += slope * slope;
    }
    if (!done)
        return false;
    *ret = sum / done;
    *ret_error = done > 1 ? sqrt(fmax(squares - sum * sum / done, 0) / (done - 1) / done) : NAN;
    return true;
}

/* Points that all runs have, at the same rounds. */
static size_t points_common(const struct outcome *runs, size_t n)
{
    const struct tally *first = NULL;
    size_t points = 0;
    for (size_t i = 0; i < n; i++) {
        const struct tally *t = &runs[i].tally;
        if (!t->points)
            continue;
        points = !first || t->points < points ? t->points : points;
        first = first ? first : t;
        while (points && t->curve[points - 1].round != first->curve[points - 1].round)
            points--; /* the last point of a run that was stopped */
    }
    return points;
}

/* Error, greedy error and share explored at a point. */
static double point_share(const struct tally_point *p, size_t which)
{
    const uint64_t counts[] = {p->mistakes, p->greedy_mistakes, p->explored};
    return share(counts[which], p->round);
}

bool curve_mean(struct curve *ret, const struct outcome *runs, size_t n)
{
    size_t points = points_common(runs, n), done = 0;
    double *numbers = points ? calloc(7 * points, sizeof(double)) : NULL;
    if (!numbers)
        return false;
    struct curve c = {.n = points, .round = numbers};
    double **shares[] = {&c.error, &c.greedy, &c.explored, &c.error_sd, &c.greedy_sd, &c.explored_sd};
    for (size_t k = 0; k < 6; k++)
        *shares[k] = numbers + (k + 1) * points;
    for (size_t i = 0; i < n; i++)
        done += runs[i].tally.points > 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; runs[i].tally.points && j < points; j++) {
            c.round[j] = (double)runs[i].tally.curve[j].round;
            for (size_t k = 0; k < 3; k++)
                (*shares[k])[j] += point_share(&runs[i].tally.curve[j], k) / (double)done;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; runs[i].tally.points && j < points; j++)
            for (size_t k = 0; k < 3; k++)
                (*shares[k + 3])[j] += pow(point_share(&runs[i].tally.curve[j], k) - (*shares[k])[j], 2);
    for (size_t j = 0; j < 3 * points; j++)
        c.error_sd[j] = done > 1 ? sqrt(c.error_sd[j] / (double)(done - 1)) : 0;
    *ret = c;
    return true;
}

void curve_free(struct curve *c)
{
    free(c->round);
    *c = (struct curve){0};
}
