/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix=span: the loops of its basis, and what its covariances promise. */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "covariance/basis.h"
#include "covariance/covariance.h"
#include "api/learner.h"
#include "state/linear.h"
#include "numeric/matrix.h"

static real uniform(struct rng *r)
{
    return (real)(2 * rng_uniform(r) - 1);
}

/* --- loops --- */

enum { ROWS = 37, STRIDE = 83, M = 19, RESULTS = 4 * M * M + 1 };

static void exercise(const struct basis_ops *ops, real *X, real *Y, double *ret)
{
    double *G = ret, *R = G + M * M, *C = R + M * M;
    uint8_t live[ROWS];
    const struct basis_rows rows = {STRIDE, ROWS, live};
    memset(live, 1, sizeof live);
    memset(ret, 0, RESULTS * sizeof *ret);
    ops->gram(X, X, &rows, M, G);
    ops->gram(X, Y, &rows, M, R);
    ops->product(M, R, R, false, C);
    ops->turn(Y, &rows, M, C);
    ops->project(Y, &rows, M - 1);
    const struct basis_square A = {X, M, STRIDE - M};
    ops->fold(Y + M, Y, &rows, &A);
    double *inverse = C + M * M;
    float g[M], z[M];
    for (size_t i = 0; i < M; i++) {
        g[i] = (float)X[i];
        z[i] = (float)X[STRIDE + i];
    }
    ops->gains(&(struct basis_step){0.3, 0.7}, g, z, M, Y);
    ops->shrink(0.1, g, M, Y + M);
    ops->decay(Y + 2 * M, M, (real)0.99);
    inverse[M * M] = ops->invert(G, M, inverse);
}

static void test_every_set_gives_the_same_bits(void **unused)
{
    static real X[ROWS * STRIDE], Y[2][ROWS * STRIDE];
    static double results[2][RESULTS];
    static const char *const names[] = {"avx2", "avx512"};
    (void)unused;
    for (int n = 0; n < 2; n++) {
        struct rng r = {11};
        if (!basis_ops(names[n]))
            continue;
        for (size_t i = 0; i < ROWS * STRIDE; i++) {
            X[i] = i / STRIDE % 5 == 3 ? 0 : uniform(&r); /* some rows are empty */
            Y[0][i] = Y[1][i] = i / STRIDE % 7 == 2 ? 0 : uniform(&r);
        }
        exercise(basis_ops("plain"), X, Y[0], results[0]);
        exercise(basis_ops(names[n]), X, Y[1], results[1]);
        assert_memory_equal(results[0], results[1], sizeof results[0]);
        assert_memory_equal(Y[0], Y[1], sizeof Y[0]);
    }
    assert_null(basis_ops("abacus"));
}

static void test_products_add_up(void **unused)
{
    static double A[M * M], B[M * M], all[M * M], lower[M * M];
    static const char *const names[] = {"plain", "avx2", "avx512"};
    struct rng r = {12};
    (void)unused;
    for (size_t i = 0; i < M * M; i++) {
        A[i] = uniform(&r);
        B[i] = uniform(&r);
    }
    for (int n = 0; n < 3; n++) {
        const struct basis_ops *ops = basis_ops(names[n]);
        if (!ops)
            continue;
        ops->product(M, A, B, false, all);
        ops->product(M, A, B, true, lower);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < M; j++) {
                double sum = 0;
                for (size_t z = 0; z < M; z++)
                    sum += A[i * M + z] * B[z * M + j];
                assert_true(fabs(sum - all[i * M + j]) < 1e-12);
                if (j <= i)
                    assert_true(lower[i * M + j] == all[i * M + j]);
            }
    }
}

