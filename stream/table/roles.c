/* SPDX-License-Identifier: BSD-3-Clause */
/* Roles that do not follow from the cells: given by the user, a log's, the label's. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/spell.h"
#include "table/sample.h"

/* --- what the user says --- */

void role_set(struct schema_column *c, enum role role, const char *why, ...)
{
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(c->why, sizeof c->why, why, arguments);
    va_end(arguments);
    c->role = role;
}

static hunch_status column_unknown(const struct schema *s, const char *name, const char *option, hunch_error *reterr)
{
    struct spell spell = spell_begin(name);
    for (size_t i = 0; i < s->n; i++)
        spell_try(&spell, s->columns[i].name);
    if (spell.best)
        return error_set(reterr, HUNCH_EINVAL, "--%s: there is no column '%s'; did you mean '%s'?", option,
                         quote(name, strlen(name)).text, spell.best);
    return error_set(reterr, HUNCH_EINVAL, "--%s: there is no column '%s'", option, quote(name, strlen(name)).text);
}

static hunch_status column_twice(const char *name, const char *option, hunch_error *reterr)
{
    return error_set(reterr, HUNCH_EINVAL, "--%s: the column '%s' is named twice", option,
                     quote(name, strlen(name)).text);
}

/* The columns by that name; else at that position, or that a pattern fits. false: out of memory. */
static bool columns_match(const struct schema *s, const char *item, struct names *found)
{
    char *end;
    unsigned long long position = strtoull(item, &end, 10);
    bool named = schema_find(s, item, strlen(item)), numbered = isdigit((unsigned char)*item) && !*end;
    for (size_t i = 0; i < s->n; i++) {
        const struct schema_column *c = &s->columns[i];
        bool fits = named      ? !strcmp(c->name, item)
                    : numbered ? position == i + 1
                               : strpbrk(item, "*?[") && !fnmatch(item, c->name, 0);
        if (fits && names_add(found, c->name, c->length) == NAMES_NONE)
            return false;
    }
    return true;
}

hunch_status columns_find(const struct schema *s, const char *list, const char *option, struct names **ret,
                          hunch_error *reterr)
{
    struct names *found = names_new();
    char *copy = strdup(list), *rest = copy;
    bool good = found && copy && columns_match(s, list, found); /* a name may hold a comma */
    hunch_status status = HUNCH_OK;
    for (char *item; good && !status && (names_count(found) == 0 || rest != copy) && (item = strsep(&rest, ","));) {
        uint32_t before = names_count(found);
        good = columns_match(s, item, found);
        if (*item && names_count(found) == before)
            status = schema_find(s, item, strlen(item)) ? column_twice(item, option, reterr)
                                                        : column_unknown(s, item, option, reterr);
    }
    free(copy);
    if (!good)
        status = error_memory(reterr);
    if (status)
        names_free(found);
    else
        *ret = found;
    return status;
}

static hunch_status role_give(struct schema *s, const char *list, enum role role, const char *option,
                              hunch_error *reterr)
{
    struct names *found = NULL;
    hunch_status status = list ? columns_find(s, list, option, &found, reterr) : HUNCH_OK;
    for (uint32_t i = 0; found && i < names_count(found); i++) {
        size_t length;
        const char *name = names_text(found, i, &length);
        struct schema_column *c = schema_find(s, name, length);
        role_set(c, role, "--%s", option);
        c->given = true;
    }
    names_free(found);
    return status;
}

hunch_status roles_give(struct schema *s, const struct schema_known *known, hunch_error *reterr)
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

/* --- the label --- */

#define LABEL_ROWS 10 /* rows that suffice to judge a column */
#define LABEL_VALUES                                                                                                   \
    20 /* different numbers with decimals that can be classes, or values of a column whose name says    \
                       * nothing that can be taken for classes although other columns could be the label */
#define LABEL_REPEATS 3 /* rows of each of many whole numbers, on average, that can be classes */
#define LABEL_SHOWN 3   /* candidates in the message */

