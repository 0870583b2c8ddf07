/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs as text: VW lines, JSON lines, tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "rows.h"
#include "base/error.h"
#include "logged_row.h"

void logged_at(struct logged *l, uint64_t line)
{
    l->json.line = l->vw.line = line;
}

hunch_status logged_prob(struct logged *l, double prob, struct logged_row *row, hunch_error *reterr)
{
    if (!(prob > 0 && prob <= 1 + 1e-9))
        return parser_fail(&l->json, l->json.line, reterr, "the probability %g is not in (0, 1]", prob);
    row->prob = fmin(prob, 1);
    return HUNCH_OK;
}

hunch_status logged_answer(struct logged *l, struct logged_row *row, int right, bool *ret_answered, hunch_error *reterr)
{
    if (right >= 0 && row->truth != LOGGED_NONE && right != (row->truth == row->label))
        return parser_fail(&l->json, l->json.line, reterr, "the true label and 'right' contradict each other");
    *ret_answered = right >= 0 || row->truth != LOGGED_NONE;
    row->right = right >= 0 ? right : row->truth == row->label;
    return HUNCH_OK;
}

/* --- VW --- */

struct head {
    long action; /* the one with a cost; 0: none */
    double cost, prob;
    long largest;
};

/* "2:0:0.25", or "2" for an action that could have been shown. */
static bool action_read(const char *text, const char *end, struct head *head)
{
    char *at;
    long action = strtol(text, &at, 10);
    if (at == text || action < 1 || action > (long)HUNCH_MAX_CLASSES || (*at != ':' && at != end))
        return false;
    if (action > head->largest)
        head->largest = action;
    if (at == end)
        return true;
    const char *cost = at + 1;
    if (head->action)
        return false;
    head->action = action;
    const char *colon = number_read(cost, &head->cost);
    if (!colon || *colon != ':' || !isfinite(head->cost))
        return false;
    return number_read(colon + 1, &head->prob) == end;
}

static hunch_status head_read(struct logged *l, const char **text, struct head *head, hunch_error *reterr)
{
    const char *p = *text + strspn(*text, " \t");
    while (*p != '|') {
        const char *end = p + strcspn(p, " \t\r\n|");
        struct quoted token = quote(p, (size_t)(end - p));
        if (*p == '\n' || *p == '\r' || *p == '\0')
            return parser_fail(&l->vw, l->vw.line, reterr, "there is no '|'");
        if (end - p == 6 && !memcmp(p, "shared", 6))
            return parser_fail(&l->vw, l->vw.line, reterr,
                               "features of actions ('shared', one line for each action) are not supported");
        if (*p != '\'' && *end == '|') /* a tag without a mark: it touches the bar */
            p = end;
        else if (*p != '\'' && !action_read(p, end, head))
            return parser_fail(&l->vw, l->vw.line, reterr, "expected action:cost:probability, actions from 1: '%s'",
                               token.text);
        p = end + strspn(end, " \t");
    }
    *text = p;
    return HUNCH_OK;
}

/* Action a is label number a - 1, named "a", unless a model's labels come first. */
static hunch_status action_label(struct logged *l, const struct head *head, uint32_t *ret, hunch_error *reterr)
{
    char name[24];
    hunch_status status = HUNCH_OK;
    uint32_t number = LOGGED_NONE;
    long from = l->options.labels ? head->action : (long)names_count(l->labels) + 1;
    for (long a = from; a <= head->largest && !status; a++) {
        int length = snprintf(name, sizeof name, "%ld", a);
        status = parser_label(&l->vw, name, (size_t)length, l->vw.line, &number, reterr);
    }
    int length = snprintf(name, sizeof name, "%ld", head->action);
    return status ? status : parser_label(&l->vw, name, (size_t)length, l->vw.line, ret, reterr);
}

hunch_status logged_vw(struct logged *l, const char *text, size_t size, struct logged_row *ret, bool *ret_answered,
                       hunch_error *reterr)
{
    struct head head = {0};
    const char *end = text + size;
    size_t used;
    hunch_status status = head_read(l, &text, &head, reterr);
    if (!status)
        status = format_vw.parse(&l->vw, text, (size_t)(end - text), true, &l->batch, &used, reterr);
    *ret_answered = head.action;
    if (status || !head.action)
        return status;
    status = logged_prob(l, head.prob, ret, reterr);
    if (!status)
        status = action_label(l, &head, &ret->label, reterr);
    ret->right = head.cost <= 0.5;
    return status;
}

/* --- JSON --- */

