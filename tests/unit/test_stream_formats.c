/* SPDX-License-Identifier: BSD-3-Clause */
/* CSV, TSV, VW text and JSON lines: which features and labels their rows have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/detect.h"
#include "stream_helper.h"

/* Rows as text: "label index:value ...", one a line. */
static char *rows_print(const struct seen *r)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    for (size_t i = 0; i < r->rows; i++) {
        fprintf(file, "%s", seen_label(r, i));
        for (size_t j = r->start[i]; j < r->start[i + 1]; j++)
            fprintf(file, " %u:%g", r->index[j], (double)r->value[j]);
        fputc('\n', file);
    }
    fclose(file);
    return text;
}

static void expect(const char *name, const char *text, const struct stream_options *options, const char *features,
                   const char *rows)
{
    static const size_t sizes[] = {1, 0};
    char *path = text_file(name, text);
    for (int i = 0; i < 2; i++) {
        struct stream_options o = options ? *options : (struct stream_options)STREAM_OPTIONS_INIT;
        o.batch_bytes = sizes[i];
        struct seen read = seen_read(path, &o);
        char *printed = rows_print(&read);
        assert_string_equal(printed, rows);
        assert_string_equal(read.features, features);
        free(printed);
        seen_free(&read);
    }
    path_free(path);
}

static void test_csv(void **state)
{
    (void)state;
    expect("a.csv", "age,colour,label\n41,red,a\n3.5,blue,b\n,,a\n0,red,\n", NULL,
           "age colour=red colour=blue age=missing", "a 0:41 1:1\nb 0:3.5 2:1\na 3:1\n 1:1\n");
    /* quotes, doubled quotes, delimiters and newlines inside, a mark at the beginning, CRLF, no newline at the end */
    expect("b.csv", "\xef\xbb\xbf\"a \"\"x\"\"\",class,b\r\n\"1,\n5\",\"k,l\",2\r\n \"\"\"\" , m , 3 ", NULL,
           "b a \"x\"=1,\n5 a \"x\"=\"", "k,l 0:2 1:1\nm 0:3 2:1\n");
    /* a column is text as soon as one cell of it is */
    expect("c.csv", "y,a\np,1\nq,2x\np,\"1\"\n", NULL, "a=1 a=2x", "p 0:1\nq 1:1\np 0:1\n");
    /* the last column is the label's when none is called so */
    expect("d.csv", "a,b\n1,2\n3,4\n\n", NULL, "a", "2 0:1\n4 0:3\n");
    expect("e.tsv", "a\tlabel\tb c\n1\tx y\t2\n", NULL, "a b c", "x y 0:1 1:2\n");
}

static void test_csv_label_column(void **state)
{
    (void)state;
    struct stream_options options = STREAM_OPTIONS_INIT;
    static const char text[] = "a,b,label\n1,2,3\n";
    options.label_column = "b";
    expect("a.csv", text, &options, "a label", "2 0:1 1:3\n");
    options.label_column = "1";
    expect("a.csv", text, &options, "b label", "1 0:2 1:3\n");
    options.label_column = "4";
    char *path = text_file("a.csv", text);
    const char *paths[] = {path};
    struct seen rows;
    hunch_error error;
    assert_int_equal(seen_try(paths, 1, &options, &rows, NULL, &error), HUNCH_EINVAL);
    assert_non_null(strstr(error.message, "a.csv:1: --label-column: there is no column '4'"));
    seen_free(&rows);
    path_free(path);
}

/* With a model's names the kinds of columns are the model's, and a file may lack the labels. */
static void test_csv_known_features(void **state)
{
    (void)state;
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct names *known = names_from_block("code=7\0size\0", 12);
    options.features = known;
    expect("a.csv", "code,size\n7,2\n8,5\n", &options, "code=7 size code=8", " 0:1 1:2\n 1:5 2:1\n");
    names_free(known);
}

static void test_vw(void **state)
{
    (void)state;
    expect("a.vw",
           "1 |a x:2 y |b x\n"
           "2 2.0 'tag |a y | z:.5 z:1\n"
           "  | q:0 y\n"
           "tag| q\n"
           "\n"
           "x 1 0.5 'p|a:0.5 x:-4|b x:1e-1\r\n"
           "3 |a x:1 x:-1\n",
           NULL, "a^x a^y b^x z q y", "1 0:2 1:1 2:1\n2 1:1 3:1.5\n 5:1\n 4:1\nx 0:-2 2:0.1\n3\n");
}

/* Rows are sorted by feature, long ones by another method than short ones. */
static void test_order(void **state)
{
    (void)state;
    enum { FEATURES = 70000 };
    static const int counts[] = {2, 24, 25, 300, FEATURES};
    for (size_t k = 0; k < 5; k++) {
        char *path = path_make("a.vw");
        FILE *file = fopen(path, "w");
        fputs("a |", file);
        for (int i = 0; i < counts[k]; i++)
            fprintf(file, " f%d", i);
        fputs("\nb |", file);
        for (int i = counts[k] - 1; i >= 0; i--)
            fprintf(file, " f%d:%d.5", i, i % 1000);
        fputs("\n", file);
        fclose(file);
        struct seen r = seen_read(path, NULL);
        assert_int_equal(r.start[2], 2 * counts[k]);
        for (int i = 0; i < counts[k]; i++) {
            assert_int_equal(r.index[counts[k] + i], i);
            assert_true(r.value[counts[k] + i] == (float)(i % 1000) + 0.5f);
        }
        seen_free(&r);
        path_free(path);
    }
}

