/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables through Arrow's C stream interface (polars, pyarrow, DuckDB ...): columns of numbers as float32, columns of
 * text and categories as a number for each row and the distinct texts in the order of their first appearance, dates and
 * times as seconds since 1970.
 * The structures and format letters are those of the specification "The Arrow C data interface".
 */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

/* One column while chunks arrive. */
struct column {
    char format;      /* of the values: a letter of the specification; 'v' for text views, 'U' for long text */
    char code_format; /* of a dictionary's numbers; 0: none */
    double unit;      /* dates: -1; times: their units in a second; 0: neither */
    PyObject *texts;  /* {text: number}; NULL: a column of numbers, dates or times */
    void *data;       /* float, int32_t, or int64_t seconds of dates and times, as many as there are rows */
};

struct table {
    size_t columns, rows;
    struct column *column;
};

static bool valid(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *bits = a->n_buffers ? a->buffers[0] : NULL;
    return !bits || bits[i >> 3] >> (i & 7) & 1;
}

static double number_at(const void *data, char format, int64_t i)
{
    switch (format) {
    case 'c':
        return ((const int8_t *)data)[i];
    case 'C':
        return ((const uint8_t *)data)[i];
    case 's':
        return ((const int16_t *)data)[i];
    case 'S':
        return ((const uint16_t *)data)[i];
    case 'i':
        return ((const int32_t *)data)[i];
    case 'I':
        return ((const uint32_t *)data)[i];
    case 'l':
        return (double)((const int64_t *)data)[i];
    case 'L':
        return (double)((const uint64_t *)data)[i];
    case 'f':
        return (double)((const float *)data)[i];
    case 'g':
        return ((const double *)data)[i];
    default: /* 'b' */
        return ((const uint8_t *)data)[i >> 3] >> (i & 7) & 1;
    }
}

/* Text of up to 12 bytes is in its view; longer text in one of the buffers behind. */
static PyObject *view_at(const struct ArrowArray *a, int64_t i)
{
    const char *view = (const char *)a->buffers[1] + 16 * i;
    int32_t part[4];
    memcpy(part, view, sizeof part);
    if (part[0] <= 12)
        return PyUnicode_DecodeUTF8(view + 4, part[0], "surrogateescape");
    return PyUnicode_DecodeUTF8((const char *)a->buffers[2 + part[2]] + part[3], part[0], "surrogateescape");
}

static PyObject *text_at(const struct ArrowArray *a, char format, int64_t i)
{
    if (format == 'v')
        return view_at(a, i);
    int64_t from, to;
    if (format == 'U') {
        from = ((const int64_t *)a->buffers[1])[i];
        to = ((const int64_t *)a->buffers[1])[i + 1];
    } else {
        from = ((const int32_t *)a->buffers[1])[i];
        to = ((const int32_t *)a->buffers[1])[i + 1];
    }
    return PyUnicode_DecodeUTF8((const char *)a->buffers[2] + from, (Py_ssize_t)(to - from), "surrogateescape");
}

/* The number of a text, which is a new one if need be; -1 with an exception. */
static long text_number(PyObject *texts, PyObject *text)
{
    if (!text)
        return -1;
    PyObject *known = PyDict_GetItemWithError(texts, text);
    long number = known ? PyLong_AsLong(known) : PyErr_Occurred() ? -1 : (long)PyDict_Size(texts);
    if (!known && number >= 0) {
        PyObject *boxed = PyLong_FromLong(number);
        if (!boxed || PyDict_SetItem(texts, text, boxed) < 0)
            number = -1;
        Py_XDECREF(boxed);
    }
    Py_DECREF(text);
    return number;
}

