/* SPDX-License-Identifier: BSD-3-Clause */
/* Topics are read once at a time, a place that a broker does not have is looked for, errors of brokers lose no record, and
 * there is always a broker that is listened to; over librdkafka's own brokers, which live in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <cmocka.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "../temporary.h"
#include "base/clock.h"
#include "cluster/kafka.h"

#define PATIENCE_NS INT64_C(60000000000)

static rd_kafka_t *host; /* of the brokers */
static rd_kafka_mock_cluster_t *brokers;
static struct metrics metrics;
static struct kafka *kafka;

static void open_kafka(void)
{
    char *folder = temporary_folder(), *path = NULL;
    assert_non_null(folder);
    assert_true(asprintf(&path, "%s/kafka", folder) > 0);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "bootstrap.servers = %s\n", rd_kafka_mock_cluster_bootstraps(brokers));
    fclose(f);
    struct http_error err = {0};
    struct serve_options options = {.kafka = path};
    options.limits.queue = 1000;
    options.limits.queue_bytes = 1 << 20;
    if (!kafka_open(&kafka, &options, &metrics, &err))
        fail_msg("%s", err.message);
    assert_int_equal(temporary_remove(folder), 0);
    free(path);
    free(folder);
}

static int begin(void **state)
{
    char why[256];
    (void)state;
    host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof why);
    brokers = rd_kafka_mock_cluster_new(host, 3);
    assert_non_null(brokers);
    open_kafka();
    return 0;
}

static int end(void **state)
{
    (void)state;
    kafka_close(kafka);
    rd_kafka_mock_cluster_destroy(brokers);
    rd_kafka_destroy(host);
    return 0;
}

/* Records "0", "1", ... up to, but not, `to`. */
static void write_records(const char *topic, int from, int to)
{
    char text[20];
    for (int i = from; i < to; i++) {
        struct http_error err = {0};
        snprintf(text, sizeof text, "%d", i);
        assert_true(kafka_send(kafka, topic, NULL, text, strlen(text), &err));
    }
    size_t waiting = 1;
    int64_t oldest;
    for (int64_t until = clock_now() + PATIENCE_NS; waiting; kafka_waiting(kafka, &waiting, &oldest))
        assert_true(clock_now() < until);
}

/* The next record's number; errors that pass are waited for, and counted. */
static int read_record(struct kafka_reader *r, int *errors)
{
    for (int64_t until = clock_now() + PATIENCE_NS; clock_now() < until;) {
        struct http_error err = {0};
        const rd_kafka_message_t *m = NULL;
        if (!kafka_reader_next(r, 20, &m, &err)) {
            assert_string_equal(err.code, "journal");
            ++*errors;
        }
        if (m) {
            char text[20] = "";
            memcpy(text, m->payload, m->len < sizeof text ? m->len : 0);
            return atoi(text);
        }
    }
    fail_msg("nothing came");
    return -1;
}

/* A new topic of n records, read from an offset on. */
static void open_reader(struct kafka_reader *ret, const char *topic, int records, int64_t offset)
{
    struct http_error err = {0};
    assert_int_equal(rd_kafka_mock_topic_create(brokers, topic, 1, 3), 0);
    write_records(topic, 0, records);
    assert_true(kafka_reader_open(ret, kafka, topic, offset, &err));
}

static void test_one_reader_at_a_time(void **state)
{
    struct kafka_reader first, second;
    struct http_error err = {0};
    int errors = 0;
    (void)state;
    open_reader(&first, "once", 5, 0);
    assert_int_equal(read_record(&first, &errors), 0);
    assert_false(kafka_reader_open(&second, kafka, "once", 0, &err));
    assert_string_equal(err.code, "journal");
    kafka_reader_close(&second);
    for (int i = 1; i < 5; i++)
        assert_int_equal(read_record(&first, &errors), i);
    kafka_reader_close(&first);
    assert_true(kafka_reader_open(&second, kafka, "once", 3, &err));
    assert_int_equal(read_record(&second, &errors), 3);
    kafka_reader_close(&second);
    kafka_reader_close(&second);
}

