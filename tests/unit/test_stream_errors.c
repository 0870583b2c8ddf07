/* SPDX-License-Identifier: BSD-3-Clause */
/* The errors of bad input: file, line, and what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "stream_helper.h"

/* The message after the folder of the file that it names. */
static void expect(const char *path, const struct stream_options *options, const char *message)
{
    for (int threads = 0; threads < 2; threads++) {
        struct seen rows;
        hunch_error error = {{0}};
        seen_by_pipeline = threads;
        hunch_status status = seen_try(&path, 1, options, &rows, NULL, &error);
        const char *slash = strrchr(path, '/'), *found = error.message;
        size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
        if (strncmp(found, path, folder) == 0)
            found += folder;
        assert_string_equal(found, message);
        assert_int_equal(status, HUNCH_EINVAL);
        seen_free(&rows);
    }
}

static void expect_text(const char *name, const char *text, const char *message)
{
    char *path = text_file(name, text);
    expect(path, NULL, message);
    path_free(path);
}

static void test_svmlight(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a 1:1\nb 3:1 2:1\n", "x.svm:2: indices must increase: '2:1'"},
        {"a 2:1 2:1\n", "x.svm:1: indices must increase: '2:1'"},
        {"a 1:1\n\n# c\nb -3:1", "x.svm:4: negative index: '-3:1'"},
        {"a 1:nan\n", "x.svm:1: invalid value: '1:nan'"},
        {"a 1:inf\n", "x.svm:1: invalid value: '1:inf'"},
        {"a 1:0x10\n", "x.svm:1: invalid value: '1:0x10'"},
        {"a 1:\n", "x.svm:1: invalid value: '1:'"},
        {"a 1:1e99\n", "x.svm:1: value out of range: '1:1e99'"},
        {"a 4294967295:1\n", "x.svm:1: index too large: '4294967295:1'"},
        {"a b:1\n", "x.svm:1: expected index:value: 'b:1'"},
        {"a 1 2\n", "x.svm:1: expected index:value: '1'"},
        {"a 1:1 2:1,3:1\n", "x.svm:1: invalid value: '2:1,3:1'"},
        {"a\001b 1:1\n", "x.svm:1: label 'a\\x01b' contains a control character"},
        {"# only\n\n", "x.svm: contains no examples"},
        {"", "x.svm: the file is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_text("x.svm", cases[i].text, cases[i].message);
}

static void test_index_zero_later(void **state)
{
    (void)state;
    struct stream_options options = STREAM_OPTIONS_INIT;
    char *path = text_file("x.svm", "a 1:1\nb 0:1\n");
    options.index_base = 1;
    expect(path, &options, "x.svm:2: indices begin with 1 here: '0:1'");
    path_free(path);
}

static void test_files(void **state)
{
    (void)state;
    char *path = path_make("x.svm");
    expect(path, NULL, "x.svm: No such file or directory");
    assert_int_equal(mkdir(path, 0700), 0);
    expect(path, NULL, "x.svm: is a directory");
    rmdir(path);
    file_write(path, "a 1:1\n", 6);
    chmod(path, 0);
    if (access(path, R_OK) != 0) /* root may read all */
        expect(path, NULL, "x.svm: Permission denied");
    path_free(path);
    struct stream *s;
    hunch_error error;
    assert_int_equal(stream_open(&s, NULL, 0, NULL, &error), HUNCH_EINVAL);
    assert_string_equal(error.message, "no input files");
}

/* Cut or changed in the middle, every compressed form is reported. */
static void test_damaged_compressed(void **state)
{
    (void)state;
    static const char *const tools[] = {"gzip", "bzip2", "xz", "zstd"};
    char *plain = path_make("x.svm");
    FILE *file = fopen(plain, "w");
    for (int i = 0; i < 30000; i++)
        fprintf(file, "%d %d:%g\n", i % 3, 1 + i * 7 % 1000, i * 0.37);
    fclose(file);
    for (size_t i = 0; i < 4; i++) {
        char command[1024], message[64];
        char *packed = path_make("packed");
        snprintf(command, sizeof command, "%s -1 -c < '%s' > '%s' 2>/dev/null", tools[i], plain, packed);
        if (system(command) != 0) {
            printf("SKIPPED: no %s\n", tools[i]);
        } else {
            struct stat status;
            assert_int_equal(stat(packed, &status), 0);
            assert_int_equal(truncate(packed, status.st_size * 2 / 3), 0);
            snprintf(message, sizeof message, "packed: truncated %s data", tools[i]);
            expect(packed, NULL, message);
            assert_int_equal(truncate(packed, 8), 0); /* hardly more than the magic */
            snprintf(message, sizeof message, "packed: truncated %s data", tools[i]);
            expect(packed, NULL, message);
        }
        path_free(packed);
    }
    path_free(plain);
}

static void test_skipping(void **state)
{
    (void)state;
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct seen rows;
    hunch_error error;
    uint64_t skipped = 0;
    char *path = text_file("x.svm", "a 1:1\nbad 1:x\nb 2:1 1:1\nc 3:1\n");
    const char *paths[] = {path};
    options.skip_bad_rows = true;
    assert_int_equal(seen_try(paths, 1, &options, &rows, &skipped, &error), HUNCH_OK);
    assert_int_equal(skipped, 2);
    assert_int_equal(rows.rows, 2);
    assert_string_equal(seen_label(&rows, 1), "c");
    assert_int_equal(rows.line[1], 4);
    seen_free(&rows);
    path_free(path);
}

/* The rows before a bad one in an earlier batch arrive; then the same failure, again and again. */
static void test_failure_stays(void **state)
{
    (void)state;
    char *path = path_make("x.svm");
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 100000; i++)
        fprintf(file, "%d %d:1\n", i % 3, i + 1);
    fputs("a b c\n", file);
    fclose(file);
    const char *paths[] = {path};
    struct stream *s;
    struct rows batch = {0};
    hunch_error error;
    size_t rows = 0;
    assert_int_equal(stream_open(&s, paths, 1, NULL, &error), HUNCH_OK);
    while (!stream_next(s, &batch, &error))
        rows += batch.n;
    assert_true(rows > 0 && rows < 100000);
    for (int i = 0; i < 3; i++) {
        memset(&error, 0, sizeof error);
        assert_int_equal(stream_next(s, &batch, &error), HUNCH_EINVAL);
        assert_int_equal(batch.n, 0);
        assert_non_null(strstr(error.message, "x.svm:100001: expected index:value: 'b'"));
    }
    rows_free(&batch);
    stream_close(s);
    path_free(path);
}

