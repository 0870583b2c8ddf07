/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/number.h"
#include "table/sample.h"

hunch_status encoder_init(struct encoder *e, struct parser *p, hunch_error *reterr)
{
    size_t n = p->schema->n;
    *e = (struct encoder){.parser = p, .n = n};
    e->feature = malloc((n + 1) * sizeof *e->feature);
    e->missing = malloc((n + 1) * sizeof *e->missing);
    if (!e->feature || !e->missing)
        return error_memory(reterr);
    memset(e->feature, 0xff, n * sizeof *e->feature);
    memset(e->missing, 0xff, n * sizeof *e->missing);
    return HUNCH_OK;
}

void encoder_free(struct encoder *e)
{
    free(e->feature);
    free(e->missing);
    free(e->key.bytes);
    free(e->history.bytes);
    words_free(&e->words);
    *e = (struct encoder){0};
}

hunch_status encoder_number(struct encoder *e, size_t column, uint32_t *ret, hunch_error *reterr)
{
    const struct schema_column *c = &e->parser->schema->columns[column];
    hunch_status status = HUNCH_OK;
    if (e->feature[column] == NAMES_NONE)
        status = parser_feature(e->parser, c->name, c->length, e->parser->line, &e->feature[column], reterr);
    *ret = e->feature[column];
    return status;
}

/* The same for a value of the row: names are numbered in the order in which the row has them. */
static hunch_status number_find(struct encoder *e, struct encoded *row, size_t column, uint32_t *ret,
                                hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (e->feature[column] == NAMES_NONE)
        status = lookup_finish(e->parser, row, reterr);
    return status ? status : encoder_number(e, column, ret, reterr);
}

/* The name's parts one after the other in key; its length, or 0: out of memory. */
static size_t key_make(struct encoder *e, const struct schema_column *c, const char *middle, const char *text,
                       size_t length)
{
    size_t between = strlen(middle), all = c->length + between + length;
    if (!csv_scratch_reserve(&e->key, all + 1))
        return 0;
    memcpy(e->key.bytes, c->name, c->length);
    memcpy(e->key.bytes + c->length, middle, between);
    memcpy(e->key.bytes + c->length + between, text, length);
    return all;
}

static hunch_status named_add(struct encoder *e, struct encoded *row, size_t length, hunch_role role,
                              hunch_error *reterr)
{
    return length ? lookup_add_copy(e->parser, row, e->key.bytes, length, 1, role, reterr) : error_memory(reterr);
}

static hunch_status missing_add(struct encoder *e, struct encoded *row, size_t column, hunch_error *reterr)
{
    const struct schema_column *c = &e->parser->schema->columns[column];
    if (c->role != ROLE_NUMBER && c->role != ROLE_DATE)
        return HUNCH_OK;
    if (e->missing[column] == NAMES_NONE) {
        size_t length = key_make(e, c, "=", "missing", 7);
        if (length == 0)
            return error_memory(reterr);
        hunch_status status = lookup_finish(e->parser, row, reterr); /* names are numbered in their order */
        if (!status)
            status = parser_feature(e->parser, e->key.bytes, length, e->parser->line, &e->missing[column], reterr);
        if (status)
            return status;
    }
    hunch_status status = parser_role(e->parser, row->out, e->missing[column], HUNCH_COLUMN, reterr);
    return status ? status : encoded_add(row, e->missing[column], 1, reterr);
}