static void look_for_a_while(struct kafka_reader *r)
{
    bool lost = false;
    for (int64_t until = clock_now() + PATIENCE_NS, enough = 0; !enough || clock_now() < enough;) {
        struct http_error err = {0};
        const rd_kafka_message_t *m = NULL;
        bool ok = kafka_reader_next(r, 20, &m, &err);
        assert_null(m);
        assert_true(ok || strcmp(err.code, "journal") == 0);
        if (!ok && !lost)
            enough = clock_now() + INT64_C(1500000000);
        lost = lost || !ok;
        assert_true(clock_now() < until);
    }
}

static _Atomic int calls;

static void count_call(void *context)
{
    (void)context;
    calls++;
}

static void test_place_behind_the_end_is_waited_for(void **state)
{
    struct kafka_reader r;
    int errors = 0;
    (void)state;
    open_reader(&r, "behind", 10, 20);
    kafka_reader_watch(&r, count_call, NULL);
    look_for_a_while(&r);
    write_records("behind", 10, 25);
    for (int i = 20; i < 25; i++)
        assert_int_equal(read_record(&r, &errors), i);
    int before = calls;
    write_records("behind", 25, 26);
    assert_int_equal(read_record(&r, &errors), 25);
    assert_true(calls > before); /* whoever watched still does */
    kafka_reader_close(&r);
}

