/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of a group of nodes: a Kafka topic of one partition, which is one order for all, kept by several brokers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "cluster/journal.h"
#include "cluster/kafka.h"
#include "event/record.h"
#include "util/log.h"

#define REPORT_NS INT64_C(60000000000)

struct topic_journal {
    struct journal journal;
    struct kafka *kafka;
    struct kafka_reader reader;
    bool reading;        /* the applier's, like the reader */
    _Atomic int64_t end; /* the reader's; -1: not known yet */
    int64_t from;
    char topic[250];
    uint64_t origin, counter;
    int64_t reported_ns; /* when it was last told that the broker's clock is ahead; 0: never */
};

static bool topic_open(struct journal **ret, void *context, const char *topic, uint64_t offset, struct http_error *err)
{
    struct topic_journal *t = calloc(1, sizeof *t);
    if (!t)
        return http_error_no_memory(err);
    t->journal = (struct journal){.kind = &journal_kafka};
    t->kafka = context;
    t->end = -1;
    t->from = (int64_t)offset;
    snprintf(t->topic, sizeof t->topic, "%s", topic);
    if (getrandom(&t->origin, sizeof t->origin, 0) != sizeof t->origin) {
        free(t);
        return http_error_set(err, 503, "no_randomness", "the system's random number generator failed");
    }
    *ret = &t->journal;
    return true;
}

static bool topic_propose(struct journal *j, struct event *e, struct http_error *err)
{
    struct topic_journal *t = (struct topic_journal *)j;
    struct text record = {0};
    e->source.origin = t->origin;
    e->source.counter = t->counter + 1;
    record_write(e, &record);
    bool ok = !record.failed ? kafka_send(t->kafka, t->topic, NULL, record.data, record.length, err)
                             : http_error_no_memory(err);
    t->counter += ok;
    text_free(&record);
    return ok;
}

static void note_time(struct topic_journal *t, struct event *e, int64_t broker_ms)
{
    int64_t time_ms = record_time(broker_ms, e->time_ms), now = clock_now();
    if (time_ms < broker_ms && (!t->reported_ns || now - t->reported_ns > REPORT_NS)) {
        log_event("broker_clock_ahead", "{s:s,s:f}", "topic", t->topic, "seconds",
                  (double)(broker_ms - e->time_ms) * 1e-3);
        t->reported_ns = now;
    }
    e->time_ms = time_ms;
}

static bool topic_next(struct journal *j, struct event **ret, struct http_error *err)
{
    struct topic_journal *t = (struct topic_journal *)j;
    const rd_kafka_message_t *m;
    rd_kafka_timestamp_type_t type;
    struct event *e = NULL;
    if (!t->reading) {
        t->reading = kafka_reader_open(&t->reader, t->kafka, t->topic, t->from, err);
        if (!t->reading)
            return false;
        kafka_reader_watch(&t->reader, j->ready, j->context);
    }
    bool ok = kafka_reader_next(&t->reader, 0, &m, err);
    t->end = t->reader.end;
    if (!ok)
        return false;
    if (m && !record_read(m->payload, m->len, &e, err))
        return false;
    if (e) {
        e->source.offset = (uint64_t)m->offset;
        note_time(t, e, rd_kafka_message_timestamp(m, &type));
    }
    *ret = e;
    return true;
}

static bool topic_end(struct journal *j, uint64_t *ret)
{
    int64_t end = ((struct topic_journal *)j)->end;
    *ret = end < 0 ? 0 : (uint64_t)end;
    return end >= 0;
}

static void topic_recheck(struct journal *j)
{
    const struct topic_journal *t = (const struct topic_journal *)j;
    kafka_recheck(t->kafka, t->topic);
}

static void topic_close(struct journal *j)
{
    struct topic_journal *t = (struct topic_journal *)j;
    if (t->reading)
        kafka_reader_close(&t->reader);
    kafka_abandon(t->kafka, t->topic);
    free(t);
}

const struct journal_kind journal_kafka = {
    .open = topic_open,
    .propose = topic_propose,
    .next = topic_next,
    .end = topic_end,
    .recheck = topic_recheck,
    .close = topic_close,
};
