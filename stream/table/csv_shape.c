/* SPDX-License-Identifier: BSD-3-Clause */
/* What the first records of a table tell about its form: separator, titles, header; and their cells, for the sample. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "table/csv_table.h"

#define LOOK_RECORDS 50 /* to find the delimiter and the header */
#define HEADER_LINES 3  /* of names, at most */

uint64_t csv_lines(const char *text, const char *newline)
{
    uint64_t lines = 1;
    while ((text = memchr(text, '\n', (size_t)(newline - text)))) {
        lines++;
        text++;
    }
    return lines;
}

bool csv_is_empty(const char *text, const char *newline)
{
    while (text < newline && (*text == ' ' || *text == '\r'))
        text++;
    return text == newline;
}

/* Blanks around a cell mean nothing unless they are quoted. */
void csv_trim(struct csv_cell *cell)
{
    while (!cell->quoted && cell->length && csv_is_blank(*cell->text)) {
        cell->text++;
        cell->length--;
    }
    while (!cell->quoted && cell->length && csv_is_blank(cell->text[cell->length - 1]))
        cell->length--;
}

/* --- separator --- */

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
        if (!csv_is_empty(text, newline))
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

hunch_status csv_delimiter(struct parser *p, struct csv *csv, char fallback, const char *text, const char *end,
                           hunch_error *reterr)
{
    const char *given = p->options->columns.delimiter;
    if (given && (!strcmp(given, "tab") || !strcmp(given, "\\t")))
        given = "\t";
    if (given && (!*given || given[1] || *given == '"' || *given == '\n'))
        return error_set(reterr, HUNCH_EINVAL, "--delimiter '%s': must be one character or tab", given);
    if (given)
        csv->delimiter = *given;
    else if (fallback == '\t')
        csv->delimiter = '\t';
    else if (csv->delimiter == 0)
        csv->delimiter = delimiter_find(&csv->cell, text, end);
    return HUNCH_OK;
}

static size_t cells_full(struct csv *csv, const char *text, const char *newline)
{
    size_t n = 0;
    for (const char *stop = text - 1; stop && stop < newline;) {
        struct csv_cell cell;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        n += stop && cell.length;
    }
    return n;
}

/* Titles and comments before the table: lines with another number of cells than the table's rows. The header may have
 * one cell more or less than these. Returns where the table begins. */
const char *csv_preamble_skip(struct csv *csv, const char *text, const char *end)
{
    struct shape shape = shape_find(&csv->cell, text, end, csv->delimiter);
    const char *begin = text, *newline;
    csv->cells = shape.cells;
    for (; shape.share >= 0.5 && (newline = csv_record_end(text, end, csv->delimiter)); text = newline + 1) {
        size_t n = cells_count(&csv->cell, text, newline, csv->delimiter);
        bool another = n == 1 || n + 1 < shape.cells || (n > 2 && cells_full(csv, text, newline) < 2) ||
                       (n != shape.cells && *text && strchr("#%|", *text));
        if (!another && !csv_is_empty(text, newline))
            break;
    }
    csv->skip += (size_t)(text - begin);
    return text;
}

/* A byte order mark, and the line by which spreadsheets tell their separator. */
const char *csv_begin_skip(struct csv *csv, const char *text, const char *end)
{
    const char *begin = text;
    if (end - text >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    if (end - text >= 6 && !memcmp(text, "sep=", 4) && (text[5] == '\n' || text[5] == '\r')) {
        csv->delimiter = text[4];
        text = (const char *)memchr(text, '\n', (size_t)(end - text)) + 1;
    }
    csv->skip = (size_t)(text - begin);
    return text;
}

/* A single name may well be a value, too: texts that are "text". */
bool csv_title_keep(struct csv *csv, const char *text, const char *newline)
{
    csv->title_length =
        cells_count(&csv->cell, text, newline, csv->delimiter) > 1 ? (size_t)(newline - text) : SIZE_MAX;
    csv->title = malloc((size_t)(newline - text) + 1);
    if (csv->title)
        memcpy(csv->title, text, (size_t)(newline - text));
    return csv->title;
}

bool csv_is_title(const struct csv *csv, const char *text, const char *newline)
{
    return csv->title && (size_t)(newline - text) == csv->title_length && !memcmp(text, csv->title, csv->title_length);
}

/* A line that begins with # and has not as many cells as its table has columns (0: not known yet). */
bool csv_is_comment(struct csv *csv, const char *text, const char *newline)
{
    if (csv_is_title(csv, text, newline))
        return true;
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
            csv_trim(&cell);
        if (!stop || !sample_cell(sample, i, cell.text, cell.length))
            return error_memory(reterr);
    }
    sample->rows++;
    return HUNCH_OK;
}

