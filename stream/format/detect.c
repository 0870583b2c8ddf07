/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/detect.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

static const struct {
    const char *ending;
    enum stream_format format;
} endings[] = {
    {".svm", STREAM_SVMLIGHT}, {".svmlight", STREAM_SVMLIGHT}, {".libsvm", STREAM_SVMLIGHT},
    {".csv", STREAM_CSV},      {".tsv", STREAM_TSV},           {".vw", STREAM_VW},
    {".jsonl", STREAM_JSONL},  {".ndjson", STREAM_JSONL},      {".json", STREAM_JSONL},
    {".arff", STREAM_ARFF},
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

/* What people have that is no text of rows, and the command that makes CSV of it: what stands before and after the
 * file's name. */
#define PANDAS(reader) "python3 -c \"import pandas; print(pandas.read_" reader "('", "').to_csv(index=False))\""

static const struct {
    const char *magic;
    size_t length, at;
    const char *what, *before, *after;
} others[] = {
    {"PAR1", 4, 0, "a Parquet file", "duckdb -csv -c \"SELECT * FROM '", "'\""},
    {"ARROW1", 6, 0, "an Arrow file", PANDAS("feather")},
    {"FEA1", 4, 0, "a Feather file", PANDAS("feather")},
    {"ORC", 3, 0, "an ORC file", PANDAS("orc")},
    {"Obj\1", 4, 0, "an Avro file", "duckdb -csv -c \"INSTALL avro; LOAD avro; FROM read_avro('", "')\""},
    {"SQLite format 3", 16, 0, "an SQLite database", "sqlite3 -csv -header ", " 'SELECT * FROM name_of_the_table'"},
    {"\x89HDF\r\n", 6, 0, "an HDF5 file", PANDAS("hdf")},
    {"\x93NUMPY", 6, 0, "a NumPy array", "python3 -c \"import numpy, sys; numpy.savetxt(sys.stdout, numpy.load('",
     "'), '%g', ',')\""},
    {"\x80\4\x95", 3, 0, "a Python pickle", PANDAS("pickle")},
    {"\x80\5\x95", 3, 0, "a Python pickle", PANDAS("pickle")},
    {"\xd0\xcf\x11\xe0", 4, 0, "an old Excel workbook", "libreoffice --headless --convert-to csv ", ""},
    {"RDX", 3, 0, "data of R", "Rscript -e 'print(load(\"", "\"))', then write.csv"},
    {"X\n\0\0", 4, 0, "data of R", "Rscript -e 'write.csv(readRDS(\"", "\"), row.names=FALSE)'"},
    {"$FL", 3, 0, "an SPSS file", PANDAS("spss")},
    {"<stata_dta>", 11, 0, "a Stata file", PANDAS("stata")},
    {"7z\xbc\xaf", 4, 0, "a 7z archive", "7z x -so ", ""},
    {"Rar!", 4, 0, "a RAR archive", "unrar p -inul ", ""},
    {"ustar", 5, 257, "a tar archive", "tar -xOf ", " name_of_the_file"},
    {"%PDF-", 5, 0, "a PDF document", NULL, NULL},
    {"<!DOCTYPE", 9, 0, "a page of HTML, perhaps a failed download", NULL, NULL},
    {"<!doctype", 9, 0, "a page of HTML, perhaps a failed download", NULL, NULL},
    {"<html", 5, 0, "a page of HTML, perhaps a failed download", NULL, NULL},
    {"<?xml", 5, 0, "XML", PANDAS("xml")},
    {"version https://git-lfs", 23, 0, "a pointer of Git LFS (git lfs pull fetches the file)", NULL, NULL},
};

/* A line of dashes with bars or crosses between them among the first few: a table as terminals and Markdown draw it. */
static bool is_drawn(const char *text, const char *end)
{
    for (int i = 0; i < 4 && text < end; i++) {
        const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
        size_t dashes = 0, bars = 0;
        const char *p = text;
        for (; p < stop && strchr("-+|:= \r", *p) && *p; p++) {
            dashes += *p == '-';
            bars += *p == '|' || *p == '+';
        }
        if (p == stop && dashes >= 3 && bars)
            return true;
        text = stop + 1;
    }
    return false;
}

hunch_status detect_refuse(const char *path, const char *text, size_t size, hunch_error *reterr)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        bool is_word = isupper((unsigned char)others[i].magic[0]);
        if (is_word && !memchr(text, 0, size)) /* a table whose first column is called ORCID, for one */
            continue;
        if (size < others[i].at + others[i].length || memcmp(text + others[i].at, others[i].magic, others[i].length))
            continue;
        if (!others[i].before)
            return error_set(reterr, HUNCH_EINVAL, "%s: is %s, not a table", path, others[i].what);
        return error_set(reterr, HUNCH_EINVAL, "%s: is %s; convert it to CSV with: %s%s%s", path, others[i].what,
                         others[i].before, path, others[i].after);
    }
    if (is_drawn(text, text + size))
        return error_set(
            reterr, HUNCH_EINVAL,
            "%s: is a table drawn with lines; psql --csv, mysql --batch and sqlite3 -csv write one that can "
            "be read",
            path);
    return HUNCH_OK;
}

