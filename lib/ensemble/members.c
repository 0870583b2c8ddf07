/* SPDX-License-Identifier: BSD-3-Clause */
#include "ensemble/members.h"

#include <stdlib.h>
#include <string.h>

/* The next spec of "[a;b;...]", semicolons within inner brackets apart; NULL at the end. *at moves on. */
static const char *list_next(const char **at, size_t *ret_length)
{
    const char *from = *at + (**at == '[' || **at == ';'), *to = from;
    if (**at == '\0' || **at == ']')
        return NULL;
    for (int depth = 0; *to && (depth > 0 || (*to != ';' && *to != ']')); to++)
        depth += (*to == '[') - (*to == ']');
    *at = to;
    *ret_length = (size_t)(to - from);
    return from;
}

hunch_status members_check(const char *name, const char *list, hunch_error *reterr)
{
    const char *at = list;
    size_t n = 0, length;
    if (*list != '[')
        return error_set(reterr, HUNCH_EINVAL, "%s=%.100s: must look like [name:setting=value;name]", name, list);
    while (list_next(&at, &length))
        n++;
    if (strcmp(at, "]") || n > MEMBERS_MAX)
        return error_set(reterr, HUNCH_EINVAL, "%s=%.100s: must be 1 to %d learners within [ and ]", name, list,
                         MEMBERS_MAX);
    return HUNCH_OK;
}

size_t members_count(const char *list)
{
    size_t n = 0, length;
    while (list_next(&list, &length))
        n++;
    return n;
}

/* A spec begins with a name, which a colon or the spec's end ends. */
static size_t role_length(const char *spec, size_t length)
{
    size_t name = strcspn(spec, "=:;]");
    return name < length && spec[name] == '=' ? name : 0;
}

hunch_status members_make(struct members *m, const char *list, const struct state *parent, hunch_error *reterr)
{
    const char *from;
    size_t length;
    while ((from = list_next(&list, &length))) {
        hunch_error why = {{0}};
        size_t role = role_length(from, length), skip = role ? role + 1 : 0;
        if (role >= sizeof m->role[0])
            return error_set(reterr, HUNCH_EINVAL, "member %zu: there is no role %.*s", m->n + 1, (int)role, from);
        memcpy(m->role[m->n], from, role);
        char *spec = strndup(from + skip, length - skip);
        hunch_status status = spec ? child_create(&m->child[m->n], spec, parent, &why) : HUNCH_ENOMEM;
        free(spec);
        if (status != HUNCH_OK)
            return error_set(reterr, status, "member %zu: %.200s", m->n + 1, why.message);
        m->n++;
    }
    return HUNCH_OK;
}

void members_free(struct members *m)
{
    for (size_t i = 0; i < m->n; i++)
        child_free(m->child[i]);
    m->n = 0;
}

hunch_status members_reserve(const struct members *m, const struct vec *x)
{
    for (size_t i = 0; i < m->n; i++) {
        hunch_status status = round_reserve(m->child[i], x);
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

/* Grown or merged copies take the members' places. */
static hunch_status members_replace(struct members *m, uint32_t classes, const struct members *other)
{
    struct members fresh = {.n = m->n};
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < m->n && status == HUNCH_OK; i++) {
        status = child_copy(&fresh.child[i], m->child[i]);
        if (status == HUNCH_OK)
            status = other ? state_merge(fresh.child[i], other->child[i]) : state_grow_classes(fresh.child[i], classes);
    }
    for (size_t i = 0; i < m->n; i++) {
        child_free(status == HUNCH_OK ? m->child[i] : fresh.child[i]);
        if (status == HUNCH_OK)
            m->child[i] = fresh.child[i];
    }
    return status;
}

hunch_status members_grow_classes(struct members *m, uint32_t classes)
{
    return members_replace(m, classes, NULL);
}

struct state *members_extra_member(const struct state *s, size_t i)
{
    const struct members *m = s->extra;
    return i < m->n ? m->child[i] : NULL;
}

hunch_status members_extra_merge(struct state *s, const struct state *other)
{
    struct members *m = s->extra;
    const struct members *more = other->extra;
    return m->n == more->n ? members_replace(m, 0, more) : HUNCH_EUNSUPPORTED;
}

/* --- bytes: each after their number --- */

size_t members_extra_size(const struct state *s)
{
    const struct members *m = s->extra;
    size_t size = 0;
    for (size_t i = 0; i < m->n; i++)
        size += sizeof(uint64_t) + child_size(m->child[i]);
    return size;
}

void members_extra_write(const struct state *s, void *bytes)
{
    const struct members *m = s->extra;
    char *at = bytes;
    for (size_t i = 0; i < m->n; i++) {
        uint64_t size = child_size(m->child[i]);
        memcpy(at, &size, sizeof size);
        child_write(m->child[i], at + sizeof size);
        at += sizeof size + size;
    }
}

hunch_status members_extra_read(struct state *s, const void *bytes, size_t size, hunch_error *reterr)
{
    struct members *m = s->extra;
    const char *at = bytes;
    for (size_t i = 0; i < m->n; i++) {
        uint64_t n = 0;
        if (size >= sizeof n)
            memcpy(&n, at, sizeof n);
        if (size < sizeof n || n > size - sizeof n)
            return error_set(reterr, HUNCH_EMODEL, "the model is damaged: a member is truncated");
        hunch_status status = child_read(m->child[i], at + sizeof n, n, reterr);
        if (status != HUNCH_OK)
            return status;
        at += sizeof n + n;
        size -= sizeof n + n;
    }
    return size ? error_set(reterr, HUNCH_EMODEL, "the model is damaged: there is data after its members") : HUNCH_OK;
}
