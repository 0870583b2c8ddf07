/* SPDX-License-Identifier: BSD-3-Clause */
/* Each log is read through now and then, slowly, so that damage is seen before the log is needed. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "util/log.h"
#include "model/model.h"

#define STEP_ROWS 2000
#define PAUSE_MS 50 /* between steps: some 40,000 rows a second at most */

bool model_scrub_due(struct model *m)
{
    double hours = m->options->scrub_hours;
    pthread_mutex_lock(&m->lock);
    bool due = hours > 0 && !m->scrubbing && !m->broken[0] && !m->deleted && !m->stop &&
               (double)(clock_now() - m->scrub_mono) >= hours * 3600e9;
    m->scrubbing = m->scrubbing || due;
    pthread_mutex_unlock(&m->lock);
    return due;
}

static bool scrub(struct model *m, const _Atomic bool *stop, struct http_error *err)
{
    struct event_store store;
    uint64_t at = 0, rows = 0;
    if (!model_open_log(m, &store, true, err))
        return false;
    bool ok = !store.damage[0] || http_error_set(err, 503, "damaged", "%s", store.damage);
    do {
        ok = ok && event_store_scrub(&store, &at, STEP_ROWS, err);
        rows += STEP_ROWS;
        if (ok && at)
            clock_sleep_ms(PAUSE_MS);
    } while (ok && at && !*stop);
    ok = ok && (at || event_store_check_file(&store, err));
    atomic_fetch_add(&m->metrics->scrubbed_rows, rows);
    event_store_close(&store);
    return ok;
}

void model_note_damage(struct model *m, const struct http_error *why)
{
    if (m->damage[0])
        return;
    snprintf(m->damage, sizeof m->damage, "%.200s", why->message);
    log_event("log_damaged", "{s:s,s:s}", "model", m->name, "reason", why->message);
}

void model_scrub(struct model *m, const _Atomic bool *stop)
{
    struct http_error err = {0};
    bool ok = scrub(m, stop, &err), damaged = !ok && strcmp(err.code, "damaged") == 0;
    pthread_mutex_lock(&m->lock);
    m->scrubbing = false;
    m->scrub_mono = clock_now();
    if (damaged)
        snprintf(m->damage, sizeof m->damage, "%.200s", err.message);
    else if (ok)
        m->damage[0] = 0;
    pthread_mutex_unlock(&m->lock);
    if (!ok)
        log_event(damaged ? "log_damaged" : "scrub_failed", "{s:s,s:s}", "model", m->name, "reason", err.message);
}
