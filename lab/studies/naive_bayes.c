/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A study, not a learner of the library: conservative one-versus-all and bandit boosting with forms of naive Bayes that
 * the library does not have, to find out which of them stands behind Table 2 of Chen, Lin and Lu (2014). What came out
 * is in docs/algorithms/boost.md.
 *
 * Rows whose n-th features come from ranges of their own are read as n categorical attributes; otherwise every feature
 * is an attribute, present or absent.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "order.h"
#include "base/rng.h"

enum { MOST_CLASSES = 64 };

struct form {
    double smooth, delta; /* delta: of boosting */
    uint32_t weak;        /* learners of each class; 0: conservative one-versus-all */
    uint32_t runs;
    bool hard, ties_first, importance, lone; /* lone: one-versus-all teaches only the class that was shown */
};

struct table { /* of categorical values, numbered through all attributes */
    uint32_t rows, attributes, values, classes;
    uint32_t *value; /* rows x attributes */
    const uint32_t *label;
    uint32_t *values_of; /* how many the attribute has */
};

static void *room(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return p;
}

/* --- the data as attributes --- */

static bool categorical(const struct dataset *d, uint32_t *ret_low, uint32_t *ret_high)
{
    const struct rows *b = &d->rows;
    size_t n = (size_t)(b->start[1] - b->start[0]);
    for (size_t a = 0; a < n; a++)
        ret_low[a] = UINT32_MAX;
    for (size_t r = 0; r < b->n; r++) {
        if ((size_t)(b->start[r + 1] - b->start[r]) != n)
            return false;
        for (size_t a = 0; a < n; a++) {
            uint32_t j = b->index[b->start[r] + (int64_t)a];
            ret_low[a] = j < ret_low[a] ? j : ret_low[a];
            ret_high[a] = j > ret_high[a] ? j : ret_high[a];
        }
    }
    for (size_t a = 1; a < n; a++)
        if (ret_low[a] <= ret_high[a - 1])
            return false;
    return n > 0;
}

static void row_take(struct table *t, const struct rows *b, size_t r, const uint32_t *low)
{
    uint32_t *value = t->value + r * t->attributes, first = 0;
    for (uint32_t a = 0; a < t->attributes; a++) {
        value[a] = first + (low ? b->index[b->start[r] + a] - low[a] : 0);
        first += t->values_of[a];
    }
    for (int64_t i = b->start[r]; !low && i < b->start[r + 1]; i++)
        value[b->index[i]] += b->value[i] != 0;
}

static struct table table_of(const struct dataset *d)
{
    uint32_t *low = room(d->width, sizeof *low), *high = room(d->width, sizeof *high);
    const struct rows *b = &d->rows;
    bool grouped = categorical(d, low, high);
    struct table t = {.rows = (uint32_t)b->n, .classes = d->classes, .label = b->label};
    t.attributes = grouped ? (uint32_t)(b->start[1] - b->start[0]) : d->width;
    t.values_of = room(t.attributes, sizeof *t.values_of);
    t.value = room((size_t)t.rows * t.attributes, sizeof *t.value);
    for (uint32_t a = 0; a < t.attributes; a++)
        t.values += t.values_of[a] = grouped ? high[a] - low[a] + 1 : 2;
    for (size_t r = 0; r < b->n; r++)
        row_take(&t, b, r, grouped ? low : NULL);
    free(low);
    free(high);
    return t;
}

/* --- one binary naive Bayes; counts and their logarithms --- */

struct bayes {
    double total[2], below[2]; /* below: the logarithms of all attributes' denominators, and the prior's */
    double *count[2], *log[2];
};

static void bayes_begin(struct bayes *b, const struct table *t, const struct form *f)
{
    for (int y = 0; y < 2; y++) {
        b->total[y] = b->below[y] = 0;
        for (uint32_t v = 0; v < t->values; v++) {
            b->count[y][v] = 0;
            b->log[y][v] = log(f->smooth);
        }
        for (uint32_t a = 0; a < t->attributes; a++)
            b->below[y] += log(f->smooth * t->values_of[a]);
        b->below[y] -= log(f->smooth);
    }
}