/* L of G = L L' and its inverse, in columns; a column that the others make up is left out and told as nothing left. */
static void test_inverses_invert(void **unused)
{
    double X[ROWS][M], G[M * M], L[M * M], inverse[M * M];
    struct rng r = {13};
    (void)unused;
    for (size_t i = 0; i < ROWS * M; i++)
        X[i / M][i % M] = uniform(&r);
    for (int copied = 0; copied < 2; copied++) {
        for (size_t i = 0; i < M * M; i++) {
            G[i] = 0;
            for (size_t j = 0; j < ROWS; j++)
                G[i] += X[j][i / M] * X[j][i % M];
        }
        memcpy(L, G, sizeof L);
        double left = basis_ops("plain")->invert(L, M, inverse);
        assert_true(copied ? left == 0 : left > 1e-3 && left < 1);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j <= i; j++) {
                double square = 0, one = 0;
                for (size_t a = 0; a <= j; a++)
                    square += L[i * M + a] * L[j * M + a];
                for (size_t a = j; a <= i; a++)
                    one += L[i * M + a] * inverse[j * M + a];
                bool out = copied && (i == M - 1 || j == M - 1);
                assert_true(fabs(square - (out ? 0 : G[i * M + j])) < 1e-10);
                assert_true(fabs(one - (i == j && !out)) < 1e-10);
            }
        for (size_t j = 0; j < ROWS; j++)
            X[j][M - 1] = X[j][0] - X[j][1];
    }
}

/* --- a learner --- */

enum { K = 3, D = 40, ROUNDS = 3000 };

static hunch *learner(const char *spec)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = spec;
    options.classes = K;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    return h;
}

/* A class's centre, a few strong directions that tell nothing, and noise. */
static uint32_t example(struct rng *r, float *x)
{
    uint32_t y = (uint32_t)rng_below(r, K);
    real loud[4];
    for (int i = 0; i < 4; i++)
        loud[i] = 3 * uniform(r);
    for (uint32_t j = 0; j < D; j++)
        x[j] = (float)(loud[(j * 7) % 4] * ((j * 13) % 5 - 2.0) / 2 + uniform(r) + (j % K == y ? 0.7 : 0));
    return y;
}

static hunch_choice play(hunch *h, const float *x, uint32_t y)
{
    hunch_vec v = {NULL, x, D};
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &v, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &v, &c, c.label == y), HUNCH_OK);
    return c;
}

static void columns_are_orthonormal(const struct state *s, size_t m, double max)
{
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b <= a; b++) {
            double sum = -(double)(a == b);
            for (uint32_t j = 0; j < D; j++)
                sum += (double)linear_row(s, COVARIANCE_SPAN_U, j)[a] * linear_row(s, COVARIANCE_SPAN_U, j)[b];
            assert_true(fabs(sum) < max);
        }
}

/* x'S_k x for a few directions lies above 0 and not above |x|^2; U has orthonormal columns. */
static void covariances_are_sound(const hunch *h, struct rng *r)
{
    const struct state *s = &h->state;
    float x[D];
    real scores[SCORE_ROOM * 16], variances[16];
    const struct vec v = {.value = x, .n = D, .all = D};
    size_t m = s->tensor[COVARIANCE_SPAN_U].lanes;
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < D; j++)
            x[j] = i < 10 ? uniform(r) : linear_row(s, COVARIANCE_SPAN_U, (uint32_t)j)[i - 10];
        covariance_peek(s, &v, scores, variances);
        for (int k = 0; k < K; k++)
            assert_true(variances[k] > 0 && variances[k] <= (real)1.0001 * vec_norm2(&v));
    }
    columns_are_orthonormal(s, m, 1e-5);
}

static void test_covariances_stay_positive_and_below_the_prior(void **unused)
{
    hunch *h = learner("confident:matrix=span,rank=12");
    struct rng r = {5}, other = {6};
    float x[D];
    double dimension = 0;
    (void)unused;
    for (int t = 1; t <= ROUNDS; t++) {
        uint32_t y = example(&r, x);
        play(h, x, y);
        if (t > 100 && t % 250 == 0)
            covariances_are_sound(h, &other);
    }
    assert_int_equal(hunch_get(h, "span_counters", 0, BASIS_DIMENSION, &dimension), HUNCH_OK);
    assert_true(dimension >= 1 && dimension <= D - 12);
    double next = 0;
    assert_int_equal(hunch_get(h, "span_counters", 0, BASIS_NEXT, &next), HUNCH_OK);
    assert_true(next > 1000); /* the basis was renewed, again and again */
    hunch_free(h);
}

