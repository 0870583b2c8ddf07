/* SPDX-License-Identifier: BSD-3-Clause */
/* The producer: records on their way to the brokers. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cluster/kafka.h"
#include "util/log.h"

#define POLL_MS 50
#define END_NS INT64_C(3000000000)
#define PROBE_NS INT64_C(1000000000) /* between looks at whether brokers answer */
#define CHECK_NS INT64_C(5000000000) /* between looks at whether readers come on */
#define SUSPECT_NS INT64_C(2000000000)
#define REFUSED_NS INT64_C(60000000000) /* a topic that has refused a record is said to, for so long */
#define STUCK_NS INT64_C(5000000000)    /* a record that waits longer: the brokers do not take any */

struct outgoing {
    struct outgoing *before, *after;
    char topic[250], key[200];
    bool keyed, abandoned;
    int64_t since_ns;
    size_t size;
    void *bytes;
};

/* --- making producers and consumers --- */

static bool conf_set(rd_kafka_conf_t *c, const char *name, const char *value, struct http_error *err)
{
    char why[256];
    return rd_kafka_conf_set(c, name, value, why, sizeof why) == RD_KAFKA_CONF_OK ||
           http_error_set(err, 400, "kafka", "%s", why);
}

static void quiet(const rd_kafka_t *rk, int level, const char *where, const char *text)
{
    if (level <= 3 && !brokers_refused(text))
        log_event("kafka", "{s:s,s:s}", "where", where, "text", text);
}

/* "Timed out" alone does not tell a wrong password from a cable. That all brokers are down says less than why one is.
 */
static void connection_failed(rd_kafka_t *rk, int code, const char *text, void *opaque)
{
    struct kafka *k = ((const struct kafka_role *)opaque)->kafka;
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR__FATAL || brokers_refused(text))
        return;
    pthread_mutex_lock(&k->trouble_lock); /* any thread that polls a client comes here */
    snprintf(k->trouble, sizeof k->trouble, "%s", text);
    pthread_mutex_unlock(&k->trouble_lock);
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque);

/* Settings of the file come first, so that what correctness rests on can't be set there. */
static rd_kafka_t *client_new(struct kafka_role *role, rd_kafka_type_t type, const char *const *own,
                              struct http_error *err)
{
    const struct kafka *k = role->kafka;
    static const char *const common[] = {"client.id",
                                         "hunch",
                                         "log_level",
                                         "3",
                                         "reconnect.backoff.ms",
                                         "50",
                                         "reconnect.backoff.max.ms",
                                         "1000",
                                         "socket.keepalive.enable",
                                         "true",
                                         "topic.metadata.refresh.interval.ms",
                                         "10000",
                                         "socket.timeout.ms",
                                         "10000",
                                         NULL};
    /* A topic that is new to a consumer is read when the fetch of the others has come back. */
    static const char *const fast[][5] = {{"linger.ms", "1", "request.timeout.ms", "5000", NULL},
                                          {"fetch.error.backoff.ms", "50", "fetch.wait.max.ms", "100", NULL}};
    const char *const *pace = fast[type == RD_KAFKA_CONSUMER];
    rd_kafka_conf_t *c = rd_kafka_conf_new();
    char why[256] = "";
    bool ok = true;
    for (size_t i = 0; ok && common[i]; i += 2)
        ok = conf_set(c, common[i], common[i + 1], err);
    for (size_t i = 0; ok && pace[i]; i += 2)
        ok = conf_set(c, pace[i], pace[i + 1], err);
    for (size_t i = 0; ok && i < k->settings.pairs_n; i += 2)
        ok = conf_set(c, k->settings.pairs[i], k->settings.pairs[i + 1], err);
    for (size_t i = 0; ok && own[i]; i += 2)
        ok = conf_set(c, own[i], own[i + 1], err);
    rd_kafka_conf_set_log_cb(c, quiet);
    rd_kafka_conf_set_error_cb(c, connection_failed);
    rd_kafka_conf_set_opaque(c, role);
    brokers_guard(c);
    if (type == RD_KAFKA_PRODUCER)
        rd_kafka_conf_set_dr_msg_cb(c, delivered);
    rd_kafka_t *made = ok ? rd_kafka_new(type, c, why, sizeof why) : NULL;
    if (made)
        return made;
    rd_kafka_conf_destroy(c);
    if (ok)
        http_error_set(err, 503, "kafka", "%s", why);
    return NULL;
}

