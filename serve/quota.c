/* SPDX-License-Identifier: BSD-3-Clause */
#include "quota.h"

#define MINUTE_NS INT64_C(60000000000)

size_t quota_take(struct quota *q, uint64_t who, int64_t now_ns, size_t wanted, size_t most)
{
    pthread_mutex_lock(&q->lock);
    struct quota_row *r = &q->row[who % QUOTA_ROWS];
    if (r->minute != now_ns / MINUTE_NS)
        *r = (struct quota_row){.minute = now_ns / MINUTE_NS};
    size_t granted = most - r->used < wanted ? most - r->used : wanted;
    r->used += granted;
    pthread_mutex_unlock(&q->lock);
    return granted;
}
