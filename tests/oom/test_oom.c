/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The n-th allocation fails, for every n: a learner's whole life (create, learn, grow, save, load, merge) ends in a
 * clean HUNCH_ENOMEM, leaks nothing (seen by the sanitizers) and leaves what existed usable; and once everything is
 * known, a round allocates nothing. The linker sends malloc and friends here (--wrap).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "specs.h"

static long allocations, fail_at = -1;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_aligned_alloc(size_t alignment, size_t n);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t n);

static int fails(void)
{
    return ++allocations == fail_at;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return fails() ? NULL : __real_aligned_alloc(alignment, n);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t n)
{
    return fails() ? NULL : __real_strndup(text, n);
}

static struct small_stream data;

static hunch_status rounds(hunch *h, int from, int to)
{
    for (int i = from; i < to; i++) {
        hunch_vec x = small_stream_row(&data, i);
        hunch_choice c;
        hunch_status status = hunch_predict(h, &x, &c);
        if (status == HUNCH_OK)
            status = hunch_algorithm_of(h)->full_information ? hunch_teach(h, &x, data.label[i])
                                                             : hunch_feedback(h, &x, &c, c.label == data.label[i]);
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

/* Everything that allocates; whatever was made is freed again. */
static hunch_status life(const char *spec)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL, *copy = NULL;
    void *bytes = NULL;
    size_t size;
    float scores[STREAM_CLASSES + 2];
    hunch_vec x = small_stream_row(&data, 0);
    options.learner = spec;
    options.classes = STREAM_CLASSES;
    hunch_status status = hunch_create(&h, &options, NULL);
    if (status == HUNCH_OK)
        status = rounds(h, 0, 20);
    if (status == HUNCH_OK)
        status = hunch_add_classes(h, 2);
    if (status == HUNCH_OK)
        status = rounds(h, 20, 40);
    if (status == HUNCH_OK)
        status = hunch_set_meta(h, "key", "value", 5);
    if (status == HUNCH_OK)
        status = hunch_scores(h, &x, scores);
    if (status == HUNCH_OK)
        status = hunch_write(h, &bytes, &size, NULL);
    if (status == HUNCH_OK)
        status = hunch_read(&copy, bytes, size, NULL);
    if (status == HUNCH_OK && hunch_merge(h, copy) == HUNCH_ENOMEM)
        status = HUNCH_ENOMEM;
    hunch_free_bytes(bytes);
    hunch_free(copy);
    hunch_free(h);
    return status;
}

static void every_allocation_may_fail(const char *spec)
{
    for (long n = 1;; n++) {
        allocations = 0;
        fail_at = n;
        hunch_status status = life(spec);
        fail_at = -1;
        if (allocations < n) { /* nothing failed: this was the last one */
            assert_int_equal(status, HUNCH_OK);
            return;
        }
        /* Some allocations are asked for once more in a smaller size, so success is possible too. */
        assert_true(status == HUNCH_ENOMEM || status == HUNCH_OK);
    }
}

/* The same examples again and again: memory that grows with examples (support vectors) shows in hunch_bytes. */
static void rounds_allocate_nothing(const char *spec)
{
    hunch *h = learner_make(spec, 7);
    assert_int_equal(rounds(h, 0, STREAM_ROWS), HUNCH_OK);
    uint64_t bytes = hunch_bytes(h);
    allocations = 0;
    assert_int_equal(rounds(h, 0, STREAM_ROWS), HUNCH_OK);
    if (hunch_bytes(h) == bytes)
        assert_int_equal(allocations, 0);
    hunch_free(h);
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    specs_each(every_allocation_may_fail);
}

static void test_rounds_allocate_nothing(void **state)
{
    (void)state;
    specs_each(rounds_allocate_nothing);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_rounds_allocate_nothing),
    };
    specs_choose(argc, argv);
    small_stream_make(&data, 1);
    return cmocka_run_group_tests_name("oom", tests, NULL, NULL);
}
