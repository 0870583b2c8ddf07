/* SPDX-License-Identifier: BSD-3-Clause */
#include "paper/result.h"

#include <stdio.h>
#include <string.h>

const char *const verdict_words[] = {"",        "reproduced",       "better",          "worse",
                                     "differs", "order only",       "not comparable",  "as expected",
                                     "off",     "within the bound", "above the bound", "another spread",
                                     NULL};

/* --- as JSON --- */

#define STRUCT struct line_p
TYPE(p, "a comparison", NULL, TEXT(learner), REAL(p));
#undef STRUCT

static const struct line line_defaults = {.learner = "",
                                          .spec = "",
                                          .setting = "",
                                          .x = NAN,
                                          .tuning_error = NAN,
                                          .paper = NAN,
                                          .paper_sd = NAN,
                                          .expected = NAN,
                                          .difference = NAN,
                                          .tolerance = NAN,
                                          .power = NAN,
                                          .rate = NAN,
                                          .bytes = NAN,
                                          .balanced = NAN,
                                          .discovery = NAN};
#define STRUCT struct line
TYPE(line, "a line", &line_defaults, TEXT(learner), TEXT(spec), TEXT(setting), TEXT(form), REAL(mean), REAL(sd),
     COUNT(runs), REAL(greedy), REAL(explored), REAL(seconds), REAL(rate), REAL(bytes), REAL(balanced), REAL(discovery),
     FLAG(best), FLAG(edge), MARK(chosen), REAL(x), REAL(tuning_error), LIST(p, p_type), REAL(paper), REAL(paper_sd),
     TEXT(paper_mark), TEXT(paper_text), REAL(expected), REAL(difference), REAL(tolerance), REAL(power), MARK(spread),
     FIELD(WORD, verdict, NULL, verdict_words), TEXT(why), TEXT(mark));
#undef STRUCT

static const struct table table_defaults = {.data = "", .title = "", .tuning_seconds = NAN, .processor_seconds = NAN};
#define STRUCT struct table
TYPE(table, "a table", &table_defaults, TEXT(data), TEXT(title), COUNT(rows), COUNT(features), COUNT(classes),
     TEXT(checksum), COUNT(runs), MARK(folds), LIST(lines, line_type), TEXT(differs), TEXT(skipped),
     REAL(tuning_seconds), REAL(processor_seconds));
#undef STRUCT

#define STRUCT struct drawn
TYPE(drawn, "a figure", NULL, TEXT(id), TEXT(title), TEXT(data));
#undef STRUCT

#define STRUCT struct order_break
TYPE(break, "a break of the order", NULL, TEXT(lower), TEXT(higher), REAL(by));
#undef STRUCT
#define STRUCT struct order_setting
TYPE(setting, "a setting's order", NULL, TEXT(setting), LIST(breaks, break_type));
#undef STRUCT
#define STRUCT struct order_learner
TYPE(median, "a median", NULL, TEXT(learner), REAL(median));
#undef STRUCT
#define STRUCT struct result_order
TYPE(order, "an order", NULL, LIST(learners, median_type), FLAG(holds), LIST(settings, setting_type));
#undef STRUCT

static const struct growth growth_defaults = {.learner = "", .bound = NAN, .power = NAN, .logs = NAN};
#define STRUCT struct growth
TYPE(growth, "a growth", &growth_defaults, TEXT(learner), REAL(slope), REAL(error), REAL(power), REAL(logs),
     REAL(bound), FIELD(WORD, verdict, NULL, verdict_words));
#undef STRUCT

static const struct result result_defaults = {.id = "", .title = "", .paper = ""};
#define STRUCT struct result
TYPE(result, "an experiment's result", &result_defaults, TEXT(id), TEXT(title), TEXT(paper), TEXT(unit), FLAG(quick),
     LIST(tables, table_type), LIST(figures, drawn_type), TEXT(preparation), TEXT(test), TEXTS(notes), TEXT(layout),
     MARK(improves), COUNT(runs_made), COUNT(runs_wanted), OBJECT(order, order_type),
     FIELD(TALLY, verdicts, NULL, verdict_words), FIELD(WORD, verdict, NULL, verdict_words), REAL(seconds),
     REAL(processor_seconds), TEXT(command), TEXT(library), TEXT(growth_by), LIST(growth, growth_type));
