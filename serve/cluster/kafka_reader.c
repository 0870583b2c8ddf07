/* SPDX-License-Identifier: BSD-3-Clause */
/* Topics: read. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/kafka.h"
#include "util/log.h"

#define LOOK_NS INT64_C(250000000)   /* between looks at whether a lost place is there again */
#define CHECK_MS 1000                /* that brokers may take to say where topics end */
#define LOST_NS INT64_C(60000000000) /* after that a topic that ends before what was read has lost it */

/* --- opening and closing --- */

/* A client reads a topic once: a reader that stopped would stop the other one too. */
static bool claim(struct kafka_reader *r, struct http_error *err)
{
    struct kafka *k = r->kafka;
    pthread_mutex_lock(&k->lock);
    const struct kafka_reader *other = k->readers;
    while (other && strcmp(other->topic, r->topic))
        other = other->neighbour;
    if (!other) {
        r->neighbour = k->readers;
        k->readers = r;
    }
    pthread_mutex_unlock(&k->lock);
    return !other || kafka_topic_error(err, "reading", r->topic, "the previous reader has not stopped yet");
}

static void unclaim(const struct kafka_reader *r)
{
    struct kafka *k = r->kafka;
    pthread_mutex_lock(&k->lock);
    struct kafka_reader **at = &k->readers;
    while (*at && *at != r)
        at = &(*at)->neighbour;
    if (*at)
        *at = r->neighbour;
    pthread_mutex_unlock(&k->lock);
}

static bool start(struct kafka_reader *r, int64_t offset, struct http_error *err)
{
    r->handle = rd_kafka_topic_new(r->kafka->consumer, r->topic, NULL);
    r->queue = rd_kafka_queue_new(r->kafka->consumer);
    return (r->handle && r->queue && rd_kafka_consume_start_queue(r->handle, 0, offset, r->queue) == 0) ||
           kafka_topic_error(err, "reading", r->topic, rd_kafka_err2str(rd_kafka_last_error()));
}

bool kafka_reader_open(struct kafka_reader *ret, struct kafka *k, const char *topic, int64_t offset,
                       struct http_error *err)
{
    *ret = (struct kafka_reader){.kafka = k, .next = offset, .end = -1, .checked = INT64_MIN};
    snprintf(ret->topic, sizeof ret->topic, "%s", topic);
    if (!claim(ret, err)) {
        *ret = (struct kafka_reader){0};
        return false;
    }
    if (start(ret, offset, err))
        return true;
    kafka_reader_close(ret);
    return false;
}

static void forget_batch(struct kafka_reader *r)
{
    for (size_t i = 0; i < r->n; i++)
        rd_kafka_message_destroy(r->batch[i]);
    r->n = r->at = 0;
}

static void stop(struct kafka_reader *r)
{
    if (r->queue)
        rd_kafka_queue_cb_event_enable(r->queue, NULL, NULL);
    if (r->handle)
        rd_kafka_consume_stop(r->handle, 0);
    forget_batch(r);
    if (r->queue)
        rd_kafka_queue_destroy(r->queue);
    if (r->handle)
        rd_kafka_topic_destroy(r->handle);
    r->queue = NULL;
    r->handle = NULL;
}

void kafka_reader_close(struct kafka_reader *r)
{
    if (!r->kafka)
        return;
    stop(r);
    unclaim(r);
    *r = (struct kafka_reader){0};
}

static void something_came(rd_kafka_t *rk, void *reader)
{
    const struct kafka_reader *r = reader;
    r->ready(r->context);
}

void kafka_reader_watch(struct kafka_reader *r, void (*ready)(void *context), void *context)
{
    pthread_mutex_lock(&r->kafka->lock);
    r->ready = ready;
    r->context = context;
    pthread_mutex_unlock(&r->kafka->lock);
    rd_kafka_queue_cb_event_enable(r->queue, something_came, r);
}

/* --- the place in the topic --- */

bool kafka_reader_seek(struct kafka_reader *r, int64_t offset, struct http_error *err)
{
    stop(r);
    r->next = offset;
    r->stuck = false;
    bool ok = start(r, offset, err);
    r->lost_ns = ok ? 0 : clock_now(); /* it is tried again */
    if (ok && r->ready)
        kafka_reader_watch(r, r->ready, r->context);
    return ok;
}

/* A broker that was cut off, or has just come back, may think that it leads, and has less than the others have
 * acknowledged: a place behind its end is no reason to give up what has been read. A place before the beginning is. */
static bool position_exists(struct kafka_reader *r, struct http_error *err)
{
    int64_t first, end;
    if (!kafka_health(r->kafka, err) || !kafka_topic_ends(r->kafka, r->topic, &first, &end, err))
        return false;
    if (r->next < 0 || (r->next >= first && r->next <= end))
        return true;
    if (r->next < first || clock_now() - r->lost_ns > LOST_NS)
        return http_error_set(err, 503, "gone", "topic %s no longer contains the next event (offset %lld)", r->topic,
                              (long long)r->next);
    kafka_recheck(r->kafka, r->topic);
    return kafka_topic_error(err, "reading", r->topic, "the leader's log ends before the offset that was read last");
}

