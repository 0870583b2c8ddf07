/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters and histograms in the form that Prometheus reads. */
#ifndef SERVE_METRICS_H
#define SERVE_METRICS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "util/text.h"

/* What kind of request it was. */
#define ENDPOINTS(X)                                                                                                   \
    X(predict)                                                                                                         \
    X(feedback)                                                                                                        \
    X(teach)                                                                                                           \
    X(scores)                                                                                                          \
    X(models)                                                                                                          \
    X(decisions)                                                                                                       \
    X(stats)                                                                                                           \
    X(snapshot)                                                                                                        \
    X(health)                                                                                                          \
    X(metrics)                                                                                                         \
    X(page)                                                                                                            \
    X(other)

enum endpoint {
#define ENDPOINT_ENUM(name) ENDPOINT_##name,
    ENDPOINTS(ENDPOINT_ENUM)
#undef ENDPOINT_ENUM
        ENDPOINT_COUNT
};

#define LATENCY_BOUNDS 14
#define STATUS_CODES 16

struct histogram {
    _Atomic uint64_t bucket[LATENCY_BOUNDS + 1];
    _Atomic uint64_t sum_ns;
};

struct metrics {
    _Atomic uint64_t requests[ENDPOINT_COUNT][STATUS_CODES]; /* see status_slot */
    struct histogram latency[ENDPOINT_COUNT];
    struct histogram commit;
    struct histogram propose; /* from a record's handing over to its acknowledgement */
    _Atomic uint64_t producers_renewed;
    _Atomic uint64_t commits, committed_events, commit_failures;
    _Atomic uint64_t snapshots, snapshot_failures;
    _Atomic uint64_t scrubbed_rows;
    _Atomic uint64_t openings, evictions; /* models from and to disk */
    _Atomic uint64_t names_refused;       /* of features, over a client's quota */
    _Atomic uint64_t reaped, refused;     /* connections closed for slowness; requests refused for lack of rights */
    _Atomic int64_t connections;
};

void histogram_add(struct histogram *h, int64_t ns);
void metrics_request(struct metrics *m, enum endpoint e, unsigned status, int64_t ns);
void metrics_write(struct metrics *m, struct text *t);
const char *endpoint_name(enum endpoint e);

#endif
