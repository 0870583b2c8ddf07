/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened lately, for the page and the gauges: counts per slice of time in three resolutions, and shares over the
 * last n decisions and answers. Not part of the model's state; filled again from the log at start-up. */
#ifndef SERVE_HISTORY_H
#define SERVE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/text.h"

#define SPANS 3
#define SLICES 360
#define BLOCK 24    /* slices whose memory is asked for together, when something happens in one of them */
#define WINDOW 1000 /* the "last N" of error and exploration */
#define DELAY_BOUNDS 12

struct slice {
    int64_t number; /* time / width */
    uint32_t decisions, explored, answers, wrong;
    double delay_s; /* summed over answers */
};

struct window {
    uint8_t hit[WINDOW];
    size_t n, at, hits;
};

struct history {
    struct slice *blocks[SPANS][SLICES / BLOCK];
    struct window wrong, explored;
    uint64_t delays[DELAY_BOUNDS + 1]; /* answers by delay, see history_delay_bound */
    double delay_sum_s;
    uint64_t delay_n;
};

/* One that is all zeros is empty. */
void history_free(struct history *h);
void history_decision(struct history *h, int64_t time_ms, bool explored);
void history_answer(struct history *h, int64_t time_ms, int64_t delay_ms, bool right);
double history_delay_bound(size_t i);        /* seconds */
double window_share(const struct window *w); /* NaN: nothing yet */
/* Share of wrong answers over the last hour and the last seven days; NaN: none. */
double history_error_hour(const struct history *h, int64_t now_ms);
double history_error_week(const struct history *h, int64_t now_ms);
/* "minutes", "day" or "month"; false: no such span */
bool history_span(const char *name, size_t *ret);
void history_write(const struct history *h, size_t span, int64_t now_ms, struct text *t);

#endif
