/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables: records of cells with a delimiter between them (RFC 4180 and what is found in the wild). What the columns
 * mean is the schema's business; hunch-data(7) tells how separator and header are found.
 */
#include "csv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encode.h"
#include "base/error.h"
#include "sample.h"

#define SAMPLE_ROWS 1000
#define LOOK_RECORDS 50 /* to find the delimiter and the header */
#define UNKNOWN SIZE_MAX

struct column {
    size_t at;        /* in the schema; UNKNOWN: not there */
    bool plain;       /* a number with a decimal point */
    uint32_t feature; /* of such */
    uint32_t with;    /* which of the cells that go along; NAMES_NONE: none */
};

struct csv {
    char delimiter;
    bool header; /* the first record is one */
    bool header_passed;
    size_t cells; /* of most of the first records */
    size_t skip;  /* bytes before the first record: a mark, "sep=;", titles */
    uint64_t skip_lines;
    bool extra;   /* records have an unnamed cell before those that the header names */
    int trailing; /* 1: a delimiter ends records, but not the header; -1: the header alone; 0: both or neither */
    struct column *columns;
    size_t n, capacity;
    size_t *absent; /* columns of the schema that the file lacks */
    size_t absents;
    struct csv_scratch cell;
    struct encoder encoder;
};

static void csv_end(struct parser *p)
{
    struct csv *csv = p->state;
    if (!csv)
        return;
    free(csv->columns);
    free(csv->absent);
    free(csv->cell.bytes);
    encoder_free(&csv->encoder);
    free(csv);
    p->state = NULL;
}

static uint64_t lines_count(const char *text, const char *newline)
{
    uint64_t lines = 1;
    while ((text = memchr(text, '\n', (size_t)(newline - text)))) {
        lines++;
        text++;
    }
    return lines;
}

static bool line_is_empty(const char *text, const char *newline)
{
    while (text < newline && (*text == ' ' || *text == '\r'))
        text++;
    return text == newline;
}

/* --- separator and header --- */

/* The cells of a record, without looking at them. */
static size_t cells_count(struct csv_scratch *scratch, const char *text, const char *newline, char delimiter)
{
    size_t n = 0;
    for (const char *stop = text - 1; stop && stop < newline; n++) {
        struct csv_cell cell;
        stop = csv_cell_read(stop + 1, newline, delimiter, scratch, &cell);
    }
    return n;
}

/* What a delimiter makes of the first records: the most usual count of cells (of those above 1), and its share. */
struct shape {
    size_t cells;
    double share;
};

static struct shape shape_find(struct csv_scratch *scratch, const char *text, const char *end, char delimiter)
{
    size_t counts[LOOK_RECORDS], n = 0, best = 0, cells = 0;
    for (const char *newline; n < LOOK_RECORDS && text < end; text = newline + 1) {
        newline = csv_record_end(text, end, delimiter);
        if (!newline)
            break;
        if (!line_is_empty(text, newline))
            counts[n++] = cells_count(scratch, text, newline, delimiter);
    }
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t j = 0; j < n; j++)
            same += counts[j] == counts[i];
        if (counts[i] > 1 && (same > best || (same == best && counts[i] > cells))) {
            best = same;
            cells = counts[i];
        }
    }
    return (struct shape){cells, n ? (double)best / (double)n : 0};
}

/* Numbers in columns that blanks make: every line has as many, and half of the second one's at least are numbers. */
static bool are_blanks_between(struct csv_scratch *scratch, const char *text, const char *end)
{
    struct shape shape = shape_find(scratch, text, end, ' ');
    size_t numbers = 0;
    if (shape.share < 1)
        return false;
    const char *newline = csv_record_end(text, end, ' '), *next = newline + 1 < end ? newline + 1 : text;
    newline = csv_record_end(next, end, ' ');
    for (const char *stop = next - 1; newline && stop < newline;) {
        struct csv_cell cell;
        double number;
        stop = csv_cell_read(stop + 1, newline, ' ', scratch, &cell);
        numbers += cell_number(cell.text, cell.length, '.', &number);
    }
    return 2 * numbers >= shape.cells;
}

