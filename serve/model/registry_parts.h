/* SPDX-License-Identifier: BSD-3-Clause */
/* For registry*.c. */
#ifndef SERVE_REGISTRY_PARTS_H
#define SERVE_REGISTRY_PARTS_H

#include "model/registry.h"

/* Between a deleted model's name and the time; no name has it. */
#define TRASH_MARK "~"

char *registry_join(const char *dir, const char *prefix, const char *name); /* to be freed; NULL: out of memory */
bool registry_name_ok(const char *name, struct http_error *err);
/* Opens a model whose folder is there, and lists it. Under the lock `making`. */
bool registry_open_one(struct registry *r, const char *name, struct http_error *err);
/* It is in the list and in memory, and no longer in the list then. */
void registry_take_out(struct registry *r, const char *name);

#endif
