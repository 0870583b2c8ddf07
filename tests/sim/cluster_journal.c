/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of the simulated nodes: one row of records, of which every node sees those up to a place of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "cluster.h"

static bool journal_open(struct journal **ret, void *context, const char *topic, uint64_t offset,
                         struct http_error *err);

static bool journal_propose(struct journal *journal, struct event *e, struct http_error *err)
{
    struct sim_journal *j = (struct sim_journal *)journal;
    struct sent *s = calloc(1, sizeof *s);
    if (!s)
        return http_error_no_memory(err);
    if (draw(200) == 0) {
        free(s);
        return http_error_set(err, 503, "busy", "the journal is full");
    }
    e->source.origin = j->origin;
    e->source.counter = ++j->counter;
    record_write(e, &s->bytes);
    *j->last = s;
    j->last = &s->next;
    return true;
}

static bool journal_next(struct journal *journal, struct event **ret, struct http_error *err)
{
    struct sim_journal *j = (struct sim_journal *)journal;
    *ret = NULL;
    if (draw(100) == 0)
        return http_error_set(err, 503, "journal", "no broker answers");
    if (j->next >= j->node->visible)
        return true;
    if (!record_read(sim.records[j->next].bytes.data, sim.records[j->next].bytes.length, ret, err))
        return false;
    (*ret)->source.offset = j->next;
    (*ret)->time_ms = record_time(sim.records[j->next].time_ms, (*ret)->time_ms);
    j->next++;
    return true;
}

static bool journal_end(struct journal *journal, uint64_t *ret)
{
    *ret = ((struct sim_journal *)journal)->node->visible;
    return true;
}

static void journal_recheck(struct journal *journal)
{
    (void)journal;
}

static void sent_remove(struct sim_journal *j)
{
    struct sent *s = j->first;
    j->first = s->next;
    if (!j->first)
        j->last = &j->first;
    text_free(&s->bytes);
    free(s);
}

static void journal_close(struct journal *journal)
{
    struct sim_journal *j = (struct sim_journal *)journal;
    while (j->first)
        sent_remove(j);
    j->node->journal = NULL;
    free(j);
}

const struct journal_kind journal_sim = {
    .open = journal_open,
    .propose = journal_propose,
    .next = journal_next,
    .end = journal_end,
    .recheck = journal_recheck,
    .close = journal_close,
};

static bool journal_open(struct journal **ret, void *context, const char *topic, uint64_t offset,
                         struct http_error *err)
{
    struct sim_journal *j = calloc(1, sizeof *j);
    (void)topic;
    if (!j)
        return http_error_no_memory(err);
    *j = (struct sim_journal){.journal.kind = &journal_sim, .node = context, .next = offset};
    j->origin = rng_next(&sim.world.rng) >> 1;
    j->last = &j->first;
    j->node->journal = j;
    *ret = &j->journal;
    return true;
}

void deliver(struct node *n, size_t max)
{
    struct sim_journal *j = n->journal;
    bool acknowledged = draw(5) != 0;
    for (const struct sent *s = j ? j->first : NULL; s && max--;) {
        const struct sent *next = s->next;
        if (draw(100) == 0) { /* for good, as one that is too large */
            sim.refused++;
            if (!acknowledged) /* those in front of it are sent again */
                break;
            sent_remove(j);
            s = next;
            continue;
        }
        if (sim.records_n == RECORDS)
            world_fail("too many records");
        text_add(&sim.records[sim.records_n].bytes, s->bytes.data, s->bytes.length);
        sim.records[sim.records_n++].time_ms = true_ms() + sim.broker_ahead_ms;
        if (acknowledged)
            sent_remove(j);
        s = next;
    }
}

void read_on(struct node *n, size_t records)
{
    n->visible = n->visible + records < sim.records_n ? n->visible + records : sim.records_n;
    if (n->journal && n->journal->journal.ready)
        n->journal->journal.ready(n->journal->journal.context);
}

size_t peers(void *context, const char *model, struct peer *ret)
{
    size_t n = 0;
    (void)context;
    (void)model;
    for (size_t i = 0; i < NODES; i++) {
        if (!sim.nodes[i].journal || sim.nodes[i].misfit)
            continue;
        ret[n].origin = sim.nodes[i].journal->origin;
        snprintf(ret[n++].node, sizeof ret->node, "n%zu", i);
    }
    return n;
}