static char delimiter_find(struct csv_scratch *scratch, const char *text, const char *end)
{
    static const char usual[] = {',', ';', '\t', '|'};
    char found = ',';
    struct shape best = {0, 0};
    for (size_t i = 0; i < sizeof usual; i++) {
        struct shape shape = shape_find(scratch, text, end, usual[i]);
        if (shape.share > best.share || (shape.share == best.share && shape.cells > best.cells)) {
            best = shape;
            found = usual[i];
        }
    }
    bool open = !best.cells || (found == '\t' && memmem(text, (size_t)(end - text), "  ", 2));
    if (open && are_blanks_between(scratch, text, end))
        found = ' ';
    return found;
}

static hunch_status delimiter_take(struct parser *p, struct csv *csv, char fallback, const char *text, const char *end,
                                   hunch_error *reterr)
{
    const char *given = p->options->columns.delimiter;
    if (given && (!strcmp(given, "tab") || !strcmp(given, "\\t")))
        given = "\t";
    if (given && (!*given || given[1] || *given == '"' || *given == '\n'))
        return error_set(reterr, HUNCH_EINVAL, "--delimiter '%s': one character, or tab", given);
    if (given)
        csv->delimiter = *given;
    else if (fallback == '\t')
        csv->delimiter = '\t';
    else if (csv->delimiter == 0)
        csv->delimiter = delimiter_find(&csv->cell, text, end);
    return HUNCH_OK;
}

/* Titles and comments before the table: lines with another number of cells than the table's rows. The header may have
 * one cell more or less than these. Returns where the table begins. */
static const char *preamble_skip(struct csv *csv, const char *text, const char *end)
{
    struct shape shape = shape_find(&csv->cell, text, end, csv->delimiter);
    const char *begin = text, *newline;
    csv->cells = shape.cells;
    for (; shape.share >= 0.5 && (newline = csv_record_end(text, end, csv->delimiter)); text = newline + 1) {
        size_t n = cells_count(&csv->cell, text, newline, csv->delimiter);
        bool another = n == 1 || n + 1 < shape.cells || (n != shape.cells && strchr("#%|", *text));
        if (!another && !line_is_empty(text, newline))
            break;
        csv->skip_lines += lines_count(text, newline);
    }
    csv->skip += (size_t)(text - begin);
    return text;
}

/* A byte order mark, and the line by which spreadsheets tell their separator. */
static const char *begin_skip(struct csv *csv, const char *text, const char *end)
{
    const char *begin = text;
    if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    if (end - text >= 6 && !memcmp(text, "sep=", 4) && (text[5] == '\n' || text[5] == '\r')) {
        csv->delimiter = text[4];
        text = (const char *)memchr(text, '\n', (size_t)(end - text)) + 1;
        csv->skip_lines = 1;
    }
    csv->skip = (size_t)(text - begin);
    return text;
}

/* --- names --- */

/* Blanks around a cell mean nothing unless they are quoted. */
static void cell_trim(struct csv_cell *cell)
{
    while (!cell->quoted && cell->length && csv_is_blank(*cell->text)) {
        cell->text++;
        cell->length--;
    }
    while (!cell->quoted && cell->length && csv_is_blank(cell->text[cell->length - 1]))
        cell->length--;
}

/* A column of the schema that is being made: names that are empty or there twice become others. */
static hunch_status name_add(struct parser *p, struct schema *s, const struct csv_cell *cell, hunch_error *reterr)
{
    char *name = NULL;
    int length = -1;
    if (memchr(cell->text, 0, cell->length) || cell->length > PARSER_LABEL_LIMIT)
        return parser_fail(p, p->line, reterr, "the name of column %zu is no text of a reasonable length", s->n + 1);
    if (cell->length == 0)
        length = asprintf(&name, "column%zu", s->n + 1);
    else
        length = asprintf(&name, "%.*s", (int)cell->length, cell->text);
    for (int i = 1; length >= 0 && schema_find(s, name, (size_t)length); i++) {
        free(name);
        length = cell->length ? asprintf(&name, "%.*s.%d", (int)cell->length, cell->text, i)
                              : asprintf(&name, "column%zu.%d", s->n + 1, i);
    }
    if (length < 0)
        return error_memory(reterr);
    bool added = schema_add(s, name, (size_t)length);
    free(name);
    return added ? HUNCH_OK : error_memory(reterr);
}

