/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/spell.h"
#include "cli.h"

#define LINE 80 /* of --help, in characters */
#define COLUMN 24
#define TITLE_COLUMN 12 /* of the names in the short form */
#define SHORT_EXAMPLES 2
#define OPTIONS_MAX 64 /* of a command */

static const struct cli_option help_row = {"help", 'h', NULL, NULL, "this text", {0}};

/* --- values --- */

static void field_set(const struct cli_option *o, void *field, uint64_t number)
{
    if (o->value.size == sizeof(bool))
        *(bool *)field = number != 0;
    else if (o->value.size == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t)number;
    else
        *(uint64_t *)field = number;
}

static bool real_take(const struct cli_option *o, const char *text, double *ret)
{
    double number;
    if (!number_is(text, &number) || !(number >= o->value.low && number <= o->value.high)) {
        cli_fail(EXIT_USAGE, "--%s=%s: must be a number from %g to %g", o->name, text, o->value.low, o->value.high);
        return false;
    }
    *ret = number;
    return true;
}

static bool value_take(const struct cli_option *o, void *at, const char *text)
{
    const struct option_value *v = &o->value;
    char *field = (char *)at + v->offset;
    uint64_t number;
    int word;
    switch (v->kind) {
    case OPTION_TEXT:
        *(const char **)(void *)field = text;
        return true;
    case OPTION_SET:
        field_set(o, field, (uint64_t)v->low);
        return true;
    case OPTION_WORD:
        word = cli_word(o->name, text, v->words);
        if (word >= 0)
            field_set(o, field, (uint64_t)(word + (int)v->low));
        return word >= 0;
    case OPTION_NUMBER:
        /* (double)UINT64_MAX is one more than fits */
        if (!cli_number(o->name, text, (uint64_t)v->low, v->high < 0x1p64 ? (uint64_t)v->high : UINT64_MAX, &number))
            return false;
        field_set(o, field, number);
        return true;
    case OPTION_REAL:
        return real_take(o, text, (double *)(void *)field);
    default:
        return v->take(at, text);
    }
}

/* --- help --- */

