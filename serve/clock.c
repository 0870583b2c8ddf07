/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "clock.h"
#include "log.h"

#define FOLLOW_MS 60000                     /* differences that are followed */
#define ABSENCE_MS (INT64_C(30) * 86400000) /* between two runs */

/* The system's clock, and one that only goes on, also while the machine sleeps. */
static void look(const struct wall *w, int64_t *ret_system_ms, int64_t *ret_passed_ns)
{
    char text[64] = {0}, *rest = text;
    *ret_system_ms = clock_ns(CLOCK_REALTIME) / 1000000;
    *ret_passed_ns = clock_ns(CLOCK_BOOTTIME);
    if (w->shift_fd >= 0 && pread(w->shift_fd, text, sizeof text - 1, 0) > 0) {
        int64_t passed = strtoll(text, &rest, 10), jumped = strtoll(rest, NULL, 10);
        *ret_system_ms += passed + jumped;
        *ret_passed_ns += passed * 1000000;
    }
}

static int64_t kept_time(const struct wall *w)
{
    char text[32] = {0};
    return w->file_fd >= 0 && pread(w->file_fd, text, sizeof text - 1, 0) > 0 ? strtoll(text, NULL, 10) : 0;
}

void wall_start(struct wall *w, const char *file, bool trust)
{
    const char *shift = getenv("HUNCH_CLOCK_FILE");
    int64_t system;
    pthread_mutex_init(&w->lock, NULL);
    w->shift_fd = shift ? open(shift, O_RDONLY | O_CLOEXEC) : -1;
    w->file_fd = file ? open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    look(w, &system, &w->anchor_ns);
    int64_t kept = kept_time(w);
    bool jumped = kept && !trust && (system < kept - FOLLOW_MS || system > kept + ABSENCE_MS);
    w->anchor_ms = w->last_ms = jumped || system < kept ? kept : system;
    if (jumped) {
        w->jump_ms = system - kept;
        w->jumps = 1;
        log_event("clock_jumped", "{s:f,s:b}", "seconds", (double)w->jump_ms / 1000, "since_last_run", 1);
    }
}

void wall_stop(struct wall *w)
{
    wall_keep(w);
    if (w->shift_fd >= 0)
        close(w->shift_fd);
    if (w->file_fd >= 0)
        close(w->file_fd);
    pthread_mutex_destroy(&w->lock);
}

void wall_keep(struct wall *w)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%020lld\n", (long long)wall_ms(w));
    if (w->file_fd >= 0 && pwrite(w->file_fd, text, (size_t)n, 0) != n)
        log_event("clock_not_kept", "{}");
}

int64_t wall_ms(struct wall *w)
{
    int64_t system, passed;
    bool jumped = false;
    pthread_mutex_lock(&w->lock);
    look(w, &system, &passed);
    int64_t ms = w->anchor_ms + (passed - w->anchor_ns) / 1000000, jump = system - ms;
    if (jump >= 0 && jump <= FOLLOW_MS) {
        ms = w->anchor_ms = system;
        w->anchor_ns = passed;
        w->jump_ms = 0;
    } else if (llabs(jump - w->jump_ms) > FOLLOW_MS) {
        jumped = true;
        w->jump_ms = jump;
        w->jumps++;
    }
    if (ms < w->last_ms)
        ms = w->last_ms;
    w->last_ms = ms;
    pthread_mutex_unlock(&w->lock);
    if (jumped)
        log_event("clock_jumped", "{s:f,s:b}", "seconds", (double)jump / 1000, "since_last_run", 0);
    return ms;
}

double wall_offset_seconds(struct wall *w)
{
    wall_ms(w);
    pthread_mutex_lock(&w->lock);
    double seconds = (double)w->jump_ms / 1000;
    pthread_mutex_unlock(&w->lock);
    return seconds;
}
