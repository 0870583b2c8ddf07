/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether nodes compute the same. Versions, number types, instruction sets and libraries may differ as long as what
 * comes out does not: so that is what is compared. */
#ifndef SERVE_ARITHMETIC_H
#define SERVE_ARITHMETIC_H

#include "event/settings.h"

/* A hash of what a learner of these settings chooses and scores in a few rounds. Nodes whose hashes differ must not
 * apply one journal. */
bool arithmetic_of(const struct settings *s, uint64_t *ret, struct http_error *err);

#endif
