/* SPDX-License-Identifier: BSD-3-Clause */
#include "svmlight_write.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "decimal.h"
#include "fail.h"

#define PAIR_BYTES 48 /* " index:value" at most */

static size_t digits_print(uint64_t number, char *text)
{
    char reversed[24];
    size_t n = 0;
    do
        reversed[n++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < n; i++)
        text[i] = reversed[n - 1 - i];
    return n;
}

/* mantissa / 10^places without trailing zeros. */
static size_t fixed_print(uint64_t mantissa, int places, char *text)
{
    while (places > 0 && mantissa % 10 == 0) {
        mantissa /= 10;
        places--;
    }
    uint64_t unit = (uint64_t)decimal_powers[places], fraction = mantissa % unit;
    size_t n = digits_print(mantissa / unit, text);
    if (places == 0)
        return n;
    text[n++] = '.';
    for (int i = places - 1; i >= 0; i--) {
        text[n + (size_t)i] = (char)('0' + fraction % 10);
        fraction /= 10;
    }
    return n + (size_t)places;
}

size_t svmlight_print(float value, char *text)
{
    size_t sign = 0;
    double size = fabs((double)value);
    if (value < 0)
        text[sign++] = '-';
    if (size < 1e7 && size == floor(size))
        return sign + digits_print((uint64_t)size, text + sign);
    /* 6 to 9 significant digits, the first that reads back */
    for (int digits = 6; size >= 1e-5 && size < 1e7 && digits <= 9; digits++) {
        int places = digits;
        while (places > 0 && size * decimal_powers[places] >= decimal_powers[digits])
            places--;
        while (size * decimal_powers[places + 1] < decimal_powers[digits])
            places++;
        double mantissa = round(size * decimal_powers[places]);
        float back;
        if (decimal_narrow(mantissa / decimal_powers[places], &back) && back == (float)size)
            return sign + fixed_print((uint64_t)mantissa, places, text + sign);
    }
    return sign + (size_t)snprintf(text + sign, 24, "%.9g", size);
}

static hunch_status written(FILE *file, size_t got, size_t size, hunch_error *reterr)
{
    if (got == size && !ferror(file))
        return HUNCH_OK;
    return fail_with(reterr, HUNCH_EIO, "writing failed: %s", strerror(errno));
}

/* A label that text cannot hold would read back as something else. */
static hunch_status label_check(const char *label, hunch_error *reterr)
{
    const char *p = label;
    while ((unsigned)(*p - '0') < 10)
        p++;
    if (!*label || *label == '#' || strpbrk(label, " \t\r\n") || (p > label && *p == ':'))
        return fail_with(reterr, HUNCH_EINVAL, "label '%s' cannot be written as svmlight text",
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
        n += digits_print((uint64_t)batch->index[i] + base, text + n);
        text[n++] = ':';
        n += svmlight_print(batch->value[i], text + n);
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
                status = fail_memory(reterr);
                break;
            }
        }
        size_t size = row_print(batch, i, label, index_base, text);
        status = written(file, fwrite(text, 1, size, file), size, reterr);
    }
    free(text);
    return status;
}
