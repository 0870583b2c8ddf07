/* SPDX-License-Identifier: BSD-3-Clause */
/* Models in words and numbers: for people (JSON) and for Prometheus. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "http/server.h"

static const char *const kinds[] = {"named", "hashed", "indexed"};

static void number_or_null(struct text *t, const char *name, double v)
{
    text_printf(t, ",\"%s\":", name);
    text_number(t, v);
}

static void count(struct text *t, const char *name, uint64_t v)
{
    text_printf(t, ",\"%s\":%llu", name, (unsigned long long)v);
}

static uint64_t pending(const struct model *m)
{
    uint64_t done = m->state.counts.answers + m->expired;
    return m->state.counts.decisions > done ? m->state.counts.decisions - done : 0;
}

static void status(const struct model *m, struct text *t)
{
    const char *broken = model_reason(m), *word = "ok", *why = "";
    if (*broken) {
        word = "broken";
        why = broken;
    } else if (m->degraded[0]) {
        word = "degraded";
        why = m->degraded;
    } else if (*m->replication->stopped(m)) {
        word = "stopped";
        why = m->replication->stopped(m);
    } else if (m->failing) {
        word = "storage_failing";
        why = m->failure.message;
    }
    text_printf(t, ",\"status\":\"%s\"", word);
    if (*why) {
        text_puts(t, ",\"reason\":");
        text_quote(t, why, strlen(why));
    }
    if (m->damage[0]) {
        text_puts(t, ",\"damage\":");
        text_quote(t, m->damage, strlen(m->damage));
    }
    if (m->rebuild_wanted || m->rebuilding)
        text_puts(t, ",\"rebuilding\":true");
}

static void counts(const struct model *m, struct text *t)
{
    const struct counts *n = &m->state.counts;
    count(t, "decisions", n->decisions);
    count(t, "explored", n->explored);
    count(t, "feedback", n->answers);
    count(t, "right", n->right);
    count(t, "told", n->told);
    count(t, "lessons", n->lessons);
    count(t, "silent", n->silent);
    count(t, "late", n->late);
    count(t, "deferred", n->deferred);
    count(t, "activated", n->activated);
    count(t, "pending", pending(m));
    count(t, "expired", m->expired);
    count(t, "features_ignored", n->ignored);
    count(t, "names_reused", m->state.dictionary.reused);
    number_or_null(t, "error_rate", window_share(&m->history.wrong));
    number_or_null(t, "exploration", window_share(&m->history.explored));
    count(t, "window", WINDOW);
}

static void write_retired(const struct model *m, struct text *t)
{
    bool any = false;
    for (uint32_t i = 0; i < names_count(m->state.labels); i++) {
        size_t length;
        const char *name = names_text(m->state.labels, i, &length);
        if (!hunch_is_retired(m->state.learner, i))
            continue;
        text_puts(t, any ? "," : ",\"retired\":[");
        text_quote(t, name, length);
        any = true;
    }
    text_puts(t, any ? "]" : "");
}

static void write_settings(const struct model *m, struct text *t)
{
    const struct settings *s = &m->state.settings;
    text_puts(t, ",\"learner\":");
    text_quote(t, s->learner, strlen(s->learner));
    text_puts(t, ",\"labels\":[");
    for (uint32_t i = 0; i < names_count(m->state.labels); i++) {
        size_t length;
        const char *name = names_text(m->state.labels, i, &length);
        text_add(t, ",", i > 0);
        text_quote(t, name, length);
    }
    text_puts(t, "]");
    write_retired(m, t);
    text_printf(t, ",\"features\":\"%s\"", kinds[s->features]);
    if (s->features == FEATURES_HASHED)
        count(t, "hash_bits", s->hash_bits);
    count(t, "max_features", s->max_features);
    count(t, "memory", s->memory);
    count(t, "features_known",
          m->state.dictionary.names ? names_count(m->state.dictionary.names) : hunch_features(m->state.learner));
    count(t, "seed", s->seed);
    count(t, "ttl_seconds", (uint64_t)(s->ttl_ms / 1000));
    text_puts(t, ",\"bounds\":");
    bounds_write(&s->bounds, t);
    answers_write(s, t);
    text_puts(t, ",");
    policy_write(&m->state.policy, t);
    if (s->features == FEATURES_NAMED)
        text_puts(t, s->reuse_names ? ",\"reuse_names\":true" : ",\"reuse_names\":false");
    if (s->schema) {
        text_puts(t, ",\"schema\":");
        text_puts(t, s->schema);
    }
}

/* What has come of act_at. */
static void write_promises(const struct model *m, struct text *t)
{
    hunch_promise p;
    size_t n = m->state.learner ? hunch_get_promise(m->state.learner, 0, NULL) : 0;
    for (size_t i = 0; i < n; i++) {
        hunch_get_promise(m->state.learner, i, &p);
        text_puts(t, i ? ",{\"act_at\":" : ",\"promises\":[{\"act_at\":");
        text_number(t, p.promise);
        text_puts(t, ",\"threshold\":");
        text_number(t, p.threshold);
        text_printf(t, ",\"answers\":%llu,\"acted\":%llu,\"right\":%llu}", (unsigned long long)p.answers,
                    (unsigned long long)p.acted, (unsigned long long)p.right);
    }
    text_puts(t, n ? "]" : "");
}

