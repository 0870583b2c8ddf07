/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An example as it arrives in JSON:
 *     {"hour":0.7,"user=42":1,"weekend":true,"colour":"red"}    names and values; "colour":"red" is "colour=red":1
 *     [0.5,0,2]                                                 the values of features 0, 1, 2
 *     [[3,0.5],[17,1]]                                          pairs of a feature's number and its value
 * Models whose features are indexed take the arrays and objects whose names are numbers; the others take objects.
 */
#ifndef SERVE_EXAMPLE_H
#define SERVE_EXAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/http_error.h"
#include "event/settings.h"

#define FEATURE_MAX_BYTES 512 /* of a feature's name */

struct feature {
    const char *name; /* NULL: index is final */
    size_t length;
    uint32_t index;
    float value;
};

struct example {
    struct feature *features;
    size_t n;
    char **made; /* names made of a name and a value */
    size_t made_n;
    const char *text; /* as the client wrote it; this is what the log keeps */
    size_t length;
    json_t *json;   /* owns names, when a parser was needed */
    char *printed;  /* owns the text, when it had to be printed again */
    size_t refused; /* names that were left out: too many new ones */
    char *unknown;  /* of a row: an array of the members that are no columns; NULL: none */
};

/* From JSON; borrows its strings. max: the largest number of features. */
bool example_read(struct example *ret, const json_t *json, const struct settings *settings, size_t max,
                  struct http_error *err);
/* From the text of an example, in whichever way it takes: what was accepted once is read back from the log. Borrows the
 * text. */
bool example_parse(struct example *ret, const char *text, size_t length, const struct settings *settings,
                   struct http_error *err);
void example_free(struct example *e);
/* The example without features whose name is NULL, as if it had come so. It stays as it is when that fails. */
bool example_reduce(struct example *e, const struct settings *settings, struct http_error *err);
/* From a feature's name to its number, in models whose features have no dictionary. */
bool feature_place(struct feature *f, const struct settings *settings, struct http_error *err);

#endif
