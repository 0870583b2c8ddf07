/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "base/number.h"
#include "base/spell.h"
#include "features/map.h"
#include "state/table.h"

static const char *const ties_choices[] = {"first", "random", NULL};
static const char *const normalize_choices[] = {"none", "l2", NULL};

static const char *const scale_choices[] = {"none", "auto", NULL};
static const char *const map_choices[] = {"none", "fourier", "pairs", "auto", NULL}; /* as map.h numbers them */

const char *const params_auto[] = {"auto", NULL};

enum { TIES, NORMALIZE, BIAS, SCALE, MAP, FLOOR, COMMON };

const hunch_setting params_common[] = {
    SETTING_CHOICE("ties", "first", ties_choices,
                   "which of several largest scores wins: the first label or a random one"),
    SETTING_CHOICE("normalize", "none", normalize_choices, "l2: scale every example to length 1"),
    SETTING_REAL("bias", "0", -1e6, 1e6, "value of a constant feature added to every example; 0: none"),
    SETTING_CHOICE("scale", "none", scale_choices,
                   "auto: scale columns online and add a constant (the default of panel)"),
    SETTING_CHOICE(
        "map", "none", map_choices,
        "features derived from the scaled columns: Fourier features of numbers, pairs of 0/1 features, or (auto) "
        "what suits the first rows"),
    SETTING_REAL(
        "floor", "0", 0, 1,
        "fraction of rounds with a uniform label: every label has a probability of at least floor/K, so that logs "
        "allow off-policy estimates"),
    SETTINGS_END,
};

/* A number as people write it in a sweep: 0.05, 1e-3, 2^-6. */
static bool number_parse(const char *text, double *ret)
{
    double a, b = 1;
    const char *end = number_read(text, &a);
    if (end && *end == '^')
        end = number_read(end + 1, &b);
    if (!end || *end)
        return false;
    *ret = exact_pow(a, b);
    return isfinite(*ret);
}

static void choices_list(const char *const *choices, char *ret, size_t size)
{
    ret[0] = '\0';
    for (size_t used = 0; *choices && used < size; choices++)
        used += (size_t)snprintf(ret + used, size - used, "%s%s", used ? ", " : "", *choices);
}

static hunch_status value_parse(const hunch_setting *d, const char *text, union setting_value *ret, hunch_error *reterr)
{
    if (d->kind == HUNCH_CHOICE) {
        for (int i = 0; d->choices[i]; i++)
            if (!strcmp(d->choices[i], text)) {
                ret->choice = i;
                return HUNCH_OK;
            }
        char list[128];
        choices_list(d->choices, list, sizeof list);
        return error_set(reterr, HUNCH_EINVAL, "%s=%s: must be one of %s", d->name, text, list);
    }
    if (d->kind == HUNCH_TEXT) {
        char *copy = strdup(text);
        if (!copy)
            return error_set(reterr, HUNCH_ENOMEM, "out of memory");
        free(ret->text);
        ret->text = copy;
        return HUNCH_OK;
    }
    double number;
    if (d->choices && !strcmp(text, d->choices[0])) {
        ret->number = NAN;
        return HUNCH_OK;
    }
    if (!number_parse(text, &number))
        return error_set(reterr, HUNCH_EINVAL, "%s=%s: not a number", d->name, text);
    if (number < d->low || number > d->high)
        return error_set(reterr, HUNCH_EINVAL, "%s=%s: must lie between %g and %g", d->name, text, d->low, d->high);
    if (d->kind == HUNCH_INTEGER && number != floor(number))
        return error_set(reterr, HUNCH_EINVAL, "%s=%s: must be a whole number", d->name, text);
    ret->number = number;
    return HUNCH_OK;
}

static void common_get(const struct state *s, union setting_value values[COMMON])
{
    values[TIES].choice = s->ties_random;
    values[NORMALIZE].choice = s->normalize;
    values[BIAS].number = s->bias;
    values[SCALE].choice = s->scale;
    values[MAP].choice = s->map;
    values[FLOOR].number = s->floor;
}

static hunch_status setting_unknown(const struct state *s, const char *name, hunch_error *reterr)
{
    struct spell spell = spell_begin(name);
    for (int i = 0; s->algo->info.settings[i].name; i++)
        spell_try(&spell, s->algo->info.settings[i].name);
    for (int i = 0; params_common[i].name; i++)
        spell_try(&spell, params_common[i].name);
    if (spell.best)
        return error_set(reterr, HUNCH_EINVAL, "%s has no setting '%s'; did you mean '%s'?", s->algo->info.name, name,
                         spell.best);
    return error_set(reterr, HUNCH_EINVAL, "%s has no setting '%s'", s->algo->info.name, name);
}

static hunch_status setting_assign(struct state *s, const char *name, const char *text, hunch_error *reterr)
{
    for (int i = 0; s->algo->info.settings[i].name; i++)
        if (!strcmp(s->algo->info.settings[i].name, name))
            return value_parse(&s->algo->info.settings[i], text, &s->set[i], reterr);
    for (int i = 0; params_common[i].name; i++)
        if (!strcmp(params_common[i].name, name)) {
            union setting_value values[COMMON];
            common_get(s, values);
            hunch_status status = value_parse(&params_common[i], text, &values[i], reterr);
            if (status != HUNCH_OK)
                return status;
            // NOLINTBEGIN(clang-analyzer-unix.Malloc): no common setting is a text
            s->ties_random = values[TIES].choice;
            s->normalize = values[NORMALIZE].choice;
            s->bias = values[BIAS].number;
            s->scale = i == MAP ? s->scale || values[MAP].choice : values[SCALE].choice; /* maps need a scale */
            s->map = s->scale ? values[MAP].choice : MAP_NONE;
            s->floor = values[FLOOR].number;
            // NOLINTEND(clang-analyzer-unix.Malloc)
            return HUNCH_OK;
        }
    return setting_unknown(s, name, reterr);
}

