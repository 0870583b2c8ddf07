/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of svmlight text: what is read, and that it does not depend on how. "test_stream N": N mutated lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "table/parser.h"
#include "slow_svmlight.h"
#include "base/rng.h"
#include "stream_helper.h"
#include "synth.h"

static uint64_t wanted = 100000;

static void test_plain(void **state)
{
    (void)state;
    char *path = text_file("a.svm", "# a comment\n"
                                    "spam 1:0.5 3:-2e-1 7:1 # why\n"
                                    "\n"
                                    "ham qid:7 2:0 4294967294:3\r\n"
                                    "  spam\t2:1.25\t \n"
                                    "eggs\n"
                                    "3:1 4:2\n"
                                    "ham 1:1e-50 2:1");
    struct seen r = seen_read(path, NULL);
    static const uint32_t index[] = {0, 2, 6, 4294967293, 1, 2, 3, 1};
    static const float value[] = {0.5f, -0.2f, 1, 3, 1.25f, 1, 2, 1};
    static const char *const labels[] = {"spam", "ham", "spam", "eggs", "", "ham"};
    static const size_t start[] = {0, 3, 4, 5, 5, 7, 8};
    static const uint64_t lines[] = {2, 4, 5, 6, 7, 8};
    assert_int_equal(r.rows, 6);
    assert_memory_equal(r.start, start, sizeof start);
    assert_memory_equal(r.index, index, sizeof index);
    assert_memory_equal(r.value, value, sizeof value);
    assert_memory_equal(r.line, lines, sizeof lines);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(seen_label(&r, i), labels[i]);
    seen_free(&r);
    path_free(path);
}

static int base_of(const char *text, int told)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct stream *s;
    hunch_error error;
    char *path = text_file("a.svm", text);
    options.index_base = told;
    const char *paths[] = {path};
    assert_int_equal(stream_open(&s, paths, 1, &options, &error), HUNCH_OK);
    int base = stream_index_base(s);
    stream_close(s);
    path_free(path);
    return base;
}

static void test_index_base(void **state)
{
    (void)state;
    assert_int_equal(base_of("a 1:1\nb 5:1\n", -1), 1);
    assert_int_equal(base_of("a 1:1\nb 0:1\n", -1), 0);
    assert_int_equal(base_of("a 1:1\nb 0:0 1:3\n", -1), 0); /* a zero value counts too */
    assert_int_equal(base_of("a 1:1\nb qid:3 00:1\n", -1), 0);
    assert_int_equal(base_of("a 10:1\n", -1), 1);
    assert_int_equal(base_of("a 1:1\n", 0), 0);
}

static void test_label_order(void **state)
{
    (void)state;
    struct stream *s;
    struct rows batch = {0};
    hunch_error error;
    char *path = text_file("a.svm", "# labels: x y z\nz 1:1\ny 1:1\nw 1:1\n");
    const char *paths[] = {path};
    assert_int_equal(stream_open(&s, paths, 1, NULL, &error), HUNCH_OK);
    assert_int_equal(stream_next(s, &batch, &error), HUNCH_OK);
    assert_int_equal(batch.n, 3);
    assert_int_equal(batch.label[0], 2);
    assert_int_equal(batch.label[1], 1);
    assert_int_equal(batch.label[2], 3);
    assert_int_equal(names_count(stream_labels(s)), 4);
    assert_int_equal(stream_next(s, &batch, &error), HUNCH_OK);
    assert_int_equal(batch.n, 0);
    assert_int_equal(stream_next(s, &batch, &error), HUNCH_OK);
    assert_int_equal(stream_bytes_read(s), stream_bytes_total(s));
    rows_free(&batch);
    stream_close(s);
    path_free(path);
}

