/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARFF, Weka's text: "@attribute name type" for each column, "@data", then rows of cells with commas between them, or
 * sparse rows "{0 1.5, 3 red}". The header says what the columns mean: numbers, categories {a, b}, texts (string) and
 * dates. Cells may be quoted by ' or "; ? is missing; % begins a comment.
 *
 * The label is the attribute that --label names, else the one whose name says so, else the last one. Cells that a sparse
 * row does not have are zeros, which are no features; a label is then the first of its type.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "table/csv_cell.h"
#include "table/encode.h"
#include "table/sample.h"

#define SAMPLE_ROWS 1000

struct arff {
    struct encoder encoder;
    struct csv_scratch cell;
    bool *seen;       /* of a sparse row: columns that it has */
    char *zero_label; /* the label of a sparse row that does not tell it: the first of its type; NULL: 0 */
    bool data;        /* "@data" has been passed */
};

static const char *blanks_skip(const char *p)
{
    while (*p == ' ' || *p == '\t' || *p == '\r')
        p++;
    return p;
}

/* The word or the quoted text at *text, up to one of ends; *text moves behind it. NULL: out of memory, or it has no
 * end. */
static const char *token_read(struct csv_scratch *room, const char **text, const char *newline, const char *ends,
                              size_t *ret_length)
{
    const char *p = blanks_skip(*text);
    size_t n = 0;
    if (!csv_scratch_reserve(room, (size_t)(newline - p) + 1))
        return NULL;
    char quote = *p == '\'' || *p == '"' ? *p++ : 0;
    for (; p < newline && (quote ? *p != quote : !strchr(ends, *p)); p++) {
        p += *p == '\\' && p + 1 < newline;
        room->bytes[n++] = *p;
    }
    if (quote && p == newline)
        return NULL;
    p += quote != 0;
    while (!quote && n && isspace((unsigned char)room->bytes[n - 1]))
        n--;
    *text = blanks_skip(p);
    *ret_length = n;
    return room->bytes;
}

static void arff_end(struct parser *p)
{
    struct arff *a = p->state;
    if (!a)
        return;
    encoder_free(&a->encoder);
    free(a->cell.bytes);
    free(a->seen);
    free(a->zero_label);
    free(a);
    p->state = NULL;
}

/* --- the header --- */

static bool keyword_is(const char *text, const char *word)
{
    size_t n = strlen(word);
    return !strncasecmp(text, word, n) && isspace((unsigned char)text[n]);
}

static hunch_status column_add(struct parser *p, struct arff *a, struct schema *s, uint64_t line, const char *text,
                               const char *newline, hunch_error *reterr)
{
    static const struct {
        const char *type;
        enum role role;
    } types[] = {{"numeric", ROLE_NUMBER}, {"real", ROLE_NUMBER}, {"integer", ROLE_NUMBER},
                 {"string", ROLE_TEXT},    {"date", ROLE_DATE},   {"{", ROLE_CATEGORY}};
    size_t length, i = 0;
    const char *name = token_read(&a->cell, &text, newline, " \t{", &length);
    if (!name || !length || length > PARSER_LABEL_LIMIT || schema_find(s, name, length))
        return parser_fail(p, line, reterr, "an attribute has no name or the name of another one");
    while (i < sizeof types / sizeof *types && strncasecmp(text, types[i].type, strlen(types[i].type)) != 0)
        i++;
    if (i == sizeof types / sizeof *types)
        return parser_fail(p, line, reterr, "the type of the attribute '%s' is not known", quote(name, length).text);
    struct schema_column *c = schema_add(s, name, length);
    if (!c)
        return error_memory(reterr);
    role_set(c, types[i].role, "as the header says");
    return HUNCH_OK;
}

/* The columns, up to @data; *ret_data: the rows' first line. */
static hunch_status header_read(struct parser *p, struct arff *a, struct schema *s, const char *text, const char *end,
                                const char **ret_data, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    uint64_t number = 1;
    *ret_data = NULL;
    for (const char *newline; !status && !*ret_data && text < end; text = newline + 1, number++) {
        newline = rawmemchr(text, '\n');
        const char *line = blanks_skip(text);
        if (keyword_is(line, "@data"))
            *ret_data = newline + 1;
        else if (keyword_is(line, "@attribute"))
            status = column_add(p, a, s, number, line + 11, newline, reterr);
    }
    return !status && (!*ret_data || !s->n) ? parser_fail(p, 1, reterr, "@data is missing after the @attribute lines")
                                            : status;
}

