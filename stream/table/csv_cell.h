/* SPDX-License-Identifier: BSD-3-Clause */
/* Records and cells of CSV and TSV text (RFC 4180): private to csv*.c. */
#ifndef CSV_CELL_H
#define CSV_CELL_H

#include <stdbool.h>
#include <stddef.h>

struct csv_cell {
    const char *text;
    size_t length;
    bool quoted;
};

/* Bytes that cells are put together in. */
struct csv_scratch {
    char *bytes;
    size_t capacity;
};

bool csv_scratch_reserve(struct csv_scratch *scratch, size_t size); /* keeps what is there; false: out of memory */

static inline bool csv_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The newline that ends the record at text, or NULL: it is not within the bytes before end. */
const char *csv_record_end(const char *text, const char *end, char delimiter);
/* The cell at text, in a record that ends at newline. Returns the delimiter or newline after it; NULL: out of memory.
 * Blanks around an unquoted cell are left out; a cell with doubled quotes is put together in scratch. */
const char *csv_cell_read(const char *text, const char *newline, char delimiter, struct csv_scratch *scratch,
                          struct csv_cell *ret);

#endif
