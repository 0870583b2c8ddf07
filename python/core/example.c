/* SPDX-License-Identifier: BSD-3-Clause */
/* One example: arrays as they are, or a dict of names looked up without a detour through Python. */
#include "core.h"

#include <math.h>
#include <stdlib.h>

void example_close(struct example *e)
{
    array_close(&e->arrays[0]);
    array_close(&e->arrays[1]);
    Py_CLEAR(e->added);
    free(e->memory);
    e->memory = NULL;
}

void example_undo(struct example *e)
{
    PyObject *type, *value, *trace; /* the exception that is under way stays */
    PyErr_Fetch(&type, &value, &trace);
    for (Py_ssize_t i = 0; e->added && i < PyList_Size(e->added); i++)
        if (PyDict_DelItem(e->features, PyList_GetItem(e->added, i)) < 0)
            PyErr_Clear();
    PyErr_Restore(type, value, trace);
    example_close(e);
}

static enum example_result arrays_open(struct example *e, PyObject *index, PyObject *value)
{
    if (!array_open(&e->arrays[0], index, 'u', 4, ARRAY_READ, "index") ||
        !array_open(&e->arrays[1], value, 'f', 4, ARRAY_READ, "value"))
        return EXAMPLE_FAILED;
    e->x = (hunch_vec){index == Py_None ? NULL : e->arrays[0].data, e->arrays[1].data, e->arrays[1].n};
    if (!e->x.index || e->arrays[0].n == e->arrays[1].n)
        return EXAMPLE_READY;
    PyErr_SetString(PyExc_ValueError, "index and value have different lengths");
    return EXAMPLE_FAILED;
}

/* --- dicts --- */

/* A name (new reference) and a value: {"colour": "red"} is {"colour=red": 1}. */
static enum example_result item_read(PyObject *key, PyObject *value, PyObject **ret_name, double *ret_value)
{
    if (!PyUnicode_CheckExact(key))
        return EXAMPLE_NOT_PLAIN;
    if (PyUnicode_CheckExact(value)) {
        if (PyUnicode_GetLength(value) == 0 || PyUnicode_ReadChar(value, 0) == ' ')
            return EXAMPLE_NOT_PLAIN; /* missing, perhaps */
        *ret_value = 1;
        *ret_name = PyUnicode_FromFormat("%U=%U", key, value);
        return *ret_name ? EXAMPLE_READY : EXAMPLE_FAILED;
    }
    if (PyFloat_Check(value))
        *ret_value = PyFloat_AsDouble(value);
    else if (PyLong_CheckExact(value) || PyBool_Check(value))
        *ret_value = PyLong_AsDouble(value);
    else
        return EXAMPLE_NOT_PLAIN;
    if (!(fabs(*ret_value) <= (double)HUNCH_MAX_VALUE))
        return EXAMPLE_NOT_PLAIN; /* missing, or too large, which Python's own way tells by name */
    if (*ret_value == -1 && PyErr_Occurred()) {
        PyErr_Clear(); /* too large a whole number: Python's own way tells so */
        return EXAMPLE_NOT_PLAIN;
    }
    Py_INCREF(key);
    *ret_name = key;
    return EXAMPLE_READY;
}

/* Empty names and such with a NUL can't be kept in models. */
static bool name_is_good(PyObject *name)
{
    Py_ssize_t length = PyUnicode_GetLength(name);
    return length > 0 && PyUnicode_FindChar(name, 0, 0, length, 1) == -1;
}

/* The names that are new get numbers. */
static enum example_result names_add(struct example *e, size_t limit, int sort)
{
    if (sort && PyList_Sort(e->added) < 0)
        return EXAMPLE_FAILED;
    Py_ssize_t n = PyList_Size(e->added);
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PyList_GetItem(e->added, i);
        size_t number = (size_t)PyDict_Size(e->features);
        if (number >= limit) {
            PyErr_Format(PyExc_ValueError, "more than %zu features", limit);
            return EXAMPLE_FAILED;
        }
        PyObject *boxed = PyLong_FromSize_t(number);
        int bad = !boxed || PyDict_SetItem(e->features, name, boxed) < 0;
        Py_XDECREF(boxed);
        if (bad)
            return EXAMPLE_FAILED;
    }
    return EXAMPLE_READY;
}

static enum example_result pair_look_up(struct example *e, PyObject *name, double value, struct pair *ret, bool *found)
{
    PyObject *number = PyDict_GetItemWithError(e->features, name);
    *found = number != NULL;
    if (number)
        *ret = (struct pair){(uint32_t)PyLong_AsUnsignedLong(number), (float)value};
    return PyErr_Occurred() ? EXAMPLE_FAILED : EXAMPLE_READY;
}

