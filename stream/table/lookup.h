/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers of a row's names. A table of many names does not fit into the processor's caches, so that looking them up
 * one after the other is waiting for memory, again and again. Here the names of a row are collected first, and the
 * memory in which each will be found is fetched meanwhile; then they are looked up.
 */
#ifndef LOOKUP_H
#define LOOKUP_H

#include "common/names.h"
#include "hunch.h"

#define LOOKUP_NAMES 128
#define LOOKUP_BYTES 8192

struct lookup {
    size_t n, used; /* names that wait, and the bytes of those that are kept here */
    struct {
        struct names_query query;
        float value;
        hunch_role role;
    } waiting[LOOKUP_NAMES];
    char bytes[LOOKUP_BYTES];
};

struct parser;
struct encoded;

/* A named value for the row; role: what is known of the feature. The text must stay until parser_finish. */
hunch_status lookup_add(struct parser *p, struct encoded *row, const char *text, size_t length, float value,
                        hunch_role role, hunch_error *reterr);
/* The same for a text that is soon gone: it is copied. */
hunch_status lookup_add_copy(struct parser *p, struct encoded *row, const char *text, size_t length, float value,
                             hunch_role role, hunch_error *reterr);
/* Looks up the names that wait, in their order, and appends them to the row. */
hunch_status lookup_finish(struct parser *p, struct encoded *row, hunch_error *reterr);

#endif
