/* SPDX-License-Identifier: BSD-3-Clause */
/* The learners within a learner over others (exp4, panel), as its setting lists them: [name:setting=value,...;name;...],
 * each after its role if it has one: role=name
 */
#ifndef MEMBERS_H
#define MEMBERS_H

#include "state/child.h"

#define MEMBERS_MAX 16

struct members {
    size_t n;
    struct state *child[MEMBERS_MAX];
    char role[MEMBERS_MAX][16]; /* as the list names it; empty: it does not */
};

/* For algo.check: the list of the setting called name is one. */
hunch_status members_check(const char *name, const char *list, hunch_error *reterr);
size_t members_count(const char *list);
/* Make those of the list. On failure those made so far are left, for members_free. */
hunch_status members_make(struct members *m, const char *list, const struct state *parent, hunch_error *reterr);
void members_free(struct members *m);

hunch_status members_reserve(const struct members *m, const struct vec *x);
/* More classes, for all of them or none. */
hunch_status members_grow_classes(struct members *m, uint32_t classes);

/* Hooks of struct extra, for algorithms whose s->extra begins with struct members. */
struct state *members_extra_member(const struct state *s, size_t i);
size_t members_extra_size(const struct state *s);
void members_extra_write(const struct state *s, void *bytes);
hunch_status members_extra_read(struct state *s, const void *bytes, size_t size, hunch_error *reterr);
hunch_status members_extra_merge(struct state *s, const struct state *other);

#endif
