/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the columns of a table mean: their roles, and how cells become features. hunch-data(7) tells the rules by which
 * a schema is made from a file's first rows; a model keeps its schema, and files that come later are matched with it by
 * the columns' names.
 */
#ifndef SCHEMA_H
#define SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"
#include "common/names.h"

enum role {
    ROLE_NUMBER,   /* one feature, the column's name */
    ROLE_CATEGORY, /* "name=value" is 1 */
    ROLE_TEXT,     /* "name=word" is how often the word is there */
    ROLE_DATE,     /* days since the origin, "name.weekday=mon", "name.hour=13" */
    ROLE_IGNORE,
    ROLE_LABEL, /* the true one, in logs too */
    ROLE_SHOWN, /* of logs: the label that was shown, its probability, and whether it was right */
    ROLE_PROB,
    ROLE_RIGHT,
    ROLE_FEATURES, /* of logs: a cell that holds all features, as VW text or JSON */
    ROLES
};

struct schema_column {
    char *name;
    size_t length;
    enum role role;
    bool given;            /* the role, by an option or a file */
    char point;            /* of a number: '.' or ',' */
    char order;            /* of a date: 'd' or 'm', what comes first where the year is last */
    int32_t origin;        /* of a date: days since 1970-01-01 */
    struct names *missing; /* spellings in this column alone; NULL: none */
    char *example;         /* NULL: none */
    char why[64];          /* the role, in a few words; may be empty */
};

struct schema {
    struct schema_column *columns;
    size_t n, capacity;
    struct names *index;   /* column names, in their order */
    struct names *missing; /* spellings, the empty one aside */
    char delimiter;        /* of the file that it was made from; 0: JSON */
    bool header;
    uint32_t ngrams;    /* of text; 1: words; 0, while it is made: not yet known */
    uint32_t hash_bits; /* features are hashed to 2^hash_bits numbers; 0: they have names */
    /* not kept: which cells can be missing, by first byte and length */
    uint32_t missing_first[8];
    size_t missing_longest;
};

/* What the user says about columns: lists of names, positions (from 1) and globs, separated by commas. */
struct schema_options {
    const char *label, *number, *category, *text, *ignore, *shown, *prob, *right;
    const char *with;      /* their cells go along with the rows: struct row_cells */
    const char *delimiter; /* one character, or "tab"; NULL: told by the file */
    bool no_header;
    const char *missing;        /* spellings, instead of the usual ones */
    const char *file;           /* for the commands: where a schema is, or is to be written */
    uint32_t ngrams, hash_bits; /* 0: as the schema has it */
};

struct schema *schema_new(void); /* NULL: out of memory */
struct schema *schema_copy(const struct schema *schema);
void schema_free(struct schema *schema); /* NULL is fine */
/* A column more; NULL: out of memory. */
struct schema_column *schema_add(struct schema *schema, const char *name, size_t length);
/* By name; NULL: there is none. */
struct schema_column *schema_find(const struct schema *schema, const char *name, size_t length);
/* The one with this role; NULL: none. */
const struct schema_column *schema_role(const struct schema *schema, enum role role);
const char *role_name(enum role role);
bool schema_set_missing(struct schema *schema, const char *list); /* false: out of memory */
bool schema_is_missing(const struct schema *schema, const struct schema_column *column, const char *text,
                       size_t length);

/* The form kept in models (hunch_set_meta "schema") and in files. A new reference; NULL: out of memory. */
json_t *schema_json(const struct schema *schema);
hunch_status schema_from_json(struct schema **ret, const json_t *json, hunch_error *reterr);
hunch_status schema_read(struct schema **ret, const char *text, size_t size, hunch_error *reterr);

#endif
