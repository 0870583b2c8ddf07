/* SPDX-License-Identifier: BSD-3-Clause */
/* The last events of a model, in memory: those that are not on disk yet, and as many more as there is room for. */
#include <assert.h>
#include <stdlib.h>

#include "model/model.h"

#define HANDLE_EVENTS 4 /* of the ring for each chain of decisions by handle */

static struct event **slot(struct model *m, uint64_t seq)
{
    return &m->ring[seq & (m->ring_size - 1)];
}

static struct event **chain(struct model *m, uint64_t decision)
{
    return &m->answers[decision & (m->ring_size - 1)];
}

static struct event **handle_chain(struct model *m, uint64_t handle)
{
    return &m->handles[handle & (m->ring_size / HANDLE_EVENTS - 1)];
}

/* Something that was said about a decision. */
static bool has_feedback(const struct event *e)
{
    return e->kind == EVENT_FEEDBACK || e->kind == EVENT_LATE || e->kind == EVENT_ACTIVATE;
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
    assert((*e)->seq == m->first - 1 && m->ring_bytes >= (*e)->bytes);
    m->ring_bytes -= (*e)->bytes;
    if (has_feedback(*e))
        forget(chain(m, (*e)->decision), *e);
    else if ((*e)->kind == EVENT_DECISION && m->handles)
        forget(handle_chain(m, (*e)->source.handle), *e);
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
    while (size < m->ring_max && m->last - m->first + 1 + events >= size)
        size *= 2;
    if (size == m->ring_size)
        return true;
    struct event **ring = calloc(size, sizeof *ring), **answers = calloc(size, sizeof *answers);
    struct event **handles = m->handles ? calloc(size / HANDLE_EVENTS, sizeof *handles) : NULL;
    if (!ring || !answers || (m->handles && !handles)) {
        free(ring);
        free(answers);
        free(handles);
        return m->last - m->committed + events < m->ring_size;
    }
    for (uint64_t seq = m->first; seq <= m->last; seq++) {
        struct event *e = *slot(m, seq);
        ring[seq & (size - 1)] = e;
        if (has_feedback(e))
            chain_add(&answers[e->decision & (size - 1)], e);
        else if (e->kind == EVENT_DECISION && m->handles)
            chain_add(&handles[e->source.handle & (size / HANDLE_EVENTS - 1)], e);
    }
    free(m->ring);
    free(m->answers);
    free(m->handles);
    m->handles = handles;
    m->ring = ring;
    m->answers = answers;
    m->ring_size = size;
    return true;
}

void ring_put(struct model *m, struct event *e)
{
    assert(e->seq == m->last + 1 && m->first <= m->last + 1 && m->committed <= m->last);
    assert(!*slot(m, e->seq));
    m->last = e->seq;
    m->ring_bytes += e->bytes;
    m->waiting_bytes += e->bytes;
    *slot(m, e->seq) = e;
    if (has_feedback(e))
        chain_add(chain(m, e->decision), e);
    else if (e->kind == EVENT_DECISION && m->handles)
        chain_add(handle_chain(m, e->source.handle), e);
    ring_trim(m);
}

bool ring_index(struct model *m)
{
    assert(!m->handles && !m->ring_bytes);
    m->handles = calloc(m->ring_size / HANDLE_EVENTS, sizeof *m->handles);
    return m->handles != NULL;
}

struct event *ring_by_handle(struct model *m, uint64_t handle, uint64_t key)
{
    struct event *e = m->handles ? *handle_chain(m, handle) : NULL;
    while (e && (e->source.handle != handle || e->key != key))
        e = e->next;
    return e;
}

struct event *ring_decision(struct model *m, uint64_t seq)
{
    if (seq < m->first || seq > m->last)
        return NULL;
    struct event *e = *slot(m, seq);
    assert(e->seq == seq);
    return e->kind == EVENT_DECISION ? e : NULL;
}

struct answer ring_answer(struct model *m, const struct event *decision)
{
    struct answer a = decision->answer;
    uint64_t late = a.late, active = a.active;
    for (const struct event *e = *chain(m, decision->seq); e; e = e->next) {
        if (e->decision != decision->seq)
            continue;
        if (e->kind == EVENT_LATE)
            late = e->seq;
        else if (e->kind == EVENT_ACTIVATE)
            active = e->seq;
        else
            a = e->answer;
    }
    a.late = late;
    a.active = active;
    return a;
}
