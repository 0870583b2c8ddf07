/* SPDX-License-Identifier: BSD-3-Clause */
#include "data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/html.h"
#include "stream.h"

enum { SCHEMA_SHOWN = 40 }; /* columns on a page */

/* In the order of enum stream_format. */
static const char *const formats[] = {"auto", "svmlight", "csv", "tsv", "vw", "jsonl", "arff", "cache", NULL};
static const char *const bases[] = {"auto", "0", "1", NULL}, *const answers[] = {"fail", "skip", NULL};

/* What options were made of; it lives as long as the command. */
static struct {
    char *number, *category, *text, *ignore;
    struct schema *schema;
} kept;

/* An option that may be given several times: one list. */
static bool list_take(char **list, const char **ret, const char *argument)
{
    char *joined;
    if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "", argument) < 0)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    free(*list);
    *ret = *list = joined;
    return true;
}

static bool number_take(void *at, const char *argument)
{
    return list_take(&kept.number, &((struct stream_options *)at)->columns.number, argument);
}

static bool category_take(void *at, const char *argument)
{
    return list_take(&kept.category, &((struct stream_options *)at)->columns.category, argument);
}

static bool text_take(void *at, const char *argument)
{
    return list_take(&kept.text, &((struct stream_options *)at)->columns.text, argument);
}

static bool ignore_take(void *at, const char *argument)
{
    return list_take(&kept.ignore, &((struct stream_options *)at)->columns.ignore, argument);
}

const struct cli_option data_options[] = {
    {"format", 'f', "F", "auto", "svmlight, csv, tsv, vw, jsonl, arff or cache; auto: detect from the file",
     TO_WORD(struct stream_options, format, 0, formats)},
    {"label-column", 0, "C", NULL, "the same as --label", TO_TEXT(struct stream_options, label_column)},
    {"label", 0, "C", NULL, "label column of tables (csv, tsv, flat JSON lines), by name or position",
     TO_TEXT(struct stream_options, columns.label)},
    {"number", 0, "C,...", NULL, "read these columns of tables as numbers; names, positions or globs",
     TO_CALL(number_take)},
    {"category", 0, "C,...", NULL, "read these columns as categories", TO_CALL(category_take)},
    {"text", 0, "C,...", NULL, "read these columns as text and split it into words", TO_CALL(text_take)},
    {"ignore", 0, "C,...", NULL, "leave out these columns", TO_CALL(ignore_take)},
    {"delimiter", 0, "X", NULL, "separator of cells: one character, or tab (default: detect from the file)",
     TO_TEXT(struct stream_options, columns.delimiter)},
    {"no-header", 0, NULL, NULL, "the first row of a table is not its header",
     TO_SET(struct stream_options, columns.no_header, true)},
    {"missing", 0, "S,...", NULL,
     "strings that mean a missing value, besides empty cells (default: NA, NaN, null, ? and similar)",
     TO_TEXT(struct stream_options, columns.missing)},
    {"ngrams", 0, "N", NULL,
     "use runs of up to N words of a text as features (default: words and pairs for short texts, words for long ones)",
     TO_NUMBER(struct stream_options, columns.ngrams, 1, 8)},
    {"hash-bits", 0, "N", NULL, "hash feature names to 2^N numbers instead of keeping them",
     TO_NUMBER(struct stream_options, columns.hash_bits, 1, 26)},
    {"schema", 0, "FILE", NULL, "types of the columns as JSON; read if FILE exists, otherwise written",
     TO_TEXT(struct stream_options, columns.file)},
    {"index-base", 0, "N", "auto",
     "number of the first svmlight feature, 0 or 1; auto: 1, unless a feature 0 appears near the beginning",
     TO_WORD(struct stream_options, index_base, -1, bases)},
    {"on-error", 0, "A", "fail", "stop at a malformed row (fail), or skip and count such rows (skip)",
     TO_WORD(struct stream_options, skip_bad_rows, 0, answers)},
    {0}};

/* Ends the command when a name without a folder is neither a file nor a data set. Opening the file reports all other errors. */
static void name_check(const char *name)
{
    const char *folders = getenv("HUNCH_DATA");
    if (!strchr(name, '/') && access(name, F_OK))
        exit(cli_fail(EXIT_INPUT, "%s: no such file here or in the folders of HUNCH_DATA (%s); see 'hunch data'", name,
                      folders && *folders ? folders : "not set"));
}

