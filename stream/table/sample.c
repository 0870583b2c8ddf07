/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of hunch-data(7), in its order. */
#include "table/sample.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "common/words.h"

#define FEW 10          /* different whole numbers that are codes rather than amounts, at most, */
#define FEW_ROWS 4      /* when there are that many rows for each */
#define FEW_SHARE 50    /* and none is in fewer than one row of n */
#define ID_ROWS 10      /* rows that must differ for an id */
#define ODD_ROWS 20     /* rows that tell odd spellings in a column of numbers, */
#define ODD_SHARE 20    /* at most one in n, */
#define ODD_SPELLINGS 3 /* and that many different ones */
#define TEXT_WORDS 3    /* on average */
#define EXAMPLE_BYTES 40
#define DATE_BYTES 64 /* no date is longer */

/* --- what the cells are --- */

bool sample_grow(struct sample *s)
{
    size_t n = s->schema->n;
    if (n <= s->n)
        return true;
    if (!array_resize(&s->columns, n, sizeof *s->columns))
        return false;
    bool good = true;
    while (s->n < n && good) {
        struct sample_column *c = &s->columns[s->n++];
        *c = (struct sample_column){.values = names_new(), .odd = names_new(), .steps = true, .rises = true};
        good = c->values && c->odd;
    }
    return good;
}

void sample_free(struct sample *s)
{
    for (size_t i = 0; i < s->n; i++) {
        names_free(s->columns[i].values);
        names_free(s->columns[i].odd);
        free(s->columns[i].count);
        free(s->columns[i].row);
    }
    free(s->columns);
    *s = (struct sample){0};
}

/* Blanks separate words in most scripts; what Unicode says counts in all. */
static size_t words_count(const char *text, size_t length)
{
    size_t n = 0;
    bool inside = false, ascii = true;
    for (size_t i = 0; i < length; i++) {
        bool blank = isspace((unsigned char)text[i]);
        n += !blank && !inside;
        inside = !blank;
        ascii = ascii && (unsigned char)text[i] < 128;
    }
    if (ascii)
        return n;
    struct words w = {0};
    size_t more = 0;
    char *word = words_begin(&w, text, length) ? malloc(words_room(&w)) : NULL;
    while (word && words_next(&w, word))
        more++;
    free(word);
    words_free(&w);
    return n > 1 || more <= 4 ? n : more; /* names with accents have few parts, sentences without blanks many */
}

static bool is_code(const char *text, size_t length)
{
    return length > 1 && text[0] == '0' && isdigit((unsigned char)text[1]);
}

static bool has_letter(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (isalpha((unsigned char)text[i]) || (unsigned char)text[i] > 127)
            return true;
    return false;
}

static bool row_add(struct sample_column *c, size_t row, uint32_t value)
{
    if (!array_reserve(&c->row, &c->row_capacity, row + 1, sizeof *c->row))
        return false;
    while (c->rows < row)
        c->row[c->rows++] = NAMES_NONE;
    c->row[row] = value;
    c->rows = row + 1;
    return true;
}

static bool value_count(struct sample_column *c, size_t row, const char *text, size_t length)
{
    uint32_t number = names_add(c->values, text, length);
    if (number == NAMES_NONE)
        return false;
    if (!array_reserve(&c->count, &c->count_capacity, number + (size_t)1, sizeof *c->count))
        return false;
    if (number == c->counted) /* a new one */
        c->count[c->counted++] = 0;
    c->count[number]++;
    return row_add(c, row, number);
}

static void number_look(struct sample_column *c, const char *text, size_t length, bool gap)
{
    double value = 0, other;
    bool plain = cell_number(text, length, '.', &value), marked = memchr(text, ',', length);
    c->numbers += plain;
    const char *point = memchr(text, '.', length);
    bool group =
        point && text + length - point >= 4 && (text + length == point + 4 || !isdigit((unsigned char)point[4]));
    c->commas += marked || group || !plain ? cell_number(text, length, ',', &other) : plain && !point;
    c->marked += marked;
    c->dotted += point != NULL;
    c->integers += plain && value == floor(value);
    c->codes += is_code(text, length) && plain;
    c->exponents += plain && (memchr(text, 'e', length) || memchr(text, 'E', length));
    if (!plain)
        return;
    c->steps = c->steps && (c->numbers == 1 || gap || value == c->last + 1);
    c->rises = c->rises && (c->numbers == 1 || value > c->last);
    c->first = c->numbers == 1 ? value : c->first;
    c->last = value;
    c->largest = fmax(c->largest, fabs(value));
}

