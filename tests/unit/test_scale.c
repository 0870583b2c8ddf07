/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns on a common scale: what the curves promise, whatever the columns are. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/rng.h"
#include "features/front.h"
#include "api/learner.h"
#include "state/linear.h"
#include "features/scale.h"

#define COLUMNS 6
#define ROWS 3000

static double normal(struct rng *r)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_uniform(r);
    return sum;
}

/* Numbers of all kinds: normal, skew, whole, mostly 0, 0/1, constant. */
static void row_make(struct rng *r, float *ret)
{
    ret[0] = (float)normal(r);
    ret[1] = (float)exp(3 * normal(r));
    ret[2] = (float)(int)(8 * rng_uniform(r));
    ret[3] = rng_uniform(r) < 0.8 ? 0 : (float)(1 + normal(r));
    ret[4] = rng_uniform(r) < 0.3;
    ret[5] = 7;
}

struct scaling {
    float factor, shift;
    int outlier; /* the row that has one, or -1 */
    float value;
};

/* Plays the rows and returns what the last hundred were written as. */
static void rows_play(const struct scaling *how, double ret[100][COLUMNS])
{
    struct front f;
    struct state s = {.map = MAP_NONE};
    struct front_room room = {0};
    struct rng r = {5};
    front_init(&f, s.map, s.bias);
    memset(ret, 0, 100 * sizeof *ret);
    for (int t = 0; t < ROWS; t++) {
        float x[COLUMNS];
        struct vec v;
        row_make(&r, x);
        for (int j = 0; j < 3; j++)
            x[j] = x[j] * how->factor + how->shift;
        if (t == how->outlier)
            x[0] = how->value;
        hunch_vec raw = {NULL, x, COLUMNS};
        assert_int_equal(front_reserve(&f, &raw), HUNCH_OK);
        assert_int_equal(front_write(&f, linear_ops(NULL), &raw, WANT_MAP, &room, &v), HUNCH_OK);
        for (size_t i = 0; i < v.n; i++) {
            assert_true(isfinite(v.value[i]) && fabsf(v.value[i]) < 20);
            if (t >= ROWS - 100 && vec_index(&v, i) > 0)
                ret[t - ROWS + 100][vec_index(&v, i) - 1] = v.value[i];
        }
        front_observe(&f, &raw, &room.row);
    }
    front_room_free(&room);
    front_free(&f);
}

static double rows_differ(const struct scaling *a, const struct scaling *b)
{
    static double one[100][COLUMNS], two[100][COLUMNS];
    double sum = 0;
    rows_play(a, one);
    rows_play(b, two);
    for (int t = 0; t < 100; t++)
        for (int j = 0; j < COLUMNS; j++)
            sum += fabs(one[t][j] - two[t][j]);
    return sum / 100;
}

/* Samples may differ, of which a curve's noise comes: a few hundredths of a z. */
static void test_scale_and_shift_do_not_matter(void **unused)
{
    (void)unused;
    const struct scaling plain = {1, 0, -1, 0};
    for (float factor = 1e-6f; factor < 2e6f; factor *= 1e3f)
        assert_true(rows_differ(&plain, &(struct scaling){factor, 0, -1, 0}) < 0.1);
    assert_true(rows_differ(&plain, &(struct scaling){1, 1e3f, -1, 0}) < 0.1);
}

static void test_an_outlier_leaves_no_trace(void **unused)
{
    (void)unused;
    const struct scaling plain = {1, 0, -1, 0};
    for (float value = 1e3f; value < 1e15f; value *= 1e6f)
        for (int when = 0; when < ROWS - 200; when += 700)
            assert_true(rows_differ(&plain, &(struct scaling){1, 0, when, value}) < 0.1);
}

