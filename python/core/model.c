/* SPDX-License-Identifier: BSD-3-Clause */
/* Models as files and bytes; merging; the bytes that are kept with a model. */
#include "core.h"

PyObject *learner_save(PyObject *self, PyObject *path)
{
    struct learner *l = (struct learner *)self;
    PyObject *encoded;
    hunch_error error = {""};
    hunch_status status;
    if (!PyUnicode_FSConverter(path, &encoded))
        return NULL;
    const char *name = PyBytes_AsString(encoded);
    learner_lock(l);
    Py_BEGIN_ALLOW_THREADS status = hunch_save(l->h, name, &error);
    Py_END_ALLOW_THREADS learner_unlock(l);
    Py_DECREF(encoded);
    if (status != HUNCH_OK)
        return raise_status(status, error.message);
    Py_RETURN_NONE;
}

PyObject *learner_write(PyObject *self, PyObject *none)
{
    struct learner *l = (struct learner *)self;
    hunch_error error = {""};
    hunch_status status;
    void *bytes;
    size_t size;
    learner_lock(l);
    Py_BEGIN_ALLOW_THREADS status = hunch_write(l->h, &bytes, &size, &error);
    Py_END_ALLOW_THREADS learner_unlock(l);
    if (status != HUNCH_OK)
        return raise_status(status, error.message);
    PyObject *result = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    hunch_free_bytes(bytes);
    return result;
}

PyObject *learner_load(PyObject *type, PyObject *path)
{
    PyObject *encoded;
    hunch_error error = {""};
    hunch_status status;
    hunch *h;
    if (!PyUnicode_FSConverter(path, &encoded))
        return NULL;
    const char *name = PyBytes_AsString(encoded);
    Py_BEGIN_ALLOW_THREADS status = hunch_load(&h, name, &error);
    Py_END_ALLOW_THREADS Py_DECREF(encoded);
    return status == HUNCH_OK ? learner_wrap(type, h) : raise_status(status, error.message);
}

PyObject *learner_read(PyObject *type, PyObject *args)
{
    const char *bytes;
    Py_ssize_t size;
    hunch_error error = {""};
    hunch_status status;
    hunch *h;
    if (!PyArg_ParseTuple(args, "y#", &bytes, &size))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = hunch_read(&h, bytes, (size_t)size, &error);
    Py_END_ALLOW_THREADS return status == HUNCH_OK ? learner_wrap(type, h) : raise_status(status, error.message);
}

/* Two locks are always taken in the order of their addresses, so that two merges cannot wait for each other. */
PyObject *learner_merge(PyObject *self, PyObject *other)
{
    if (Py_TYPE(self) != Py_TYPE(other) || self == other) {
        PyErr_SetString(PyExc_ValueError, "a learner is merged with another learner");
        return NULL;
    }
    struct learner *to = (struct learner *)self, *from = (struct learner *)other;
    struct learner *first = to < from ? to : from, *second = to < from ? from : to;
    hunch_status status;
    learner_lock(first);
    learner_lock(second);
    Py_BEGIN_ALLOW_THREADS status = hunch_merge(to->h, from->h);
    Py_END_ALLOW_THREADS learner_unlock(from);
    if (status != HUNCH_OK)
        return learner_raise(to, status);
    learner_unlock(to);
    Py_RETURN_NONE;
}

PyObject *learner_set_meta(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    const char *key, *bytes;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "sy#", &key, &bytes, &size))
        return NULL;
    learner_lock(l);
    hunch_status status = hunch_set_meta(l->h, key, bytes, (size_t)size);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    Py_RETURN_NONE;
}

PyObject *learner_get_meta(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    const char *key;
    size_t size = 0;
    if (!PyArg_ParseTuple(args, "s", &key))
        return NULL;
    learner_lock(l);
    const void *bytes = hunch_get_meta(l->h, key, &size);
    PyObject *result = bytes ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : NULL;
    learner_unlock(l);
    if (result || bytes)
        return result;
    Py_RETURN_NONE;
}