/* Examples that those before nearly make up: a new column is what is left of them, which is found twice. */
static void test_columns_that_come_are_orthonormal(void **unused)
{
    hunch *h = learner("confident:matrix=span,rank=16");
    struct rng r = {17};
    float x[D];
    double used = 0;
    (void)unused;
    for (int t = 0; used < 16; t++) {
        for (int j = 0; j < D; j++)
            x[j] = (float)j / D + 0.04f * (float)uniform(&r);
        play(h, x, (uint32_t)t % K);
        assert_int_equal(hunch_get(h, "span_counters", 0, BASIS_USED, &used), HUNCH_OK);
        columns_are_orthonormal(&h->state, (size_t)used, 1e-6);
        assert_true(t < 100);
    }
    hunch_free(h);
}

static void test_rank_of_all_features_is_the_full_form(void **unused)
{
    hunch *span = learner("confident:matrix=span,rank=40"), *full = learner("confident:matrix=full");
    struct rng r = {7};
    float x[D], one[K], two[K];
    int labels = 0;
    (void)unused;
    for (int t = 0; t < 600; t++) {
        uint32_t y = example(&r, x);
        hunch_vec v = {NULL, x, D};
        assert_int_equal(hunch_scores(span, &v, one), HUNCH_OK);
        assert_int_equal(hunch_scores(full, &v, two), HUNCH_OK);
        for (int k = 0; k < K; k++)
            assert_true(fabsf(one[k] - two[k]) < 2e-3f * (1 + fabsf(two[k])));
        labels += play(span, x, y).label != play(full, x, y).label;
    }
    assert_int_equal(labels, 0);
    hunch_free(span);
    hunch_free(full);
}

/* Three attributes of `each` categories, the first of which tells the class. */
static void categories_play(hunch *h, struct rng *r, uint32_t each)
{
    uint32_t index[3];
    const float one[] = {1, 1, 1};
    for (uint32_t i = 0; i < 3; i++)
        index[i] = i * each + (uint32_t)rng_below(r, each);
    const hunch_vec x = {index, one, 3};
    uint32_t y = index[0] % K;
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
}

/* Of few columns pairs have more directions than of many; a learner of either kind is saved and goes on as it was. */
static void test_pairs_of_many_columns_take_fewer_directions(void **unused)
{
    (void)unused;
    for (uint32_t each = 7; each <= 9; each += 2) {
        hunch *h = learner("confident:matrix=span,scale=auto,map=pairs"), *loaded = NULL;
        uint32_t rank = each == 7 ? 112 : 72;
        struct rng r = {19}, again;
        void *bytes;
        size_t size;
        for (int t = 0; t < 600; t++) {
            categories_play(h, &r, each);
            assert_int_equal(h->state.covariance.rank, t < 15 ? 112 : rank);
        }
        again = r;
        assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&loaded, bytes, size, NULL), HUNCH_OK);
        assert_int_equal(loaded->state.covariance.rank, rank);
        hunch_free_bytes(bytes);
        for (int t = 0; t < 300; t++) {
            categories_play(h, &r, each);
            categories_play(loaded, &again, each);
        }
        const uint32_t index[] = {1, each, 2 * each};
        const float one[] = {1, 1, 1};
        const hunch_vec x = {index, one, 3};
        float want[K], got[K];
        assert_int_equal(hunch_scores(h, &x, want), HUNCH_OK);
        assert_int_equal(hunch_scores(loaded, &x, got), HUNCH_OK);
        assert_memory_equal(got, want, sizeof want);
        assert_true(want[1] > want[0] && want[1] > want[2]);
        hunch_free(loaded);
        hunch_free(h);
    }
}