static void test_columns_are_what_they_were_asked_for(void **unused)
{
    (void)unused;
    static double rows[100][COLUMNS];
    rows_play(&(struct scaling){1, 0, -1, 0}, rows);
    double sum[COLUMNS] = {0}, squares[COLUMNS] = {0}, max = 0;
    for (int t = 0; t < 100; t++)
        for (int j = 0; j < COLUMNS; j++) {
            sum[j] += rows[t][j] / 100;
            squares[j] += rows[t][j] * rows[t][j] / 100;
            max = fmax(max, rows[t][4]);
        }
    double unit = max; /* a 1 of the 0/1 column */
    assert_true(unit > 0);
    for (int j = 0; j < 3; j++) { /* centred, with a spread of about 1; heavy tails are cut at 5 */
        assert_true(fabs(sum[j]) < 0.3 * unit);
        assert_true(squares[j] > 0.5 * unit * unit && squares[j] < 2 * unit * unit);
    }
    for (int t = 0; t < 100; t++) {
        assert_true(rows[t][4] == 0 || fabs(rows[t][4] - unit) < 0.01 * unit);
        assert_true(fabs(rows[t][5]) < 0.01); /* a constant carries no information */
    }
}

/* cos and sin of every instruction set are the same, and near libm's. */
static void test_waves(void **unused)
{
    (void)unused;
    _Alignas(64) real x[64] = {0}, first[2][64], now[2][64];
    struct rng r = {1};
    for (int i = 0; i < 64; i++) /* and where the series is folded: zero, both of them, and quarters of a turn */
        x[i] = i < 24 ? (real)((i - 12) * M_PI / 4) : (real)(40 * rng_uniform(&r) - 20);
    x[0] = (real)-0.0;
    linear_ops(NULL)->waves(x, 64, 1, first[0], first[1]);
    for (int i = 0; i < 64; i++) {
        assert_true(fabs((double)first[0][i] - cos((double)x[i])) < 3e-6);
        assert_true(fabs((double)first[1][i] - sin((double)x[i])) < 3e-6);
    }
    const char *const names[] = {"plain", "avx2", "avx512"};
    for (int n = 0; n < 3; n++) {
        const struct linear_ops *ops = linear_ops(names[n]);
        if (!ops)
            continue;
        ops->waves(x, 64, 1, now[0], now[1]);
        assert_memory_equal(first, now, sizeof first);
    }
}

/* Angles are those of the columns in whole steps, without whole turns; of every instruction set the same, whether the
 * row is dense or not. */
static void test_angles(void **unused)
{
    (void)unused;
    enum { ENTRIES = 37, DIRECTIONS = 176, STEPS = 1000 };
    _Alignas(64) static int16_t D[ENTRIES * DIRECTIONS];
    _Alignas(64) real first[DIRECTIONS], now[DIRECTIONS];
    int16_t room[ENTRIES];
    uint32_t index[ENTRIES];
    float value[ENTRIES];
    struct rng r = {1};
    for (size_t i = 0; i < sizeof D / sizeof *D; i++)
        D[i] = (int16_t)((int)rng_below(&r, 29) - 14);
    for (uint32_t j = 0; j < ENTRIES; j++) {
        index[j] = j;
        value[j] = (float)(200 * rng_uniform(&r) - 100); /* more steps than 16 bits hold */
    }
    const struct linear_angles angles = {D, DIRECTIONS, STEPS, room};
    const struct vec dense = {.value = value, .n = ENTRIES, .all = ENTRIES};
    const struct vec sparse = {.index = index, .value = value, .n = ENTRIES, .all = ENTRIES};
    linear_ops(NULL)->angles(&angles, &dense, first);
    for (size_t i = 0; i < DIRECTIONS; i++) {
        int64_t sum = 0;
        for (size_t j = 0; j < ENTRIES; j++)
            sum += D[j * DIRECTIONS + i] * (int64_t)lrintf(value[j] * STEPS);
        assert_true(fabs((double)first[i] - 2 * M_PI / 65536 * (int16_t)sum) < 1e-5);
    }
    const char *const names[] = {"plain", "avx2", "avx512"};
    for (int n = 0; n < 3; n++) {
        const struct linear_ops *ops = linear_ops(names[n]);
        for (int k = 0; ops && k < 2; k++) {
            ops->angles(&angles, k ? &sparse : &dense, now);
            assert_memory_equal(first, now, sizeof first);
        }
    }
}

