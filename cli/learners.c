/* SPDX-License-Identifier: BSD-3-Clause */
#include "learners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli.h"

void learners_add(struct learners *l, const char *text)
{
    char *copy = strdup(text);
    if (!copy || !array_resize(&l->texts, l->n + 1, sizeof *l->texts))
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    l->texts[l->n++] = copy;
}

static bool learner_take(void *learners, const char *text)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    if (strcmp(text, "all"))
        learners_add(learners, text);
    else
        for (size_t i = 0; i < n; i++)
            learners_add(learners, all[i]->name);
    return true;
}

const struct cli_option learners_options[] = {
    {"learner", 'l', "SPEC", NULL,
     "a learner: name or name:setting=value,... (see 'hunch learners'); may be given several times; 'all' is every "
     "learner",
     TO_CALL(learner_take)},
    {"ties", 0, "T", NULL,
     "first or random; this and the next two hold for every learner that does not set them itself",
     TO_TEXT(struct learners, ties)},
    {"normalize", 0, "N", NULL, "none, or l2: scale every example to length 1", TO_TEXT(struct learners, normalize)},
    {"bias", 0, "V", NULL, "add a constant feature of this value", TO_TEXT(struct learners, bias)},
    {0}};

/* --ties, --normalize and --bias as one list of settings. */
static char *extra_make(const struct learners *l)
{
    char *text;
    if (asprintf(&text, "%s%s%s%s%s%s", l->ties ? ",ties=" : "", l->ties ? l->ties : "",
                 l->normalize ? ",normalize=" : "", l->normalize ? l->normalize : "", l->bias ? ",bias=" : "",
                 l->bias ? l->bias : "") < 0)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    return text;
}

int learners_check(struct learners *l, const char *command)
{
    char *extra = extra_make(l);
    int code = -1;
    if (!l->n)
        learners_add(l, hunch_default_learner());
    l->grids = cli_alloc(l->n, sizeof *l->grids);
    for (size_t i = 0; i < l->n && code < 0; i++) {
        hunch_error error;
        hunch_status status = grid_parse(&l->grids[i], l->texts[i], *extra ? extra + 1 : NULL, &error);
        if (status == HUNCH_ENOMEM)
            code = cli_fail(EXIT_SYSTEM, "%s", error.message);
        else if (status)
            code = cli_usage(command, "%s", error.message);
    }
    free(extra);
    return code;
}

/* The settings that are worth trying, the most important first: how much to explore, how large steps are. */
static const struct {
    const char *name, *values;
} grids_usual[] = {{"gamma", "2^-9..2^-2"}, {"eta", "10^-3..10^1"}, {"q", "{0.001,0.01,0.1}"}, {"alpha", "10^-2..10^1"},
                   {"v", "10^-2..10^1"},    {"r", "10^-2..10^2"},   {"C", "10^-2..10^1"},      {"rate", "10^-2..10^1"}};

static const hunch_setting *setting_find(const char *learner, const char *name)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    for (size_t i = 0; i < n; i++)
        for (const hunch_setting *s = all[i]->settings; !strcmp(all[i]->name, learner) && s && s->name; s++)
            if (!strcmp(s->name, name) && s->kind == HUNCH_REAL)
                return s;
    return NULL;
}

void learners_widen(struct learners *l)
{
    for (size_t i = 0; i < l->n; i++)
        for (size_t j = 0; !strchr(l->texts[i], ':') && j < sizeof grids_usual / sizeof *grids_usual; j++) {
            char *wide;
            if (!setting_find(l->texts[i], grids_usual[j].name))
                continue;
            if (asprintf(&wide, "%s:%s=%s", l->texts[i], grids_usual[j].name, grids_usual[j].values) < 0)
                exit(cli_fail(EXIT_SYSTEM, "out of memory"));
            free(l->texts[i]);
            l->texts[i] = wide;
        }
}

void learners_free(struct learners *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->texts[i]);
        if (l->grids)
            grid_free(&l->grids[i]);
    }
    free(l->texts);
    free(l->grids);
}

/* A comma outside all brackets, or the end. */
static const char *setting_end(const char *text)
{
    int depth = 0;
    for (; *text && (depth > 0 || *text != ','); text++)
        depth += (*text == '[') - (*text == ']');
    return text;
}

char *learner_short_spec(const hunch *h)
{
    const char *name = hunch_algorithm_of(h)->name, *spec = hunch_spec(h);
    char *text = cli_alloc(strlen(spec) + 1, 1);
    strcpy(text, name);
    hunch *plain;
    hunch_error error;
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = name;
    options.classes = 2;
    if (hunch_create(&plain, &options, &error))
        exit(cli_fail(EXIT_SYSTEM, "%s", error.message));
    char before = ':';
    const char *given = spec + strcspn(spec, ":"), *usual = hunch_spec(plain) + strcspn(hunch_spec(plain), ":");
    while (*given++ && *usual++) { /* both have the same settings in the same order */
        size_t length = (size_t)(setting_end(given) - given), other = (size_t)(setting_end(usual) - usual);
        if (length != other || memcmp(given, usual, length)) {
            sprintf(text + strlen(text), "%c%.*s", before, (int)length, given);
            before = ',';
        }
        given += length;
        usual += other;
    }
    hunch_free(plain);
    return text;
}
