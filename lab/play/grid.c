/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/array.h"
#include "base/error.h"

#define SETTINGS 32 /* in one spec, at most */

/* One setting with its values, as written and as numbers. */
struct axis {
    const char *name;
    char **text, **value; /* what the user reads (2^-5), what the library takes (0.03125) */
    size_t n;
    bool grid, numbers;
};

struct draft {
    char *copy; /* the spec, cut into pieces */
    const char *learner;
    struct axis axes[SETTINGS];
    size_t n;
};

/* Whether spec itself sets this setting. */
static bool grid_sets(const char *spec, const char *name)
{
    size_t length = strlen(name);
    int depth = 0;
    for (const char *at = strchr(spec, ':'); at && *at; at++) {
        if (depth == 0 && (*at == ',' || *at == ':') && !strncmp(at + 1, name, length) && at[1 + length] == '=')
            return true;
        depth += (*at == '[') - (*at == ']');
    }
    return false;
}

static bool axis_add(struct axis *a, const char *text, size_t length, const char *value)
{
    if (!array_resize(&a->text, a->n + 1, sizeof *a->text) || !array_resize(&a->value, a->n + 1, sizeof *a->value))
        return false;
    a->text[a->n] = strndup(text, length);
    a->value[a->n] = value ? strdup(value) : strndup(text, length);
    a->n++;
    return a->text[a->n - 1] && a->value[a->n - 1];
}

/* "2^-5": base and exponent. */
static bool power_read(const char **at, double *base, long *exponent)
{
    char *end;
    const char *digits = number_read(*at, base);
    if (!digits || *digits++ != '^')
        return false;
    *exponent = strtol(digits, &end, 10);
    bool good = end > digits;
    *at = end;
    return good;
}

static bool power_add(struct axis *a, double base, long exponent)
{
    char text[64], value[32];
    int length = snprintf(text, sizeof text, "%g^%ld", base, exponent);
    number_print(pow(base, (double)exponent), value);
    return axis_add(a, text, (size_t)length, value);
}

/* a^b or a^b..a^c. HUNCH_EUNSUPPORTED: it is neither. */
static hunch_status powers_take(struct axis *a, const char *text, hunch_error *reterr)
{
    double base, other;
    long from, to;
    const char *at = text;
    if (!power_read(&at, &base, &from))
        return HUNCH_EUNSUPPORTED;
    to = from;
    if (*at) {
        if (strncmp(at, "..", 2))
            return HUNCH_EUNSUPPORTED;
        at += 2;
        if (!power_read(&at, &other, &to) || *at || other != base || to < from || to - from > 1000)
            return error_set(reterr, HUNCH_EINVAL, "%s=%s: a range is written a^b..a^c, with b below c", a->name, text);
        a->grid = true;
    }
    for (long e = from; e <= to; e++)
        if (!power_add(a, base, e))
            return error_memory(reterr);
    return HUNCH_OK;
}

/* The end of the piece at text: a comma or the closing mark, outside all brackets. */
static const char *piece_end(const char *text)
{
    int depth = 0;
    while (*text && (depth || *text != ',')) {
        depth += (*text == '[' || *text == '{') - (*text == ']' || *text == '}');
        text++;
    }
    return text;
}

static hunch_status list_take(struct axis *a, const char *text, hunch_error *reterr)
{
    size_t length = strlen(text);
    if (length < 3 || text[length - 1] != '}')
        return error_set(reterr, HUNCH_EINVAL, "%s=%s: a list is written {value,value}", a->name, text);
    char *inside = strndup(text + 1, length - 2);
    hunch_status status = inside ? HUNCH_OK : error_memory(reterr);
    for (char *at = inside; !status && at;) {
        char *end = (char *)piece_end(at), *next = *end ? end + 1 : NULL;
        *end = '\0';
        if (!*at)
            status = error_set(reterr, HUNCH_EINVAL, "%s=%s: a value is missing in the list", a->name, text);
        else
            status = powers_take(a, at, reterr);
        if (status == HUNCH_EUNSUPPORTED)
            status = axis_add(a, at, strlen(at), NULL) ? HUNCH_OK : error_memory(reterr);
        at = next;
    }
    free(inside);
    a->grid = true;
    return status;
}

static hunch_status axis_take(struct axis *a, const char *value, hunch_error *reterr)
{
    hunch_status status = *value == '{' ? list_take(a, value, reterr) : powers_take(a, value, reterr);
    if (status == HUNCH_EUNSUPPORTED)
        status = axis_add(a, value, strlen(value), NULL) ? HUNCH_OK : error_memory(reterr);
    double number;
    a->numbers = true;
    for (size_t i = 0; !status && i < a->n; i++)
        a->numbers = a->numbers && number_is(a->value[i], &number);
    return status;
}