static hunch_status names_add_all(struct parser *p, struct csv *csv, struct schema *s, const char *text,
                                  const char *newline, hunch_error *reterr)
{
    struct csv_cell cell = {.text = "", .length = 0};
    hunch_status status = csv->extra && csv->header ? name_add(p, s, &cell, reterr) : HUNCH_OK;
    for (const char *stop = text - 1; !status && stop < newline;) {
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        if (!stop)
            return error_memory(reterr);
        cell_trim(&cell);
        if (!csv->header)
            cell.length = 0;
        if (stop < newline || csv->trailing >= 0)
            status = name_add(p, s, &cell, reterr);
    }
    cell.length = 0;
    return csv->trailing > 0 && !status ? name_add(p, s, &cell, reterr) : status;
}

/* A line that begins with # and has not as many cells as its table has columns (0: not known yet). */
static bool is_comment(struct csv *csv, const char *text, const char *newline)
{
    return *text == '#' && cells_count(&csv->cell, text, newline, csv->delimiter) != (csv->n ? csv->n : csv->cells);
}

/* --- the sample --- */

static hunch_status record_look(struct csv *csv, struct sample *sample, const char *text, const char *newline,
                                hunch_error *reterr)
{
    const char *stop = text - 1;
    for (size_t i = 0; i < sample->n && stop < newline; i++) {
        struct csv_cell cell;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        if (stop)
            cell_trim(&cell);
        if (!stop || !sample_cell(sample, i, cell.text, cell.length))
            return error_memory(reterr);
    }
    sample->rows++;
    return HUNCH_OK;
}

static hunch_status records_look(struct csv *csv, struct sample *sample, size_t most, const char *text, const char *end,
                                 hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (const char *newline; !status && text < end && sample->rows < most; text = newline + 1) {
        newline = csv_record_end(text, end, csv->delimiter);
        if (!newline)
            break;
        if (!line_is_empty(text, newline) && !is_comment(csv, text, newline))
            status = record_look(csv, sample, text, newline, reterr);
    }
    return status;
}

/* What the first record's cell says about being a header, next to those below: 1 for, -1 against, 0 nothing. */
static int header_vote(const struct schema *s, const struct sample_column *below, const struct csv_cell *cell)
{
    double number;
    if (schema_is_missing(s, NULL, cell->text, cell->length) || !below->present)
        return 0;
    bool numbers = below->numbers == below->present || below->commas == below->present, dates = sample_is_date(below);
    struct date date;
    bool is_number =
        cell_number(cell->text, cell->length, '.', &number) || cell_number(cell->text, cell->length, ',', &number);
    if (!is_number && (numbers || dates))
        return dates && (cell_date(cell->text, cell->length, 'd', &date) ||
                         cell_date(cell->text, cell->length, 'm', &date))
                   ? -1
                   : 1;
    if (is_number && numbers)
        return -1;
    return names_find(below->values, cell->text, cell->length) != NAMES_NONE ? -1 : 0;
}

/* A header is there if a name stands above numbers; it is not if a value of the first record comes again below it. */
static hunch_status header_find(struct csv *csv, const struct schema *s, const char *text, const char *newline,
                                const char *end, hunch_error *reterr)
{
    struct schema *trial = schema_new();
    struct sample sample = {.schema = trial};
    size_t n = cells_count(&csv->cell, text, newline, csv->delimiter), votes_for = 0, votes_against = 0;
    bool good = trial;
    for (size_t i = 0; i < n && good; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "%zu", i);
        good = schema_add(trial, name, (size_t)length);
    }
    hunch_status status = good && sample_grow(&sample) ? HUNCH_OK : error_memory(reterr);
    if (!status)
        status = records_look(csv, &sample, LOOK_RECORDS, newline + 1, end, reterr);
    const char *stop = text - 1;
    for (size_t i = 0; i < n && !status; i++) {
        struct csv_cell cell;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        if (!stop) {
            status = error_memory(reterr);
            break;
        }
        cell_trim(&cell);
        int vote = header_vote(s, &sample.columns[i], &cell);
        votes_for += vote > 0;
        votes_against += vote < 0;
    }
    csv->header = votes_for || !votes_against;
    sample_free(&sample);
    schema_free(trial);
    return status;
}

static bool last_is_empty(struct csv *csv, const char *text, const char *newline)
{
    struct csv_cell cell = {.length = 0};
    for (const char *stop = text - 1; stop && stop < newline;)
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
    return cell.length == 0;
}

