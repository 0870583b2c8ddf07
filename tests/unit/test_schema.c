/* SPDX-License-Identifier: BSD-3-Clause */
/* Words, dates, and schemas as JSON. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "table/sample.h"
#include "stream.h"
#include "common/words.h"

static void words_join(bool (*begin)(struct words *, const char *, size_t), const char *text, char *ret)
{
    struct words w = {0};
    size_t n;
    assert_true(begin(&w, text, strlen(text)));
    char *word = malloc(words_room(&w));
    *ret = 0;
    while ((n = words_next(&w, word))) {
        strncat(ret, word, n);
        strcat(ret, "|");
    }
    free(word);
    words_free(&w);
}

static void expect_words(const char *text, const char *words)
{
    char got[512];
    words_join(words_begin, text, got);
    assert_string_equal(got, words);
    words_join(words_begin_any, text, got);
    assert_string_equal(got, words);
}

static void test_words(void **state)
{
    (void)state;
    expect_words("Don't panic: it's 3.14, not 1,000!", "don't|panic|it's|3.14|not|1,000|");
    expect_words("see http://Example.com/a_b?c=1 -- _ ", "see|http|example.com|a_b|c|1|");
    expect_words("Größe STRASSE naïve É", "größe|strasse|naïve|é|");
    expect_words("cafe\xcc\x81", "café|"); /* composed */
    expect_words("K\xf6ln", "köln|");      /* Latin-1 */
    expect_words("我们 go", "我|们|go|");
    expect_words("", "");
}

/* ASCII has a short way; it finds what the library finds. */
static void test_words_agree(void **state)
{
    (void)state;
    static const char letters[] = "abXY01.,:;'_ -!\n\t";
    struct rng rng = {7};
    for (int i = 0; i < 20000; i++) {
        char text[40], quick[128], slow[128];
        size_t n = rng_below(&rng, sizeof text - 1);
        for (size_t j = 0; j < n; j++)
            text[j] = letters[rng_below(&rng, sizeof letters - 1)];
        text[n] = 0;
        words_join(words_begin, text, quick);
        words_join(words_begin_any, text, slow);
        if (strcmp(quick, slow))
            fail_msg("'%s': '%s' and '%s'", text, quick, slow);
    }
}

static void test_dates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t day;
        int hour; /* -2: no date */
    } cases[] = {
        {"1970-01-01", 0, -1},          {"2000-03-01", 11017, -1},   {"2024-02-29T13:30:00Z", 19782, 13},
        {"2024-02-29 00:05", 19782, 0}, {"1969-12-31", -1, -1},      {"2024-13-01", 0, -2},
        {"2024-01-32", 0, -2},          {"2024-1-1", 19723, -1},     {"20240101", 19723, -1},
        {"2024-01-01x", 0, -2},         {"2024-01-01T25:00", 0, -2}, {"2024-01-01T10:00:00.25+01:00", 19723, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct date date;
        bool is = cell_date(cases[i].text, strlen(cases[i].text), 'd', &date);
        assert_int_equal(is, cases[i].hour != -2);
        if (is) {
            assert_int_equal(date.day, cases[i].day);
            assert_int_equal(date.hour, cases[i].hour);
        }
    }
}

