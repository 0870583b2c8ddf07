/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean ...?": the known word that is nearest to one that is not known. */
#ifndef BASE_SPELL_H
#define BASE_SPELL_H

#include <stddef.h>

struct spell {
    const char *text; /* the word that is not known; borrowed */
    const char *best; /* the nearest so far, borrowed; NULL: none is near enough */
    size_t distance;  /* of best; at first one more than is near enough */
};

struct spell spell_begin(const char *text);
/* Compares text with a known word, without regard to case: letters added, dropped, changed or swapped with a neighbour
 * count one each. A word that begins with text is as near as one letter. */
void spell_try(struct spell *s, const char *word);

#endif
