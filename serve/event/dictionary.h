/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From an example as the client wrote it to the one that the learner sees. Names get numbers in the order in which they
 * first appear, up to a limit. Beyond it, if the model's settings say so, a new name takes the number of the oldest one
 * that was seen in a single event: what was learned under that is worth next to nothing, as with two names that
 * meet in a slot of a hash. A name seen twice keeps its number for good, so no client can evict what others learn from.
 * All of this follows from the events alone.
 */
#ifndef SERVE_DICTIONARY_H
#define SERVE_DICTIONARY_H

#include "event/event.h"
#include "event/example.h"
#include "event/settings.h"

struct dictionary {
    struct names *names; /* of FEATURES_NAMED, else NULL */
    uint64_t *once;      /* a bit per name: it was seen in one event only */
    size_t once_room;    /* words */
    uint32_t once_n;     /* bits that are set */
    uint32_t hand;       /* the oldest of them is the first from here on, and then from 0 */
    uint64_t reused;     /* how often a name has taken another's number */
    /* Of the example that was last seen. */
    size_t ignored; /* features left out, for there is no number for them */
    struct note *notes;
    struct pair *pairs;
    size_t notes_room, pairs_room;
};

/* Fills in e: sorted, features that meet in one slot added up. grow: names that are new get the numbers that
 * dictionary_keep would give them; else they are left out. Changes nothing that lasts. */
bool dictionary_see(struct dictionary *d, const struct settings *settings, const struct example *x, bool grow,
                    struct event *e, struct http_error *err);
/* The learner has taken the example that was last seen, to grow with. false: memory ran out half-way. */
bool dictionary_keep(struct dictionary *d, const struct settings *settings, const struct example *x, struct event *e);

/* What it is beside its names, for a snapshot. To be freed; NULL: out of memory. */
unsigned char *dictionary_write(const struct dictionary *d, size_t *ret_size);
bool dictionary_read(struct dictionary *d, const unsigned char *bytes, size_t size);
void dictionary_free(struct dictionary *d);

#endif
