/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What silence means. A model with answer_after takes a decision that nobody has answered in that time for answered, as
 * answer_default says. The answer is an event in the log like any other, so that a replay needs no clock. The time of a
 * deferred decision begins with its activation; without one it is never answered.
 *
 * now_ms is the time that has surely passed (see wall_clock_age_ms): a clock that jumps answers nothing. Decisions whose time
 * for feedback has run out meanwhile, because the server did not run, expire without an answer.
 */
#include "model/model.h"
#include "storage/store_shared.h"

#define SILENT_AT_ONCE 256

/* The next ones of either kind. */
static bool answer_some(struct model *m, bool deferred, int64_t cutoff_ms, bool *ret_more, struct http_error *err)
{
    struct unanswered all[SILENT_AT_ONCE];
    struct feedback items[SILENT_AT_ONCE];
    bool right = m->state.settings.answer_right;
    size_t n = 0;
    if (m->silence_upto[deferred] < m->store.expired_upto)
        m->silence_upto[deferred] = m->store.expired_upto;
    uint64_t upto = m->silence_upto[deferred];
    if (!event_store_unanswered(&m->store, deferred, cutoff_ms, &upto, all, SILENT_AT_ONCE, &n, err))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t handle = store_shared_handle(&m->store, all[i].seq);
        items[i] = (struct feedback){
            .input = {.seq = handle ? handle : all[i].seq, .key = all[i].key, .right = right, .silent = true}};
    }
    if (n)
        m->replication->feedback(m, items, n, NULL);
    for (size_t i = 0; i < n; i++)
        if (items[i].error.status >= 500) { /* it is asked again */
            *err = items[i].error;
            return false;
        }
    *ret_more = *ret_more || upto != m->silence_upto[deferred];
    m->silence_upto[deferred] = upto;
    return true;
}

bool silence_answer(struct model *m, int64_t now_ms, bool *ret_more, struct http_error *err)
{
    int64_t after = m->state.settings.answer_after_ms;
    *ret_more = false;
    return !after || (answer_some(m, false, now_ms - after, ret_more, err) &&
                      answer_some(m, true, now_ms - after, ret_more, err));
}