/* Every record has a cell more than the header: delimiters end the records, or row names come first; or one less. */
static void extra_find(struct csv *csv, const char *text, const char *newline, const char *end)
{
    size_t named = cells_count(&csv->cell, text, newline, csv->delimiter), rows = 0, more = 0, fewer = 0, empty = 0;
    bool ends = last_is_empty(csv, text, newline);
    for (text = newline + 1; text < end && rows < LOOK_RECORDS; text = newline + 1) {
        newline = csv_record_end(text, end, csv->delimiter);
        if (!newline)
            break;
        if (line_is_empty(text, newline) || is_comment(csv, text, newline))
            continue;
        size_t n = cells_count(&csv->cell, text, newline, csv->delimiter);
        rows++;
        more += n == named + 1;
        fewer += n + 1 == named;
        empty += last_is_empty(csv, text, newline);
    }
    csv->trailing = more == rows && empty == rows && rows ? 1 : fewer == rows && ends && rows ? -1 : 0;
    csv->extra = more == rows && rows > 1 && !csv->trailing;
}

/* --- columns of the file and of the schema --- */

static hunch_status columns_reserve(struct csv *csv, size_t n, hunch_error *reterr)
{
    csv->columns = calloc(n + 1, sizeof *csv->columns);
    if (!csv->columns)
        return error_memory(reterr);
    csv->n = n;
    return HUNCH_OK;
}

/* The columns whose cells go along with the rows; of several files, those that the first one has. */
static hunch_status with_find(struct parser *p, struct csv *csv, const struct schema *own, hunch_error *reterr)
{
    const char *list = p->options->columns.with;
    hunch_status status = list && !p->with ? columns_find(own, list, "with", &p->with, reterr) : HUNCH_OK;
    for (size_t i = 0; i < csv->n && !status; i++)
        csv->columns[i].with = p->with ? names_find(p->with, own->columns[i].name, own->columns[i].length) : NAMES_NONE;
    return status;
}

static hunch_status features_prepare(struct parser *p, struct csv *csv, hunch_error *reterr)
{
    hunch_status status = encoder_init(&csv->encoder, p, reterr);
    for (size_t i = 0; i < csv->n && !status; i++) {
        struct column *c = &csv->columns[i];
        if (c->at == UNKNOWN)
            continue;
        enum role role = p->schema->columns[c->at].role;
        c->plain = role == ROLE_NUMBER && c->with == NAMES_NONE && p->schema->columns[c->at].point == '.' &&
                   csv->delimiter != ' ';
        if (role == ROLE_NUMBER || role == ROLE_DATE)
            status = encoder_number(&csv->encoder, c->at, &c->feature, reterr);
    }
    return status;
}

static hunch_status schema_make(struct parser *p, struct csv *csv, const char *text, const char *newline,
                                const char *end, hunch_error *reterr)
{
    const struct stream_options *o = p->options;
    struct schema *s = schema_new();
    struct sample sample = {.schema = s};
    struct schema_known known = {&o->columns, o->label_column, o->features, o->log};
    hunch_error why = {{0}};
    if (!s || (o->columns.missing && !schema_set_missing(s, o->columns.missing))) {
        schema_free(s);
        return error_memory(reterr);
    }
    s->delimiter = csv->delimiter;
    s->ngrams = o->columns.ngrams ? o->columns.ngrams : 1;
    s->hash_bits = o->columns.hash_bits;
    hunch_status status = HUNCH_OK;
    csv->header = !o->columns.no_header;
    if (csv->header)
        status = header_find(csv, s, text, newline, end, reterr);
    if (!status && csv->header)
        extra_find(csv, text, newline, end);
    s->header = csv->header;
    if (!status)
        status = names_add_all(p, csv, s, text, newline, reterr);
    if (!status && !sample_grow(&sample))
        status = error_memory(reterr);
    if (!status)
        status = records_look(csv, &sample, SAMPLE_ROWS, csv->header ? newline + 1 : text, end, reterr);
    if (!status && sample.rows == 0)
        status = newline + 1 < end && *(newline + 1) == '"'
                     ? parser_fail(p, 2, reterr, "a quoted cell does not end")
                     : parser_fail(p, 1, reterr, "there are no rows below the header");
    if (!status && (status = sample_decide(&sample, &known, &why)))
        parser_fail(p, 1, reterr, "%s", why.message);
    sample_free(&sample);
    if (!status)
        status = columns_reserve(csv, s->n, reterr);
    if (status) {
        schema_free(s);
        return status;
    }
    for (size_t i = 0; i < csv->n; i++)
        csv->columns[i].at = i;
    p->schema = s;
    return with_find(p, csv, s, reterr);
}