/* How the learner has followed its stream, if it looks for drift. */
static void write_drift(const struct model *m, struct text *t)
{
    hunch_drift d;
    if (!m->state.learner || hunch_get_drift(m->state.learner, &d) != HUNCH_OK)
        return;
    text_printf(t,
                ",\"drift\":{\"restarts\":%llu,\"last_restart\":%llu,\"forgetting\":", (unsigned long long)d.restarts,
                (unsigned long long)d.last_restart);
    text_number(t, d.forgetting);
    text_puts(t, "}");
}

void describe_model(struct model *m, struct text *t)
{
    text_printf(t, "{\"name\":\"%s\"", m->name);
    if (m->broken[0]) { /* never opened: nothing else is known */
        status(m, t);
        text_puts(t, "}");
        return;
    }
    uint64_t log_bytes = event_store_bytes(&m->store);
    pthread_mutex_lock(&m->lock);
    status(m, t);
    write_settings(m, t);
    counts(m, t);
    count(t, "bytes",
          hunch_bytes(m->state.learner) + (m->state.dictionary.names ? names_bytes(m->state.dictionary.names) : 0));
    write_drift(m, t);
    write_promises(m, t);
    count(t, "log_bytes", log_bytes);
    count(t, "seq", m->last);
    count(t, "committed_seq", m->committed);
    count(t, "excluded", m->state.excluded_n);
    count(t, "snapshot_seq", m->snapshot_seq);
    count(t, "created_ms", (uint64_t)m->created_ms);
    pthread_mutex_unlock(&m->lock);
    text_puts(t, "}");
}

/* --- versions --- */

static const struct model_state *state_of(const struct model *m, uint32_t number)
{
    if (m->state.version == number)
        return &m->state;
    for (size_t i = 0; i < m->shadows; i++)
        if (m->shadow[i].version == number)
            return &m->shadow[i];
    return NULL;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : NAN;
}

/* state NULL: being made from the log. */
/* An estimate and its interval, which holds at any time. */
static void estimate(struct text *t, const char *name, double value, double low, double high)
{
    number_or_null(t, name, value);
    text_printf(t, ",\"%s_interval\":[", name);
    text_number(t, low);
    text_puts(t, ",");
    text_number(t, high);
    text_puts(t, "]");
}

static void compared(const struct shadow *s, struct text *t)
{
    double value, low, high;
    count(t, "decisions", s->decisions);
    number_or_null(t, "agreement", share((double)s->agreed, (double)s->decisions));
    count(t, "answers", s->answers);
    count(t, "matched", s->matched);
    number_or_null(t, "error", share((double)s->wrong, (double)s->matched));
    value_interval(&s->value, 0.95, &low, &high);
    estimate(t, "estimate", value_mean(&s->value), low, high);
    shadow_gain(s, &value, &low, &high);
    estimate(t, "gain", value, low, high);
}

