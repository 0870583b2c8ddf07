/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of hunch-data(7), in its order. */
#include "sample.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "words.h"

#define FEW 10          /* different whole numbers that are codes rather than amounts, at most, */
#define FEW_ROWS 4      /* when there are so many rows for each */
#define FEW_SHARE 50    /* and none is in fewer than one row of so many */
#define ID_ROWS 10      /* rows that must differ for an id */
#define ODD_ROWS 20     /* rows that tell odd spellings in a column of numbers, */
#define ODD_SHARE 20    /* at most one in so many, */
#define ODD_SPELLINGS 3 /* and so many different ones */
#define TEXT_WORDS 3    /* on average */
#define EXAMPLE_BYTES 40

/* --- what the cells are --- */

bool sample_grow(struct sample *s)
{
    size_t n = s->schema->n;
    if (n <= s->n)
        return true;
    struct sample_column *columns = realloc(s->columns, n * sizeof *columns);
    if (!columns)
        return false;
    s->columns = columns;
    for (; s->n < n; s->n++) {
        columns[s->n] = (struct sample_column){.values = names_new(), .odd = names_new(), .steps = true};
        if (!columns[s->n].values || !columns[s->n].odd) {
            names_free(columns[s->n].values);
            names_free(columns[s->n].odd);
            return false;
        }
    }
    return true;
}

void sample_free(struct sample *s)
{
    for (size_t i = 0; i < s->n; i++) {
        names_free(s->columns[i].values);
        names_free(s->columns[i].odd);
        free(s->columns[i].count);
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

static bool value_count(struct sample_column *c, const char *text, size_t length)
{
    uint32_t number = names_add(c->values, text, length);
    if (number == NAMES_NONE)
        return false;
    if (number >= c->count_capacity) {
        size_t capacity = 2 * c->count_capacity + 16;
        uint32_t *count = realloc(c->count, capacity * sizeof *count);
        if (!count)
            return false;
        memset(count + c->count_capacity, 0, (capacity - c->count_capacity) * sizeof *count);
        c->count = count;
        c->count_capacity = capacity;
    }
    c->count[number]++;
    return true;
}

static void number_look(struct sample_column *c, const char *text, size_t length)
{
    double value = 0, comma = 0;
    bool plain = cell_number(text, length, '.', &value);
    bool with_comma = memchr(text, ',', length) && cell_number(text, length, ',', &comma);
    c->numbers += plain;
    c->commas += with_comma;
    c->integers += plain && value == floor(value);
    c->codes += is_code(text, length) && plain;
    if (!plain)
        return;
    c->steps = c->steps && (c->numbers == 1 || value == c->last + 1);
    c->first = c->numbers == 1 ? value : c->first;
    c->last = value;
}

bool sample_cell(struct sample *s, size_t column, const char *text, size_t length)
{
    struct sample_column *c = &s->columns[column];
    struct schema_column *out = &s->schema->columns[column];
    int32_t day;
    double part;
    int hour;
    if (schema_is_missing(s->schema, out, text, length) || memchr(text, 0, length)) {
        c->missing++;
        return true;
    }
    size_t numbers = c->numbers;
    c->present++;
    number_look(c, text, length);
    bool odd = c->numbers == numbers;
    if (odd && cell_date(text, length, &day, &part, &hour)) {
        c->earliest = !c->dates || day < c->earliest ? day : c->earliest;
        c->dates++;
    }
    c->words += odd ? words_count(text, length) : 1;
    if (!out->example) {
        size_t cut = length < EXAMPLE_BYTES ? length : EXAMPLE_BYTES;
        while (cut < length && cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
            cut--; /* not within a character */
        out->example = strndup(text, cut);
    }
    if (odd && names_count(c->odd) <= ODD_SPELLINGS && names_add(c->odd, text, length) == NAMES_NONE)
        return false;
    return value_count(c, text, length);
}

/* --- what the user says --- */

__attribute__((format(printf, 3, 4))) static void role_set(struct schema_column *c, enum role role, const char *why,
                                                           ...)
{
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(c->why, sizeof c->why, why, arguments);
    va_end(arguments);
    c->role = role;
}

static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b);
    if (n > 62)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = corner + (tolower((unsigned char)*a) != tolower((unsigned char)b[j - 1]));
            corner = row[j];
            row[j] = row[j] + 1 < change ? row[j] + 1 : change;
            row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
        }
    }
    return row[n];
}

