/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of arbitrary bytes: they fit into their room, hold no capital of ASCII, and ASCII's short way finds the same.
 */
#include <stdlib.h>
#include <string.h>

#include "common/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char *words_of(bool (*begin)(struct words *, const char *, size_t), const char *text, size_t size)
{
    struct words w = {0};
    size_t used = 0, n;
    if (!begin(&w, text, size))
        abort();
    char *word = malloc(words_room(&w)), *all = calloc(4 * size + 2, 1);
    while ((n = words_next(&w, word))) {
        for (size_t i = 0; i < n; i++)
            if (word[i] >= 'A' && word[i] <= 'Z')
                abort();
        memcpy(all + used, word, n);
        used += n;
        all[used++] = ' ';
        if (used > 4 * size)
            abort();
    }
    free(word);
    words_free(&w);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, bytes, size);
    for (size_t i = 0; i < size; i++)
        text[i] = text[i] ? text[i] : ' ';
    char *quick = words_of(words_begin, text, size), *slow = words_of(words_begin_any, text, size);
    if (strcmp(quick, slow) != 0)
        abort();
    free(quick);
    free(slow);
    free(text);
    return 0;
}
