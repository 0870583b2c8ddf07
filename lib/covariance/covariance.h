/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a learner keeps of second moments, behind one interface: per class a matrix S_k (a covariance, or the inverse of
 * A_k = precision I + sum x x') beside the weights w_k. The forms, each a file of its own:
 *   diag    the diagonals only                      covariance_diag.c
 *   full    all of it                               covariance_full.c
 *   span    S_k in a basis that all classes share   covariance_span.c
 *   kernel  the examples themselves                 covariance_kernel.c, gram.c
 * An algorithm names its setting matrix=..., begins its tensor table with COVARIANCE_TABLE and takes a round's steps by
 *   covariance_read (scores and variances), covariance_load, covariance_step or covariance_regress, covariance_flush.
 * No form is asked for by name outside these files. matrix=auto is full while that fits the memory setting, then span.
 */
#ifndef COVARIANCE_H
#define COVARIANCE_H

#include "covariance/basis.h"
#include "state/second_moments.h"

/* The tensors that stand first in the algorithm's table; those of other forms are absent. */
enum {
    COVARIANCE_W,        /* weights */
    COVARIANCE_B,        /* diag, of those that keep sums: b, with W = b / A or -b / A */
    COVARIANCE_DIAGONAL, /* diag: of S, or of A where b is kept */
    COVARIANCE_FULL,     /* full */
    COVARIANCE_LOW,      /* full: the low-order parts of its numbers ("Drift" in matrix.h) */
    COVARIANCE_SPAN_U,   /* span: see basis.h; U follows W in a feature's row */
    COVARIANCE_SPAN_Y,
    COVARIANCE_SPAN_LAST,
    COVARIANCE_SPAN_A,
    COVARIANCE_SPAN_T,
    COVARIANCE_SPAN_SIGMA,
    COVARIANCE_SPAN_LAST_Z,
    COVARIANCE_SPAN_COUNTERS,
    COVARIANCE_TENSORS
};

/* Names as models have them: of the weights, of b, of the diagonal, of the full matrices. */
/* clang-format off */
#define COVARIANCE_TABLE(w, b, diagonal, full)                                                                         \
    {w, PER_FEATURE, 1, CLASSES, 0, MERGE_COVARIANCE}, {b, PER_FEATURE, 1, CLASSES, 0, MERGE_COVARIANCE},              \
    {diagonal, PER_FEATURE, 1, CLASSES, 1, MERGE_COVARIANCE}, {full, MATRIX, CLASSES, 1, 1, MERGE_COVARIANCE},         \
    {full "_low", MATRIX, CLASSES, 1, 0, MERGE_COVARIANCE},                                                            \
    {"span_U", PER_FEATURE, 1, 1, 0, MERGE_COVARIANCE}, {"span_Y", PER_FEATURE, 1, 1, 0, MERGE_COVARIANCE},            \
    {"span_last", PER_FEATURE, 1, 2, 0, MERGE_COVARIANCE}, {"span_A", PER_MODEL_REAL, 1, CLASSES, 0, MERGE_COVARIANCE}, \
    {"span_T", PER_MODEL_REAL, CLASSES, 1, 0, MERGE_COVARIANCE}, {"span_sigma", PER_MODEL, 1, CLASSES, 1, MERGE_COVARIANCE}, \
    {"span_last_z", PER_MODEL, 1, 1, 0, MERGE_COVARIANCE},                                                             \
    {"span_counters", PER_MODEL, 1, BASIS_COUNTERS, 0, MERGE_COVARIANCE}
/* clang-format on */

/* Of most learners. */
extern const char *const covariance_choices[]; /* matrix=diag, full or span */
#define COVARIANCE_SETTING_RANK                                                                                        \
    {                                                                                                                  \
        "rank", HUNCH_INTEGER, "auto", 1, BASIS_MAX, params_auto,                                                      \
            "matrix=span: directions kept, for all classes; auto: 64, or fewer where scale=auto finds text or a map"   \
    }

/* What a step does to a diagonal, where papers and their authors' code differ. */
enum covariance_rule {
    DIAGONAL_SUBTRACT, /* step: S_jj -= b (S_jj x_j)^2 */
    DIAGONAL_INVERT,   /* step: 1/S_jj += b/(1 - b v) x_j^2, which is the full step's change of S^-1 */
    DIAGONAL_RIDGE,    /* regress: w += S x (target - w.x)/(1 + v), 1/S_jj += x_j^2 */
    DIAGONAL_SOLVE,    /* regress: 1/S_jj += x_j^2, w_j = S_jj (w_j/S_jj,old + target x_j) */
    DIAGONAL_SUMS,     /* regress and joint steps: b_j += target x_j, A_jj += x_j^2, w_j = b_j/A_jj */
    DIAGONAL_NEGATIVE, /* the same with w_j = -b_j/A_jj */
};

/* An algorithm's use of all this. */
struct covariance_use {
    int setting;                                /* which one is matrix=...; -1: diag always */
    double (*precision)(const struct state *s); /* S = I / precision before the first example; NULL: 1 */
    enum covariance_rule rule;                  /* of the diagonal */
    bool (*wanted)(const struct state *s);      /* false: weights only; NULL: always wanted */
    bool joint;                                 /* one matrix over features times classes */
    int rank;                                   /* the setting with the directions of span */
    double (*density)(const struct state *s);   /* features per example, where a rank follows from it */
    int kernel;                                 /* the first of GRAM_SETTING_TABLE */
};

/* z = h (x) x / sqrt p, a vector over features times classes; h NULL: e_plus - e_minus. */
struct joint {
    const double *h;
    uint32_t plus, minus;
    double p;
};

/* --- for algorithms --- */

/* w_k.x of every class, for const calls */
void covariance_scores(const struct state *s, const struct vec *x, real *ret);
/* The same and x'S_k x, features that the state has never seen included; slow where S is full. */
void covariance_peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances);