static hunch_status column_unknown(const struct schema *s, const char *name, const char *option, hunch_error *reterr)
{
    const char *near = NULL;
    size_t best = strlen(name) / 3 + 1;
    for (size_t i = 0; i < s->n; i++) {
        size_t d = distance(name, s->columns[i].name);
        if (d <= best && (!near || d < best)) {
            near = s->columns[i].name;
            best = d;
        }
    }
    if (near)
        return error_set(reterr, HUNCH_EINVAL, "--%s: there is no column '%s'; did you mean '%s'?", option,
                         quote(name, strlen(name)).text, near);
    return error_set(reterr, HUNCH_EINVAL, "--%s: there is no column '%s'", option, quote(name, strlen(name)).text);
}

/* By name, by position, or by a pattern; false: there is none. */
static bool columns_match(struct schema *s, const char *item, enum role role, const char *option)
{
    struct schema_column *named = schema_find(s, item, strlen(item));
    bool found = named;
    char *end;
    unsigned long long position = strtoull(item, &end, 10);
    if (!named && isdigit((unsigned char)*item) && !*end && position >= 1 && position <= s->n)
        named = &s->columns[position - 1];
    if (named) {
        role_set(named, role, "--%s", option);
        named->given = true;
        return true;
    }
    for (size_t i = 0; strpbrk(item, "*?[") && i < s->n; i++)
        if (!fnmatch(item, s->columns[i].name, 0)) {
            role_set(&s->columns[i], role, "--%s", option);
            s->columns[i].given = found = true;
        }
    return found;
}

static hunch_status role_give(struct schema *s, const char *list, enum role role, const char *option,
                              hunch_error *reterr)
{
    if (!list || columns_match(s, list, role, option)) /* a name may hold a comma */
        return HUNCH_OK;
    char *copy = strdup(list), *rest = copy;
    hunch_status status = copy ? HUNCH_OK : error_memory(reterr);
    for (char *item; !status && (item = strsep(&rest, ","));)
        if (*item && !columns_match(s, item, role, option))
            status = column_unknown(s, item, option, reterr);
    free(copy);
    return status;
}

static hunch_status roles_give(struct schema *s, const struct schema_known *known, hunch_error *reterr)
{
    static const struct schema_options none = {0};
    const struct schema_options *o = known->options ? known->options : &none;
    const struct {
        const char *list;
        enum role role;
        const char *option;
    } given[] = {{o->number, ROLE_NUMBER, "number"},
                 {o->category, ROLE_CATEGORY, "category"},
                 {o->text, ROLE_TEXT, "text"},
                 {o->ignore, ROLE_IGNORE, "ignore"},
                 {known->label, ROLE_LABEL, "label-column"},
                 {o->label, ROLE_LABEL, "label"},
                 {o->shown, ROLE_SHOWN, "shown"},
                 {o->prob, ROLE_PROB, "prob"},
                 {o->right, ROLE_RIGHT, "right"}};
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < sizeof given / sizeof *given && !status; i++)
        status = role_give(s, given[i].list, given[i].role, given[i].option, reterr);
    return status;
}

/* --- what the cells suggest --- */

/* "id", "ticket_id", "ticketId", "uuid" */
static bool is_id_name(const char *name)
{
    size_t n = strlen(name);
    if (!strcasecmp(name, "id") || !strcasecmp(name, "uuid") || !strcasecmp(name, "guid") ||
        !strcasecmp(name, "index") || !strcasecmp(name, "key"))
        return true;
    if (n < 3 || strcasecmp(name + n - 2, "id") != 0)
        return false;
    return name[n - 3] == '_' || name[n - 3] == ' ' || name[n - 3] == '-' || name[n - 3] == '.' ||
           (name[n - 2] == 'I' && islower((unsigned char)name[n - 3])) || (n >= 4 && !strcasecmp(name + n - 4, "uuid"));
}

