/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of a learner's state: made from the algorithm's tensor table, growing with features and classes. */
#ifndef STATE_H
#define STATE_H

#include "algo.h"
#include "base/array.h"

/* s->algo, K and settings are set; everything else is zero. On failure nothing is left allocated. */
hunch_status state_init(struct state *s, hunch_error *reterr);
void state_clear(struct state *s);

/* Make room for `features` features. Amortised; on failure the state is unchanged. */
hunch_status state_grow_features(struct state *s, uint32_t features);
/* Likewise for classes: new classes start from initial values. */
hunch_status state_grow_classes(struct state *s, uint32_t classes);

/* Change s->form, which the algorithm's shape looks at: tensors come and go; reformed fills those that came. */
hunch_status state_reform(struct state *s, int form);

size_t state_tensors(const struct algo *algo); /* how many the table has */
uint64_t state_bytes(const struct state *s);

/* One number of a tensor: rows are features (PER_FEATURE), groups (PER_MODEL), or matrix rows. */
void state_tensor_size(const struct state *s, int tensor, size_t *ret_rows, size_t *ret_columns);
double state_get(const struct state *s, int tensor, size_t row, size_t column);
void state_set(struct state *s, int tensor, size_t row, size_t column, double value);

#endif
