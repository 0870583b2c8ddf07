/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a text format is. A parser is handed whole lines in a row of windows and appends rows to a batch; the stream
 * feeds it (stream.c), so a format knows nothing of files, threads or batches' sizes.
 */
#ifndef PARSER_H
#define PARSER_H

#include "base/decimal.h"
#include "common/pairs.h"
#include "common/rows.h"
#include "common/schema.h"
#include "common/stream_options.h"
#include "bytes/lines.h"
#include "table/lookup.h"

#define PARSER_LABEL_LIMIT 1000
#define PARSER_FRACTIONS 20 /* labels that are numbers with decimals */
#define PARSER_LABEL_SLOTS 64

struct parser;

struct format {
    const char *name;
    bool named; /* features have names */
    /* The file's first block of whole lines: headers, column types, index base. Called before the same text goes to
     * parse. May be NULL. */
    hunch_status (*begin)(struct parser *p, const char *text, size_t size, hunch_error *reterr);
    /* Append the rows of text, which ends with a newline. *ret_used may be less than size when the last record goes on
     * beyond the window and this is not the last one. */
    hunch_status (*parse)(struct parser *p, const char *text, size_t size, struct rows *out, size_t *ret_used,
                          hunch_error *reterr);
    void (*end)(struct parser *p); /* free state; may be NULL */
};

extern const struct format format_svmlight, format_csv, format_tsv, format_vw, format_jsonl, format_arff;

/* A short label to its number: rows have few different labels. */
struct label_slot {
    uint64_t key; /* bytes and length; 0: free */
    uint32_t number;
};

struct parser {
    const struct format *format;
    const struct stream_options *options;
    struct names *labels, *features;
    const char *path;      /* for messages */
    uint64_t line;         /* number of the next line */
    bool last;             /* nothing comes after the text that is handed over */
    uint64_t skipped;      /* malformed rows so far, with skip_bad_rows */
    int base;              /* svmlight: -1 until known */
    pairs_read *pairs;     /* svmlight: the inner loop; NULL: the fastest */
    void *state;           /* the format's own, for one file */
    struct schema *schema; /* of tables; the stream's, NULL until the first is seen */
    uint64_t unanswered;   /* rounds of a log left out because they have no feedback */
    uint64_t unlabelled;   /* rows of tables left out because their label is missing */
    unsigned fractions;    /* labels so far that are numbers with decimals */
    uint64_t ignored;      /* values left out: their names are beyond max_features */
    const char *further;   /* lines from the rest of the file, for the columns' roles; NULL: none */
    size_t further_size;
    struct names *with;    /* columns of tables whose cells go along; NULL: none */
    struct names *remarks; /* for the user; may be NULL */
    uint8_t *roles;        /* of features, as far as they are known: enum hunch_role */
    size_t roles_room;
    struct label_slot label_slots[PARSER_LABEL_SLOTS];
    struct lookup lookup; /* names of the row that is being read */
};

/* The feature has this role; the rows will say so, once. UINT32_MAX: it is left out. */
hunch_status parser_role(struct parser *p, struct rows *out, uint32_t feature, hunch_role role, hunch_error *reterr);
/* "path:line: ..." */
hunch_status parser_fail(const struct parser *p, uint64_t line, hunch_error *reterr, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The number of a label, a new one where that is allowed. */
hunch_status parser_label(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                          hunch_error *reterr);
/* The number of a named feature: UINT32_MAX for one that is to be left out (rows_merge_row does). */
hunch_status parser_feature(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                            hunch_error *reterr);
/* That of a name which is not in the table. */
hunch_status parser_feature_new(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                                hunch_error *reterr);
/* A schema to be made, by the user's options; NULL: out of memory. Then, when the first rows have been looked at,
 * roles. */
struct sample;
struct schema *parser_schema(const struct parser *p, char delimiter);
hunch_status parser_decide(struct parser *p, struct sample *sample, hunch_error *reterr);
/* A remark for the user, once. */
hunch_status parser_remark(struct parser *p, hunch_error *reterr, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A row that is being made, behind those of out. What there is no column for keeps its default. */
struct encoded {
    struct rows *out;
    size_t begin, values;
    uint32_t label;
    struct row_log log;
};

hunch_status encoded_begin(struct parser *p, struct encoded *row, struct rows *out, size_t values, hunch_error *reterr);
/* A value more; 0 is none. */
hunch_status encoded_add(struct encoded *row, uint32_t feature, float value, hunch_error *reterr);
/* Sort and close the row; of logs, check what was said and leave out what was not. */
hunch_status parser_finish(struct parser *p, struct encoded *row, hunch_error *reterr);
hunch_status parser_prob(struct parser *p, double prob, double *ret, hunch_error *reterr);
/* All features in one text, as they stand behind the bar of VW's lines, or as JSON; appended to the row. */
hunch_status vw_features(struct parser *p, struct encoded *row, const char *text, size_t size, hunch_error *reterr);
hunch_status jsonl_features(struct parser *p, struct encoded *row, const char *text, size_t size, hunch_error *reterr);

/* Whether the first object of JSON lines is a row of a table, with a column for each key. */
bool jsonl_is_flat(const char *text, size_t size);

/* After a row failed with status: true when it is to be counted and left out. */
bool parser_skips(struct parser *p, hunch_status status, struct rows *out);
/* Close the row that holds the values from start[rows] to values. */
void parser_row(struct rows *out, size_t values, uint32_t label, uint64_t line);

#endif