static hunch_status absent_find(struct parser *p, struct csv *csv, hunch_error *reterr)
{
    bool *there = calloc(p->schema->n + 1, sizeof *there);
    hunch_status status = HUNCH_OK;
    csv->absent = calloc(p->schema->n + 1, sizeof *csv->absent);
    if (!there || !csv->absent) {
        free(there);
        return error_memory(reterr);
    }
    for (size_t i = 0; i < csv->n; i++)
        if (csv->columns[i].at != UNKNOWN)
            there[csv->columns[i].at] = true;
    for (size_t i = 0; i < p->schema->n && !status; i++) {
        const struct schema_column *c = &p->schema->columns[i];
        if (there[i] || c->role > ROLE_DATE || c->role == ROLE_IGNORE)
            continue;
        csv->absent[csv->absents++] = i;
        status = parser_remark(p, reterr, "%s: there is no column '%s'; it is taken as missing", p->path, c->name);
    }
    free(there);
    return status;
}

static bool is_feature(const struct schema_column *c)
{
    return c->role < ROLE_IGNORE || c->role == ROLE_FEATURES;
}

/* A table that comes after another, or after a model's: its columns are known by name, without a header by position. */
static hunch_status schema_match(struct parser *p, struct csv *csv, const char *text, const char *newline,
                                 const char *end, hunch_error *reterr)
{
    const struct schema *s = p->schema;
    struct schema *own = schema_new();
    hunch_status status = own ? HUNCH_OK : error_memory(reterr);
    size_t known = 0, features = 0;
    csv->header = s->header && !p->options->columns.no_header;
    if (!status && csv->header)
        extra_find(csv, text, newline, end);
    if (!status)
        status = names_add_all(p, csv, own, text, newline, reterr);
    if (!status)
        status = columns_reserve(csv, own->n, reterr);
    if (!status)
        status = with_find(p, csv, own, reterr);
    bool positions = !csv->header;
    size_t label = 0;
    while (label < s->n && s->columns[label].role != ROLE_LABEL)
        label++;
    if (!status && positions && own->n != s->n && own->n + 1 != s->n)
        status = parser_fail(p, 1, reterr, "there are %zu columns, and the model knows %zu", own->n, s->n);
    for (size_t i = 0; i < csv->n && !status; i++) {
        size_t at = own->n < s->n && i >= label ? i + 1 : i; /* without labels */
        uint32_t found = positions ? (uint32_t)at : names_find(s->index, own->columns[i].name, own->columns[i].length);
        csv->columns[i].at = found == NAMES_NONE ? UNKNOWN : found;
        known += found != NAMES_NONE;
        features += found != NAMES_NONE && is_feature(&s->columns[found]);
        if (found == NAMES_NONE && csv->columns[i].with == NAMES_NONE)
            status = parser_remark(p, reterr, "%s: the column '%s' is not known and not used", p->path,
                                   own->columns[i].name);
    }
    if (!status && !features)
        status = parser_fail(p, 1, reterr, "none of its columns is known: '%s' is not, for example",
                             own->n ? own->columns[0].name : "");
    schema_free(own);
    return status ? status : absent_find(p, csv, reterr);
}

static hunch_status begin(struct parser *p, char delimiter, const char *text, size_t size, hunch_error *reterr)
{
    struct csv *csv = calloc(1, sizeof *csv);
    const char *end = text + size;
    if (!csv)
        return error_memory(reterr);
    p->state = csv;
    text = begin_skip(csv, text, end);
    while (text < end && (*text == '\n' || (*text == '\r' && text[1] == '\n'))) { /* empty lines before all else */
        csv->skip_lines += *text == '\n';
        csv->skip++;
        text++;
    }
    hunch_status status = delimiter_take(p, csv, delimiter, text, end, reterr);
    if (!status)
        text = preamble_skip(csv, text, end);
    const char *newline = !status && text < end ? csv_record_end(text, end, csv->delimiter) : NULL;
    if (!status && !newline)
        status = parser_fail(p, 1, reterr, text < end ? "the header does not end" : "there are no rows");
    if (!status)
        status = p->schema && p->schema->n ? schema_match(p, csv, text, newline, end, reterr)
                                           : schema_make(p, csv, text, newline, end, reterr);
    return status ? status : features_prepare(p, csv, reterr);
}

static hunch_status csv_begin(struct parser *p, const char *text, size_t size, bool last, hunch_error *reterr)
{
    (void)last;
    return begin(p, ',', text, size, reterr);
}

