/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hunch._stream: files and tables by the same reader, rules and bytes as the hunch command's. An extension of its own:
 * the reader needs libarchive, zstd, jansson and libunistring; the learners (hunch._core) need nothing.
 */
#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

/* Bytes that Python has, instead of a file. */
struct source {
    const char *bytes;
    size_t size, at;
};

static hunch_status source_read(void *context, char *buffer, size_t size, size_t *ret_got, hunch_error *reterr)
{
    struct source *s = context;
    size_t n = s->size - s->at < size ? s->size - s->at : size;
    memcpy(buffer, s->bytes + s->at, n);
    s->at += n;
    *ret_got = n;
    return HUNCH_OK;
}

/* What is read, and what came of it. */
struct table {
    struct stream_options options;
    struct stream_source source;
    struct source bytes;
    struct names *labels, *features; /* a model's */
    struct schema *schema;
    struct stream *stream;
    struct rows all, some;
    hunch_error error;
};

static void table_free(struct table *t)
{
    rows_free(&t->some);
    rows_free(&t->all);
    stream_close(t->stream);
    schema_free(t->schema);
    names_free(t->labels);
    names_free(t->features);
}

/* --- reading --- */

static hunch_status labels_sort(struct table *t)
{
    uint32_t *numbers = NULL;
    hunch_status status = t->labels ? HUNCH_OK : stream_sort_labels(t->stream, &numbers, &t->error);
    for (size_t i = 0; numbers && i < t->all.n; i++)
        if (t->all.label[i] != STREAM_NO_LABEL)
            t->all.label[i] = numbers[t->all.label[i]];
    free(numbers);
    return status;
}

/* All rows of all batches; without the GIL. */
static hunch_status table_read(struct table *t, const char *path)
{
    hunch_status status = stream_open(&t->stream, &path, 1, &t->options, &t->error);
    while (status == HUNCH_OK) {
        status = stream_next(t->stream, &t->some, &t->error);
        if (status != HUNCH_OK || !t->some.n)
            break;
        status = rows_append(&t->all, &t->some, &t->error);
    }
    return status == HUNCH_OK ? labels_sort(t) : status;
}

/* --- options --- */

/* A model's names and schema, as it keeps them. */
static bool known_take(struct table *t, PyObject *known)
{
    const char *labels, *features, *schema;
    Py_ssize_t labels_size, features_size, schema_size;
    if (!PyArg_ParseTuple(known, "z#z#z#", &labels, &labels_size, &features, &features_size, &schema, &schema_size))
        return false;
    t->labels = labels ? names_from_block(labels, (size_t)labels_size) : NULL;
    t->features = features ? names_from_block(features, (size_t)features_size) : NULL;
    if ((labels && !t->labels) || (features && !t->features)) {
        PyErr_SetString(PyExc_ValueError, "the model's names are damaged");
        return false;
    }
    if (schema && schema_read(&t->schema, schema, (size_t)schema_size, &t->error)) {
        PyErr_SetString(PyExc_ValueError, t->error.message);
        return false;
    }
    t->options.labels = t->labels;
    t->options.features = t->features;
    t->options.schema = t->schema;
    t->options.fixed_features = t->features != NULL;
    return true;
}

static bool options_take(struct table *t, PyObject *options)
{
    struct schema_options *c = &t->options.columns;
    int no_header, skip, labelled, log;
    unsigned int ngrams, hash_bits, max_features;
    if (!PyArg_ParseTuple(options, "zzzzzzzzzzppppIII", &c->label, &c->number, &c->category, &c->text, &c->ignore,
                          &c->shown, &c->prob, &c->right, &c->delimiter, &c->missing, &no_header, &skip, &labelled,
                          &log, &ngrams, &hash_bits, &max_features))
        return false;
    c->no_header = no_header;
    c->ngrams = ngrams;
    c->hash_bits = t->options.hash_bits = hash_bits;
    t->options.skip_bad_rows = skip;
    t->options.labelled = labelled;
    t->options.log = log;
    t->options.max_features = max_features;
    return true;
}

static bool format_take(struct table *t, const char *name)
{
    static const struct {
        const char *name;
        enum stream_format format;
    } all[] = {{"auto", STREAM_AUTO}, {"svmlight", STREAM_SVMLIGHT}, {"csv", STREAM_CSV},  {"tsv", STREAM_TSV},
               {"vw", STREAM_VW},     {"jsonl", STREAM_JSONL},       {"arff", STREAM_ARFF}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(name, all[i].name)) {
            t->options.format = all[i].format;
            return true;
        }
    PyErr_Format(PyExc_ValueError, "no format is called '%s'", name);
    return false;
}

/* --- giving --- */