char **data_paths(char *const *names, size_t n)
{
    char **paths = cli_alloc(n, sizeof *paths);
    for (size_t i = 0; i < n; i++) {
        paths[i] = strcmp(names[i], "-") ? stream_find(names[i]) : NULL;
        if (!paths[i]) {
            if (strcmp(names[i], "-") != 0)
                name_check(names[i]);
            paths[i] = strdup(names[i]);
        }
        if (!paths[i])
            exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    }
    return paths;
}

void data_free(char **paths, size_t n)
{
    for (size_t i = 0; paths && i < n; i++)
        free(paths[i]);
    free(paths);
}

void data_skipped(uint64_t rows)
{
    if (rows)
        fprintf(stderr, "hunch: %llu malformed row%s skipped\n", (unsigned long long)rows, rows == 1 ? "" : "s");
}

void data_remarks(const struct stream *stream)
{
    const struct names *remarks = stream_remarks(stream);
    for (uint32_t i = 0; i < names_count(remarks); i++)
        fprintf(stderr, "hunch: %s\n", names_text(remarks, i, NULL));
    data_skipped(stream_skipped(stream));
    if (stream_unlabelled(stream))
        fprintf(stderr, "hunch: %llu row%s without a label left out\n", (unsigned long long)stream_unlabelled(stream),
                stream_unlabelled(stream) == 1 ? "" : "s");
    if (stream_ignored(stream))
        fprintf(stderr, "hunch: %llu values left out: their features are beyond --max-features\n",
                (unsigned long long)stream_ignored(stream));
}

int data_schema_load(struct stream_options *o)
{
    json_error_t why;
    hunch_error error;
    struct schema *schema = NULL;
    if (!o->columns.file || access(o->columns.file, F_OK))
        return EXIT_DONE;
    json_t *json = json_load_file(o->columns.file, JSON_REJECT_DUPLICATES, &why);
    if (!json)
        return cli_fail(EXIT_INPUT, "%s:%d: %s", o->columns.file, why.line, why.text);
    hunch_status status = schema_from_json(&schema, json, &error);
    json_decref(json);
    if (status)
        return cli_fail(EXIT_INPUT, "%s: %s", o->columns.file, error.message);
    schema_free(kept.schema);
    o->schema = kept.schema = schema;
    return EXIT_DONE;
}

int data_schema_save(const struct stream_options *o, const struct stream *stream)
{
    const struct schema *schema = stream_schema(stream);
    if (!o->columns.file || o->schema)
        return EXIT_DONE;
    if (!schema)
        return cli_fail(EXIT_INPUT, "%s: the data have no named columns, so there is no schema to write",
                        o->columns.file);
    json_t *json = schema_json(schema);
    int failed = !json || json_dump_file(json, o->columns.file, JSON_INDENT(2));
    json_decref(json);
    return failed ? cli_fail(EXIT_SYSTEM, "%s: %s", o->columns.file, strerror(errno)) : EXIT_DONE;
}

void data_schema_print(const struct schema *s)
{
    size_t width = 6;
    if (!s || !s->n)
        return;
    for (size_t i = 0; i < s->n; i++)
        if (s->columns[i].length > width && s->columns[i].length <= 32)
            width = s->columns[i].length;
    for (size_t i = 0; i < s->n && (s->n <= 40 || i < 30); i++) {
        const struct schema_column *c = &s->columns[i];
        fprintf(stderr, "  %-9s %-*s  %s", role_name(c->role), (int)width, c->name, c->example ? c->example : "");
        fprintf(stderr, c->why[0] ? "  (%s)\n" : "\n", c->why);
    }
    if (s->n > 40)
        fprintf(stderr, "  ... and %zu more columns\n", s->n - 30);
}

void data_schema_html(const struct schema *s, FILE *out)
{
    if (!out || !s || !s->n)
        return;
    fputs("<h2>Columns</h2>\n<p>Detected column types; <code>--label</code>, <code>--number</code>, "
          "<code>--category</code>, "
          "<code>--text</code> and <code>--ignore</code> override them.</p>\n<div class=text>",
          out);
    html_table(out, (const char *const[]){"column", "role", "first value", "why"}, 4);
    for (size_t i = 0; i < s->n && i < SCHEMA_SHOWN; i++) {
        const struct schema_column *c = &s->columns[i];
        html_row(out, (const char *const[]){c->name, role_name(c->role), c->example ? c->example : "", c->why}, 4);
    }
    html_table_end(out);
    fputs("</div>\n", out);
    if (s->n > SCHEMA_SHOWN)
        fprintf(out, "<p>... and %zu more.</p>\n", s->n - SCHEMA_SHOWN);
}