/* A chunk's dictionary as numbers of ours, made as they are met: -1 is not met yet. */
static bool codes_read(struct column *c, const struct ArrowArray *a, int32_t *to)
{
    const struct ArrowArray *d = a->dictionary;
    long *ours = malloc(((size_t)d->length + 1) * sizeof *ours);
    bool ok = ours != NULL;
    for (int64_t k = 0; ok && k < d->length; k++)
        ours[k] = -1;
    for (int64_t i = 0; ok && i < a->length; i++) {
        int64_t at = i + a->offset;
        to[i] = -1;
        if (!valid(a, at))
            continue;
        int64_t code = (int64_t)number_at(a->buffers[1], c->code_format, at);
        if (code < 0 || code >= d->length) {
            PyErr_SetString(PyExc_ValueError, "a category's number is out of range");
            ok = false;
        } else if (valid(d, code + d->offset)) {
            if (ours[code] < 0)
                ours[code] = text_number(c->texts, text_at(d, c->format, code + d->offset));
            ok = ours[code] >= 0;
            to[i] = (int32_t)ours[code];
        }
    }
    if (!ours)
        PyErr_NoMemory();
    free(ours);
    return ok;
}

static bool texts_read(struct column *c, const struct ArrowArray *a, int32_t *to)
{
    for (int64_t i = 0; i < a->length; i++) {
        long number = -1;
        if (valid(a, i + a->offset)) {
            number = text_number(c->texts, text_at(a, c->format, i + a->offset));
            if (number < 0)
                return false;
        }
        to[i] = (int32_t)number;
    }
    return true;
}

static void numbers_read(const struct column *c, const struct ArrowArray *a, float *to)
{
    for (int64_t i = 0; i < a->length; i++)
        to[i] = valid(a, i + a->offset) ? (float)number_at(a->buffers[1], c->format, i + a->offset) : NAN;
}

/* Seconds of dates and times; missing ones are the smallest number, as NumPy has it. */
static void dates_read(const struct column *c, const struct ArrowArray *a, int64_t *to)
{
    for (int64_t i = 0; i < a->length; i++) {
        double number = valid(a, i + a->offset) ? number_at(a->buffers[1], c->format, i + a->offset) : NAN;
        to[i] = isnan(number) ? INT64_MIN : (int64_t)(c->unit < 0 ? number * 86400 : floor(number / c->unit));
    }
}

/* --- columns --- */

static char format_of(const char *format)
{
    if (!strcmp(format, "vu"))
        return 'v';
    return strlen(format) == 1 && strchr("cCsSiIlLfgbuU", *format) ? *format : 0;
}

/* Dates and times of no zone, or of that of Greenwich: the others are no local times. */
static double unit_of(const char *format)
{
    static const struct {
        const char *format;
        double unit;
    } units[] = {{"tdD", -1}, {"tdm", 1e3}, {"tss:", 1}, {"tsm:", 1e3}, {"tsu:", 1e6}, {"tsn:", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t n = strlen(units[i].format);
        if (!strncmp(format, units[i].format, n) && (!format[n] || !strcmp(format + n, "UTC")))
            return units[i].unit;
    }
    return 0;
}

static bool column_begin(struct column *c, const struct ArrowSchema *schema)
{
    const struct ArrowSchema *values = schema->dictionary ? schema->dictionary : schema;
    c->unit = schema->dictionary ? 0 : unit_of(values->format);
    c->format = c->unit < 0 ? 'i' : c->unit > 0 ? 'l' : format_of(values->format);
    c->code_format = schema->dictionary ? format_of(schema->format) : 0;
    bool text = c->format && strchr("uUv", c->format);
    if (!c->format || (schema->dictionary && (!text || !c->code_format))) {
        PyErr_Format(PyExc_ValueError,
                     "column '%s': Arrow's type '%s' is neither numbers nor text, nor a date or a time without a zone; "
                     "turn it into one of them",
                     schema->name, values->format);
        return false;
    }
    c->texts = text ? PyDict_New() : NULL;
    return !text || c->texts;
}

static bool table_begin(struct table *t, const struct ArrowSchema *schema)
{
    if (strcmp(schema->format, "+s") != 0) {
        PyErr_SetString(PyExc_ValueError, "a table is expected, with columns");
        return false;
    }
    t->columns = (size_t)schema->n_children;
    t->column = calloc(t->columns + 1, sizeof *t->column);
    if (!t->column) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t j = 0; j < t->columns; j++)
        if (!column_begin(&t->column[j], schema->children[j]))
            return false;
    return true;
}

