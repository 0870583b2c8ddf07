/* SPDX-License-Identifier: BSD-3-Clause */
/* What the papers prove, checked round by round, and the measuring of regret. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "play/progressive.h"
#include "paper/reproduce.h"

static struct corpus made(const char *name, uint64_t rows, uint64_t seed, uint32_t features, uint32_t classes)
{
    struct synth_options options = synth_find(name)->defaults;
    struct corpus c;
    hunch_error error;
    options.rows = rows;
    options.seed = seed;
    options.features = features ? features : options.features;
    options.classes = classes ? classes : options.classes;
    if (corpus_synth(&c, name, &options, &error))
        fail_msg("%s", error.message);
    return c;
}

static hunch *learner_of(const char *spec, const struct corpus *c, uint64_t seed)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h;
    hunch_error error;
    options.learner = spec;
    options.classes = c->data.classes;
    options.seed = seed;
    if (hunch_create(&h, &options, &error))
        fail_msg("%s", error.message);
    return h;
}

static hunch_vec row_of(const struct rows *r, size_t i)
{
    return (hunch_vec){r->index + r->start[i], r->value + r->start[i], (size_t)(r->start[i + 1] - r->start[i])};
}

/* Conservative OVA, Corollary 1: mistakes are at most half of all classifiers' hinge losses, in every prefix. */
static void cova_mistakes_are_bounded_by_losses(void **state)
{
    (void)state;
    static const char *const specs[] = {"cova:base=perceptron", "cova:base=pa", "cova:base=pa1", "cova:base=pa2",
                                        "cova:base=arow"};
    struct corpus c = made("synnonsep", 4000, 3, 0, 0);
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        hunch *h = learner_of(specs[s], &c, s);
        double losses = 0;
        size_t mistakes = 0;
        for (size_t i = 0; i < c.data.rows.n; i++) {
            hunch_vec x = row_of(&c.data.rows, i);
            uint32_t y = c.data.rows.label[i];
            float scores[9];
            hunch_choice choice;
            assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
            assert_int_equal(hunch_predict(h, &x, &choice), HUNCH_OK);
            for (uint32_t k = 0; k < 9; k++)
                losses += fmax(0, 1 - (k == y ? 1 : -1) * (double)scores[k]);
            mistakes += choice.label != y;
            if ((double)mistakes > losses / 2 + 1e-3)
                fail_msg("%s: %zu mistakes, losses of %g in %zu rounds", specs[s], mistakes, losses, i + 1);
            assert_int_equal(hunch_feedback(h, &x, &choice, choice.label == y), HUNCH_OK);
        }
        assert_true(mistakes > 100);
        hunch_free(h);
    }
    corpus_free(&c);
}

/* x'A^-1 x of a symmetric 3 x 3 matrix. */
static double form3(double a[3][3], const double *x)
{
    double m[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int r = (i + 1) % 3, s = (i + 2) % 3, p = (j + 1) % 3, q = (j + 2) % 3;
            m[i][j] = a[r][p] * a[s][q] - a[r][q] * a[s][p];
        }
    double det = a[0][0] * m[0][0] + a[0][1] * m[0][1] + a[0][2] * m[0][2], sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum += x[i] * x[j] * m[i][j] / det;
    return sum;
}

static void outer_add(double a[3][3], const double *x)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] += x[i] * x[j];
}

/* How often Confidit's scores leave the interval of Lemma 6 around the truth; *ret_width: the last round's mean width.
 */
