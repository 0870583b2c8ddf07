/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ours beside the papers' numbers: differences and verdicts.
 *
 * A number is reproduced when it differs from the printed one by no more than chance and rounding explain: Welch's t
 * test of two means at 1 %, ours over our runs and the paper's over its own (paper_runs; 1 where it does not tell),
 * with its standard deviation where that is printed and ours where it is not; plus half of the last place printed.
 * Beyond that, a learner whose setting was chosen among several is better or worse; one that had nothing to choose
 * differs: then what was played was not what the paper played. Where the means agree, but the paper prints a standard
 * deviation and ours is another one (F test at 1 %, rounding in the paper's favour), the number has another spread and
 * is not reproduced.
 *
 * A test with few or scattered runs agrees with anything, so its power is reported: the probability that it would notice a true
 * error rate a tenth above or below the printed one.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paper/reproduce.h"
#include "play/statistics.h"

#define LEVEL 0.01
#define NOTICED 0.1 /* share of the printed number */

static uint64_t runs_of(const struct experiment *e, const struct experiment_data *data)
{
    return data->paper_runs ? data->paper_runs : e->paper_runs ? e->paper_runs : 1;
}

static bool spread_differs(const struct line *l, const struct experiment *e, uint64_t runs)
{
    double near = fmin(fmax(l->sd, l->paper_sd - e->rounding), l->paper_sd + e->rounding);
    return runs > 1 && !isnan(l->paper_sd) &&
           statistics_spread(l->sd, (double)l->runs - 1, near, (double)runs - 1) < LEVEL;
}

static void test(struct line *l, const struct experiment *e, uint64_t runs)
{
    double sd = isnan(l->paper_sd) ? l->sd : l->paper_sd;
    double ours = l->sd * l->sd / (double)l->runs, theirs = sd * sd / (double)runs, sum = ours + theirs;
    double degrees = (double)l->runs - 1, shift = NOTICED * fabs(l->paper);
    if (runs > 1 && sum > 0)
        degrees = sum * sum / (ours * ours / degrees + theirs * theirs / ((double)runs - 1));
    l->tolerance = e->rounding + statistics_quantile(LEVEL, degrees) * sqrt(sum);
    l->power = sum > 0
                   ? (erfc((l->tolerance - shift) / sqrt(2 * sum)) + erfc((l->tolerance + shift) / sqrt(2 * sum))) / 2
                   : shift > l->tolerance;
}

static bool repeats(const struct experiment *e, const char *learner)
{
    for (size_t i = 0; i < e->learners.n; i++)
        if (!strcmp(e->learners.item[i].id, learner))
            return e->learners.item[i].repeats;
    return false;
}

static enum verdict verdict_of(const struct line *l, const struct experiment *e, const struct experiment_data *data)
{
    if (data->differs || l->x < e->compare_from || l->runs < 2 || repeats(e, l->learner))
        return VERDICT_APART;
    if (fabs(l->difference) <= l->tolerance + 1e-9)
        return l->spread ? VERDICT_SPREAD : VERDICT_REPRODUCED;
    return !l->chosen ? VERDICT_DIFFERS : l->difference < 0 ? VERDICT_BETTER : VERDICT_WORSE;
}

static void line_compare(struct line *l, const struct experiment *e, const struct experiment_data *data)
{
    struct printed printed;
    if (!experiment_printed(e, data->id, l->learner, l->setting, &printed) || (!printed.each_setting && !l->best))
        return;
    l->verdict = VERDICT_APART;
    l->paper_text = printed.text;
    if (printed.text) /* off the paper's scale, say */
        return;
    l->paper = printed.mean;
    l->paper_sd = printed.sd;
    l->paper_mark = printed.mark;
    l->difference = l->mean - l->paper;
    uint64_t runs = runs_of(e, data);
    if (l->runs > 1) {
        test(l, e, runs);
        l->spread = !data->differs && spread_differs(l, e, runs);
    }
    if (printed.each_setting) /* every setting stands for itself */
        l->chosen = false;
    l->verdict = verdict_of(l, e, data);
    if (l->verdict != VERDICT_REPRODUCED && l->verdict != VERDICT_APART)
        l->why = experiment_why(e, data->id, l->learner);
}

/* --- the marks of the Confidit tables --- */

static bool full_information(const char *spec)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all), length = strcspn(spec, ":");
    for (size_t i = 0; i < n; i++)
        if (strlen(all[i]->name) == length && !strncmp(all[i]->name, spec, length))
            return all[i]->full_information;
    return false;
}

static double p_with(const struct line *l, const char *learner)
{
    for (size_t i = 0; i < l->p.n; i++)
        if (!strcmp(l->p.item[i].learner, learner))
            return l->p.item[i].p;
    return 1;
}

/* The largest p of a comparison with the other lines (only those of bandit learners), or 2 when one of them is not
 * worse than this line. */
