/* SPDX-License-Identifier: BSD-3-Clause */
/* Topics: made, deleted, looked at, read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kafka.h"
#include "log.h"

#define ADMIN_MS 10000

static bool broker_error(struct http_error *err, const char *doing, const char *topic, const char *what)
{
    http_error_set(err, 503, "journal", "Kafka: %s topic %s: %s", doing, topic, what);
    err->retry = 1;
    return false;
}

/* --- administration: one request, one reply; not even asked while brokers do not answer, which would take long --- */

struct admin {
    rd_kafka_AdminOptions_t *options;
    rd_kafka_queue_t *queue;
};

static struct admin admin_begin(struct kafka *k, rd_kafka_admin_op_t what)
{
    char ignored[64];
    struct admin a = {rd_kafka_AdminOptions_new(k->admin, what), rd_kafka_queue_new(k->admin)};
    rd_kafka_AdminOptions_set_request_timeout(a.options, ADMIN_MS, ignored, sizeof ignored);
    if (what != RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS)
        rd_kafka_AdminOptions_set_operation_timeout(a.options, ADMIN_MS, ignored, sizeof ignored);
    return a;
}

/* To be destroyed by the caller; NULL: no reply. */
static rd_kafka_event_t *admin_end(struct admin *a)
{
    rd_kafka_event_t *reply = rd_kafka_queue_poll(a->queue, ADMIN_MS + 1000);
    rd_kafka_queue_destroy(a->queue);
    rd_kafka_AdminOptions_destroy(a->options);
    return reply;
}

static const char *reply_error(rd_kafka_event_t *reply)
{
    if (!reply)
        return "no reply";
    return rd_kafka_event_error(reply) ? rd_kafka_event_error_string(reply) : NULL;
}

/* What the reply says about the one topic; fine: the error that is none. */
static bool topic_done(const rd_kafka_topic_result_t *const *results, size_t n, rd_kafka_resp_err_t fine,
                       const char **ret_why)
{
    rd_kafka_resp_err_t code = n ? rd_kafka_topic_result_error(results[0]) : RD_KAFKA_RESP_ERR__FAIL;
    *ret_why = rd_kafka_err2str(code);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR || code == fine;
}

bool kafka_topic_make(struct kafka *k, const char *topic, const char *const *config, struct http_error *err)
{
    char why[256] = "", in_sync[24];
    const char *wrong = why;
    size_t n = 0;
    if (!kafka_health(k, err))
        return false;
    rd_kafka_NewTopic_t *new = rd_kafka_NewTopic_new(topic, 1, (int)k->settings.replicas, why, sizeof why);
    if (!new)
        return broker_error(err, "making", topic, why);
    snprintf(in_sync, sizeof in_sync, "%lld", (long long)k->settings.in_sync);
    rd_kafka_NewTopic_set_config(new, "min.insync.replicas", in_sync);
    rd_kafka_NewTopic_set_config(new, "unclean.leader.election.enable", "false");
    for (size_t i = 0; config[i]; i += 2)
        rd_kafka_NewTopic_set_config(new, config[i], config[i + 1]);
    struct admin a = admin_begin(k, RD_KAFKA_ADMIN_OP_CREATETOPICS);
    rd_kafka_CreateTopics(k->admin, &new, 1, a.options, a.queue);
    rd_kafka_event_t *reply = admin_end(&a);
    bool ok = !(wrong = reply_error(reply));
    if (ok) {
        const rd_kafka_topic_result_t **all =
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(reply), &n);
        ok = topic_done(all, n, RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS, &wrong);
    }
    if (!ok)
        broker_error(err, "making", topic, wrong);
    if (reply)
        rd_kafka_event_destroy(reply);
    rd_kafka_NewTopic_destroy(new);
    return ok;
}

bool kafka_topic_delete(struct kafka *k, const char *topic, struct http_error *err)
{
    const char *wrong;
    size_t n = 0;
    if (!kafka_health(k, err))
        return false;
    rd_kafka_DeleteTopic_t *old = rd_kafka_DeleteTopic_new(topic);
    struct admin a = admin_begin(k, RD_KAFKA_ADMIN_OP_DELETETOPICS);
    rd_kafka_DeleteTopics(k->admin, &old, 1, a.options, a.queue);
    rd_kafka_event_t *reply = admin_end(&a);
    bool ok = !(wrong = reply_error(reply));
    if (ok) {
        const rd_kafka_topic_result_t **all =
            rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(reply), &n);
        ok = topic_done(all, n, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, &wrong);
    }
    if (!ok)
        broker_error(err, "deleting", topic, wrong);
    if (reply)
        rd_kafka_event_destroy(reply);
    rd_kafka_DeleteTopic_destroy(old);
    return ok;
}

