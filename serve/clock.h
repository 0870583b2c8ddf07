/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that goes into the log. It never goes back: when the system's clock is set back, ours goes on from where
 * it was at the pace of the monotonic clock, so that ages and times to live stay right.
 *
 * For tests: with HUNCH_CLOCK_FILE in the environment, the number of milliseconds in that file is added to the system's
 * clock; it is read anew at every look at the clock.
 */
#ifndef SERVE_CLOCK_H
#define SERVE_CLOCK_H

#include <pthread.h>
#include <stdint.h>

struct wall {
    pthread_mutex_t lock;
    int64_t last_ms;   /* the latest time given */
    int64_t base_ms;   /* a time given ... */
    int64_t base_mono; /* ... and the monotonic clock then, in nanoseconds */
    int shift_fd;      /* of HUNCH_CLOCK_FILE, or -1 */
};

void wall_start(struct wall *w);
void wall_stop(struct wall *w);
void wall_at_least(struct wall *w, int64_t ms); /* the log already holds this time */
int64_t wall_ms(struct wall *w);                /* milliseconds since 1970 */
int64_t mono_ns(void);

#endif