static bool holds_amounts(const struct sample *s, size_t at)
{
    const struct sample_column *c = &s->columns[at];
    size_t distinct = names_count(c->values);
    bool amounts = c->present && (c->numbers == c->present || c->commas == c->present) && c->integers < c->present;
    return c->present >= LABEL_ROWS && amounts && (distinct > LABEL_VALUES || 4 * distinct > c->present);
}

/* Amounts, dates and texts are no classes. */
static bool holds_classes(const struct sample *s, size_t at)
{
    const struct sample_column *c = &s->columns[at];
    if (c->present < LABEL_ROWS)
        return c->present;
    return !sample_is_date(c) && !sample_is_text(c) && !holds_amounts(s, at);
}

static bool could_be_label(const struct sample *s, size_t at)
{
    const struct sample_column *c = &s->columns[at];
    bool real = c->numbers == c->present && c->integers < c->present;
    if (s->schema->columns[at].given || !holds_classes(s, at))
        return false;
    return c->present < LABEL_ROWS ||
           (2 * names_count(c->values) <= c->present && !real && 4 * c->present >= c->missing);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcasecmp(name, *names) != 0)
        names++;
    return *names;
}

static struct schema_column *name_find(struct schema *s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < s->n; j++)
            if (!strcasecmp(s->columns[j].name, names[i]) && !s->columns[j].given)
                return &s->columns[j];
    return NULL;
}

/* "target_class", "Outcome Variable", "targetClass": the word stands by itself in the name; last: at its end. */
static bool has_word(const char *name, const char *const *words, bool last)
{
    for (; *words; words++) {
        size_t n = strlen(*words);
        for (const char *at = name; (at = strcasestr(at, *words)); at++) {
            bool begins = at == name || !isalpha((unsigned char)at[-1]) ||
                          (isupper((unsigned char)*at) && islower((unsigned char)at[-1]));
            if (begins && !isalpha((unsigned char)at[n]) && (!last || !at[n]))
                return true;
        }
    }
    return false;
}

/* How much a name says that the column is the label: 0 nothing, SURE everything. */
enum { SURE = 4 };

static int name_says(const struct schema *s, const char *given)
{
    char name[64]; /* "Churn?", "*target": without what is neither letter nor digit around it */
    while (*given && (unsigned char)*given < 128 && !isalnum((unsigned char)*given))
        given++;
    size_t n = (size_t)snprintf(name, sizeof name, "%s", given);
    for (n = n < sizeof name ? n : sizeof name - 1;
         n && (unsigned char)name[n - 1] < 128 && !isalnum((unsigned char)name[n - 1]);)
        name[--n] = 0;
    static const char *const sure[] = {"label", "labels", "target", "y", NULL}, *const x[] = {"x", NULL},
                             *const usual[] = {"class",     "outcome",   "survived", "species",  "diagnosis",
                                               "category",  "sentiment", "churn",    "churned",  "exited",
                                               "attrition", "variety",   "result",   "decision", "is_spam",
                                               "spam",      "is_fraud",  "fraud",    "intent",   "topic",
                                               "diagnosed", "response",  "rating",   "quality",  "default",
                                               NULL},
                             *const words[] = {"label",     "target", "outcome", "class",    "sentiment", "category",
                                               "diagnosis", "churn",  "species", "survived", NULL},
                             *const parts[] = {"label", "target", "outcome", NULL};
    if (is_among(name, sure)) {
        bool plane = !strcasecmp(name, "y");
        for (size_t i = 0; i < s->n && plane; i++)
            if (is_among(s->columns[i].name, x))
                return 1; /* coordinates */
        return SURE;
    }
    return is_among(name, usual) || has_word(name, words, true) ? 3 : has_word(name, parts, false) ? 2 : 0;
}

/* The columns that could be the label, the most likely first; those with names that say nothing come last. */
struct candidates {
    size_t at[LABEL_SHOWN];
    int says[LABEL_SHOWN];
    size_t n; /* of them all */
};

