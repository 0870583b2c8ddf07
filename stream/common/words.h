/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a text: segments by the rules of Unicode (UAX #29) that hold a letter or a digit, in lower case. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start as {0}. */
struct words {
    const char *text, *end; /* what is left */
    uint8_t *lower;         /* a text beyond ASCII in lower case, and a mark at each byte where a segment begins */
    char *breaks;
};

/* false: out of memory. The text must stay until the last word has been taken. */
bool words_begin(struct words *w, const char *text, size_t size);
/* The same without the short way for ASCII; for tests. */
bool words_begin_any(struct words *w, const char *text, size_t size);
/* The next word into word; 0: no more. Room for words_room(w) bytes is enough for any. */
size_t words_next(struct words *w, char *word);
size_t words_room(const struct words *w);
void words_free(struct words *w);

#endif