static void date_look(struct sample_column *c, const char *text, size_t length)
{
    struct date date;
    for (int i = 0; i < 2; i++)
        if (cell_date(text, length, "dm"[i], &date)) {
            c->earliest[i] = !c->dates[i] || date.day < c->earliest[i] ? date.day : c->earliest[i];
            c->dates[i]++;
        }
}

bool sample_cell(struct sample *s, size_t column, const char *text, size_t length)
{
    struct sample_column *c = &s->columns[column];
    struct schema_column *out = &s->schema->columns[column];
    if (schema_is_missing(s->schema, out, text, length) || memchr(text, 0, length)) {
        c->missing++;
        return true;
    }
    size_t numbers = c->numbers;
    c->present++;
    number_look(c, text, length, s->gaps);
    bool odd = c->numbers == numbers;
    if ((odd && length <= DATE_BYTES) || length == 7 || length == 8 || length == 14)
        date_look(c, text, length);
    c->infinite += odd && cell_is_infinite(text, length);
    c->words += odd ? words_count(text, length) : 1;
    c->spelled += odd && has_letter(text, length);
    if (!out->example) {
        size_t cut = length < EXAMPLE_BYTES ? length : EXAMPLE_BYTES;
        while (cut < length && cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
            cut--; /* not within a character */
        out->example = strndup(text, cut);
        for (char *at = out->example; at && *at; at++)
            *at = isspace((unsigned char)*at) ? ' ' : *at; /* on one line */
    }
    if (odd && names_count(c->odd) <= ODD_SPELLINGS && names_add(c->odd, text, length) == NAMES_NONE)
        return false;
    return value_count(c, s->rows, text, length);
}

/* --- what the cells suggest --- */

/* "id", "ticket_id", "ticketId", "uuid", "EmployeeNumber", "Roll No." */
static bool is_id_name(const char *name)
{
    static const char *const words[] = {"id", "uuid", "guid", "index", "key", "number", "no", "nr", NULL};
    size_t n = strlen(name);
    while (n && !isalnum((unsigned char)name[n - 1]))
        n--;
    for (size_t i = 0; words[i]; i++) {
        size_t length = strlen(words[i]);
        const char *word = name + n - length;
        if (n < length || strncasecmp(word, words[i], length) != 0)
            continue;
        bool begins = n == length || !isalnum((unsigned char)word[-1]);
        if (begins || (isupper((unsigned char)*word) && islower((unsigned char)word[-1])) ||
            !strncasecmp(word, "uuid", 4))
            return true;
    }
    return false;
}

static bool is_unnamed(const char *name)
{
    return !strncmp(name, "Unnamed: ", 9) || (!strncmp(name, "column", 6) && isdigit((unsigned char)name[6]));
}

static bool is_few(const struct sample_column *c)
{
    size_t n = names_count(c->values), rarest = c->present;
    bool binary = true;
    for (uint32_t i = 0; i < n; i++) {
        const char *text = names_text(c->values, i, NULL);
        rarest = c->count[i] < rarest ? c->count[i] : rarest;
        binary = binary && (!strcmp(text, "0") || !strcmp(text, "1"));
    }
    return n >= 2 && n <= FEW && !binary && c->present >= FEW_ROWS * n && c->present >= 3 * FEW_ROWS &&
           rarest * FEW_SHARE >= c->present;
}

static void number_decide(struct schema_column *out, const struct sample_column *c)
{
    bool whole = c->integers == c->present, distinct = names_count(c->values) == c->present;
    bool many = 2 * names_count(c->values) > c->present;
    if (whole && c->codes)
        role_set(out, ROLE_CATEGORY, "leading zeros");
    else if (whole && c->largest > HUNCH_MAX_VALUE && (many || c->exponents))
        role_set(out, ROLE_IGNORE, "%s",
                 c->exponents ? "an id that has lost its digits" : "numbers too large for amounts");
    else if (whole && c->largest > HUNCH_MAX_VALUE)
        role_set(out, ROLE_CATEGORY, "numbers too large for amounts");
    else if (whole && distinct && c->present > 1 && !c->missing &&
             ((c->rises && c->present >= ID_ROWS && is_unnamed(out->name)) ||
              (c->steps && (c->first == 0 || c->first == 1) && (is_unnamed(out->name) || is_id_name(out->name)))))
        role_set(out, ROLE_IGNORE, "row numbers");
    else if (whole && distinct && c->present > 1 && (is_id_name(out->name) || (c->steps && c->present >= ID_ROWS)))
        role_set(out, ROLE_IGNORE, "an id: every value differs");
    else if (whole && is_few(c))
        role_set(out, ROLE_CATEGORY, "%u different whole numbers", names_count(c->values));
    else
        role_set(out, ROLE_NUMBER, "%s", "");
}

bool sample_is_text(const struct sample_column *c)
{
    size_t distinct = names_count(c->values), n = c->present;
    if (2 * c->spelled < n) /* telephone numbers, for one */
        return false;
    return (c->words >= TEXT_WORDS * n && 2 * distinct > n) ||
           (2 * c->words >= 3 * n && 10 * distinct >= 9 * n && n >= ID_ROWS) || (c->words >= 8 * n && distinct > 20);
}

static void words_decide(struct schema_column *out, const struct sample_column *c)
{
    size_t distinct = names_count(c->values);
    if (sample_is_text(c))
        role_set(out, ROLE_TEXT, "%s", "");
    else if (distinct == c->present && c->present > 1 && (is_id_name(out->name) || c->present >= ID_ROWS))
        role_set(out, ROLE_IGNORE, "an id: every value differs");
    else
        role_set(out, ROLE_CATEGORY, "%s", "");
}

/* The amounts of a table are written in one way; which one, a column may leave open: 1,234. */
static char point_find(const struct sample *s)
{
    bool point = false, comma = false;
    for (size_t i = 0; i < s->n; i++) {
        const struct sample_column *c = &s->columns[i];
        point = point || (c->numbers == c->present && c->commas < c->present);
        comma = comma || (c->commas == c->present && c->numbers < c->present);
    }
    return point == comma ? 0 : point ? '.' : ',';
}

/* The decimal point of a column of numbers, or 0: it is none. */
static char column_point(const struct sample *s, const struct sample_column *c, char usual)
{
    bool point = c->numbers == c->present, comma = c->commas == c->present;
    if (point != comma || !point || (!c->marked && !c->dotted))
        return point ? '.' : comma ? ',' : 0;
    if (!usual)
        usual = c->marked && s->schema->delimiter == ';' ? ',' : '.';
    return usual;
}

/* Up to one value in 20 is something else; or up to half of them, if it is a word among many numbers. */
static bool is_number_with_words(const struct sample_column *c)
{
    size_t odd = c->present - c->numbers, spellings = names_count(c->odd);
    bool words = names_count(c->values) - spellings > FEW;
    for (uint32_t i = 0; i < spellings && words; i++)
        words = !strpbrk(names_text(c->odd, i, NULL), "0123456789");
    return c->present >= ODD_ROWS && spellings <= ODD_SPELLINGS && odd * (words ? 2 : ODD_SHARE) <= c->present;
}

bool sample_is_date(const struct sample_column *c)
{
    return c->present && (c->dates[0] == c->present || c->dates[1] == c->present);
}

static void date_decide(struct schema_column *out, const struct sample_column *c)
{
    bool month = c->dates[1] == c->present; /* where both may be meant, the month comes first */
    if (c->dates[0] == c->present && month && out->example && strchr(out->example, '.'))
        month = false;
    out->order = month ? 'm' : 'd';
    out->origin = c->earliest[month];
    bool open = c->earliest[0] != c->earliest[1];
    role_set(out, ROLE_DATE, "%s", !open ? "" : month ? "the month comes first" : "the day comes first");
}

static hunch_status column_decide(struct sample *s, size_t at, char usual, hunch_error *reterr)
{
    struct schema_column *out = &s->schema->columns[at];
    struct sample_column *c = &s->columns[at];
    if (c->infinite && c->numbers && c->numbers + c->infinite == c->present) { /* these are missing values */
        c->missing += c->infinite;
        c->present = c->numbers;
        c->commas = c->commas < c->present ? c->commas : c->present;
    }
    char point = column_point(s, c, usual);
    out->point = point ? point : '.';
    if (c->present == 0) {
        role_set(out, ROLE_IGNORE, "no values");
    } else if (sample_is_date(c)) {
        date_decide(out, c);
    } else if (point == '.') {
        number_decide(out, c);
    } else if (point == ',') {
        role_set(out, ROLE_NUMBER, "decimal comma");
    } else if (is_number_with_words(c)) {
        role_set(out, ROLE_NUMBER, "'%.40s' is taken as missing", names_text(c->odd, 0, NULL));
        out->missing = names_copy(c->odd);
        if (!out->missing)
            return error_memory(reterr);
    } else {
        words_decide(out, c);
    }
    return HUNCH_OK;
}

/* A given role needs what goes with it. */
static void given_finish(const struct sample *s, struct schema_column *out, const struct sample_column *c, char usual)
{
    char point = column_point(s, c, usual);
    out->point = point ? point : '.';
    if (out->role == ROLE_DATE || (out->role == ROLE_NUMBER && sample_is_date(c)))
        date_decide(out, c);
}

/* --- a model without a schema --- */

static bool value_is_known(const struct names *features, const struct schema_column *out, const struct sample_column *c)
{
    for (uint32_t i = 0; i < names_count(c->values); i++) {
        char *key;
        int length = asprintf(&key, "%s=%s", out->name, names_text(c->values, i, NULL));
        if (length < 0)
            return false;
        bool known = names_find(features, key, (size_t)length) != NAMES_NONE;
        free(key);
        if (known)
            return true;
    }
    return false;
}

/* The kind of a column whose features a model knows is theirs. */
static void features_decide(struct sample *s, const struct names *features)
{
    for (size_t i = 0; i < s->n; i++) {
        struct schema_column *out = &s->schema->columns[i];
        if (out->given)
            continue;
        if (names_find(features, out->name, out->length) != NAMES_NONE)
            role_set(out, ROLE_NUMBER, "as the model has it");
        else if (value_is_known(features, out, &s->columns[i]))
            role_set(out, ROLE_CATEGORY, "as the model has it");
        else
            continue;
        out->given = true;
    }
}

/* --- the whole --- */

/* Whoever has cells passed on need not want features. */
static hunch_status features_check(const struct schema *s, const struct schema_options *o, hunch_error *reterr)
{
    if (o && o->with)
        return HUNCH_OK;
    for (size_t i = 0; i < s->n; i++)
        if (s->columns[i].role <= ROLE_DATE || s->columns[i].role == ROLE_FEATURES)
            return HUNCH_OK;
    return error_set(reterr, HUNCH_EINVAL,
                     "no usable features: none of %zu column%s is a number, a category, a date or a text", s->n,
                     s->n == 1 ? "" : "s");
}

#define SHORT_WORDS 32 /* in a row's texts, on average: so few leave much unsaid, and pairs of them can be afforded */

static uint32_t ngrams_decide(const struct sample *s)
{
    double words = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->schema->columns[i].role == ROLE_TEXT && s->columns[i].present)
            words += (double)s->columns[i].words / (double)s->columns[i].present;
    return words > 0 && words <= SHORT_WORDS ? 2 : 1;
}

hunch_status sample_decide(struct sample *s, const struct schema_known *known, hunch_error *reterr)
{
    struct schema *schema = s->schema;
    hunch_status status = roles_give(schema, known, reterr);
    if (!status && known->log)
        status = log_decide(s, reterr);
    if (!status && known->features && names_count(known->features))
        features_decide(s, known->features);
    char usual = point_find(s);
    for (size_t i = 0; i < s->n && !status; i++)
        if (schema->columns[i].given)
            given_finish(s, &schema->columns[i], &s->columns[i], usual);
        else
            status = column_decide(s, i, usual, reterr);
    if (!status && !known->log)
        status = label_decide(s, known, reterr);
    bool fixed = known->features && names_count(known->features);
    if (!schema->ngrams)
        schema->ngrams = fixed ? 1 : ngrams_decide(s);
    return status ? status : features_check(schema, known->options, reterr);
}
