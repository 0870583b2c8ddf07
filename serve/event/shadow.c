/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/shadow.h"

#include <math.h>
#include <stdlib.h>

#define CONFIDENCE 0.95

void shadow_free(struct shadow *s)
{
    free(s->other);
    *s = (struct shadow){0};
}

static struct other_label *other_at(const struct shadow *s, size_t i)
{
    return &s->other[(s->other_first + i) % s->other_room];
}

static bool other_grow(struct shadow *s)
{
    size_t room = s->other_room ? s->other_room * 2 : 64;
    struct other_label *other = malloc(room * sizeof *other);
    if (!other)
        return false;
    for (size_t i = 0; i < s->other_n; i++)
        other[i] = *other_at(s, i);
    free(s->other);
    s->other = other;
    s->other_room = room;
    s->other_first = 0;
    return true;
}

static bool remember(struct shadow *s, uint64_t seq, uint32_t greedy)
{
    if (s->other_n == SHADOW_PENDING) {
        s->known = s->other[s->other_first].seq;
        s->other_first = (s->other_first + 1) % s->other_room;
        s->other_n--;
    } else if (s->other_n == s->other_room && !other_grow(s)) {
        return false;
    }
    *other_at(s, s->other_n++) = (struct other_label){seq, greedy};
    return true;
}

bool shadow_decided(struct shadow *s, const struct event *decision, uint32_t by, const hunch_choice *own)
{
    if (own->greedy != decision->choice.greedy && !remember(s, decision->seq, own->greedy))
        return false;
    if (s->decisions == 0)
        s->known = decision->seq - 1;
    if (s->against != by) {
        s->gain = (struct value_bounds){0};
        s->against = by;
        s->since = decision->seq;
    }
    s->decisions++;
    s->agreed += own->greedy == decision->choice.label;
    return true;
}

static uint32_t greedy_then(const struct shadow *s, const struct event *decision)
{
    size_t low = 0, high = s->other_n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (other_at(s, middle)->seq < decision->seq)
            low = middle + 1;
        else
            high = middle;
    }
    bool there = low < s->other_n && other_at(s, low)->seq == decision->seq;
    return there ? other_at(s, low)->greedy : decision->choice.greedy;
}

void shadow_answered(struct shadow *s, const struct event *decision, bool right)
{
    const hunch_choice *c = &decision->choice;
    if (decision->seq <= s->known)
        return;
    uint32_t greedy = greedy_then(s, decision);
    double own = greedy == c->label ? 1 / c->prob : 0, present = c->greedy == c->label ? 1 / c->prob : 0;
    s->answers++;
    s->matched += greedy == c->label;
    s->wrong += greedy == c->label && !right;
    value_add(&s->value, own, right);
    if (decision->seq < s->since)
        return;
    if (greedy == c->greedy) /* exactly 0, whatever the answer */
        value_observe(&s->gain, 0.5, 0.5);
    else
        value_observe(&s->gain, (right ? own : present) / 2, (right ? present : own) / 2);
}

void shadow_gain(const struct shadow *s, double *ret_gain, double *ret_low, double *ret_high)
{
    value_interval(&s->gain, CONFIDENCE, ret_low, ret_high);
    *ret_low = 2 * *ret_low - 1;
    *ret_high = 2 * *ret_high - 1;
    *ret_gain = 2 * value_mean(&s->gain) - 1;
}

double shadow_gain_least(const struct shadow *s)
{
    double low, high;
    value_interval(&s->gain, 2 * CONFIDENCE - 1, &low, &high);
    return 2 * low - 1;
}

bool shadow_better(const struct shadow *s)
{
    return value_above(&s->gain, 0.5, CONFIDENCE);
}

/* --- as text --- */

static void bounds_text(const char *name, const struct value_bounds *v, struct text *t)
{
    text_printf(t, ",\"%s\":[%llu,\"%a\",\"%a\",\"%a\",\"%a\"]", name, (unsigned long long)v->n, v->right.sum,
                v->right.squares, v->wrong.sum, v->wrong.squares);
}

void shadow_write(const struct shadow *s, struct text *t)
{
    text_printf(t, "{\"counts\":[%llu,%llu,%llu,%llu,%llu,%u,%llu,%llu]", (unsigned long long)s->decisions,
                (unsigned long long)s->agreed, (unsigned long long)s->answers, (unsigned long long)s->matched,
                (unsigned long long)s->wrong, s->against, (unsigned long long)s->since, (unsigned long long)s->known);
    bounds_text("value", &s->value, t);
    bounds_text("gain", &s->gain, t);
    text_puts(t, ",\"other\":[");
    for (size_t i = 0; i < s->other_n; i++)
        text_printf(t, "%s%llu,%u", i ? "," : "", (unsigned long long)other_at(s, i)->seq, other_at(s, i)->greedy);
    text_puts(t, "]}");
}

static bool whole(const json_t *v, uint64_t *ret)
{
    *ret = (uint64_t)json_integer_value(v);
    return json_is_integer(v) && json_integer_value(v) >= 0;
}

static bool real(const json_t *v, double *ret)
{
    char *end;
    const char *text = json_string_value(v);
    *ret = text ? strtod(text, &end) : 0;
    return text && *text && !*end && isfinite(*ret) && *ret >= 0;
}

static bool bounds_read(const json_t *array, struct value_bounds *ret)
{
    return json_array_size(array) == 5 && whole(json_array_get(array, 0), &ret->n) &&
           real(json_array_get(array, 1), &ret->right.sum) && real(json_array_get(array, 2), &ret->right.squares) &&
           real(json_array_get(array, 3), &ret->wrong.sum) && real(json_array_get(array, 4), &ret->wrong.squares);
}

static bool other_read(struct shadow *s, const json_t *array)
{
    size_t n = json_array_size(array);
    uint64_t seq, greedy, before = 0;
    if (n % 2 || n / 2 > SHADOW_PENDING)
        return false;
    for (size_t i = 0; i < n; i += 2, before = seq)
        if (!whole(json_array_get(array, i), &seq) || !whole(json_array_get(array, i + 1), &greedy) || seq <= before ||
            !remember(s, seq, (uint32_t)greedy))
            return false;
    return true;
}

bool shadow_read(struct shadow *ret, const json_t *json)
{
    struct shadow s = {0};
    uint64_t n[8];
    const json_t *counts = json_object_get(json, "counts");
    bool ok = json_array_size(counts) == 8;
    for (size_t i = 0; ok && i < 8; i++)
        ok = whole(json_array_get(counts, i), &n[i]);
    ok = ok && bounds_read(json_object_get(json, "value"), &s.value) &&
         bounds_read(json_object_get(json, "gain"), &s.gain) && other_read(&s, json_object_get(json, "other"));
    if (!ok) {
        shadow_free(&s);
        return false;
    }
    s.decisions = n[0];
    s.agreed = n[1];
    s.answers = n[2];
    s.matched = n[3];
    s.wrong = n[4];
    s.against = (uint32_t)n[5];
    s.since = n[6];
    s.known = n[7];
    *ret = s;
    return true;
}