static void bayes_learn(struct bayes *b, const struct table *t, const struct form *f, const uint32_t *x, int y,
                        double weight)
{
    b->total[y] += weight;
    b->below[y] = -log(b->total[y] + f->smooth); /* the prior's numerator; its denominator is the same for both */
    for (uint32_t a = 0; a < t->attributes; a++) {
        b->count[y][x[a]] += weight;
        b->log[y][x[a]] = log(b->count[y][x[a]] + f->smooth);
        b->below[y] += log(b->total[y] + f->smooth * t->values_of[a]);
    }
}

/* In [-1, 1]. Without counts for either side, or when neither side can have made x: 0. */
static double bayes_output(const struct bayes *b, const struct table *t, const struct form *f, const uint32_t *x)
{
    double sum[2] = {-INFINITY, -INFINITY};
    for (int y = 0; y < 2; y++) {
        if (b->total[y] + f->smooth <= 0)
            continue;
        sum[y] = -b->below[y];
        for (uint32_t a = 0; a < t->attributes; a++)
            sum[y] += b->log[y][x[a]];
    }
    if (sum[0] == sum[1])
        return 0;
    return f->hard ? (sum[1] > sum[0] ? 1 : -1) : tanh((sum[1] - sum[0]) / 2);
}

/* --- one pass --- */

struct play {
    const struct table *t;
    const struct form *f;
    struct bayes *bayes; /* classes x weak */
    double *alpha, *output;
    struct rng chance;
    uint32_t weak;
};

static uint32_t greedy_label(struct play *p, const uint32_t *x, double *ret_score)
{
    uint32_t best[MOST_CLASSES], n = 0;
    double top = -INFINITY;
    for (uint32_t k = 0; k < p->t->classes; k++) {
        ret_score[k] = 0;
        for (size_t i = (size_t)k * p->weak; i < (size_t)(k + 1) * p->weak; i++) {
            p->output[i] = bayes_output(&p->bayes[i], p->t, p->f, x);
            ret_score[k] += p->alpha[i] * p->output[i];
        }
        if (ret_score[k] > top)
            n = 0;
        top = fmax(top, ret_score[k]);
        if (ret_score[k] == top)
            best[n++] = k;
    }
    return best[p->f->ties_first ? 0 : rng_below(&p->chance, n)];
}

static void boost_learn(struct play *p, const uint32_t *x, uint32_t shown, bool right, double probability, double score)
{
    const double gamma = 0.1, theta = gamma / (2 + gamma);
    double z = 0, y = right ? 1 : -1, sum = 0, eta = pow(p->f->delta, 3) / p->t->classes;
    double *alpha = p->alpha + (size_t)shown * p->weak, *output = p->output + (size_t)shown * p->weak;
    for (uint32_t n = 0; n < p->weak; n++) {
        double weight = fmin(pow(1 - gamma, z / 2), 1) / (p->f->importance ? probability : 1);
        bayes_learn(&p->bayes[(size_t)shown * p->weak + n], p->t, p->f, x, right, weight);
        z += y * output[n] - theta;
    }
    if (y * score >= theta)
        return;
    for (uint32_t n = 0; n < p->weak; n++)
        sum += alpha[n] *= exp(eta * y * output[n] / probability);
    for (uint32_t n = 0; n < p->weak; n++)
        alpha[n] /= sum;
}

static void cova_learn(struct play *p, const uint32_t *x, uint32_t shown, bool right)
{
    for (uint32_t k = 0; k < p->t->classes; k++)
        if (k == shown || (right && !p->f->lone))
            bayes_learn(&p->bayes[k], p->t, p->f, x, right && k == shown, 1);
}

static bool round_play(struct play *p, const uint32_t *x, uint32_t label)
{
    double score[MOST_CLASSES], delta = p->f->weak ? p->f->delta : 0;
    uint32_t greedy = greedy_label(p, x, score), shown = greedy;
    if (p->f->weak && rng_uniform(&p->chance) < delta)
        shown = (uint32_t)rng_below(&p->chance, p->t->classes);
    double probability = (shown == greedy ? 1 - delta : 0) + delta / p->t->classes;
    if (p->f->weak)
        boost_learn(p, x, shown, shown == label, probability, score[shown]);
    else
        cova_learn(p, x, shown, shown == label);
    return shown == label;
}

