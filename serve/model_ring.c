/* SPDX-License-Identifier: BSD-3-Clause */
/* The last events of a model, in memory: those that are not on disk yet, and as many more as there is room for. */
#include <stdlib.h>

#include "shared.h"

static struct event **slot(struct model *m, uint64_t seq)
{
    return &m->ring[seq & (m->ring_size - 1)];
}

static struct event **chain(struct model *m, uint64_t decision)
{
    return &m->answers[decision & (m->ring_size - 1)];
}

static void chain_add(struct event **at, struct event *e)
{
    e->next = *at;
    *at = e;
}

static void forget(struct event **at, const struct event *e)
{
    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
}

static void forget_oldest(struct model *m)
{
    struct event **e = slot(m, m->first++);
    m->ring_bytes -= (*e)->bytes;
    if ((*e)->kind == EVENT_FEEDBACK)
        forget(chain(m, (*e)->decision), *e);
    else if ((*e)->kind == EVENT_DECISION && m->shared)
        forget(shared_chain(m, (*e)->source.handle), *e);
    event_free(*e);
    *e = NULL;
}

void ring_trim(struct model *m)
{
    while (m->first <= m->committed &&
           (m->last - m->first + 1 >= m->ring_size || m->ring_bytes > m->options->limits.recent_bytes))
        forget_oldest(m);
}

void ring_clear(struct model *m)
{
    while (m->first <= m->committed && m->first <= m->last)
        forget_oldest(m);
}

void ring_drop(struct model *m)
{
    ring_clear(m);
    while (m->first <= m->last)
        forget_oldest(m);
    m->last = m->committed;
    m->first = m->last + 1;
    m->waiting_bytes = 0;
}

bool ring_grow(struct model *m, size_t events)
{
    size_t size = m->ring_size;
    while (size < m->ring_most && m->last - m->first + 1 + events >= size)
        size *= 2;
    if (size == m->ring_size)
        return true;
    struct event **ring = calloc(size, sizeof *ring), **answers = calloc(size, sizeof *answers);
    struct event **handles = calloc(size / HANDLE_EVENTS, sizeof *handles);
    if (!ring || !answers || !handles) {
        free(ring);
        free(answers);
        free(handles);
        return m->last - m->committed + events < m->ring_size;
    }
    for (uint64_t seq = m->first; seq <= m->last; seq++) {
        struct event *e = *slot(m, seq);
        ring[seq & (size - 1)] = e;
        if (e->kind == EVENT_FEEDBACK)
            chain_add(&answers[e->decision & (size - 1)], e);
        else if (e->kind == EVENT_DECISION && m->shared)
            chain_add(&handles[e->source.handle & (size / HANDLE_EVENTS - 1)], e);
    }
    if (m->shared) {
        free(m->shared->handles);
        m->shared->handles = handles;
    } else {
        free(handles);
    }
    free(m->ring);
    free(m->answers);
    m->ring = ring;
    m->answers = answers;
    m->ring_size = size;
    return true;
}

void ring_put(struct model *m, struct event *e)
{
    m->last = e->seq;
    m->ring_bytes += e->bytes;
    m->waiting_bytes += e->bytes;
    *slot(m, e->seq) = e;
    if (e->kind == EVENT_FEEDBACK)
        chain_add(chain(m, e->decision), e);
    ring_trim(m);
}

struct event *ring_decision(struct model *m, uint64_t seq)
{
    if (seq < m->first || seq > m->last)
        return NULL;
    struct event *e = *slot(m, seq);
    return e->kind == EVENT_DECISION ? e : NULL;
}

struct answer ring_answer(struct model *m, const struct event *decision)
{
    for (const struct event *e = *chain(m, decision->seq); e; e = e->next)
        if (e->decision == decision->seq)
            return e->answer;
    return decision->answer;
}
