/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STEP 43
#define THIN 4 /* of the hundred points to a decade, tally_thin keeps every n-th */

bool tally_init(struct tally *t)
{
    *t = (struct tally){.next = 1};
    t->curve = calloc(TALLY_POINTS, sizeof *t->curve);
    t->bins = calloc(TALLY_BINS, sizeof *t->bins);
    if (t->curve && t->bins)
        return true;
    tally_free(t);
    return false;
}

static void point_add(struct tally *t)
{
    if (t->points == TALLY_POINTS)
        t->points--; /* after 10^11 rounds; the last point stays the latest */
    t->curve[t->points++] = (struct tally_point){t->rounds, t->mistakes, t->greedy_mistakes, t->explored, t->regret};
}

/* The chance of the best label less that of the shown one. */
static void regret_count(struct tally *t, const hunch_choice *choices, size_t n)
{
    const struct truth *truth = t->truth;
    for (size_t i = 0; i < n; i++) {
        size_t row = (size_t)((t->rounds + i) % truth->n);
        const float *chance = truth->chance + row * truth->classes;
        double shown = choices[i].label < truth->classes ? (double)chance[choices[i].label] : 0;
        t->regret += (double)chance[truth->best[row]] - shown;
    }
}

static bool classes_reserve(struct tally *t, uint32_t label)
{
    if (label < t->classes_n)
        return true;
    if (!array_reserve(&t->classes, &t->classes_room, (size_t)label + 1, sizeof *t->classes))
        return false;
    memset(t->classes + t->classes_n, 0, ((size_t)label + 1 - t->classes_n) * sizeof *t->classes);
    t->classes_n = (size_t)label + 1;
    return true;
}

/* Without memory for a class its rows are not counted. */
static void classes_count(struct tally *t, const hunch_choice *choices, const uint32_t *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!classes_reserve(t, labels[i]))
            continue;
        struct tally_class *c = &t->classes[labels[i]];
        bool wrong = choices[i].label != labels[i];
        c->rows++;
        c->mistakes += wrong;
        c->greedy_mistakes += choices[i].greedy != labels[i];
        if (!wrong && !c->found)
            c->found = t->rounds + i + 1;
    }
}

static void classes_finish(struct tally *t)
{
    double n = 0;
    t->balanced = t->discovery = 0;
    for (size_t i = 0; i < t->classes_n; i++) {
        const struct tally_class *c = &t->classes[i];
        if (!c->rows)
            continue;
        n++;
        t->balanced += (double)c->mistakes / (double)c->rows;
        t->discovery += (double)(c->found ? c->found : t->rounds);
    }
    if (n > 0) {
        t->balanced /= n;
        t->discovery /= n;
    }
}

static void calibration_add(struct tally *t, const hunch_choice *choices, const uint32_t *labels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double c = choices[i].confidence;
        struct tally_bin *s = &t->bins[c < 1 ? (size_t)(c * TALLY_BINS) : TALLY_BINS - 1];
        s->shown++;
        s->right += choices[i].label == labels[i];
        s->confidence += c;
    }
}

double tally_calibration(const struct tally *t)
{
    const size_t each = TALLY_BINS / 15;
    double sum = 0, off = 0;
    for (size_t i = 0; t->bins && i < TALLY_BINS; i++) {
        off = (i % each ? off : 0) + t->bins[i].confidence - (double)t->bins[i].right;
        sum += i % each == each - 1 ? fabs(off) : 0;
    }
    return t->unseen ? sum / (double)t->unseen : 0;
}

void tally_count(struct tally *t, const hunch_choice *choices, const uint32_t *labels, size_t n)
{
    uint64_t before = t->mistakes;
    if (!t->repeated)
        calibration_add(t, choices, labels, n);
    for (size_t i = 0; i < n;) {
        uint64_t left = t->next - t->rounds;
        size_t stop = left < n - i ? i + (size_t)left : n;
        if (t->per_class)
            classes_count(t, choices + i, labels + i, stop - i);
        if (t->truth)
            regret_count(t, choices + i, stop - i);
        t->rounds += stop - i;
        for (; i < stop; i++) {
            t->mistakes += choices[i].label != labels[i];
            t->greedy_mistakes += choices[i].greedy != labels[i];
            t->explored += choices[i].label != choices[i].greedy;
        }
        if (t->rounds == t->next) {
            point_add(t);
            t->next += t->next < STEP ? 1 : t->next / STEP;
        }
    }
    if (!t->repeated) {
        t->unseen += n;
        t->unseen_mistakes += t->mistakes - before;
    }
}

void tally_finish(struct tally *t)
{
    t->truth = NULL;
    if (t->per_class)
        classes_finish(t);
    if (t->rounds && t->curve[t->points - 1].round != t->rounds)
        point_add(t);
}

void tally_thin(struct tally *t)
{
    size_t n = 0;
    free(t->bins);
    free(t->classes);
    t->bins = NULL;
    t->classes = NULL;
    t->classes_n = t->classes_room = 0;
    for (size_t i = 0; i < t->points; i++)
        if (i % THIN == 0 || i + 1 == t->points)
            t->curve[n++] = t->curve[i];
    t->points = n;
    struct tally_point *smaller = realloc(t->curve, (n + 1) * sizeof *smaller);
    t->curve = smaller ? smaller : t->curve;
}

void tally_free(struct tally *t)
{
    free(t->curve);
    free(t->bins);
    free(t->classes);
    *t = (struct tally){0};
}
