/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * svmlight text: "label [qid:n] index:value index:value ... [# comment]", one example a line.
 *
 * One pass, no tokens copied: runs of the usual "index:value" are read by pairs.c, everything else (comments, qid,
 * tabs, long numbers, mistakes) here.
 *
 * A comment "# labels: a b c" before the first row lists the labels in their order, so that their numbers do not
 * depend on which row comes first. If it does not list the first row's label, it is a comment like any other.
 */
#include "table/parser.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/rows.h"
#include "base/error.h"
#include "common/pairs.h"

#define INDEX_LIMIT (UINT32_MAX - 1)

/* What was wrong, and where; the message is made where the line number is known. */
struct complaint {
    const char *what;
    const char *token;
};

/* The parser's state: what "# labels:" lists, until the first row with a label; ends with a newline. */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *blanks_skip(const char *p)
{
    while (is_blank(*p))
        p++;
    return *p == '\r' && p[1] == '\n' ? p + 1 : p;
}

static const char *token_end(const char *p)
{
    while (!is_blank(*p) && *p != '\n' && !(*p == '\r' && p[1] == '\n'))
        p++;
    return p;
}

static const char *complain(struct complaint *ret, const char *what, const char *token)
{
    *ret = (struct complaint){what, token};
    return NULL;
}

/* The next token that counts, or the row's newline. */
static const char *token_find(const char *p)
{
    for (;;) {
        p = blanks_skip(p);
        if (*p == '#')
            return rawmemchr(p, '\n');
        if (*p == '\n' || memcmp(p, "qid:", 4) != 0)
            return p;
        p = token_end(p);
    }
}

/* The place after "index:", or NULL. */
static const char *index_read(const char *token, uint32_t *ret, struct complaint *bad)
{
    const char *p = token + (*token == '+');
    uint64_t index = 0;
    if (*p == '-' && decimal_count(decimal_load(p + 1)) > 0)
        return complain(bad, "negative index", token);
    if (decimal_count(decimal_load(p)) == 0)
        return complain(bad, "expected index:value", token);
    for (; (unsigned)(*p - '0') < 10; p++)
        if (index <= INDEX_LIMIT)
            index = index * 10 + (unsigned)(*p - '0');
    if (*p != ':')
        return complain(bad, "expected index:value", token);
    if (index > INDEX_LIMIT)
        return complain(bad, "index too large", token);
    *ret = (uint32_t)index;
    return p + 1;
}

/* One pair that is not of the usual form, or the end of the row: returns the place after it, or NULL. */
static const char *pair_read(const char *p, struct pairs *pairs, struct complaint *bad)
{
    uint32_t at = 0;
    float value;
    const char *token = token_find(p);
    if (*token == '\n')
        return token;
    const char *text = index_read(token, &at, bad);
    if (!text)
        return NULL;
    const char *end = decimal_read_any(text, &value);
    if (!end || end != token_end(end))
        return complain(bad, "invalid value", token);
    if (isinf(value))
        return complain(bad, "value out of range", token);
    if (at <= pairs->previous)
        return complain(bad, pairs->previous < pairs->base ? "indices begin with 1 here" : "indices must increase",
                        token);
    pairs->previous = at;
    pairs->index[pairs->n] = at - pairs->base;
    pairs->value[pairs->n] = value;
    pairs->n += value != 0;
    return end;
}

/* The features from p to the end of the line: returns its newline, or NULL. */
static const char *features_read(pairs_read *run, const char *p, struct pairs *pairs, struct complaint *bad)
{
    do {
        p = run(p, pairs);
        if (*p != '\n')
            p = pair_read(p, pairs, bad);
    } while (p && *p != '\n');
    return p;
}

/* "3:..." at the beginning of a line: a row without label. */
static bool is_feature(const char *token)
{
    const char *p = token;
    while ((unsigned)(*p - '0') < 10)
        p++;
    return p > token && *p == ':';
}

static hunch_status complaint_report(const struct parser *p, const struct complaint *bad, hunch_error *reterr)
{
    size_t length = (size_t)(token_end(bad->token) - bad->token);
    return parser_fail(p, p->line, reterr, "%s: '%s'", bad->what, quote(bad->token, length).text);
}

/* "# labels: a b c" is kept until it is known whether these are the rows' labels. */
static hunch_status listed_keep(struct parser *p, const char *text, hunch_error *reterr)
{
    static const char mark[] = "# labels:";
    if (strncmp(text, mark, sizeof mark - 1) != 0)
        return HUNCH_OK;
    free(p->state);
    text += sizeof mark - 1;
    size_t size = (size_t)((const char *)rawmemchr(text, '\n') - text) + 1;
    char *listed = p->state = malloc(size + LINES_PADDING);
    if (!listed)
        return error_memory(reterr);
    memcpy(listed, text, size);
    memset(listed + size, 0, LINES_PADDING);
    return HUNCH_OK;
}

