/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "event/settings.h"

#define CONFIDENCE 0.95

static bool bad(struct http_error *err)
{
    return http_error_set(
        err, 400, "bad_setting",
        "control must be null, {\"share\":s,\"by\":\"baseline\"}, {\"share\":s,\"by\":\"uniform\"} or "
        "{\"share\":s,\"label\":\"...\"}, with 0 < s < 1");
}

static bool read_control(struct policy *p, const json_t *json, struct http_error *err)
{
    const json_t *share = json_object_get(json, "share"), *by = json_object_get(json, "by"),
                 *label = json_object_get(json, "label");
    const char *word = json_string_value(by), *name = "";
    char number[24];
    size_t length = 0;
    double s = json_number_value(share);
    if (json_is_null(json)) {
        p->control_share = 0;
        return true;
    }
    if (!json_is_object(json) || json_object_size(json) != 2 || !json_is_number(share) || !(s > 0 && s < 1))
        return bad(err);
    if (label ? !label_read(label, &name, &length, number, err)
              : !word || (strcmp(word, "baseline") != 0 && strcmp(word, "uniform") != 0))
        return bad(err);
    p->control_share = s;
    p->control = label ? CONTROL_LABEL : word[0] == 'b' ? CONTROL_BASELINE : CONTROL_UNIFORM;
    memcpy(p->label, name, length);
    p->label[length] = 0;
    return true;
}

bool policy_read(struct policy *inout, const json_t *json, struct http_error *err)
{
    const json_t *decides = json_object_get(json, "decides"), *control = json_object_get(json, "control");
    const char *word = json_string_value(decides);
    if (decides && (!word || (strcmp(word, "model") != 0 && strcmp(word, "baseline") != 0)))
        return http_error_set(err, 400, "bad_setting", "decides must be \"model\" or \"baseline\"");
    if (decides)
        inout->baseline_decides = word[0] == 'b';
    return !control || read_control(inout, control, err);
}

bool policy_label_ok(const struct policy *p, const struct names *labels, struct http_error *err)
{
    return !(p->control_share > 0) || p->control != CONTROL_LABEL ||
           names_find(labels, p->label, strlen(p->label)) != NAMES_NONE ||
           http_error_set(err, 400, "unknown_label", "this model has no label \"%s\"", p->label);
}

void policy_write(const struct policy *p, struct text *t)
{
    text_puts(t, p->baseline_decides ? "\"decides\":\"baseline\"" : "\"decides\":\"model\"");
    if (!(p->control_share > 0)) {
        text_puts(t, ",\"control\":null");
        return;
    }
    text_puts(t, ",\"control\":{\"share\":");
    text_number(t, p->control_share);
    if (p->control == CONTROL_LABEL) {
        text_puts(t, ",\"label\":");
        text_quote(t, p->label, strlen(p->label));
    } else {
        text_puts(t, p->control == CONTROL_UNIFORM ? ",\"by\":\"uniform\"" : ",\"by\":\"baseline\"");
    }
    text_puts(t, "}");
}

bool policy_equal(const struct policy *a, const struct policy *b)
{
    return a->baseline_decides == b->baseline_decides && a->control_share == b->control_share &&
           (!(a->control_share > 0) || (a->control == b->control && strcmp(a->label, b->label) == 0));
}

/* --- what came of it --- */

void comparison_decision(struct comparison *c, const struct policy *p, const struct event *decision)
{
    switch (decision->chooser) {
    case CHOSEN_BY_BASELINE:
        c->baseline.decisions++;
        c->instead.decisions += decision->choice.greedy == decision->choice.label;
        break;
    case CHOSEN_BY_MODEL:
        c->model.decisions += p->control_share > 0;
        break;
    default:
        c->control.decisions++;
        break;
    }
}