/* One pass over the dict. missing: what is done with names that have no number yet: leave them out, or gather them. */
static enum example_result dict_pass(struct example *e, PyObject *dict, bool gather)
{
    PyObject *key, *value, *name;
    Py_ssize_t at = 0;
    size_t n = 0;
    enum example_result result = EXAMPLE_READY;
    while (result == EXAMPLE_READY && PyDict_Next(dict, &at, &key, &value)) {
        double number;
        bool found;
        result = item_read(key, value, &name, &number);
        if (result != EXAMPLE_READY)
            break;
        result = pair_look_up(e, name, number, &e->pairs[n], &found);
        n += result == EXAMPLE_READY && found;
        if (result == EXAMPLE_READY && !found && !name_is_good(name))
            result = EXAMPLE_NOT_PLAIN;
        else if (result == EXAMPLE_READY && !found && gather)
            result = PyList_Append(e->added, name) < 0 ? EXAMPLE_FAILED : EXAMPLE_READY;
        Py_DECREF(name);
    }
    e->x.n = n;
    return result;
}

static int pairs_compare(const void *a, const void *b)
{
    uint32_t x = ((const struct pair *)a)->index, y = ((const struct pair *)b)->index;
    return (x > y) - (x < y);
}

/* Names mostly come in the order of their numbers. */
static bool pairs_sort(struct pair *pairs, size_t n)
{
    bool sorted = true, distinct = true;
    for (size_t i = 1; i < n && sorted; i++)
        sorted = pairs[i - 1].index <= pairs[i].index;
    if (!sorted)
        qsort(pairs, n, sizeof *pairs, pairs_compare);
    for (size_t i = 1; i < n && distinct; i++)
        distinct = pairs[i - 1].index != pairs[i].index;
    return distinct;
}

/* Pairs to two arrays: the room behind the pairs holds them. */
static void pairs_split(struct example *e, size_t room)
{
    uint32_t *index = (uint32_t *)(e->pairs + room);
    float *value = (float *)(index + room);
    for (size_t i = 0; i < e->x.n; i++) {
        index[i] = e->pairs[i].index;
        value[i] = e->pairs[i].value;
    }
    e->x.index = index;
    e->x.value = value;
}

static enum example_result dict_open(struct example *e, PyObject *dict, size_t limit, int sort)
{
    size_t room = (size_t)PyDict_Size(dict);
    e->pairs = e->few;
    if (room > EXAMPLE_PAIRS / 2) {
        e->pairs = e->memory = malloc(2 * room * sizeof *e->pairs);
        if (!e->memory) {
            PyErr_NoMemory();
            return EXAMPLE_FAILED;
        }
    }
    e->added = limit ? PyList_New(0) : NULL;
    if (limit && !e->added)
        return EXAMPLE_FAILED;
    enum example_result result = dict_pass(e, dict, limit);
    if (result == EXAMPLE_READY && limit && PyList_Size(e->added)) {
        result = names_add(e, limit, sort);
        if (result == EXAMPLE_READY)
            result = dict_pass(e, dict, false);
    } else if (result == EXAMPLE_NOT_PLAIN) {
        Py_CLEAR(e->added); /* none of them has a number yet */
    }
    if (result == EXAMPLE_READY && !pairs_sort(e->pairs, e->x.n)) {
        PyErr_SetString(PyExc_ValueError, "a feature is given twice");
        result = EXAMPLE_FAILED;
    }
    if (result == EXAMPLE_READY)
        pairs_split(e, room);
    return result;
}

enum example_result example_open(struct example *ret, PyObject *x)
{
    PyObject *first, *second;
    Py_ssize_t limit = -1;
    int sort = 0;
    ret->x = (hunch_vec){NULL, NULL, 0};
    ret->arrays[0] = ret->arrays[1] = (struct array){0};
    ret->memory = ret->added = NULL;
    if (!PyArg_ParseTuple(x, "OO|np", &first, &second, &limit, &sort))
        return EXAMPLE_FAILED;
    if (limit >= 0 && !(PyDict_Check(first) && PyDict_Check(second))) {
        PyErr_SetString(PyExc_ValueError, "an example with names is a dict, and so are the names' numbers");
        return EXAMPLE_FAILED;
    }
    ret->features = second;
    enum example_result result =
        limit < 0 ? arrays_open(ret, first, second) : dict_open(ret, first, (size_t)limit, sort);
    if (result != EXAMPLE_READY)
        example_undo(ret);
    return result;
}
