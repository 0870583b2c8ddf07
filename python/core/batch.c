/* SPDX-License-Identifier: BSD-3-Clause */
/* Many rows in one call. The GIL is let go, the learner's lock is held; between blocks Ctrl-C is looked for. */
#include "core.h"

#include <stdlib.h>
#include <time.h>

#define BLOCK_ROWS 4096   /* choices of a block stay in the cache until they are spread over the caller's arrays */
#define LOOK_SECONDS 0.02 /* how long Ctrl-C and other threads wait, if no single row takes longer */

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
static bool rows_open(struct rows *ret, PyObject *rows)
{
    PyObject *start, *index, *value;
    Py_ssize_t given;
    *ret = (struct rows){0};
    if (!PyArg_ParseTuple(rows, "nOOO", &given, &start, &index, &value))
        return false;
    size_t n = given < 0 ? 0 : (size_t)given;
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
    struct array labels, right;
    struct array label, greedy, prob, note, round, margin, confidence; /* of choices; data NULL: not asked for */
    struct array scores;
    hunch_choice *choices; /* of one block */
    size_t block;          /* how many rows are done at once: as many as take a few milliseconds */
    uint32_t classes;
};

typedef hunch_status block_function(struct job *j, size_t from, size_t n, size_t *ret_done);

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
        if (j->margin.data)
            ((float *)j->margin.data)[from + i] = c->margin;
        if (j->confidence.data)
            ((double *)j->confidence.data)[from + i] = c->confidence;
    }
}

static hunch_choice choice_gather(const struct job *j, size_t i)
{
    return (hunch_choice){.round = ((const uint64_t *)j->round.data)[i],
                          .prob = ((const double *)j->prob.data)[i],
                          .label = ((const uint32_t *)j->label.data)[i],
                          .greedy = ((const uint32_t *)j->greedy.data)[i],
                          .note = ((const uint32_t *)j->note.data)[i],
                          .margin = ((const float *)j->margin.data)[i]};
}

static hunch_status block_run(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    hunch_batch part = rows_part(&j->rows.batch, from, n);
    const uint32_t *labels = (const uint32_t *)j->labels.data + from;
    hunch_status status = hunch_run_batch(j->learner->h, &part, labels, j->choices, ret_done);
    choices_spread(j, from, *ret_done);
    return status;
}

static hunch_status block_predict(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    hunch_status status = HUNCH_OK;
    size_t i = 0;
    for (; i < n && status == HUNCH_OK; i += status == HUNCH_OK) {
        hunch_vec x = rows_one(&j->rows.batch, from + i);
        status = hunch_predict(j->learner->h, &x, &j->choices[i]);
    }
    choices_spread(j, from, i);
    *ret_done = i;
    return status;
}

static hunch_status block_feedback(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    hunch_status status = HUNCH_OK;
    size_t i = from;
    for (; i < from + n && status == HUNCH_OK; i += status == HUNCH_OK) {
        hunch_vec x = rows_one(&j->rows.batch, i);
        hunch_choice c = choice_gather(j, i);
        status = hunch_feedback(j->learner->h, &x, &c, ((const uint8_t *)j->right.data)[i] != 0);
    }
    *ret_done = i - from;
    return status;
}

static hunch_status block_teach(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    hunch_status status = HUNCH_OK;
    size_t i = from;
    for (; i < from + n && status == HUNCH_OK; i += status == HUNCH_OK) {
        hunch_vec x = rows_one(&j->rows.batch, i);
        status = hunch_teach(j->learner->h, &x, ((const uint32_t *)j->labels.data)[i]);
    }
    *ret_done = i - from;
    return status;
}

static hunch_status block_learn(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    const uint32_t *label = j->labels.data;
    const double *prob = j->prob.data;
    const uint8_t *right = j->right.data;
    hunch_status status = HUNCH_OK;
    size_t i = from;
    for (; i < from + n && status == HUNCH_OK; i += status == HUNCH_OK) {
        hunch_vec x = rows_one(&j->rows.batch, i);
        status = hunch_learn(j->learner->h, &x, label[i], prob[i], right[i] != 0);
    }
    *ret_done = i - from;
    return status;
}

