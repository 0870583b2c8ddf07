/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/spell.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define WORD_MAX 63

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* The optimal string alignment distance; WORD_MAX: one of them is too long to tell. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned char d[WORD_MAX + 1][WORD_MAX + 1];
    if (n > WORD_MAX || m > WORD_MAX)
        return WORD_MAX;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = (unsigned char)(i + j);
                continue;
            }
            int best = d[i - 1][j - 1] + !is_same(a[i - 1], b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]) &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = (unsigned char)best;
        }
    return d[n][m];
}

struct spell spell_begin(const char *text)
{
    size_t near = strlen(text) / 3 + 1;
    return (struct spell){.text = text, .distance = near < 3 ? near + 1 : 4};
}

void spell_try(struct spell *s, const char *word)
{
    size_t length = strlen(s->text), far = distance(s->text, word);
    if (length > 1 && !strncasecmp(word, s->text, length) && far > 1)
        far = 1; /* the rest is missing */
    if (far < s->distance && far < strlen(word)) {
        s->distance = far;
        s->best = word;
    }
}