/* The end of a value: the next comma that is not within brackets (which hold nested specs). */
static char *value_end(char *text)
{
    int depth = 0;
    for (; *text && (depth > 0 || *text != ','); text++)
        depth += (*text == '[') - (*text == ']');
    return text;
}

static hunch_status settings_parse(struct state *s, char *text, hunch_error *reterr)
{
    while (*text) {
        char *end = value_end(text), *equals = strchr(text, '=');
        bool more = *end == ',';
        *end = '\0';
        if (!equals || equals >= end || equals == text)
            return error_set(reterr, HUNCH_EINVAL, "'%s': expected setting=value", text);
        *equals = '\0';
        hunch_status status = setting_assign(s, text, equals + 1, reterr);
        if (status != HUNCH_OK)
            return status;
        text = end + more;
    }
    return HUNCH_OK;
}

static hunch_status defaults_assign(struct state *s, hunch_error *reterr)
{
    for (int i = 0; s->algo->info.settings[i].name; i++) {
        hunch_status status =
            value_parse(&s->algo->info.settings[i], s->algo->info.settings[i].fallback, &s->set[i], reterr);
        if (status != HUNCH_OK)
            return status;
    }
    s->scale = s->algo->scaled;
    s->map = s->algo->scaled ? MAP_AUTO : MAP_NONE;
    return HUNCH_OK;
}

static hunch_status learner_unknown(const char *name, hunch_error *reterr)
{
    const hunch_algorithm *const *all;
    size_t n = hunch_algorithms(&all);
    struct spell spell = spell_begin(name);
    for (size_t i = 0; i < n; i++)
        spell_try(&spell, all[i]->name);
    if (spell.best)
        return error_set(reterr, HUNCH_EINVAL, "no learner is called '%.100s'; did you mean '%s'?", name, spell.best);
    return error_set(reterr, HUNCH_EINVAL, "no learner is called '%.100s'", name);
}

hunch_status params_parse(struct state *s, const char *spec, hunch_error *reterr)
{
    char *copy = strdup(spec ? spec : hunch_default_learner());
    if (!copy)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    char *settings = copy + strcspn(copy, ":");
    if (*settings)
        *settings++ = '\0';
    hunch_status status;
    s->algo = table_find(copy);
    if (!s->algo) {
        status = learner_unknown(copy, reterr);
        goto out;
    }
    status = defaults_assign(s, reterr);
    if (status == HUNCH_OK)
        status = settings_parse(s, settings, reterr);
    if (status == HUNCH_OK && s->algo->check)
        status = s->algo->check(s, reterr);
    if (status != HUNCH_OK)
        params_clear(s);
out:
    free(copy);
    return status;
}

void params_clear(struct state *s)
{
    for (int i = 0; s->algo->info.settings[i].name; i++)
        if (s->algo->info.settings[i].kind == HUNCH_TEXT) {
            free(s->set[i].text);
            s->set[i].text = NULL;
        }
}

static void value_print(FILE *f, char before, const hunch_setting *d, const union setting_value *v)
{
    fprintf(f, "%c%s=", before, d->name);
    if (d->kind == HUNCH_CHOICE)
        fputs(d->choices[v->choice], f);
    else if (d->kind == HUNCH_TEXT)
        fputs(v->text, f);
    else if (isnan(v->number))
        fputs(d->choices[0], f);
    else {
        char text[NUMBER_TEXT];
        number_print(v->number, text);
        fputs(text, f);
    }
}

char *params_print(const struct state *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fputs(s->algo->info.name, f);
    char before = ':';
    for (int i = 0; s->algo->info.settings[i].name; i++, before = ',')
        value_print(f, before, &s->algo->info.settings[i], &s->set[i]);
    union setting_value values[COMMON];
    common_get(s, values);
    for (int i = 0; params_common[i].name; i++, before = ',')
        value_print(f, before, &params_common[i], &values[i]);
    bool failed = ferror(f);
    if (fclose(f) || failed) {
        free(text);
        return NULL;
    }
    return text;
}

double params_number(const struct state *s, const char *name)
{
    const hunch_setting *settings = s->algo->info.settings;
    for (int i = 0; settings[i].name; i++)
        if (!strcmp(settings[i].name, name))
            return setting_number(s, i);
    return 0;
}

static bool value_alike(const struct state *a, const struct state *b, int i)
{
    double mine = a->set[i].number, other = b->set[i].number;
    switch (a->algo->info.settings[i].kind) {
    case HUNCH_TEXT:
        return !strcmp(a->set[i].text, b->set[i].text);
    case HUNCH_CHOICE:
        return a->set[i].choice == b->set[i].choice;
    default:
        return mine == other || (isnan(mine) && isnan(other));
    }
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name))
        names++;
    return *names;
}

bool params_alike(const struct state *a, const struct state *b, const char *const *but)
{
    const hunch_setting *settings = a->algo->info.settings;
    bool alike = a->algo == b->algo;
    for (int i = 0; alike && settings[i].name; i++)
        alike = is_among(settings[i].name, but) || value_alike(a, b, i);
    return alike;
}
