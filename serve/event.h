/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to a model, in order: each event has a place (seq) in the model's life, and the model's state is a
 * function of its settings and its events. */
#ifndef SERVE_EVENT_H
#define SERVE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hunch.h"

#define NO_LABEL UINT32_MAX
#define ID_CHARS 33                    /* 16 hexadecimal digits of seq or handle, '-', 16 of key */
#define HANDLE_BIT (UINT64_C(1) << 63) /* set in handles, never in places */

/* Where an event of a shared journal came from. */
struct event_source {
    uint64_t origin, counter; /* who proposed it, random per start; which of its events */
    uint64_t offset;          /* in the journal */
    uint64_t handle; /* decision, feedback: the first half of the decision's id; random, for its place is not known
                        yet when it is shown */
};

enum event_kind {
    EVENT_DECISION,
    EVENT_FEEDBACK,
    EVENT_LESSON,
    EVENT_LABEL,
    EVENT_HASH, /* of a shared journal only: what a node's model was at some place; changes nothing */
};

/* What was said about a decision. */
struct answer {
    uint64_t seq; /* 0: nothing yet */
    int64_t time_ms;
    bool right;
    uint32_t label; /* the true label when it was told, or NO_LABEL */
};

struct event {
    enum event_kind kind;
    uint64_t seq;
    int64_t time_ms;
    struct event_source source; /* zeros: of an embedded journal */
    uint64_t key;               /* decision: the half of its id that can't be guessed */
    hunch_choice choice;        /* decision */
    uint64_t seen;              /* decision: answers and lessons that the model had learned from */
    struct answer answer;       /* decision: what came back; feedback: what it says */
    uint64_t decision;          /* feedback: which one */
    uint32_t label;             /* lesson: its label */
    struct event *next;         /* in the table of the latest answers (feedback), of the latest handles (decision) */
    size_t bytes;               /* of this block */
    uint32_t *index;            /* room for room features; decision and lesson: the example as the learner sees it */
    float *value;
    size_t n, room;
    uint64_t reused; /* the numbers are those of a dictionary that had reused so many */
    const char *x;   /* decision and lesson: the example as the client wrote it; label: its name */
    size_t x_length;
};

/* One block of memory, with room for so many features and a copy of x. NULL: out of memory. */
struct event *event_new(enum event_kind kind, size_t features, const char *x, size_t x_length);
/* The same with as much room as the text of an example can need. */
struct event *event_for_example(enum event_kind kind, const char *x, size_t x_length);
void event_free(struct event *e);

/* Of all that the log keeps of an event, and of the one before it. */
uint64_t event_checksum(const struct event *e, uint64_t before);

static inline uint64_t event_id(const struct event *e)
{
    return e->source.handle ? e->source.handle : e->seq;
}

/* seq: a place, or a handle */
void id_write(char ret[ID_CHARS + 1], uint64_t seq, uint64_t key);
bool id_read(const char *text, size_t length, uint64_t *ret_seq, uint64_t *ret_key);

static inline hunch_vec event_vec(const struct event *e)
{
    return (hunch_vec){e->index, e->value, e->n};
}

/* The same thing said again? "Right" and "the label was" the one shown are the same. */
static inline bool answer_same(const struct answer *a, const struct answer *b)
{
    return a->right == b->right && (a->label == b->label || a->right);
}

#endif
