/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "util/quota.h"

#define MINUTE_NS INT64_C(60000000000)

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t reserve(const struct names_room *d)
{
    return d->max < QUOTA_LARGE ? 0 : d->max / 8;
}

bool names_scarce(const struct names_room *d, size_t new)
{
    return d->free > 0 && d->free < reserve(d) + new; /* one that is full takes none, and counts them */
}

size_t quota_take(struct quota *q, uint64_t who, size_t wanted, const struct names_room *room, size_t per_minute)
{
    int64_t minute = clock_now() / MINUTE_NS;
    size_t kept = reserve(room), open = room->free > kept ? room->free - kept : 0;
    pthread_mutex_lock(&q->lock);
    struct quota_row *r = &q->row[who % QUOTA_ROWS];
    if (r->minute != minute) {
        r->minute = minute;
        r->used = 0;
    }
    size_t granted = per_minute ? lesser(wanted, per_minute - r->used) : wanted;
    if (kept && granted > open) {
        granted = lesser(granted, open + kept / 8 - r->last);
        r->last += granted > open ? granted - open : 0;
    }
    r->used += granted;
    pthread_mutex_unlock(&q->lock);
    return granted;
}
