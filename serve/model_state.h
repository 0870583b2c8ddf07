/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a served model that is a function of its settings and of its events: the learner, the names of labels
 * and features, and the counts. No clock, no threads, no files: what the server does live and what it does when it
 * replays the log go through the same few functions.
 */
#ifndef SERVE_MODEL_STATE_H
#define SERVE_MODEL_STATE_H

#include "dictionary.h"
#include "event.h"
#include "example.h"
#include "stream.h"
#include "settings.h"

struct label_counts {
    uint64_t shown, right, wrong, told; /* told: named as the true label */
};

struct counts {
    uint64_t decisions, explored; /* explored: the label shown was not the greedy one */
    uint64_t answers, right;      /* answers: feedback of either kind */
    uint64_t told;                /* feedback that named the true label */
    uint64_t lessons;
    uint64_t ignored; /* features left out because the dictionary was full */
};

/* How a version would have done while another one decided. */
struct shadow_counts {
    uint64_t decisions, agreed; /* agreed: its largest score was that of the label shown */
    uint64_t answers, matched;  /* matched: answers to decisions where it did, when the answer came */
    uint64_t wrong;             /* of those */
    double ips;                 /* sum of right / probability over them: off-policy estimate of its right answers */
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
    struct shadow_counts shadow;
    float *scores; /* scratch */
    size_t scores_room;
    uint64_t *excluded; /* events that were skipped, by seq */
    size_t excluded_n;
    char broken[160]; /* why it can't be used any more: out of memory half-way, or not a number; empty: it can */
};

/* Whether such a learner begins with no more than so many bytes, told from smaller ones: one that takes seconds and
 * most of the memory is not made for a request. */
bool state_size_ok(const struct settings *settings, const char *learner, size_t labels, size_t most,
                   struct http_error *err);
/* Takes the settings over, also when it fails. The learner's full spec replaces settings.learner. */
bool state_new(struct model_state *ret, struct settings *settings, struct http_error *err);
void state_free(struct model_state *c);

/* Each applies one event whose seq has been set and fills in what the event still lacks (the example as the learner
 * sees it, the choice); on failure nothing has changed unless broken is set. */
bool state_predict(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);
/* The choice that the model would make for an example, drawn from seed; changes nothing. */
bool state_peek(struct model_state *c, const struct example *x, uint64_t seed, struct event *e, struct http_error *err);
/* Takes a choice that was made elsewhere, and is in the event, into account. */
bool state_observe(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);

/* foreign: another version made the decision. */
bool state_answer(struct model_state *c, const struct event *decision, const struct event *feedback, bool foreign,
                  struct http_error *err);
bool state_lesson(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);
bool state_label(struct model_state *c, const struct event *e, struct http_error *err);

/* After state_predict: another version decided, and showed this label. */
void state_compare(struct model_state *c, const struct event *e, uint32_t shown);
/* An event that is to be forgotten. */
bool state_skip(struct model_state *c, uint64_t seq, struct http_error *err);

/* The example of an event read back from the log, without adding names. */
bool state_recall(struct model_state *c, const struct example *x, struct event *e, struct http_error *err);
/* Scores (as many as labels) of an example; changes nothing. */
bool state_scores(struct model_state *c, const struct example *x, struct event *scratch, float *ret,
                  struct http_error *err);

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