static void version(const struct model *m, uint32_t number, const char *learner, bool automatic,
                    const struct model_state *state, struct text *t)
{
    bool decides = state == &m->state;
    text_printf(t, "{\"version\":%u,\"status\":\"%s\",\"learner\":", number,
                decides ? "active"
                : state ? "shadow"
                        : "building");
    text_quote(t, learner, strlen(learner));
    text_printf(t, ",\"promote\":\"%s\"", automatic ? "auto" : "manual");
    if (state) {
        count(t, "seq", state->seq);
        count(t, "bytes", hunch_bytes(state->learner));
        compared(&state->shadow, t);
    }
    text_puts(t, "}");
}

void describe_versions(struct model *m, struct text *t)
{
    pthread_mutex_lock(&m->lock);
    const struct event_store *s = &m->store;
    const struct model_state *first = state_of(m, 1);
    const struct counts *n = &m->state.counts;
    text_printf(t, "{\"active\":%u,\"error\":", m->state.version);
    text_number(t, share((double)(n->answers - n->right), (double)n->answers));
    text_puts(t, ",\"versions\":[");
    version(m, 1, first ? first->settings.learner : "", false, first, t);
    for (size_t i = 0; i < s->versions_n; i++) {
        if (s->versions[i].dropped)
            continue;
        text_puts(t, ",");
        const struct version_row *v = &s->versions[i];
        version(m, v->number, v->learner, v->automatic, state_of(m, v->number), t);
    }
    text_puts(t, "]");
    if (s->promotions_n) {
        text_printf(t, ",\"promoted\":{\"version\":%u,\"seq\":%llu,\"why\":", s->promotions[s->promotions_n - 1].number,
                    (unsigned long long)s->promotions[s->promotions_n - 1].seq);
        text_quote(t, s->why, strlen(s->why));
        text_puts(t, "}");
    }
    text_puts(t, "}");
    pthread_mutex_unlock(&m->lock);
}

void describe_comparison(struct model *m, struct text *t)
{
    pthread_mutex_lock(&m->lock);
    struct policy policy = m->state.policy;
    struct comparison c = m->state.comparison;
    pthread_mutex_unlock(&m->lock);
    text_puts(t, "{\"policy\":{");
    policy_write(&policy, t);
    text_puts(t, "},");
    comparison_describe(&c, t);
    text_puts(t, "}");
}

void describe_labels(struct model *m, struct text *t)
{
    pthread_mutex_lock(&m->lock);
    for (uint32_t i = 0; m->state.labels && i < names_count(m->state.labels); i++) {
        const struct label_counts *l = &m->state.label[i];
        size_t length;
        const char *name = names_text(m->state.labels, i, &length);
        text_puts(t, i ? ",{\"label\":" : "{\"label\":");
        text_quote(t, name, length);
        count(t, "shown", l->shown);
        count(t, "right", l->right);
        count(t, "wrong", l->wrong);
        count(t, "told", l->told);
        text_puts(t, "}");
    }
    pthread_mutex_unlock(&m->lock);
}

/* --- Prometheus --- */

/* A model's numbers at one moment. */
struct gauge_values {
    const char *name;
    bool usable, failing, degraded, damaged;
    struct counts counts;
    bool drifts; /* the learner looks for drift */
    hunch_drift drift;
    uint64_t features, reused, version, shadows, pending, expired, queue, log_bytes, snapshot_bytes, snapshot_lag,
        bytes, delays[DELAY_BOUNDS + 1];
    double error_rate, error_hour, error_week, exploration, snapshot_age, delay_sum;
};

