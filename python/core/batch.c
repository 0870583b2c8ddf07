/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rows in one call. The GIL is let go, the learner's lock is held; between blocks Ctrl-C is looked for. */
#include "core.h"

#include <stdlib.h>

#define BLOCK_ROWS 4096 /* choices of a block stay in the cache until they are spread over the caller's arrays */
#define BLOCKS_PER_LOOK 16

struct rows {
    struct array start, index, value;
    hunch_batch batch;
};

static void rows_close(struct rows *r)
{
    array_close(&r->start);
    array_close(&r->index);
    array_close(&r->value);
}

/* The library trusts that the rows lie within the arrays. */
static bool rows_lie_within(const struct rows *r)
{
    const hunch_batch *b = &r->batch;
    if (!b->start)
        return b->columns * b->rows == r->value.n;
    if (r->start.n != b->rows + 1 || r->index.n != r->value.n || b->start[0] < 0)
        return false;
    for (size_t i = 0; i < b->rows; i++)
        if (b->start[i + 1] < b->start[i])
            return false;
    return (uint64_t)b->start[b->rows] <= r->value.n;
}

/* start and index None: dense. */
static bool rows_open(struct rows *ret, PyObject *start, PyObject *index, PyObject *value, size_t n)
{
    *ret = (struct rows){0};
    if (array_open(&ret->start, start, 'i', 8, ARRAY_READ, "start") &&
        array_open(&ret->index, index, 'u', 4, ARRAY_READ, "index") &&
        array_open(&ret->value, value, 'f', 4, ARRAY_READ, "value")) {
        bool dense = start == Py_None;
        ret->batch = (hunch_batch){n, dense ? NULL : ret->start.data, dense ? NULL : ret->index.data, ret->value.data,
                                   dense && n ? ret->value.n / n : 0};
        if (rows_lie_within(ret))
            return true;
        PyErr_SetString(PyExc_ValueError, "the rows do not fit the arrays");
    }
    rows_close(ret);
    return false;
}

static hunch_batch rows_part(const hunch_batch *b, size_t from, size_t n)
{
    hunch_batch part = *b;
    part.rows = n;
    if (b->start)
        part.start += from;
    else
        part.value += from * b->columns;
    return part;
}

static hunch_vec rows_one(const hunch_batch *b, size_t i)
{
    if (!b->start)
        return (hunch_vec){NULL, b->value + i * b->columns, b->columns};
    return (hunch_vec){b->index + b->start[i], b->value + b->start[i], (size_t)(b->start[i + 1] - b->start[i])};
}

/* --- blocks --- */

struct job {
    struct learner *learner;
    struct rows rows;
    struct array labels;
    struct array label, greedy, prob, note, round; /* where choices go; data NULL: nowhere */
    hunch_choice *choices;                         /* of one block */
};

static void choices_spread(const struct job *j, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const hunch_choice *c = &j->choices[i];
        if (j->label.data)
            ((uint32_t *)j->label.data)[from + i] = c->label;
        if (j->greedy.data)
            ((uint32_t *)j->greedy.data)[from + i] = c->greedy;
        if (j->prob.data)
            ((double *)j->prob.data)[from + i] = c->prob;
        if (j->note.data)
            ((uint32_t *)j->note.data)[from + i] = c->note;
        if (j->round.data)
            ((uint64_t *)j->round.data)[from + i] = c->round;
    }
}

typedef hunch_status block_function(struct job *j, size_t from, size_t n, size_t *ret_done);

static hunch_status block_run(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    hunch_batch part = rows_part(&j->rows.batch, from, n);
    const uint32_t *labels = (const uint32_t *)j->labels.data + from;
    hunch_status status = hunch_run_batch(j->learner->h, &part, labels, j->choices, ret_done);
    choices_spread(j, from, *ret_done);
    return status;
}

static hunch_status block_teach(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    for (size_t i = 0; i < n; i++) {
        hunch_vec x = rows_one(&j->rows.batch, from + i);
        hunch_status status = hunch_teach(j->learner->h, &x, ((const uint32_t *)j->labels.data)[from + i]);
        if (status != HUNCH_OK) {
            *ret_done = i;
            return status;
        }
    }
    *ret_done = n;
    return HUNCH_OK;
}

/* Returns the rows done; *ret_status tells whether they are all. Without the GIL, with the learner's lock. */
static size_t blocks_do(struct job *j, size_t from, block_function *block, hunch_status *ret_status)
{
    size_t rows = j->rows.batch.rows, at = from;
    *ret_status = HUNCH_OK;
    for (int b = 0; b < BLOCKS_PER_LOOK && at < rows && *ret_status == HUNCH_OK; b++) {
        size_t n = rows - at < BLOCK_ROWS ? rows - at : BLOCK_ROWS, done = 0;
        *ret_status = block(j, at, n, &done);
        at += done;
    }
    return at;
}

