/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch learners: the table of algorithms and their settings, as the library tells them. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "options.h"

enum form { FORM_TEXT, FORM_JSON, FORM_MARKDOWN, FORM_NAMES };

struct command {
    enum form form;
};

static const struct command_text help = {
    .usage = "hunch learners [OPTION ...] [NAME ...]",
    .about = "List the learners, or the settings of those named.",
    .examples = "hunch learners\n"
                "hunch learners confidit\n"
                "hunch learners --json soba",
};

static const struct cli_option option_table[] = {
    {"json", 0, NULL, NULL, "print JSON", TO_SET(struct command, form, FORM_JSON)},
    {"markdown", 0, NULL, NULL, "print Markdown tables", TO_SET(struct command, form, FORM_MARKDOWN)},
    {"names", 0, NULL, NULL, "print only the names of the learners or, with NAME, of its settings",
     TO_SET(struct command, form, FORM_NAMES)},
    {0}};

static const hunch_algorithm *learner_find(const char *name)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

static const char *information(const hunch_algorithm *a)
{
    return a->full_information ? "full" : "bandit";
}

static const char *kind_name(const hunch_setting *s)
{
    static const char *const names[] = {"number", "whole number", "choice", "text"};
    return names[s->kind];
}

/* "0 .. 1", "first, random", "auto or 0 .. 1" */
static void domain_print(FILE *out, const hunch_setting *s)
{
    for (int i = 0; s->choices && s->choices[i]; i++)
        fprintf(out, "%s%s", i ? ", " : "", s->choices[i]);
    if (s->kind == HUNCH_REAL || s->kind == HUNCH_INTEGER)
        fprintf(out, "%s%g .. %g", s->choices ? " or " : "", s->low, s->high);
    if (s->kind == HUNCH_TEXT)
        fputs("text", out);
}

/* --- for people --- */

static void settings_print(const hunch_setting *s)
{
    for (; s->name; s++) {
        printf("  %-14s %s\n  %-14s default %s; ", s->name, s->help, "", s->fallback);
        domain_print(stdout, s);
        putchar('\n');
    }
}

static void learner_print(const hunch_algorithm *a)
{
    printf("%s: %s\n", a->name, a->title);
    printf("learns from %s\n", a->full_information ? "the true label" : "right or wrong");
    printf("paper: %s\n", a->paper);
    printf("\nSettings:%s\n", a->settings[0].name ? "" : " none of its own");
    settings_print(a->settings);
    puts("\nSettings of every learner:");
    settings_print(hunch_common_settings());
}

/* The first author and the year of the first paper, so that a row fits in 100 columns; hunch learners NAME has them all. */
static void paper_shorten(const char *paper, char *ret, size_t size)
{
    size_t author = strcspn(paper, ",;"), digits = strcspn(paper, "0123456789");
    const char *more = strstr(paper, " et al."), *other = strstr(paper, " and ");
    if (more && more < paper + author)
        author = (size_t)(more - paper);
    if (other && other < paper + author)
        author = (size_t)(other - paper);
    if (paper[digits])
        snprintf(ret, size, "%.*s%s %.4s", (int)(author < digits ? author : digits - 1), paper,
                 author < digits ? " et al." : "", paper + digits);
    else
        snprintf(ret, size, "%s", paper);
}

static void table_print(void)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    printf("%-18s  %-6s  %-46s  %s\n", "name", "learns", "title", "paper");
    for (size_t i = 0; i < n; i++) {
        char paper[32];
        paper_shorten(all[i]->paper, paper, sizeof paper);
        printf("%-18s  %-6s  %-46s  %s\n", all[i]->name, information(all[i]), all[i]->title, paper);
    }
    printf("\nbandit: from right/wrong feedback; full: from the true label. The default is %s.\n"
           "'hunch learners NAME' shows the settings of a learner.\n",
           hunch_default_learner());
}

/* --- Markdown --- */

static void settings_markdown(const hunch_setting *s)
{
    for (; s->name; s++) {
        printf("| `%s` | `%s` | ", s->name, s->fallback);
        domain_print(stdout, s);
        printf(" | %s |\n", s->help);
    }
}

