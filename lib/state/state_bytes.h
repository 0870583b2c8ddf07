/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a model that a state writes and reads: its tensors and what it keeps besides them. */
#ifndef STATE_BYTES_H
#define STATE_BYTES_H

#include "numeric/byte_stream.h"
#include "state/state.h"

/* Tensors and extra of a state, and back. Reading grows s to `features` features; cell is the size of a real in the
 * bytes. On failure s may be half read and is fit for state_clear only. */
void state_put(struct writer *w, const struct state *s);
hunch_status state_take(struct reader *r, struct state *s, uint32_t features, size_t cell, hunch_error *reterr);

#endif