/* Classes that another thread adds meanwhile do not fit the caller's array. */
static hunch_status block_score(struct job *j, size_t from, size_t n, size_t *ret_done)
{
    hunch_batch part = rows_part(&j->rows.batch, from, n);
    if (hunch_classes(j->learner->h) != j->classes)
        return HUNCH_ELIMIT;
    uint32_t *label = j->label.data ? (uint32_t *)j->label.data + from : NULL;
    float *scores = j->scores.data ? (float *)j->scores.data + from * j->classes : NULL;
    hunch_status status = hunch_score_batch(j->learner->h, &part, label, scores);
    *ret_done = status == HUNCH_OK ? n : 0;
    return status;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the rows done; *ret_status tells whether they are all. Without the GIL, with the learner's lock. */
static size_t blocks_do(struct job *j, size_t from, block_function *block, hunch_status *ret_status)
{
    size_t rows = j->rows.batch.rows, at = from;
    double begun = seconds(), now = begun;
    *ret_status = HUNCH_OK;
    while (at < rows && *ret_status == HUNCH_OK && now - begun < LOOK_SECONDS) {
        size_t n = rows - at < j->block ? rows - at : j->block, done = 0;
        double before = now;
        *ret_status = block(j, at, n, &done);
        at += done;
        now = seconds();
        if (now - before > LOOK_SECONDS / 4 && j->block > 1)
            j->block /= 2;
        else if (now - before < LOOK_SECONDS / 16 && j->block < BLOCK_ROWS)
            j->block *= 2;
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
            PyOS_snprintf(reason.message, sizeof reason.message, "row %zu: %.200s", at,
                          block == block_score ? hunch_status_text(status) : hunch_reason(l->h));
        learner_unlock(l);
        if (status != HUNCH_OK)
            return raise_status(status, reason.message);
        learner_give_way(l);
        if (at < j->rows.batch.rows && PyErr_CheckSignals())
            return NULL;
    }
    Py_RETURN_NONE;
}

/* --- the methods --- */

static void job_close(struct job *j)
{
    struct array *all[] = {&j->labels, &j->right, &j->label,  &j->greedy,     &j->prob,
                           &j->note,   &j->round, &j->margin, &j->confidence, &j->scores};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        array_close(all[i]);
    rows_close(&j->rows);
    free(j->choices);
}

/* An array of n entries; results that nobody wants may be None. */
static bool column_open(struct array *ret, PyObject *from, const char *type, enum array_use use, size_t n)
{
    if (!array_open(ret, from, type[0], type[1] - '0', use, "an array"))
        return false;
    if (ret->capsule ? ret->n == n : use == ARRAY_WRITE)
        return true;
    PyErr_SetString(PyExc_ValueError, "an array has the wrong length");
    return false;
}

static bool choices_open(struct job *j, PyObject *from, enum array_use use)
{
    PyObject *label, *greedy, *prob, *note, *round, *margin, *confidence;
    size_t n = j->rows.batch.rows;
    if (!PyArg_ParseTuple(from, "OOOOOOO", &label, &greedy, &prob, &note, &round, &margin, &confidence) ||
        !column_open(&j->label, label, "u4", use, n) || !column_open(&j->greedy, greedy, "u4", use, n) ||
        !column_open(&j->prob, prob, "f8", use, n) || !column_open(&j->note, note, "u4", use, n) ||
        !column_open(&j->round, round, "u8", use, n) || !column_open(&j->margin, margin, "f4", use, n) ||
        !column_open(&j->confidence, confidence, "f8", use, n))
        return false;
    j->choices = use == ARRAY_WRITE ? malloc(BLOCK_ROWS * sizeof *j->choices) : NULL;
    if (use == ARRAY_WRITE && !j->choices)
        PyErr_NoMemory();
    return use == ARRAY_READ || j->choices;
}

/* Opens what is given, does the job, closes everything. Arguments that a job does not have are NULL. */
struct given {
    PyObject *rows, *labels, *choices, *right, *prob;
    enum array_use use; /* of choices */
};

static PyObject *job_start(PyObject *self, const struct given *given, block_function *block)
{
    struct job j = {.learner = (struct learner *)self, .block = 8};
    PyObject *result = NULL;
    if (rows_open(&j.rows, given->rows) &&
        (!given->labels || column_open(&j.labels, given->labels, "u4", ARRAY_READ, j.rows.batch.rows)) &&
        (!given->right || column_open(&j.right, given->right, "u1", ARRAY_READ, j.rows.batch.rows)) &&
        (!given->prob || column_open(&j.prob, given->prob, "f8", ARRAY_READ, j.rows.batch.rows)) &&
        (!given->choices || choices_open(&j, given->choices, given->use)))
        result = job_do(&j, block);
    job_close(&j);
    return result;
}

PyObject *batch_run(PyObject *self, PyObject *args)
{
    struct given g = {.use = ARRAY_WRITE};
    return PyArg_ParseTuple(args, "OOO", &g.rows, &g.labels, &g.choices) ? job_start(self, &g, block_run) : NULL;
}

PyObject *batch_predict(PyObject *self, PyObject *args)
{
    struct given g = {.use = ARRAY_WRITE};
    return PyArg_ParseTuple(args, "OO", &g.rows, &g.choices) ? job_start(self, &g, block_predict) : NULL;
}

PyObject *batch_feedback(PyObject *self, PyObject *args)
{
    struct given g = {.use = ARRAY_READ};
    return PyArg_ParseTuple(args, "OOO", &g.rows, &g.choices, &g.right) ? job_start(self, &g, block_feedback) : NULL;
}

PyObject *batch_teach(PyObject *self, PyObject *args)
{
    struct given g = {0};
    return PyArg_ParseTuple(args, "OO", &g.rows, &g.labels) ? job_start(self, &g, block_teach) : NULL;
}

PyObject *batch_learn(PyObject *self, PyObject *args)
{
    struct given g = {0};
    return PyArg_ParseTuple(args, "OOOO", &g.rows, &g.labels, &g.prob, &g.right) ? job_start(self, &g, block_learn)
                                                                                 : NULL;
}

PyObject *batch_score(PyObject *self, PyObject *args)
{
    struct job j = {.learner = (struct learner *)self, .block = 8};
    PyObject *rows, *labels, *scores, *result = NULL;
    if (!PyArg_ParseTuple(args, "OOO", &rows, &labels, &scores) || !rows_open(&j.rows, rows))
        return NULL;
    size_t n = j.rows.batch.rows;
    learner_lock(j.learner);
    j.classes = hunch_classes(j.learner->h);
    learner_unlock(j.learner);
    if (column_open(&j.label, labels, "u4", ARRAY_WRITE, n) &&
        column_open(&j.scores, scores, "f4", ARRAY_WRITE, n * j.classes))
        result = job_do(&j, block_score);
    job_close(&j);
    return result;
}