/* text in lines that end before LINE; the first begins at column at, the others at column indent. */
static void text_wrap(const char *text, int at, int indent)
{
    for (bool first = true; *text; first = false) {
        int length = (int)strcspn(text, " ");
        if (!first && at + 1 + length > LINE) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        printf("%.*s", length, text);
        at += length;
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

/* brief: the first clause of the description only. */
static void row_print(const struct cli_option *o, bool brief)
{
    char head[64], text[1024];
    const char letter[] = {'-', o->letter, ',', '\0'};
    int length = snprintf(head, sizeof head, "  %3s --%s%s%s", o->letter ? letter : "", o->name, o->argument ? " " : "",
                          o->argument ? o->argument : "");
    int clause = (int)(brief ? strcspn(o->help, ";") : strlen(o->help));
    snprintf(text, sizeof text, o->fallback ? "%.*s (default %s)" : "%.*s", clause, o->help, o->fallback);
    if (length + 2 > COLUMN) {
        puts(head);
        length = printf("%*s", COLUMN, "");
    } else {
        length = printf("%-*s", COLUMN, head);
    }
    text_wrap(text, length, COLUMN);
}

/* --help stands at the end of the first title's options. */
static bool help_after(const struct option_group *groups, const struct option_group *g)
{
    for (const struct option_group *before = groups; before <= g; before++)
        if (before > groups && before->title)
            return false;
    return !g[1].rows || g[1].title;
}

static void examples_print(const char *line, int most)
{
    printf("\nExamples:\n");
    for (int i = 0; *line && i < most; i++) {
        int length = (int)strcspn(line, "\n");
        printf("  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

/* All options with their descriptions. */
static void options_print(const struct command_text *text, const struct option_group *groups)
{
    puts("\nOptions:");
    for (const struct option_group *g = groups; g->rows; g++) {
        if (g->title)
            printf("\n%s:\n", g->title);
        for (const struct cli_option *o = g->rows; o->name; o++)
            row_print(o, false);
        if (help_after(groups, g))
            row_print(&help_row, false);
    }
    if (text->notes)
        printf("\n%s\n", text->notes);
}

static const struct cli_option *option_find(const struct option_group *groups, const char *name, size_t length)
{
    for (const struct option_group *g = groups; g->rows; g++)
        for (const struct cli_option *o = g->rows; o->name; o++)
            if (strlen(o->name) == length && !strncmp(o->name, name, length))
                return o;
    return NULL;
}

/* The most used options with their descriptions, then the names of all, so that it fits one screen. */
static void options_summarize(const char *command, const struct command_text *text, const struct option_group *groups)
{
    puts("\nMost used options:");
    for (const char *name = text->common; *name;) {
        size_t length = strcspn(name, " ");
        const struct cli_option *o = option_find(groups, name, length);
        if (o)
            row_print(o, true);
        name += length + (name[length] == ' ');
    }
    printf("\nAll options ('hunch %s --help=all' describes them, --help=NAME one):\n", command);
    for (const struct option_group *g = groups; g->rows;) {
        const char *title = g->title ? g->title : "General";
        char names[2048] = "";
        size_t n = 0;
        do {
            for (const struct cli_option *o = g->rows; o->name && n < sizeof names; o++)
                n += (size_t)snprintf(names + n, sizeof names - n, "%s--%s", n ? " " : "", o->name);
        } while ((++g)->rows && !g->title);
        text_wrap(names, printf("  %-*.*s", TITLE_COLUMN - 2, (int)strcspn(title, "("), title), TITLE_COLUMN);
    }
}

/* what: NULL for one screen; all; or the name of an option. */
static int help_print(const char *command, const struct command_text *text, const struct option_group *groups,
                      const char *what)
{
    const struct cli_option *o = what ? option_find(groups, what, strlen(what)) : NULL;
    if (what && !o && strcmp(what, "all") != 0)
        return cli_usage(command, "--help=%s: there is no option --%s", what, what);
    if (o) {
        row_print(o, false);
        return EXIT_DONE;
    }
    printf("Usage: %s\n%s\n", text->usage, text->about);
    if (text->lists) {
        putchar('\n');
        text->lists(what != NULL);
    }
    bool brief = text->common && !what;
    if (brief)
        options_summarize(command, text, groups);
    else
        options_print(text, groups);
    examples_print(text->examples, brief ? SHORT_EXAMPLES : INT_MAX);
    return EXIT_DONE;
}

static void row_table(const char *title, const struct cli_option *o)
{
    printf("%.*s\t%.1s\t%s\t%s\t", (int)strcspn(title, "("), title, &o->letter, o->name,
           o->argument ? o->argument : "");
    for (size_t i = 0; o->value.words && o->value.words[i]; i++)
        printf("%s%s", i ? "," : "", o->value.words[i]);
    printf("\t%s\t%s\n", o->fallback ? o->fallback : "", o->help);
}

/* For programs: tab-separated group, letter, name, argument, words, default, help. */
static void table_print(const struct option_group *groups)
{
    const char *title = "Options";
    for (const struct option_group *g = groups; g->rows; g++) {
        title = g->title ? g->title : title;
        for (const struct cli_option *o = g->rows; o->name; o++)
            row_table(title, o);
        if (help_after(groups, g))
            row_table(title, &help_row);
    }
}

/* --- parsing --- */

/* What getopt wants, and whose option each of its answers is. */
struct parser {
    struct option known[OPTIONS_MAX + 1];
    char letters[2 * OPTIONS_MAX + 2];
    const struct cli_option *rows[OPTIONS_MAX];
    void *at[OPTIONS_MAX];
    int n;
};

static void parser_add(struct parser *p, const struct cli_option *o, void *at)
{
    if (p->n == OPTIONS_MAX)
        abort(); /* a table grew: so must OPTIONS_MAX */
    p->known[p->n] = (struct option){o->name, o->argument ? required_argument : no_argument, NULL, CLI_OWN + p->n};
    size_t length = strlen(p->letters);
    if (o->letter)
        snprintf(p->letters + length, sizeof p->letters - length, "%c%s", o->letter, o->argument ? ":" : "");
    p->rows[p->n] = o;
    p->at[p->n++] = at;
}

static int parser_find(const struct parser *p, int answer)
{
    for (int i = 0; answer < CLI_OWN && i < p->n; i++)
        if (p->rows[i]->letter == answer)
            return i;
    return answer - CLI_OWN;
}

/* What a long option that getopt does not know was meant to be. */
static void option_suggest(const struct parser *p, const char *argument)
{
    char name[64];
    if (optopt || strncmp(argument, "--", 2) != 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
    struct spell spell = spell_begin(name);
    for (int i = 0; i < p->n; i++)
        spell_try(&spell, p->rows[i]->name);
    if (spell.best && strncmp(spell.best, name, strlen(name)) != 0) /* of several that begin so, getopt has told */
        fprintf(stderr, "hunch: did you mean '--%s'?\n", spell.best);
}

static int parser_run(struct parser *p, const struct command_text *text, const struct option_group *groups, int argc,
                      char **argv)
{
    optind = 0; /* another command may have used getopt before */
    for (int answer; (answer = cli_getopt(argc, argv, p->letters, p->known)) != -1;) {
        if (answer == '?') {
            option_suggest(p, argv[optind - 1]);
            return cli_bad_option(argv[0]);
        }
        int i = parser_find(p, answer);
        if (p->rows[i] == &help_row) {
            if (!optarg || strcmp(optarg, "options") != 0)
                return help_print(argv[0], text, groups, optarg);
            table_print(groups);
            return EXIT_DONE;
        }
        if (!value_take(p->rows[i], p->at[i], optarg))
            return cli_bad_option(argv[0]);
    }
    return -1;
}

int options_parse(const struct command_text *text, const struct option_group *groups, int argc, char **argv)
{
    struct parser p = {0};
    for (const struct option_group *g = groups; g->rows; g++)
        for (const struct cli_option *o = g->rows; o->name; o++) {
            parser_add(&p, o, g->at);
            if (o->fallback && !value_take(o, g->at, o->fallback))
                return EXIT_USAGE;
        }
    parser_add(&p, &help_row, NULL);
    p.known[p.n - 1].has_arg = optional_argument;
    return parser_run(&p, text, groups, argc, argv);
}