/* A list of other labels is a comment, with a remark for the user. */
static void test_label_order_of_others(void **state)
{
    (void)state;
    struct stream *s;
    struct rows batch = {0};
    hunch_error error;
    char *path = text_file("a.svm", "# labels: x y z\n1 1:1\nx 1:1\n");
    const char *paths[] = {path};
    assert_int_equal(stream_open(&s, paths, 1, NULL, &error), HUNCH_OK);
    assert_int_equal(stream_next(s, &batch, &error), HUNCH_OK);
    assert_int_equal(batch.n, 2);
    assert_int_equal(batch.label[0], 0);
    assert_int_equal(batch.label[1], 1);
    assert_int_equal(names_count(stream_labels(s)), 2);
    assert_int_equal(names_count(stream_remarks(s)), 1);
    assert_non_null(strstr(names_text(stream_remarks(s), 0, NULL), "does not list the label '1' of line 2"));
    rows_free(&batch);
    stream_close(s);
    path_free(path);
}

/* Short labels go through a table; none of these is another one. */
static void test_labels_with_nul(void **state)
{
    (void)state;
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct seen rows;
    hunch_error error;
    uint64_t skipped;
    static const char text[] = "a 1:1\na\0 1:1\n\0\0 1:1\nabcdefgh 1:1\nabcdefg 1:1\n";
    char *path = path_make("a.svm");
    const char *paths[] = {path};
    file_write(path, text, sizeof text - 1);
    options.skip_bad_rows = true;
    assert_int_equal(seen_try(paths, 1, &options, &rows, &skipped, &error), HUNCH_OK);
    assert_int_equal(rows.rows, 3);
    assert_int_equal(skipped, 2);
    assert_string_equal(seen_label(&rows, 2), "abcdefg");
    seen_free(&rows);
    path_free(path);
}

/* Text of some megabytes, with lines of all lengths. */
static char *large_file(int rows, size_t *ret_size)
{
    char *path = path_make("large.svm");
    FILE *file = fopen(path, "w");
    struct rng random = {7};
    for (int i = 0; i < rows; i++) {
        uint64_t n = rng_below(&random, i % 1000 == 0 ? 20000 : 40), at = 0;
        fprintf(file, "class%d", (int)rng_below(&random, 50));
        for (uint64_t j = 0; j < n; j++)
            fprintf(file, " %llu:%.*g", (unsigned long long)(at += 1 + rng_below(&random, 9)),
                    (int)rng_below(&random, 12), rng_uniform(&random) * 100 - 50);
        fputs(i % 3 ? "\n" : " # note\n", file);
    }
    *ret_size = (size_t)ftell(file);
    fclose(file);
    return path;
}

static void test_threads_and_batches(void **state)
{
    (void)state;
    size_t size;
    char *path = large_file(20000, &size);
    struct stream_options options = STREAM_OPTIONS_INIT;
    assert_true(size > 3 << 20);
    struct seen first = seen_read(path, &options);
    assert_int_equal(first.rows, 20000);
    static const size_t sizes[] = {400, 5000, 1 << 20, 1 << 23};
    for (size_t i = 0; i < 4; i++)
        for (int threads = 0; threads < 2; threads++) {
            seen_by_pipeline = threads;
            options.batch_bytes = sizes[i];
            struct seen again = seen_read(path, &options);
            assert_seen_equal(&first, &again);
            assert_memory_equal(first.line, again.line, first.rows * sizeof *first.line);
            seen_free(&again);
        }
    seen_free(&first);
    path_free(path);
}

static void test_early_close(void **state)
{
    (void)state;
    size_t size;
    char *path = large_file(20000, &size);
    const char *paths[] = {path};
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct pipeline_options reading = {0};
    for (int taken = 0; taken < 4; taken++) {
        struct stream *s;
        struct pipeline *p;
        struct rows *rows;
        hunch_error error;
        assert_int_equal(stream_open(&s, paths, 1, &options, &error), HUNCH_OK);
        assert_int_equal(pipeline_start(&p, s, &reading, &error), HUNCH_OK);
        for (int i = 0; i < taken; i++) {
            assert_int_equal(pipeline_next(p, &rows, &error), HUNCH_OK);
            pipeline_return(p, rows);
        }
        pipeline_stop(p);
        stream_close(s);
    }
    stream_close(NULL);
    path_free(path);
}

