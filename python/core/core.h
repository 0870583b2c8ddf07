/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch._core: the public C API for Python, by numbers only. Names, choices that carry their example, and every
 * conversion of input are Python's business (python/hunch); here arrays arrive in the form that hunch.h wants. */
#ifndef CORE_H
#define CORE_H

/* The stable ABI: one binary for Python 3.9 and everything newer. */
#define Py_LIMITED_API 0x03090000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pythread.h>
#include <stdbool.h>

#include "hunch.h"

/* --- array.c: the memory of NumPy's arrays --- */

/* A C-contiguous array, held open until array_close. None gives data NULL and n 0. */
struct array {
    PyObject *capsule;
    void *data;
    size_t n;
};

enum array_use { ARRAY_READ, ARRAY_WRITE };

/* kind and size as in numpy.dtype: 'f' and 4 for float32. On failure an exception is set and *ret is closed. */
bool array_open(struct array *ret, PyObject *object, char kind, int size, enum array_use use, const char *what);
void array_close(struct array *a);

/* --- table.c: what the library can do --- */

PyObject *table_algorithms(PyObject *module, PyObject *none);
PyObject *table_common_settings(PyObject *module, PyObject *none);

/* --- example.c: one example --- */

#define EXAMPLE_PAIRS 256

/* Sorted pairs, or all values in order; open until example_close. */
struct example {
    hunch_vec x;
    struct array arrays[2];     /* index and value, when they came as arrays */
    struct pair *pairs;         /* when it came as a dict */
    void *memory;               /* of more pairs than fit below */
    PyObject *features, *added; /* names that were new, in the order of their numbers */
    struct pair {
        uint32_t index;
        float value;
    } few[EXAMPLE_PAIRS];
};

enum example_result { EXAMPLE_FAILED = -1, EXAMPLE_NOT_PLAIN, EXAMPLE_READY };

/* x is (index or None, value), or (dict, features, limit, sort): features is {name: number}. limit > 0: new names get
 * the next numbers, in the dict's order or (sort) in their own, up to that many in all; limit 0: they are left out.
 * Dicts with other things in them than text, numbers and truth values are EXAMPLE_NOT_PLAIN. */
enum example_result example_open(struct example *ret, PyObject *x);
void example_close(struct example *e);
/* After a failure: the names that were new are forgotten; then as example_close. */
void example_undo(struct example *e);

/* --- arrow.c: tables of other libraries --- */

PyObject *arrow_columns(PyObject *module, PyObject *capsule); /* (rows, [(name, bytes, texts or None)]) */

/* --- learner.c: the type --- */

struct learner {
    PyObject_HEAD hunch *h;
    PyThread_type_lock lock; /* one call at a time; held without the GIL during batches */
    unsigned waiting, turns; /* who waits for the lock, and how often it was got by waiting; under the GIL */
};

PyObject *learner_type(void); /* a new reference; NULL with an exception */
void learner_lock(struct learner *l);
void learner_unlock(struct learner *l);
/* Between two holds of the lock: who waits for it gets it first. */
void learner_give_way(struct learner *l);
/* Sets the exception that belongs to status; returns NULL. */
PyObject *raise_status(hunch_status status, const char *reason);
PyObject *learner_raise(struct learner *l, hunch_status status); /* with the learner's own reason */

extern PyObject *ModelError, *ModelFileError;

/* --- batch.c: many rows, without the GIL --- */

/* rows: (how many, start or None, index or None, value). choices: (label, greedy, prob, note, round, margin,
 * confidence), each an array or None where choices come out. */
PyObject *batch_run(PyObject *self, PyObject *args);
PyObject *batch_predict(PyObject *self, PyObject *args);
PyObject *batch_feedback(PyObject *self, PyObject *args);
PyObject *batch_teach(PyObject *self, PyObject *args);
PyObject *batch_learn(PyObject *self, PyObject *args);
PyObject *batch_score(PyObject *self, PyObject *args);

/* --- model.c: files and bytes --- */

PyObject *learner_save(PyObject *self, PyObject *path);
PyObject *learner_write(PyObject *self, PyObject *none);
PyObject *learner_load(PyObject *type, PyObject *path);
PyObject *learner_read(PyObject *type, PyObject *args);
PyObject *learner_merge(PyObject *self, PyObject *other);
PyObject *learner_set_meta(PyObject *self, PyObject *args);
PyObject *learner_get_meta(PyObject *self, PyObject *args);

/* A new object around h, which it owns from then on (also when this fails). */
PyObject *learner_wrap(PyObject *type, hunch *h);

#endif
