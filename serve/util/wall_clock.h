/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time that goes into the log, and how much of it has surely passed.
 *
 * Within a run, time passes as the monotonic clock does: the system's clock is followed where the two differ by less
 * than a minute, and a larger difference (a jump) changes neither the log's time nor any age. An hour after a jump
 * back, time follows it; a jump forward is not followed before the next start.
 *
 * Between two runs only the system's clock goes on, and it may have been wrong then or may be wrong now. The time of
 * the last run is kept in the file `clock`. A start follows the system's clock (unless it is earlier, or more than 30
 * days later), but the time since the last run stays unconfirmed: it counts for no age, so nothing expires and nothing
 * is deleted for it, until the two clocks have agreed for an hour or the operator says --trust-clock. If the system's
 * clock goes back before that, the log's time goes back with it.
 *
 * `clock` has two records, each with a checksum, written alternately. Where both are damaged, the time comes from the
 * logs (wall_clock_seen), and the time since the last event of the oldest of them is unconfirmed.
 *
 * For tests: with HUNCH_CLOCK_FILE in the environment, that file says "passed [jumped]" in milliseconds: how much more
 * time has passed, and how far the system's clock alone has been set forward or back. It is read at every look.
 */
#ifndef SERVE_WALL_CLOCK_H
#define SERVE_WALL_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct wall_clock {
    pthread_mutex_t lock;
    int64_t anchor_ms, anchor_ns; /* a time of the log, and the monotonic clock then */
    int64_t last_ms;              /* the latest time given */
    int64_t start_ms;             /* of this run */
    int64_t jump_ms;              /* system's clock less ours, while it is not followed; else 0 */
    int64_t agree_ns;             /* the monotonic clock when the two clocks last began to agree */
    bool known;                   /* when the last run ended; else the logs tell, as they are opened */
    _Atomic bool confirmed;       /* all time since the last run */
    _Atomic int64_t unsure_ms;    /* how much of it is not; 0 when confirmed */
    uint64_t generation;          /* of the file's newest record */
    int shift_fd, file_fd;        /* of HUNCH_CLOCK_FILE, and of the file that keeps the time; or -1 */
};

/* file: stores the time between two runs; NULL: it is not stored. */
void wall_clock_start(struct wall_clock *w, const char *file, bool trust);
void wall_clock_stop(struct wall_clock *w);
void wall_clock_save(struct wall_clock *w);  /* writes the file; to be called regularly */
int64_t wall_clock_ms(struct wall_clock *w); /* milliseconds since 1970 */
/* A log's last event has this time (0: it has none). */
void wall_clock_seen(struct wall_clock *w, int64_t time_ms);
/* How much time has surely passed since then_ms. */
int64_t wall_clock_age_ms(const struct wall_clock *w, int64_t now_ms, int64_t then_ms);
double wall_clock_offset_seconds(struct wall_clock *w);

#endif