/* The server keeps [[3, 0.5], [17, 1]] as well; as {"index": [3, 17], "value": [0.5, 1]} every reader knows it. */
static json_t *pairs_turn(json_t *x)
{
    json_t *index = json_array(), *value = json_array(), *item;
    size_t i;
    json_array_foreach(x, i, item)
    {
        if (json_array_size(item) != 2) {
            json_decref(index);
            json_decref(value);
            return NULL;
        }
        json_array_append(index, json_array_get(item, 0));
        json_array_append(value, json_array_get(item, 1));
    }
    return json_pack("{s:o, s:o}", "index", index, "value", value);
}

static hunch_status x_append(struct logged *l, json_t *x, hunch_error *reterr)
{
    bool pairs = json_is_array(x) && json_is_array(json_array_get(x, 0));
    json_t *object = pairs ? pairs_turn(x) : json_pack("{s:O}", "x", x);
    if (!object)
        return parser_fail(&l->json, l->json.line, reterr, "x is neither an object nor an array of numbers or pairs");
    hunch_status status = jsonl_append(&l->json, object, &l->batch, reterr);
    json_decref(object);
    return status;
}

hunch_status logged_json_x(struct logged *l, const char *text, size_t size, hunch_error *reterr)
{
    json_error_t error;
    json_t *x = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (!x)
        return parser_fail(&l->json, l->json.line, reterr, "x is not JSON: %s", quote(text, size).text);
    hunch_status status = x_append(l, x, reterr);
    json_decref(x);
    return status;
}

static hunch_status json_label(struct logged *l, json_t *object, const char *key, uint32_t *ret, hunch_error *reterr)
{
    json_t *label = json_object_get(object, key);
    char text[32];
    *ret = LOGGED_NONE;
    if (!label || json_is_null(label))
        return HUNCH_OK;
    if (json_is_string(label))
        return parser_label(&l->json, json_string_value(label), json_string_length(label), l->json.line, ret, reterr);
    if (!json_is_integer(label))
        return parser_fail(&l->json, l->json.line, reterr, "\"%s\" is neither a string nor a whole number", key);
    int length = snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(label));
    return parser_label(&l->json, text, (size_t)length, l->json.line, ret, reterr);
}

static json_t *member(json_t *object, const char *name, const char *other)
{
    json_t *found = json_object_get(object, name);
    return found ? found : json_object_get(object, other);
}

/* true and 1 are right, false and 0 wrong, null is not told: -1. -2: something else. */
static int json_right(const json_t *right)
{
    if (!right || json_is_null(right))
        return -1;
    if (json_is_boolean(right))
        return json_is_true(right);
    double value = json_number_value(right);
    return json_is_number(right) && (value == 0 || value == 1) ? (int)value : -2;
}

static hunch_status object_take(struct logged *l, json_t *object, struct logged_row *ret, bool *ret_answered,
                                hunch_error *reterr)
{
    json_t *prob = member(object, "prob", "probability"), *x = json_object_get(object, "x");
    int right = json_right(member(object, "right", "was_right"));
    hunch_status status = json_label(l, object, "label", &ret->label, reterr);
    if (!status)
        status = json_label(l, object, "true_label", &ret->truth, reterr);
    if (status)
        return status;
    if (ret->label == LOGGED_NONE && ret->truth == LOGGED_NONE)
        return parser_fail(&l->json, l->json.line, reterr, "there is no \"label\"");
    if (ret->label != LOGGED_NONE && !json_is_number(prob))
        return parser_fail(&l->json, l->json.line, reterr, "there is no number \"prob\"");
    if (right == -2)
        return parser_fail(&l->json, l->json.line, reterr, "\"right\" is neither true, false, 1 nor 0");
    if (ret->label != LOGGED_NONE)
        status = logged_prob(l, json_number_value(prob), ret, reterr);
    if (!status)
        status = logged_answer(l, ret, right, ret_answered, reterr);
    if (status)
        return status;
    if (x)
        return x_append(l, x, reterr);
    json_object_del(object, "label"); /* it has been taken */
    return jsonl_append(&l->json, object, &l->batch, reterr);
}

hunch_status logged_json(struct logged *l, const char *text, size_t size, struct logged_row *ret, bool *ret_answered,
                         hunch_error *reterr)
{
    json_t *object = jsonl_read(&l->json, text, size, reterr);
    if (!object)
        return HUNCH_EINVAL;
    hunch_status status = object_take(l, object, ret, ret_answered, reterr);
    json_decref(object);
    return status;
}
