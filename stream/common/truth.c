/* SPDX-License-Identifier: BSD-3-Clause */
/* The truth of rows as text: a head with the labels' names and "best", then for each row its labels' chances and the
 * name of the best, separated by tabs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/number.h"
#include "base/error.h"
#include "synth.h"

void truth_free(struct truth *t)
{
    free(t->chance);
    free(t->best);
    *t = (struct truth){0};
}

bool truth_reserve(struct truth *t)
{
    return array_reserve(&t->chance, &t->chance_room, size_mul(t->n + 1, t->classes), sizeof *t->chance) &&
           array_reserve(&t->best, &t->best_room, t->n + 1, sizeof *t->best);
}

void truth_write(const struct truth *t, const struct names *labels, FILE *file)
{
    for (uint32_t i = 0; i < t->classes; i++)
        fprintf(file, "%s\t", names_text(labels, i, NULL));
    fputs("best\n", file);
    for (size_t row = 0; row < t->n; row++) {
        char text[NUMBER_TEXT];
        for (uint32_t i = 0; i < t->classes; i++) {
            number_print_float(t->chance[row * t->classes + i], text);
            fprintf(file, "%s\t", text);
        }
        fprintf(file, "%s\n", names_text(labels, t->best[row], NULL));
    }
}

static hunch_status head_read(struct truth *t, struct names *labels, char *line, hunch_error *reterr)
{
    char *cell = strsep(&line, "\t");
    for (; line; cell = strsep(&line, "\t"))
        if (names_add(labels, cell, strlen(cell)) != t->classes++)
            return error_set(reterr, HUNCH_EINVAL, "two columns are named '%s'", cell);
    if (t->classes < 2 || strcmp(cell, "best") != 0)
        return error_set(reterr, HUNCH_EINVAL, "expected the labels' names and 'best', separated by tabs");
    return HUNCH_OK;
}

static hunch_status row_read(struct truth *t, const struct names *labels, char *line, hunch_error *reterr)
{
    if (!truth_reserve(t))
        return error_memory(reterr);
    for (uint32_t i = 0; i < t->classes; i++) {
        const char *cell = strsep(&line, "\t");
        double chance;
        if (!cell || !line || !number_is(cell, &chance) || !(chance >= 0 && chance <= 1))
            return error_set(reterr, HUNCH_EINVAL, "expected %u probabilities from 0 to 1 and a label", t->classes);
        t->chance[t->n * t->classes + i] = (float)chance;
    }
    t->best[t->n] = names_find(labels, line, strlen(line));
    if (t->best[t->n] == NAMES_NONE)
        return error_set(reterr, HUNCH_EINVAL, "there is no label '%s'", quote(line, strlen(line)).text);
    t->n++;
    return HUNCH_OK;
}

hunch_status truth_read(struct truth *ret, struct names *labels, const char *path, hunch_error *reterr)
{
    struct truth t = {0};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    hunch_error why;
    hunch_status status = HUNCH_OK;
    ssize_t length;
    if (!file)
        return error_set(reterr, HUNCH_EIO, "%s: %s", path, strerror(errno));
    unsigned long long number = 0;
    for (; !status && (length = getline(&line, &room, file)) > 0; number++) {
        line[strcspn(line, "\r\n")] = '\0';
        status = number ? row_read(&t, labels, line, &why) : head_read(&t, labels, line, &why);
    }
    if (status)
        status = error_set(reterr, status, "%s:%llu: %s", path, number, why.message);
    else if (!t.n)
        status = error_set(reterr, HUNCH_EINVAL, "%s: no rows", path);
    free(line);
    fclose(file);
    if (status)
        truth_free(&t);
    else
        *ret = t;
    return status;
}
