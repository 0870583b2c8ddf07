/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a served model that is a function of its settings and of its events: the learner, the names of labels
 * and features, and the counts. No clock, no threads, no files: what the server does live and what it does when it
 * replays the log go through the same few functions.
 */
#ifndef SERVE_MODEL_STATE_H
#define SERVE_MODEL_STATE_H

#include "event/dictionary.h"
#include "event/event.h"
#include "event/example.h"
#include "event/shadow.h"
#include "stream.h"
#include "event/settings.h"

struct label_counts {
    uint64_t shown, right, wrong, told; /* told: named as the true label */
};

struct counts {
    uint64_t decisions, explored; /* explored: the label shown was not the greedy one */
    uint64_t answers, right;      /* answers: feedback of either kind */
    uint64_t told;                /* feedback that named the true label */
    uint64_t lessons;
    uint64_t ignored;             /* features left out because the dictionary was full */
    uint64_t silent;              /* answers given by default: see settings.answer_after_ms; they count as answers */
    uint64_t late;                /* feedback that came after those */
    uint64_t deferred, activated; /* decisions */
};

struct model_state {
    struct settings settings;
    hunch *learner;
    struct names *labels;
    struct dictionary dictionary;
    struct counts counts;
    struct label_counts *label; /* one per label */
    uint64_t seq;               /* the last event applied */
    uint32_t version;           /* which of the model's learners */
    struct policy policy;       /* now */
    struct comparison comparison;
    struct shadow shadow;
    float *scores; /* scratch */
    size_t scores_room;
    uint64_t *excluded; /* events that were skipped, by seq */
    size_t excluded_n;
    char broken[160]; /* why it can't be used any more: out of memory half-way, or not a number; empty: it can */
};

/* Whether such a learner begins with no more than that many bytes, told from smaller ones: one that takes seconds and
 * most of the memory is not made for a request. */
bool state_size_ok(const struct settings *settings, const char *learner, size_t labels, size_t max,
                   struct http_error *err);
/* Takes the settings over, also when it fails. The learner's full spec replaces settings.learner. */
bool state_new(struct model_state *ret, struct settings *settings, struct http_error *err);
void state_free(struct model_state *c);

/* Each applies one event whose seq has been set and fills in what the event still lacks (the example as the learner
 * sees it, the choice); on failure nothing has changed unless broken is set. */
bool state_predict(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);
/* The choice that the model would make for an example, drawn from seed; changes nothing. */
bool state_peek(struct model_state *c, const struct example *x, uint64_t seed, struct event *e, struct http_error *err);
/* Whether to act on the choice in the event, by the promise in it; error 400: the promise is none. Changes nothing. */
bool state_act(struct model_state *c, struct event *e, struct http_error *err);
/* What the model makes of a label that the application has chosen, and that is in the event with its chance: its own
 * greedy label, and the chance that it would have given the label. Changes nothing. */
bool state_advise(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);
/* Takes a choice that was made elsewhere, and is in the event, into account. */
bool state_observe(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);

/* foreign: another version made the decision. */
bool state_answer(struct model_state *c, const struct event *decision, const struct event *feedback, bool foreign,
                  struct http_error *err);
/* feedback to a decision that silence had answered. */
bool state_late(struct model_state *c, const struct event *decision, const struct event *feedback, bool foreign,
                struct http_error *err);
/* A deferred decision has been shown. */
void state_activate(struct model_state *c, const struct event *e);
bool state_policy(struct model_state *c, const struct event *e, struct http_error *err);
bool state_retire(struct model_state *c, const struct event *e, struct http_error *err);
bool state_lesson(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);
/* New labels, all at once: the learner grows once, to the state that one after the other would have given. */
bool state_labels(struct model_state *c, struct event *const *events, size_t n, struct http_error *err);

/* Counts a decision that this version made or took part in; others are compared below. */
void state_count(struct model_state *c, const struct event *e);
/* After state_predict, with what came of it: version `by` made the decision. */
bool state_compare(struct model_state *c, const struct event *decision, uint32_t by, const hunch_choice *own,
                   struct http_error *err);
/* An event that is to be forgotten. */
bool state_skip(struct model_state *c, uint64_t seq, struct http_error *err);

/* The example of an event read back from the log, without adding names. */
bool state_recall(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);
/* Scores (as many as labels) of an example; changes nothing. */
bool state_scores(struct model_state *c, const struct example *x, struct event *scratch, float *ret,
                  struct http_error *err);

/* The chance of each label of being chosen next, among those that scratch names; changes nothing. */
bool state_chances(struct model_state *c, const struct example *x, struct event *scratch, double *ret,
                   struct http_error *err);

/* The named check of what holds between events: learner, names and counts agree. NULL: they do; else why not. It holds
 * whenever a state is written or read, unless it is broken. */
const char *state_checker(const struct model_state *c);

/* A model in the library's format, with names, counts and seq as its meta data. */
bool state_write(struct model_state *c, void **ret_bytes, size_t *ret_size, struct http_error *err);
/* settings: what the log says; taken over on success only. */
bool state_read(struct model_state *ret, struct settings *settings, const void *bytes, size_t size,
                struct http_error *err);
/* A model that the tool, the library or another server has saved, at the beginning of a new life: no counts, no events.
 * Its labels and features have the names in the file, or their numbers. */
bool state_import(struct model_state *ret, const void *bytes, size_t size, const struct limits *limits,
                  struct http_error *err);
/* The same with the settings that were made then. */
bool state_read_base(struct model_state *ret, struct settings *settings, const void *bytes, size_t size,
                     struct http_error *err);

#endif
