/* SPDX-License-Identifier: BSD-3-Clause */
/* The data sets that experiments know: experiments/data.json, or the copy of it that is part of the program. */
#ifndef CATALOGUE_H
#define CATALOGUE_H

#include <jansson.h>
#include <stdbool.h>

#include "hunch.h"

struct catalogue {
    json_t *json;
    const json_t *sets; /* array of objects, in json */
};

/* path NULL: data.json beside the experiments, where there is one, or the program's own. All that the other calls and
 * downloads rely on is checked here: texts are there, file names are plain names, addresses http or https. */
hunch_status catalogue_open(struct catalogue *ret, const char *path, hunch_error *reterr);
void catalogue_close(struct catalogue *c);
const json_t *catalogue_find(const struct catalogue *c, const char *name); /* NULL: no such set */

const char *catalogue_text(const json_t *object, const char *key); /* "" when there is none */
/* Where the file of that name is (as stream_find); malloc'd, or NULL. */
char *catalogue_where(const json_t *file);
bool catalogue_can_get(const json_t *set);

/* Where they are: folder when not NULL, HUNCH_EXPERIMENTS, ./experiments, or where they were installed; malloc'd. */
char *experiments_folder(const char *folder);

#endif
