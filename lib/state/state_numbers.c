/* SPDX-License-Identifier: BSD-3-Clause */
/* A tensor's numbers one by one, whatever its kind: for looking inside, merging and bytes. */
#include "numeric/matrix.h"
#include "state/state.h"

void state_tensor_size(const struct state *s, int tensor, size_t *ret_rows, size_t *ret_columns)
{
    const struct tensor_place *p = &s->tensor[tensor];
    size_t n = (size_t)s->features * p->lanes;
    *ret_rows = p->kind == PER_FEATURE ? s->features : p->kind == MATRIX ? p->groups * n : p->groups;
    *ret_columns = p->kind == PER_FEATURE ? p->groups * p->lanes : p->kind == MATRIX ? n : p->lanes;
}

double state_get(const struct state *s, int tensor, size_t row, size_t column)
{
    const struct tensor_place *p = &s->tensor[tensor];
    if (p->kind == PER_MODEL)
        return p->numbers[row * p->lanes + column];
    if (p->kind == PER_MODEL_REAL)
        return p->reals[row * p->padded + column];
    if (p->kind == PER_FEATURE)
        return s->rows[row * s->stride + p->at + column / p->lanes * p->padded + column % p->lanes];
    size_t n = (size_t)s->features * p->lanes;
    return matrix_get(p->matrices + row / n * p->matrix_capacity, row % n, column);
}

void state_set(struct state *s, int tensor, size_t row, size_t column, double value)
{
    struct tensor_place *p = &s->tensor[tensor];
    size_t n = (size_t)s->features * p->lanes;
    if (p->kind == PER_MODEL)
        p->numbers[row * p->lanes + column] = value;
    else if (p->kind == PER_MODEL_REAL)
        p->reals[row * p->padded + column] = (real)value;
    else if (p->kind == PER_FEATURE)
        s->rows[row * s->stride + p->at + column / p->lanes * p->padded + column % p->lanes] = (real)value;
    else
        matrix_set(p->matrices + row / n * p->matrix_capacity, row % n, column, (real)value);
}
