/* SPDX-License-Identifier: BSD-3-Clause */
#include "detect.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *ending;
    enum stream_format format;
} endings[] = {
    {".svm", STREAM_SVMLIGHT}, {".svmlight", STREAM_SVMLIGHT}, {".libsvm", STREAM_SVMLIGHT},
    {".csv", STREAM_CSV},      {".tsv", STREAM_TSV},           {".vw", STREAM_VW},
    {".jsonl", STREAM_JSONL},  {".ndjson", STREAM_JSONL},      {".json", STREAM_JSONL},
};

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length > n && strncasecmp(text + length - n, ending, n) == 0;
}

enum stream_format detect_by_name(const char *path)
{
    static const char *const compressed[] = {".gz", ".bz2", ".xz", ".zst", ".zip"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof compressed / sizeof *compressed; i++)
        if (ends_with(path, length, compressed[i])) {
            length -= strlen(compressed[i]);
            break;
        }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, length, endings[i].ending))
            return endings[i].format;
    return STREAM_AUTO;
}

/* A token "digits:" after the first one (or in its place: rows may lack the label). */
static bool looks_like_svmlight(const char *line, const char *end)
{
    for (const char *p = line; p < end; p++) {
        if (p > line && p[-1] != ' ' && p[-1] != '\t')
            continue;
        const char *digits = p;
        while (p < end && (unsigned)(*p - '0') < 10)
            p++;
        if (p > digits && p < end && *p == ':')
            return true;
    }
    return false;
}

/* Bars stand after blanks or before names; where two of them stand between other characters, they separate cells. */
static bool looks_like_vw(const char *line, const char *end)
{
    size_t bars = 0, tight = 0;
    for (const char *p = line; (p = memchr(p, '|', (size_t)(end - p))); p++) {
        bars++;
        tight += p > line && p[-1] != ' ' && p + 1 < end && p[1] != ' ';
    }
    return bars && !(tight == bars && bars > 1);
}

enum stream_format detect_by_text(const char *text, size_t size)
{
    const char *end = text + size;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3; /* a byte order mark */
    for (const char *next; text < end; text = next) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const char *stop = newline ? newline : end;
        next = stop + 1;
        while (text < stop && (*text == ' ' || *text == '\t' || *text == '\r'))
            text++;
        if (text == stop || *text == '#')
            continue;
        size_t length = (size_t)(stop - text);
        if (*text == '{' || (*text == '[' && length > 1 && text[1] == '{'))
            return STREAM_JSONL;
        if (looks_like_svmlight(text, stop) && !memchr(text, '|', length))
            return STREAM_SVMLIGHT;
        if (looks_like_vw(text, stop))
            return STREAM_VW;
        const char *comment = memchr(text, '#', length);
        stop = comment ? comment : stop;
        while (stop > text && strchr(" \t\r", stop[-1]))
            stop--;
        while (text < stop && !strchr(",;\t| ", *text))
            text++;
        return text < stop ? STREAM_CSV : STREAM_SVMLIGHT; /* where a label alone is a row */
    }
    return STREAM_SVMLIGHT;
}

const struct format *detect_format(enum stream_format format)
{
    switch (format) {
    case STREAM_SVMLIGHT:
        return &format_svmlight;
    case STREAM_CSV:
        return &format_csv;
    case STREAM_TSV:
        return &format_tsv;
    case STREAM_VW:
        return &format_vw;
    case STREAM_JSONL:
        return &format_jsonl;
    case STREAM_AUTO:
    case STREAM_CACHE:
        break;
    }
    return NULL;
}