static hunch_status tsv_begin(struct parser *p, const char *text, size_t size, bool last, hunch_error *reterr)
{
    (void)last;
    return begin(p, '\t', text, size, reterr);
}

/* --- rows --- */

/* Numbers that end where their cells do, the usual case, without looking for the cells' ends first: those of the
 * columns from *at on, as far as it goes. Returns the delimiter or newline after the last one. */
static const char *numbers_add(const struct csv *csv, size_t *at, const char *stop, const char *newline,
                               struct encoded *row)
{
    const struct column *column = csv->columns + *at, *end = csv->columns + csv->n;
    uint32_t *index = row->out->index + row->values;
    float *value = row->out->value + row->values;
    size_t n = 0;
    for (; column < end && column->plain && stop < newline; column++) {
        const char *after = decimal_read(stop + 1, &value[n]);
        if (!after || isinf(value[n]))
            break;
        after += *after == '\r' && after[1] == '\n';
        if (*after != csv->delimiter && *after != '\n')
            break;
        index[n] = column->feature;
        n += value[n] != 0;
        stop = after;
    }
    row->values += n;
    *at = (size_t)(column - csv->columns);
    return stop;
}

static hunch_status cell_add(struct csv *csv, const struct column *column, struct csv_cell *cell, struct encoded *row,
                             hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    cell_trim(cell);
    if (column->with != NAMES_NONE)
        status = rows_cell_set(row->out, column->with, cell->text, cell->length, reterr);
    return status || column->at == UNKNOWN
               ? status
               : encoder_cell(&csv->encoder, row, column->at, cell->text, cell->length, reterr);
}

static hunch_status record_read(struct parser *p, const char *text, const char *newline, struct rows *out,
                                hunch_error *reterr)
{
    struct csv *csv = p->state;
    size_t i = 0;
    struct encoded row;
    hunch_status status = encoded_begin(&row, out, csv->n + csv->absents, reterr);
    const char *stop = text - 1;
    if (!status && p->with)
        status = rows_cells_begin(out, names_count(p->with), reterr);
    while (!status && stop < newline) {
        struct csv_cell cell;
        stop = numbers_add(csv, &i, stop, newline, &row);
        if (i == csv->n || stop == newline)
            break;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        status = stop ? cell_add(csv, &csv->columns[i++], &cell, &row, reterr) : error_memory(reterr);
        /* a text may have used the room of the numbers behind it */
        if (!status && row.values + csv->n >= out->values_capacity)
            status = rows_reserve(out, out->n + 1, row.values + csv->n + 1, reterr);
    }
    for (size_t j = 0; j < csv->absents && !status; j++)
        status = encoder_cell(&csv->encoder, &row, csv->absent[j], "", 0, reterr);
    if (status)
        return status;
    if (i < csv->n || stop < newline)
        return parser_fail(p, p->line, reterr, "%s cells than the %zu columns of the header",
                           i < csv->n ? "fewer" : "more", csv->n);
    return parser_finish(p, &row, reterr);
}

static hunch_status csv_parse(struct parser *p, const char *text, size_t size, bool last, struct rows *out,
                              size_t *ret_used, hunch_error *reterr)
{
    struct csv *csv = p->state;
    const char *start = text, *end = text + size;
    if (!csv->header_passed && csv->skip) {
        text += csv->skip;
        p->line += csv->skip_lines;
        csv->skip = 0;
    }
    while (text < end) {
        const char *newline = csv_record_end(text, end, csv->delimiter);
        if (!newline && last && csv->delimiter == '\t')
            newline = rawmemchr(text, '\n'); /* the quote is but a character */
        if (!newline && last)
            return parser_fail(p, p->line, reterr, "a quoted cell does not end");
        if (!newline)
            break;
        hunch_status status = HUNCH_OK;
        if ((csv->header_passed || !csv->header) && !line_is_empty(text, newline) && !is_comment(csv, text, newline))
            status = record_read(p, text, newline, out, reterr);
        if (status && !parser_skips(p, status, out))
            return status;
        csv->header_passed = true;
        p->line += lines_count(text, newline);
        text = newline + 1;
    }
    *ret_used = (size_t)(text - start);
    return HUNCH_OK;
}

const struct format format_csv = {"csv", true, csv_begin, csv_parse, csv_end};
const struct format format_tsv = {"tsv", true, tsv_begin, csv_parse, csv_end};