static void test_compressed(void **state)
{
    (void)state;
    static const char *const tools[] = {"gzip", "bzip2", "xz", "zstd"};
    size_t size;
    char *path = large_file(4000, &size);
    struct seen first = seen_read(path, NULL);
    assert_true(size > 3 << 19);
    for (size_t i = 0; i < 4; i++) {
        char command[1024];
        char *packed = path_make("packed"); /* recognised by content */
        snprintf(command, sizeof command, "%s -1 -c < '%s' > '%s' 2>/dev/null", tools[i], path, packed);
        int result = system(command);
        if (result != 0) {
            printf("SKIPPED: no %s\n", tools[i]);
        } else {
            for (int threads = 0; threads < 2; threads++) {
                seen_by_pipeline = threads;
                struct seen again = seen_read(packed, NULL);
                assert_seen_equal(&first, &again);
                seen_free(&again);
            }
        }
        path_free(packed);
    }
    seen_free(&first);
    path_free(path);
}

static void test_several_files(void **state)
{
    (void)state;
    char *a = text_file("a.svm", "x 1:1\ny 2:1\n"), *b = text_file("b.svm", "y 3:1\nz 1:5");
    const char *paths[] = {a, b, a};
    struct stream *s;
    struct rows batch = {0};
    hunch_error error;
    uint32_t labels[6] = {0}, files[6] = {0};
    size_t n = 0;
    assert_int_equal(stream_open(&s, paths, 3, NULL, &error), HUNCH_OK);
    while (!stream_next(s, &batch, &error) && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++, n++) {
            labels[n] = batch.label[i];
            files[n] = batch.file;
        }
    static const uint32_t labels_right[] = {0, 1, 1, 2, 0, 1}, files_right[] = {0, 0, 1, 1, 2, 2};
    assert_int_equal(n, 6);
    assert_memory_equal(labels, labels_right, sizeof labels);
    assert_memory_equal(files, files_right, sizeof files);
    rows_free(&batch);
    stream_close(s);
    path_free(a);
    path_free(b);
}

static void test_known_labels(void **state)
{
    (void)state;
    struct names *known = names_new();
    struct stream_options options = STREAM_OPTIONS_INIT;
    char *path = text_file("a.svm", "b 1:1\nc 1:1\n");
    struct seen rows;
    names_add(known, "a", 1);
    names_add(known, "b", 1);
    options.labels = known;
    rows = seen_read(path, &options);
    assert_string_equal(seen_label(&rows, 1), "c");
    seen_free(&rows);
    names_free(known);
    path_free(path);
}

static void test_long_line(void **state)
{
    (void)state;
    enum { VALUES = 400000 };
    char *path = path_make("long.svm");
    FILE *file = fopen(path, "w");
    fputs("a", file);
    for (int i = 1; i <= VALUES; i++)
        fprintf(file, " %d:1.5", i);
    fputs("\nb 1:1\n", file);
    fclose(file);
    struct seen r = seen_read(path, NULL);
    assert_int_equal(r.rows, 2);
    assert_int_equal(r.start[1], VALUES);
    assert_int_equal(r.index[VALUES - 1], VALUES - 1);
    seen_free(&r);
    path_free(path);
}

/* --- the fast reader against the slow one --- */

static size_t mutate(struct rng *random, char *line, size_t length, size_t room)
{
    static const char letters[] = " \t:.-+eE0123456789#\r\001\177\377qidnafx  ::..11";
    for (uint64_t edits = rng_below(random, 5); edits > 0; edits--) {
        size_t at = (size_t)rng_below(random, length + 1);
        char letter = letters[rng_below(random, sizeof letters - 1)];
        uint64_t what = rng_below(random, 4);
        if (what == 0 && at < length) {
            line[at] = letter;
        } else if (what == 1 && at < length) {
            memmove(line + at, line + at + 1, length - at - 1);
            length--;
        } else if (what == 2 && length < room) {
            memmove(line + at + 1, line + at, length - at);
            line[at] = letter;
            length++;
        } else if (what == 3) { /* a piece of it once more, somewhere */
            size_t n = (size_t)rng_below(random, 12), from = (size_t)rng_below(random, length + 1);
            n = n < length - from ? n : length - from;
            if (length + n > room)
                continue;
            char piece[16];
            memcpy(piece, line + from, n);
            memmove(line + at + n, line + at, length - at);
            memcpy(line + at, piece, n);
            length += n;
        }
    }
    return length;
}