static void test_other_formats(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"x.arff", "@relation r\n% names\n@attribute a numeric\n@attribute b whatever\n@data\n",
         "x.arff:4: the type of the attribute 'b' is not known"},
        {"x.csv", "a,label\n1,x\n1\n",
         "x.csv:3: fewer cells than the 2 columns of the header (--on-error skip leaves such rows out)"},
        {"x.csv", "a,label\n1,x,2\n",
         "x.csv:2: more cells than the 2 columns of the header (--on-error skip leaves such rows out)"},
        {"x.csv", "a,b,label\n1,y,x\n2,\"y \\\"z, z\\\"\",x\n",
         "x.csv:3: more cells than the 3 columns of the header; a quote within quotes is written twice in CSV, not as \\\""},
        {"x.csv", "a,label\n\"1,x\n", "x.csv:2: a quoted cell has no closing quote"},
        {"x.csv", "a,label\n", "x.csv:1: there are no rows after the header"},
        {"x.csv", "\"a,label\n", "x.csv:1: the header does not end"},
        {"x.vw", "1 2 3\n", "x.vw:1: '|' is missing"},
        {"x.vw", "1 |a b:x\n", "x.vw:1: invalid value: 'b:x'"},
        {"x.vw", "1 |a :1\n", "x.vw:1: a feature has no name: ':1'"},
        {"x.vw", "1 x |a b\n", "x.vw:1: invalid importance: 'x'"},
        {"x.vw", "1:0.5 |a b\n", "x.vw:1: labels with costs are not supported: '1:0.5'"},
        {"x.vw", "1 |a:x b\n", "x.vw:1: invalid scale of a namespace: 'a:x'"},
        {"x.vw", "1 |a b:3e38 b:3e38\n", "x.vw:1: value out of range"},
        {"x.jsonl", "{\"x\": {}}\n[1]\n", "x.jsonl:2: not a JSON object"},
        {"x.jsonl", "{\"label\": 1}\n",
         "x.jsonl:1: no usable features: none of 1 column is a number, a category, a date or a text"},
        {"x.jsonl", "{\"x\": 1}\n", "x.jsonl:1: \"x\" must be an object or an array"},
        {"x.jsonl", "{\"label\": [], \"x\": []}\n", "x.jsonl:1: \"label\" is neither string, number nor boolean"},
        {"x.jsonl", "{\"x\": {\"a\": []}}\n", "x.jsonl:1: 'a' is neither number, string nor boolean"},
        {"x.jsonl", "{\"x\": {\"a\": 1e300}}\n", "x.jsonl:1: value out of range: 'a'"},
        {"x.jsonl", "{\"index\": [1], \"value\": []}\n",
         "x.jsonl:1: \"index\" and \"value\" must be arrays of the same length"},
        {"x.jsonl", "{\"index\": [1, 1], \"value\": [1, 1]}\n", "x.jsonl:1: a feature occurs twice"},
        {"x.jsonl", "{\"index\": [-1], \"value\": [1]}\n", "x.jsonl:1: an index is not a whole number from 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_text(cases[i].name, cases[i].text, cases[i].message);
}

/* A column is of numbers by the file's first block; what comes later must agree. */
static void test_number_column(void **state)
{
    (void)state;
    char *path = path_make("x.csv");
    FILE *file = fopen(path, "w");
    fputs("size,label\n", file);
    for (int i = 0; i < 300000; i++)
        fprintf(file, "%d,a\n", i % 100);
    fputs("large,b\n", file);
    fclose(file);
    expect(
        path, NULL,
        "x.csv:300002: column 'size' contains numbers, but 'large' is not one (--missing, --category, --on-error skip)");
    path_free(path);
}

static void test_mixed_names(void **state)
{
    (void)state;
    char *a = text_file("a.svm", "x 1:1\n"), *b = text_file("b.vw", "x | y\n");
    const char *paths[] = {a, b};
    struct seen rows;
    hunch_error error;
    assert_int_equal(seen_try(paths, 2, NULL, &rows, NULL, &error), HUNCH_EINVAL);
    assert_non_null(strstr(error.message, "b.vw: its features have names, unlike those of "));
    seen_free(&rows);
    path_free(a);
    path_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svmlight),      cmocka_unit_test(test_index_zero_later),
        cmocka_unit_test(test_files),         cmocka_unit_test(test_damaged_compressed),
        cmocka_unit_test(test_skipping),      cmocka_unit_test(test_failure_stays),
        cmocka_unit_test(test_other_formats), cmocka_unit_test(test_number_column),
        cmocka_unit_test(test_mixed_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