/* Rows that have no pairs, one too many ones, or nothing at all, among rows that are paired. */
static void test_rows_that_a_map_leaves_alone(void **unused)
{
    (void)unused;
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = "panel";
    options.classes = 3;
    hunch *h = NULL;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    struct rng r = {3};
    for (int t = 0; t < 600; t++) {
        uint32_t index[200], y = (uint32_t)rng_below(&r, 3);
        float value[400];
        size_t n = t % 7 == 3 ? 1 : t % 11 == 5 ? 200 : t % 13 == 6 ? 0 : 5;
        for (size_t i = 0; i < n; i++) {
            index[i] = n == 200 ? (uint32_t)i : (uint32_t)(9 * i + 3 * y + rng_below(&r, 3));
            value[i] = 1;
        }
        hunch_vec x = {index, value, n};
        hunch_choice c;
        float scores[3];
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
        assert_true(isfinite(scores[0]) && c.prob > 0);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
    }
    hunch_free(h);
}

/* Columns that come for the first time: what a const call says of them is what the next prediction will say, and no
 * matter of how much room there happens to be for columns. */
static void columns_are_new(const char *spec)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = spec;
    options.classes = 3;
    hunch *h = NULL;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    struct rng r = {5};
    for (uint32_t t = 0; t < 300; t++) {
        uint32_t y = (uint32_t)rng_below(&r, 3), index[6] = {3 * y, 9 + (uint32_t)rng_below(&r, 5), 20 + t, 23 + t};
        float value[6] = {1, 1, 1, t % 2 ? 1 : 0.5F}, scores[3], same[3];
        hunch_vec x = {index, value, 4};
        void *bytes;
        size_t size;
        hunch *loaded;
        hunch_choice c;
        assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&loaded, bytes, size, NULL), HUNCH_OK);
        free(bytes);
        assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
        assert_int_equal(hunch_scores(loaded, &x, same), HUNCH_OK);
        assert_memory_equal(scores, same, sizeof scores);
        hunch_free(loaded);
        uint32_t greedy = 0;
        assert_int_equal(hunch_greedy(h, &x, &greedy), HUNCH_OK);
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(c.greedy, greedy);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
    }
    hunch_free(h);
}

static void test_columns_are_new(void **unused)
{
    (void)unused;
    static const char *const maps[] = {"none", "fourier", "pairs", "auto"};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "confident:matrix=diag,scale=auto,map=%s", maps[i]);
        columns_are_new(spec);
    }
}

static hunch *panel_play(int rounds, uint32_t features, bool noise)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.classes = 3;
    hunch *h = NULL;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    struct rng r = {9};
    for (int t = 0; t < rounds; t++) {
        float value[400];
        for (uint32_t j = 0; j < features; j++)
            value[j] = (float)normal(&r);
        uint32_t y = noise ? (uint32_t)rng_below(&r, 3) : value[0] > 0 ? 0 : value[1] > 0 ? 1 : 2;
        hunch_vec x = {NULL, value, features};
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == y), HUNCH_OK);
    }
    return h;
}

/* Members wait in an ensemble that learns well; those of one on a plateau, which has seen fewer features, activate
 * them. */
