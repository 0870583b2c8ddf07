/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Request bodies on their way to the model: the first byte chooses the kind of features and of request, the rest is the
 * body. A model lives through all items, is written, read and written again, and must be the same; the example's text
 * in the log must give the same example.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "event/body.h"
#include "event/json_fast.h"
#include "event/model_state.h"

static const struct limits limits = {
    .body = 1 << 16, .depth = 8, .features = 64, .batch = 50, .labels = 20, .names = 30};

static const char *const models[] = {
    "{\"labels\":[\"a\",\"b\",\"c\"],\"learner\":\"banditron:gamma=0.3\",\"seed\":1}",
    "{\"classes\":3,\"features\":\"hashed\",\"hash_bits\":4,\"seed\":2}",
    "{\"classes\":4,\"features\":\"indexed\",\"max_features\":50,\"learner\":\"soba\",\"seed\":3}",
};

static bool make(struct model_state *ret, const char *text, size_t length)
{
    struct http_error err = {0};
    struct settings s;
    json_t *json = json_read(text, length, limits.depth, &err);
    bool ok = json && settings_read(&s, json, &limits, &err) && state_new(ret, &s, &err);
    json_decref(json);
    return ok;
}

static void check_same(const struct example *a, const struct example *b)
{
    if (a->n != b->n)
        abort();
    for (size_t i = 0; i < a->n; i++) {
        const struct feature *x = &a->features[i], *y = &b->features[i];
        if (memcmp(&x->value, &y->value, sizeof x->value) || x->index != y->index || !x->name != !y->name)
            abort();
        if (x->name && (x->length != y->length || memcmp(x->name, y->name, x->length)))
            abort();
    }
}

static void check_question(const char *text, size_t length, const struct settings *settings)
{
    struct http_error err = {0};
    struct example quick, slow;
    const char *member;
    size_t member_length;
    if (!json_fast_predict(&quick, text, length, settings))
        return;
    json_t *json = json_read(text, length, limits.depth, &err);
    if (json_object_size(json) != 1 || !body_member(text, length, "x", &member, &member_length) ||
        member != quick.text || member_length != quick.length ||
        !example_read(&slow, json_object_get(json, "x"), settings, SIZE_MAX, &err))
        abort();
    check_same(&quick, &slow);
    example_free(&quick);
    example_free(&slow);
    json_decref(json);
}

/* What the quick way takes, the parser takes, and both see the same. */
static void check_quick(const char *text, size_t length, const struct settings *settings)
{
    struct http_error err = {0};
    struct example quick, slow;
    struct feedback_input said;
    bool example = json_fast_example(&quick, text, length, settings), answer = json_fast_feedback(&said, text, length);
    json_t *json = example || answer ? json_read(text, length, limits.depth, &err) : NULL;
    if (example) {
        if (!json || !example_read(&slow, json, settings, SIZE_MAX, &err))
            abort();
        check_same(&quick, &slow);
        example_free(&quick);
        example_free(&slow);
    }
    if (answer) {
        const json_t *label = json_object_get(json, "label"), *id = json_object_get(json, "id");
        uint64_t seq, key;
        if (json_object_size(json) != 2 || !id_read(json_string_value(id), json_string_length(id), &seq, &key))
            abort();
        if (seq != said.seq || key != said.key || said.labelled != !!label)
            abort();
        if (label ? json_string_length(label) != said.label_length ||
                        memcmp(json_string_value(label), said.label, said.label_length)
                  : json_object_get(json, "right") != (said.right ? json_true() : json_false()))
            abort();
    }
    json_decref(json);
}

/* The text that would go to the log is the example that was given. */
static void check_text(const struct model_state *c, const struct body_item *item, const struct example *x)
{
    struct http_error err = {0};
    struct example again;
    const char *text;
    size_t length;
    if (!body_member(item->text, item->length, "x", &text, &length))
        return; /* not spelled plainly: the server prints it anew */
    json_t *json = json_read(text, length, UINT32_MAX, &err);
    if (!json || !example_read(&again, json, &c->settings, limits.features, &err))
        abort();
    check_same(&again, x);
    check_quick(text, length, &c->settings);
    example_free(&again);
    json_decref(json);
}

static void play(struct model_state *c, const struct body_item *item)
{
    struct http_error err = {0};
    struct example x;
    const json_t *json = json_object_get(item->json, "x"), *label = json_object_get(item->json, "label");
    if (!json || !example_read(&x, json, &c->settings, limits.features, &err))
        return;
    check_text(c, item, &x);
    struct event *e = event_new(EVENT_DECISION, x.n, "", 0), *f = event_new(EVENT_FEEDBACK, 0, "", 0);
    if (e && f) {
        const char *name;
        char number[24];
        size_t length;
        float scores[64];
        if (names_count(c->labels) <= 64)
            state_scores(c, &x, e, scores, &err);
        e->seq = c->seq + 1;
        if (state_predict(c, &x, e, &err)) {
            f->seq = c->seq + 1;
            f->answer.right = json_is_true(json_object_get(item->json, "right"));
            if (label && label_read(label, &name, &length, number, &err))
                f->answer.label = names_find(c->labels, name, length);
            state_answer(c, e, f, false, &err);
        }
    }
    event_free(e);
    event_free(f);
    example_free(&x);
}

static void check_saved(struct model_state *c)
{
    struct http_error err = {0};
    struct model_state again;
    struct settings s;
    struct text t = {0};
    void *a, *b;
    size_t n, m;
    settings_write(&c->settings, &t);
    json_t *json = json_read(t.data, t.length, 8, &err);
    if (!json || !settings_read(&s, json, &limits, &err) || !state_write(c, &a, &n, &err) ||
        !state_read(&again, &s, a, n, &err) || !state_write(&again, &b, &m, &err))
        abort();
    if (n != m || memcmp(a, b, n) || again.seq != c->seq)
        abort();
    hunch_free_bytes(a);
    hunch_free_bytes(b);
    state_free(&again);
    json_decref(json);
    text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct model_state state;
    struct body body;
    struct body_item item;
    struct http_error err = {0};
    enum body_next next;
    if (size < 1 || size > limits.body)
        return 0;
    const char *text = (const char *)data + 1;
    uint64_t seq, key;
    id_read(text, size - 1, &seq, &key);
    if (data[0] & 8) { /* a description of a model */
        if (make(&state, text, size - 1)) {
            check_saved(&state);
            state_free(&state);
        }
        return 0;
    }
    const char *model = models[(data[0] & 3) % 3];
    if (!make(&state, model, strlen(model)))
        abort();
    check_quick(text, size - 1, &state.settings);
    check_question(text, size - 1, &state.settings);
    if (body_open(&body, text, size - 1, data[0] & 4, &limits, &err)) {
        while ((next = body_next(&body, &item, &err)) != BODY_END) {
            if (next == BODY_BAD)
                continue;
            if (body_item_parse(&item, &err))
                play(&state, &item);
            body_item_free(&item);
        }
        body_close(&body);
        check_saved(&state);
    }
    state_free(&state);
    return 0;
}