static void candidate_add(struct candidates *list, const struct sample *s, size_t at, int says)
{
    size_t i = list->n < LABEL_SHOWN ? list->n : LABEL_SHOWN;
    size_t values = names_count(s->columns[at].values);
    while (i > 0 && (list->says[i - 1] < says ||
                     (list->says[i - 1] == says && values < names_count(s->columns[list->at[i - 1]].values)))) {
        i--;
        if (i + 1 < LABEL_SHOWN) {
            list->at[i + 1] = list->at[i];
            list->says[i + 1] = list->says[i];
        }
    }
    if (i < LABEL_SHOWN) {
        list->at[i] = at;
        list->says[i] = says;
    }
    list->n++;
}

static struct candidates candidates_find(const struct sample *s)
{
    struct candidates list = {.n = 0};
    for (size_t i = 0; i < s->n; i++) {
        const struct schema_column *c = &s->schema->columns[i];
        int says = c->given ? 0 : name_says(s->schema, c->name);
        if ((says == SURE && holds_classes(s, i)) || (could_be_label(s, i) && (says || c->role != ROLE_IGNORE)))
            candidate_add(&list, s, i, says);
    }
    return list;
}

static hunch_status label_unknown(const struct sample *s, const struct candidates *list, hunch_error *reterr)
{
    char text[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < list->n && i < LABEL_SHOWN; i++) {
        const struct schema_column *c = &s->schema->columns[list->at[i]];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s'%.24s' (%u classes)", i ? ", " : "",
                                 quote(c->name, c->length).text, names_count(s->columns[list->at[i]].values));
    }
    const struct schema_column *last = &s->schema->columns[s->n - 1];
    const struct sample_column *cells = &s->columns[s->n - 1];
    uint32_t numbers = names_count(cells->values);
    if (list->n && numbers > LABEL_VALUES && (cells->numbers == cells->present || cells->commas == cells->present))
        return error_set(reterr, HUNCH_EINVAL,
                         "cannot tell which column is the label: the last, '%.24s', has %u different numbers, but "
                         "hunch predicts classes; perhaps %s; name it with --label",
                         quote(last->name, last->length).text, numbers, text);
    if (list->n)
        return error_set(reterr, HUNCH_EINVAL,
                         "cannot tell which column is the label: perhaps %s; name it with --label", text);
    return error_set(
        reterr, HUNCH_EINVAL,
        "cannot tell which column is the label: all are numeric, dates, texts or have too many values; name it with --label");
}

static hunch_status amounts_refuse(const struct sample *s, size_t at, hunch_error *reterr)
{
    const struct schema_column *c = &s->schema->columns[at];
    return error_set(reterr, HUNCH_EINVAL,
                     "the label '%s' is numeric (%u different numbers), but hunch predicts classes; divide it into "
                     "ranges or name another column with --label",
                     quote(c->name, c->length).text, names_count(s->columns[at].values));
}

/* A column of amounts that is called label, or is given as such: these data are for regression. */
static hunch_status amounts_check(const struct sample *s, const struct candidates *list, hunch_error *reterr)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct schema_column *c = &s->schema->columns[i];
        bool named = !c->given && name_says(s->schema, c->name) == SURE && !(list->n && list->says[0] >= 3);
        if ((c->role == ROLE_LABEL || named) && holds_amounts(s, i))
            return amounts_refuse(s, i, reterr);
    }
    return HUNCH_OK;
}

/* Whole numbers of which each comes but once or twice are rather counts or amounts than classes; --label tells. */
static hunch_status counts_refuse(const struct sample *s, size_t at, hunch_error *reterr)
{
    const struct sample_column *c = &s->columns[at];
    size_t distinct = names_count(c->values);
    if (c->integers < c->present || distinct <= LABEL_VALUES || LABEL_REPEATS * distinct <= c->present)
        return HUNCH_OK;
    return error_set(reterr, HUNCH_EINVAL,
                     "the column '%s' holds %zu different whole numbers in %zu rows: if they are amounts, make ranges "
                     "of them, for hunch learns classes; if they are classes, name it with --label",
                     quote(s->schema->columns[at].name, s->schema->columns[at].length).text, distinct, c->present);
}

