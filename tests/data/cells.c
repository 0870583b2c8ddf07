/* SPDX-License-Identifier: BSD-3-Clause */
/* The cells of the tables on standard input, for comparison with other readers: each table is its size in bytes and a
 * newline, then the bytes; for each the answer is a line of JSON, records of cells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/csv_cell.h"
#include "write/text_write.h"

static void record_write(const char *text, const char *newline, char delimiter, struct csv_scratch *scratch)
{
    const char *stop = text - 1;
    putchar('[');
    while (stop < newline) {
        struct csv_cell cell;
        if (stop >= text)
            putchar(',');
        stop = csv_cell_read(stop + 1, newline, delimiter, scratch, &cell);
        char *copy = strndup(cell.text, cell.length);
        text_write_string(stdout, copy);
        free(copy);
    }
    putchar(']');
}

static void table_write(const char *text, const char *end, struct csv_scratch *scratch)
{
    bool first = true;
    putchar('[');
    for (const char *newline; text < end; text = newline + 1) {
        newline = csv_record_end(text, end, ',');
        if (!newline)
            break;
        if (text == newline || (text + 1 == newline && *text == '\r'))
            continue; /* an empty line is no record */
        if (!first)
            putchar(',');
        first = false;
        record_write(text, newline, ',', scratch);
    }
    puts("]");
}

int main(void)
{
    struct csv_scratch scratch = {0};
    size_t size;
    while (scanf("%zu", &size) == 1) {
        char *text = calloc(size + 2, 1);
        if (getchar() != '\n' || !text || fread(text, 1, size, stdin) != size)
            return 1;
        if (size && text[size - 1] != '\n')
            text[size++] = '\n';
        table_write(text, text + size, &scratch);
        free(text);
    }
    free(scratch.bytes);
    return 0;
}