static rd_kafka_t *producer_new(struct kafka *k, struct http_error *err)
{
    char messages[24], bytes[24];
    snprintf(messages, sizeof messages, "%lld", (long long)k->settings.queue * 2);
    snprintf(bytes, sizeof bytes, "%lld", (long long)k->settings.record_bytes);
    const char *const own[] = {"enable.idempotence",
                               "true",
                               "acks",
                               "all",
                               "message.timeout.ms",
                               "0",
                               "queue.buffering.max.messages",
                               messages,
                               "message.max.bytes",
                               bytes,
                               NULL};
    return client_new(&k->works, RD_KAFKA_PRODUCER, own, err);
}

static rd_kafka_t *consumer_new(struct kafka *k, struct http_error *err)
{
    char bytes[24];
    snprintf(bytes, sizeof bytes, "%lld", (long long)k->settings.record_bytes * 2);
    const char *const own[] = {"enable.auto.commit",
                               "false",
                               "auto.offset.reset",
                               "error",
                               "enable.partition.eof",
                               "true",
                               "fetch.message.max.bytes",
                               bytes,
                               "queued.max.messages.kbytes",
                               "32768",
                               "check.crcs",
                               "true",
                               "allow.auto.create.topics",
                               "false",
                               NULL};
    return client_new(&k->works, RD_KAFKA_CONSUMER, own, err);
}

static rd_kafka_t *probe_client_new(struct kafka_role *role, const char *const *own)
{
    struct http_error ignored;
    return client_new(role, RD_KAFKA_PRODUCER, own, &ignored);
}

/* --- and ending them --- */

struct ending {
    rd_kafka_t *client;
    _Atomic bool done;
    _Atomic int holders; /* the last one frees it */
};

static void ending_leave(struct ending *e)
{
    if (atomic_fetch_sub(&e->holders, 1) == 1)
        free(e);
}

static void *end_client(void *ending)
{
    struct ending *e = ending;
    rd_kafka_destroy(e->client);
    e->done = true;
    ending_leave(e);
    return NULL;
}

/* librdkafka 2.0.2 may wait for ever when topics have been deleted meanwhile: then it is left behind, with its threads.
 */
static bool client_end(struct kafka *k, rd_kafka_t *client)
{
    pthread_t thread;
    struct ending *e = malloc(sizeof *e);
    if (e)
        *e = (struct ending){.client = client, .holders = 2};
    if (!e || pthread_create(&thread, NULL, end_client, e) != 0) {
        free(e);
        rd_kafka_destroy(client);
        return true;
    }
    pthread_detach(thread);
    for (int64_t until = clock_now() + END_NS; !e->done && clock_now() < until;)
        clock_sleep_ms(2);
    bool ended = e->done;
    ending_leave(e);
    k->left = k->left || !ended;
    if (!ended)
        log_event("kafka_client_left", "{s:s}", "reason", "librdkafka does not end");
    return ended;
}

/* --- what has been handed over --- */

static void unlink_outgoing(struct kafka *k, struct outgoing *o)
{
    *(o->before ? &o->before->after : &k->first) = o->after;
    *(o->after ? &o->after->before : &k->last) = o->before;
    k->waiting--;
    k->waiting_bytes -= o->size;
    free(o);
}

/* Errors that sending again does not mend. */
static bool hopeless(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
        return true;
    default:
        return false;
    }
}