/* --- rows --- */

typedef hunch_status cell_take(void *context, size_t column, const char *text, size_t length, hunch_error *reterr);

/* Gives each cell of a row to take. */
static hunch_status row_cells(struct parser *p, const struct schema *s, const char *text, const char *newline,
                              cell_take *take, void *context, hunch_error *reterr)
{
    struct arff *a = p->state;
    bool sparse = *text == '{';
    hunch_status status = HUNCH_OK;
    size_t n = 0, length;
    text += sparse;
    if (sparse)
        memset(a->seen, 0, s->n * sizeof *a->seen);
    for (bool more = !sparse || *blanks_skip(text) != '}'; more && !status; n++) {
        char *after = NULL;
        text = blanks_skip(text);
        bool is_index = !sparse || isdigit((unsigned char)*text);
        size_t column = !is_index ? s->n : sparse ? strtoul(text, &after, 10) : n;
        if (column >= s->n || (sparse && a->seen[column]))
            return parser_fail(p, p->line, reterr, "more cells than the %zu attributes", s->n);
        text = sparse ? after : text;
        const char *cell = token_read(&a->cell, &text, newline, sparse ? ",}" : ",", &length);
        if (!cell)
            return parser_fail(p, p->line, reterr, "a quoted cell has no closing quote");
        if (sparse)
            a->seen[column] = true;
        status = take(context, column, cell, length, reterr);
        more = *text == ',';
        text += more;
    }
    if (!status && !sparse && n < s->n)
        status = parser_fail(p, p->line, reterr, "fewer cells than the %zu attributes", s->n);
    return status;
}

static hunch_status cell_look(void *context, size_t column, const char *text, size_t length, hunch_error *reterr)
{
    return sample_cell(context, column, text, length) ? HUNCH_OK : error_memory(reterr);
}

struct reading {
    struct arff *arff;
    struct encoded *row;
};

static hunch_status cell_encode(void *context, size_t column, const char *text, size_t length, hunch_error *reterr)
{
    struct reading *r = context;
    return encoder_cell(&r->arff->encoder, r->row, column, text, length, reterr);
}

/* The text of a line that is a row, else NULL. */
static const char *row_find(const char *text, const char *newline)
{
    text = blanks_skip(text);
    return text >= newline || *text == '%' ? NULL : text;
}

static hunch_status sample_fill(struct parser *p, struct sample *sample, const char *text, const char *end,
                                hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (const char *newline; !status && text < end && sample->rows < SAMPLE_ROWS; text = newline + 1) {
        newline = rawmemchr(text, '\n');
        const char *row = row_find(text, newline);
        if (row) {
            status = row_cells(p, sample->schema, row, newline, cell_look, sample, reterr);
            sample->rows++;
        }
    }
    return status;
}

/* What the header says of a column stands, unless the user says otherwise or it is the label. */
static hunch_status schema_make(struct parser *p, const char *text, const char *end, hunch_error *reterr)
{
    struct arff *a = p->state;
    struct schema *s = parser_schema(p, ',');
    struct sample sample = {.schema = s};
    const char *data;
    if (!s)
        return error_memory(reterr);
    hunch_status status = header_read(p, a, s, text, end, &data, reterr);
    enum role *roles = status ? NULL : malloc(s->n * sizeof *roles);
    a->seen = status ? NULL : calloc(s->n, sizeof *a->seen);
    if (!status && (!roles || !a->seen || !sample_grow(&sample)))
        status = error_memory(reterr);
    for (size_t i = 0; !status && i < s->n; i++)
        roles[i] = s->columns[i].role;
    if (!status)
        status = sample_fill(p, &sample, data, end, reterr);
    if (!status)
        status = parser_decide(p, &sample, reterr);
    for (size_t i = 0; !status && i < s->n; i++) {
        struct schema_column *c = &s->columns[i];
        bool declared = c->given || c->role == ROLE_LABEL || c->role == ROLE_IGNORE || c->role == ROLE_DATE;
        if (!declared && !(roles[i] == ROLE_NUMBER && sample.columns[i].numbers < sample.columns[i].present))
            role_set(c, roles[i] == ROLE_DATE ? ROLE_CATEGORY : roles[i], "as the header says");
    }
    free(roles);
    sample_free(&sample);
    if (status) {
        schema_free(s);
        return status;
    }
    schema_free(p->schema);
    p->schema = s;
    return HUNCH_OK;
}

