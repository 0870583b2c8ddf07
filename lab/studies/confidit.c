/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A study, not a learner of the library: Confidit with diagonal matrices and without projection (version 5 of Crammer
 * and Gentile 2013) that learns only from mistakes, that is when the sign of the shown label's score is wrong. The
 * paper says that of its learners all but AROW are "mistake driven (at most)"; its Algorithm 1 learns in every round.
 * What came out is in the notes of experiments/confidit-table-3.json.
 *
 * Ten epochs over nine tenths of the rows, every example scaled to length 1; the test error of the greedy label on the
 * last tenth, against true labels.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"
#include "order.h"
#include "splitmix.h"

struct study {
    const struct block *rows;
    uint32_t classes, width, *label; /* label: as told, with noise */
    float *w, *a;                    /* classes x width */
    double eta;
    bool always; /* learn in every round, as Algorithm 1 */
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

static double row_scale(const struct block *b, uint32_t row)
{
    double squares = 0;
    for (int64_t i = b->start[row]; i < b->start[row + 1]; i++)
        squares += (double)b->value[i] * b->value[i];
    return squares > 0 ? 1 / sqrt(squares) : 0;
}

/* The label with the largest score and bonus; eta 0: the greedy one. */
static uint32_t choose(const struct study *s, uint32_t row, double scale, double eta, double *ret_score)
{
    const struct block *b = s->rows;
    uint32_t best = 0;
    double top = -INFINITY;
    for (uint32_t k = 0; k < s->classes; k++) {
        const float *w = s->w + (size_t)k * s->width, *a = s->a + (size_t)k * s->width;
        double score = 0, variance = 0;
        for (int64_t i = b->start[row]; i < b->start[row + 1]; i++) {
            double x = b->value[i] * scale;
            score += w[b->index[i]] * x;
            variance += x * x / a[b->index[i]];
        }
        if (score + sqrt(eta * variance) > top) {
            top = score + sqrt(eta * variance);
            best = k;
            *ret_score = score;
        }
    }
    return best;
}

static bool learn(const struct study *s, uint32_t row)
{
    const struct block *b = s->rows;
    double score = 0, scale = row_scale(b, row);
    uint32_t shown = choose(s, row, scale, s->eta, &score);
    double y = shown == s->label[row] ? 1 : -1;
    if (!s->always && y * score > 0)
        return false;
    float *w = s->w + (size_t)shown * s->width, *a = s->a + (size_t)shown * s->width;
    for (int64_t i = b->start[row]; i < b->start[row + 1]; i++) {
        uint32_t j = b->index[i];
        double x = b->value[i] * scale, sum = a[j] + x * x;
        w[j] = (float)((a[j] * w[j] + y * x) / sum);
        a[j] = (float)sum;
    }
    return true;
}

static void study(struct study *s, uint32_t epochs, double noise)
{
    uint32_t rows = (uint32_t)s->rows->rows, train = rows - rows / 10, wrong = 0;
    uint64_t chance = 7, updates = 0;
    struct order order, part;
    if (!order_init(&order, rows, 1) || !order_init(&part, train, 2))
        exit(1);
    order_shuffle(&order);
    for (uint32_t i = 0; i < rows; i++)
        s->label[i] =
            splitmix_uniform(&chance) < noise ? (uint32_t)splitmix_below(&chance, s->classes) : s->rows->label[i];
    for (size_t i = 0; i < (size_t)s->classes * s->width; i++)
        s->a[i] = 1;
    for (uint32_t e = 0; e < epochs; e++) {
        order_shuffle(&part);
        for (uint32_t i = 0; i < train; i++)
            updates += learn(s, order.row[part.row[i]]);
    }
    for (uint32_t i = train; i < rows; i++) {
        double score;
        wrong += choose(s, order.row[i], row_scale(s->rows, order.row[i]), 0, &score) != s->rows->label[order.row[i]];
    }
    printf("eta %g, noise %g, %s: test error %.2f %%, learned in %.1f %% of the rounds\n", s->eta, noise,
           s->always ? "every round" : "mistakes only", 100.0 * wrong / (rows - train),
           100.0 * (double)updates / ((double)train * epochs));
    order_free(&order);
    order_free(&part);
}

int main(int argc, char **argv)
{
    struct corpus_options read = {.stream = STREAM_OPTIONS_INIT};
    struct corpus corpus;
    hunch_error error;
    if (argc != 5 || (strcmp(argv[4], "mistakes") != 0 && strcmp(argv[4], "always") != 0)) {
        fputs("Usage: confidit-study FILE ETA NOISE mistakes|always\n", stderr);
        return 2;
    }
    char *found = stream_find(argv[1]); /* in the folders of HUNCH_DATA */
    const char *path = found ? found : argv[1];
    hunch_status status = corpus_read(&corpus, &path, 1, &read, &error);
    free(found);
    if (status) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    const struct dataset *d = &corpus.data;
    size_t cells = (size_t)d->classes * d->width;
    struct study s = {&d->block,
                      d->classes,
                      d->width,
                      room(d->block.rows, sizeof *s.label),
                      room(cells, sizeof *s.w),
                      room(cells, sizeof *s.a),
                      atof(argv[2]),
                      !strcmp(argv[4], "always")};
    study(&s, 10, atof(argv[3]));
    free(s.label);
    free(s.w);
    free(s.a);
    corpus_free(&corpus);
    return 0;
}
