/* SPDX-License-Identifier: BSD-3-Clause */
#include "event/row_reader.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

#define NAMES_KEPT 65536 /* then the encoder starts over: texts have new words for ever */

struct row_reader {
    pthread_mutex_t lock;
    struct schema *schema;
    struct names *features; /* the encoder's own numbering of names; NULL: the schema hashes them */
    struct row_encoder *encoder;
    struct rows rows;
    struct row_cell *cells;
    char (*numbers)[NUMBER_TEXT]; /* the cells' own room for numbers */
    size_t room;
};

static bool encoder_renew(struct row_reader *r, struct http_error *err)
{
    hunch_error error;
    row_encoder_free(r->encoder);
    names_free(r->features);
    r->encoder = NULL;
    r->features = r->schema->hash_bits ? NULL : names_new();
    if (!r->schema->hash_bits && !r->features)
        return http_error_no_memory(err);
    return row_encoder_new(&r->encoder, r->schema, r->features, true, &error) == HUNCH_OK ||
           http_error_set(err, 503, "out_of_memory", "%s", error.message);
}

bool row_reader_new(struct row_reader **ret, const char *schema, struct http_error *err)
{
    hunch_error error;
    struct row_reader *r = calloc(1, sizeof *r);
    if (!r)
        return http_error_no_memory(err);
    pthread_mutex_init(&r->lock, NULL);
    bool ok = schema_read(&r->schema, schema, strlen(schema), &error) == HUNCH_OK ||
              http_error_set(err, 400, "bad_schema", "the schema: %.200s", error.message);
    if (ok && encoder_renew(r, err)) {
        *ret = r;
        return true;
    }
    row_reader_free(r);
    return false;
}

void row_reader_free(struct row_reader *r)
{
    if (!r)
        return;
    row_encoder_free(r->encoder);
    names_free(r->features);
    schema_free(r->schema);
    rows_free(&r->rows);
    pthread_mutex_destroy(&r->lock);
    free(r->cells);
    free(r->numbers);
    free(r);
}

bool row_reader_hashes(const struct row_reader *r)
{
    return r->schema->hash_bits > 0;
}

const json_t *row_label(const struct row_reader *r, const json_t *row)
{
    const struct schema_column *label = schema_role(r->schema, ROLE_LABEL);
    return label ? json_object_get(row, label->name) : NULL;
}

const char *row_text_column(const struct row_reader *r)
{
    const struct schema_column *text = schema_role(r->schema, ROLE_TEXT);
    return text ? text->name : NULL;
}

/* The cells that have a column. */
static bool cells_read(struct row_reader *r, const json_t *row, size_t *ret_n, struct text *unknown,
                       struct http_error *err)
{
    size_t n = json_object_size(row), known = 0;
    const char *key;
    json_t *value;
    if (n > r->room) {
        struct row_cell *cells = realloc(r->cells, n * sizeof *cells);
        r->cells = cells ? cells : r->cells;
        char(*numbers)[NUMBER_TEXT] = cells ? realloc(r->numbers, n * sizeof *numbers) : NULL;
        if (!numbers)
            return http_error_no_memory(err);
        r->numbers = numbers;
        r->room = n;
    }
    json_object_foreach((json_t *)row, key, value)
    {
        if (schema_find(r->schema, key, strlen(key))) {
            struct row_cell *cell = &r->cells[known];
            cell->name = key;
            cell->text = json_cell(value, r->numbers[known++], &cell->length);
            if (cell->text && strspn(cell->text, " \t") == cell->length)
                cell->length = 0; /* as in a file: missing */
            if (!cell->text)
                return http_error_set(err, 400, "bad_row", "\"%.100s\" must be a number, string, boolean or null", key);
        } else {
            text_puts(unknown, unknown->length ? "," : "[");
            text_quote(unknown, key, strlen(key));
        }
    }
    if (unknown->length)
        text_puts(unknown, "]");
    *ret_n = known;
    return known || http_error_set(err, 400, "bad_row", "the row has no column of this model's schema");
}

static void example_write(const struct row_reader *r, struct text *t)
{
    const struct rows *rows = &r->rows;
    text_puts(t, r->features ? "{" : "[");
    for (int64_t i = rows->start[0]; i < rows->start[1]; i++) {
        text_add(t, ",", i > rows->start[0]);
        if (r->features) {
            size_t length;
            const char *name = names_text(r->features, rows->index[i], &length);
            text_quote(t, name, length);
            text_puts(t, ":");
            text_number(t, rows->value[i]);
        } else {
            text_printf(t, "[%u,", rows->index[i]);
            text_number(t, rows->value[i]);
            text_puts(t, "]");
        }
    }
    text_puts(t, r->features ? "}" : "]");
}

bool row_read(struct row_reader *r, const json_t *row, struct text *ret_x, struct text *ret_unknown,
              struct http_error *err)
{
    hunch_error error;
    size_t n = 0;
    if (!json_is_object(row))
        return http_error_set(err, 400, "bad_row", "\"row\" must be an object: columns and their cells");
    pthread_mutex_lock(&r->lock);
    bool fresh = r->encoder && (!r->features || names_count(r->features) < NAMES_KEPT);
    bool ok = fresh || encoder_renew(r, err);
    ok = ok && cells_read(r, row, &n, ret_unknown, err);
    ok = ok && (row_encode(r->encoder, r->cells, n, &r->rows, NULL, &error) == HUNCH_OK ||
                http_error_set(err, 400, "bad_row", "%.200s", error.message));
    if (ok)
        example_write(r, ret_x);
    pthread_mutex_unlock(&r->lock);
    return ok && (!(ret_x->failed || ret_unknown->failed) || http_error_no_memory(err));
}