/* Where no name says it: the last column, else the first, unless others are as likely. */
static struct schema_column *label_by_position(const struct sample *s, const struct candidates *list,
                                               const char **ret_why)
{
    struct schema *schema = s->schema;
    size_t last = schema->n - 1;
    while (last > 0 && s->columns[last].present == 0)
        last--; /* lines that end with a delimiter */
    bool few = names_count(s->columns[last].values) <= LABEL_VALUES || list->n <= 1 || !schema->header;
    *ret_why = "the last column";
    if (could_be_label(s, last))
        return few ? &schema->columns[last] : NULL;
    *ret_why = "the first column; the last one holds no classes";
    if (could_be_label(s, 0) && schema->columns[0].role != ROLE_IGNORE && (list->n == 1 || !schema->header))
        return &schema->columns[0];
    *ret_why = "no other column could be";
    return list->n == 1 ? &schema->columns[list->at[0]] : NULL;
}

/* One name that says more than the others; of equals the last column. */
static struct schema_column *label_by_name(const struct sample *s, const struct candidates *list)
{
    size_t last = s->schema->n - 1;
    if (!list->n || !list->says[0])
        return NULL;
    for (size_t i = 0; i < list->n && i < LABEL_SHOWN && list->says[i] == list->says[0]; i++)
        if (list->at[i] == last)
            return &s->schema->columns[last];
    bool alone = list->n == 1 || list->says[1] < list->says[0] || list->says[0] == SURE;
    return alone ? &s->schema->columns[list->at[0]] : NULL;
}

hunch_status label_decide(struct sample *s, const struct schema_known *known, hunch_error *reterr)
{
    struct schema *schema = s->schema;
    struct candidates list = candidates_find(s);
    const char *why = "by its name";
    hunch_status status = amounts_check(s, &list, reterr);
    if (status || schema_role(schema, ROLE_LABEL))
        return status;
    struct schema_column *label = label_by_name(s, &list);
    if (!label && known->features && schema->columns[schema->n - 1].given)
        return HUNCH_OK; /* a feature that the model knows: these rows have no labels */
    if (!label && !(list.n && list.says[0]))
        label = label_by_position(s, &list, &why);
    if (!label)
        return label_unknown(s, &list, reterr);
    status = counts_refuse(s, (size_t)(label - schema->columns), reterr);
    if (status)
        return status;
    role_set(label, ROLE_LABEL, "%s", why);
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

hunch_status log_decide(struct sample *s, hunch_error *reterr)
{
    static const char *const shown[] = {"shown", "action", "arm", "label"},
                             *const prob[] = {"prob", "probability", "propensity", "pscore"},
                             *const right[] = {"right", "was_right", "reward", "correct", "clicked", "click"},
                             *const truth[] = {"true_label", "truth", "label"}, *const x[] = {"x"},
                             *const other[] = {"round", "greedy", "note"};
    struct schema *schema = s->schema;
    log_role(schema, ROLE_SHOWN, shown, 4);
    log_role(schema, ROLE_PROB, prob, 4);
    log_role(schema, ROLE_RIGHT, right, 6);
    log_role(schema, ROLE_LABEL, truth, 3);
    for (size_t i = 0; i < 3; i++) {
        struct schema_column *c = name_find(schema, &other[i], 1);
        if (c) {
            role_set(c, ROLE_IGNORE, "of the log");
            c->given = true;
        }
    }
    if (!schema_role(schema, ROLE_SHOWN) || (!schema_role(schema, ROLE_RIGHT) && !schema_role(schema, ROLE_LABEL)))
        return error_set(
            reterr, HUNCH_EINVAL,
            "a log needs the columns shown (or label, action) and right (or reward) or true_label, and prob (or "
            "probability, propensity) if it is known; --shown, --prob and --right name others");
    log_role(schema, ROLE_FEATURES, x, 1);
    for (size_t i = 0; schema_role(schema, ROLE_FEATURES) && i < schema->n; i++)
        if (!schema->columns[i].given) {
            role_set(&schema->columns[i], ROLE_IGNORE, "there is a column x");
            schema->columns[i].given = true;
        }
    return HUNCH_OK;
}