static size_t coverage_play(uint64_t seed, double delta, double *ret_width)
{
    struct corpus c = made("linear", 40000, seed, 3, 2);
    char spec[128];
    double norm = 2 * 2; /* u_i = sqrt 2 (2/K - 1, v_i) with |v_i| <= 2/K = 1: squares of at most 2 each */
    snprintf(spec, sizeof spec, "confidit:matrix=full,width=theory,project=yes,norm=%g,delta=%g", norm, delta);
    hunch *h = learner_of(spec, &c, seed);
    double a[2][3][3] = {{{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}, {{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}}, sum = 0;
    size_t outside = 0;
    for (size_t t = 1; t <= c.data.rows.n; t++) {
        hunch_vec x = row_of(&c.data.rows, t - 1);
        double dense[3] = {0};
        float scores[2];
        hunch_choice choice;
        bool out = false;
        for (size_t i = 0; i < x.n; i++)
            dense[x.index[i]] = (double)x.value[i];
        assert_int_equal(hunch_scores(h, &x, scores), HUNCH_OK);
        *ret_width = 0;
        for (int k = 0; k < 2; k++) {
            double truth = 2 * (double)c.truth.chance[(t - 1) * 2 + (size_t)k] - 1;
            double width = sqrt(2 * form3(a[k], dense) * (2 * norm + 2 * sum + 36 * log(((double)t + 4) / delta)));
            out = out || fabs((double)scores[k] - truth) > width;
            *ret_width += width / 2;
        }
        outside += out;
        assert_int_equal(hunch_predict(h, &x, &choice), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &choice, choice.label == c.data.rows.label[t - 1]), HUNCH_OK);
        outer_add(a[choice.label], dense);
        sum += form3(a[choice.label], dense);
    }
    hunch_free(h);
    corpus_free(&c);
    return outside;
}

static void confidit_intervals_cover_the_truth(void **state)
{
    (void)state;
    size_t runs_outside = 0;
    double width;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        runs_outside += coverage_play(seed, 0.05, &width) > 0;
        assert_true(width < 1); /* of scores from -1 to 1: the interval says something */
    }
    assert_true(runs_outside <= 3); /* one of twenty is allowed on average; four or more would happen in 1.6 % */
}

static void regret_is_counted_by_the_truth(void **state)
{
    (void)state;
    struct corpus c = made("linear", 3000, 7, 0, 0);
    const char *specs[] = {"banditron"};
    struct progressive_options options = {.specs = specs, .learners = 1, .passes = 2, .truth = &c.truth};
    struct progressive p;
    assert_int_equal(progressive_memory(&p, &c.data, &options, NULL), HUNCH_OK);
    hunch *h = learner_of("banditron", &c, 0);
    double regret = 0;
    for (size_t i = 0; i < 6000; i++) {
        hunch_vec x = row_of(&c.data.rows, i % 3000);
        const float *chance = c.truth.chance + i % 3000 * 5;
        hunch_choice choice;
        assert_int_equal(hunch_predict(h, &x, &choice), HUNCH_OK);
        regret += (double)chance[c.truth.best[i % 3000]] - (double)chance[choice.label];
        for (int k = 0; k < 5; k++)
            assert_true(chance[k] <= chance[c.truth.best[i % 3000]]);
        assert_int_equal(hunch_feedback(h, &x, &choice, choice.label == c.data.rows.label[i % 3000]), HUNCH_OK);
    }
    const struct tally *t = &p.results[0].tally;
    assert_float_equal(t->regret, regret, 1e-6);
    assert_true(t->curve[t->points - 1].regret == t->regret);
    double slope, error;
    assert_true(summary_growth(p.results, 1, &slope, &error));
    assert_true(slope > 0.7 && slope < 1.3 && isnan(error));
    hunch_free(h);
    progressive_free(&p);
    corpus_free(&c);
}

/* A kept trial without regret is not taken for one with it. */
static void regret_is_part_of_the_key(void **state)
{
    (void)state;
    struct corpus c = made("linear", 100, 7, 0, 0), plain = c;
    plain.truth = (struct truth){0};
    struct trial with = {.corpus = &c, .spec = "banditron", .passes = 1}, without = with;
    without.corpus = &plain;
    assert_int_equal(trial_key(&with, NULL), HUNCH_OK);
    assert_int_equal(trial_key(&without, NULL), HUNCH_OK);
    assert_string_not_equal(with.key, without.key);
    corpus_free(&c);
}

