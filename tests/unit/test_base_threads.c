/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool and the queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/pool.h"
#include "base/queue.h"

#define TASKS 500

struct work {
    atomic_int done[TASKS];
    atomic_size_t begun;
    atomic_int watched, max_thread;
    size_t fails_at, stops_at;
};

static hunch_status task_run(void *context, size_t task, unsigned thread, hunch_error *reterr)
{
    struct work *w = context;
    atomic_fetch_add(&w->begun, 1);
    atomic_fetch_add(&w->done[task], 1);
    if ((int)thread > atomic_load(&w->max_thread))
        atomic_store(&w->max_thread, (int)thread);
    return task == w->fails_at ? error_set(reterr, HUNCH_EINVAL, "task %zu", task) : HUNCH_OK;
}

static bool work_stop(void *context)
{
    struct work *w = context;
    return atomic_load(&w->begun) >= w->stops_at;
}

static void work_watch(void *context)
{
    atomic_fetch_add(&((struct work *)context)->watched, 1);
}

static struct pool_job job(struct work *w, unsigned threads)
{
    return (struct pool_job){w, TASKS, threads, task_run, work_stop, work_watch};
}

static void test_pool_does_every_task_once(void **state)
{
    (void)state;
    for (unsigned threads = 0; threads < 6; threads++) {
        struct work w = {.fails_at = SIZE_MAX, .stops_at = SIZE_MAX};
        struct pool_job j = job(&w, threads);
        assert_int_equal(pool_run(&j, NULL), HUNCH_OK);
        for (int i = 0; i < TASKS; i++)
            assert_int_equal(w.done[i], 1);
        assert_true(w.watched > 0);
        assert_true(w.max_thread < (int)(threads ? threads : pool_processors()));
    }
}

static void test_pool_ends_with_the_first_failure(void **state)
{
    (void)state;
    struct work w = {.fails_at = 20, .stops_at = SIZE_MAX};
    struct pool_job j = job(&w, 1);
    hunch_error error;
    assert_int_equal(pool_run(&j, &error), HUNCH_EINVAL);
    assert_string_equal(error.message, "task 20");
    assert_int_equal(w.begun, 21);
}

static void test_pool_stops(void **state)
{
    (void)state;
    struct work w = {.fails_at = SIZE_MAX, .stops_at = 30};
    struct pool_job j = job(&w, 3);
    assert_int_equal(pool_run(&j, NULL), HUNCH_OK);
    assert_true(w.begun >= 30 && w.begun < 34);
    j.tasks = 0;
    assert_int_equal(pool_run(&j, NULL), HUNCH_OK);
}

#define ITEMS 10000

static void *produce(void *context)
{
    for (uintptr_t i = 1; i <= ITEMS; i++)
        if (!queue_push(context, (void *)i))
            return (void *)i;
    queue_end(context);
    return NULL;
}

static void test_queue_keeps_the_order(void **state)
{
    (void)state;
    struct queue q;
    pthread_t thread;
    void *item, *left = NULL;
    uintptr_t next = 0;
    assert_true(queue_init(&q, 3));
    assert_int_equal(pthread_create(&thread, NULL, produce, &q), 0);
    while ((item = queue_pop(&q)))
        assert_true((uintptr_t)item == ++next);
    assert_int_equal(next, ITEMS);
    assert_null(queue_pop(&q));
    assert_false(queue_push(&q, &q));
    pthread_join(thread, &left);
    assert_null(left);
    queue_destroy(&q);
}

static void test_closed_queue_wakes_and_leaves_its_items(void **state)
{
    (void)state;
    struct queue q;
    pthread_t thread;
    void *left = NULL;
    assert_true(queue_init(&q, 4));
    assert_int_equal(pthread_create(&thread, NULL, produce, &q), 0);
    assert_true((uintptr_t)queue_pop(&q) == 1);
    queue_close(&q);
    pthread_join(thread, &left);
    assert_non_null(left);
    assert_null(queue_pop(&q));
    for (uintptr_t i = 2; i < (uintptr_t)left; i++)
        assert_true((uintptr_t)queue_drain(&q) == i);
    assert_null(queue_drain(&q));
    queue_destroy(&q);
}

static void test_clock_goes_forward(void **state)
{
    (void)state;
    int64_t before = clock_now();
    struct timespec later = clock_after(CLOCK_MONOTONIC, 1500000000);
    assert_true(clock_now() >= before);
    assert_true(later.tv_sec * INT64_C(1000000000) + later.tv_nsec >= before + 1500000000);
    assert_true(later.tv_nsec < 1000000000);
    assert_true(clock_thread() >= 0);
    assert_true(clock_wall() > INT64_C(1500000000) * 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_does_every_task_once),
        cmocka_unit_test(test_pool_ends_with_the_first_failure),
        cmocka_unit_test(test_pool_stops),
        cmocka_unit_test(test_queue_keeps_the_order),
        cmocka_unit_test(test_closed_queue_wakes_and_leaves_its_items),
        cmocka_unit_test(test_clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