/* A file that comes after another, or after a model's, has the same attributes in the same order. */
static hunch_status schema_match(struct parser *p, const char *text, const char *end, hunch_error *reterr)
{
    struct arff *a = p->state;
    struct schema *own = schema_new();
    const char *data;
    hunch_status status = own ? header_read(p, a, own, text, end, &data, reterr) : error_memory(reterr);
    if (!status && !names_equal(own->index, p->schema->index))
        status = parser_fail(p, 1, reterr, "its attributes differ from the known ones or have another order");
    schema_free(own);
    a->seen = status ? NULL : calloc(p->schema->n, sizeof *a->seen);
    return status || a->seen ? status : error_memory(reterr);
}

/* --- the format --- */

/* Of the label's type {a, b}: a. */
static hunch_status zero_label_find(struct parser *p, const char *text, const char *newline, hunch_error *reterr)
{
    struct arff *a = p->state;
    size_t length;
    const char *name = token_read(&a->cell, &text, newline, " \t{", &length);
    const struct schema_column *c = name ? schema_find(p->schema, name, length) : NULL;
    if (!c || c->role != ROLE_LABEL || *text != '{')
        return HUNCH_OK;
    text++;
    const char *first = token_read(&a->cell, &text, newline, ",}", &length);
    free(a->zero_label);
    a->zero_label = first ? strndup(first, length) : NULL;
    return first && !a->zero_label ? error_memory(reterr) : HUNCH_OK;
}

static hunch_status arff_begin(struct parser *p, const char *text, size_t size, hunch_error *reterr)
{
    struct arff *a = calloc(1, sizeof *a);
    const char *end = text + size;
    hunch_status status = HUNCH_OK;
    if (!a)
        return error_memory(reterr);
    p->state = a;
    if (!p->schema || !p->schema->n)
        status = schema_make(p, text, end, reterr);
    else
        status = schema_match(p, text, end, reterr);
    return status ? status : encoder_init(&a->encoder, p, reterr);
}

static hunch_status row_read(struct parser *p, const char *text, const char *newline, struct rows *out,
                             hunch_error *reterr)
{
    struct arff *a = p->state;
    struct encoded row;
    struct reading reading = {a, &row};
    bool sparse = *text == '{';
    hunch_status status = encoded_begin(p, &row, out, p->schema->n, reterr);
    if (!status)
        status = row_cells(p, p->schema, text, newline, cell_encode, &reading, reterr);
    const char *zero = a->zero_label ? a->zero_label : "0";
    for (size_t i = 0; sparse && !status && i < p->schema->n; i++)
        if (!a->seen[i] && p->schema->columns[i].role == ROLE_LABEL) /* other zeros are no features */
            status = parser_label(p, zero, strlen(zero), p->line, &row.label, reterr);
    return status ? status : parser_finish(p, &row, reterr);
}

static hunch_status arff_parse(struct parser *p, const char *text, size_t size, struct rows *out, size_t *ret_used,
                               hunch_error *reterr)
{
    struct arff *a = p->state;
    const char *end = text + size;
    for (; text < end; p->line++) {
        const char *newline = rawmemchr(text, '\n'), *row = a->data ? row_find(text, newline) : NULL;
        const char *line = blanks_skip(text);
        hunch_status status = row ? row_read(p, row, newline, out, reterr) : HUNCH_OK;
        if (!a->data && keyword_is(line, "@attribute"))
            status = zero_label_find(p, line + 11, newline, reterr);
        if (status && !parser_skips(p, status, out))
            return status;
        a->data = a->data || keyword_is(line, "@data");
        text = newline + 1;
    }
    *ret_used = size;
    return HUNCH_OK;
}

const struct format format_arff = {"arff", true, arff_begin, arff_parse, arff_end};