/* The runs of up to ngrams words that end with the one just read, which is in key. */
static hunch_status ngrams_add(struct encoder *e, struct encoded *row, size_t prefix, size_t length, size_t words,
                               hunch_error *reterr)
{
    size_t begin = e->history_used;
    hunch_status status = HUNCH_OK;
    if (!csv_scratch_reserve(&e->history, begin + length + 1))
        return error_memory(reterr);
    memcpy(e->history.bytes + begin, e->key.bytes + prefix, length);
    e->history.bytes[begin + length] = ' ';
    e->history_used = begin + length + 1;
    e->begins[words % ENCODER_NGRAMS] = begin;
    for (uint32_t run = 1; run < e->parser->schema->ngrams && run <= words && !status; run++) {
        size_t from = e->begins[(words - run) % ENCODER_NGRAMS], size = begin + length - from;
        if (!csv_scratch_reserve(&e->key, prefix + size))
            return error_memory(reterr);
        memcpy(e->key.bytes + prefix, e->history.bytes + from, size);
        status = named_add(e, row, prefix + size, HUNCH_WORD, reterr);
    }
    return status;
}

static hunch_status text_add(struct encoder *e, struct encoded *row, const struct schema_column *c, const char *text,
                             size_t length, hunch_error *reterr)
{
    size_t prefix = key_make(e, c, "=", "", 0);
    hunch_status status = HUNCH_OK;
    if (!prefix || !words_begin(&e->words, text, length) ||
        !csv_scratch_reserve(&e->key, prefix + words_room(&e->words)))
        return error_memory(reterr);
    e->history_used = 0;
    size_t n;
    for (size_t words = 0; !status && (n = words_next(&e->words, e->key.bytes + prefix)); words++) {
        status = named_add(e, row, prefix + n, HUNCH_WORD, reterr);
        if (!status && e->parser->schema->ngrams > 1)
            status = ngrams_add(e, row, prefix, n, words, reterr);
    }
    return status;
}

static hunch_status cell_refuse(const struct encoder *e, const struct schema_column *c, const char *kind,
                                const char *text, size_t length, hunch_error *reterr)
{
    return parser_fail(e->parser, e->parser->line, reterr,
                       "column '%s' contains %s, but '%s' is not one (--missing, --category, --on-error skip)",
                       quote(c->name, c->length).text, kind, quote(text, length).text);
}