static void test_jsonl(void **state)
{
    (void)state;
    expect(
        "a.jsonl",
        "{\"label\": \"a\", \"x\": {\"age\": 41, \"colour\": \"red\", \"member\": true, \"old\": false, \"n\": null}}\n"
        "\n"
        "{\"label\": 3, \"x\": [0.5, 0, 1.25]}\n"
        "{\"label\": true, \"index\": [2, 0], \"value\": [1, 2]}\n"
        "{\"label\": null, \"x\": {}}\n"
        "{\"x\": {\"colour\": \"red\"}}",
        NULL, "age colour=red member old 0 1 2", "a 0:41 1:1 2:1\n3 4:0.5 6:1.25\ntrue 4:2 6:1\n\n 1:1\n");
}

struct slow {
    const char *text;
    size_t size, at, step;
};

static hunch_status slow_read(void *context, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr)
{
    struct slow *slow = context;
    size_t n = slow->step < slow->size - slow->at ? slow->step : slow->size - slow->at;
    (void)reterr;
    n = n < size ? n : size;
    memcpy(buffer, slow->text + slow->at, n);
    slow->at += n;
    *ret_got = n;
    return HUNCH_OK;
}

/* Windows' code and UTF-16, however the bytes arrive. */
static void test_encodings(void **state)
{
    (void)state;
#define LE(c) c "\0"
    static const char windows[] = "x,label\n1,gro\xdf\n2,\x80uro\n3,gro\xdf\n",
                      utf8[] = "x,label\n1,gro\xc3\x9f\n2,\xe2\x82\xacuro\n3,gro\xc3\x9f",
                      little[] = "\xff\xfe" LE("x") LE(",") LE("l") LE("a") LE("b") LE("e") LE("l") LE("\n") LE("1")
                          LE(",") LE("g") LE("r") LE("o") LE("\xdf") LE("\n") LE("2") LE(",") "\xac\x20" LE("u") LE("r")
                              LE("o") LE("\n"),
                      big[] = "\xfe\xff\0x\0,\0l\0a\0b\0e\0l\0\n\0"
                              "1\0,\0g\0r\0o\0\xdf\0\n\0"
                              "2\0,\x20\xac\0u\0r\0o";
    const struct {
        const char *text;
        size_t size;
    } files[] = {
        {windows, sizeof windows - 1}, {utf8, sizeof utf8 - 1}, {little, sizeof little - 1}, {big, sizeof big - 1}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (size_t step = 1; step < 40; step++) {
            struct slow slow = {files[i].text, files[i].size, 0, step};
            struct stream_source source = {slow_read, &slow};
            struct stream_options options = STREAM_OPTIONS_INIT;
            const char *path = "-";
            struct stream *s;
            struct rows rows = {0};
            hunch_error error;
            options.format = STREAM_CSV;
            options.source = &source;
            if (stream_open(&s, &path, 1, &options, &error))
                fail_msg("%zu %zu: %s", i, step, error.message);
            do
                assert_int_equal(stream_next(s, &rows, &error), HUNCH_OK);
            while (rows.n);
            assert_int_equal(names_count(stream_labels(s)), 2);
            assert_string_equal(names_text(stream_labels(s), 0, NULL), "groß");
            assert_string_equal(names_text(stream_labels(s), 1, NULL), "€uro");
            rows_free(&rows);
            stream_close(s);
        }
}

static void test_detection(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum stream_format format;
    } cases[] = {
        {"1 2:3\n", STREAM_SVMLIGHT},
        {"# c\n\nspam 17:1 # a|b\n", STREAM_VW},
        {"3:1 4:1\n", STREAM_SVMLIGHT},
        {"label\n", STREAM_SVMLIGHT},
        {"1 |a b:2\n", STREAM_VW},
        {"{\"x\": []}\n", STREAM_JSONL},
        {"a,b,c\n1,2,3\n", STREAM_CSV},
        {"a\tb\n", STREAM_CSV},
        {"a;b\n1;2\n", STREAM_CSV},
        {"5.1 3.5 1\n", STREAM_CSV},
        {"a|b|c\n", STREAM_CSV},
        {"1 # a comment\n", STREAM_SVMLIGHT},
        {"[{\"a\": 1}]\n", STREAM_JSONL},
        {"\xef\xbb\xbf"
         "a,b\n",
         STREAM_CSV},
        {"1\t2:3\n", STREAM_SVMLIGHT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(detect_by_text(cases[i].text, strlen(cases[i].text)), cases[i].format);
    assert_int_equal(detect_by_name("a/b.csv.gz"), STREAM_CSV);
    assert_int_equal(detect_by_name("x.SVM"), STREAM_SVMLIGHT);
    assert_int_equal(detect_by_name("x.libsvm.zst"), STREAM_SVMLIGHT);
    assert_int_equal(detect_by_name("x.txt"), STREAM_AUTO);
    assert_int_equal(detect_by_name(".csv"), STREAM_AUTO);
}

static void test_find(void **state)
{
    (void)state;
    char *path = text_file("some-data.svm", "a 1:1\n"), *folder = strdup(path);
    *strrchr(folder, '/') = 0;
    char *found = stream_find(path);
    assert_string_equal(found, path);
    free(found);
    assert_null(stream_find("some-data"));
    setenv("HUNCH_DATA", folder, 1);
    found = stream_find("some-data");
    assert_string_equal(found, path);
    free(found);
    char *parent = strdup(folder);
    *strrchr(parent, '/') = 0;
    setenv("HUNCH_DATA", parent, 1); /* one level below */
    found = stream_find("some-data");
    assert_non_null(found);
    free(found);
    unsetenv("HUNCH_DATA");
    free(parent);
    free(folder);
    path_free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_label_column),
        cmocka_unit_test(test_csv_known_features),
        cmocka_unit_test(test_vw),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_jsonl),
        cmocka_unit_test(test_encodings),
        cmocka_unit_test(test_detection),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
