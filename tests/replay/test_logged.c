/* SPDX-License-Identifier: BSD-3-Clause */
/* One log in every format is the same log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "policy/logged.h"
#include "../comma_locale.h"
#include "../temporary.h"

/* A folder of its own for each file; the name decides the format. */
static char *file_make(const char *name, const char *text)
{
    char *folder = temporary_folder(), *path = NULL;
    assert_non_null(folder);
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    free(folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    return path;
}

static void file_remove(char *path)
{
    assert_int_equal(temporary_remove(dirname(path)), 0);
    free(path);
}

static void row_print(FILE *out, const struct logged *l, const struct logged_row *row)
{
    const struct names *labels = logged_labels(l), *features = logged_features(l);
    fprintf(out, "%s %g %d", row->label == LOGGED_NONE ? "-" : names_text(labels, row->label, NULL), row->prob,
            row->right);
    if (row->truth != LOGGED_NONE)
        fprintf(out, " (%s)", names_text(labels, row->truth, NULL));
    for (size_t i = 0; i < row->x.n; i++)
        if (features)
            fprintf(out, " %s:%g", names_text(features, row->x.index[i], NULL), (double)row->x.value[i]);
        else
            fprintf(out, " %u:%g", row->x.index[i], (double)row->x.value[i]);
    fputc('\n', out);
}

/* All rows as text, or the error. */
static char *log_read_with(const char *name, const char *text, const struct logged_options *options)
{
    char *path = file_make(name, text), *got = NULL;
    const char *paths[] = {path};
    size_t length;
    struct logged *l;
    struct logged_row row;
    hunch_error error;
    bool more = true;
    FILE *out = open_memstream(&got, &length);
    hunch_status status = logged_open(&l, paths, 1, options, &error);
    assert_int_equal(status, HUNCH_OK);
    while (!status && more) {
        status = logged_next(l, &row, &more, &error);
        if (!status && more)
            row_print(out, l, &row);
    }
    if (status)
        fprintf(out, "%s\n", strstr(error.message, name) ? strstr(error.message, name) : error.message);
    if (logged_unanswered(l) || logged_skipped(l))
        fprintf(out, "%d unanswered, %d skipped\n", (int)logged_unanswered(l), (int)logged_skipped(l));
    fclose(out);
    logged_close(l);
    file_remove(path);
    return got;
}

static void check(const char *name, const char *text, const char *expected)
{
    struct logged_options options = {.stream = STREAM_OPTIONS_INIT};
    char *got = log_read_with(name, text, &options);
    assert_string_equal(got, expected);
    free(got);
}

static const char same[] = "2 0.25 1 a:1 b:0.5\n1 0.75 0 b:2\n3 1 0\n";

static void formats_agree(void **unused)
{
    (void)unused;
    check("log.vw", "2:0:0.25 | a b:0.5\n1:1:0.75 'tag | b:2\n3:0.9:1 |\n", same);
    check("log", "1 2:0.5:.25 3 | a b:0.5\n1:0.51:0.75 | b:2\n\n3:7:1 |\n", same);
    check("log.jsonl",
          "{\"label\": 2, \"prob\": 0.25, \"right\": true, \"x\": {\"a\": 1, \"b\": 0.5}}\n"
          "{\"label\": \"1\", \"probability\": 0.75, \"right\": 0, \"x\": {\"b\": 2}}\n"
          "{\"label\": 3, \"prob\": 1, \"was_right\": false, \"x\": {}}",
          same);
    check("log.tsv", "label\tprob\tright\ta\tb\n2\t0.25\t1\t1\t0.5\n1\t0.75\t0\t0\t2\n3\t1\tfalse\t0\t0\n", same);
    check("log.csv", "a,b,action,propensity,reward\n1,0.5,2,0.25,yes\n0,2,1,0.75,no\r\n0,0,3,1,wrong\n", same);
    check("log.csv", "a,b,label,probability,right\n1,0.5,2,0.25,1\n,2,1,0.75,0\n",
          "2 0.25 1 a:1 b:0.5\n1 0.75 0 b:2 a=missing:1\n");
    check("table",
          "round\tlabel\tprob\tright\tx\tother\n7\t2\t0.25\t1\ta b:0.5\tq\n8\t1\t0.75\t0\tb:2\t\n9\t3\t1\t0\t\t\n",
          same);
    check("log.tsv", "x\tlabel\tprob\tright\n{\"a\":1,\"b\":0.5}\t2\t0.25\t1\n{\"b\":2}\t1\t0.75\t0\n{}\t3\t1\t0\n",
          same);
}

/* Numbers are read as they are written; only what this test prints has the locale's comma. */
static void under_a_decimal_comma(void **unused)
{
    (void)unused;
    static const char same_there[] = "2 0,25 1 a:1 b:0,5\n1 0,75 0 b:2\n3 1 0\n";
    if (!comma_locale_set())
        skip();
    check("log.vw", "2:0.25:0.25 | a b:0.5\n1:1:0.75 'tag | b:2\n3:0.9:1 |\n", same_there);
    check("log.csv", "a,b,action,propensity,reward\n1,0.5,2,0.25,yes\n0,2,1,0.75,no\r\n0,0,3,1,wrong\n", same_there);
    check("log.jsonl", "{\"label\": 1.5, \"prob\": 0.25, \"right\": true, \"x\": {\"a\": 0.5}}\n",
          "1.5 0,25 1 a:0,5\n");
    comma_locale_reset();
}

static void words_and_truth(void **unused)
{
    (void)unused;
    check("log.csv", "colour,label,prob,right\nred,spam,0.5,1\n\"light, blue\",ham,0.5,0\n",
          "spam 0.5 1 colour=red:1\nham 0.5 0 colour=light, blue:1\n");
    check("log.jsonl",
          "{\"label\":\"a\",\"prob\":0.5,\"true_label\":\"b\",\"x\":[0,3]}\n"
          "{\"label\":\"a\",\"prob\":0.5,\"true_label\":\"a\",\"right\":true,\"index\":[4],\"value\":[2]}\n"
          "{\"true_label\":\"b\",\"x\":[[1,5]]}\n",
          "a 0.5 0 (b) 1:3\na 0.5 1 (a) 4:2\n- 0 0 (b) 1:5\n");
    check("log.jsonl", "{\"label\":\"a\",\"prob\":0.5,\"x\":{}}\n{\"label\":\"a\",\"prob\":0.5,\"right\":1,\"x\":{}}\n",
          "a 0.5 1\n1 unanswered, 0 skipped\n");
    check("log.vw", "1 2 | a\n2:0:1 | a\n", "2 1 1 a:1\n1 unanswered, 0 skipped\n");
}

/* 0 where it is not known: not there, null, an empty cell, no column. */
static void probabilities_that_are_not_known(void **unused)
{
    (void)unused;
    static const char three[] = "1 0.5 1 a:1\n1 0 1 a:1\n1 0 0 a:1\n";
    check("log.jsonl",
          "{\"label\":1,\"prob\":0.5,\"right\":1,\"x\":{\"a\":1}}\n{\"label\":1,\"right\":1,\"x\":{\"a\":1}}\n"
          "{\"label\":1,\"prob\":null,\"right\":0,\"x\":{\"a\":1}}\n",
          three);
    check("log.tsv", "label\tprob\tright\tx\n1\t0.5\t1\ta\n1\t\t1\ta\n1\t\t0\ta\n", three);
    check("log.tsv", "label\tright\tx\n1\t1\ta\n", "1 0 1 a:1\n");
}

static void bad_rows(void **unused)
{
    (void)unused;
    check("log.vw", "1:0:0.5 | a\n1:0:2 | a\n", "log.vw:2: the probability 2 is not in (0, 1]\n");
    check("log.vw", "0:0:0.5 | a\n", "log.vw:1: expected action:cost:probability, actions from 1: '0:0:0.5'\n");
    check("log.vw", "1:0 | a\n", "log.vw:1: expected action:cost:probability, actions from 1: '1:0'\n");
    check("log.vw", "1:0:0.5 a\n", "log.vw:1: expected action:cost:probability, actions from 1: 'a'\n");
    check("log.vw", "1:0:0.5\n", "log.vw:1: '|' is missing\n");
    check("log.vw", "shared | a\n",
          "log.vw:1: features of actions ('shared', one line for each action) are not supported\n");
    check("log.vw", "1:0:0 | a\n", "log.vw:1: the probability 0 is not in (0, 1]\n");
    check("log.vw", "1:0:0.5 | a:x\n", "log.vw:1: invalid value: 'a:x'\n");
    check("log.jsonl",
          "{\"label\":1,\"prob\":0.5,\"right\":1,\"x\":{}}\n{\"label\":1,\"prob\":\"a\",\"right\":1,\"x\":{}}\n",
          "log.jsonl:2: \"prob\" is not a number\n");
    check("log.jsonl", "{\"label\":1,\"prob\":1,\"right\":2,\"x\":{}}\n",
          "log.jsonl:1: \"right\" is neither true, false, 1 nor 0\n");
    check("log.jsonl", "{\"prob\":1,\"right\":1,\"x\":{}}\n", "log.jsonl:1: \"label\" is missing\n");
    check("log.jsonl", "{\"label\":1,\"true_label\":2,\"prob\":1,\"right\":1,\"x\":{}}\n",
          "log.jsonl:1: the true label and 'right' contradict each other\n");
    check(
        "log.tsv", "label\tprob\ta\n1\t1\t1\n",
        "log.tsv:1: a log needs the columns shown (or label, action) and right (or reward) or true_label, and prob (or "
        "probability, propensity) if it is known; --shown, --prob and --right name others\n");
    check("log.tsv", "label\tprob\tright\n1\t1\t1\n",
          "log.tsv:1: no usable features: none of 3 columns is a number, a category, a date or a text\n");
    check("log.tsv", "label\tprob\tright\ta\n1\t1\t1\t1\n1\t1\t1\n",
          "log.tsv:3: fewer cells than the 4 columns of the header (--on-error skip leaves such rows out)\n");
    check("log.tsv", "label\tprob\tright\ta\n1\t1\tmaybe\t1\n", "log.tsv:2: 'right' is neither 1 nor 0: 'maybe'\n");
    check("log.tsv", "label\tprob\tright\ta\n1\tnan\t1\t1\n", "log.tsv:2: the probability is not a number: 'nan'\n");
    check("log", "1 3:0.5\n", "log: svmlight text is not a log of rounds\n");
}

static void bad_rows_skipped(void **unused)
{
    struct logged_options options = {.stream = {.skip_bad_rows = true}};
    (void)unused;
    char *got = log_read_with("log.vw", "1:0:0.5 | a\n1:0:2 | a\nx | b\n2:1:0.5 | a\n", &options);
    assert_string_equal(got, "1 0.5 1 a:1\n2 0.5 0 a:1\n0 unanswered, 2 skipped\n");
    free(got);
    got = log_read_with("log.tsv", "label\tprob\n1\t1\n", &options); /* a header is no row to be skipped */
    assert_string_equal(
        got,
        "log.tsv:1: a log needs the columns shown (or label, action) and right (or reward) or true_label, and prob (or "
        "probability, propensity) if it is known; --shown, --prob and --right name others\n");
    free(got);
}

/* A model's names come first; a model without names has numbers. */
static void models_names(void **unused)
{
    struct names *labels = names_new();
    (void)unused;
    names_add(labels, "b", 1);
    names_add(labels, "2", 1);
    struct logged_options options = {.stream = {.labels = labels, .numbered = true, .index_base = 1}};
    char *got = log_read_with("log.vw", "2:0:0.5 | 3:1 10:2 1\n", &options);
    assert_string_equal(got, "2 0.5 1 0:1 2:1 9:2\n");
    free(got);
    got = log_read_with("log.vw", "2:0:0.5 | 0:1\n", &options);
    assert_string_equal(got, "log.vw:1: the model's features are numbered from 1; '0' is not such a number\n");
    free(got);
    got = log_read_with("log.vw", "2:0:0.5 | word\n", &options);
    assert_string_equal(got, "log.vw:1: the model's features are numbered from 1; 'word' is not such a number\n");
    free(got);
    names_free(labels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats_agree),
                                       cmocka_unit_test(under_a_decimal_comma),
                                       cmocka_unit_test(words_and_truth),
                                       cmocka_unit_test(bad_rows),
                                       cmocka_unit_test(bad_rows_skipped),
                                       cmocka_unit_test(models_names),
                                       cmocka_unit_test(probabilities_that_are_not_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
