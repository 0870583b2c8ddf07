/* SPDX-License-Identifier: BSD-3-Clause */
/* Topics: made, deleted, looked at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/kafka.h"

#define ADMIN_MS 10000

bool kafka_topic_error(struct http_error *err, const char *doing, const char *topic, const char *what)
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
        return kafka_topic_error(err, "creating", topic, why);
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
        kafka_topic_error(err, "creating", topic, wrong);
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
        kafka_topic_error(err, "deleting", topic, wrong);
    if (reply)
        rd_kafka_event_destroy(reply);
    rd_kafka_DeleteTopic_destroy(old);
    return ok;
}

/* NULL: no reply about the topic. */
static const rd_kafka_ConfigResource_t *settings_of(rd_kafka_event_t *reply)
{
    size_t n = 0;
    const rd_kafka_ConfigResource_t **all =
        rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(reply), &n);
    return n ? all[0] : NULL;
}

static const char *setting_of(const rd_kafka_ConfigResource_t *settings, const char *name)
{
    size_t n = 0;
    const rd_kafka_ConfigEntry_t **entry = rd_kafka_ConfigResource_configs(settings, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rd_kafka_ConfigEntry_name(entry[i]), name) == 0)
            return rd_kafka_ConfigEntry_value(entry[i]);
    return NULL;
}

/* problem: what is wrong, if anything is. */
static void check_rule(const struct topic_rule *rule, const char *value, char problem[TOPIC_PROBLEM])
{
    long long number = strtoll(value, NULL, 10);
    if (rule->is ? strcmp(value, rule->is) == 0 : number < 0 || number >= rule->min)
        return;
    if (rule->is)
        snprintf(problem, TOPIC_PROBLEM, "%s is %.60s instead of %s", rule->name, value, rule->is);
    else if (rule->min == INT64_MAX)
        snprintf(problem, TOPIC_PROBLEM, "%s is %lld instead of -1", rule->name, number);
    else
        snprintf(problem, TOPIC_PROBLEM, "%s is %lld, and %lld are needed", rule->name, number, (long long)rule->min);
}

/* One partition, which is one order, and as many replicas as hunch.replicas says. Gives why that is not known, or NULL. */
static const char *check_layout(struct kafka *k, const char *topic, char problem[TOPIC_PROBLEM])
{
    const struct rd_kafka_metadata *about = NULL;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(k->admin, topic, NULL);
    rd_kafka_resp_err_t code = handle ? rd_kafka_metadata(k->admin, 0, handle, &about, 3000) : RD_KAFKA_RESP_ERR__FAIL;
    const struct rd_kafka_metadata_topic *t = about && about->topic_cnt == 1 ? &about->topics[0] : NULL;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && (!t || t->partition_cnt == 0))
        code = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR && t->partition_cnt > 1)
        snprintf(problem, TOPIC_PROBLEM, "it has %d partitions instead of 1", t->partition_cnt);
    else if (code == RD_KAFKA_RESP_ERR_NO_ERROR && t->partitions[0].replica_cnt < k->settings.replicas)
        snprintf(problem, TOPIC_PROBLEM, "it has %d replicas, and hunch.replicas is %lld", t->partitions[0].replica_cnt,
                 (long long)k->settings.replicas);
    if (about)
        rd_kafka_metadata_destroy(about);
    if (handle)
        rd_kafka_topic_destroy(handle);
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? NULL : rd_kafka_err2str(code);
}

/* The same for the settings. That an account may not read them does not pass. */
static const char *check_settings(rd_kafka_event_t *reply, const struct topic_rule *rules, size_t n,
                                  char problem[TOPIC_PROBLEM])
{
    const rd_kafka_ConfigResource_t *settings = settings_of(reply);
    rd_kafka_resp_err_t code = settings ? rd_kafka_ConfigResource_error(settings) : RD_KAFKA_RESP_ERR__FAIL;
    if (code == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
        snprintf(problem, TOPIC_PROBLEM, "its settings are not known: %s", rd_kafka_err2str(code));
    else if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
        return rd_kafka_err2str(code);
    for (size_t i = 0; !problem[0] && i < n; i++) {
        const char *value = setting_of(settings, rules[i].name);
        if (value)
            check_rule(&rules[i], value, problem);
    }
    return NULL;
}

bool kafka_topic_check(struct kafka *k, const char *topic, const struct topic_rule *rules, size_t n,
                       char problem[TOPIC_PROBLEM], struct http_error *err)
{
    problem[0] = 0;
    if (!kafka_health(k, err))
        return false;
    rd_kafka_ConfigResource_t *about = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    struct admin a = admin_begin(k, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_DescribeConfigs(k->admin, &about, 1, a.options, a.queue);
    rd_kafka_event_t *reply = admin_end(&a);
    const char *wrong = reply_error(reply);
    if (!wrong)
        wrong = check_layout(k, topic, problem);
    if (!wrong && !problem[0])
        wrong = check_settings(reply, rules, n, problem);
    if (wrong)
        kafka_topic_error(err, "checking", topic, wrong);
    if (reply)
        rd_kafka_event_destroy(reply);
    rd_kafka_ConfigResource_destroy(about);
    return !wrong;
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
    return code == RD_KAFKA_RESP_ERR_NO_ERROR || kafka_topic_error(err, "checking", topic, rd_kafka_err2str(code));
}