hunch_status csv_look(struct csv *csv, struct sample *sample, size_t max, const char **text_at, const char *end,
                      hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    const char *text = *text_at;
    for (const char *newline; !status && text < end && sample->rows < max; text = newline + 1) {
        newline = csv_record_end(text, end, csv->delimiter);
        if (!newline)
            break;
        csv->broken_lines = csv->broken_lines || memchr(text, '\n', (size_t)(newline - text));
        if (!csv_is_empty(text, newline) && !csv_is_comment(csv, text, newline))
            status = record_look(csv, sample, text, newline, reterr);
    }
    *text_at = text;
    return status;
}

hunch_status csv_look_further(struct csv *csv, struct sample *sample, size_t max, const char *text, const char *end,
                              hunch_error *reterr)
{
    size_t step = (size_t)(end - text) / max;
    const char *at = text;
    hunch_status status = HUNCH_OK;
    sample->gaps = true;
    for (size_t i = 0; i < max && !status; i++) {
        const char *from = text + i * step > at ? text + i * step : at;
        const char *before = memchr(from, '\n', (size_t)(end - from));
        const char *newline = before ? memchr(before + 1, '\n', (size_t)(end - before) - 1) : NULL;
        if (!newline)
            break;
        if (cells_count(&csv->cell, before + 1, newline, csv->delimiter) == sample->n &&
            !csv_is_title(csv, before + 1, newline))
            status = record_look(csv, sample, before + 1, newline, reterr);
        at = newline;
    }
    return status;
}

/* What the cells of a record say about being a header, compared with those below them. */
struct votes {
    size_t names;   /* words above numbers or dates: the surest sign */
    size_t news;    /* words that do not come again above words of which each comes often */
    size_t against; /* numbers above numbers, dates above dates, or values that come again below */
    size_t numeric; /* columns of numbers or dates below, where the record has a value */
};

static bool is_number(const struct csv_cell *cell)
{
    double number;
    return cell_number(cell->text, cell->length, '.', &number) || cell_number(cell->text, cell->length, ',', &number);
}

static bool is_date(const struct csv_cell *cell)
{
    struct date date;
    return cell_date(cell->text, cell->length, 'd', &date) || cell_date(cell->text, cell->length, 'm', &date);
}

static void vote(struct votes *votes, const struct schema *s, const struct sample_column *below,
                 const struct csv_cell *cell)
{
    if (schema_is_missing(s, NULL, cell->text, cell->length) || !below->present)
        return;
    bool numbers = below->numbers == below->present || below->commas == below->present, dates = sample_is_date(below);
    votes->numeric += numbers || dates;
    if (numbers || dates) {
        bool alike = is_number(cell) ? numbers : dates && is_date(cell);
        votes->against += alike || (dates && !numbers && is_date(cell));
        votes->names += !alike && !is_number(cell);
    } else if (names_find(below->values, cell->text, cell->length) != NAMES_NONE) {
        votes->against++;
    } else {
        votes->news += below->present >= 4 * (size_t)names_count(below->values);
    }
}

/* Numbers that are names: years, or 0, 1, 2 ... where nobody gave any. */
struct counting {
    size_t n;
    double first, last;
    bool rises; /* each is the one before plus 1 */
};

static void counting_add(struct counting *c, const struct csv_cell *cell)
{
    double number;
    if (!cell_number(cell->text, cell->length, '.', &number))
        return;
    c->rises = c->rises && (c->n == 0 || number == c->last + 1);
    c->first = c->n++ ? c->first : number;
    c->last = number;
}

/* Three or more, beside names none of which comes again, or from 0 on. */
static bool counting_is_header(const struct counting *c, size_t cells, size_t votes_against)
{
    return c->rises && c->n >= 3 && (c->n < cells ? votes_against <= c->n : c->first == 0);
}

