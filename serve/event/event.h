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
#define GIVEN_ID_MAX 128               /* bytes */
#define ID_CHARS 33                    /* 16 hexadecimal digits of seq or handle, '-', 16 of key */
#define HANDLE_BIT (UINT64_C(1) << 63) /* set in handles, never in places */

/* Where an event of a shared journal came from. */
struct event_source {
    uint64_t origin, counter; /* the node that proposed it, random per start; the event's number there */
    uint64_t offset;          /* in the journal */
    uint64_t handle; /* decision, feedback: the first half of the decision's id; random, for its place is not known
                        yet when it is shown */
};

enum event_kind {
    EVENT_DECISION,
    EVENT_FEEDBACK,
    EVENT_LESSON,
    EVENT_LABEL,
    EVENT_LATE,     /* feedback that came after the answer that silence had become */
    EVENT_RETIRE,   /* a label is retired, or restored */
    EVENT_ACTIVATE, /* a deferred decision has been shown: its time for an answer runs from here on */
    EVENT_POLICY,   /* who decides, and how many decisions are a control: see policy.h */
    EVENT_HASH,     /* of a shared journal only: what a node's model was at some place; changes nothing */
};

/* Who chose a decision's label. */
enum chooser {
    CHOSEN_BY_MODEL,
    CHOSEN_BY_BASELINE, /* the application: what it does without the model */
    CHOSEN_BY_CONTROL,  /* the same or one fixed label, for some decisions that the others are compared with */
    CHOSEN_UNIFORMLY,   /* for the same purpose */
    CHOOSERS
};

/* The feedback to a decision. */
struct answer {
    uint64_t seq; /* 0: nothing yet */
    int64_t time_ms;
    bool right;
    uint32_t label;  /* the true label when it was given, or NO_LABEL */
    bool silent;     /* no feedback arrived in the model's time for it */
    uint64_t late;   /* of a silent one: the place of feedback that arrived later; 0: none */
    uint64_t active; /* of a deferred decision: the place of its activation; 0: none */
};

struct event {
    enum event_kind kind;
    uint64_t seq;
    int64_t time_ms;
    struct event_source source; /* zeros: of an embedded journal */
    uint64_t key;               /* decision: the half of its id that can't be guessed */
    hunch_choice choice;        /* decision */
    enum chooser chooser;       /* decision */
    bool unknown_chance;        /* decision: the probability of the label is unknown and taken as 1 */
    bool deferred;              /* decision: it waits for its activation */
    double act_at;              /* decision: the promised share of right ones among those acted on; 0: not asked */
    uint32_t act;               /* decision: the mark of hunch_act */
    double model_chance;  /* decision that the model did not make: with which chance it would have shown the label */
    uint64_t seen;        /* decision: answers and lessons that the model had learned from */
    struct answer answer; /* decision: what came back; feedback: what it says */
    uint64_t decision;    /* feedback: which one */
    uint32_t label;       /* lesson: its label; retire: which one, with answer.right false: it is restored */
    char *eligible;       /* decision: the labels that could be shown, see label_set.h; NULL: all */
    char *given_id;       /* decision: the client's own id for it; NULL: none */
    struct event *next;   /* in the table of the latest answers (feedback), of the latest handles (decision) */
    size_t bytes;         /* of this block */
    uint32_t *index;      /* room for room features; decision and lesson: the example as the learner sees it */
    float *value;
    size_t n, room;
    bool other_program; /* decision, read from the log: another version of this program made it */
    uint64_t reused;    /* the numbers are those of a dictionary that had reused that many */
    const char *x;      /* decision and lesson: the example as the client wrote it; label: its name */
    size_t x_length;
};

/* One block of memory, with room for that many features and a copy of x. NULL: out of memory. */
struct event *event_new(enum event_kind kind, size_t features, const char *x, size_t x_length);
/* The same with as much room as the text of an example can need. */
struct event *event_for_example(enum event_kind kind, const char *x, size_t x_length);
/* A copy without the example as the learner sees it, with room for that many features. NULL: out of memory. */
struct event *event_copy(const struct event *e, size_t features);
void event_free(struct event *e);

/* Takes the text over. */
void event_set_eligible(struct event *e, char *eligible);
void event_set_given_id(struct event *e, char *given_id);

/* Of all that the log keeps of an event, and of the one before it. */
uint64_t event_checksum(const struct event *e, uint64_t before);

static inline uint64_t event_id(const struct event *e)
{
    return e->source.handle ? e->source.handle : e->seq;
}

/* seq: a place, or a handle */
void id_write(char ret[ID_CHARS + 1], uint64_t seq, uint64_t key);
bool id_read(const char *text, size_t length, uint64_t *ret_seq, uint64_t *ret_key);

/* With a chance that tells about other labels too. */
static inline bool chosen_by_chance(const struct event *decision)
{
    return decision->chooser == CHOSEN_BY_MODEL || decision->chooser == CHOSEN_UNIFORMLY;
}

static inline hunch_vec event_vec(const struct event *e)
{
    return (hunch_vec){e->index, e->value, e->n};
}

/* Whether the feedback is the same. "right" equals naming the label that was shown. */
static inline bool answer_same(const struct answer *a, const struct answer *b)
{
    return a->right == b->right && (a->label == b->label || a->right);
}

#endif