/* Balanced error and discovery by hand: three classes, one of which is never answered. */
static void classes_are_counted_one_by_one(void **state)
{
    (void)state;
    static const uint32_t labels[] = {0, 0, 0, 1, 1, 2, 0, 2}, shown[] = {1, 0, 0, 0, 1, 0, 0, 1};
    hunch_choice choices[8] = {{0}};
    struct tally t;
    assert_true(tally_init(&t));
    t.per_class = true;
    for (int i = 0; i < 8; i++)
        choices[i].label = choices[i].greedy = shown[i];
    tally_count(&t, choices, labels, 5);
    tally_count(&t, choices + 5, labels + 5, 3);
    tally_finish(&t);
    assert_int_equal(t.mistakes, 4);
    assert_float_equal(t.balanced, (1.0 / 4 + 1.0 / 2 + 1) / 3, 1e-12);
    assert_float_equal(t.discovery, (2 + 5 + 8) / 3.0, 1e-12);
    tally_free(&t);
}

static void growth_finds_exponents(void **state)
{
    (void)state;
    enum { SIZES = 5 };
    struct line lines[SIZES][3];
    struct table tables[SIZES];
    for (int i = 0; i < SIZES; i++) {
        double n = pow(10, 3 + i);
        lines[i][0] =
            (struct line){.learner = "root", .best = true, .runs = 5, .mean = 3 * sqrt(n), .sd = 0.1 * sqrt(n)};
        lines[i][1] = (struct line){.learner = "logs", .best = true, .runs = 5, .mean = pow(log(n), 2), .sd = 1};
        lines[i][2] = (struct line){.learner = "line", .best = true, .runs = 5, .mean = 0.2 * n, .sd = 0.01 * n};
        tables[i] = (struct table){.rows = (uint64_t)n, .lines = {lines[i], 3}};
    }
    json_t *bounds = json_pack("{s:f, s:[i,i], s:f}", "root", 0.5, "logs", 0, 2, "line", 0.6667);
    struct experiment_growth how = {.by = "rows", .bounds = bounds};
    struct experiment e = {.growth = &how};
    struct result r = {.tables = {tables, SIZES}, .verdict = VERDICT_APART};
    struct arena arena = {0};
    growth_judge(&r, &e, &arena);
    assert_int_equal(r.growth.n, 3);
    assert_float_equal(r.growth.item[0].slope, 0.5, 1e-6);
    assert_float_equal(r.growth.item[1].slope, r.growth.item[1].bound, 1e-6);
    assert_float_equal(r.growth.item[2].slope, 1, 1e-6);
    assert_int_equal(r.growth.item[0].verdict, VERDICT_WITHIN);
    assert_int_equal(r.growth.item[1].verdict, VERDICT_WITHIN);
    assert_int_equal(r.growth.item[2].verdict, VERDICT_ABOVE);
    assert_int_equal(r.verdict, VERDICT_ABOVE);
    arena_free(&arena);
    json_decref(bounds);
}

static void bounds_are_told_in_words(void **state)
{
    (void)state;
    static const struct {
        double power, logs;
        const char *words;
    } bounds[] = {{0.5, 1, "n^0.5 log n"}, {0, 2, "log^2 n"}, {1, 0, "n"}, {0.6667, 0, "n^0.667"}, {0, 0, "constant"}};
    char words[GROWTH_WORDS];
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        assert_string_equal(growth_words(&(struct growth){.power = bounds[i].power, .logs = bounds[i].logs}, words),
                            bounds[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cova_mistakes_are_bounded_by_losses),
                                       cmocka_unit_test(confidit_intervals_cover_the_truth),
                                       cmocka_unit_test(regret_is_counted_by_the_truth),
                                       cmocka_unit_test(regret_is_part_of_the_key),
                                       cmocka_unit_test(classes_are_counted_one_by_one),
                                       cmocka_unit_test(growth_finds_exponents),
                                       cmocka_unit_test(bounds_are_told_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
