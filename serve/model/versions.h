/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model's learners. One decides; the others, its shadows, see every event, predict and learn for themselves, and are
 * scored on the same answers without being shown. Each is a function of the log: made by replaying it, kept up under
 * the model's lock. Promoting one only changes which of them decides from then on.
 */
#ifndef SERVE_VERSIONS_H
#define SERVE_VERSIONS_H

#include "model/model.h"

/* Under the lock: what has just happened to the model happens to its shadows. One that fails is dropped from memory
 * and rebuilt from the log. */
void shadows_decision(struct model *m, const struct example *x, const struct event *e);
void shadows_answer(struct model *m, const struct event *decision, const struct event *feedback);
void shadows_lesson(struct model *m, const struct example *x, const struct event *e);
void shadows_labels(struct model *m, struct event *const *events, size_t n);
/* A label retired or restored; another policy. */
void shadows_change(struct model *m, const struct event *e);
/* Under the lock: all of them are to be rebuilt. */
void shadows_clear(struct model *m);

/* A new version, made from the log in the background. automatic: it takes over when it is certain to be better. */
bool version_add(struct model *m, const char *learner, uint64_t seed, bool automatic, uint32_t *ret_number,
                 struct http_error *err);
bool version_drop(struct model *m, uint32_t number, struct http_error *err);
/* number 0: the one that decided before. */
bool version_promote(struct model *m, uint32_t number, struct http_error *err);

/* Versions that are in the log and not in memory are made, and one that is certain to be better takes over; due: claims
 * the work. */
bool versions_due(struct model *m);
void versions_work(struct model *m);
/* Writes the shadows' files; under the snapshot lock. */
bool versions_save(struct model *m, struct http_error *err);

#endif
