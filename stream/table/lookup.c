/* SPDX-License-Identifier: BSD-3-Clause */
#include "table/lookup.h"

#include <string.h>

#include "table/parser.h"

#define NEAR_NAMES 2048 /* so small a table stays in the processor's caches */

/* Names that are hashed, or are numbers, need no table; in a small one they are found as fast one by one. */
static bool is_waiting_useful(const struct parser *p)
{
    if (p->lookup.n)
        return true;
    return p->features && names_count(p->features) > NEAR_NAMES && !p->options->numbered && !p->options->hash_bits &&
           !(p->schema && p->schema->hash_bits);
}

static hunch_status add_now(struct parser *p, struct encoded *row, const char *text, size_t length, float value,
                            hunch_role role, hunch_error *reterr)
{
    uint32_t feature;
    hunch_status status = parser_feature(p, text, length, p->line, &feature, reterr);
    if (!status && role != HUNCH_ROLE_UNKNOWN)
        status = parser_role(p, row->out, feature, role, reterr);
    return status ? status : encoded_add(row, feature, value, reterr);
}

hunch_status lookup_finish(struct parser *p, struct encoded *row, hunch_error *reterr)
{
    struct lookup *l = &p->lookup;
    hunch_status status = row->values + l->n < row->out->values_capacity
                              ? HUNCH_OK
                              : rows_reserve(row->out, row->out->n + 1, row->values + l->n + 1, reterr);
    for (size_t i = 0; i < l->n && !status; i++) {
        const struct names_query *q = &l->waiting[i].query;
        uint32_t feature = names_answer(p->features, q);
        if (feature == NAMES_NONE)
            status = parser_feature_new(p, q->text, q->length, p->line, &feature, reterr);
        bool is_known = feature < p->roles_room && p->roles[feature];
        if (!status && !is_known && l->waiting[i].role != HUNCH_ROLE_UNKNOWN)
            status = parser_role(p, row->out, feature, l->waiting[i].role, reterr);
        row->out->index[row->values] = feature;
        row->out->value[row->values] = l->waiting[i].value;
        row->values += l->waiting[i].value != 0;
    }
    l->n = l->used = 0;
    return status;
}

static void wait(struct parser *p, const char *text, size_t length, float value, hunch_role role)
{
    struct lookup *l = &p->lookup;
    l->waiting[l->n].query = names_ask(p->features, text, length);
    l->waiting[l->n].role = role;
    l->waiting[l->n++].value = value;
}

hunch_status lookup_add(struct parser *p, struct encoded *row, const char *text, size_t length, float value,
                        hunch_role role, hunch_error *reterr)
{
    if (!is_waiting_useful(p))
        return add_now(p, row, text, length, value, role, reterr);
    hunch_status status = p->lookup.n == LOOKUP_NAMES ? lookup_finish(p, row, reterr) : HUNCH_OK;
    if (!status)
        wait(p, text, length, value, role);
    return status;
}

hunch_status lookup_add_copy(struct parser *p, struct encoded *row, const char *text, size_t length, float value,
                             hunch_role role, hunch_error *reterr)
{
    struct lookup *l = &p->lookup;
    hunch_status status = HUNCH_OK;
    if (l->n && (l->used + length > LOOKUP_BYTES || l->n == LOOKUP_NAMES))
        status = lookup_finish(p, row, reterr);
    if (status || length > LOOKUP_BYTES || !is_waiting_useful(p))
        return status ? status : add_now(p, row, text, length, value, role, reterr);
    char *copy = l->bytes + l->used;
    memcpy(copy, text, length);
    l->used += length;
    wait(p, copy, length, value, role);
    return HUNCH_OK;
}