static void lines_compare(const char *line, size_t length, int base, pairs_read *run, const struct slow_row *slow)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct rows batch = {0};
    hunch_error error = {{0}};
    size_t used, size = length + 1;
    char *text = malloc(size + LINES_PADDING), expected[64];
    struct parser p = {
        .format = &format_svmlight, .options = &options, .path = "t", .line = 3, .last = true, .base = base};
    p.labels = names_new();
    p.pairs = run;
    memcpy(text, line, length);
    text[length] = '\n';
    memset(text + size, 0, LINES_PADDING);
    hunch_status status = format_svmlight.parse(&p, text, size, &batch, &used, &error);
    snprintf(expected, sizeof expected, "t:3: %s", slow->what ? slow->what : "");
    if ((status != HUNCH_OK) != (slow->what != NULL) ||
        (status && strncmp(error.message, expected, strlen(expected)) != 0))
        fail_msg("'%.*s': '%s' instead of '%s'", (int)length, line, error.message, expected);
    if (!status)
        assert_int_equal(batch.n, !slow->empty);
    if (!status && !slow->empty) {
        if (batch.start[1] != (int64_t)slow->n || memcmp(batch.index, slow->index, slow->n * 4) != 0 ||
            memcmp(batch.value, slow->value, slow->n * 4) != 0)
            fail_msg("'%.*s': other numbers", (int)length, line);
        assert_int_equal(batch.label[0], slow->labelled ? 0 : STREAM_NO_LABEL);
        if (slow->labelled)
            assert_int_equal(names_find(p.labels, slow->label, slow->label_length), 0);
    }
    names_free(p.labels);
    rows_free(&batch);
    free(text);
}

static void test_fast_equals_slow(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "1 1:0.123456 2:0.98123 3:0.5 4:-0.25 5:1 6:12.5 7:0.0078125 8:1e-05",
        "spam 123:1 4567:0.1234 89012:1 3456789:0.00392157 12345678:-7.5",
        "+1 qid:12 1:3 2:-0.00 3:1.5e3 4:.5 5:5. # comment 1:2",
        "-1 0:1 1:16777217 2:0.30000001192092896 3:123456789.123456789 4:1e38",
        "a 4294967294:1 4294967295:1",
        "3:4 5:6",
        "  x\t1:2 \t 3:4\r",
        "# nothing",
        "label",
        "1:nan 2:inf 3:0x10",
        "c 1:0.12345678 2:0.123456789 3:1234567.1234567 4:12345678.5 100000000:2",
    };
    struct rng random = {11};
    struct slow_row *slow = malloc(sizeof *slow);
    for (uint64_t i = 0; i < wanted; i++) {
        char line[512];
        const char *seed = seeds[rng_below(&random, sizeof seeds / sizeof *seeds)];
        strcpy(line, seed);
        size_t length = mutate(&random, line, strlen(seed), 400);
        int base = (int)(i & 1);
        slow_line(line, length, base, slow);
        lines_compare(line, length, base, pairs_read_plain, slow);
        lines_compare(line, length, base, NULL, slow);
    }
    free(slow);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_index_base),
        cmocka_unit_test(test_label_order),
        cmocka_unit_test(test_label_order_of_others),
        cmocka_unit_test(test_threads_and_batches),
        cmocka_unit_test(test_labels_with_nul),
        cmocka_unit_test(test_early_close),
        cmocka_unit_test(test_compressed),
        cmocka_unit_test(test_several_files),
        cmocka_unit_test(test_known_labels),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_fast_equals_slow),
    };
    if (argc > 1)
        wanted = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