/* w_k - w_l, by feature; false: there are no weights. */
bool covariance_weights_between(const struct state *s, uint32_t k, uint32_t l, real *ret);

/* s->scores = w_k.x~ and s->variances = x~'S_k x~ of every class, for x~ = scale x */
void covariance_read(struct state *s, const struct vec *x, double scale);
/* The scores only; then the variances of those classes that covariance_variance asks for, and what none of them can
 * exceed (infinite where all come with the scores anyway, or cost little). */
void covariance_read_scores(struct state *s, const struct vec *x, double scale);
double covariance_variance(struct state *s, uint32_t k);
double covariance_reach(const struct state *s);
/* After the scores: s->bounds = scores + sqrt(weight x~'S_k x~) of those classes of which it can be the largest; of the
 * others, the scores. */
void covariance_bounds(struct state *s, real weight);
/* Whether a step on x can change anything: examples without entries move only what keeps the examples themselves. */
bool covariance_moves(const struct state *s, const struct vec *x);
/* The steps to come, until flush, are taken on x~ = scale x. */
void covariance_load(struct state *s, const struct vec *x, double scale);
/* x~'S_k x~ + x~'S_l x~ where nothing was read */
double covariance_variance_pair(struct state *s, uint32_t k, uint32_t l);
/* w_k += c S_k x~, then S_k -= b S_k x~ x~'S_k; at most once a round for a class */
void covariance_step(struct state *s, uint32_t k, double c, double b);
/* w_k += shift S_k x, then a step of least squares: A_k += x x', b_k += target x, w_k = A_k^-1 b_k; score is w_k.x
 * after the shift. Returns x'A_k^-1 x after it. */
double covariance_regress(struct state *s, uint32_t k, double shift, double target, double score);
/* S_k += share (prior - S_k), after a step of this round: forgetting. Of span only. */
void covariance_decay(struct state *s, uint32_t k, double share);
/* All that was noted since load is done. */
void covariance_flush(struct state *s);

