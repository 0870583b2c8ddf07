/* SPDX-License-Identifier: BSD-3-Clause */
/* The learner's type: one round at a time, and what a learner is. */
#include "core.h"

#include <string.h>

void learner_lock(struct learner *l)
{
    if (PyThread_acquire_lock(l->lock, NOWAIT_LOCK))
        return;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(l->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS
}

void learner_unlock(struct learner *l)
{
    PyThread_release_lock(l->lock);
}

/* The reason lives in the learner: call with the lock held; it is let go here. */
PyObject *learner_raise(struct learner *l, hunch_status status)
{
    char reason[sizeof(hunch_error)];
    strncpy(reason, hunch_reason(l->h), sizeof reason - 1);
    reason[sizeof reason - 1] = '\0';
    learner_unlock(l);
    return raise_status(status, reason);
}

/* --- making and freeing --- */

PyObject *learner_wrap(PyObject *type, hunch *h)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    struct learner *l = (struct learner *)alloc((PyTypeObject *)type, 0);
    if (!l) {
        hunch_free(h);
        return NULL;
    }
    l->h = h;
    l->lock = PyThread_allocate_lock();
    if (!l->lock) {
        Py_DECREF(l);
        return PyErr_NoMemory();
    }
    return (PyObject *)l;
}

static PyObject *learner_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"spec", "classes", "features", "max_features", "seed", "memory", NULL};
    hunch_options options = HUNCH_OPTIONS_INIT;
    unsigned int classes = options.classes, features = 0, max_features = 0;
    unsigned long long seed = 0, memory = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|zIIIKK", names, &options.learner, &classes, &features,
                                     &max_features, &seed, &memory))
        return NULL;
    options.classes = classes;
    options.features = features;
    options.max_features = max_features;
    options.seed = seed;
    options.memory = memory;
    hunch *h;
    hunch_error error = {""};
    hunch_status status = hunch_create(&h, &options, &error);
    return status == HUNCH_OK ? learner_wrap((PyObject *)type, h) : raise_status(status, error.message);
}