static bool is_unnamed(const char *name)
{
    return !strncmp(name, "Unnamed: ", 9) || !strncmp(name, "column", 6);
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
    if (whole && c->codes)
        role_set(out, ROLE_CATEGORY, "leading zeros");
    else if (whole && distinct && c->steps && (c->first == 0 || c->first == 1) && c->present > 1 && !c->missing &&
             (is_unnamed(out->name) || is_id_name(out->name)))
        role_set(out, ROLE_IGNORE, "row numbers");
    else if (whole && distinct && c->present > 1 && (is_id_name(out->name) || (c->steps && c->present >= ID_ROWS)))
        role_set(out, ROLE_IGNORE, "an id: every value differs");
    else if (whole && is_few(c))
        role_set(out, ROLE_CATEGORY, "%u different whole numbers", names_count(c->values));
    else
        role_set(out, ROLE_NUMBER, "%s", "");
}

static bool is_text(const struct sample_column *c)
{
    size_t distinct = names_count(c->values), n = c->present;
    return (c->words >= TEXT_WORDS * n && 2 * distinct > n) ||
           (2 * c->words >= 3 * n && 10 * distinct >= 9 * n && n >= ID_ROWS) || (c->words >= 8 * n && distinct > 20);
}

static void words_decide(struct schema_column *out, const struct sample_column *c)
{
    size_t distinct = names_count(c->values);
    if (is_text(c))
        role_set(out, ROLE_TEXT, "%s", "");
    else if (distinct == c->present && c->present > 1 && (is_id_name(out->name) || c->present >= ID_ROWS))
        role_set(out, ROLE_IGNORE, "an id: every value differs");
    else
        role_set(out, ROLE_CATEGORY, "%s", "");
}

static hunch_status column_decide(struct schema *s, size_t at, struct sample_column *c, hunch_error *reterr)
{
    struct schema_column *out = &s->columns[at];
    size_t odd = c->present - c->numbers;
    if (c->present == 0) {
        role_set(out, ROLE_IGNORE, "no values");
    } else if (c->numbers == c->present) {
        number_decide(out, c);
    } else if (s->point == ',' && c->commas && c->commas + c->integers >= c->present) {
        role_set(out, ROLE_NUMBER, "decimal comma");
    } else if (c->dates == c->present) {
        role_set(out, ROLE_DATE, "%s", "");
    } else if (c->present >= ODD_ROWS && odd * ODD_SHARE <= c->present && names_count(c->odd) <= ODD_SPELLINGS) {
        role_set(out, ROLE_NUMBER, "'%.40s' is taken as missing", names_text(c->odd, 0, NULL));
        out->missing = names_copy(c->odd);
        if (!out->missing)
            return error_memory(reterr);
    } else {
        words_decide(out, c);
    }
    out->origin = c->earliest;
    return HUNCH_OK;
}

/* A given role needs what goes with it. */
static void given_finish(struct schema_column *out, const struct sample_column *c)
{
    if (out->role == ROLE_DATE)
        out->origin = c->earliest;
    if (out->role == ROLE_NUMBER && c->present && c->dates == c->present) {
        out->role = ROLE_DATE;
        out->origin = c->earliest;
    }
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

/* --- the label --- */

static bool could_be_label(const struct sample *s, size_t at)
{
    const struct sample_column *c = &s->columns[at];
    size_t distinct = names_count(c->values);
    if (c->present == 0 || (c->numbers == c->present && c->integers < c->present && c->present >= ID_ROWS))
        return false;
    if (c->present >= ID_ROWS && (is_text(c) || c->dates == c->present))
        return false;
    return 2 * distinct <= c->present || c->present < ID_ROWS;
}

static struct schema_column *name_find(struct schema *s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < s->n; j++)
            if (!strcasecmp(s->columns[j].name, names[i]) && !s->columns[j].given)
                return &s->columns[j];
    return NULL;
}

#define NAME_FIND(schema, names) name_find(schema, names, sizeof names / sizeof *names)

