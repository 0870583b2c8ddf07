/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs and JSON: a table of fields says which key is which member, and serves for reading and for writing.
 *
 *     #define STRUCT struct line
 *     TYPE(line, "a line", NULL, TEXT(learner), REAL(mean));
 *     #undef STRUCT
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "hunch.h"

/* Memory that is freed at once. Start as {0}. */
struct arena {
    struct arena_block *last;
    bool failed; /* something was unavailable: what was made is not complete */
};
void *arena_zeros(struct arena *a, size_t n, size_t size); /* NULL: out of memory, and failed is set */
const char *arena_text(struct arena *a, const char *text); /* a copy; NULL stays NULL */
char *arena_copy(struct arena *a, const char *text);       /* the same, to be changed */
const char *arena_print(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a);

struct texts {
    const char **item;
    size_t n;
};
bool texts_have(const struct texts *t, const char *text);

/* struct texts for other things: { thing *item; size_t n; } */
#define LIST_OF(thing)                                                                                                 \
    struct {                                                                                                           \
        thing *item;                                                                                                   \
        size_t n;                                                                                                      \
    }

enum field_kind {
    FIELD_TEXT,   /* const char *; NULL is not written */
    FIELD_REAL,   /* double; NAN is not written */
    FIELD_COUNT,  /* uint64_t; 0 is not written */
    FIELD_FLAG,   /* bool */
    FIELD_MARK,   /* bool; false is not written */
    FIELD_SWITCH, /* int: 0, 1, or what the defaults say; read only */
    FIELD_WORD,   /* unsigned, the number of one of the words; the first is not written */
    FIELD_TALLY,  /* size_t[], one for each of the words; 0 is not written */
    FIELD_TEXTS,  /* struct texts; an empty one is not written */
    FIELD_LIST,   /* LIST_OF(a struct of the type) */
    FIELD_OBJECT, /* pointer to a struct of the type; NULL is not written */
    FIELD_JSON,   /* const json_t *: as it is in what was read; read only */
};

struct type;
struct field {
    const char *key;
    enum field_kind kind;
    size_t at;
    const struct type *type;
    const char *const *words; /* ends with NULL */
};
/* NAME_type of struct STRUCT and its table of fields. */
#define TYPE(name, title, defaults, ...)                                                                               \
    static const struct field name##_fields[] = {__VA_ARGS__, {0}};                                                    \
    static const struct type name##_type = {title, sizeof(STRUCT), name##_fields, defaults}
/* clang-format off */
#define FIELD(kind, member, type, words) {#member, FIELD_##kind, offsetof(STRUCT, member), type, words}
/* clang-format on */
#define TEXT(member) FIELD(TEXT, member, NULL, NULL)
#define REAL(member) FIELD(REAL, member, NULL, NULL)
#define COUNT(member) FIELD(COUNT, member, NULL, NULL)
#define FLAG(member) FIELD(FLAG, member, NULL, NULL)
#define MARK(member) FIELD(MARK, member, NULL, NULL)
#define TEXTS(member) FIELD(TEXTS, member, NULL, NULL)
#define JSON(member) FIELD(JSON, member, NULL, NULL)
#define LIST(member, type) FIELD(LIST, member, &(type), NULL)
#define OBJECT(member, type) FIELD(OBJECT, member, &(type), NULL)

struct type {
    const char *name; /* for messages */
    size_t size;
    const struct field *fields; /* ends with {0} */
    const void *defaults;       /* NULL: zeros */
};

/* A member that is not there keeps its default. HUNCH_EINVAL: a value of another kind, or a key that the type does not
 * have. What is read lives in the arena, FIELD_JSON in json. */
hunch_status fields_read(const struct type *type, const json_t *json, struct arena *a, void *ret, hunch_error *reterr);
json_t *fields_write(const struct type *type, const void *from);

#endif