/* The cells of the record from text to newline, compared with those of the rows from below on. */
static hunch_status record_vote(struct csv *csv, const struct schema *s, const char *text, const char *newline,
                                const char *below, const char *end, struct votes *votes, struct counting *counting,
                                hunch_error *reterr)
{
    struct schema *trial = schema_new();
    struct sample sample = {.schema = trial};
    size_t n = cells_count(&csv->cell, text, newline, csv->delimiter);
    bool good = trial;
    for (size_t i = 0; i < n && good; i++) {
        char name[32];
        int length = snprintf(name, sizeof name, "%zu", i);
        good = schema_add(trial, name, (size_t)length);
    }
    hunch_status status = good && sample_grow(&sample) ? HUNCH_OK : error_memory(reterr);
    if (!status)
        status = csv_look(csv, &sample, LOOK_RECORDS, &below, end, reterr);
    const char *stop = text - 1;
    for (size_t i = 0; i < n && !status; i++) {
        struct csv_cell cell;
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
        if (!stop) {
            status = error_memory(reterr);
            break;
        }
        csv_trim(&cell);
        vote(votes, s, &sample.columns[i], &cell);
        counting_add(counting, &cell);
    }
    sample_free(&sample);
    schema_free(trial);
    return status;
}

/* Up to two more lines of names below the header, as exports of surveys have them: words above all columns of numbers,
 * of which there are three at least. */
hunch_status csv_find_second_header(struct csv *csv, const struct schema *s, const char *text, const char *end,
                                    hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (const char *newline; !status && text < end && csv->header_lines < HEADER_LINES; text = newline + 1) {
        struct votes votes = {0};
        struct counting counting = {.rises = true};
        newline = csv_record_end(text, end, csv->delimiter);
        if (!newline || newline + 1 == end)
            break;
        /* a third line of names may follow */
        const char *below = csv_record_end(newline + 1, end, csv->delimiter);
        below = below && below + 1 < end ? below + 1 : newline + 1;
        status = record_vote(csv, s, text, newline, below, end, &votes, &counting, reterr);
        if (votes.numeric < 3 || votes.names < votes.numeric)
            break;
        csv->header_lines++;
    }
    return status;
}

/* A header is there if more columns speak for it than against it, or as many and one of them has a name above numbers. If
 * the same line comes again below, its names count as values there; then names above numbers must be left without it. */
hunch_status csv_find_header(struct csv *csv, const struct schema *s, const char *text, const char *newline,
                             const char *end, hunch_error *reterr)
{
    size_t n = cells_count(&csv->cell, text, newline, csv->delimiter);
    for (int again = 0; again < 2 && !csv->header; again++) {
        struct votes votes = {0};
        struct counting counting = {.rises = true};
        hunch_status status = record_vote(csv, s, text, newline, newline + 1, end, &votes, &counting, reterr);
        if (!status && !csv->title && !csv_title_keep(csv, text, newline))
            status = error_memory(reterr);
        if (status)
            return status;
        size_t votes_for = votes.names + votes.news;
        bool more = votes_for > votes.against || (votes_for == votes.against && votes.names);
        csv->header = again ? votes.names > votes.against
                            : more || !votes.against || counting_is_header(&counting, n, votes.against);
    }
    csv->header_lines = csv->header;
    if (csv->header)
        return csv_find_second_header(csv, s, newline + 1, end, reterr);
    free(csv->title);
    csv->title = NULL;
    return HUNCH_OK;
}

/* Where the rows begin that come after the header, which is from text to newline. */
const char *csv_rows_begin(struct csv *csv, const char *text, const char *newline, const char *end)
{
    for (unsigned i = 0; i < csv->header_lines && newline; i++) {
        text = newline + 1;
        newline = csv_record_end(text, end, csv->delimiter);
    }
    return text;
}

static bool last_is_empty(struct csv *csv, const char *text, const char *newline)
{
    struct csv_cell cell = {.length = 0};
    for (const char *stop = text - 1; stop && stop < newline;)
        stop = csv_cell_read(stop + 1, newline, csv->delimiter, &csv->cell, &cell);
    return cell.length == 0;
}

/* Every record has a cell more than the header: delimiters end the records, or row names come first; or one less. */
void csv_find_extra(struct csv *csv, const char *text, const char *newline, const char *end)
{
    size_t named = cells_count(&csv->cell, text, newline, csv->delimiter), rows = 0, more = 0, fewer = 0, empty = 0;
    bool ends = last_is_empty(csv, text, newline);
    for (text = newline + 1; text < end && rows < LOOK_RECORDS; text = newline + 1) {
        newline = csv_record_end(text, end, csv->delimiter);
        if (!newline)
            break;
        if (csv_is_empty(text, newline) || csv_is_comment(csv, text, newline))
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
