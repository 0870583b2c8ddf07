/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "event/record.h"

static void put(struct text *t, uint64_t v, size_t bytes)
{
    unsigned char b[8];
    for (size_t i = 0; i < bytes; i++, v >>= 8)
        b[i] = (unsigned char)v;
    text_add(t, b, bytes);
}

static void put_decision(const struct event *e, struct text *t)
{
    uint64_t prob, model, act_at;
    memcpy(&act_at, &e->act_at, sizeof act_at);
    memcpy(&prob, &e->choice.prob, sizeof prob);
    memcpy(&model, &e->model_chance, sizeof model);
    const uint64_t wide[] = {e->source.handle, e->key, e->choice.round, prob, e->seen, model};
    const uint64_t narrow[] = {e->choice.label, e->choice.greedy, e->choice.note};
    for (size_t i = 0; i < 6; i++)
        put(t, wide[i], 8);
    for (size_t i = 0; i < 3; i++)
        put(t, narrow[i], 4);
    put(t, e->chooser, 1);
    put(t, e->unknown_chance, 1);
    put(t, e->deferred, 1);
    put(t, act_at, 8);
    put(t, e->act, 1);
    put(t, e->eligible ? strlen(e->eligible) : 0, 4);
    text_puts(t, e->eligible ? e->eligible : "");
    put(t, e->given_id ? strlen(e->given_id) : 0, 1);
    text_puts(t, e->given_id ? e->given_id : "");
}

void record_write(const struct event *e, struct text *ret)
{
    assert(e->kind != EVENT_DECISION || (e->choice.prob > 0 && e->choice.prob <= 1 && e->chooser < CHOOSERS));
    assert(e->kind != EVENT_LESSON || e->label <= e->x_length);
    put(ret, RECORD_FORMAT, 1);
    bool is_feedback = e->kind == EVENT_LATE || e->kind == EVENT_ACTIVATE;
    put(ret, (uint64_t)(is_feedback ? EVENT_FEEDBACK : e->kind), 1);
    put(ret, e->source.origin, 8);
    put(ret, e->source.counter, 8);
    put(ret, (uint64_t)e->time_ms, 8);
    switch (e->kind) {
    case EVENT_DECISION:
        put_decision(e, ret);
        break;
    case EVENT_FEEDBACK:
    case EVENT_LATE:
    case EVENT_ACTIVATE: /* what it is, its place in the journal decides */
        put(ret, e->source.handle, 8);
        put(ret, e->key, 8);
        put(ret, e->answer.right, 1);
        put(ret, e->answer.label != NO_LABEL, 1);
        put(ret, e->answer.silent, 1);
        put(ret, e->answer.active != 0, 1);
        break;
    case EVENT_RETIRE:
        put(ret, e->answer.right, 1);
        break;
    case EVENT_LESSON:
        put(ret, e->label, 2);
        break;
    case EVENT_LABEL:
    case EVENT_POLICY:
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

/* malloc'd; NULL: it is empty, or failed. */
static char *take_text(struct cursor *c, size_t bytes)
{
    if (!bytes)
        return NULL;
    char *text = c->left >= bytes ? strndup((const char *)c->at, bytes) : NULL;
    if (!text) {
        c->failed = true;
        return NULL;
    }
    c->at += bytes;
    c->left -= bytes;
    return text;
}

static struct event fixed_part(enum event_kind kind, struct cursor *c)
{
    struct event e = {.kind = kind, .label = NO_LABEL, .answer.label = NO_LABEL};
    e.source.origin = take(c, 8);
    e.source.counter = take(c, 8);
    e.time_ms = (int64_t)take(c, 8);
    if (kind == EVENT_DECISION || kind == EVENT_FEEDBACK) {
        e.source.handle = take(c, 8);
        e.key = take(c, 8);
    }
    if (kind == EVENT_DECISION) {
        e.choice.round = take(c, 8);
        uint64_t prob = take(c, 8);
        memcpy(&e.choice.prob, &prob, sizeof prob);
        e.seen = take(c, 8);
        uint64_t model = take(c, 8);
        memcpy(&e.model_chance, &model, sizeof model);
        e.choice.label = (uint32_t)take(c, 4);
        e.choice.greedy = (uint32_t)take(c, 4);
        e.choice.note = (uint32_t)take(c, 4);
        e.chooser = (enum chooser)take(c, 1);
        e.unknown_chance = take(c, 1) != 0;
        e.deferred = take(c, 1) != 0;
        uint64_t act_at = take(c, 8);
        memcpy(&e.act_at, &act_at, sizeof act_at);
        e.act = (uint32_t)take(c, 1);
        e.eligible = take_text(c, (size_t)take(c, 4));
        e.given_id = take_text(c, (size_t)take(c, 1));
    } else if (kind == EVENT_FEEDBACK) {
        e.answer.right = take(c, 1) != 0;
        e.answer.label = take(c, 1) ? 0 : NO_LABEL;
        e.answer.silent = take(c, 1) != 0;
        e.answer.active = take(c, 1) != 0;
    } else if (kind == EVENT_RETIRE) {
        e.answer.right = take(c, 1) != 0;
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
        return http_error_set(err, 503, "newer",
                              "the journal has a record of format %u, kind %u: written by a newer version",
                              (unsigned)format, (unsigned)kind);
    struct event read = fixed_part((enum event_kind)kind, &c);
    if (c.failed) {
        free(read.eligible);
        free(read.given_id);
        return http_error_set(err, 503, "damaged", "invalid record in the journal (%zu bytes)", size);
    }
    struct event *e = event_for_example((enum event_kind)kind, (const char *)c.at, c.left);
    if (!e) {
        free(read.eligible);
        free(read.given_id);
        return http_error_no_memory(err);
    }
    event_set_eligible(e, read.eligible);
    event_set_given_id(e, read.given_id);
    e->source = read.source;
    e->time_ms = read.time_ms;
    e->key = read.key;
    e->seq = read.seq;
    e->choice = read.choice;
    e->chooser = read.chooser;
    e->unknown_chance = read.unknown_chance;
    e->deferred = read.deferred;
    e->act_at = read.act_at;
    e->act = read.act;
    e->model_chance = read.model_chance;
    e->seen = read.seen;
    e->answer = read.answer;
    e->label = read.label;
    *ret = e;
    return true;
}