/* Counters that a model file may claim: nothing is read or written beside the tensors (for sanitizers to see). */
static void test_absurd_counters_do_no_harm(void **unused)
{
    static const double absurd[] = {1e18, -1e18, NAN, INFINITY};
    struct rng r = {13};
    float x[D];
    (void)unused;
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < BASIS_COUNTERS; c++) {
            hunch *h = learner("confident:matrix=span,rank=6");
            for (int t = 0; t < 60; t++) {
                uint32_t y = example(&r, x);
                if (t == 30)
                    model_numbers(&h->state, COVARIANCE_SPAN_COUNTERS)[c] = absurd[i];
                if (t == 40)
                    assert_int_equal(hunch_add_classes(h, 2), HUNCH_OK);
                play(h, x, y);
            }
            hunch_free(h);
        }
}

/* Examples so long that nothing but roundings is left of T along them. */
static void test_long_examples_leave_numbers_finite(void **unused)
{
    static const char *const specs[] = {"perceptron2:matrix=span", "perceptron2:matrix=span,rank=5",
                                        "linucb:matrix=span,rank=5", "arow:matrix=span,rank=5"};
    struct rng r = {17};
    (void)unused;
    for (int i = 0; i < 4; i++) {
        hunch *h = learner(specs[i]);
        for (int t = 0; t < 200; t++) {
            float x[D], scores[K];
            hunch_vec v = {NULL, x, D};
            for (int j = 0; j < D; j++) {
                double u = rng_uniform(&r);
                x[j] = j >= 12 || u < 0.6 ? 0 : u < 0.8 ? 1e13f : -1e13f;
            }
            assert_int_equal(hunch_teach(h, &v, (uint32_t)t % K), HUNCH_OK);
            assert_int_equal(hunch_scores(h, &v, scores), HUNCH_OK);
            for (int k = 0; k < K; k++)
                assert_true(isfinite(scores[k]));
        }
        hunch_free(h);
    }
}

/* With fewer, it is nearer to the full form than the diagonal is. */
static void test_few_directions_are_worth_it(void **unused)
{
    static const char *const specs[] = {"confident:matrix=full", "confident:matrix=span,rank=12",
                                        "confident:matrix=diag"};
    int wrong[3] = {0};
    float x[D];
    (void)unused;
    for (int i = 0; i < 3; i++) {
        hunch *h = learner(specs[i]);
        struct rng r = {9};
        for (int t = 0; t < ROUNDS; t++) {
            uint32_t y = example(&r, x);
            wrong[i] += play(h, x, y).label != y;
        }
        hunch_free(h);
    }
    assert_true(wrong[1] - wrong[0] < (wrong[2] - wrong[0]) / 3);
}

enum { WORDS = 9000, PER_ROW = 20 };

/* A class of three by its words, of which a row has few or, if it is dense, all. */
static void wide_play(hunch *h, struct rng *r, uint32_t words, bool dense)
{
    static uint32_t index[WORDS];
    static float value[WORDS];
    uint32_t y = (uint32_t)rng_below(r, 3), n = dense ? words : PER_ROW;
    for (uint32_t i = 0; i < n; i++) {
        index[i] = words / n * i + (dense ? 0 : (uint32_t)rng_below(r, words / n / 3) * 3 + y);
        value[i] = (float)(0.1 + rng_uniform(r));
    }
    const hunch_vec x = {index, value, n};
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
}

static hunch *wide_learner(uint32_t words, bool dense, int rounds)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    struct rng r = {3};
    options.learner = "confident:matrix=span";
    options.classes = 3;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    for (int t = 0; t < rounds; t++)
        wide_play(h, &r, words, dense);
    return h;
}

/* Of a row with all words of one class. */
static void wide_scores(const hunch *h, float ret[3])
{
    static float value[WORDS];
    for (uint32_t j = 0; j < WORDS; j += 3)
        value[j] = 1;
    assert_int_equal(hunch_scores(h, &(hunch_vec){NULL, value, WORDS}, ret), HUNCH_OK);
}