static void delivered(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct kafka *k = ((const struct kafka_role *)opaque)->kafka;
    struct outgoing *o = m->_private;
    pthread_mutex_lock(&k->lock);
    if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        histogram_add(&k->metrics->propose, clock_now() - o->since_ns);
        unlink_outgoing(k, o);
    } else if (hopeless(m->err)) {
        log_event("record_refused", "{s:s,s:s}", "topic", o->topic, "reason", rd_kafka_err2str(m->err));
        if (!o->abandoned) {
            snprintf(k->refusing, sizeof k->refusing, "%s", o->topic);
            snprintf(k->refused_why, sizeof k->refused_why, "%s", rd_kafka_err2str(m->err));
            k->refused_ns = clock_now();
        }
        unlink_outgoing(k, o);
    } else {
        k->renew = true; /* kept; sent again, with all that came after it, by another producer */
    }
    pthread_mutex_unlock(&k->lock);
}

static rd_kafka_resp_err_t produce(struct kafka *k, struct outgoing *o)
{
    return rd_kafka_producev(k->producer, RD_KAFKA_V_TOPIC(o->topic), RD_KAFKA_V_PARTITION(0),
                             RD_KAFKA_V_KEY(o->keyed ? o->key : NULL, o->keyed ? strlen(o->key) : 0),
                             RD_KAFKA_V_VALUE(o->bytes, o->size), RD_KAFKA_V_MSGFLAGS(0), RD_KAFKA_V_OPAQUE(o),
                             RD_KAFKA_V_END);
}

static struct outgoing *outgoing_new(const char *topic, const char *key, const void *bytes, size_t size)
{
    struct outgoing *o = malloc(sizeof *o + size);
    if (!o)
        return NULL;
    *o = (struct outgoing){.keyed = key != NULL, .since_ns = clock_now(), .size = size, .bytes = bytes ? o + 1 : NULL};
    snprintf(o->topic, sizeof o->topic, "%s", topic);
    if (key)
        snprintf(o->key, sizeof o->key, "%s", key);
    if (size)
        memcpy(o + 1, bytes, size);
    return o;
}