static hunch_status draft_settings(struct draft *d, char *text, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    while (!status && text && *text) {
        char *end = (char *)piece_end(text), *next = *end ? end + 1 : NULL;
        *end = '\0';
        char *sign = strchr(text, '=');
        if (d->n == SETTINGS)
            return error_set(reterr, HUNCH_ELIMIT, "%s: more than %d settings", d->learner, SETTINGS);
        struct axis *a = &d->axes[d->n++];
        *a = (struct axis){.name = text};
        if (sign) {
            *sign = '\0';
            status = axis_take(a, sign + 1, reterr);
        } else if (!axis_add(a, "", 0, NULL)) { /* malformed: the library will say so */
            status = error_memory(reterr);
        }
        text = next;
    }
    return status;
}

static void draft_free(struct draft *d)
{
    for (size_t i = 0; i < d->n; i++) {
        for (size_t j = 0; j < d->axes[i].n; j++) {
            free(d->axes[i].text[j]);
            free(d->axes[i].value[j]);
        }
        free(d->axes[i].text);
        free(d->axes[i].value);
    }
    free(d->copy);
}

static hunch_status spec_check(const char *spec, hunch_error *reterr)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error why;
    hunch *h;
    options.learner = spec;
    hunch_status status = hunch_create(&h, &options, &why);
    if (status)
        return error_set(reterr, status, "%s: %s", spec, why.message);
    hunch_free(h);
    return HUNCH_OK;
}

/* The settings of extra that the spec does not have. */
static void extra_print(FILE *out, const char *extra, const char *text, bool first)
{
    while (extra && *extra) {
        const char *end = piece_end(extra);
        size_t length = strcspn(extra, "=");
        char *name = strndup(extra, length);
        if (name && !grid_sets(text, name)) {
            fprintf(out, "%c%.*s", first ? ':' : ',', (int)(end - extra), extra);
            first = false;
        }
        free(name);
        extra = *end ? end + 1 : end;
    }
}

static hunch_status point_make(struct grid *g, const struct draft *d, const char *extra, size_t number,
                               hunch_error *reterr)
{
    struct grid_point *p = &g->points[number];
    size_t choice[SETTINGS], length;
    for (size_t i = d->n; i-- > 0; number /= d->axes[i].n)
        choice[i] = number % d->axes[i].n;
    p->x = NAN;
    FILE *spec = open_memstream(&p->spec, &length), *setting = open_memstream(&p->setting, &length);
    if (!spec || !setting)
        return error_memory(reterr);
    fputs(d->learner, spec);
    bool some = false;
    for (size_t i = 0; i < d->n; i++) {
        const struct axis *a = &d->axes[i];
        bool bare = !*a->text[choice[i]];
        fprintf(spec, "%c%s%s%s", i ? ',' : ':', a->name, bare ? "" : "=", a->value[choice[i]]);
        if (!a->grid)
            continue;
        fprintf(setting, "%s%s=%s", some ? "," : "", a->name, a->text[choice[i]]);
        if (!some && a->numbers)
            number_is(a->value[choice[i]], &p->x);
        p->edge = p->edge || (a->numbers && a->n > 2 && (choice[i] == 0 || choice[i] + 1 == a->n));
        some = true;
    }
    extra_print(spec, extra, g->text, d->n == 0);
    bool failed = fclose(spec) | fclose(setting);
    return failed ? error_memory(reterr) : spec_check(p->spec, reterr);
}

static hunch_status points_make(struct grid *g, const struct draft *d, const char *extra, hunch_error *reterr)
{
    size_t n = 1;
    for (size_t i = 0; i < d->n; i++) {
        if (n > GRID_POINTS / d->axes[i].n)
            return error_set(reterr, HUNCH_ELIMIT, "%s: more than %d points", g->text, GRID_POINTS);
        n *= d->axes[i].n;
        if (d->axes[i].grid && !g->axis && !(g->axis = strdup(d->axes[i].name)))
            return error_memory(reterr);
    }
    g->points = calloc(n, sizeof *g->points);
    if (!g->points)
        return error_memory(reterr);
    g->n = n;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < n && !status; i++)
        status = point_make(g, d, extra, i, reterr);
    return status;
}

hunch_status grid_parse(struct grid *ret, const char *text, const char *extra, hunch_error *reterr)
{
    struct grid g = {.text = strdup(text)};
    struct draft d = {.copy = strdup(text)};
    hunch_status status = g.text && d.copy ? HUNCH_OK : error_memory(reterr);
    if (!status) {
        char *colon = strchr(d.copy, ':');
        if (colon)
            *colon = '\0';
        d.learner = d.copy;
        status = draft_settings(&d, colon ? colon + 1 : NULL, reterr);
    }
    if (!status)
        status = points_make(&g, &d, extra, reterr);
    draft_free(&d);
    if (status) {
        grid_free(&g);
        return status;
    }
    *ret = g;
    return HUNCH_OK;
}

void grid_free(struct grid *grid)
{
    for (size_t i = 0; i < grid->n; i++) {
        free(grid->points[i].spec);
        free(grid->points[i].setting);
    }
    free(grid->points);
    free(grid->axis);
    free(grid->text);
    *grid = (struct grid){0};
}