static const struct {
    const char *text;
    int32_t day_first, month_first; /* -1: no date */
    int hour;
} dates_in_order[] = {{"02/01/1970", 1, 31, -1},
                      {"2/1/70", 1, 31, -1},
                      {"02.01.1970", 1, 31, -1},
                      {"1/31/1970", -1, 30, -1},
                      {"31/1/1970 13:05", 30, -1, 13},
                      {"1/1/1970 1:05:09 PM", 0, 0, 13},
                      {"1/1/1970 12:05 AM", 0, 0, 0},
                      {"1970/01/02", 1, 1, -1},
                      {"2-Jan-1970", 1, 1, -1},
                      {"Jan 2, 1970", 1, 1, -1},
                      {"2 January 1970", 1, 1, -1},
                      {"02-Jan-70", 1, 1, -1},
                      {"Fri, 02 Jan 1970 23:00:00 +0000", 1, 1, 23},
                      {"[02/Jan/1970:07:01:02 +0100]", 1, 1, 7},
                      {"19700102", 1, 1, -1},
                      {"18700102", -1, -1, -1},
                      {"19701302", -1, -1, -1},
                      {"1.2.3", -1, -1, -1},
                      {"10-12-14", 16414, 16355, -1},
                      {"123-45-6789", -1, -1, -1},
                      {"12 10 1970", -1, -1, -1},
                      {"10142018", -1, 17818, -1},
                      {"14102018", 17818, -1, -1},
                      {"1022018", 17563, 17533, -1},
                      {"31129999", -1, -1, -1},
                      {"Jan 1970", 0, 0, -1},
                      {"Aug-71", 577, 577, -1},
                      {"Aug-12", 15553, 15553, -1},
                      {"2018-08", 17744, 17744, -1},
                      {"2018-13", -1, -1, -1},
                      {"24-02-2015 11.35", 16490, -1, 11},
                      {"Janus 2 1970", -1, -1, -1},
                      {"1/2/1970/3", -1, -1, -1},
                      {"1970-01-02T10", -1, -1, -1},
                      {"[1970-01-02", -1, -1, -1},
                      {"Fri Jan 02 12:43:44 +0000 1970", 1, 1, 12},
                      {"Fri Jan  2 12:43:44 1970", 1, 1, 12},
                      {"Jan 2 12:43:44 19700", -1, -1, -1},
                      {"Jan 2  1970", 1, 1, -1},
                      {"Feb 30 12:43:44 1970", -1, -1, -1},
                      {"19700102173000", 1, 1, 17},
                      {"19700102243000", -1, -1, -1},
                      {"19700102176000", -1, -1, -1},
                      {"17:30:05", 0, 0, 17},
                      {"5:30 PM", 0, 0, 17},
                      {"1970/01/02 1:05:02 PM GMT+1", 1, 1, 13},
                      {"2.1.1970 04:04:52 CEST", 1, 31, 4},
                      {"1970-01-02 23:00:00.123456+00", 1, 1, 23},
                      {"1970-01-02 23:00 +5:30", 1, 1, 23},
                      {"Jan 2, 1970 4:04:05 p.m.", 1, 1, 16},
                      {"Fri Jan 02 12:43:44 CET 1970", 1, 1, 12},
                      {"1970-01-02 23:00 X", -1, -1, -1},
                      {"1970-01-02 23:00 +123", -1, -1, -1},
                      {"17.30", -1, -1, -1},
                      {"123:30", -1, -1, -1},
                      {"5:3", -1, -1, -1}};

/* The same text is another date, or none, where the day comes first. */
static void test_date_orders(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof dates_in_order / sizeof *dates_in_order; i++) {
        struct date date;
        for (int j = 0; j < 2; j++) {
            int32_t expected = j ? dates_in_order[i].month_first : dates_in_order[i].day_first;
            bool is = cell_date(dates_in_order[i].text, strlen(dates_in_order[i].text), "dm"[j], &date);
            if (is != (expected >= 0) || (is && (date.day != expected || date.hour != dates_in_order[i].hour)))
                fail_msg("%s: %d, hour %d", dates_in_order[i].text, is ? date.day : -1, is ? date.hour : -1);
        }
    }
}

static void test_numbers(void **state)
{
    (void)state;
    double value;
    assert_true(cell_number("-1.5e3", 6, '.', &value) && value == -1500);
    assert_true(cell_number("1,5", 3, ',', &value) && value == 1.5);
    assert_false(cell_number("1,5", 3, '.', &value));
    assert_true(cell_number("1.234,5", 7, ',', &value) && value == 1234.5);
    static const struct {
        const char *text;
        char point;
        double value; /* NAN: no number */
    } cases[] = {{"$1,234.50", '.', 1234.5},
                 {"-$3", '.', -3},
                 {"$-3", '.', -3},
                 {"(1,234)", '.', -1234},
                 {"()", '.', NAN},
                 {"12.5%", '.', 12.5},
                 {"12 %", '.', 12},
                 {"1,234,567", '.', 1234567},
                 {"1,23", '.', NAN},
                 {"12,34,567", '.', NAN},
                 {"0,123", '.', NAN},
                 {"0,123", ',', 0.123},
                 {"1.234", ',', 1234},
                 {"1.23", ',', NAN},
                 {"1.234,50 €", ',', 1234.5},
                 {"2 969 457", '.', 2969457},
                 {"5\u202f234,5", ',', 5234.5},
                 {"1'000", '.', 1000},
                 {"CHF 3'214.60", '.', 3214.6},
                 {"6,738.00 USD", '.', 6738},
                 {"EUR 4.306,49", ',', 4306.49},
                 {"6 285,00 kr", ',', 6285},
                 {"ABC 12", '.', NAN},
                 {"€", '.', NAN},
                 {"%", '.', NAN},
                 {"1 2", '.', NAN},
                 {"1,234,56", '.', NAN},
                 {"−5 €", '.', -5},
                 {"10.0.0.1", '.', NAN},
                 {"1e5", '.', 1e5},
                 {"1,5e3", ',', 1500},
                 {"1234,567", '.', NAN},
                 {"£0.99", '.', (double)0.99f}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool is = cell_number(cases[i].text, strlen(cases[i].text), cases[i].point, &value);
        if (is != !isnan(cases[i].value) || (is && (float)value != (float)cases[i].value))
            fail_msg("%s: %g", cases[i].text, is ? value : (double)NAN);
    }
    assert_false(cell_number("inf", 3, '.', &value));
    assert_false(cell_number("", 0, '.', &value));
}