static PyObject *block_give(const struct names *names)
{
    if (!names)
        Py_RETURN_NONE;
    size_t size;
    char *block = names_block(names, &size);
    PyObject *bytes = block ? PyBytes_FromStringAndSize(block, (Py_ssize_t)size) : PyErr_NoMemory();
    free(block);
    return bytes;
}

static PyObject *schema_give(const struct schema *schema)
{
    if (!schema)
        Py_RETURN_NONE;
    json_t *json = schema_json(schema);
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    PyObject *bytes = text ? PyBytes_FromString(text) : PyErr_NoMemory();
    free(text);
    return bytes;
}

/* Of each feature as many as are known: enum hunch_role; None: none are. */
static PyObject *roles_give(const struct rows *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->roles_n; i++)
        n = r->roles[i].feature >= n ? (size_t)r->roles[i].feature + 1 : n;
    if (!n)
        Py_RETURN_NONE;
    char *role = calloc(n, 1);
    if (!role)
        return PyErr_NoMemory();
    for (size_t i = 0; i < r->roles_n; i++)
        role[r->roles[i].feature] = (char)r->roles[i].role;
    PyObject *bytes = PyBytes_FromStringAndSize(role, (Py_ssize_t)n);
    free(role);
    return bytes;
}

static PyObject *remarks_give(const struct names *remarks)
{
    PyObject *list = PyList_New(0);
    for (uint32_t i = 0; list && remarks && i < names_count(remarks); i++) {
        size_t length;
        const char *text = names_text(remarks, i, &length);
        PyObject *remark = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
        if (!remark || PyList_Append(list, remark) < 0)
            Py_CLEAR(list);
        Py_XDECREF(remark);
    }
    return list;
}

static PyObject *bytes_give(const void *data, size_t n, size_t size)
{
    return PyBytes_FromStringAndSize(n ? data : "", (Py_ssize_t)(n * size));
}

static PyObject *table_give(const struct table *t)
{
    const struct rows *r = &t->all;
    static const int64_t none;
    size_t values = r->n ? (size_t)r->start[r->n] : 0;
    PyObject *part[] = {bytes_give(r->n ? r->start : &none, r->n + 1, sizeof *r->start),
                        bytes_give(r->index, values, sizeof *r->index),
                        bytes_give(r->value, values, sizeof *r->value),
                        bytes_give(r->label, r->n, sizeof *r->label),
                        block_give(stream_labels(t->stream)),
                        block_give(stream_features(t->stream)),
                        schema_give(stream_schema(t->stream)),
                        remarks_give(stream_remarks(t->stream)),
                        roles_give(r)};
    PyObject *result = PyTuple_New(9 + 2);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        if (!part[i])
            Py_CLEAR(result);
        if (!result || PyTuple_SetItem(result, (Py_ssize_t)i, part[i]) < 0)
            Py_XDECREF(result ? NULL : part[i]);
    }
    if (!result)
        return NULL;
    PyTuple_SetItem(result, 9, PyLong_FromLong(stream_index_base(t->stream)));
    PyTuple_SetItem(result, 10, PyLong_FromUnsignedLongLong(stream_skipped(t->stream)));
    return result;
}

static PyObject *table_raise(hunch_status status, const char *message)
{
    PyErr_SetString(status == HUNCH_ENOMEM ? PyExc_MemoryError
                    : status == HUNCH_EIO  ? PyExc_OSError
                                           : PyExc_ValueError,
                    message);
    return NULL;
}

/* read(path, bytes or None, format, index_base, options, known) */
static PyObject *read_table(PyObject *module, PyObject *args)
{
    struct table t = {.options = STREAM_OPTIONS_INIT};
    PyObject *path, *options, *known, *result = NULL;
    const char *bytes, *format;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "O&z#siOO", PyUnicode_FSConverter, &path, &bytes, &size, &format, &t.options.index_base,
                          &options, &known))
        return NULL;
    if (bytes) {
        t.bytes = (struct source){bytes, (size_t)size, 0};
        t.source = (struct stream_source){source_read, &t.bytes};
        t.options.source = &t.source;
    }
    if (format_take(&t, format) && options_take(&t, options) && known_take(&t, known)) {
        hunch_status status;
        const char *name = PyBytes_AsString(path);
        Py_BEGIN_ALLOW_THREADS status = table_read(&t, name);
        Py_END_ALLOW_THREADS result = status == HUNCH_OK ? table_give(&t) : table_raise(status, t.error.message);
    }
    Py_DECREF(path);
    table_free(&t);
    return result;
}

static PyMethodDef functions[] = {
    {"read", read_table, METH_VARARGS, "read(path, bytes or None, format, index_base, options, known) -> columns"},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "hunch._stream", "Files and tables.", -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__stream(void);

PyMODINIT_FUNC PyInit__stream(void)
{
    return PyModule_Create(&module);
}
