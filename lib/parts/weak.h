/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Banks of weak binary learners for boosting: N per class, with outputs h in [-1, 1] and weighted updates (x, y, w).
 * With x^ = x/|x|:
 *   perceptron   h = clip((u + v).x^ / max(1, |u|)), with output=sign its sign; if y h <= 0: u += w y x^. v is a fixed
 *                random direction, different for each learner, without which all of them would be the same.
 *   naive-bayes  see naive_bayes.h
 *   gd           h = clip(u.x^); always u += rate/sqrt(m) w y x^ at the m-th update, then u back to the unit ball.
 * gd's u is kept as scale * U, so that bringing it back costs nothing per feature.
 *
 * Learners are asked and taught in blocks of WEAK_BLOCK: first .. first+n-1 of one class, first a multiple of it.
 */
#ifndef WEAK_H
#define WEAK_H

#include "state/algo.h"

#define WEAK_BLOCK 64

enum { WEAK_PERCEPTRON, WEAK_NAIVE_BAYES, WEAK_GD };
extern const char *const weak_choices[], *const weak_outputs[];

/* Settings and tensors that an algorithm over weak learners begins its tables with. */
enum { WEAK_KIND, WEAK_N, WEAK_INIT, WEAK_OUTPUT, WEAK_RATE, WEAK_SMOOTH, WEAK_SETTINGS };
/* clang-format off */
enum {
    WEAK_U, WEAK_V, WEAK_NORM2, WEAK_SCALE, WEAK_COUNT,                /* perceptron and gd */
    WEAK_NO, WEAK_YES, WEAK_ODDS, WEAK_SEEN, WEAK_TOTALS, WEAK_VOCABULARY, /* naive-bayes */
    WEAK_TENSORS
};

#define WEAK_SETTING_TABLE(count)                                                                                          \
    SETTING_CHOICE("weak", "perceptron", weak_choices, "the weak learner"),                                           \
        SETTING_INTEGER("N", count, 1, 10000, "weak learners per class"),                                             \
        SETTING_REAL("init", "1", 0, 1e3, "perceptron: size of the random direction that each starts from"),          \
        SETTING_CHOICE("output", "score", weak_outputs, "perceptron: its score cut to [-1, 1], or the score's sign"), \
        SETTING_REAL("rate", "1", 1e-9, 1e6, "gd: size of the first step"), NAIVE_BAYES_SETTING_SMOOTH

#define WEAK_TENSOR_TABLE                                                                                             \
    {"u", PER_FEATURE, CLASSES, 1, 0, MERGE_MEAN}, {"v", PER_FEATURE, CLASSES, 1, 0, MERGE_DERIVE},                     \
        {"norm2", PER_MODEL, CLASSES, 1, 0, MERGE_DERIVE}, {"scale", PER_MODEL, CLASSES, 1, 1, MERGE_MEAN},             \
        {"count", PER_MODEL, CLASSES, 1, 0, MERGE_SUM}, {"no", PER_FEATURE, CLASSES, 1, 0, MERGE_SUM},                \
        {"yes", PER_FEATURE, CLASSES, 1, 0, MERGE_SUM}, {"odds", PER_FEATURE, CLASSES, 1, 0, MERGE_DERIVE},             \
        {"seen", PER_FEATURE, 1, 1, 0, MERGE_SUM}, {"totals", PER_MODEL, CLASSES, 1, 0, MERGE_SUM},                   \
        {"vocabulary", PER_MODEL, 1, 1, 0, MERGE_DERIVE}
/* clang-format on */

/* What a block was asked, kept until it is taught. */
struct weak_block {
    uint32_t k;
    size_t first, n;
    _Alignas(64) real h[WEAK_BLOCK]; /* outputs */
    _Alignas(64) real u[WEAK_BLOCK]; /* u.x^ */
};

/* How many learners the block at `first` has. */
static inline size_t weak_block_size(const struct state *s, size_t first)
{
    size_t left = (size_t)setting_number(s, WEAK_N) - first;
    return left < WEAK_BLOCK ? left : WEAK_BLOCK;
}

void weak_shape(const struct state *s, int tensor, struct tensor *inout);
void weak_derive(struct state *s);
extern const struct extra weak_extra;

void weak_ask(const struct state *s, uint32_t k, size_t first, const struct vec *x, struct weak_block *ret);
/* Once after a round's updates. */
void weak_meet(struct state *s, const struct vec *x);
/* Update learner i of the block with (x, y, w), for weight[i] = y w; not at all where it is 0. */
void weak_teach(struct state *s, const struct weak_block *b, const struct vec *x, const double *weight);

#endif