static void look(struct model *m, struct gauge_values *v)
{
    *v = (struct gauge_values){.name = m->name, .usable = !m->broken[0]};
    if (!v->usable)
        return;
    v->log_bytes = event_store_bytes(&m->store);
    int64_t now = model_now(m);
    pthread_mutex_lock(&m->lock);
    v->failing = m->failing;
    v->degraded = m->degraded[0] != 0;
    v->damaged = m->damage[0] != 0;
    v->counts = m->state.counts;
    v->reused = m->state.dictionary.reused;
    v->pending = pending(m);
    v->expired = m->expired;
    v->queue = m->last - m->committed;
    v->snapshot_bytes = m->snapshot_bytes;
    v->snapshot_lag = m->state.seq - m->snapshot_seq;
    v->snapshot_age = (double)(clock_now() - m->snapshot_mono) * 1e-9;
    v->bytes = hunch_bytes(m->state.learner);
    v->error_rate = window_share(&m->history.wrong);
    v->exploration = window_share(&m->history.explored);
    v->error_hour = history_error_hour(&m->history, now);
    v->error_week = history_error_week(&m->history, now);
    v->features = m->state.dictionary.names ? names_count(m->state.dictionary.names)
                  : m->state.learner        ? hunch_features(m->state.learner)
                                            : 0;
    v->drifts = m->state.learner && hunch_get_drift(m->state.learner, &v->drift) == HUNCH_OK;
    v->version = m->state.version;
    v->shadows = m->shadows;
    memcpy(v->delays, m->history.delays, sizeof v->delays);
    v->delay_sum = m->history.delay_sum_s;
    pthread_mutex_unlock(&m->lock);
}

