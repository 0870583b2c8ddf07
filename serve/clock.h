/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that goes into the log. It passes as the monotonic clock does, so that a clock that is set forward or back
 * by years neither expires nor deletes what is young: within a run the system's clock is followed only where the two
 * differ by less than a minute. From one run to the next the time is kept in a file; a start that seems to come a month
 * later is taken for a jump too, unless the operator trusts the clock.
 *
 * For tests: with HUNCH_CLOCK_FILE in the environment, the file says "passed [jumped]" in milliseconds: so much more
 * time has passed, and the system's clock alone has been set forward (or back) so far. It is read at every look.
 */
#ifndef SERVE_CLOCK_H
#define SERVE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct wall {
    pthread_mutex_t lock;
    int64_t anchor_ms, anchor_ns; /* a time of the log, and the monotonic clock then */
    int64_t last_ms;              /* the latest time given */
    int64_t jump_ms;              /* how far the system's clock is from ours, if that is no longer followed */
    uint64_t jumps;               /* how often it went away from ours */
    int shift_fd, file_fd;        /* of HUNCH_CLOCK_FILE, and of the file that keeps the time; or -1 */
};

/* file: keeps the time from one run to the next; NULL: none. */
void wall_start(struct wall *w, const char *file, bool trust);
void wall_stop(struct wall *w);
void wall_keep(struct wall *w);  /* writes the file; now and then */
int64_t wall_ms(struct wall *w); /* milliseconds since 1970 */
double wall_offset_seconds(struct wall *w);

#endif