static void test_a_merge_activates_members(void **unused)
{
    (void)unused;
    hunch *few = panel_play(600, 100, true), *many = panel_play(90, 400, false);
    double sleeps, wakes;
    assert_int_equal(hunch_get(many, "lives", 3, 0, &sleeps), HUNCH_OK);
    assert_int_equal(hunch_get(few, "lives", 3, 0, &wakes), HUNCH_OK);
    assert_true(sleeps == 0 && wakes == 1);
    assert_int_equal(hunch_merge(many, few), HUNCH_OK);
    float value[400];
    struct rng r = {4};
    for (int t = 0; t < 50; t++) {
        for (int j = 0; j < 400; j++)
            value[j] = (float)normal(&r);
        hunch_vec x = {NULL, value, 400};
        hunch_choice c;
        assert_int_equal(hunch_predict(many, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(many, &x, &c, 1), HUNCH_OK);
    }
    hunch_free(few);
    hunch_free(many);
}

/* Room for columns that were announced is made once, when the first row tells what each takes. */
static void test_announced_columns_have_room(void **unused)
{
    (void)unused;
    for (uint32_t announced = 0; announced <= 5000; announced += 5000) {
        hunch_options options = HUNCH_OPTIONS_INIT;
        options.learner = "confident:matrix=span,scale=auto";
        options.classes = 3;
        options.features = announced;
        hunch *h = NULL;
        assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
        assert_int_equal(hunch_features(h), 0);
        const real *rows = NULL;
        int moves = -1; /* the first room is none */
        for (uint32_t j = 0; j < 5000; j += 1000) {
            const uint32_t index[] = {j, j + 999};
            const float value[] = {1, 2};
            const hunch_vec x = {index, value, 2};
            hunch_choice c;
            assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
            assert_int_equal(hunch_feedback(h, &x, &c, 1), HUNCH_OK);
            moves += h->state.rows != rows;
            rows = h->state.rows;
        }
        assert_true(announced ? moves == 0 && h->state.capacity == announced + 1 : moves > 0);
        hunch_free(h);
    }
}

/* As curve.h tells it, piece by piece. */
static float curve_by_pieces(const struct scale_curve *c, int knots, float x)
{
    int i = 0;
    while (i < knots && c->knot[i] <= x)
        i++;
    if (i == 0)
        return c->piece[0].score;
    if (i < knots)
        return c->piece[i - 1].score + c->piece[i - 1].slope * (x - c->knot[i - 1]);
    return c->piece[knots - 1].score;
}

/* Below, on, between and beyond the knots; columns with as many knots as there may be, few, one and none; one that was
 * never seen; and every instruction set. */
static void test_every_set_draws_the_same_curves(void **unused)
{
    static const int knots[] = {SCALE_KNOTS, 2, 1, 0, 7};
    static const char *const names[] = {"plain", "avx2", "avx512"};
    struct scale_curve curve[5] = {0};
    struct scale_column column[5];
    struct rng r = {6};
    (void)unused;
    for (int j = 0; j < 5; j++) {
        column[j] = (struct scale_column){.knots = (uint8_t)knots[j],
                                          .curve = j,
                                          .centred = j % 2 != 0,
                                          .at_zero = 0.25f,
                                          .kind = SCALE_NUMERIC,
                                          .known = 9,
                                          .size = 3};
        for (int i = 0; i < SCALE_KNOTS; i++)
            curve[j].knot[i] = i < knots[j] ? (float)(i + rng_uniform(&r)) : INFINITY;
        for (int i = 0; i < knots[j]; i++)
            curve[j].piece[i].score = (float)(i + rng_uniform(&r)); /* they rise, as all curves do */
        for (int i = 0; i + 1 < knots[j]; i++)
            curve[j].piece[i].slope =
                (curve[j].piece[i + 1].score - curve[j].piece[i].score) / (curve[j].knot[i + 1] - curve[j].knot[i]);
    }
    const struct scale c = {.column = column, .columns = 5, .curve = curve};
    for (int t = 0; t < 2000; t++) {
        float x[6], ret[6];
        for (int j = 0; j < 6; j++)
            x[j] = t % 3 == 0 && j < 5 && knots[j] ? curve[j].knot[t % knots[j]] : (float)(60 * rng_uniform(&r) - 25);
        for (int n = 0; n < 3; n++) {
            const uint32_t index[] = {0, 1, 2, 3, 4, 5};
            hunch_vec row = {t % 2 ? index : NULL, x, 6};
            if (!linear_ops(names[n]))
                continue;
            linear_ops(names[n])->columns(&c, &row, ret);
            for (int j = 0; j < 5; j++)
                if (knots[j])
                    assert_true(ret[j] == curve_by_pieces(&curve[j], knots[j], x[j]) - (j % 2 ? 0 : 0.25f));
            assert_true(ret[3] == fminf(fmaxf(x[3] / 3, -CURVE_LARGEST), CURVE_LARGEST));
            assert_true(ret[5] == (x[5] == 1));
        }
    }
}

/* What scale.h says of a word, as one would write it down. */
static double word_of(const struct scale *c, uint32_t j, float x)
{
    double rows = c->word[j] < 0 ? -c->word[j] : c->word[j];
    bool counts = c->word[j] >= 0 && x > 0 && x == floorf(x);
    double times = counts ? 1 + log_near(x) : x;
    return times * log_near(1 + (float)c->known / (float)fmax(rows, 1));
}

/* Counts, fractions, numbers below 0 and beyond 2^31; words never seen, rare, frequent; a column that is always there;
 * more entries than any vector has; columns that come with the row. */
static void test_words_are_the_formula_on_every_instruction_set(void **unused)
{
    (void)unused;
    enum { WORDS = 37, ALWAYS_AT = 5, NEW = 3 };
    struct scale c = {.text = true, .known = 1000, .unit = 1, .share = 1};
    const float of[] = {1, 2, 17, 0.5f, -3, 8388609, 3e9f, 1e-3f};
    float x[WORDS + NEW], value[WORDS + NEW], room[WORDS + NEW];
    uint32_t index[WORDS + NEW], to[WORDS + NEW], places[WORDS + NEW];
    assert_int_equal(scale_reserve(&c, WORDS, WORDS), HUNCH_OK);
    c.columns = WORDS;
    for (uint32_t j = 0; j < WORDS + NEW; j++) {
        index[j] = j;
        x[j] = of[j % 8];
        if (j >= WORDS)
            continue;
        c.column[j].known = j == ALWAYS_AT ? 980 : j % 3 ? 10 * j : 0;
        c.column[j].kind = j % 4 == 1 ? SCALE_FRACTION : 0;
        c.word[j] = c.column[j].kind ? -(float)c.column[j].known : (float)c.column[j].known;
    }
    const char *const sets[] = {"plain", "avx2", "avx512"};
    for (int k = 0; k < 3; k++) {
        const struct linear_ops *ops = linear_ops(sets[k]);
        if (!ops)
            continue;
        double sum = 0;
        hunch_vec row = {index, x, WORDS + NEW};
        ops->words(&c, &row, value);
        for (uint32_t j = 0; j < WORDS; j++) {
            double z = j == ALWAYS_AT ? 0 : word_of(&c, j, x[j]);
            assert_true(value[j] == (float)z || fabs(value[j] - z) < 1e-6 * fabs(z));
        }
        for (uint32_t j = 0; j < WORDS + NEW; j++)
            sum += (double)value[j] * value[j];
        struct scaled out = scale_write(&c, ops, &row, &(struct scale_out){to, value, room, places});
        assert_int_equal(out.n, WORDS + NEW - 1); /* 17 in a column of 0 and 1 carries no information */
        assert_true(out.beside == 0 && out.energy == 1);
        for (uint32_t j = 0; j < out.n; j++)
            assert_int_equal(to[j], j + (j >= ALWAYS_AT));
        assert_true(fabs(value[0] - word_of(&c, 0, x[0]) / sqrt(sum)) < 1e-6);
    }
    scale_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_are_the_formula_on_every_instruction_set),
        cmocka_unit_test(test_scale_and_shift_do_not_matter),
        cmocka_unit_test(test_an_outlier_leaves_no_trace),
        cmocka_unit_test(test_columns_are_what_they_were_asked_for),
        cmocka_unit_test(test_announced_columns_have_room),
        cmocka_unit_test(test_every_set_draws_the_same_curves),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_angles),
        cmocka_unit_test(test_columns_are_new),
        cmocka_unit_test(test_rows_that_a_map_leaves_alone),
        cmocka_unit_test(test_a_merge_activates_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