/* The error of one random order in %. */
static double pass(struct play *p, uint64_t seed)
{
    struct order order;
    uint32_t wrong = 0;
    if (!order_init(&order, p->t->rows, seed))
        exit(1);
    order_shuffle(&order);
    p->chance.state = seed;
    for (size_t i = 0; i < (size_t)p->t->classes * p->weak; i++) {
        bayes_begin(&p->bayes[i], p->t, p->f);
        p->alpha[i] = 1.0 / p->weak;
    }
    for (uint32_t i = 0; i < order.rows; i++)
        wrong += !round_play(p, p->t->value + (size_t)order.row[i] * p->t->attributes, p->t->label[order.row[i]]);
    order_free(&order);
    return 100.0 * wrong / p->t->rows;
}

static void study(const struct table *t, const struct form *f)
{
    uint32_t weak = f->weak ? f->weak : 1;
    size_t n = (size_t)t->classes * weak;
    struct play p = {t, f, room(n, sizeof *p.bayes), room(n, sizeof(double)), room(n, sizeof(double)), {0}, weak};
    double *counts = room(4 * n * t->values, sizeof *counts), sum = 0, squares = 0, low = 100, high = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t y = 0; y < 2; y++) {
            p.bayes[i].count[y] = counts + (4 * i + y) * t->values;
            p.bayes[i].log[y] = counts + (4 * i + 2 + y) * t->values;
        }
    for (uint32_t r = 0; r < f->runs; r++) {
        double error = pass(&p, r);
        sum += error;
        squares += error * error;
        low = fmin(low, error);
        high = fmax(high, error);
    }
    double mean = sum / f->runs, sd = sqrt(fmax(0, squares - sum * mean) / fmax(1, f->runs - 1.0));
    printf("%.1f ± %.1f, runs from %.1f to %.1f (%u attributes)\n", mean, sd, low, high, t->attributes);
    free(counts);
    free(p.bayes);
    free(p.alpha);
    free(p.output);
}

static const char help[] = "Usage: naive-bayes-study [--smooth S] [--hard] [--ties-first] [--lone] [--runs N]\n"
                           "                         [--boost N --delta D [--importance]] FILE\n";

static bool option_take(struct form *f, int option)
{
    f->smooth = option == 's' ? atof(optarg) : f->smooth;
    f->delta = option == 'd' ? atof(optarg) : f->delta;
    f->weak = option == 'b' ? (uint32_t)atoi(optarg) : f->weak;
    f->runs = option == 'r' ? (uint32_t)atoi(optarg) : f->runs;
    f->hard = f->hard || option == 'h';
    f->ties_first = f->ties_first || option == 't';
    f->importance = f->importance || option == 'i';
    f->lone = f->lone || option == 'l';
    return option != '?';
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"smooth", required_argument, NULL, 's'},
                                          {"delta", required_argument, NULL, 'd'},
                                          {"boost", required_argument, NULL, 'b'},
                                          {"runs", required_argument, NULL, 'r'},
                                          {"hard", no_argument, NULL, 'h'},
                                          {"ties-first", no_argument, NULL, 't'},
                                          {"importance", no_argument, NULL, 'i'},
                                          {"lone", no_argument, NULL, 'l'},
                                          {0}};
    struct form form = {.runs = 10};
    struct corpus_options read = {.stream = STREAM_OPTIONS_INIT};
    struct corpus corpus;
    hunch_error error;
    bool good = true;
    for (int option; good && (option = getopt_long(argc, argv, "", known, NULL)) != -1;)
        good = option_take(&form, option);
    if (!good || optind + 1 != argc || !form.runs) {
        fputs(help, stderr);
        return 2;
    }
    char *found = stream_find(argv[optind]); /* in the folders of HUNCH_DATA */
    const char *path = found ? found : argv[optind];
    hunch_status status = corpus_read(&corpus, &path, 1, &read, &error);
    free(found);
    if (status) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    if (corpus.data.classes > MOST_CLASSES) {
        fputs("too many classes\n", stderr);
        return 1;
    }
    struct table table = table_of(&corpus.data);
    study(&table, &form);
    free(table.value);
    free(table.values_of);
    corpus_free(&corpus);
    return 0;
}