bool kafka_send(struct kafka *k, const char *topic, const char *key, const void *bytes, size_t size,
                struct http_error *err)
{
    struct outgoing *o = outgoing_new(topic, key, bytes, size);
    if (!o)
        return http_error_no_memory(err);
    pthread_mutex_lock(&k->lock);
    bool ok = k->waiting < (size_t)k->settings.queue && k->waiting_bytes + size <= (size_t)k->settings.queue_bytes;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    /* While a producer is being replaced, the list alone takes it; what it does not take for good ends there too. */
    if (ok && !k->renew && (code = produce(k, o)) != RD_KAFKA_RESP_ERR_NO_ERROR)
        ok = rd_kafka_fatal_error(k->producer, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
    if (ok) {
        k->renew = k->renew || code != RD_KAFKA_RESP_ERR_NO_ERROR;
        o->before = k->last;
        *(k->last ? &k->last->after : &k->first) = o;
        k->last = o;
        k->waiting++;
        k->waiting_bytes += size;
    }
    size_t waiting = k->waiting;
    pthread_mutex_unlock(&k->lock);
    if (ok)
        return true;
    free(o);
    if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        return http_error_set(err, 413, "too_large", "the record is too large for the journal");
    http_error_set(err, 503, "busy", "the journal cannot keep up: %zu records wait for it", waiting);
    err->retry = 1;
    return false;
}

bool kafka_refuses(struct kafka *k, const char *topic, char ret_why[100])
{
    pthread_mutex_lock(&k->lock);
    bool refuses = k->refused_ns && clock_now() - k->refused_ns < REFUSED_NS && strcmp(k->refusing, topic) == 0;
    if (refuses)
        memcpy(ret_why, k->refused_why, sizeof k->refused_why);
    pthread_mutex_unlock(&k->lock);
    return refuses;
}

void kafka_waiting(struct kafka *k, size_t *ret_n, int64_t *ret_oldest_ns)
{
    pthread_mutex_lock(&k->lock);
    const struct outgoing *o = k->first;
    while (o && o->abandoned)
        o = o->after;
    *ret_n = k->waiting;
    *ret_oldest_ns = o ? clock_now() - o->since_ns : 0;
    pthread_mutex_unlock(&k->lock);
}

void kafka_abandon(struct kafka *k, const char *topic)
{
    pthread_mutex_lock(&k->lock);
    for (struct outgoing *o = k->first; o; o = o->after)
        o->abandoned = o->abandoned || strcmp(o->topic, topic) == 0;
    pthread_mutex_unlock(&k->lock);
}

/* The old one's reports come before it is gone; what it has not delivered is still in the list, in order. */
static void renew_producer(struct kafka *k)
{
    struct http_error err = {0};
    char why[200] = "records failed";
    rd_kafka_fatal_error(k->producer, why, sizeof why);
    pthread_mutex_lock(&k->lock);
    k->renew = true;
    pthread_mutex_unlock(&k->lock);
    rd_kafka_purge(k->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    while (rd_kafka_outq_len(k->producer) > 0)
        rd_kafka_poll(k->producer, POLL_MS);
    rd_kafka_t *made = producer_new(k, &err);
    if (!made)
        return; /* tried again at the next turn */
    rd_kafka_t *old = k->producer;
    pthread_mutex_lock(&k->lock);
    k->producer = made;
    size_t n = 0;
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (struct outgoing *o = k->first; o && code == RD_KAFKA_RESP_ERR_NO_ERROR; o = o->after, n++)
        code = produce(k, o);
    k->renew = code != RD_KAFKA_RESP_ERR_NO_ERROR;
    pthread_mutex_unlock(&k->lock);
    client_end(k, old);
    atomic_fetch_add(&k->metrics->producers_renewed, 1);
    log_event("producer_renewed", "{s:s,s:I}", "reason", why, "sent_again", (json_int_t)n);
}

/* --- whether brokers answer --- */

/* Any broker that is reached tells, and the client learns who leads its topics. */
static rd_kafka_resp_err_t ask_brokers(struct kafka *k, rd_kafka_t *client)
{
    const struct rd_kafka_metadata *metadata = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(client, 0, NULL, &metadata, 1000);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        brokers_learn(&k->brokers, metadata);
        rd_kafka_metadata_destroy(metadata);
    }
    return code;
}

/* The topic whose records are not taken, or not read back; false: there is none. */
static bool suspected(struct kafka *k, char ret_topic[250])
{
    pthread_mutex_lock(&k->lock);
    const struct outgoing *o = k->first;
    while (o && o->abandoned)
        o = o->after;
    bool late = o && clock_now() - o->since_ns > SUSPECT_NS;
    snprintf(ret_topic, 250, "%s", late ? o->topic : k->doubted);
    k->doubted[0] = 0;
    pthread_mutex_unlock(&k->lock);
    return ret_topic[0];
}

void kafka_recheck(struct kafka *k, const char *topic)
{
    pthread_mutex_lock(&k->lock);
    snprintf(k->doubted, sizeof k->doubted, "%s", topic);
    pthread_mutex_unlock(&k->lock);
}

static void probe(struct kafka *k)
{
    rd_kafka_resp_err_t code = ask_brokers(k, k->consumer);
    char topic[250];
    size_t waiting;
    int64_t oldest;
    kafka_waiting(k, &waiting, &oldest);
    if (oldest > PROBE_NS) /* who leads may have changed */
        ask_brokers(k, k->producer);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        brokers_learn(&k->brokers, NULL);
    else if (suspected(k, topic))
        brokers_examine(&k->brokers, k, topic);
    bool answered = code == RD_KAFKA_RESP_ERR_NO_ERROR, up = answered && oldest < STUCK_NS;
    rd_kafka_poll(k->consumer, 0); /* for its errors */
    char trouble[sizeof k->trouble] = "";
    pthread_mutex_lock(&k->trouble_lock);
    if (answered)
        k->trouble[0] = 0;
    else
        snprintf(trouble, sizeof trouble, "%s", k->trouble);
    pthread_mutex_unlock(&k->trouble_lock);
    pthread_mutex_lock(&k->lock);
    if (answered)
        snprintf(k->why, sizeof k->why, "brokers are reachable but reject writes (too few in-sync replicas?)");
    else
        snprintf(k->why, sizeof k->why, "%.60s%s%.180s", rd_kafka_err2str(code), trouble[0] ? ": " : "", trouble);
    pthread_mutex_unlock(&k->lock);
    if (up != k->up || !k->probed)
        log_event(up ? "kafka_up" : "kafka_away", "{s:s}", "reason", up ? "" : k->why);
    k->up = up;
    k->probed = true;
}

bool kafka_health(struct kafka *k, struct http_error *err)
{
    size_t waiting;
    int64_t oldest;
    kafka_waiting(k, &waiting, &oldest);
    if (k->up && oldest < k->settings.wait_ms * 1000000)
        return true;
    pthread_mutex_lock(&k->lock);
    http_error_set(err, 503, "journal", "Kafka: %s", k->why);
    pthread_mutex_unlock(&k->lock);
    err->retry = 1;
    return false;
}

static void *poll_run(void *kafka)
{
    struct kafka *k = kafka;
    int64_t probed = 0, checked = clock_now();
    while (!k->stop) {
        rd_kafka_poll(k->producer, POLL_MS);
        rd_kafka_poll(k->admin, 0);
        pthread_mutex_lock(&k->lock);
        bool renew = k->renew;
        pthread_mutex_unlock(&k->lock);
        if (renew || rd_kafka_fatal_error(k->producer, NULL, 0) != RD_KAFKA_RESP_ERR_NO_ERROR)
            renew_producer(k);
        if (clock_now() - probed > PROBE_NS) {
            probe(k);
            probed = clock_now();
        }
        if (k->up && clock_now() - checked > CHECK_NS) {
            kafka_readers_check(k);
            checked = clock_now();
        }
    }
    return NULL;
}

bool kafka_open(struct kafka **ret, const struct serve_options *options, struct metrics *metrics,
                struct http_error *err)
{
    struct kafka *k = calloc(1, sizeof *k);
    if (!k)
        return http_error_no_memory(err);
    k->metrics = metrics;
    k->works = (struct kafka_role){.kafka = k, .brokers = &k->brokers};
    k->brokers.client_new = probe_client_new;
    k->brokers.client_end = client_end;
    snprintf(k->why, sizeof k->why, "no broker has answered yet");
    pthread_mutex_init(&k->lock, NULL);
    pthread_mutex_init(&k->trouble_lock, NULL);
    pthread_mutex_init(&k->brokers.lock, NULL);
    if (kafka_settings_read(&k->settings, options, err) && (k->producer = producer_new(k, err)) &&
        (k->consumer = consumer_new(k, err)) && (k->admin = producer_new(k, err))) {
        k->poller_runs = pthread_create(&k->poller, NULL, poll_run, k) == 0;
        if (k->poller_runs) {
            *ret = k;
            return true;
        }
        http_error_set(err, 503, "thread", "no thread could be started");
    }
    kafka_close(k);
    return false;
}

size_t kafka_drain(struct kafka *k, unsigned patience_s)
{
    size_t waiting;
    int64_t oldest, until = clock_now() + patience_s * INT64_C(1000000000);
    for (kafka_waiting(k, &waiting, &oldest); oldest && k->up && clock_now() < until;) {
        clock_sleep_ms(5);
        kafka_waiting(k, &waiting, &oldest);
    }
    return waiting;
}

void kafka_close(struct kafka *k)
{
    if (!k)
        return;
    k->stop = true;
    if (k->poller_runs)
        pthread_join(k->poller, NULL);
    if (k->producer) {
        rd_kafka_purge(k->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        for (int i = 0; i < 100 && rd_kafka_outq_len(k->producer) > 0; i++)
            rd_kafka_poll(k->producer, POLL_MS);
        client_end(k, k->producer);
    }
    while (k->first)
        unlink_outgoing(k, k->first);
    if (k->consumer)
        client_end(k, k->consumer);
    if (k->admin)
        client_end(k, k->admin);
    kafka_settings_free(&k->settings);
    if (k->left) /* its threads go on closing and making connections until the process ends */
        return;
    pthread_mutex_destroy(&k->lock);
    pthread_mutex_destroy(&k->trouble_lock);
    pthread_mutex_destroy(&k->brokers.lock);
    free(k);
}
