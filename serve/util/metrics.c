/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/metrics.h"

static const double bounds[LATENCY_BOUNDS] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                              0.025,  0.05,    0.1,    0.25,  0.5,    1,     5};
static const unsigned codes[STATUS_CODES] = {200, 201, 202, 304, 400, 401, 403, 404,
                                             405, 408, 409, 413, 415, 500, 503, 0};

const char *endpoint_name(enum endpoint e)
{
    static const char *const names[] = {
#define ENDPOINT_NAME(name) #name,
        ENDPOINTS(ENDPOINT_NAME)
#undef ENDPOINT_NAME
    };
    return names[e];
}

void histogram_add(struct histogram *h, int64_t ns)
{
    double s = (double)ns * 1e-9;
    size_t i = 0;
    while (i < LATENCY_BOUNDS && s > bounds[i])
        i++;
    atomic_fetch_add_explicit(&h->bucket[i], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&h->sum_ns, (uint64_t)ns, memory_order_relaxed);
}

void metrics_request(struct metrics *m, enum endpoint e, unsigned status, int64_t ns)
{
    size_t i = 0;
    while (i < STATUS_CODES - 1 && codes[i] != status)
        i++;
    atomic_fetch_add_explicit(&m->requests[e][i], 1, memory_order_relaxed);
    histogram_add(&m->latency[e], ns);
}

static void histogram_write(struct histogram *h, const char *name, const char *label, struct text *t)
{
    uint64_t sum = 0;
    const char *comma = *label ? "," : "";
    for (size_t i = 0; i <= LATENCY_BOUNDS; i++) {
        sum += atomic_load_explicit(&h->bucket[i], memory_order_relaxed);
        if (i < LATENCY_BOUNDS)
            text_printf(t, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, label, comma, bounds[i], (unsigned long long)sum);
        else
            text_printf(t, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, label, comma, (unsigned long long)sum);
    }
    double seconds = (double)atomic_load_explicit(&h->sum_ns, memory_order_relaxed) * 1e-9;
    const char *open = *label ? "{" : "", *close = *label ? "}" : "";
    text_printf(t, "%s_sum%s%s%s %.9g\n%s_count%s%s%s %llu\n", name, open, label, close, seconds, name, open, label,
                close, (unsigned long long)sum);
}

static void counter(struct text *t, const char *name, const char *help, _Atomic uint64_t *value)
{
    text_printf(t, "# HELP %s %s\n# TYPE %s counter\n%s %llu\n", name, help, name, name,
                (unsigned long long)atomic_load_explicit(value, memory_order_relaxed));
}

void metrics_write(struct metrics *m, struct text *t)
{
    text_puts(t, "# HELP hunch_requests_total Requests answered.\n# TYPE hunch_requests_total counter\n");
    for (size_t e = 0; e < ENDPOINT_COUNT; e++) {
        for (size_t i = 0; i < STATUS_CODES; i++) {
            uint64_t n = atomic_load_explicit(&m->requests[e][i], memory_order_relaxed);
            if (n)
                text_printf(t, "hunch_requests_total{endpoint=\"%s\",code=\"%u\"} %llu\n",
                            endpoint_name((enum endpoint)e), codes[i], (unsigned long long)n);
        }
    }
    text_puts(t, "# HELP hunch_request_seconds From a request's header to the end of its answer.\n"
                 "# TYPE hunch_request_seconds histogram\n");
    for (size_t e = 0; e < ENDPOINT_COUNT; e++) {
        char label[64];
        struct text l = {label, 0, sizeof label, false};
        text_printf(&l, "endpoint=\"%s\"", endpoint_name((enum endpoint)e));
        histogram_write(&m->latency[e], "hunch_request_seconds", label, t);
    }
    text_puts(t, "# HELP hunch_commit_seconds Group commits of the log.\n# TYPE hunch_commit_seconds histogram\n");
    histogram_write(&m->commit, "hunch_commit_seconds", "", t);
    text_puts(t, "# HELP hunch_propose_seconds From handing a record to a shared journal to its acknowledgement.\n"
                 "# TYPE hunch_propose_seconds histogram\n");
    histogram_write(&m->propose, "hunch_propose_seconds", "", t);
    counter(t, "hunch_producers_renewed_total", "Producers of a shared journal that failed for good and were replaced.",
            &m->producers_renewed);
    counter(t, "hunch_commits_total", "Group commits.", &m->commits);
    counter(t, "hunch_committed_events_total", "Events committed.", &m->committed_events);
    counter(t, "hunch_commit_failures_total", "Group commits that failed and were tried again.", &m->commit_failures);
    counter(t, "hunch_snapshots_total", "Snapshots written.", &m->snapshots);
    counter(t, "hunch_snapshot_failures_total", "Snapshots that could not be written.", &m->snapshot_failures);
    counter(t, "hunch_scrubbed_rows_total", "Rows of logs that were read to look for damage.", &m->scrubbed_rows);
    counter(t, "hunch_model_openings_total", "Models opened from disk.", &m->openings);
    counter(t, "hunch_model_evictions_total", "Models that left memory because others were used.", &m->evictions);
    counter(t, "hunch_names_refused_total", "New names of features beyond a client's quota.", &m->names_refused);
    counter(t, "hunch_slow_connections_total",
            "Connections closed because a request took too long to arrive, or an answer to be read.", &m->reaped);
    counter(t, "hunch_requests_refused_total", "Requests refused for lack of rights.", &m->refused);
    text_printf(t,
                "# HELP hunch_connections Open connections.\n# TYPE hunch_connections gauge\nhunch_connections %lld\n",
                (long long)atomic_load_explicit(&m->connections, memory_order_relaxed));
}