/* Fewer directions, when sixteen rounds have told that rows have few of many features; what was learned stays. */
static void test_sparse_rows_of_many_features_take_fewer_directions(void **unused)
{
    (void)unused;
    hunch *h = wide_learner(WORDS, false, 15), *dense = wide_learner(WORDS, true, 20);
    float before[3], after[3];
    assert_int_equal(h->state.covariance.rank, 64);
    assert_int_equal(dense->state.covariance.rank, 64);
    wide_scores(h, before);
    h->state.round = 16;
    assert_int_equal(covariance_settle(&h->state), HUNCH_OK);
    assert_int_equal(h->state.covariance.rank, 16);
    wide_scores(h, after);
    assert_true(fabsf(before[0]) + fabsf(before[1]) + fabsf(before[2]) > 1e-3F);
    for (int k = 0; k < 3; k++)
        assert_true(fabsf(before[k] - after[k]) < 1e-5F);
    hunch_free(dense);
    hunch_free(h);
}

/* Such a learner is saved, and merged with one of few features, in either order. */
static void test_fewer_directions_are_saved_and_merged(void **unused)
{
    (void)unused;
    float want[3], got[3];
    for (int order = 0; order < 2; order++) {
        hunch *wide = wide_learner(WORDS, false, 300), *few = wide_learner(600, false, 300), *loaded = NULL;
        void *bytes;
        size_t size;
        assert_int_equal(wide->state.covariance.rank, 16);
        assert_int_equal(few->state.covariance.rank, 64);
        assert_int_equal(hunch_write(wide, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&loaded, bytes, size, NULL), HUNCH_OK);
        assert_int_equal(loaded->state.covariance.rank, 16);
        wide_scores(wide, want);
        wide_scores(loaded, got);
        assert_memory_equal(want, got, sizeof want);
        assert_int_equal(order ? hunch_merge(few, loaded) : hunch_merge(loaded, few), HUNCH_OK);
        assert_int_equal((order ? few : loaded)->state.covariance.rank, 16);
        wide_scores(order ? few : loaded, got);
        assert_true(got[0] > got[1] && got[0] > got[2]); /* both knew whose words these are */
        hunch_free_bytes(bytes);
        hunch_free(loaded);
        hunch_free(few);
        hunch_free(wide);
    }
}

/* Whatever lies between them, no row that matters is passed over, and none that does not is visited. */
static void test_rows_are_visited(void **unused)
{
    (void)unused;
    struct rng r = {11};
    for (int t = 0; t < 3000; t++) {
        uint8_t live[70];
        struct basis_rows rows = {1, (size_t)rng_below(&r, sizeof live + 1), live};
        double share = t % 3 ? 0.05 : 0.6;
        for (size_t j = 0; j < sizeof live; j++)
            live[j] = rng_uniform(&r) < share ? (uint8_t)(1 + rng_below(&r, 3)) : 0;
        size_t next = 0;
        FOR_EACH_ROW(&rows, j) {
            for (; next < j; next++)
                assert_int_equal(live[next], 0);
            assert_true(live[next++]);
        }
        for (; next < rows.n; next++)
            assert_int_equal(live[next], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_visited),
        cmocka_unit_test(test_every_set_gives_the_same_bits),
        cmocka_unit_test(test_products_add_up),
        cmocka_unit_test(test_inverses_invert),
        cmocka_unit_test(test_covariances_stay_positive_and_below_the_prior),
        cmocka_unit_test(test_columns_that_come_are_orthonormal),
        cmocka_unit_test(test_rank_of_all_features_is_the_full_form),
        cmocka_unit_test(test_few_directions_are_worth_it),
        cmocka_unit_test(test_sparse_rows_of_many_features_take_fewer_directions),
        cmocka_unit_test(test_fewer_directions_are_saved_and_merged),
        cmocka_unit_test(test_pairs_of_many_columns_take_fewer_directions),
        cmocka_unit_test(test_absurd_counters_do_no_harm),
        cmocka_unit_test(test_long_examples_leave_numbers_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
