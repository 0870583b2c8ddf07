/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "record.h"

static void put(struct text *t, uint64_t v, size_t bytes)
{
    unsigned char b[8];
    for (size_t i = 0; i < bytes; i++, v >>= 8)
        b[i] = (unsigned char)v;
    text_add(t, b, bytes);
}

static void put_decision(const struct event *e, struct text *t)
{
    uint64_t prob;
    memcpy(&prob, &e->choice.prob, sizeof prob);
    const uint64_t wide[] = {e->source.handle, e->key, e->choice.round, prob, e->seen};
    const uint64_t narrow[] = {e->choice.label, e->choice.greedy, e->choice.note};
    for (size_t i = 0; i < 5; i++)
        put(t, wide[i], 8);
    for (size_t i = 0; i < 3; i++)
        put(t, narrow[i], 4);
}

void record_write(const struct event *e, struct text *ret)
{
    put(ret, RECORD_FORMAT, 1);
    put(ret, (uint64_t)e->kind, 1);
    put(ret, e->source.origin, 8);
    put(ret, e->source.counter, 8);
    switch (e->kind) {
    case EVENT_DECISION:
        put_decision(e, ret);
        break;
    case EVENT_FEEDBACK:
        put(ret, e->source.handle, 8);
        put(ret, e->key, 8);
        put(ret, e->answer.right, 1);
        put(ret, e->answer.label != NO_LABEL, 1);
        break;
    case EVENT_LESSON:
        put(ret, e->label, 2);
        break;
    case EVENT_LABEL:
        break;
    case EVENT_HASH:
        put(ret, e->seq, 8);
        put(ret, e->key, 8);
        break;
    }
    text_add(ret, e->x, e->x_length);
}

/* The rest of a record; too short: all zeros, and failed is set. */
struct cursor {
    const unsigned char *at;
    size_t left;
    bool failed;
};

static uint64_t take(struct cursor *c, size_t bytes)
{
    uint64_t v = 0;
    if (c->left < bytes) {
        c->failed = true;
        return 0;
    }
    for (size_t i = bytes; i-- > 0;)
        v = v << 8 | c->at[i];
    c->at += bytes;
    c->left -= bytes;
    return v;
}

static struct event fixed_part(enum event_kind kind, struct cursor *c)
{
    struct event e = {.kind = kind, .label = NO_LABEL, .answer.label = NO_LABEL};
    e.source.origin = take(c, 8);
    e.source.counter = take(c, 8);
    if (kind == EVENT_DECISION || kind == EVENT_FEEDBACK) {
        e.source.handle = take(c, 8);
        e.key = take(c, 8);
    }
    if (kind == EVENT_DECISION) {
        e.choice.round = take(c, 8);
        uint64_t prob = take(c, 8);
        memcpy(&e.choice.prob, &prob, sizeof prob);
        e.seen = take(c, 8);
        e.choice.label = (uint32_t)take(c, 4);
        e.choice.greedy = (uint32_t)take(c, 4);
        e.choice.note = (uint32_t)take(c, 4);
    } else if (kind == EVENT_FEEDBACK) {
        e.answer.right = take(c, 1) != 0;
        e.answer.label = take(c, 1) ? 0 : NO_LABEL;
    } else if (kind == EVENT_LESSON) {
        e.label = (uint32_t)take(c, 2);
        c->failed = c->failed || e.label > c->left;
    } else if (kind == EVENT_HASH) {
        e.seq = take(c, 8);
        e.key = take(c, 8);
    }
    return e;
}

bool record_read(const void *bytes, size_t size, struct event **ret, struct http_error *err)
{
    struct cursor c = {bytes, size, false};
    uint64_t format = take(&c, 1), kind = take(&c, 1);
    if (!c.failed && (format != RECORD_FORMAT || kind > EVENT_HASH))
        return http_error_set(err, 503, "newer", "the journal has a record of format %u, kind %u: a newer version's",
                              (unsigned)format, (unsigned)kind);
    struct event read = fixed_part((enum event_kind)kind, &c);
    if (c.failed)
        return http_error_set(err, 503, "damaged", "the journal has a record that is none (%zu bytes)", size);
    struct event *e = event_for_example((enum event_kind)kind, (const char *)c.at, c.left);
    if (!e)
        return http_error_no_memory(err);
    e->source = read.source;
    e->key = read.key;
    e->seq = read.seq;
    e->choice = read.choice;
    e->seen = read.seen;
    e->answer = read.answer;
    e->label = read.label;
    *ret = e;
    return true;
}
