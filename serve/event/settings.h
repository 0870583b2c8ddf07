/* SPDX-License-Identifier: BSD-3-Clause */
/* What a model was created with. Kept in its log, so that the log alone is enough to rebuild the model. */
#ifndef SERVE_SETTINGS_H
#define SERVE_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/policy.h"
#include "stream.h"
#include "util/http_error.h"
#include "util/serve_options.h"
#include "util/text.h"

enum feature_kind { FEATURES_NAMED, FEATURES_HASHED, FEATURES_INDEXED };

#define NAME_MAX_BYTES 64 /* of a model's name */
#define HASH_BITS_MAX 26
/* Of full matrices: a step takes time in proportion to them, under the model's lock. 1 MiB: some ten microseconds. */
#define MEMORY_DEFAULT (1 << 20)

/* What an example may be, so that no client can spoil the model for the others. */
struct bounds {
    float value;       /* the largest absolute value of a feature */
    uint32_t features; /* in one example */
};
#define TTL_DEFAULT INT64_C(604800) /* seconds: a week */
#define BOUND_VALUE 1e9
#define BOUND_FEATURES 10000

struct settings {
    char *learner;
    struct names *labels; /* those of the start; more may be added later */
    enum feature_kind features;
    unsigned hash_bits;
    uint32_t max_features;
    bool reuse_names; /* of features: see dictionary.h */
    uint64_t
        memory; /* bytes of full matrices before matrix=auto chooses something smaller; 0: the library's own limit */
    uint64_t seed;
    int64_t ttl_ms;
    int64_t answer_after_ms; /* then a decision without feedback is answered by default; 0: never */
    bool answer_right;       /* so */
    bool late_replaces;      /* feedback that comes after that is learned too, and counts in its place */
    struct policy policy;    /* at the start */
    double act_at;           /* of the choices that are acted on, this share is to be right; 0: not asked */
    struct bounds bounds;
    char *schema; /* what the columns of its tables mean, as models keep it; NULL: none */
};

/* An absent seed is drawn at random. An absent reuse_names is false, as it was when there was no such setting. */
bool settings_read(struct settings *ret, const json_t *json, const struct limits *limits, struct http_error *err);
void settings_write(const struct settings *s, struct text *t);
/* Whether a request to create asks for what is there; members that it leaves out may be anything. */
bool settings_agree(const struct settings *there, const struct settings *asked, const json_t *request);
void bounds_write(const struct bounds *b, struct text *t);
/* What is made of answers: silence, act_at; nothing where they are not used. */
void answers_write(const struct settings *s, struct text *t);
/* 0: not given */
bool act_at_read(const json_t *json, double *ret, struct http_error *err);
void settings_free(struct settings *s);

/* Letters, digits, '.', '_' and '-', not beginning with '.' or '-': never a path. */
bool model_name_ok(const char *name);
bool label_read(const json_t *json, const char **ret, size_t *ret_length, char number[24], struct http_error *err);

#endif
