/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "table/row_encoder.h"
#include "base/error.h"
#include "table/encode.h"

struct row_encoder {
    struct stream_options options;
    struct parser parser;
    struct encoder encoder;
    unsigned char *seen; /* columns of the row so far */
};

hunch_status row_encoder_new(struct row_encoder **ret, const struct schema *schema, struct names *features, bool grow,
                             hunch_error *reterr)
{
    struct row_encoder *e = calloc(1, sizeof *e);
    if (!e)
        return error_memory(reterr);
    e->options = (struct stream_options)STREAM_OPTIONS_INIT;
    e->options.fixed_features = !grow;
    e->parser = (struct parser){.options = &e->options, .features = features, .path = "row", .line = 1};
    e->parser.schema = schema_copy(schema);
    e->parser.labels = names_new();
    e->seen = calloc(schema->n + 1, 1);
    hunch_status status = e->parser.schema && e->parser.labels && e->seen
                              ? encoder_init(&e->encoder, &e->parser, reterr)
                              : error_memory(reterr);
    if (status)
        row_encoder_free(e);
    else
        *ret = e;
    return status;
}

void row_encoder_free(struct row_encoder *e)
{
    if (!e)
        return;
    encoder_free(&e->encoder);
    schema_free(e->parser.schema);
    names_free(e->parser.labels);
    free(e->parser.roles);
    free(e->seen);
    free(e);
}

hunch_status row_encode(struct row_encoder *e, const struct row_cell *cells, size_t n, struct rows *rows,
                        size_t *ret_known, hunch_error *reterr)
{
    const struct schema *schema = e->parser.schema;
    struct encoded row;
    size_t known = 0;
    rows_clear(rows);
    memset(e->seen, 0, schema->n);
    hunch_status status = encoded_begin(&e->parser, &row, rows, 3 * schema->n, reterr);
    for (size_t i = 0; i < n && !status; i++) {
        uint32_t column = names_find(schema->index, cells[i].name, strlen(cells[i].name));
        if (column == NAMES_NONE || e->seen[column])
            continue;
        e->seen[column] = 1;
        known++;
        if (schema->columns[column].role <= ROLE_IGNORE)
            status = encoder_cell(&e->encoder, &row, column, cells[i].text, cells[i].length, reterr);
    }
    for (size_t i = 0; i < schema->n && !status; i++)
        if (!e->seen[i] && schema->columns[i].role <= ROLE_IGNORE)
            status = encoder_cell(&e->encoder, &row, i, "", 0, reterr);
    if (!status)
        status = parser_finish(&e->parser, &row, reterr);
    if (!status && ret_known)
        *ret_known = known;
    return status;
}