#undef STRUCT

#define STRUCT struct results
TYPE(results, "results", NULL, TEXT(version), TEXT(library), TEXT(command), COUNT(cores), FLAG(quick),
     LIST(experiments, result_type), TEXT(note), REAL(seconds));
#undef STRUCT

json_t *results_encode(const struct results *results)
{
    return fields_write(&results_type, results);
}

struct line line_empty(const char *learner, const char *spec, const char *setting)
{
    struct line l = line_defaults;
    l.learner = learner;
    l.spec = spec;
    l.setting = setting;
    return l;
}

/* --- looking things up --- */

const char *result_unit(const struct result *r)
{
    return r->unit ? r->unit : "%";
}

void result_number(const struct result *r, double number, bool with_sign, char ret[32])
{
    int digits = !strcmp(result_unit(r), "%")        ? 2
                 : !strcmp(result_unit(r), "rate")   ? 4
                 : !strcmp(result_unit(r), "regret") ? 1
                                                     : 0;
    if (fabs(number) < pow(10, -digits) / 2)
        number = 0;
    snprintf(ret, 32, with_sign && number > 0 ? "+%.*f" : "%.*f", digits, number);
}

bool result_is_grid(const struct result *r)
{
    return r->layout && !strcmp(r->layout, "grid");
}

const struct line *table_best(const struct table *t, const char *learner)
{
    for (size_t i = 0; i < t->lines.n; i++)
        if (t->lines.item[i].best && !strcmp(t->lines.item[i].learner, learner))
            return &t->lines.item[i];
    return NULL;
}

const struct line *table_point(const struct table *t, const char *learner, size_t point)
{
    for (size_t i = 0; i < t->lines.n; i++)
        if (!strcmp(t->lines.item[i].learner, learner) && point-- == 0)
            return &t->lines.item[i];
    return NULL;
}

size_t tables_learners(const struct table *tables, size_t n, const char **ret, size_t room)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < tables[i].lines.n; j++) {
            struct texts known = {ret, count};
            if (count < room && !texts_have(&known, tables[i].lines.item[j].learner))
                ret[count++] = tables[i].lines.item[j].learner;
        }
    return count;
}

static size_t learner_points(const struct table *t, const char *learner)
{
    size_t n = 0;
    for (size_t i = 0; i < t->lines.n; i++)
        n += !strcmp(t->lines.item[i].learner, learner);
    return n;
}

size_t table_points(const struct table *t)
{
    size_t max = 0;
    for (size_t i = 0; i < t->lines.n; i++) {
        size_t n = learner_points(t, t->lines.item[i].learner);
        max = n > max ? n : max;
    }
    return max;
}

const char *table_setting(const struct table *t, size_t point)
{
    size_t points = table_points(t);
    for (size_t i = 0; i < t->lines.n; i++)
        if (learner_points(t, t->lines.item[i].learner) == points)
            return table_point(t, t->lines.item[i].learner, point)->setting;
    return "";
}

double growth_bound(const struct growth *g, double n)
{
    return pow(n, g->power) * pow(log(n), g->logs);
}

/* base^power, of which the power 1 is not written and the power 0 is nothing. */
static void power_words(char *ret, size_t size, const char *base, double power, const char *after)
{
    *ret = 0;
    if (power == 1)
        snprintf(ret, size, "%s%s", base, after);
    else if (power != 0)
        snprintf(ret, size, "%s^%.3g%s", base, power, after);
}

const char *growth_words(const struct growth *g, char ret[GROWTH_WORDS])
{
    char powers[24], logs[24];
    power_words(powers, sizeof powers, "n", g->power, "");
    power_words(logs, sizeof logs, "log", g->logs, " n");
    snprintf(ret, GROWTH_WORDS, "%s%s%s", *powers || *logs ? powers : "constant", *powers && *logs ? " " : "", logs);
    return ret;
}

size_t order_kept(const struct result_order *o)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->settings.n; i++)
        kept += !o->settings.item[i].breaks.n;
    return kept;
}
