/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch serve --verify: is every model what its log says? */
#ifndef SERVE_VERIFY_H
#define SERVE_VERIFY_H

#include "serve.h"

/* One JSON line per model on standard output. SERVE_BAD_STATE: one of them is not equal or can't be read. */
enum serve_result verify_all(const struct serve_options *options, hunch_error *reterr);

#endif
