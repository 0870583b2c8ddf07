/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "event/event.h"

struct event *event_new(enum event_kind kind, size_t features, const char *x, size_t x_length)
{
    if (features > SIZE_MAX / 32 || x_length > SIZE_MAX / 4)
        return NULL;
    size_t bytes = sizeof(struct event) + features * (sizeof(uint32_t) + sizeof(float)) + x_length + 1;
    struct event *e = malloc(bytes);
    if (!e)
        return NULL;
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->bytes = bytes;
    e->room = features;
    e->index = (uint32_t *)(e + 1);
    e->value = (float *)(e->index + features);
    char *text = (char *)(e->value + features);
    if (x_length)
        memcpy(text, x, x_length);
    text[x_length] = 0;
    e->x = text;
    e->x_length = x_length;
    e->label = e->answer.label = NO_LABEL;
    return e;
}

/* An example can't have more features than its text has commas, and one. */
struct event *event_for_example(enum event_kind kind, const char *x, size_t x_length)
{
    size_t features = 1;
    for (const char *c = x; (c = memchr(c, ',', (size_t)(x + x_length - c))); c++)
        features++;
    return event_new(kind, features, x, x_length);
}

struct event *event_copy(const struct event *e, size_t features)
{
    struct event *copy = event_new(e->kind, features, e->x, e->x_length);
    char *eligible = e->eligible ? strdup(e->eligible) : NULL, *given_id = e->given_id ? strdup(e->given_id) : NULL;
    if (!copy || (e->eligible && !eligible) || (e->given_id && !given_id)) {
        free(copy);
        free(eligible);
        free(given_id);
        return NULL;
    }
    struct event block = *copy;
    *copy = *e;
    copy->eligible = copy->given_id = NULL;
    copy->next = NULL;
    copy->bytes = block.bytes;
    copy->index = block.index;
    copy->value = block.value;
    copy->n = 0;
    copy->room = features;
    copy->x = block.x;
    event_set_eligible(copy, eligible);
    event_set_given_id(copy, given_id);
    return copy;
}

void event_set_eligible(struct event *e, char *eligible)
{
    free(e->eligible);
    e->eligible = eligible;
    e->bytes += eligible ? strlen(eligible) + 1 : 0;
}

void event_set_given_id(struct event *e, char *given_id)
{
    free(e->given_id);
    e->given_id = given_id;
    e->bytes += given_id ? strlen(given_id) + 1 : 0;
}

void event_free(struct event *e)
{
    if (e) {
        free(e->eligible);
        free(e->given_id);
    }
    free(e);
}

uint64_t event_checksum(const struct event *e, uint64_t before)
{
    uint64_t v[12] = {(uint64_t)e->kind, e->seq, (uint64_t)e->time_ms};
    switch (e->kind) {
    case EVENT_DECISION:
        v[3] = e->key;
        v[4] = e->choice.round;
        v[5] = e->choice.label;
        v[6] = e->choice.greedy;
        memcpy(&v[7], &e->choice.prob, sizeof e->choice.prob);
        v[8] = e->choice.note;
        v[9] = e->seen;
        v[10] = (uint64_t)e->chooser | (uint64_t)e->unknown_chance << 8 | (uint64_t)e->deferred << 9;
        memcpy(&v[11], &e->model_chance, sizeof e->model_chance);
        break;
    case EVENT_FEEDBACK:
    case EVENT_LATE:
        v[3] = e->decision;
        v[4] = e->answer.right;
        v[5] = e->answer.label;
        v[6] = e->answer.silent;
        break;
    case EVENT_LESSON:
        v[3] = e->label;
        break;
    case EVENT_ACTIVATE:
        v[3] = e->decision;
        break;
    case EVENT_RETIRE:
        v[3] = e->label;
        v[4] = e->answer.right;
        break;
    case EVENT_LABEL: /* has no time in the log */
        v[2] = 0;
        break;
    case EVENT_POLICY:
    case EVENT_HASH: /* is not in the log */
        break;
    }
    uint64_t sum = XXH3_64bits_withSeed(v, sizeof v, before);
    if (e->eligible)
        sum = XXH3_64bits_withSeed(e->eligible, strlen(e->eligible), sum);
    if (e->given_id)
        sum = XXH3_64bits_withSeed(e->given_id, strlen(e->given_id), sum + 1);
    if (e->act_at > 0)
        sum = XXH3_64bits_withSeed(&e->act_at, sizeof e->act_at, sum + 2 + e->act);
    return XXH3_64bits_withSeed(e->x, e->x_length, sum);
}

static void hex_write(char *ret, uint64_t v)
{
    for (int i = 15; i >= 0; i--, v >>= 4)
        ret[i] = "0123456789abcdef"[v & 15];
}

static bool hex_read(const char *text, uint64_t *ret)
{
    uint64_t v = 0;
    for (int i = 0; i < 16; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9')
            v = v << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    *ret = v;
    return true;
}

void id_write(char ret[ID_CHARS + 1], uint64_t seq, uint64_t key)
{
    hex_write(ret, seq);
    ret[16] = '-';
    hex_write(ret + 17, key);
    ret[ID_CHARS] = 0;
}

bool id_read(const char *text, size_t length, uint64_t *ret_seq, uint64_t *ret_key)
{
    return length == ID_CHARS && text[16] == '-' && hex_read(text, ret_seq) && hex_read(text + 17, ret_key) &&
           *ret_seq >= 1;
}
