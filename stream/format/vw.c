/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vowpal Wabbit text: "label [importance [base]] ['tag] |namespace[:scale] feature[:value] ... |namespace ...".
 *
 * A feature is called "namespace^feature", or "feature" in the namespace without name. Features that are there twice
 * are added up. Importance weights must be numbers and are otherwise ignored, as are base and tag: every round counts
 * once. Labels with costs ("1:0.5") belong to other problems and are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/rows.h"
#include "table/csv_cell.h"
#include "base/error.h"
#include "base/number.h"
#include "table/parser.h"

struct vw {
    struct csv_scratch key;
    size_t prefix; /* "namespace^" at the beginning of key */
    float scale;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *blanks_skip(const char *p)
{
    while (is_blank(*p))
        p++;
    return p;
}

enum { ENDS_TOKEN = 1, ENDS_NAME = 2 };
static const unsigned char class_of[256] = {[' '] = 3, ['\t'] = 3, ['\r'] = 3, ['\n'] = 3, ['|'] = 3, [':'] = 2};

static const char *token_end(const char *p)
{
    while (!(class_of[(unsigned char)*p] & ENDS_TOKEN))
        p++;
    return p;
}

static const char *name_end(const char *p)
{
    while (!class_of[(unsigned char)*p])
        p++;
    return p;
}

static hunch_status vw_begin(struct parser *p, const char *text, size_t size, hunch_error *reterr)
{
    p->state = calloc(1, sizeof(struct vw));
    return p->state ? HUNCH_OK : error_memory(reterr);
}

static void vw_end(struct parser *p)
{
    struct vw *vw = p->state;
    if (vw)
        free(vw->key.bytes);
    free(vw);
    p->state = NULL;
}

static hunch_status token_fail(const struct parser *p, const char *what, const char *token, const char *end,
                               hunch_error *reterr)
{
    return parser_fail(p, p->line, reterr, "%s: '%s'", what, quote(token, (size_t)(end - token)).text);
}

struct token {
    const char *text, *end;
};

/* What stands before the first bar: label, importance, base, tag. */
static hunch_status head_read(struct parser *p, const char **text, struct token *ret_label, hunch_error *reterr)
{
    const char *at = blanks_skip(*text);
    float ignored;
    *ret_label = (struct token){NULL, NULL};
    for (int i = 0; *at != '|'; i++) {
        const char *end = token_end(at);
        if (*at == '\n')
            return parser_fail(p, p->line, reterr, "'|' is missing");
        if (*at == '\'' || *end == '|') { /* a tag */
            at = blanks_skip(end);
            if (*at != '|')
                return token_fail(p, "expected '|' after the tag", at, token_end(at), reterr);
            break;
        }
        if (i == 0)
            *ret_label = (struct token){at, end};
        else if (i > 2 || decimal_read_any(at, &ignored) != end)
            return token_fail(p, "invalid importance", at, end, reterr);
        at = blanks_skip(end);
    }
    if (ret_label->text && memchr(ret_label->text, ':', (size_t)(ret_label->end - ret_label->text)))
        return token_fail(p, "labels with costs are not supported", ret_label->text, ret_label->end, reterr);
    *text = at;
    return HUNCH_OK;
}

/* After a bar: the namespace's name and scale. */
static hunch_status namespace_read(struct parser *p, struct vw *vw, const char **text, hunch_error *reterr)
{
    const char *at = *text, *end = token_end(at), *colon = memchr(at, ':', (size_t)(end - at));
    const char *stop = colon ? colon : end;
    size_t length = (size_t)(stop - at);
    vw->scale = 1;
    vw->prefix = 0;
    if (colon && decimal_read_any(colon + 1, &vw->scale) != end)
        return token_fail(p, "invalid scale of a namespace", at, end, reterr);
    if (length > 0) {
        if (!csv_scratch_reserve(&vw->key, length + 1))
            return error_memory(reterr);
        memcpy(vw->key.bytes, at, length);
        vw->key.bytes[length] = '^';
        vw->prefix = length + 1;
    }
    *text = end;
    return HUNCH_OK;
}

static hunch_status feature_add(struct parser *p, struct vw *vw, const char *name, size_t length, float value,
                                struct encoded *row, hunch_error *reterr)
{
    if (vw->prefix == 0)
        return lookup_add(p, row, name, length, value, HUNCH_ROLE_UNKNOWN, reterr);
    if (!csv_scratch_reserve(&vw->key, vw->prefix + length))
        return error_memory(reterr);
    memcpy(vw->key.bytes + vw->prefix, name, length);
    return lookup_add_copy(p, row, vw->key.bytes, vw->prefix + length, value, HUNCH_ROLE_UNKNOWN, reterr);
}

static hunch_status feature_read(struct parser *p, struct vw *vw, const char **text, struct encoded *row,
                                 hunch_error *reterr)
{
    const char *at = *text, *stop = name_end(at), *end = stop;
    float value = 1;
    if (*stop == ':') {
        end = decimal_read(stop + 1, &value);
        if (!end || !(class_of[(unsigned char)*end] & ENDS_TOKEN))
            return token_fail(p, "invalid value", at, token_end(at), reterr);
    }
    if (stop == at)
        return token_fail(p, "a feature has no name", at, end, reterr);
    value *= vw->scale;
    if (!isfinite(value))
        return token_fail(p, "value out of range", at, end, reterr);
    *text = end;
    return feature_add(p, vw, at, (size_t)(stop - at), value, row, reterr);
}

/* What follows the first bar, appended to the row. */
static hunch_status features_read(struct parser *p, struct vw *vw, const char *text, struct encoded *row,
                                  hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    while (!status && *text != '\n') {
        if (*text == '|') {
            text++;
            status = namespace_read(p, vw, &text, reterr);
        } else {
            status = feature_read(p, vw, &text, row, reterr);
        }
        if (!status)
            text = blanks_skip(text);
    }
    return status;
}

hunch_status vw_features(struct parser *p, struct encoded *row, const char *text, size_t size, hunch_error *reterr)
{
    struct vw vw = {.scale = 1};
    char *copy = malloc(size + 1 + LINES_PADDING);
    hunch_status status =
        copy ? rows_reserve(row->out, row->out->n + 1, row->values + size / 2 + 1, reterr) : error_memory(reterr);
    if (!status) {
        memcpy(copy, text, size);
        memset(copy + size, 0, 1 + LINES_PADDING);
        copy[size] = '\n';
        status = features_read(p, &vw, blanks_skip(copy), row, reterr);
    }
    if (!status)
        status = lookup_finish(p, row, reterr); /* before the text is gone */
    free(copy);
    free(vw.key.bytes);
    return status;
}

/* --- logs: "action:cost:prob | features" --- */

struct action {
    long shown; /* the one with a cost; 0: none */
    double cost, prob;
    long largest;
};

/* "2:0:0.25", or "2" for an action that could have been shown. */
static bool action_read(const char *text, const char *end, struct action *action)
{
    char *at;
    long number = strtol(text, &at, 10);
    if (at == text || number < 1 || number > (long)HUNCH_MAX_CLASSES || (*at != ':' && at != end))
        return false;
    if (number > action->largest)
        action->largest = number;
    if (at == end)
        return true;
    const char *cost = at + 1;
    if (action->shown)
        return false;
    action->shown = number;
    const char *colon = number_read(cost, &action->cost);
    return colon && *colon == ':' && isfinite(action->cost) && number_read(colon + 1, &action->prob) == end;
}

static hunch_status actions_read(struct parser *p, const char **text, struct action *action, hunch_error *reterr)
{
    const char *at = *text + strspn(*text, " \t");
    while (*at != '|') {
        const char *end = at + strcspn(at, " \t\r\n|");
        struct quoted token = quote(at, (size_t)(end - at));
        if (*at == '\n' || *at == '\r' || *at == '\0')
            return parser_fail(p, p->line, reterr, "'|' is missing");
        if (end - at == 6 && !memcmp(at, "shared", 6))
            return parser_fail(p, p->line, reterr,
                               "features of actions ('shared', one line for each action) are not supported");
        if (*at != '\'' && *end == '|') /* a tag without a mark: it touches the bar */
            at = end;
        else if (*at != '\'' && !action_read(at, end, action))
            return parser_fail(p, p->line, reterr, "expected action:cost:probability, actions from 1: '%s'",
                               token.text);
        at = end + strspn(end, " \t");
    }
    *text = at;
    return HUNCH_OK;
}

/* Action a is label number a - 1, named "a", unless a model's labels come first. */
static hunch_status action_take(struct parser *p, const struct action *action, struct encoded *row, hunch_error *reterr)
{
    char name[24];
    hunch_status status = HUNCH_OK;
    uint32_t number;
    long from = p->options->labels ? action->shown : (long)names_count(p->labels) + 1;
    for (long a = from; a <= action->largest && !status; a++) {
        int length = snprintf(name, sizeof name, "%ld", a);
        status = parser_label(p, name, (size_t)length, p->line, &number, reterr);
    }
    int length = snprintf(name, sizeof name, "%ld", action->shown);
    if (!status)
        status = parser_label(p, name, (size_t)length, p->line, &row->label, reterr);
    row->log.right = action->cost <= 0.5;
    return status ? status : parser_prob(p, action->prob, &row->log.prob, reterr);
}

static hunch_status row_read(struct parser *p, const char *text, struct rows *out, hunch_error *reterr)
{
    struct token label = {NULL, NULL};
    struct action action = {0};
    struct encoded row;
    hunch_status status = encoded_begin(p, &row, out, 0, reterr);
    if (!status)
        status = p->options->log ? actions_read(p, &text, &action, reterr) : head_read(p, &text, &label, reterr);
    if (!status)
        status = features_read(p, p->state, text, &row, reterr);
    if (!status && action.shown)
        status = action_take(p, &action, &row, reterr);
    if (!status && label.text)
        status = parser_label(p, label.text, (size_t)(label.end - label.text), p->line, &row.label, reterr);
    return status ? status : parser_finish(p, &row, reterr);
}

static hunch_status vw_parse(struct parser *p, const char *text, size_t size, struct rows *out, size_t *ret_used,
                             hunch_error *reterr)
{
    const char *end = text + size;
    size_t values = out->n ? (size_t)out->start[out->n] : 0;
    /* the shortest row is "|\n", the shortest feature "a " */
    hunch_status status = rows_reserve(out, out->n + size / 2 + 1, values + size / 2 + 1, reterr);
    for (; !status && text < end; p->line++) {
        const char *newline = rawmemchr(text, '\n');
        if (blanks_skip(text) < newline)
            status = row_read(p, text, out, reterr);
        if (parser_skips(p, status, out))
            status = HUNCH_OK;
        text = newline + 1;
    }
    *ret_used = size;
    return status;
}

const struct format format_vw = {"vw", true, vw_begin, vw_parse, vw_end};
