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
#include "sample.h"

/* --- what the user says --- */

void role_set(struct schema_column *c, enum role role, const char *why, ...)
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
            status = column_unknown(s, item, option, reterr);
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

#define LABEL_ROWS 10   /* rows that tell */
#define LABEL_VALUES 20 /* of numbers that are classes though they are not whole */

/* Amounts, dates and texts are no classes. */
static bool holds_classes(const struct sample *s, size_t at)
{
    const struct sample_column *c = &s->columns[at];
    size_t distinct = names_count(c->values);
    if (c->present < LABEL_ROWS)
        return c->present;
    bool amounts = (c->numbers == c->present || c->commas == c->present) && c->integers < c->present;
    return !sample_is_date(c) && !sample_is_text(c) &&
           !(amounts && (distinct > LABEL_VALUES || 4 * distinct > c->present));
}

static bool could_be_label(const struct sample *s, size_t at)
{
    const struct sample_column *c = &s->columns[at];
    bool real = c->numbers == c->present && c->integers < c->present;
    return !s->schema->columns[at].given && holds_classes(s, at) &&
           (c->present < LABEL_ROWS || (2 * names_count(c->values) <= c->present && !real));
}

static struct schema_column *name_find(struct schema *s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < s->n; j++)
            if (!strcasecmp(s->columns[j].name, names[i]) && !s->columns[j].given)
                return &s->columns[j];
    return NULL;
}

/* "target_class", "Outcome Variable": the word stands by itself in the name. */
static bool has_word(const char *name, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = name; (at = strcasestr(at, word)); at++)
        if ((at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[n]))
            return true;
    return false;
}

/* The first column in the order of the names that could be it; columns from the last one on, where names are alike. */
static struct schema_column *label_by_name(const struct sample *s)
{
    static const char *const sure[] = {"label", "class", "y", "target", "labels", "outcome"},
                             *const words[] = {"label", "target", "outcome"},
                             *const usual[] = {"survived", "species",  "diagnosis", "category",  "sentiment",
                                               "churn",    "churned",  "exited",    "attrition", "variety",
                                               "result",   "decision", "is_spam",   "spam",      "is_fraud",
                                               "fraud",    "intent",   "topic",     "diagnosed", "response",
                                               "rating",   "quality"};
    struct schema *schema = s->schema;
    struct schema_column *found = NULL;
    for (size_t i = 0; i < sizeof sure / sizeof *sure && !found; i++) {
        struct schema_column *c = name_find(schema, &sure[i], 1);
        found = c && holds_classes(s, (size_t)(c - schema->columns)) ? c : NULL;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words && !found; i++)
        for (size_t j = schema->n; j-- > 0 && !found;)
            found = has_word(schema->columns[j].name, words[i]) && could_be_label(s, j) ? &schema->columns[j] : NULL;
    for (size_t j = schema->n; j-- > 0 && !found;)
        for (size_t i = 0; i < sizeof usual / sizeof *usual && !found; i++)
            found = !strcasecmp(schema->columns[j].name, usual[i]) && could_be_label(s, j) ? &schema->columns[j] : NULL;
    return found;
}

static hunch_status label_unknown(const struct sample *s, hunch_error *reterr)
{
    char candidates[160] = "";
    size_t used = 0, n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (could_be_label(s, i) && used < sizeof candidates - 60) {
            struct quoted name = quote(s->schema->columns[i].name, s->schema->columns[i].length);
            used +=
                (size_t)snprintf(candidates + used, sizeof candidates - used, "%s'%.40s'", n++ ? ", " : "", name.text);
        }
    if (n)
        return error_set(reterr, HUNCH_EINVAL, "which column has the labels? %s could (--label)", candidates);
    return error_set(reterr, HUNCH_EINVAL,
                     "which column has the labels? All hold amounts, dates, texts or too many values (--label)");
}

hunch_status label_decide(struct sample *s, const struct schema_known *known, hunch_error *reterr)
{
    struct schema *schema = s->schema;
    if (schema_role(schema, ROLE_LABEL))
        return HUNCH_OK;
    struct schema_column *label = label_by_name(s), *columns = schema->columns;
    if (label) {
        role_set(label, ROLE_LABEL, "by its name");
        return HUNCH_OK;
    }
    size_t last = schema->n - 1, candidates = 0, candidate = 0;
    if (known->features && columns[last].given)
        return HUNCH_OK; /* a feature that the model knows: these rows have no labels */
    while (last > 0 && s->columns[last].present == 0)
        last--; /* lines that end with a delimiter */
    for (size_t i = 0; i < schema->n; i++)
        if (could_be_label(s, i) && columns[i].role != ROLE_IGNORE) {
            candidates++;
            candidate = i;
        }
    if (could_be_label(s, last))
        role_set(&columns[last], ROLE_LABEL, "the last column");
    else if (could_be_label(s, 0) && columns[0].role != ROLE_IGNORE)
        role_set(&columns[0], ROLE_LABEL, "the first column; the last one holds no classes");
    else if (candidates == 1)
        role_set(&columns[candidate], ROLE_LABEL, "no other column could be");
    else
        return label_unknown(s, reterr);
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
