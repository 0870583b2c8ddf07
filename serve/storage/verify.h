/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch serve --verify: is every model what its log says? */
#ifndef SERVE_VERIFY_H
#define SERVE_VERIFY_H

#include "util/http_error.h"
#include "util/serve_options.h"

/* One JSON line per model on standard output. SERVE_BAD_STATE: one of them is not equal or can't be read. */
enum serve_result verify_all(const struct serve_options *options, hunch_error *reterr);
/* The same for the models in that folder. */
enum serve_result verify_models(const char *models, const struct serve_options *options, hunch_error *reterr);
/* Whether these versions of the model in folder dir (n 0: the one that decides) can be made from what is there: all of
 * its log, without a replay from the start. Changes nothing. */
bool verify_restorable(const char *dir, const struct limits *limits, const uint32_t *numbers, size_t n,
                       struct http_error *err);
/* That of every model in the folder. */
bool verify_folder(const char *models, const struct limits *limits, struct http_error *err);

#endif
