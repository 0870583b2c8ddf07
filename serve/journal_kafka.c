/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of a group of nodes: a Kafka topic of one partition, which is one order for all, kept by several brokers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "journal.h"
#include "kafka.h"
#include "record.h"
#include "store_shared.h"

struct topic_journal {
    struct journal journal;
    struct kafka *kafka;
    struct kafka_reader reader;
    bool reading;        /* the applier's, like the reader */
    _Atomic int64_t end; /* the reader's; -1: not known yet */
    int64_t from;
    char topic[250];
    uint64_t origin, counter;
};

static bool topic_open(struct journal **ret, struct event_store *store, void *context, struct http_error *err)
{
    struct topic_journal *t = calloc(1, sizeof *t);
    if (!t)
        return http_error_no_memory(err);
    t->journal = (struct journal){.kind = journal_shared, .store = store};
    t->kafka = context;
    t->end = -1;
    t->from = (int64_t)store->shared.offset;
    snprintf(t->topic, sizeof t->topic, "%s", store->shared.topic);
    if (getrandom(&t->origin, sizeof t->origin, 0) != sizeof t->origin) {
        free(t);
        return http_error_set(err, 503, "no_randomness", "the system gives no random numbers");
    }
    *ret = &t->journal;
    return true;
}

static bool topic_propose(struct journal *j, struct event *const *events, size_t n, struct http_error *err)
{
    struct topic_journal *t = (struct topic_journal *)j;
    struct text record = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        events[i]->source.origin = t->origin;
        events[i]->source.counter = t->counter + 1;
        record.length = 0;
        record_write(events[i], &record);
        ok = !record.failed ? kafka_send(t->kafka, t->topic, NULL, record.data, record.length, err)
                            : http_error_no_memory(err);
        t->counter += ok;
    }
    text_free(&record);
    return ok;
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
        e->time_ms = rd_kafka_message_timestamp(m, &type);
    }
    *ret = e;
    return true;
}

static bool topic_ends(struct journal *j, uint64_t *ret_first, uint64_t *ret_last, struct http_error *err)
{
    int64_t end = ((struct topic_journal *)j)->end;
    if (end < 0)
        return http_error_set(err, 503, "journal", "the topic has not been read yet");
    *ret_first = 0;
    *ret_last = (uint64_t)end - 1;
    return true;
}

static void topic_doubt(struct journal *j)
{
    const struct topic_journal *t = (const struct topic_journal *)j;
    kafka_doubt(t->kafka, t->topic);
}

static void topic_close(struct journal *j)
{
    struct topic_journal *t = (struct topic_journal *)j;
    if (t->reading)
        kafka_reader_close(&t->reader);
    kafka_abandon(t->kafka, t->topic);
    free(t);
}

static const struct journal_kind kind = {
    .name = "kafka",
    .shared = true,
    .open = topic_open,
    .propose = topic_propose,
    .next = topic_next,
    .ends = topic_ends,
    .doubt = topic_doubt,
    .close = topic_close,
};

const struct journal_kind *const journal_shared = &kind;
