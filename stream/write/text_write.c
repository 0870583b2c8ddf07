/* SPDX-License-Identifier: BSD-3-Clause */
#include "write/text_write.h"

#include <string.h>

#include "base/json.h"
#include "base/number.h"

static const char *feature_text(const struct row_names *names, uint32_t feature, char number[NUMBER_TEXT])
{
    const char *text = names->features ? names_text(names->features, feature, NULL) : NULL;
    if (text)
        return text;
    number_print_whole((uint64_t)feature + names->base, number);
    return number;
}

static const char *label_text(const struct row_names *names, uint32_t label)
{
    return label == STREAM_NO_LABEL ? NULL : names_text(names->labels, label, NULL);
}

static void value_write(FILE *file, float value)
{
    char text[NUMBER_TEXT];
    number_print_float(value, text);
    fputs(text, file);
}

static void bytes_write(void *file, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, file);
}

void text_write_string(FILE *file, const char *text)
{
    json_quote(bytes_write, file, text, strlen(text));
}

void text_write_features(FILE *file, const uint32_t *index, const float *value, size_t n, const struct row_names *names)
{
    char number[NUMBER_TEXT];
    putc('{', file);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fputs(", ", file);
        text_write_string(file, feature_text(names, index ? index[i] : (uint32_t)i, number));
        fputs(": ", file);
        value_write(file, value[i]);
    }
    putc('}', file);
}

void jsonl_write(FILE *file, const struct rows *rows, const struct row_names *names)
{
    for (size_t i = 0; i < rows->n; i++) {
        const char *label = label_text(names, rows->label[i]);
        size_t begin = (size_t)rows->start[i], n = (size_t)rows->start[i + 1] - begin;
        putc('{', file);
        if (label) {
            fputs("\"label\": ", file);
            text_write_string(file, label);
            fputs(", ", file);
        }
        fputs("\"x\": ", file);
        text_write_features(file, rows->index + begin, rows->value + begin, n, names);
        fputs("}\n", file);
    }
}

static void vw_name(FILE *file, const char *name)
{
    for (; *name; name++)
        putc(strchr(" \t\r\n:|", *name) ? '_' : *name, file);
}

void vw_write(FILE *file, const struct rows *rows, const struct row_names *names)
{
    char number[NUMBER_TEXT];
    for (size_t i = 0; i < rows->n; i++) {
        const char *label = label_text(names, rows->label[i]);
        if (label) {
            vw_name(file, label);
            putc(' ', file);
        }
        putc('|', file);
        for (int64_t j = rows->start[i]; j < rows->start[i + 1]; j++) {
            putc(' ', file);
            vw_name(file, feature_text(names, rows->index[j], number));
            if (rows->value[j] != 1) {
                putc(':', file);
                value_write(file, rows->value[j]);
            }
        }
        putc('\n', file);
    }
}

/* Quoted where it must be. */
void text_write_cell(FILE *file, const char *text)
{
    if (!*text || (!strpbrk(text, "\",\r\n") && *text != ' ' && text[strlen(text) - 1] != ' ')) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

void csv_write(FILE *file, const struct rows *rows, uint32_t width, const struct row_names *names)
{
    char number[NUMBER_TEXT];
    for (uint32_t j = 0; j < width; j++) {
        text_write_cell(file, feature_text(names, j, number));
        putc(',', file);
    }
    fputs("label\n", file);
    for (size_t i = 0; i < rows->n; i++) {
        int64_t at = rows->start[i];
        for (uint32_t j = 0; j < width; j++) {
            if (at < rows->start[i + 1] && rows->index[at] == j)
                value_write(file, rows->value[at++]);
            else
                putc('0', file);
            putc(',', file);
        }
        const char *label = label_text(names, rows->label[i]);
        text_write_cell(file, label ? label : "");
        putc('\n', file);
    }
}
