/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Making the file that experiments read from those that the original address has. A step of the catalogue
 * (experiments/data.json) says how:
 *
 *   "kind": "table"     comma-separated cells, the class last; each column is one-hot ("values"), scaled to [0, 1]
 *                       ("range") or taken as it is; "times": that many columns of the kind in a row
 *   "kind": "svmlight"  svmlight text: "multiply", "add" (to all of "width" features), "binary" (what is above 0
 *                       becomes 1, the rest nothing), "normalise": "l2"
 *   "kind": "words"     an archive of texts, group/number: words are runs of a-z after lower-casing, features their
 *                       sorted list; "binary" or counts; "stop": the last original is a list of words to leave out;
 *                       "under" a folder; the "largest" N groups; "leave" these groups; "only" those of "labels";
 *                       "reviews": each line of group/NAME is a text, "word:2 two_words:1 #label#:positive"
 *   "kind": "topics"    a list of documents' topics, then svmlight text whose labels are the documents' numbers:
 *                       documents with exactly one of "labels" as a topic
 *
 * "labels" lists the classes in order and makes their numbers the labels; without it labels stay as they are.
 */
#ifndef PREPARE_H
#define PREPARE_H

#include <jansson.h>

#include "data/checksum.h"

struct prepared {
    uint64_t rows;
    uint32_t features, classes;
    uint64_t bytes;
    char sha256[CHECKSUM_TEXT];
    char what[160]; /* that was done, in words */
};

/* Writes svmlight text to path, whole or not at all. A step's "rows", "features" and "classes" must come out. */
hunch_status prepare_file(const json_t *step, const char *const *from, size_t n, const char *path, struct prepared *ret,
                          hunch_error *reterr);

#endif
