/* SPDX-License-Identifier: BSD-3-Clause */
/* The learner's type: one round at a time, and what a learner is. */
#include "core.h"

#include <string.h>
#include <time.h>

void learner_lock(struct learner *l)
{
    if (PyThread_acquire_lock(l->lock, NOWAIT_LOCK))
        return;
    l->waiting++;
    Py_BEGIN_ALLOW_THREADS PyThread_acquire_lock(l->lock, WAIT_LOCK);
    Py_END_ALLOW_THREADS l->waiting--;
    l->turns++;
}

/* A lock that is let go and taken again at once goes to nobody else. So wait until someone has had it: who waits has
 * been woken by the unlocking, so it takes a moment only, and no longer than a tenth of a second in any case. */
void learner_give_way(struct learner *l)
{
    unsigned turns = l->turns;
    for (int i = 0; i < 1000 && l->waiting && l->turns == turns; i++) {
        Py_BEGIN_ALLOW_THREADS nanosleep(&(struct timespec){0, 100000}, NULL);
        Py_END_ALLOW_THREADS
    }
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

/* Opens x and takes the lock; NULL: go on. Else what to return: NotImplemented for dicts that are not plain. */
static PyObject *round_begin(struct learner *l, struct example *e, PyObject *x)
{
    enum example_result result = example_open(e, x);
    if (result == EXAMPLE_NOT_PLAIN)
        return Py_INCREF(Py_NotImplemented), Py_NotImplemented;
    if (result == EXAMPLE_READY)
        learner_lock(l);
    return NULL;
}

/* Lets the lock go. False: an exception is set, and new names are forgotten. */
static bool round_end(struct learner *l, struct example *e, hunch_status status)
{
    if (status == HUNCH_OK) {
        learner_unlock(l);
        example_close(e);
        return true;
    }
    learner_raise(l, status);
    example_undo(e);
    return false;
}

static PyObject *none_if(bool ok)
{
    if (!ok)
        return NULL;
    Py_RETURN_NONE;
}

/* among: NULL: all labels. */
static PyObject *predict_among(struct learner *l, PyObject *x, const struct array *among)
{
    struct example e;
    hunch_choice c;
    PyObject *early = round_begin(l, &e, x);
    if (early || PyErr_Occurred())
        return early;
    const uint32_t *labels = among ? among->data : NULL;
    if (!round_end(l, &e, hunch_predict_among(l->h, &e.x, labels, among ? among->n : 0, &c)))
        return NULL;
    return Py_BuildValue("(KdIIIdd)", (unsigned long long)c.round, c.prob, c.label, c.greedy, c.note, (double)c.margin,
                         c.confidence);
}

static PyObject *learner_predict(PyObject *self, PyObject *x)
{
    return predict_among((struct learner *)self, x, NULL);
}

static PyObject *learner_predict_among(PyObject *self, PyObject *args)
{
    PyObject *x, *labels;
    struct array among;
    if (!PyArg_ParseTuple(args, "OO", &x, &labels) || !array_open(&among, labels, 'u', 4, ARRAY_READ, "among"))
        return NULL;
    PyObject *result = predict_among((struct learner *)self, x, &among);
    array_close(&among);
    return result;
}

static PyObject *learner_retire(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    unsigned int label;
    int retired;
    if (!PyArg_ParseTuple(args, "Ip", &label, &retired))
        return NULL;
    learner_lock(l);
    hunch_status status = hunch_retire(l->h, label, retired);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    Py_RETURN_NONE;
}

static PyObject *learner_is_retired(PyObject *self, PyObject *label)
{
    unsigned long number = PyLong_AsUnsignedLong(label);
    if (number == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    return PyBool_FromLong(hunch_is_retired(((struct learner *)self)->h, (uint32_t)number));
}

static PyObject *learner_feedback(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *x;
    struct example e;
    unsigned long long round;
    unsigned int label, greedy, note;
    hunch_choice c = {0};
    int right;
    if (!PyArg_ParseTuple(args, "O(KdIIIfd)p", &x, &round, &c.prob, &label, &greedy, &note, &c.margin, &c.confidence,
                          &right))
        return NULL;
    c.round = round;
    c.label = label;
    c.greedy = greedy;
    c.note = note;
    PyObject *early = round_begin(l, &e, x);
    if (early || PyErr_Occurred())
        return early;
    return none_if(round_end(l, &e, hunch_feedback(l->h, &e.x, &c, right)));
}

static PyObject *learner_act(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    hunch_choice c = {0};
    double promise;
    uint32_t mark = 0;
    if (!PyArg_ParseTuple(args, "dd", &c.confidence, &promise))
        return NULL;
    learner_lock(l);
    hunch_status status = hunch_act(l->h, &c, promise, &mark);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    return Py_BuildValue("(IN)", mark, PyBool_FromLong(mark & HUNCH_ACT));
}

static PyObject *learner_acted(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    double promise;
    unsigned int mark;
    int right;
    if (!PyArg_ParseTuple(args, "dIp", &promise, &mark, &right))
        return NULL;
    learner_lock(l);
    hunch_status status = hunch_acted(l->h, promise, mark, right);
    if (status != HUNCH_OK)
        return learner_raise(l, status);
    learner_unlock(l);
    Py_RETURN_NONE;
}

static PyObject *learner_promises(PyObject *self, PyObject *unused)
{
    struct learner *l = (struct learner *)self;
    hunch_promise p[HUNCH_PROMISES];
    learner_lock(l);
    size_t n = hunch_get_promise(l->h, 0, NULL);
    for (size_t i = 0; i < n; i++)
        hunch_get_promise(l->h, i, &p[i]);
    learner_unlock(l);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *one = Py_BuildValue("(ddKKK)", p[i].promise, p[i].threshold, (unsigned long long)p[i].answers,
                                      (unsigned long long)p[i].acted, (unsigned long long)p[i].right);
        if (!one || PyList_SetItem(list, (Py_ssize_t)i, one) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *learner_learn(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *x;
    struct example e;
    unsigned int label;
    double prob;
    int right;
    if (!PyArg_ParseTuple(args, "OIdp", &x, &label, &prob, &right))
        return NULL;
    PyObject *early = round_begin(l, &e, x);
    if (early || PyErr_Occurred())
        return early;
    return none_if(round_end(l, &e, hunch_learn(l->h, &e.x, label, prob, right)));
}

static PyObject *learner_teach(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *x;
    struct example e;
    unsigned int label;
    if (!PyArg_ParseTuple(args, "OI", &x, &label))
        return NULL;
    PyObject *early = round_begin(l, &e, x);
    if (early || PyErr_Occurred())
        return early;
    return none_if(round_end(l, &e, hunch_teach(l->h, &e.x, label)));
}

/* Const calls leave no reason behind. */
static PyObject *asked_end(struct learner *l, struct example *e, hunch_status status, PyObject *result)
{
    learner_unlock(l);
    example_close(e);
    if (status == HUNCH_OK)
        return result;
    Py_XDECREF(result);
    return raise_status(status, "the example has a value that is not finite, or too large");
}

static PyObject *learner_greedy(PyObject *self, PyObject *x)
{
    struct learner *l = (struct learner *)self;
    struct example e;
    uint32_t label = 0;
    PyObject *early = round_begin(l, &e, x);
    if (early || PyErr_Occurred())
        return early;
    hunch_status status = hunch_greedy(l->h, &e.x, &label);
    return asked_end(l, &e, status, PyLong_FromUnsignedLong(label));
}

static PyObject *learner_scores(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *x, *out;
    struct example e;
    struct array a;
    if (!PyArg_ParseTuple(args, "OO", &x, &out) || !array_open(&a, out, 'f', 4, ARRAY_WRITE, "out"))
        return NULL;
    PyObject *result = round_begin(l, &e, x);
    if (!result && !PyErr_Occurred()) {
        hunch_status status = HUNCH_EINVAL;
        if (a.n == hunch_classes(l->h))
            status = hunch_scores(l->h, &e.x, a.data);
        result = asked_end(l, &e, status, none_if(true));
    }
    array_close(&a);
    return result;
}

static PyObject *learner_chances(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *x, *labels, *out;
    struct example e;
    struct array among, a;
    if (!PyArg_ParseTuple(args, "OOO", &x, &labels, &out) || !array_open(&among, labels, 'u', 4, ARRAY_READ, "among"))
        return NULL;
    if (!array_open(&a, out, 'f', 8, ARRAY_WRITE, "out")) {
        array_close(&among);
        return NULL;
    }
    PyObject *result = round_begin(l, &e, x);
    if (!result && !PyErr_Occurred()) {
        hunch_status status = HUNCH_EINVAL;
        if (a.n == hunch_classes(l->h))
            status = hunch_chances(l->h, &e.x, among.data, among.n, a.data);
        result = none_if(round_end(l, &e, status));
    }
    array_close(&among);
    array_close(&a);
    return result;
}

/* Rows of scores, one after the other, to rows of chances. */
static PyObject *learner_probabilities(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *from, *out;
    struct array scores, chances = {0};
    size_t K = hunch_classes(l->h);
    if (!PyArg_ParseTuple(args, "OO", &from, &out) || !array_open(&scores, from, 'f', 4, ARRAY_READ, "scores"))
        return NULL;
    bool ok = array_open(&chances, out, 'f', 8, ARRAY_WRITE, "out");
    if (ok && (scores.n != chances.n || scores.n % K)) {
        PyErr_SetString(PyExc_ValueError, "an array has the wrong length");
        ok = false;
    }
    for (size_t i = 0; ok && i < scores.n; i += K)
        if (hunch_probabilities(l->h, (const float *)scores.data + i, (double *)chances.data + i) != HUNCH_OK) {
            PyErr_SetString(PyExc_ValueError, "a score is not a finite number");
            ok = false;
        }
    array_close(&scores);
    array_close(&chances);
    return none_if(ok);
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

/* None: the learner does not look for drift. */
static PyObject *learner_drift(PyObject *self, PyObject *unused)
{
    struct learner *l = (struct learner *)self;
    hunch_drift d;
    if (hunch_get_drift(l->h, &d) != HUNCH_OK)
        Py_RETURN_NONE;
    return Py_BuildValue("(KKd)", (unsigned long long)d.restarts, (unsigned long long)d.last_restart, d.forgetting);
}

/* None: the learner does not weigh features. */
static PyObject *learner_weights(PyObject *self, PyObject *unused)
{
    struct learner *l = (struct learner *)self;
    double weight;
    learner_lock(l);
    bool weighs = hunch_get_weight(l->h, 0, &weight) != HUNCH_EUNSUPPORTED;
    PyObject *list = weighs ? PyList_New((Py_ssize_t)hunch_features(l->h)) : NULL;
    for (uint32_t j = 0; list && hunch_get_weight(l->h, j, &weight) == HUNCH_OK; j++)
        PyList_SetItem(list, (Py_ssize_t)j, PyFloat_FromDouble(weight));
    learner_unlock(l);
    if (weighs)
        return list;
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

/* A feature that has a role keeps it. */
static PyObject *learner_set_roles(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    const char *numbers, *roles;
    Py_ssize_t size, n;
    if (!PyArg_ParseTuple(args, "y#y#", &numbers, &size, &roles, &n))
        return NULL;
    if (size != n * (Py_ssize_t)sizeof(uint32_t))
        return PyErr_Format(PyExc_ValueError, "one role for each feature");
    learner_lock(l);
    for (Py_ssize_t i = 0; i < n; i++) {
        uint32_t number;
        memcpy(&number, numbers + (size_t)i * sizeof number, sizeof number);
        hunch_status status = roles[i] ? hunch_set_role(l->h, number, (hunch_role)roles[i]) : HUNCH_OK;
        if (status != HUNCH_OK && status != HUNCH_EINVAL)
            return learner_raise(l, status);
    }
    learner_unlock(l);
    Py_RETURN_NONE;
}

static PyObject *learner_set_repeated(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    int repeated;
    if (!PyArg_ParseTuple(args, "p", &repeated))
        return NULL;
    learner_lock(l);
    hunch_set_repeated(l->h, repeated);
    learner_unlock(l);
    Py_RETURN_NONE;
}

static PyObject *learner_tensors(PyObject *self, PyObject *none)
{
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
    return PyUnicode_FromString(hunch_spec(((struct learner *)self)->h));
}

static PyObject *get_algorithm(PyObject *self, void *unused)
{
    return PyUnicode_FromString(hunch_algorithm_of(((struct learner *)self)->h)->name);
}

static PyObject *get_form(PyObject *self, void *unused)
{
    struct learner *l = (struct learner *)self;
    learner_lock(l);
    PyObject *form = PyUnicode_FromString(hunch_form(l->h));
    learner_unlock(l);
    return form;
}

static PyGetSetDef properties[] = {
    {"classes", get_classes, NULL, "How many classes there are.", NULL},
    {"features", get_features, NULL, "The largest feature seen + 1.", NULL},
    {"rounds", get_rounds, NULL, "Predictions made.", NULL},
    {"bytes", get_bytes, NULL, "Memory that the state takes.", NULL},
    {"form", get_form, NULL, "What matrix=auto came to, else nothing.", NULL},
    {"spec", get_spec, NULL, "The full spec.", NULL},
    {"algorithm", get_algorithm, NULL, "The algorithm's name.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
    {"act", learner_act, METH_VARARGS, "act(confidence, promise) -> (mark, whether to act)"},
    {"acted", learner_acted, METH_VARARGS, "acted(promise, mark, right)"},
    {"promises", learner_promises, METH_NOARGS, "promises() -> [(promise, threshold, answers, acted, right)]"},
    {"predict", learner_predict, METH_O, "predict(x) -> (round, prob, label, greedy, note, margin, confidence)"},
    {"predict_among", learner_predict_among, METH_VARARGS, "predict_among(x, labels) -> as predict"},
    {"retire", learner_retire, METH_VARARGS, "retire(label, retired)"},
    {"is_retired", learner_is_retired, METH_O, "is_retired(label) -> bool"},
    {"chances", learner_chances, METH_VARARGS, "chances(x, labels or None, out)"},
    {"feedback", learner_feedback, METH_VARARGS, "feedback(x, choice, right)"},
    {"teach", learner_teach, METH_VARARGS, "teach(x, label)"},
    {"learn", learner_learn, METH_VARARGS, "learn(x, label, prob, right)"},
    {"greedy", learner_greedy, METH_O, "greedy(x) -> label"},
    {"scores", learner_scores, METH_VARARGS, "scores(x, out)"},
    {"probabilities", learner_probabilities, METH_VARARGS, "probabilities(scores, out)"},
    {"run", batch_run, METH_VARARGS, "run(rows, labels, choices)"},
    {"predict_batch", batch_predict, METH_VARARGS, "predict_batch(rows, choices)"},
    {"feedback_batch", batch_feedback, METH_VARARGS, "feedback_batch(rows, choices, right)"},
    {"learn_batch", batch_learn, METH_VARARGS, "learn_batch(rows, labels, prob, right)"},
    {"teach_batch", batch_teach, METH_VARARGS, "teach_batch(rows, labels)"},
    {"score_batch", batch_score, METH_VARARGS, "score_batch(rows, labels, scores)"},
    {"add_classes", learner_add_classes, METH_VARARGS, "add_classes(more)"},
    {"drift", learner_drift, METH_NOARGS, "drift() -> (restarts, last_restart, forgetting) or None"},
    {"weights", learner_weights, METH_NOARGS, "weights() -> list of how much each feature counts, or None"},
    {"reseed", learner_reseed, METH_VARARGS, "reseed(seed)"},
    {"set_roles", learner_set_roles, METH_VARARGS, "set_roles(numbers, roles)"},
    {"set_repeated", learner_set_repeated, METH_VARARGS, "set_repeated(repeated)"},
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
