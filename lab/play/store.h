/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finished work, kept in a folder by a hash of everything that determines it, so that what was done once is not done
 * again: after Ctrl-C, a power cut, or in another experiment that needs the same.
 *
 * Each result is a file of its own, written beside its place and then renamed: there are no half results, and several
 * processes may share a folder.
 */
#ifndef STORE_H
#define STORE_H

#include <jansson.h>

#include "play/corpus.h"

struct store {
    char *folder; /* NULL: nothing is kept */
};

/* folder NULL: hunch in XDG_CACHE_HOME, or in ~/.cache. It is made when it is not there. */
hunch_status store_open(struct store *ret, const char *folder, hunch_error *reterr);
void store_close(struct store *s);

/* The result of that key; NULL: none (or a damaged one). A new reference. */
json_t *store_get(const struct store *s, const char key[CORPUS_SUM]);
/* false: it could not be written, which costs time later and nothing else. */
bool store_put(const struct store *s, const char key[CORPUS_SUM], const json_t *result);

/* Makes the folder and those above it. */
hunch_status store_folder(const char *path, hunch_error *reterr);
/* Writes text to folder/name, whole or not at all. */
hunch_status store_file(const char *folder, const char *name, const char *text, size_t length, hunch_error *reterr);

/* What the library is made of: changes with every change of its code. */
const char *store_fingerprint(void);

#endif