static bool setting_of(rd_kafka_event_t *reply, const char *name, int64_t *ret)
{
    size_t n = 0, entries = 0;
    const rd_kafka_ConfigResource_t **all =
        rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(reply), &n);
    if (!n || rd_kafka_ConfigResource_error(all[0]) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    const rd_kafka_ConfigEntry_t **entry = rd_kafka_ConfigResource_configs(all[0], &entries);
    for (size_t i = 0; i < entries; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entry[i]);
        if (strcmp(rd_kafka_ConfigEntry_name(entry[i]), name) == 0 && value) {
            *ret = strtoll(value, NULL, 10);
            return true;
        }
    }
    return false;
}

bool kafka_topic_setting(struct kafka *k, const char *topic, const char *name, int64_t *ret, struct http_error *err)
{
    if (!kafka_health(k, err))
        return false;
    rd_kafka_ConfigResource_t *about = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    struct admin a = admin_begin(k, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_DescribeConfigs(k->admin, &about, 1, a.options, a.queue);
    rd_kafka_event_t *reply = admin_end(&a);
    const char *wrong = reply_error(reply);
    bool ok = !wrong && setting_of(reply, name, ret);
    if (!ok)
        broker_error(err, "looking at", topic, wrong ? wrong : "it has no such setting");
    if (reply)
        rd_kafka_event_destroy(reply);
    rd_kafka_ConfigResource_destroy(about);
    return ok;
}

/* A topic that was not there a moment ago would be remembered as missing for a while. */
static void ask_again(struct kafka *k, const char *topic)
{
    const struct rd_kafka_metadata *about = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(k->admin, topic, NULL);
    if (handle && rd_kafka_metadata(k->admin, 0, handle, &about, 3000) == RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_metadata_destroy(about);
    if (handle)
        rd_kafka_topic_destroy(handle);
}

bool kafka_topic_ends(struct kafka *k, const char *topic, int64_t *ret_first, int64_t *ret_end, struct http_error *err)
{
    ask_again(k, topic);
    rd_kafka_resp_err_t code = rd_kafka_query_watermark_offsets(k->admin, topic, 0, ret_first, ret_end, 3000);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR || broker_error(err, "looking at", topic, rd_kafka_err2str(code));
}

/* --- reading --- */

bool kafka_reader_open(struct kafka_reader *ret, struct kafka *k, const char *topic, int64_t offset,
                       struct http_error *err)
{
    struct kafka_reader r = {.kafka = k, .next = offset, .end = -1};
    snprintf(r.topic, sizeof r.topic, "%s", topic);
    r.handle = rd_kafka_topic_new(k->consumer, topic, NULL);
    r.queue = rd_kafka_queue_new(k->consumer);
    *ret = r;
    if (r.handle && r.queue && rd_kafka_consume_start_queue(r.handle, 0, offset, r.queue) == 0)
        return true;
    broker_error(err, "reading", topic, rd_kafka_err2str(rd_kafka_last_error()));
    kafka_reader_close(ret);
    return false;
}

static void something_came(rd_kafka_t *rk, void *reader)
{
    const struct kafka_reader *r = reader;
    (void)rk;
    r->ready(r->context);
}

void kafka_reader_watch(struct kafka_reader *r, void (*ready)(void *context), void *context)
{
    r->ready = ready;
    r->context = context;
    rd_kafka_queue_cb_event_enable(r->queue, something_came, r);
}

static void forget_batch(struct kafka_reader *r)
{
    for (size_t i = 0; i < r->n; i++)
        rd_kafka_message_destroy(r->batch[i]);
    r->n = r->at = 0;
}

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
        r->out_of_range = true;
        http_error_set(err, 503, "gone", "topic %s no longer has what comes next (offset %lld)", r->topic,
                       (long long)r->next);
        return true;
    default:
        return false;
    }
}

static bool in_order(struct kafka_reader *r, const rd_kafka_message_t *m, struct http_error *err)
{
    if (r->next >= 0 && m->offset > r->next && !r->holes)
        return http_error_set(err, 503, "damaged", "topic %s has a hole: offset %lld follows %lld", r->topic,
                              (long long)m->offset, (long long)r->next - 1);
    r->next = m->offset + 1;
    r->caught_up = false;
    if (r->end < r->next)
        r->end = r->next;
    return true;
}

bool kafka_reader_next(struct kafka_reader *r, int wait_ms, const rd_kafka_message_t **ret, struct http_error *err)
{
    if (r->out_of_range)
        return http_error_set(err, 503, "gone", "topic %s no longer has what comes next", r->topic);
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
    return true;
}

void kafka_reader_close(struct kafka_reader *r)
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
    *r = (struct kafka_reader){0};
}