static void test_json(void **state)
{
    (void)state;
    struct schema *schema = schema_new(), *copy;
    hunch_error error;
    schema_add(schema, "when", 4)->role = ROLE_DATE;
    schema->columns[0].origin = 19000;
    schema_add(schema, "queue", 5)->role = ROLE_LABEL;
    schema->ngrams = 2;
    schema->columns[1].point = ',';
    schema->columns[0].order = 'd';
    copy = schema_copy(schema);
    assert_non_null(copy);
    assert_int_equal(copy->n, 2);
    assert_int_equal(copy->columns[0].origin, 19000);
    assert_int_equal(copy->ngrams, 2);
    assert_int_equal(copy->columns[1].point, ',');
    assert_int_equal(copy->columns[0].order, 'd');
    assert_string_equal(schema_role(copy, ROLE_LABEL)->name, "queue");
    assert_true(schema_is_missing(copy, NULL, "NA", 2));
    assert_false(schema_is_missing(copy, NULL, "NAP", 3));
    schema_free(copy);
    schema_free(schema);
    static const char *const bad[] = {"{}",
                                      "[",
                                      "{\"columns\": [{\"name\": \"a\"}]}",
                                      "{\"columns\": [{\"name\": \"a\", \"role\": \"x\"}]}",
                                      "{\"columns\": [], \"ngrams\": 100}",
                                      "{\"columns\": [], \"version\": 99}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(schema_read(&copy, bad[i], strlen(bad[i]), &error), HUNCH_EINVAL);
}

static void test_row_encoder(void **state)
{
    (void)state;
    struct schema *schema = schema_new();
    struct names *features = names_new();
    struct row_encoder *e;
    struct rows rows = {0};
    hunch_error error;
    size_t known;
    schema_add(schema, "subject", 7)->role = ROLE_TEXT;
    schema_add(schema, "age", 3)->role = ROLE_NUMBER;
    schema_add(schema, "queue", 5)->role = ROLE_LABEL;
    assert_int_equal(row_encoder_new(&e, schema, features, true, &error), HUNCH_OK);
    struct row_cell cells[] = {{"subject", "Help, help me", 13}, {"age", "41", 2}, {"foo", "x", 1}, {"queue", "a", 1}};
    assert_int_equal(row_encode(e, cells, 4, &rows, &known, &error), HUNCH_OK);
    assert_int_equal(known, 3);
    assert_int_equal(rows.n, 1);
    assert_int_equal(rows.start[1], 3);
    assert_true(rows.value[0] == 2 && rows.value[1] == 1 && rows.value[2] == 41);
    assert_string_equal(names_text(features, 0, NULL), "subject=help");
    assert_int_equal(row_encode(e, cells, 1, &rows, &known, &error), HUNCH_OK); /* the age is missing */
    assert_string_equal(names_text(features, rows.index[2], NULL), "age=missing");
    cells[1].text = "x1";
    assert_int_equal(row_encode(e, cells, 4, &rows, &known, &error), HUNCH_EINVAL);
    row_encoder_free(e);
    assert_int_equal(row_encoder_new(&e, schema, features, false, &error), HUNCH_OK);
    struct row_cell other[] = {{"subject", "unknown help", 12}, {"age", "0", 1}};
    assert_int_equal(row_encode(e, other, 2, &rows, NULL, &error), HUNCH_OK);
    assert_int_equal(rows.start[1], 1); /* what is not known is left out */
    row_encoder_free(e);
    rows_free(&rows);
    names_free(features);
    schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),      cmocka_unit_test(test_words_agree),
                                       cmocka_unit_test(test_dates),      cmocka_unit_test(test_date_orders),
                                       cmocka_unit_test(test_numbers),    cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_row_encoder)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