/* Goes on where it was, if that is possible now. */
static bool find_position(struct kafka_reader *r, int wait_ms, struct http_error *err)
{
    int64_t now = clock_now();
    if (now - r->looked_ns < LOOK_NS) {
        clock_sleep_ms(wait_ms);
        return kafka_topic_error(err, "reading", r->topic, "the reading position is being searched");
    }
    r->looked_ns = now;
    if (!position_exists(r, err))
        return false;
    log_event("place_found", "{s:s,s:I}", "topic", r->topic, "offset", (json_int_t)r->next);
    return kafka_reader_seek(r, r->next, err);
}

/* --- records --- */

/* Errors that pass are librdkafka's own business: it tries again. */
static bool reading_failed(struct kafka_reader *r, const rd_kafka_message_t *m, struct http_error *err)
{
    switch (m->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        r->end = m->offset;
        r->caught_up = true;
        return false;
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
        r->lost_ns = clock_now();
        log_event("place_lost", "{s:s,s:I}", "topic", r->topic, "offset", (json_int_t)r->next);
        kafka_topic_error(err, "reading", r->topic, "the reading position is being searched");
        return true;
    default:
        return false;
    }
}

static bool in_order(struct kafka_reader *r, const rd_kafka_message_t *m, struct http_error *err)
{
    if (r->next >= 0 && m->offset > r->next && !r->holes)
        return http_error_set(err, 503, "damaged", "topic %s has a gap: offset %lld follows %lld", r->topic,
                              (long long)m->offset, (long long)r->next - 1);
    r->next = m->offset + 1;
    r->caught_up = false;
    if (r->end < r->next)
        r->end = r->next;
    return true;
}

bool kafka_reader_next(struct kafka_reader *r, int wait_ms, const rd_kafka_message_t **ret, struct http_error *err)
{
    if (r->stuck && !r->lost_ns) {
        log_event("reading_stuck", "{s:s,s:I}", "topic", r->topic, "offset", (json_int_t)r->next);
        r->lost_ns = clock_now();
    }
    if (r->lost_ns && !find_position(r, wait_ms, err))
        return false;
    if (r->at == r->n) {
        int64_t low, high;
        forget_batch(r);
        /* A batch would be waited for until it is full: one first, then those that are there. */
        ssize_t n = rd_kafka_consume_batch_queue(r->queue, wait_ms, r->batch, 1);
        r->n = n > 0 ? (size_t)n : 0;
        if (r->n)
            n = rd_kafka_consume_batch_queue(r->queue, 0, r->batch + 1, sizeof r->batch / sizeof *r->batch - 1);
        r->n += r->n && n > 0 ? (size_t)n : 0;
        if (r->n && rd_kafka_get_watermark_offsets(r->kafka->consumer, r->topic, 0, &low, &high) == 0 && high > r->end)
            r->end = high;
    }
    *ret = NULL;
    while (r->at < r->n && !*ret) {
        const rd_kafka_message_t *m = r->batch[r->at++];
        if (m->err) {
            if (reading_failed(r, m, err))
                return false;
        } else if (m->offset >= r->next || r->next < 0) {
            if (!in_order(r, m, err))
                return false;
            *ret = m;
        }
    }
    r->empty = !*ret;
    return true;
}

/* --- where topics end --- */

static rd_kafka_topic_partition_list_t *topics_read(struct kafka *k)
{
    rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(8);
    pthread_mutex_lock(&k->lock);
    for (const struct kafka_reader *r = k->readers; r; r = r->neighbour)
        rd_kafka_topic_partition_list_add(all, r->topic, 0)->offset = RD_KAFKA_OFFSET_END;
    pthread_mutex_unlock(&k->lock);
    return all;
}

/* Under the lock. */
static void check(struct kafka_reader *r, int64_t end)
{
    int64_t next = r->next;
    if (end > r->end)
        r->end = end;
    if (next >= 0 && next < end) {
        r->stuck = r->stuck || (r->empty && next == r->checked);
        if (r->ready)
            r->ready(r->context);
    }
    r->checked = next;
}

/* Partition errors of the reader's topic, looked for from *at on, since both lists are in the same order but for who came
 * or went meanwhile. NULL: nothing. */
static const rd_kafka_topic_partition_t *position_of(const rd_kafka_topic_partition_list_t *all, const char *topic,
                                                     int *at)
{
    for (int i = 0; i < all->cnt; i++) {
        const rd_kafka_topic_partition_t *position = &all->elems[(*at + i) % all->cnt];
        if (strcmp(position->topic, topic) == 0) {
            *at += i + 1;
            return position->err == RD_KAFKA_RESP_ERR_NO_ERROR && position->offset >= 0 ? position : NULL;
        }
    }
    return NULL;
}

void kafka_readers_check(struct kafka *k)
{
    rd_kafka_topic_partition_list_t *all = topics_read(k);
    if (all->cnt && rd_kafka_offsets_for_times(k->admin, all, CHECK_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        int at = 0;
        pthread_mutex_lock(&k->lock);
        for (struct kafka_reader *r = k->readers; r; r = r->neighbour) {
            const rd_kafka_topic_partition_t *position = position_of(all, r->topic, &at);
            if (position)
                check(r, position->offset);
        }
        pthread_mutex_unlock(&k->lock);
    }
    rd_kafka_topic_partition_list_destroy(all);
}