static size_t column_size(const struct column *c)
{
    return c->unit != 0 ? sizeof(int64_t) : sizeof(float);
}

static bool table_append(struct table *t, const struct ArrowArray *chunk)
{
    size_t rows = t->rows + (size_t)chunk->length;
    for (size_t j = 0; j < t->columns; j++) {
        struct column *c = &t->column[j];
        const struct ArrowArray *a = chunk->children[j];
        size_t size = column_size(c);
        void *data = realloc(c->data, (rows + 1) * size);
        if (!data) {
            PyErr_NoMemory();
            return false;
        }
        c->data = data;
        void *to = (char *)data + t->rows * size;
        if (c->unit != 0)
            dates_read(c, a, to);
        else if (!c->texts)
            numbers_read(c, a, to);
        else if (!(c->code_format ? codes_read(c, a, to) : texts_read(c, a, to)))
            return false;
    }
    t->rows = rows;
    return true;
}

/* (name, bytes of float32, int32 or int64, None, the texts, or True: seconds) */
static PyObject *column_give(const struct column *c, const char *name, size_t rows)
{
    PyObject *texts = c->texts       ? PyDict_Keys(c->texts)
                      : c->unit != 0 ? PyBool_FromLong(1)
                                     : (Py_INCREF(Py_None), Py_None);
    PyObject *data = PyBytes_FromStringAndSize(c->data, (Py_ssize_t)(rows * column_size(c)));
    return texts && data ? Py_BuildValue("(sNN)", name, data, texts) : (Py_XDECREF(texts), Py_XDECREF(data), NULL);
}

static PyObject *table_give(const struct table *t, const struct ArrowSchema *schema)
{
    PyObject *list = PyList_New(0);
    for (size_t j = 0; list && j < t->columns; j++) {
        PyObject *item = column_give(&t->column[j], schema->children[j]->name, t->rows);
        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list ? Py_BuildValue("(nN)", (Py_ssize_t)t->rows, list) : NULL;
}

static void table_end(struct table *t)
{
    for (size_t j = 0; t->column && j < t->columns; j++) {
        Py_XDECREF(t->column[j].texts);
        free(t->column[j].data);
    }
    free(t->column);
}

static bool stream_read(struct ArrowArrayStream *stream, struct table *t, struct ArrowSchema *schema)
{
    bool more = true, ok = stream->get_schema(stream, schema) == 0;
    if (ok && !table_begin(t, schema))
        return false;
    while (ok && more) {
        struct ArrowArray chunk = {0};
        ok = stream->get_next(stream, &chunk) == 0;
        more = ok && chunk.release;
        if (more) {
            bool good = table_append(t, &chunk);
            chunk.release(&chunk);
            if (!good)
                return false;
        }
    }
    if (!ok) {
        const char *why = stream->get_last_error(stream);
        PyErr_Format(PyExc_ValueError, "the table could not be read: %s", why ? why : "no reason given");
    }
    return ok;
}

PyObject *arrow_columns(PyObject *module, PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (!stream)
        return NULL;
    if (!stream->release) {
        PyErr_SetString(PyExc_ValueError, "the table has been read already");
        return NULL;
    }
    struct ArrowSchema schema = {0};
    struct table t = {0};
    PyObject *result = stream_read(stream, &t, &schema) ? table_give(&t, &schema) : NULL;
    table_end(&t);
    if (schema.release)
        schema.release(&schema);
    stream->release(stream); /* as a consumer must; the capsule then has nothing left to free */
    return result;
}
