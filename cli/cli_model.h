/* SPDX-License-Identifier: BSD-3-Clause */
/* Saved models as the commands see them: the learner, and the names that were kept with it. */
#ifndef MODEL_H
#define MODEL_H

#include "hunch.h"
#include "stream.h"

struct model {
    hunch *learner;
    struct names *labels;   /* may be fewer than there are classes */
    struct names *features; /* NULL: features have numbers only */
    int index_base;         /* -1: not kept */
    struct schema *schema;  /* what its columns mean; NULL: not kept */
};

/* Both tell the user what went wrong and return the exit code. A model without label names (made by a program) gets
 * the class numbers "0", "1" ... as names. */
int model_load(struct model *ret, const char *path);
/* Data are to be read as the model knows them: labels, features, schema. options->index_base below 0: as was kept. */
void model_read_data(const struct model *model, struct stream_options *options);
/* Keep the names and the schema of the data with the learner, then write the file. */
int model_save(hunch *learner, const struct stream *data, const char *path);
/* The name of class k; "?" when no example of it has been seen. */
const char *model_label(const struct model *model, uint32_t k);
void model_free(struct model *model);

#endif