static void learner_dealloc(PyObject *self)
{
    struct learner *l = (struct learner *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    hunch_free(l->h);
    if (l->lock)
        PyThread_free_lock(l->lock);
    release(self);
    Py_DECREF(type);
}

/* --- one round --- */

/* An example: index (or None) and value, open until example_close. */
struct example {
    struct array index, value;
    hunch_vec x;
};

static void example_close(struct example *e)
{
    array_close(&e->index);
    array_close(&e->value);
}

static bool example_open(struct example *ret, PyObject *index, PyObject *value)
{
    *ret = (struct example){0};
    if (array_open(&ret->index, index, 'u', 4, ARRAY_READ, "index") &&
        array_open(&ret->value, value, 'f', 4, ARRAY_READ, "value")) {
        ret->x = (hunch_vec){index == Py_None ? NULL : ret->index.data, ret->value.data, ret->value.n};
        if (!ret->x.index || ret->index.n == ret->value.n)
            return true;
        PyErr_SetString(PyExc_ValueError, "index and value have different lengths");
    }
    example_close(ret);
    return false;
}

static PyObject *learner_predict(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *index, *value;
    struct example e;
    hunch_choice c;
    if (!PyArg_ParseTuple(args, "OO", &index, &value) || !example_open(&e, index, value))
        return NULL;
    learner_lock(l);
    hunch_status status = hunch_predict(l->h, &e.x, &c);
    example_close(&e);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    return Py_BuildValue("(KdIII)", (unsigned long long)c.round, c.prob, c.label, c.greedy, c.note);
}

static PyObject *learner_feedback(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *index, *value;
    struct example e;
    unsigned long long round;
    unsigned int label, greedy, note;
    hunch_choice c = {0};
    int right;
    if (!PyArg_ParseTuple(args, "OO(KdIII)p", &index, &value, &round, &c.prob, &label, &greedy, &note, &right) ||
        !example_open(&e, index, value))
        return NULL;
    c.round = round;
    c.label = label;
    c.greedy = greedy;
    c.note = note;
    learner_lock(l);
    hunch_status status = hunch_feedback(l->h, &e.x, &c, right);
    example_close(&e);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    Py_RETURN_NONE;
}

static PyObject *learner_teach(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *index, *value;
    struct example e;
    unsigned int label;
    if (!PyArg_ParseTuple(args, "OOI", &index, &value, &label) || !example_open(&e, index, value))
        return NULL;
    learner_lock(l);
    hunch_status status = hunch_teach(l->h, &e.x, label);
    example_close(&e);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    Py_RETURN_NONE;
}

/* --- what a learner is --- */

static PyObject *learner_add_classes(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    unsigned int more;
    if (!PyArg_ParseTuple(args, "I", &more))
        return NULL;
    learner_lock(l);
    hunch_status status = hunch_add_classes(l->h, more);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    Py_RETURN_NONE;
}

static PyObject *learner_reseed(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    unsigned long long seed;
    if (!PyArg_ParseTuple(args, "K", &seed))
        return NULL;
    learner_lock(l);
    hunch_reseed(l->h, seed);
    learner_unlock(l);
    Py_RETURN_NONE;
}

static PyObject *learner_tensors(PyObject *self, PyObject *none)
{
    (void)none;
    struct learner *l = (struct learner *)self;
    PyObject *list = PyList_New(0);
    bool ok = list != NULL;
    learner_lock(l);
    size_t n = hunch_tensors(l->h, 0, NULL);
    for (size_t i = 0; ok && i < n; i++) {
        hunch_tensor t;
        hunch_tensors(l->h, i, &t);
        PyObject *item = Py_BuildValue("(snn)", t.name, (Py_ssize_t)t.rows, (Py_ssize_t)t.columns);
        ok = item && PyList_Append(list, item) == 0;
        Py_XDECREF(item);
    }
    learner_unlock(l);
    if (ok)
        return list;
    Py_XDECREF(list);
    return NULL;
}

static PyObject *learner_tensor(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    const char *name;
    Py_ssize_t rows, columns;
    PyObject *out;
    struct array a;
    if (!PyArg_ParseTuple(args, "snnO", &name, &rows, &columns, &out) ||
        !array_open(&a, out, 'f', 8, ARRAY_WRITE, "out"))
        return NULL;
    bool ok = a.n == (size_t)rows * (size_t)columns;
    learner_lock(l);
    for (Py_ssize_t i = 0; ok && i < rows; i++)
        for (Py_ssize_t j = 0; ok && j < columns; j++)
            ok = hunch_get(l->h, name, (size_t)i, (size_t)j, (double *)a.data + i * columns + j) == HUNCH_OK;
    learner_unlock(l);
    array_close(&a);
    if (ok)
        Py_RETURN_NONE;
    PyErr_Format(PyExc_ValueError, "no tensor '%s' of %zd x %zd", name, rows, columns);
    return NULL;
}

/* One line per number that a learner can be asked for. */
#define NUMBER(name)                                                                                                   \
    static PyObject *get_##name(PyObject *self, void *unused)                                                          \
    {                                                                                                                  \
        struct learner *l = (struct learner *)self;                                                                    \
        (void)unused;                                                                                                  \
        learner_lock(l);                                                                                               \
        unsigned long long number = hunch_##name(l->h);                                                                \
        learner_unlock(l);                                                                                             \
        return PyLong_FromUnsignedLongLong(number);                                                                    \
    }
NUMBER(classes)
NUMBER(features)
NUMBER(rounds)
NUMBER(bytes)

/* These two never change, so no lock. */
static PyObject *get_spec(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(hunch_spec(((struct learner *)self)->h));
}

static PyObject *get_algorithm(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(hunch_algorithm_of(((struct learner *)self)->h)->name);
}

static PyGetSetDef properties[] = {
    {"classes", get_classes, NULL, "How many classes there are.", NULL},
    {"features", get_features, NULL, "The largest feature seen + 1.", NULL},
    {"rounds", get_rounds, NULL, "Predictions made.", NULL},
    {"bytes", get_bytes, NULL, "Memory that the state takes.", NULL},
    {"spec", get_spec, NULL, "The full spec.", NULL},
    {"algorithm", get_algorithm, NULL, "The algorithm's name.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"predict", learner_predict, METH_VARARGS, "predict(index, value) -> (round, prob, label, greedy, note)"},
    {"feedback", learner_feedback, METH_VARARGS, "feedback(index, value, choice, right)"},
    {"teach", learner_teach, METH_VARARGS, "teach(index, value, label)"},
    {"run", learner_run, METH_VARARGS, "run(start, index, value, labels, label, greedy, prob, note, round)"},
    {"teach_batch", learner_teach_batch, METH_VARARGS, "teach_batch(start, index, value, labels)"},
    {"score_batch", learner_score_batch, METH_VARARGS, "score_batch(start, index, value, rows, labels, scores)"},
    {"add_classes", learner_add_classes, METH_VARARGS, "add_classes(more)"},
    {"reseed", learner_reseed, METH_VARARGS, "reseed(seed)"},
    {"tensors", learner_tensors, METH_NOARGS, "tensors() -> [(name, rows, columns)]"},
    {"tensor", learner_tensor, METH_VARARGS, "tensor(name, rows, columns, out)"},
    {"save", learner_save, METH_O, "save(path)"},
    {"write", learner_write, METH_NOARGS, "write() -> bytes"},
    {"load", learner_load, METH_O | METH_CLASS, "load(path) -> Learner"},
    {"read", learner_read, METH_VARARGS | METH_CLASS, "read(bytes) -> Learner"},
    {"merge", learner_merge, METH_O, "merge(other)"},
    {"set_meta", learner_set_meta, METH_VARARGS, "set_meta(key, bytes)"},
    {"get_meta", learner_get_meta, METH_VARARGS, "get_meta(key) -> bytes or None"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)learner_new}, {Py_tp_dealloc, (void *)learner_dealloc},      {Py_tp_methods, methods},
    {Py_tp_getset, properties},       {Py_tp_doc, (void *)"A learner, by numbers."}, {0, NULL},
};

static PyType_Spec type_spec = {"hunch._core.Learner", sizeof(struct learner), 0, Py_TPFLAGS_DEFAULT, slots};

PyObject *learner_type(void)
{
    return PyType_FromSpec(&type_spec);
}