static hunch_status date_add(struct encoder *e, struct encoded *row, size_t column, const char *text, size_t length,
                             hunch_error *reterr)
{
    static const char *const days[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun"};
    const struct schema_column *c = &e->parser->schema->columns[column];
    struct date date;
    char text_hour[16];
    uint32_t feature;
    if (!cell_date(text, length, c->order, &date))
        return cell_refuse(e, c, "dates", text, length, reterr);
    hunch_status status = number_find(e, row, column, &feature, reterr);
    if (!status)
        status = parser_role(e->parser, row->out, feature, HUNCH_COLUMN, reterr);
    if (!status)
        status = encoded_add(row, feature, (float)(date.day - c->origin + date.part), reterr);
    if (!status && !date.is_clock) /* 1970-01-01 was a Thursday */
        status =
            named_add(e, row, key_make(e, c, ".weekday=", days[((date.day + 3) % 7 + 7) % 7], 3), HUNCH_COLUMN, reterr);
    int n = snprintf(text_hour, sizeof text_hour, "%d", date.hour);
    if (!status && date.hour >= 0)
        status = named_add(e, row, key_make(e, c, ".hour=", text_hour, (size_t)n), HUNCH_COLUMN, reterr);
    return status;
}

static hunch_status number_add(struct encoder *e, struct encoded *row, size_t column, const char *text, size_t length,
                               hunch_error *reterr)
{
    const struct schema_column *c = &e->parser->schema->columns[column];
    double value;
    uint32_t feature;
    hunch_status status;
    if (!cell_number(text, length, c->point, &value)) {
        if (!cell_is_infinite(text, length))
            return cell_refuse(e, c, "numbers", text, length, reterr);
        status = parser_remark(e->parser, reterr, "column '%s': infinite numbers are taken as missing values", c->name);
        return status ? status : missing_add(e, row, column, reterr);
    }
    status = number_find(e, row, column, &feature, reterr);
    return status ? status : encoded_add(row, feature, (float)value, reterr);
}

/* 0 or 1; -1: no answer; -2: something else. */
static int right_read(const char *text, size_t length)
{
    static const char *const words[] = {"0", "1", "false", "true", "wrong", "right", "no", "yes", "0.0", "1.0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !strncasecmp(words[i], text, length))
            return (int)(i % 2);
    return length ? -2 : -1;
}

static hunch_status log_add(struct encoder *e, struct encoded *row, const struct schema_column *c, const char *text,
                            size_t length, hunch_error *reterr)
{
    struct parser *p = e->parser;
    char copy[64];
    if (c->role == ROLE_SHOWN && length == 0)
        return parser_fail(p, p->line, reterr, "the label is missing");
    if (c->role == ROLE_SHOWN)
        return parser_label(p, text, length, p->line, &row->label, reterr);
    if (c->role == ROLE_RIGHT) {
        row->log.right = (int8_t)right_read(text, length);
        return row->log.right == -2
                   ? parser_fail(p, p->line, reterr, "'right' is neither 1 nor 0: '%s'", quote(text, length).text)
                   : HUNCH_OK;
    }
    if (length == 0) /* it is not known */
        return HUNCH_OK;
    double value;
    bool good = length < sizeof copy && cell_number(text, length, c->point, &value);
    snprintf(copy, sizeof copy, "%.*s", good ? (int)length : 0, text);
    for (char *comma = strchr(copy, ','); comma; comma = NULL)
        *comma = '.';
    if (!good || !number_read(copy, &value)) /* to the last digit, which a cell's number does not have */
        return parser_fail(p, p->line, reterr, "the probability is not a number: '%s'", quote(text, length).text);
    return parser_prob(p, value, &row->log.prob, reterr);
}

/* All features in one cell: VW text, or JSON. */
static hunch_status features_add(struct encoder *e, struct encoded *row, const char *text, size_t length,
                                 hunch_error *reterr)
{
    return length && (*text == '{' || *text == '[') ? jsonl_features(e->parser, row, text, length, reterr)
                                                    : vw_features(e->parser, row, text, length, reterr);
}

/* "None", "none" and signs may be classes; what else means a missing value does so here, too. */
static bool label_is_missing(const struct parser *p, const char *text, size_t length)
{
    if (length == 0)
        return true;
    bool sign = *text == '-' || *text == '.', none = length == 4 && !strncasecmp(text, "none", 4);
    return (!(sign || none) || p->options->columns.missing) && schema_is_missing(p->schema, NULL, text, length);
}

static bool text_is_blank(const char *text, size_t length)
{
    while (length && text[length - 1] == ' ')
        length--;
    return length == 0;
}

hunch_status encoder_cell(struct encoder *e, struct encoded *row, size_t column, const char *text, size_t length,
                          hunch_error *reterr)
{
    struct parser *p = e->parser;
    const struct schema_column *c = &p->schema->columns[column];
    if (length && *text == ' ' && text_is_blank(text, length))
        length = 0;
    switch (c->role) {
    case ROLE_LABEL:
        if (label_is_missing(p, text, length))
            return HUNCH_OK;
        return parser_label(p, text, length, p->line, p->options->log ? &row->log.truth : &row->label, reterr);
    case ROLE_SHOWN:
    case ROLE_PROB:
    case ROLE_RIGHT:
        return log_add(e, row, c, text, length, reterr);
    case ROLE_FEATURES:
        return features_add(e, row, text, length, reterr);
    case ROLE_IGNORE:
    case ROLES:
        return HUNCH_OK;
    default:
        break;
    }
    if (schema_is_missing(p->schema, c, text, length))
        return missing_add(e, row, column, reterr);
    if (c->role == ROLE_NUMBER)
        return number_add(e, row, column, text, length, reterr);
    if (c->role == ROLE_DATE)
        return date_add(e, row, column, text, length, reterr);
    if (c->role == ROLE_TEXT)
        return text_add(e, row, c, text, length, reterr);
    return named_add(e, row, key_make(e, c, "=", text, length), HUNCH_COLUMN, reterr);
}