/* Whatever the reason: here its reading is stopped behind its back. */
static void test_stuck_reader_begins_anew(void **state)
{
    struct kafka_reader r;
    int errors = 0;
    (void)state;
    open_reader(&r, "stuck", 3, 0);
    kafka_reader_watch(&r, count_call, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(read_record(&r, &errors), i);
    assert_int_equal(rd_kafka_consume_stop(r.handle, 0), 0);
    write_records("stuck", 3, 6);
    int before = calls;
    for (int i = 3; i < 6; i++)
        assert_int_equal(read_record(&r, &errors), i);
    assert_true(calls > before);
    assert_true(r.end >= 6);
    kafka_reader_close(&r);
}

#define PRODUCE 0 /* Kafka's number of that request */

/* Records from .. to - 1 come in their order; some may come twice, but never before one that was handed over earlier. */
static void read_in_order(struct kafka_reader *r, int from, int to)
{
    int errors = 0;
    for (int next = from; next < to;) {
        int record = read_record(r, &errors);
        assert_in_range(record, 0, next);
        next += record == next;
    }
}

static void test_errors_of_brokers(void **state)
{
    struct kafka_reader r;
    char why[100] = "";
    (void)state;
    open_reader(&r, "errors", 3, 0);
    read_in_order(&r, 0, 3);
    rd_kafka_mock_push_request_errors(brokers, PRODUCE, 5, RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
                                      RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
                                      RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND,
                                      RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
    write_records("errors", 3, 30);
    read_in_order(&r, 3, 30);
    assert_false(kafka_refuses(kafka, "errors", why));
    /* The producer is made anew, and sends again what was not acknowledged. */
    rd_kafka_mock_push_request_errors(brokers, PRODUCE, 1, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
    write_records("errors", 30, 60);
    read_in_order(&r, 30, 60);
    kafka_reader_close(&r);
}

static void test_a_record_that_is_refused(void **state)
{
    struct kafka_reader r;
    char why[100] = "";
    (void)state;
    open_reader(&r, "refused", 3, 0);
    rd_kafka_mock_push_request_errors(brokers, PRODUCE, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    write_records("refused", 99, 100); /* given up */
    assert_true(kafka_refuses(kafka, "refused", why));
    assert_true(why[0]);
    assert_false(kafka_refuses(kafka, "errors", why));
    write_records("refused", 3, 6); /* those behind it are taken */
    read_in_order(&r, 0, 6);
    kafka_reader_close(&r);
}

/* --- which brokers are listened to --- */

static bool healthy(void)
{
    struct http_error ignored = {0};
    for (int64_t until = clock_now() + PATIENCE_NS / 2; clock_now() < until;) {
        if (kafka_health(kafka, &ignored))
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return false;
}

/* Avoids all of them, as if each had been called outdated, and closes what connections there are. */
static void avoid_all(void)
{
    struct kafka_brokers *b = &kafka->brokers;
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < b->n; i++)
        b->known[i].avoided_ns = clock_now();
    for (size_t i = 0; i < b->connections_n; i++)
        shutdown(b->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&b->lock);
}

static void test_all_are_listened_to_when_no_other_answers(void **state)
{
    struct kafka_reader r;
    struct http_error ignored = {0};
    (void)state;
    open_reader(&r, "alone", 3, 0);
    assert_true(healthy());
    avoid_all();
    for (int64_t until = clock_now() + PATIENCE_NS; kafka_health(kafka, &ignored);)
        assert_true(clock_now() < until);
    assert_true(healthy());
    assert_int_equal(brokers_avoided(&kafka->brokers), 0);
    write_records("alone", 3, 6);
    read_in_order(&r, 0, 6);
    kafka_reader_close(&r);
}

/* What each broker says: the leader, and three replicas in sync (some may be the same). */
static void check_outdated(size_t n, const int32_t (*views)[4], const bool *expected)
{
    struct rd_kafka_metadata_partition about[4] = {{0}};
    const struct rd_kafka_metadata_partition *said[4] = {NULL};
    int32_t in_sync[4][3];
    for (size_t i = 0; i < n; i++) {
        memcpy(in_sync[i], views[i] + 1, sizeof in_sync[i]);
        about[i] = (struct rd_kafka_metadata_partition){.leader = views[i][0], .isr_cnt = 3, .isrs = in_sync[i]};
        said[i] = views[i][0] ? &about[i] : NULL; /* 0: it does not answer */
    }
    for (size_t i = 0; i < n; i++)
        assert_int_equal(brokers_outdated(said, n, i), expected[i]);
}

static void test_which_brokers_are_outdated(void **state)
{
    (void)state;
    /* Broker 1 was cut off as the leader; the others have elected 2. */
    check_outdated(3, (const int32_t[][4]){{1, 1, 2, 3}, {2, 2, 3, 3}, {2, 2, 3, 3}},
                   (const bool[]){true, false, false});
    /* The same without an answer of broker 3. */
    check_outdated(3, (const int32_t[][4]){{1, 1, 2, 3}, {2, 2, 3, 3}, {0}}, (const bool[]){true, false, false});
    /* When broker 1 was cut off, 3 was not in sync; now it leads. Each side says that the other's leader is none. */
    check_outdated(3, (const int32_t[][4]){{1, 1, 2, 2}, {3, 2, 3, 3}, {3, 2, 3, 3}},
                   (const bool[]){true, false, false});
    /* One against one: nobody knows which is the older. */
    check_outdated(3, (const int32_t[][4]){{1, 1, 2, 2}, {3, 2, 3, 3}, {0}}, (const bool[]){false, false, false});
    check_outdated(3, (const int32_t[][4]){{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}},
                   (const bool[]){false, false, false});
    /* Leaders change without anyone's fault, and during an election there is none. */
    check_outdated(3, (const int32_t[][4]){{1, 1, 2, 3}, {2, 1, 2, 3}, {2, 1, 2, 3}},
                   (const bool[]){false, false, false});
    check_outdated(3, (const int32_t[][4]){{1, 1, 2, 3}, {-1, 2, 3, 3}, {-1, 2, 3, 3}},
                   (const bool[]){false, false, false});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_reader_at_a_time),
        cmocka_unit_test(test_place_behind_the_end_is_waited_for),
        cmocka_unit_test(test_stuck_reader_begins_anew),
        cmocka_unit_test(test_errors_of_brokers),
        cmocka_unit_test(test_a_record_that_is_refused),
        cmocka_unit_test(test_all_are_listened_to_when_no_other_answers),
        cmocka_unit_test(test_which_brokers_are_outdated),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