/* For learners with one matrix A over features times classes: z'A^-1 z, and the step b += first (h (x) x),
 * A += weight (h (x) x)(h (x) x)', W = A^-1 b, where inner is <h (x) x, W> before. Returns the change of W's squared
 * norm (of forms without weights: 0). */
void covariance_joint_load(struct state *s, const struct vec *x, const struct joint *z);
double covariance_joint_variance(struct state *s);
/* z'A^-1 z once more, after a step. */
double covariance_joint_after(struct state *s, const struct vec *x, const struct joint *z);
double covariance_joint_step(struct state *s, double first, double weight, double inner);
/* Of W = A^-1 b the point of the ball |W| <= radius with the least <b,W> - 1/2 <W,A W>, into the PER_FEATURE tensor
 * `into`: (A + mu I)^-1 b for the mu >= 0 with |W| = radius, or W itself where that lies within. *mu is where the
 * search starts, and what it found. */
void covariance_joint_ball(struct state *s, int into, double radius, double *mu);

/* --- for the forms --- */

struct covariance_form {
    const char *name;
    const struct extra *extra; /* what it keeps beside tensors; NULL: nothing */
    bool keeps_examples;       /* so that even one without entries counts */
    /* Whether the tensor is one of its own, with its shape. */
    bool (*shape)(const struct state *s, int tensor, struct tensor *inout);
    /* Scratch for K classes and `capacity` features: how much, and its beginning (memory is zero). NULL: none. */
    size_t (*room_size)(const struct state *s, uint32_t K, size_t capacity);
    void (*room_init)(const struct state *s, uint32_t K, size_t capacity, void *room);

    void (*scores)(const struct state *s, const struct vec *x, real *ret);
    void (*peek)(const struct state *s, const struct vec *x, real *ret, real *ret_variances);
    /* w_k - w_l by feature, where that is more than the tensor of weights tells. NULL: it is not. */
    void (*weights_between)(const struct state *s, uint32_t k, uint32_t l, real *ret);
    double (*unseen)(const struct state *s, uint32_t k); /* variance of a feature that comes; NULL: 1/precision */
    /* Scores and variances, which are not negative; where `variance` is given the scores alone. */
    void (*read)(struct state *s, const struct vec *x, double scale);
    double (*variance)(struct state *s, uint32_t k);
    double (*reach)(const struct state *s);
    void (*load)(struct state *s);
    double (*variance_pair)(struct state *s, uint32_t k, uint32_t l);
    void (*step)(struct state *s, uint32_t k, double c, double b);
    double (*regress)(struct state *s, uint32_t k, double shift, double target, double score);
    void (*flush)(struct state *s);
    void (*decay)(struct state *s, uint32_t k, double share); /* NULL: it cannot */
    double (*joint_variance)(struct state *s);
    double (*joint_step)(struct state *s, double first, double weight, double inner);
    /* W(mu) = (A + mu I)^-1 b into that tensor: its squared norm, and <W, (A + mu I)^-1 W>. */
    double (*joint_shrunk)(struct state *s, int into, double mu, double *ret_slope);
    hunch_status (*merge)(struct state *s, const struct state *other);
};

extern const struct covariance_form covariance_diag, covariance_full, covariance_span, covariance_kernel;

#define COVARIANCE_REACH 1.0001 /* rounding may leave a variance a little above its bound |x|^2/precision */

double covariance_precision(const struct state *s);
/* Directions of span; with rank=auto what suits the examples. */
size_t covariance_rank(const struct state *s);
/* s goes on as span, with what full matrices knew: all of it where there are no more features than directions, else how
 * wide they were. */
void covariance_span_begin(struct state *s, const struct state *before);
/* s has fewer directions than it had before: its weights are what they were, and all directions as sure as those that
 * were not among them. */
void covariance_span_narrow(struct state *s, const struct state *before);
/* For forms that read x itself: scores and variances of scale x. */
void covariance_rescale(struct state *s, double scale);

#endif
