/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clouds: classes as normal distributions around their means, for finding classes where there are many (the project's
 * own). See docs/reference/algorithms/clouds.md.
 *
 * Examples of a class are normal around its mean, with the same covariance in every class; the means are normal around
 * the mean of all examples. Both covariances are learned, and y is the example in the coordinates in which the first is
 * the identity and the second taken for diagonal, r_j in direction j. A class that was right n times, its y adding up
 * to Y, is expected in direction j around m_j = r_j Y_j/(n r_j + 1) with the variance 1 + r_j/(n r_j + 1); one that was
 * never right around 0 with 1 + r_j, which is the same for n = 0. The predicted label is the one under which y is most
 * likely: so an example that is far from all known classes is taken for one of an unknown class, and gets a label
 * that was never right.
 *
 * Which of these? A label that was refuted on an example like this one is not the right one here either. Let L be how
 * much more likely y is if it is of the class of a refuted example (n = 1) than if it is of none that was met (n = 0);
 * of K classes, its own is as likely as any other. Each label that was never right loses log(1 + L/K) for every example
 * that it was refuted on.
 *
 * y = F^-1 (x - mean), F F' = (W + a S/2)/(N - c + a) for the sum W of squared differences of the N examples that were
 * answered right from the means of their c classes, S the covariance of all examples and a the number of directions;
 * r_j is what S has there beyond 1. Set again after 16, 24, 36 ... examples. The last 32 K (at most 4,096) refuted
 * examples are kept.
 *
 * Examples of more than 64 features are projected on 64 directions, z = B'x. Row j of B is at first e_j, for j >= 64 a
 * random one of the e_j with a random sign; after 256 examples B becomes orth(sum x z'), one step of orthogonal
 * iteration towards the directions in which examples differ most. All but the sums of the classes is then collected again.
 */
#include <math.h>
#include <string.h>

#include "base/exact.h"
#include "numeric/cholesky.h"
#include "state/explore.h"
#include "state/linear.h"

enum { FROM };
enum {
    HITS,
    SUMS,
    RIGHT_SQUARES,
    ALL_SUM,
    ALL_SQUARES,
    SEEN,
    PARTS,
    COUNTS,
    CENTRE,
    FACTOR,
    BETWEEN,
    SHARPNESS,
    PULL,
    CONSTANT,
    REFUTED,
    REFUTED_LABEL,
    REFUTED_VIEW,
    REFUTED_LENGTH,
    BASIS,
    WIDE_SUMS
};
enum { WIDE, NEXT, USED, FACTORED, KEPT, AT, COUNTERS };

#define DIRECTIONS 64
#define WIDE_ROWS 256 /* examples of more features, before directions are taken from them */
#define FIRST 16      /* examples before the first setting of coordinates ... */
#define NEXT_MAX 1e15 /* ... and before the last, whatever a file says */
#define REFUTED_PER_CLASS 32
#define REFUTED_MAX 4096
#define RIDGE 1e-4       /* of the mean variance: columns that never change have some, too */
#define BETWEEN_MIN 0.01 /* r_j */
#define UNLIKELY (-8)    /* log L below which a refuted example says nothing */
#define LIKELY 50        /* and beyond which it says all */

static const hunch_setting settings[] = {
    SETTING_INTEGER("from", "2", 1, 1e9, "smallest number of classes with which it learns"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"hits", PER_MODEL, 1, CLASSES, 0, MERGE_SUM},
    {"sums", PER_MODEL, DIRECTIONS, CLASSES, 0, MERGE_SUM},             /* B' of those */
    {"right_squares", PER_MODEL, DIRECTIONS, DIRECTIONS, 0, MERGE_SUM}, /* sum of their x x', lower triangle */
    {"all_sum", PER_MODEL, 1, DIRECTIONS, 0, MERGE_SUM},
    {"all_squares", PER_MODEL, DIRECTIONS, DIRECTIONS, 0, MERGE_SUM},
    {"seen", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"parts", PER_MODEL, 1, 1, 0, MERGE_SUM}, /* learners that this one was made of, if they have seen anything */
    {"counts", PER_MODEL, 1, COUNTERS, 0, MERGE_MEAN}, /* from here on computed from other tensors: see derive */
    {"centre", PER_MODEL, 1, DIRECTIONS, 0, MERGE_MEAN},
    {"factor", PER_MODEL, DIRECTIONS, DIRECTIONS, 0, MERGE_MEAN},      /* F */
    {"between", PER_MODEL, 1, DIRECTIONS, 0, MERGE_MEAN},              /* r */
    {"sharpness", PER_MODEL_REAL, DIRECTIONS, CLASSES, 0, MERGE_MEAN}, /* 1/variance of direction j in class k, */
    {"pull", PER_MODEL_REAL, DIRECTIONS, CLASSES, 0, MERGE_MEAN},      /* m_j/variance, */
    {"constant", PER_MODEL, 1, CLASSES, 0, MERGE_MEAN},                /* sum of m_j^2/variance + log variance */
    {"refuted", PER_MODEL_REAL, 1, DIRECTIONS, 0, MERGE_MEAN},
    {"refuted_label", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    {"refuted_view", PER_MODEL_REAL, 1, DIRECTIONS, 0, MERGE_MEAN}, /* m_j/sd, for n = 1 */
    {"refuted_length", PER_MODEL, 1, 1, 0, MERGE_MEAN},             /* its square */
    {"basis", PER_FEATURE, 1, DIRECTIONS, 0, MERGE_SUM},            /* the sum of x z'; from WIDE_ROWS examples on B */
    {"wide_sums", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},           /* of the examples that were right, by class */
    TENSORS_END,
};

static size_t refuted_max(uint32_t K)
{
    return K < REFUTED_MAX / REFUTED_PER_CLASS ? REFUTED_PER_CLASS * (size_t)K : REFUTED_MAX;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (s->K < setting_number(s, FROM))
        inout->kind = ABSENT;
    if (tensor == REFUTED || tensor == REFUTED_VIEW)
        inout->groups = refuted_max(s->K);
    if (tensor == REFUTED_LABEL || tensor == REFUTED_LENGTH)
        inout->lanes = refuted_max(s->K);
}

static bool learns(const struct state *s)
{
    return s->tensor[HITS].kind != ABSENT;
}

static double *counter(const struct state *s, int which)
{
    return model_numbers(s, COUNTS) + which;
}

/* A number from a file may be anything. */
static size_t whole(double number, size_t max)
{
    return number >= 0 && number < (double)max ? (size_t)number : max;
}

static size_t factored(const struct state *s)
{
    return whole(*counter(s, FACTORED), DIRECTIONS);
}

static size_t kept(const struct state *s)
{
    return whole(*counter(s, KEPT), s->tensor[REFUTED].groups);
}

/* The label of a refuted example, if it still has to be found; else K. */
static uint32_t refuted_label(const struct state *s, size_t i)
{
    uint32_t label = (uint32_t)whole(model_numbers(s, REFUTED_LABEL)[i], s->K);
    return label < s->K && model_numbers(s, HITS)[label] == 0 ? label : s->K;
}

static real *reals_row(const struct state *s, int tensor, size_t row)
{
    return s->tensor[tensor].reals + row * s->tensor[tensor].padded;
}

/* --- coordinates --- */

static bool has_directions(const struct state *s)
{
    return *counter(s, WIDE) >= WIDE_ROWS;
}

/* inout += value times row j of B */
static void direction_add(const struct state *s, uint32_t j, double value, double *inout)
{
    if (has_directions(s)) {
        const real *row = linear_row(s, BASIS, j);
        for (size_t i = 0; i < DIRECTIONS; i++)
            inout[i] += value * row[i];
    } else if (j < DIRECTIONS) {
        inout[j] += value;
    } else {
        struct rng mix = {j};
        uint64_t bits = rng_next(&mix);
        inout[bits % DIRECTIONS] += bits >> 63 ? value : -value;
    }
}

/* z; returns how many of its numbers may be other than 0. */
static size_t directions_of(const struct state *s, const struct vec *x, double *ret)
{
    size_t used = x->n ? (size_t)vec_index(x, x->n - 1) + 1 : 0;
    memset(ret, 0, DIRECTIONS * sizeof *ret);
    for (size_t i = 0; i < x->n; i++)
        direction_add(s, vec_index(x, i), x->value[i], ret);
    return used > DIRECTIONS || has_directions(s) ? DIRECTIONS : used;
}

/* x becomes F^-1 (x - count centre) */
static void turn(const struct state *s, double count, double *inout)
{
    const double *centre = model_numbers(s, CENTRE);
    size_t n = factored(s);
    for (size_t j = 0; j < n; j++)
        inout[j] -= count * centre[j];
    cholesky_forward(model_numbers(s, FACTOR), n, DIRECTIONS, inout);
    memset(inout + n, 0, (DIRECTIONS - n) * sizeof *inout);
}

/* sum += x x', the lower triangle */
static void square_add(double *sum, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            sum[i * DIRECTIONS + j] += x[i] * x[j];
}

static void class_derive(struct state *s, uint32_t k)
{
    const double *r = model_numbers(s, BETWEEN), *sums = model_numbers(s, SUMS), n = model_numbers(s, HITS)[k];
    double Y[DIRECTIONS], constant = 0;
    for (size_t j = 0; j < DIRECTIONS; j++)
        Y[j] = sums[j * s->K + k];
    turn(s, n, Y);
    for (size_t j = 0; j < DIRECTIONS; j++) {
        double known = n * r[j] + 1, sharp = j < factored(s) ? known / (known + r[j]) : 0, m = r[j] * Y[j] / known;
        reals_row(s, SHARPNESS, j)[k] = (real)sharp;
        reals_row(s, PULL, j)[k] = (real)(sharp * m);
        constant += sharp > 0 ? sharp * m * m - exact_log(sharp) : 0;
    }
    model_numbers(s, CONSTANT)[k] = constant;
}

/* 1/variance for n = 1 */
static double sharpness_of_one(double r)
{
    return (r + 1) / (2 * r + 1);
}

static void refuted_derive(struct state *s, size_t i)
{
    const double *r = model_numbers(s, BETWEEN);
    double y[DIRECTIONS], length = 0;
    for (size_t j = 0; j < DIRECTIONS; j++)
        y[j] = reals_row(s, REFUTED, i)[j];
    turn(s, 1, y);
    for (size_t j = 0; j < DIRECTIONS; j++) {
        real *view = reals_row(s, REFUTED_VIEW, i) + j;
        *view = (real)(sqrt(sharpness_of_one(r[j])) * r[j] / (r[j] + 1) * y[j]);
        length += (double)*view * *view;
    }
    model_numbers(s, REFUTED_LENGTH)[i] = length;
}

/* --- setting coordinates --- */

/* S, the covariance of all examples; returns what is added to variances. */
static double all_covariance(const struct state *s, size_t n, double *ret)
{
    const double *sum = model_numbers(s, ALL_SUM), *squares = model_numbers(s, ALL_SQUARES),
                 seen = model_numbers(s, SEEN)[0];
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            ret[i * DIRECTIONS + j] = squares[i * DIRECTIONS + j] / seen - sum[i] / seen * (sum[j] / seen);
    for (size_t i = 0; i < n; i++)
        trace += fmax(ret[i * (DIRECTIONS + 1)], 0);
    return trace > 0 ? RIDGE * trace / (double)n : 1;
}

/* F F', the covariance within classes, from S. */
static void within_covariance(const struct state *s, size_t n, const double *all, double *ret)
{
    const double *hits = model_numbers(s, HITS), *sums = model_numbers(s, SUMS);
    double classes = 0, right = 0, prior = (double)n;
    memcpy(ret, model_numbers(s, RIGHT_SQUARES), DIRECTIONS * DIRECTIONS * sizeof *ret);
    for (uint32_t k = 0; k < s->K; k++) {
        if (hits[k] <= 0)
            continue;
        classes++;
        right += hits[k];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                ret[i * DIRECTIONS + j] -= sums[i * s->K + k] * sums[j * s->K + k] / hits[k];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double *w = ret + i * DIRECTIONS + j;
            *w = (*w + prior * all[i * DIRECTIONS + j] / 2) / (right - classes + prior);
        }
}

/* Row j of F^-1, for j = 0 .. n-1, as columns: inverse[i] has entry j at j * DIRECTIONS. */
static void factor_invert(const double *factor, size_t n, double *ret)
{
    double column[DIRECTIONS];
    for (size_t i = 0; i < n; i++) {
        memset(column, 0, sizeof column);
        column[i] = 1;
        cholesky_forward(factor, n, DIRECTIONS, column);
        for (size_t j = 0; j < n; j++)
            ret[j * DIRECTIONS + i] = column[j];
    }
}

/* r_j = (F^-1 S F'^-1)_jj - 1 */
static void between_set(struct state *s, size_t n, const double *all, double *inverse)
{
    double *r = model_numbers(s, BETWEEN);
    factor_invert(model_numbers(s, FACTOR), n, inverse);
    for (size_t j = 0; j < n; j++) {
        const double *row = inverse + j * DIRECTIONS;
        double sum = 0;
        for (size_t a = 0; a <= j; a++) {
            double inner = 0;
            for (size_t b = 0; b < a; b++)
                inner += all[a * DIRECTIONS + b] * row[b];
            sum += row[a] * (2 * inner + all[a * (DIRECTIONS + 1)] * row[a]);
        }
        r[j] = fmax(sum - 1, BETWEEN_MIN);
    }
}

static void coordinates_set(struct state *s)
{
    double all[DIRECTIONS * DIRECTIONS], room[DIRECTIONS * DIRECTIONS], *centre = model_numbers(s, CENTRE), largest = 0;
    size_t n = whole(*counter(s, USED), DIRECTIONS);
    double ridge = all_covariance(s, n, all);
    within_covariance(s, n, all, room);
    for (size_t j = 0; j < n; j++) {
        all[j * (DIRECTIONS + 1)] += ridge; /* to both: a column that never changes tells no classes apart */
        room[j * (DIRECTIONS + 1)] += ridge;
        centre[j] = model_numbers(s, ALL_SUM)[j] / model_numbers(s, SEEN)[0];
        largest = fmax(largest, room[j * (DIRECTIONS + 1)]);
    }
    cholesky_factor(room, n, DIRECTIONS, 0, 1e-9 * largest);
    memcpy(model_numbers(s, FACTOR), room, sizeof room);
    *counter(s, FACTORED) = (double)n;
    between_set(s, n, all, room);
    for (uint32_t k = 0; k < s->K; k++)
        if (model_numbers(s, HITS)[k] > 0)
            class_derive(s, k);
    for (size_t i = 0; i < kept(s); i++)
        refuted_derive(s, i);
}

static void coordinates_set_when_due(struct state *s)
{
    double seen = model_numbers(s, SEEN)[0], *next = counter(s, NEXT);
    if (seen < fmax(*next, FIRST))
        return;
    for (*next = fmax(*next, FIRST); *next <= seen && *next < NEXT_MAX;)
        *next = floor(*next * 1.5);
    coordinates_set(s);
}

/* --- directions --- */

/* Columns of BASIS become orthonormal: Y L'^-1 with L L' = Y'Y. */
static void basis_orthogonalise(struct state *s)
{
    double gram[DIRECTIONS * DIRECTIONS] = {0}, y[DIRECTIONS], largest = 0;
    for (uint32_t j = 0; j < s->features; j++) {
        const real *row = linear_row(s, BASIS, j);
        for (size_t i = 0; i < DIRECTIONS; i++)
            y[i] = row[i];
        square_add(gram, y, DIRECTIONS);
    }
    for (size_t i = 0; i < DIRECTIONS; i++)
        largest = fmax(largest, gram[i * (DIRECTIONS + 1)]);
    cholesky_factor(gram, DIRECTIONS, DIRECTIONS, 0, largest > 0 ? 1e-9 * largest : 1);
    for (uint32_t j = 0; j < s->features; j++) {
        real *row = linear_row(s, BASIS, j);
        for (size_t i = 0; i < DIRECTIONS; i++)
            y[i] = row[i];
        cholesky_forward(gram, DIRECTIONS, DIRECTIONS, y);
        for (size_t i = 0; i < DIRECTIONS; i++)
            row[i] = (real)y[i];
    }
}

/* The sums of the classes in the present directions; all else is collected again. The examples of a class count as if
 * all were its mean. */
static void directions_use(struct state *s)
{
    double *hits = model_numbers(s, HITS), *sums = model_numbers(s, SUMS), *squares = model_numbers(s, RIGHT_SQUARES);
    double wide = *counter(s, WIDE);
    memset(squares, 0, DIRECTIONS * DIRECTIONS * sizeof *squares);
    memset(model_numbers(s, ALL_SQUARES), 0, DIRECTIONS * DIRECTIONS * sizeof(double));
    memset(model_numbers(s, ALL_SUM), 0, DIRECTIONS * sizeof(double));
    memset(model_numbers(s, COUNTS), 0, COUNTERS * sizeof(double));
    model_numbers(s, SEEN)[0] = 0;
    *counter(s, WIDE) = wide;
    for (uint32_t k = 0; k < s->K; k++) {
        double z[DIRECTIONS] = {0};
        for (uint32_t j = 0; hits[k] > 0 && j < s->features; j++)
            direction_add(s, j, linear_row(s, WIDE_SUMS, j)[k], z);
        for (size_t i = 0; i < DIRECTIONS; i++) {
            sums[i * s->K + k] = z[i];
            z[i] /= sqrt(fmax(hits[k], 1));
        }
        square_add(squares, z, DIRECTIONS);
    }
}

static void note(struct state *s, const struct vec *x)
{
    if (!learns(s))
        return;
    double z[DIRECTIONS], *sum = model_numbers(s, ALL_SUM);
    size_t used = directions_of(s, x, z);
    if (!has_directions(s) && x->n && vec_index(x, x->n - 1) >= DIRECTIONS) {
        _Alignas(64) real narrow[DIRECTIONS];
        for (size_t i = 0; i < DIRECTIONS; i++)
            narrow[i] = (real)z[i];
        linear_add_all(s, BASIS, narrow, x);
        ++*counter(s, WIDE);
        if (has_directions(s)) {
            basis_orthogonalise(s);
            basis_orthogonalise(s);
            directions_use(s);
            used = directions_of(s, x, z);
        }
    }
    for (size_t i = 0; i < used; i++)
        sum[i] += z[i];
    square_add(model_numbers(s, ALL_SQUARES), z, used);
    *counter(s, USED) = fmax(*counter(s, USED), (double)used);
    model_numbers(s, SEEN)[0]++;
    model_numbers(s, PARTS)[0] = 1;
}

/* --- choosing --- */

/* What is lost by labels that were never right and refuted before. y: the example's; none: log likelihood for n = 0. */
static void refute(const struct state *s, const double *y, double none, real *inout)
{
    _Alignas(64) real view[DIRECTIONS], inner[REFUTED_MAX];
    const double *r = model_numbers(s, BETWEEN), *length = model_numbers(s, REFUTED_LENGTH);
    double base = -none;
    for (size_t j = 0; j < DIRECTIONS; j++) {
        double sharp = j < factored(s) ? sharpness_of_one(r[j]) : 0;
        view[j] = (real)(sqrt(sharp) * y[j]);
        base += sharp > 0 ? exact_log(sharp) / 2 - sharp * y[j] * y[j] / 2 : 0;
    }
    s->linear->dots(reals_row(s, REFUTED_VIEW, 0), s->tensor[REFUTED_VIEW].padded, DIRECTIONS, kept(s), view, inner);
    for (size_t i = 0; i < kept(s); i++) {
        double likely = base + inner[i] - length[i] / 2;
        uint32_t k = refuted_label(s, i);
        if (likely > UNLIKELY && k < s->K)
            inout[k] -= (real)exact_log1p(exact_exp(fmin(likely, LIKELY)) / s->K);
    }
}

/* Log likelihoods, beside that of a class that was never right. */
static void scores(const struct state *s, const struct vec *x, real *ret)
{
    memset(ret, 0, s->lanes * sizeof *ret);
    if (!learns(s) || !factored(s))
        return;
    _Alignas(64) float first[DIRECTIONS], second[DIRECTIONS];
    double y[DIRECTIONS], none = 0, best = -INFINITY;
    const double *r = model_numbers(s, BETWEEN), *hits = model_numbers(s, HITS);
    directions_of(s, x, y);
    turn(s, 1, y);
    for (size_t j = 0; j < DIRECTIONS; j++) {
        first[j] = (float)y[j];
        second[j] = (float)(y[j] * y[j]);
        none -= j < factored(s) ? (y[j] * y[j] / (1 + r[j]) + exact_log(1 + r[j])) / 2 : 0;
    }
    const struct vec pulled = {.value = first, .n = DIRECTIONS, .all = DIRECTIONS};
    const struct vec squared = {.value = second, .n = DIRECTIONS, .all = DIRECTIONS};
    size_t padded = s->tensor[PULL].padded;
    s->linear->scores(reals_row(s, PULL, 0), padded, padded, &pulled, ret);
    s->linear->scores(reals_row(s, SHARPNESS, 0), padded, padded, &squared, ret + s->lanes);
    bool unfound = false;
    for (uint32_t k = 0; k < s->K; k++) {
        double likely = ret[k] - (ret[s->lanes + k] + model_numbers(s, CONSTANT)[k]) / 2 - none;
        ret[k] = (real)(hits[k] > 0 ? likely : 0);
        best = hits[k] > 0 ? fmax(best, likely) : best;
        unfound |= hits[k] == 0;
    }
    if (unfound && best < 0) /* else a known class is likely */
        refute(s, y, none, ret);
}

static bool is_guess(const struct state *s, uint32_t label)
{
    return learns(s) && model_numbers(s, HITS)[label] == 0;
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    explore_predict_greedy(s, x, ret);
    ret->note = is_guess(s, ret->label) ? NOTE_GUESSED : 0;
}

/* --- learning --- */

/* Where the next one goes: the place of one whose label has been found since, or of the oldest. */
static size_t refuted_place(const struct state *s)
{
    size_t max = s->tensor[REFUTED].groups, at = whole(*counter(s, AT), max) % max;
    if (kept(s) < max)
        return kept(s);
    for (size_t i = 0; i < max; i++)
        if (refuted_label(s, (at + i) % max) == s->K)
            return (at + i) % max;
    return at;
}

static void refuted_keep(struct state *s, const double *x, uint32_t label)
{
    size_t at = refuted_place(s);
    for (size_t j = 0; j < DIRECTIONS; j++)
        reals_row(s, REFUTED, at)[j] = (real)x[j];
    model_numbers(s, REFUTED_LABEL)[at] = label;
    refuted_derive(s, at);
    *counter(s, AT) = (double)(at + 1);
    *counter(s, KEPT) = fmax(*counter(s, KEPT), (double)(at + 1));
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!learns(s))
        return;
    double z[DIRECTIONS], *hits = model_numbers(s, HITS), *sums = model_numbers(s, SUMS);
    size_t used = directions_of(s, x, z);
    if (!right && hits[c->label] == 0)
        refuted_keep(s, z, c->label);
    if (right) {
        hits[c->label]++;
        linear_add(s, WIDE_SUMS, c->label, 1, x);
        for (size_t j = 0; j < used; j++)
            sums[j * s->K + c->label] += z[j];
        square_add(model_numbers(s, RIGHT_SQUARES), z, used);
        class_derive(s, c->label);
    }
    coordinates_set_when_due(s);
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    note(s, x);
    learn(s, x, &(hunch_choice){.label = label, .prob = 1}, true);
}

/* Of two that have both seen something, coordinates follow from their sums; what was refuted is forgotten. So are
 * directions, which each has taken from its own examples. */
static void derive(struct state *s)
{
    if (!learns(s) || model_numbers(s, PARTS)[0] <= 1)
        return;
    bool wide = *counter(s, WIDE) > 0;
    memset(model_numbers(s, COUNTS), 0, COUNTERS * sizeof(double));
    model_numbers(s, PARTS)[0] = 1;
    for (uint32_t j = 0; wide && j < s->features; j++)
        memset(linear_row(s, BASIS, j), 0, DIRECTIONS * sizeof(real));
    if (wide)
        directions_use(s);
    for (size_t j = 0; j < DIRECTIONS; j++)
        if (model_numbers(s, ALL_SQUARES)[j * (DIRECTIONS + 1)] > 0)
            *counter(s, USED) = (double)(j + 1);
    coordinates_set_when_due(s);
}

const struct algo algo_clouds = {
    .info = {"clouds", "Gaussian class models with novelty detection", "this project", 0, settings},
    .tensors = tensors,
    .shape = shape,
    .note = note,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .is_guess = is_guess,
    .derive = derive,
};
