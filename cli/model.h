/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved models as the commands see them: the learner, and the names that were kept with it. */
#ifndef MODEL_H
#define MODEL_H

#include "hunch.h"
#include "names.h"

struct model {
    hunch *learner;
    struct names *labels;   /* may be fewer than there are classes */
    struct names *features; /* NULL: features have numbers only */
    int index_base;         /* -1: not kept */
};

/* Both tell the user what went wrong and return the exit code. A model without label names (made by a program) gets
 * the class numbers "0", "1" ... as names. */
int model_load(struct model *ret, const char *path);
/* Keep the names with the learner, then write the file. */
int model_save(hunch *learner, const struct names *labels, const struct names *features, int index_base,
               const char *path);
/* The name of class k; "?" when no example of it has been seen. */
const char *model_label(const struct model *model, uint32_t k);
void model_free(struct model *model);

#endif