static double worst_p(const struct table *t, const struct line *l, bool bandits, const json_t *except)
{
    double worst = 0;
    size_t compared = 0;
    for (size_t i = 0; i < t->lines.n; i++) {
        const struct line *other = &t->lines.item[i];
        if (other == l || (bandits && full_information(other->spec)) ||
            (!bandits && json_object_get(except, other->learner)))
            continue;
        compared++;
        if (other->mean <= l->mean)
            return 2;
        worst = fmax(worst, p_with(l, other->learner));
    }
    return compared ? worst : 2;
}

/* Dagger and star: better than all others (margin-based ones apart) at 0.01 and 0.001; in brackets: than the bandit
 * learners only. */
static void marks_add(struct table *t, const json_t *except)
{
    for (size_t i = 0; i < t->lines.n; i++) {
        struct line *l = &t->lines.item[i];
        if (full_information(l->spec) || !l->p.n) /* read back: the marks are there */
            continue;
        double all = worst_p(t, l, false, except), bandits = worst_p(t, l, true, except);
        l->mark = all < 0.001       ? "⋆"
                  : bandits < 0.001 ? (all < 0.01 ? "†" : "(⋆)")
                  : all < 0.01      ? "†"
                  : bandits < 0.01  ? "(†)"
                                    : NULL;
    }
}

void table_compare(struct table *table, const struct experiment *e, const struct experiment_data *data, bool quick)
{
    for (size_t i = 0; i < table->lines.n && !quick; i++) /* a small version is not what the paper did */
        line_compare(&table->lines.item[i], e, data);
    if (e->cv)
        marks_add(table, e->cv->apart);
}

/* --- the order of the learners --- */

static int number_compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* The median over all settings and data sets of a learner: the ends of a grid do not decide it. NAN: no lines. */
static double learner_median(const struct result *r, const char *name)
{
    double means[256];
    size_t n = 0;
    for (size_t i = 0; i < r->tables.n; i++)
        for (size_t j = 0; j < r->tables.item[i].lines.n; j++) {
            const struct line *l = &r->tables.item[i].lines.item[j];
            if (n < sizeof means / sizeof *means && !strcmp(l->learner, name))
                means[n++] = l->mean;
        }
    qsort(means, n, sizeof *means, number_compare);
    return n ? (means[(n - 1) / 2] + means[n / 2]) / 2 : NAN;
}

/* The point-th settings of a table by themselves: the neighbours in the expected order that stand the other way round.
 */
static struct order_setting setting_judge(const struct table *t, const struct texts *order, size_t point,
                                          struct arena *arena)
{
    struct order_setting s = {.setting = table_setting(t, point)};
    const struct line *before = NULL;
    s.breaks.item = arena_zeros(arena, order->n, sizeof *s.breaks.item);
    for (size_t i = 0; s.breaks.item && i < order->n; i++) {
        const struct line *l = table_point(t, order->item[i], point);
        if (l && before && l->mean < before->mean)
            s.breaks.item[s.breaks.n++] = (struct order_break){l->learner, before->learner, before->mean - l->mean};
        before = l ? l : before;
    }
    return s;
}

/* Do the learners' medians rise in the expected order? And the single settings'? */
static struct result_order *order_judge(const struct result *r, const struct texts *names, struct arena *arena)
{
    struct result_order *o = arena_zeros(arena, 1, sizeof *o);
    double before = -INFINITY;
    size_t points = 0;
    for (size_t i = 0; i < r->tables.n; i++)
        points += table_points(&r->tables.item[i]);
    if (!o || !(o->learners.item = arena_zeros(arena, names->n, sizeof *o->learners.item)) ||
        !(o->settings.item = arena_zeros(arena, points, sizeof *o->settings.item)))
        return NULL;
    o->holds = true;
    for (size_t i = 0; i < names->n; i++) {
        double median = learner_median(r, names->item[i]);
        o->holds = o->holds && median >= before;
        before = median;
        o->learners.item[o->learners.n++] = (struct order_learner){names->item[i], isnan(median) ? 0 : median};
    }
    for (size_t i = 0; i < r->tables.n; i++)
        for (size_t point = 0; point < table_points(&r->tables.item[i]); point++)
            o->settings.item[o->settings.n++] = setting_judge(&r->tables.item[i], names, point, arena);
    return o;
}

void result_judge(struct result *r, const struct experiment *e, struct arena *arena)
{
    static const enum verdict worst_first[] = {VERDICT_WORSE, VERDICT_DIFFERS, VERDICT_BETTER, VERDICT_SPREAD,
                                               VERDICT_REPRODUCED};
    size_t *count = r->verdicts;
    for (size_t i = 0; i < r->tables.n; i++)
        for (size_t j = 0; j < r->tables.item[i].lines.n; j++)
            count[r->tables.item[i].lines.item[j].verdict]++;
    count[VERDICT_NONE] = 0;
    r->verdict = VERDICT_APART;
    for (size_t i = sizeof worst_first / sizeof *worst_first; i-- > 0;)
        if (count[worst_first[i]])
            r->verdict = worst_first[i];
    if (!e->order.n)
        return;
    r->order = order_judge(r, &e->order, arena);
    if (r->order && !r->order->holds)
        r->verdict = VERDICT_DIFFERS;
    else if (r->verdict == VERDICT_APART)
        r->verdict = VERDICT_ORDER;
}