static hunch_status label_decide(struct sample *s, const struct schema_known *known, hunch_error *reterr)
{
    static const char *const usual[] = {"label", "class", "y", "target", "labels", "outcome"};
    struct schema *schema = s->schema;
    if (schema_role(schema, ROLE_LABEL))
        return HUNCH_OK;
    struct schema_column *label = NAME_FIND(schema, usual);
    if (label) {
        role_set(label, ROLE_LABEL, "by its name");
        return HUNCH_OK;
    }
    size_t last = schema->n - 1;
    if (known->features && schema->columns[last].given)
        return HUNCH_OK; /* a feature that the model knows: these rows have no labels */
    while (last > 0 && s->columns[last].present == 0)
        last--; /* lines that end with a delimiter */
    if (!schema->columns[last].given && could_be_label(s, last))
        role_set(&schema->columns[last], ROLE_LABEL, "the last column");
    else if (!schema->columns[0].given && could_be_label(s, 0) && schema->columns[0].role != ROLE_IGNORE)
        role_set(&schema->columns[0], ROLE_LABEL, "the first column; the last one has too many values");
    else
        return error_set(reterr, HUNCH_EINVAL,
                         "which column has the labels? Neither the last nor the first one looks like it (--label)");
    return HUNCH_OK;
}

/* --- logs --- */

static void log_role(struct schema *s, enum role role, const char *const *names, size_t n)
{
    struct schema_column *c = schema_role(s, role) ? NULL : name_find(s, names, n);
    if (c) {
        role_set(c, role, "by its name");
        c->given = true;
    }
}

static hunch_status log_decide(struct sample *s, hunch_error *reterr)
{
    static const char *const shown[] = {"shown", "action", "arm", "label"},
                             *const prob[] = {"prob", "probability", "propensity"},
                             *const right[] = {"right", "was_right", "reward", "correct"},
                             *const truth[] = {"true_label", "truth", "label"}, *const x[] = {"x"},
                             *const other[] = {"round", "greedy", "note"};
    struct schema *schema = s->schema;
    log_role(schema, ROLE_SHOWN, shown, 4);
    log_role(schema, ROLE_PROB, prob, 3);
    log_role(schema, ROLE_RIGHT, right, 4);
    log_role(schema, ROLE_LABEL, truth, 3);
    for (size_t i = 0; i < 3; i++) {
        struct schema_column *c = name_find(schema, &other[i], 1);
        if (c) {
            role_set(c, ROLE_IGNORE, "of the log");
            c->given = true;
        }
    }
    if (!schema_role(schema, ROLE_SHOWN) || !schema_role(schema, ROLE_PROB) ||
        (!schema_role(schema, ROLE_RIGHT) && !schema_role(schema, ROLE_LABEL)))
        return error_set(
            reterr, HUNCH_EINVAL,
            "a log needs the columns shown (or label, action), prob (or probability, propensity), and right "
            "(or reward) or true_label; --shown, --prob and --right name others");
    log_role(schema, ROLE_FEATURES, x, 1);
    for (size_t i = 0; schema_role(schema, ROLE_FEATURES) && i < schema->n; i++)
        if (!schema->columns[i].given) {
            role_set(&schema->columns[i], ROLE_IGNORE, "there is a column x");
            schema->columns[i].given = true;
        }
    return HUNCH_OK;
}

/* --- the whole --- */

static hunch_status features_check(const struct schema *s, hunch_error *reterr)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->columns[i].role <= ROLE_DATE || s->columns[i].role == ROLE_FEATURES)
            return HUNCH_OK;
    return error_set(reterr, HUNCH_EINVAL,
                     "no feature is left: of %zu column%s none is a number, a category, a date or a text", s->n,
                     s->n == 1 ? "" : "s");
}

hunch_status sample_decide(struct sample *s, const struct schema_known *known, hunch_error *reterr)
{
    struct schema *schema = s->schema;
    hunch_status status = roles_give(schema, known, reterr);
    if (!status && known->log)
        status = log_decide(s, reterr);
    if (!status && known->features && names_count(known->features))
        features_decide(s, known->features);
    for (size_t i = 0; i < s->n && !status; i++)
        if (schema->columns[i].given)
            given_finish(&schema->columns[i], &s->columns[i]);
        else
            status = column_decide(schema, i, &s->columns[i], reterr);
    if (!status && !known->log)
        status = label_decide(s, known, reterr);
    return status ? status : features_check(schema, reterr);
}