static void head(struct text *t, const char *name, const char *type, const char *help)
{
    text_printf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

#define EACH(metric, type, help, expression) EACH_WITH(usable, metric, type, help, expression)
#define EACH_WITH(which, metric, type, help, expression)                                                               \
    do {                                                                                                               \
        head(t, metric, type, help);                                                                                   \
        for (size_t i = 0; i < n; i++)                                                                                 \
            if (v[i].which)                                                                                            \
                text_printf(t, metric "{model=\"%s\"} %.15g\n", v[i].name, (double)(expression));                      \
    } while (0)

static void write_counts(const struct gauge_values *v, size_t n, struct text *t)
{
    EACH("hunch_decisions_total", "counter", "Predictions made.", v[i].counts.decisions);
    EACH("hunch_explored_total", "counter", "Predictions that showed another label than the greedy one.",
         v[i].counts.explored);
    head(t, "hunch_feedback_total", "counter", "Feedback learned from.");
    for (size_t i = 0; i < n; i++) {
        if (!v[i].usable)
            continue;
        uint64_t right = v[i].counts.right, wrong = v[i].counts.answers - right;
        text_printf(t,
                    "hunch_feedback_total{model=\"%s\",answer=\"right\"} %llu\n"
                    "hunch_feedback_total{model=\"%s\",answer=\"wrong\"} %llu\n",
                    v[i].name, (unsigned long long)right, v[i].name, (unsigned long long)wrong);
    }
    EACH("hunch_told_total", "counter", "Feedback that named the true label.", v[i].counts.told);
    EACH("hunch_lessons_total", "counter", "Examples taught without a decision.", v[i].counts.lessons);
    EACH("hunch_expired_total", "counter", "Decisions that expired without feedback.", v[i].expired);
    EACH("hunch_features_ignored_total", "counter", "Features left out because the dictionary was full.",
         v[i].counts.ignored);
    EACH("hunch_names_reused_total", "counter", "New names of features that took the places of others, seen once.",
         v[i].reused);
}

static void write_gauges(const struct gauge_values *v, size_t n, struct text *t)
{
    head(t, "hunch_model_up", "gauge", "1: the model can be used.");
    for (size_t i = 0; i < n; i++)
        text_printf(t, "hunch_model_up{model=\"%s\"} %d\n", v[i].name, v[i].usable);
    EACH("hunch_pending", "gauge", "Decisions that may still be answered.", v[i].pending);
    EACH("hunch_error_rate", "gauge", "Share of wrong ones among the last 1000 answers.", v[i].error_rate);
    EACH("hunch_error_rate_hour", "gauge", "Share of wrong ones among the answers of the last hour.", v[i].error_hour);
    EACH("hunch_error_rate_week", "gauge", "Share of wrong ones among the answers of the last seven days.",
         v[i].error_week);
    EACH_WITH(drifts, "hunch_learner_restarts_total", "counter",
              "How often the learner started over because errors became too many.", v[i].drift.restarts);
    EACH_WITH(drifts, "hunch_learner_forgetting", "gauge", "Decay of what was learned, per round; 0: none.",
              v[i].drift.forgetting);
    EACH("hunch_features_known", "gauge", "Features seen so far; it grows with new features.", v[i].features);
    EACH("hunch_version", "gauge", "The version that decides.", v[i].version);
    EACH("hunch_shadows", "gauge", "Versions that are scored without being shown.", v[i].shadows);
    EACH("hunch_exploration_share", "gauge", "Share of explored ones among the last 1000 decisions.", v[i].exploration);
    EACH("hunch_log_bytes", "gauge", "Size of the log on disk.", v[i].log_bytes);
    EACH("hunch_model_bytes", "gauge", "Memory of the learner's state.", v[i].bytes);
    EACH("hunch_snapshot_age_seconds", "gauge", "Since the last snapshot.", v[i].snapshot_age);
    EACH("hunch_snapshot_lag_events", "gauge", "Events since the last snapshot.", v[i].snapshot_lag);
    EACH("hunch_snapshot_bytes", "gauge", "Size of the last snapshot.", v[i].snapshot_bytes);
    EACH("hunch_queue_events", "gauge", "Events that are not yet on disk.", v[i].queue);
    EACH("hunch_model_degraded", "gauge", "1 if the model is read-only because acknowledged data are missing.",
         v[i].degraded);
    EACH("hunch_log_damaged", "gauge", "1: the log has rows that are not as they were written.", v[i].damaged);
    EACH("hunch_storage_failing", "gauge", "1 if the log cannot be written.", v[i].failing);
}

static void write_delays(const struct gauge_values *v, size_t n, struct text *t)
{
    head(t, "hunch_feedback_delay_seconds", "histogram", "From decision to feedback.");
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (size_t b = 0; v[i].usable && b < DELAY_BOUNDS; b++) {
            sum += v[i].delays[b];
            text_printf(t, "hunch_feedback_delay_seconds_bucket{model=\"%s\",le=\"%g\"} %llu\n", v[i].name,
                        history_delay_bound(b), (unsigned long long)sum);
        }
        sum += v[i].delays[DELAY_BOUNDS];
        if (v[i].usable)
            text_printf(t,
                        "hunch_feedback_delay_seconds_bucket{model=\"%s\",le=\"+Inf\"} %llu\n"
                        "hunch_feedback_delay_seconds_sum{model=\"%s\"} %.9g\n"
                        "hunch_feedback_delay_seconds_count{model=\"%s\"} %llu\n",
                        v[i].name, (unsigned long long)sum, v[i].name, v[i].delay_sum, v[i].name,
                        (unsigned long long)sum);
    }
}

void describe_metrics(struct registry *r, struct text *t)
{
    size_t n, on_disk, known = registry_count(r, &on_disk);
    head(t, "hunch_models", "gauge", "Models of the server; those that are on disk only have no metrics of their own.");
    text_printf(t, "hunch_models{where=\"memory\"} %zu\nhunch_models{where=\"disk\"} %zu\n", known - on_disk, on_disk);
    struct model **all = registry_all(r, &n);
    struct gauge_values *v = calloc(n + 1, sizeof *v);
    if (!v)
        t->failed = true;
    for (size_t i = 0; v && i < n; i++)
        look(all[i], &v[i]);
    if (v) {
        write_counts(v, n, t);
        write_gauges(v, n, t);
        write_delays(v, n, t);
    }
    for (size_t i = 0; i < n; i++)
        registry_put(r, all[i]);
    free(all);
    free(v);
}
