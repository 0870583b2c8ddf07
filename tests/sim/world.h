/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process in which nothing happens by itself: clocks stand still but for world_advance (and a microsecond for each
 * look), random numbers come from a seed, and the threads that put events on disk are steps that the simulation takes.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/rng.h"
#include "model/registry.h"

struct world {
    struct rng rng; /* of what happens */
    struct serve_options options;
    struct metrics metrics;
    struct wall_clock wall;
    struct work_queue writers;
    struct model_context context;
};

void world_begin(struct world *w, uint64_t seed);
void world_end(struct world *w);
void world_advance(int64_t ms);
/* The writers have turns until no one waits for one, or that many. */
void world_write(struct world *w, unsigned turns);
/* The model's writer ends, and the model is closed. */
void world_close(struct world *w, struct model *m);
/* Makes a model in a new folder, as a request would. */
void world_make_model(struct world *w, const char *folder, const char *settings);

/* Ends the program with a message, which says how the history is played again. */
_Noreturn void world_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What that is. */
void world_name(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What a request may say besides its example: labels that may be shown, the application's own label, and whether the
 * decision waits for its activation. */
struct asked {
    struct decision decision;
    json_t *eligible, *baseline;
};
void asked_make(struct asked *ret, const struct model *m, struct rng *rng);
void asked_free(struct asked *a);
/* Another policy, or the same. */
void ask_policy(struct model *m, struct rng *rng, struct ticket *t);

/* A hash of what the model has learned. */
uint64_t state_hash(struct model_state *s);
/* A folder beneath the test's own, empty. */
void folder_empty(const char *folder);
void folder_remove(const char *folder);

#endif