void comparison_answer(struct comparison *c, const struct policy *p, const struct event *decision, bool right)
{
    if (decision->seq <= c->since)
        return;
    switch (decision->chooser) {
    case CHOSEN_BY_BASELINE:
        value_add(&c->baseline.value, 1, right);
        if (!decision->unknown_chance)
            value_add(&c->instead.value, decision->model_chance / decision->choice.prob, right);
        break;
    case CHOSEN_BY_MODEL:
        if (p->control_share > 0)
            value_add(&c->model.value, 1, right);
        break;
    default:
        value_add(&c->control.value, 1, right);
        break;
    }
}

static void describe_side(const char *name, const struct side *s, const char *counted, struct text *t)
{
    double low, high;
    value_interval(&s->value, CONFIDENCE, &low, &high);
    text_printf(t, "\"%s\":{\"%s\":%llu,\"answers\":%llu,\"right\":", name, counted, (unsigned long long)s->decisions,
                (unsigned long long)s->value.n);
    text_number(t, value_mean(&s->value));
    text_puts(t, ",\"low\":");
    text_number(t, low);
    text_puts(t, ",\"high\":");
    text_number(t, high);
    text_puts(t, "}");
}

/* Of two intervals that hold together with that confidence. */
static void describe_lift(const struct comparison *c, struct text *t)
{
    double low[2], high[2];
    value_interval(&c->model.value, (1 + CONFIDENCE) / 2, &low[0], &high[0]);
    value_interval(&c->control.value, (1 + CONFIDENCE) / 2, &low[1], &high[1]);
    text_puts(t, "\"lift\":{\"value\":");
    text_number(t, value_mean(&c->model.value) - value_mean(&c->control.value));
    text_puts(t, ",\"low\":");
    text_number(t, low[0] - high[1]);
    text_puts(t, ",\"high\":");
    text_number(t, high[0] - low[1]);
    text_puts(t, "}");
}

void comparison_describe(const struct comparison *c, struct text *t)
{
    text_printf(t, "\"since_seq\":%llu,", (unsigned long long)c->since);
    describe_side("baseline", &c->baseline, "decisions", t);
    text_puts(t, ",");
    describe_side("model_instead", &c->instead, "same", t);
    text_puts(t, ",");
    describe_side("model", &c->model, "decisions", t);
    text_puts(t, ",");
    describe_side("control", &c->control, "decisions", t);
    text_puts(t, ",");
    describe_lift(c, t);
}

/* --- in snapshots --- */

#define SIDES 4
#define SIDE_TEXTS 6

static struct side *side_at(struct comparison *c, size_t i)
{
    struct side *const all[SIDES] = {&c->baseline, &c->instead, &c->model, &c->control};
    return all[i];
}

void comparison_write(const struct comparison *c, struct text *t)
{
    text_printf(t, "[\"%llx\"", (unsigned long long)c->since);
    for (size_t i = 0; i < SIDES; i++) {
        const struct side *s = side_at((struct comparison *)c, i);
        text_printf(t, ",\"%llx\",\"%llx\",\"%a\",\"%a\",\"%a\",\"%a\"", (unsigned long long)s->decisions,
                    (unsigned long long)s->value.n, s->value.right.sum, s->value.right.squares, s->value.wrong.sum,
                    s->value.wrong.squares);
    }
    text_puts(t, "]");
}

bool comparison_read(struct comparison *ret, const json_t *array)
{
    const char *text[1 + SIDES * SIDE_TEXTS];
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        if (!(text[i] = json_string_value(json_array_get(array, i))))
            return false;
    ret->since = strtoull(text[0], NULL, 16);
    for (size_t i = 0; i < SIDES; i++) {
        const char *const *at = text + 1 + i * SIDE_TEXTS;
        *side_at(ret, i) = (struct side){strtoull(at[0], NULL, 16),
                                         {strtoull(at[1], NULL, 16),
                                          {strtod(at[2], NULL), strtod(at[3], NULL)},
                                          {strtod(at[4], NULL), strtod(at[5], NULL)}}};
    }
    return true;
}
