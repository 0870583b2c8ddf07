/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What silence means. A model with answer_after takes a decision that nobody has answered in that time for answered, as
 * answer_default says. The answer is an event in the log like any other, so that a replay needs no clock. The time of a
 * deferred decision begins with its activation; without one it is never answered.
 *
 * Time counts as far as it has surely passed (see wall_clock_age_ms): a clock that jumps answers nothing. What happened in this
 * run has an age that is certain, also while that of earlier decisions is not. Decisions whose time for feedback has run
 * out meanwhile, because the server did not run, expire without an answer.
 */
#include "model/model.h"
#include "storage/store_shared.h"

#define SILENT_AT_ONCE 256

/* The next ones of either kind; after: those that happened since. */
static bool answer_some(struct model *m, bool deferred, uint64_t after, uint64_t *inout_upto, int64_t cutoff_ms,
                        bool *ret_more, struct http_error *err)
{
    struct unanswered all[SILENT_AT_ONCE];
    struct feedback items[SILENT_AT_ONCE];
    bool right = m->state.settings.answer_right;
    size_t n = 0;
    uint64_t from = m->store.expired_upto > after ? m->store.expired_upto : after;
    if (*inout_upto < from)
        *inout_upto = from;
    uint64_t upto = *inout_upto;
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
    *ret_more = *ret_more || upto != *inout_upto;
    *inout_upto = upto;
    return true;
}

bool silence_answer(struct model *m, int64_t now_ms, bool *ret_more, struct http_error *err)
{
    int64_t after = m->state.settings.answer_after_ms, certain_ms = model_age(m, now_ms, 0);
    bool ok = true;
    *ret_more = false;
    for (int deferred = 0; deferred < 2 && after && ok; deferred++) {
        ok = answer_some(m, deferred, 0, &m->silence_upto[0][deferred], certain_ms - after, ret_more, err);
        if (ok && certain_ms < now_ms)
            ok = answer_some(m, deferred, m->opened_seq, &m->silence_upto[1][deferred], now_ms - after, ret_more, err);
    }
    return ok;
}