static bool listed_has(const char *listed, const char *label, size_t length)
{
    for (const char *at = blanks_skip(listed), *end; *at != '\n'; at = blanks_skip(end)) {
        end = token_end(at);
        if ((size_t)(end - at) == length && !memcmp(at, label, length))
            return true;
    }
    return false;
}

/* With the label of the first row. */
static hunch_status listed_take(struct parser *p, const char *label, size_t length, hunch_error *reterr)
{
    const char *listed = p->state;
    hunch_status status = HUNCH_OK;
    if (!listed_has(listed, label, length))
        status = parser_remark(p, reterr, "%s: '# labels:' does not list the label '%s' of line %llu; it is ignored",
                               p->path, quote(label, length).text, (unsigned long long)p->line);
    else
        for (const char *at = blanks_skip(listed), *end; *at != '\n' && !status; at = blanks_skip(end)) {
            uint32_t number;
            end = token_end(at);
            status = parser_label(p, at, (size_t)(end - at), p->line, &number, reterr);
        }
    free(p->state);
    p->state = NULL;
    return status;
}

/* One row, its label token at *text_at, which moves to the row's newline. The label is looked up last, so that a bad
 * row leaves no name behind. */
static hunch_status row_read(struct parser *p, pairs_read *run, const char **text_at, struct rows *out,
                             hunch_error *reterr)
{
    const char *text = *text_at;
    size_t begin = (size_t)out->start[out->n];
    const char *end = token_end(text);
    const char *end_of_row;
    struct complaint bad;
    uint32_t label = STREAM_NO_LABEL;
    bool labelled = !is_feature(text);
    struct pairs pairs = {out->index + begin, out->value + begin, 0, p->base - 1, (uint32_t)p->base};
    end_of_row = features_read(run, labelled ? end : text, &pairs, &bad);
    if (!end_of_row)
        return complaint_report(p, &bad, reterr);
    if (labelled) {
        hunch_status status = p->state ? listed_take(p, text, (size_t)(end - text), reterr) : HUNCH_OK;
        if (!status)
            status = parser_label(p, text, (size_t)(end - text), p->line, &label, reterr);
        if (status)
            return status;
    }
    parser_row(out, begin + pairs.n, label, p->line);
    *text_at = end_of_row;
    return HUNCH_OK;
}

static hunch_status svmlight_parse(struct parser *p, const char *text, size_t size, struct rows *out, size_t *ret_used,
                                   hunch_error *reterr)
{
    const char *end = text + size;
    pairs_read *run = p->pairs ? p->pairs : pairs_choose();
    size_t values = out->n ? (size_t)out->start[out->n] : 0;
    /* the shortest row is "a\n", the shortest feature "1:2 " */
    hunch_status status = rows_reserve(out, out->n + size / 2 + 1, values + size / 4 + 1, reterr);
    while (!status && text < end) {
        const char *line = blanks_skip(text);
        if (*line == '#' && p->line <= 2)
            status = listed_keep(p, line, reterr);
        else if (*line != '#' && *line != '\n')
            status = row_read(p, run, &line, out, reterr);
        if (parser_skips(p, status, out))
            status = HUNCH_OK;
        text = (const char *)rawmemchr(line, '\n') + 1;
        p->line++;
    }
    *ret_used = size;
    return status;
}

/* Whether an index 0 is among the first block's: only a row's first feature can be that one. */
static hunch_status svmlight_begin(struct parser *p, const char *text, size_t size, hunch_error *reterr)
{
    if (p->base < 0)
        p->base = p->options->index_base;
    if (p->base >= 0)
        return HUNCH_OK;
    p->base = 1;
    for (const char *end = text + size; text < end && p->base == 1; text = (const char *)rawmemchr(text, '\n') + 1) {
        const char *at = blanks_skip(text);
        if (*at == '#' || *at == '\n')
            continue;
        const char *next = token_end(at);
        if (!is_feature(at))
            at = blanks_skip(next);
        if (memcmp(at, "qid:", 4) == 0)
            at = blanks_skip(token_end(at));
        if (*at != '0')
            continue;
        while (*at == '0')
            at++;
        if (*at == ':')
            p->base = 0;
    }
    return HUNCH_OK;
}

static void svmlight_end(struct parser *p)
{
    free(p->state);
    p->state = NULL;
}

const struct format format_svmlight = {"svmlight", false, svmlight_begin, svmlight_parse, svmlight_end};
