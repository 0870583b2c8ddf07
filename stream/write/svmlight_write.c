/* SPDX-License-Identifier: BSD-3-Clause */
#include "write/text_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/error.h"

#define PAIR_BYTES 48 /* " index:value" at most */

static hunch_status written(FILE *file, size_t got, size_t size, hunch_error *reterr)
{
    if (got == size && !ferror(file))
        return HUNCH_OK;
    return error_set(reterr, HUNCH_EIO, "writing failed: %s", strerror(errno));
}

/* A label that text cannot hold would read back as something else. */
static hunch_status label_check(const char *label, hunch_error *reterr)
{
    const char *p = label;
    while ((unsigned)(*p - '0') < 10)
        p++;
    if (!*label || *label == '#' || strpbrk(label, " \t\r\n") || (p > label && *p == ':'))
        return error_set(reterr, HUNCH_EINVAL, "label '%s' cannot be written as svmlight text",
                         quote(label, strlen(label)).text);
    return HUNCH_OK;
}

hunch_status svmlight_write_labels(FILE *file, const struct names *labels, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    if (names_count(labels) == 0)
        return HUNCH_OK;
    fputs("# labels:", file);
    for (uint32_t k = 0; k < names_count(labels) && !status; k++) {
        const char *label = names_text(labels, k, NULL);
        status = label_check(label, reterr);
        fprintf(file, " %s", label);
    }
    fputc('\n', file);
    return status ? status : written(file, 0, 0, reterr);
}

static size_t row_print(const struct rows *batch, size_t row, const char *label, uint32_t base, char *text)
{
    size_t n = label ? strlen(label) : 0;
    if (n > 0)
        memcpy(text, label, n);
    for (int64_t i = batch->start[row]; i < batch->start[row + 1]; i++) {
        if (n > 0)
            text[n++] = ' ';
        n += number_print_whole((uint64_t)batch->index[i] + base, text + n);
        text[n++] = ':';
        n += number_print_float(batch->value[i], text + n);
    }
    text[n++] = '\n';
    return n;
}

hunch_status svmlight_write(FILE *file, const struct rows *batch, const struct names *labels, uint32_t index_base,
                            hunch_error *reterr)
{
    char *text = NULL;
    size_t capacity = 0;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < batch->n && !status; i++) {
        const char *label = batch->label[i] == STREAM_NO_LABEL ? NULL : names_text(labels, batch->label[i], NULL);
        size_t values = (size_t)(batch->start[i + 1] - batch->start[i]);
        size_t need = values * PAIR_BYTES + (label ? strlen(label) : 0) + 2;
        if (!label && values == 0)
            continue; /* an empty line would be no row */
        if (need > capacity) {
            free(text);
            text = malloc(need);
            capacity = text ? need : 0;
            if (!text) {
                status = error_memory(reterr);
                break;
            }
        }
        size_t size = row_print(batch, i, label, index_base, text);
        status = written(file, fwrite(text, 1, size, file), size, reterr);
    }
    free(text);
    return status;
}