static void learner_markdown(const hunch_algorithm *a)
{
    puts("| setting | default | values | meaning |\n|---|---|---|---|");
    settings_markdown(a->settings);
    settings_markdown(hunch_common_settings());
}

static void table_markdown(void)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    puts("| learner | learns from | title | paper |\n|---|---|---|---|");
    for (size_t i = 0; i < n; i++)
        printf("| `%s` | %s | %s | %s |\n", all[i]->name, information(all[i]), all[i]->title, all[i]->paper);
}

/* --- JSON --- */

static json_t *setting_json(const hunch_setting *s)
{
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "name", s->name, "kind", kind_name(s), "default", s->fallback,
                               "help", s->help);
    if (s->kind == HUNCH_REAL || s->kind == HUNCH_INTEGER) {
        json_object_set_new(object, "low", json_real(s->low));
        json_object_set_new(object, "high", json_real(s->high));
    }
    if (s->choices) {
        json_t *choices = json_array();
        for (int i = 0; s->choices[i]; i++)
            json_array_append_new(choices, json_string(s->choices[i]));
        json_object_set_new(object, "choices", choices);
    }
    return object;
}

static json_t *learner_json(const hunch_algorithm *a)
{
    json_t *settings = json_array();
    for (const hunch_setting *s = a->settings; s->name; s++)
        json_array_append_new(settings, setting_json(s));
    for (const hunch_setting *s = hunch_common_settings(); s->name; s++)
        json_array_append_new(settings, setting_json(s));
    return json_pack("{s:s, s:s, s:s, s:s, s:b, s:o}", "name", a->name, "title", a->title, "paper", a->paper,
                     "information", information(a), "default", !strcmp(a->name, hunch_default_learner()), "settings",
                     settings);
}

static int json_print(const hunch_algorithm *const *all, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, learner_json(all[i]));
    return cli_json(array, JSON_INDENT(2));
}

/* --- names, for completion --- */

static void settings_names(const hunch_setting *s)
{
    for (; s->name; s++)
        puts(s->name);
}

static int everything_print(enum form form)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    if (form == FORM_JSON)
        return json_print(all, n);
    if (form == FORM_TEXT)
        table_print();
    else if (form == FORM_MARKDOWN)
        table_markdown();
    else
        for (size_t i = 0; i < n; i++)
            puts(all[i]->name);
    return EXIT_DONE;
}

static int named_print(enum form form, const hunch_algorithm *const *chosen, size_t n)
{
    if (form == FORM_JSON)
        return json_print(chosen, n);
    for (size_t i = 0; i < n; i++) {
        if (i && form != FORM_NAMES)
            putchar('\n');
        if (form == FORM_TEXT) {
            learner_print(chosen[i]);
        } else if (form == FORM_MARKDOWN) {
            learner_markdown(chosen[i]);
        } else {
            settings_names(chosen[i]->settings);
            settings_names(hunch_common_settings());
        }
    }
    return EXIT_DONE;
}

static int learner_unknown(const char *name)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    const char **names = cli_alloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = all[i]->name;
    int code = cli_unknown("learner", name, names, n, "'hunch learners' lists them");
    free(names);
    return code;
}

int cmd_learners(int argc, char **argv)
{
    struct command c = {.form = FORM_TEXT};
    int code = options_parse(&help, (struct option_group[]){{NULL, option_table, &c}, {0}}, argc, argv);
    if (code >= 0)
        return code;
    if (optind == argc)
        return everything_print(c.form);
    const hunch_algorithm **chosen = cli_alloc((size_t)(argc - optind), sizeof *chosen);
    code = EXIT_DONE;
    for (int i = optind; i < argc && !code; i++) {
        chosen[i - optind] = learner_find(argv[i]);
        if (!chosen[i - optind])
            code = learner_unknown(argv[i]);
    }
    if (!code)
        code = named_print(c.form, chosen, (size_t)(argc - optind));
    free(chosen);
    return code;
}