/* The lock is not held while signal handlers run: they may use the learner. */
static PyObject *job_do(struct job *j, block_function *block)
{
    struct learner *l = j->learner;
    size_t at = 0;
    while (at < j->rows.batch.rows) {
        hunch_status status;
        hunch_error reason;
        learner_lock(l);
        Py_BEGIN_ALLOW_THREADS at = blocks_do(j, at, block, &status);
        Py_END_ALLOW_THREADS if (status != HUNCH_OK)
            PyOS_snprintf(reason.message, sizeof reason.message, "row %zu: %.200s", at, hunch_reason(l->h));
        learner_unlock(l);
        if (status != HUNCH_OK)
            return raise_status(status, reason.message);
        if (at < j->rows.batch.rows && PyErr_CheckSignals())
            return NULL;
    }
    Py_RETURN_NONE;
}

static void job_close(struct job *j)
{
    array_close(&j->labels);
    array_close(&j->label);
    array_close(&j->greedy);
    array_close(&j->prob);
    array_close(&j->note);
    array_close(&j->round);
    rows_close(&j->rows);
    free(j->choices);
}

/* --- the methods --- */

static bool out_open(struct array *ret, PyObject *out, char kind, int size, size_t n)
{
    if (!array_open(ret, out, kind, size, ARRAY_WRITE, "an array for results"))
        return false;
    if (ret->capsule && ret->n != n) {
        PyErr_SetString(PyExc_ValueError, "an array for results has the wrong length");
        return false;
    }
    return true;
}

PyObject *learner_run(PyObject *self, PyObject *args)
{
    struct job j = {.learner = (struct learner *)self};
    PyObject *start, *index, *value, *labels, *out[5], *result = NULL;
    if (!PyArg_ParseTuple(args, "OOOOOOOOO", &start, &index, &value, &labels, &out[0], &out[1], &out[2], &out[3],
                          &out[4]) ||
        !array_open(&j.labels, labels, 'u', 4, ARRAY_READ, "labels"))
        return NULL;
    size_t n = j.labels.n;
    if (!rows_open(&j.rows, start, index, value, n) || !out_open(&j.label, out[0], 'u', 4, n) ||
        !out_open(&j.greedy, out[1], 'u', 4, n) || !out_open(&j.prob, out[2], 'f', 8, n) ||
        !out_open(&j.note, out[3], 'u', 4, n) || !out_open(&j.round, out[4], 'u', 8, n))
        goto out;
    j.choices = malloc(BLOCK_ROWS * sizeof *j.choices);
    result = j.choices ? job_do(&j, block_run) : PyErr_NoMemory();
out:
    job_close(&j);
    return result;
}

PyObject *learner_teach_batch(PyObject *self, PyObject *args)
{
    struct job j = {.learner = (struct learner *)self};
    PyObject *start, *index, *value, *labels, *result = NULL;
    if (!PyArg_ParseTuple(args, "OOOO", &start, &index, &value, &labels) ||
        !array_open(&j.labels, labels, 'u', 4, ARRAY_READ, "labels"))
        return NULL;
    if (rows_open(&j.rows, start, index, value, j.labels.n))
        result = job_do(&j, block_teach);
    job_close(&j);
    return result;
}

PyObject *learner_score_batch(PyObject *self, PyObject *args)
{
    struct learner *l = (struct learner *)self;
    PyObject *start, *index, *value, *out_labels, *out_scores, *result = NULL;
    Py_ssize_t n;
    struct rows r;
    struct array labels = {0}, scores = {0};
    if (!PyArg_ParseTuple(args, "OOOnOO", &start, &index, &value, &n, &out_labels, &out_scores))
        return NULL;
    if (n < 0 || !rows_open(&r, start, index, value, (size_t)n))
        return PyErr_Occurred() ? NULL : raise_status(HUNCH_EINVAL, "a negative number of rows");
    learner_lock(l); /* before the size of the scores is looked at: it depends on the classes */
    if (!out_open(&labels, out_labels, 'u', 4, (size_t)n) ||
        !out_open(&scores, out_scores, 'f', 4, (size_t)n * hunch_classes(l->h))) {
        learner_unlock(l);
        goto out;
    }
    hunch_status status;
    Py_BEGIN_ALLOW_THREADS status = hunch_score_batch(l->h, &r.batch, labels.data, scores.data);
    Py_END_ALLOW_THREADS learner_unlock(l);
    if (status != HUNCH_OK) { /* const calls leave no reason behind */
        raise_status(status, NULL);
        goto out;
    }
    Py_INCREF(Py_None);
    result = Py_None;
out:
    array_close(&labels);
    array_close(&scores);
    rows_close(&r);
    return result;
}
