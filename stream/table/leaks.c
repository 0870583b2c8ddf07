/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns that are the label in other words, such as 'alive' beside 'survived': what is learned from them is of no use. */
#include <stdlib.h>

#include "base/error.h"
#include "table/sample.h"

#define ROWS_MIN 20 /* that tell */

/* Each value of one goes with one value of the other, and the reverse. to, from: room for the values of each. */
static bool is_same(const struct sample_column *a, const struct sample_column *b, uint32_t *to, uint32_t *from)
{
    size_t rows = a->rows < b->rows ? a->rows : b->rows, both = 0;
    for (size_t i = 0; i < names_count(a->values); i++)
        to[i] = NAMES_NONE;
    for (size_t i = 0; i < names_count(b->values); i++)
        from[i] = NAMES_NONE;
    for (size_t i = 0; i < rows; i++) {
        uint32_t x = a->row[i], y = b->row[i];
        if (x == NAMES_NONE || y == NAMES_NONE)
            continue;
        both++;
        to[x] = to[x] == NAMES_NONE ? y : to[x];
        from[y] = from[y] == NAMES_NONE ? x : from[y];
        if (to[x] != y || from[y] != x)
            return false;
    }
    return both >= ROWS_MIN && 2 * both > rows;
}

hunch_status leaks_find(const struct sample *s, struct names *ret, hunch_error *reterr)
{
    const struct schema_column *label = schema_role(s->schema, ROLE_LABEL);
    const struct sample_column *truth = label ? &s->columns[label - s->schema->columns] : NULL;
    size_t n = truth ? names_count(truth->values) : 0;
    uint32_t *room = n > 1 ? malloc(2 * n * sizeof *room) : NULL;
    hunch_status status = n > 1 && !room ? error_memory(reterr) : HUNCH_OK;
    for (size_t i = 0; room && i < s->n && !status; i++) {
        const struct schema_column *c = &s->schema->columns[i];
        bool same = c->role <= ROLE_TEXT && !c->given && names_count(s->columns[i].values) == n &&
                    is_same(&s->columns[i], truth, room, room + n);
        if (same && names_add(ret, c->name, c->length) == NAMES_NONE)
            status = error_memory(reterr);
    }
    free(room);
    return status;
}