/* --- JSON that is no lines of objects --- */

static const char *blanks_skip(const char *text, const char *end)
{
    while (text < end && strchr(" \t\r\n", *text))
        text++;
    return text;
}

/* What the first object holds, whose brace is at text: nothing but plain values, objects or arrays, or a list of objects,
 * which is what matters then: ret_key is its key, in quotes. */
enum holds { HOLDS_VALUES, HOLDS_NESTED, HOLDS_LIST };

static enum holds object_look(const char *text, const char *end, const char **ret_key, size_t *ret_length)
{
    enum holds found = HOLDS_VALUES;
    for (int depth = 0; text < end && *text; text++) {
        if (*text == '"') {
            const char *begin = text++;
            while (text < end && *text != '"')
                text += *text == '\\' ? 2 : 1;
            const char *next = blanks_skip(text + 1, end);
            if (depth == 1 && next < end && *next == ':') {
                *ret_key = begin;
                *ret_length = (size_t)(text + 1 - begin);
            }
        } else if (*text == '{' || *text == '[') {
            const char *next = blanks_skip(text + 1, end);
            if (depth == 1 && *text == '[' && next < end && *next == '{')
                return HOLDS_LIST;
            found = depth++ ? HOLDS_NESTED : found;
        } else if ((*text == '}' || *text == ']') && --depth == 0) {
            break;
        }
    }
    return found;
}

bool detect_document(const char *text, size_t size)
{
    const char *end = text + size, *first = blanks_skip(text, end);
    if (first == end || *first != '{')
        return first < end && *first == '[';
    for (first++; first < end && (*first == ' ' || *first == '\t' || *first == '\r');)
        first++;
    return first < end && *first == '\n';
}

hunch_status detect_refuse_document(const char *path, const char *text, size_t size, hunch_error *reterr)
{
    const char *end = text + size, *first = blanks_skip(text, end), *key = "";
    size_t length = 0;
    bool array = *first == '[';
    const char *object = array ? memchr(first, '{', (size_t)(end - first)) : first;
    enum holds holds = object ? object_look(object, end, &key, &length) : HOLDS_VALUES;
    if (!array && holds == HOLDS_LIST)
        return error_set(
            reterr, HUNCH_EINVAL,
            "%s: is a JSON object with a list of objects; convert it to JSON lines with: jq -c '.%.*s[]' %s", path,
            (int)length, key, path);
    return error_set(reterr, HUNCH_EINVAL, "%s: is a JSON %s; convert it to JSON lines with: jq -c '%s%s' %s", path,
                     array ? "array" : "object of several lines", array ? ".[]" : ".", holds ? "|" JQ_FLAT : "", path);
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
        if (text == stop || *text == '#' || *text == '%')
            continue;
        if (stop - text >= 9 && !strncasecmp(text, "@relation", 9))
            return STREAM_ARFF;
        size_t length = (size_t)(stop - text);
        if (*text == '{' || (*text == '[' && (length == 1 || strchr("{[ \r", text[1]))))
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
    case STREAM_ARFF:
        return &format_arff;
    case STREAM_AUTO:
    case STREAM_CACHE:
        break;
    }
    return NULL;
}
