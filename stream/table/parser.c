/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/parser.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "base/error.h"
#include "base/number.h"
#include "table/sample.h"

hunch_status parser_fail(const struct parser *p, uint64_t line, hunch_error *reterr, const char *format, ...)
{
    char what[192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    /* a long path must not push the reason out of the message */
    size_t length = strlen(p->path), room = sizeof reterr->message - strlen(what) - 24;
    const char *path = length > room ? p->path + length - room : p->path;
    return error_set(reterr, HUNCH_EINVAL, "%s%s:%" PRIu64 ": %s", path == p->path ? "" : "...", path, line, what);
}

bool parser_skips(struct parser *p, hunch_status status, struct rows *out)
{
    if (status != HUNCH_EINVAL || !p->options->skip_bad_rows)
        return false;
    if (p->options->mark_bad_rows) {
        size_t values = out->n ? (size_t)out->start[out->n] : 0;
        if (rows_reserve(out, out->n + 1, values, NULL))
            return false;
        parser_row(out, values, STREAM_BAD_ROW, p->line);
    }
    p->skipped++;
    return true;
}

void parser_row(struct rows *out, size_t values, uint32_t label, uint64_t line)
{
    out->label[out->n] = label;
    out->line[out->n] = line;
    out->start[++out->n] = (int64_t)values;
}

/* Control bytes mean that this is no text at all. */
static hunch_status label_check(const struct parser *p, const char *text, size_t length, uint64_t line,
                                hunch_error *reterr)
{
    if (length > PARSER_LABEL_LIMIT)
        return parser_fail(p, line, reterr, "label '%s' is longer than %d bytes", quote(text, length).text,
                           PARSER_LABEL_LIMIT);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return parser_fail(p, line, reterr, "label '%s' contains a control character", quote(text, length).text);
    return HUNCH_OK;
}

static hunch_status label_add(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                              hunch_error *reterr)
{
    uint32_t number = names_find(p->labels, text, length);
    if (number == NAMES_NONE) {
        hunch_status status = label_check(p, text, length, line, reterr);
        if (status)
            return status;
        if (names_count(p->labels) >= HUNCH_MAX_CLASSES)
            return parser_fail(p, line, reterr, "label '%s' exceeds the limit of %u labels", quote(text, length).text,
                               HUNCH_MAX_CLASSES);
        number = names_add(p->labels, text, length);
        if (number == NAMES_NONE)
            return error_memory(reterr);
        double value;
        p->fractions += number_is(names_text(p->labels, number, NULL), &value) && value != floor(value);
        if (p->fractions > PARSER_FRACTIONS)
            return parser_fail(p, line, reterr,
                               "the labels are amounts (more than %d different numbers with decimals), and hunch "
                               "learns classes: make ranges of them",
                               PARSER_FRACTIONS);
    }
    *ret = number;
    return HUNCH_OK;
}

hunch_status parser_label(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                          hunch_error *reterr)
{
    uint64_t key = (uint64_t)length << 56; /* never 0, and NULs in the text count */
    unsigned char bytes[8] = {0};
    if (length > 7 || length == 0)
        return label_add(p, text, length, line, ret, reterr);
    memcpy(bytes, text, length);
    for (int i = 0; i < 7; i++)
        key |= (uint64_t)bytes[i] << (8 * i);
    struct label_slot *slot = &p->label_slots[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
    if (slot->key == key) {
        *ret = slot->number;
        return HUNCH_OK;
    }
    hunch_status status = label_add(p, text, length, line, ret, reterr);
    if (!status)
        *slot = (struct label_slot){key, *ret};
    return status;
}

/* The number that a name is, for models whose features have numbers only. */
static hunch_status feature_number(struct parser *p, const char *text, size_t length, uint32_t *ret,
                                   hunch_error *reterr)
{
    uint64_t number = 0, base = p->options->index_base > 0;
    size_t i = 0;
    while (i < length && i < 10 && (unsigned)text[i] - '0' < 10)
        number = 10 * number + (uint64_t)(text[i++] - '0');
    if (i < length || i == 0 || number < base || number - base > HUNCH_MAX_FEATURES)
        return parser_fail(p, p->line, reterr, "the model's features are numbered from %d; '%s' is not such a number",
                           (int)base, quote(text, length).text);
    *ret = (uint32_t)(number - base);
    return HUNCH_OK;
}

hunch_status parser_feature_new(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                                hunch_error *reterr)
{
    const struct stream_options *o = p->options;
    if (memchr(text, 0, length))
        return parser_fail(p, line, reterr, "name '%s' contains a NUL byte", quote(text, length).text);
    *ret = NAMES_NONE;
    if (o->fixed_features || (o->max_features && names_count(p->features) >= o->max_features)) {
        p->ignored += !o->fixed_features;
        return HUNCH_OK;
    }
    *ret = names_add(p->features, text, length);
    return *ret == NAMES_NONE ? error_memory(reterr) : HUNCH_OK;
}

hunch_status parser_feature(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                            hunch_error *reterr)
{
    const struct stream_options *o = p->options;
    uint32_t bits = p->schema && p->schema->hash_bits ? p->schema->hash_bits : o->hash_bits;
    if (bits) {
        *ret = (uint32_t)(XXH3_64bits(text, length) & ((UINT64_C(1) << bits) - 1));
        return HUNCH_OK;
    }
    if (o->numbered)
        return feature_number(p, text, length, ret, reterr);
    *ret = names_find(p->features, text, length);
    return *ret == NAMES_NONE ? parser_feature_new(p, text, length, line, ret, reterr) : HUNCH_OK;
}

hunch_status parser_role(struct parser *p, struct rows *out, uint32_t feature, hunch_role role, hunch_error *reterr)
{
    size_t had = p->roles_room;
    if (feature == NAMES_NONE || (feature < had && p->roles[feature]))
        return HUNCH_OK;
    if (!array_reserve(&p->roles, &p->roles_room, (size_t)feature + 1, sizeof *p->roles))
        return error_memory(reterr);
    memset(p->roles + had, HUNCH_ROLE_UNKNOWN, p->roles_room - had);
    p->roles[feature] = (uint8_t)role;
    return rows_add_role(out, feature, role, reterr);
}

struct schema *parser_schema(const struct parser *p, char delimiter)
{
    const struct schema_options *o = &p->options->columns;
    struct schema *s = schema_new();
    if (s && o->missing && !schema_set_missing(s, o->missing)) {
        schema_free(s);
        return NULL;
    }
    if (s) {
        s->delimiter = delimiter;
        s->ngrams = o->ngrams; /* 0: as its texts are */
        s->hash_bits = o->hash_bits;
    }
    return s;
}

/* Remarks on columns that are the label in other words. */
static hunch_status leaks_remark(struct parser *p, const struct sample *sample, hunch_error *reterr)
{
    struct names *leaks = names_new();
    const struct schema_column *label = schema_role(sample->schema, ROLE_LABEL);
    hunch_status status = leaks ? leaks_find(sample, leaks, reterr) : error_memory(reterr);
    for (uint32_t i = 0; !status && i < names_count(leaks); i++)
        status =
            parser_remark(p, reterr,
                          "each value of the column '%s' goes with one label ('%s'), and the reverse: if it is known "
                          "only afterwards, leave it out (--ignore)",
                          names_text(leaks, i, NULL), label->name);
    names_free(leaks);
    return status;
}

hunch_status parser_decide(struct parser *p, struct sample *sample, hunch_error *reterr)
{
    const struct stream_options *o = p->options;
    struct schema_known known = {&o->columns, o->label_column, o->features, o->log};
    hunch_error why = {{0}};
    hunch_status status = sample_decide(sample, &known, &why);
    if (status)
        parser_fail(p, 1, reterr, "%s", why.message);
    return status ? status : leaks_remark(p, sample, reterr);
}

hunch_status parser_remark(struct parser *p, hunch_error *reterr, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return error_memory(reterr);
    bool added = !p->remarks || names_add(p->remarks, text, (size_t)length) != NAMES_NONE;
    free(text);
    return added ? HUNCH_OK : error_memory(reterr);
}

hunch_status encoded_begin(struct parser *p, struct encoded *row, struct rows *out, size_t values, hunch_error *reterr)
{
    p->lookup.n = p->lookup.used = 0; /* of a row that failed */
    size_t begin = out->n ? (size_t)out->start[out->n] : 0;
    *row = (struct encoded){.out = out, .begin = begin, .values = begin, .label = STREAM_NO_LABEL};
    row->log = (struct row_log){.truth = STREAM_NO_LABEL, .right = -1};
    return rows_reserve(out, out->n + 1, begin + values + 1, reterr);
}

hunch_status parser_prob(struct parser *p, double prob, double *ret, hunch_error *reterr)
{
    if (!(prob > 0 && prob <= 1 + 1e-9))
        return parser_fail(p, p->line, reterr, "the probability %g is not in (0, 1]", prob);
    *ret = fmin(prob, 1);
    return HUNCH_OK;
}

hunch_status encoded_add(struct encoded *row, uint32_t feature, float value, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (row->values >= row->out->values_capacity)
        status = rows_reserve(row->out, row->out->n + 1, row->values + 1, reterr);
    if (status)
        return status;
    row->out->index[row->values] = feature;
    row->out->value[row->values] = value;
    row->values += value != 0;
    return HUNCH_OK;
}

hunch_status parser_finish(struct parser *p, struct encoded *row, hunch_error *reterr)
{
    struct row_log *log = &row->log;
    hunch_status status = p->lookup.n ? lookup_finish(p, row, reterr) : HUNCH_OK;
    if (status)
        return status;
    if (!rows_merge_row(row->out, row->begin, &row->values))
        return parser_fail(p, p->line, reterr, "value out of range");
    if (p->options->log) {
        bool has_truth = log->truth != STREAM_NO_LABEL;
        if (log->right >= 0 && has_truth && row->label != STREAM_NO_LABEL && log->right != (log->truth == row->label))
            return parser_fail(p, p->line, reterr, "the true label and 'right' contradict each other");
        if (log->right < 0 && !has_truth) {
            p->unanswered++;
            return HUNCH_OK;
        }
        status = rows_reserve_log(row->out, row->out->n + 1, reterr);
        if (status)
            return status;
        if (log->right < 0)
            log->right = log->truth == row->label;
        log->classes = names_count(p->labels);
        row->out->log[row->out->n] = *log;
    }
    parser_row(row->out, row->values, row->label, p->line);
    return HUNCH_OK;
}
