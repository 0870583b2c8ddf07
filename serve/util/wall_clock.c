/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/clock.h"
#include "util/wall_clock.h"
#include "util/log.h"

#define FOLLOW_MS 60000                     /* differences that are followed */
#define ABSENCE_MS (INT64_C(30) * 86400000) /* between two runs; a longer one is for the operator to confirm */
#define AGREE_NS INT64_C(3600000000000)     /* after which two clocks that agree are believed */
#define TIME_MAX_MS (INT64_C(1) << 50)      /* sums of a few of them do not overflow */

/* The file `clock` is two of these. */
struct clock_record {
    uint64_t generation;
    int64_t time_ms, unsure_ms;
    uint64_t checksum;
};

/* The system's clock, and one that only goes on, also while the machine sleeps. */
static void look(const struct wall_clock *w, int64_t *ret_system_ms, int64_t *ret_passed_ns)
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

/* --- the file --- */

static uint64_t record_checksum(const struct clock_record *r)
{
    return XXH3_64bits(r, offsetof(struct clock_record, checksum));
}

static bool time_valid(int64_t ms)
{
    return ms >= 0 && ms < TIME_MAX_MS;
}

/* The newest valid record; false: there is none. ret_empty: nothing was ever written. */
static bool record_read(const struct wall_clock *w, struct clock_record *ret, bool *ret_empty)
{
    struct clock_record r[2] = {{0}};
    bool found = false;
    ssize_t n = w->file_fd >= 0 ? pread(w->file_fd, r, sizeof r, 0) : 0;
    *ret_empty = n == 0;
    for (size_t i = 0; i < 2 && n >= (ssize_t)((i + 1) * sizeof *r); i++) {
        if (r[i].checksum != record_checksum(&r[i]) || !time_valid(r[i].time_ms) || !time_valid(r[i].unsure_ms) ||
            (found && r[i].generation < ret->generation))
            continue;
        *ret = r[i];
        found = true;
    }
    return found;
}

void wall_clock_save(struct wall_clock *w)
{
    struct clock_record r = {.time_ms = wall_clock_ms(w)};
    pthread_mutex_lock(&w->lock);
    r.unsure_ms = w->unsure_ms;
    r.generation = ++w->generation;
    r.checksum = record_checksum(&r);
    off_t place = (off_t)(r.generation & 1) * (off_t)sizeof r;
    bool ok = w->file_fd < 0 || pwrite(w->file_fd, &r, sizeof r, place) == (ssize_t)sizeof r;
    pthread_mutex_unlock(&w->lock);
    if (!ok)
        log_event("clock_not_kept", "{}");
}

/* --- the start --- */

/* The system's clock against the time of the last run. */
static void compare(struct wall_clock *w, const struct clock_record *last, int64_t system)
{
    int64_t gap = system - last->time_ms;
    if (gap < -FOLLOW_MS && gap >= -last->unsure_ms - FOLLOW_MS) { /* it was wrong then, and is right again */
        w->anchor_ms = system;
        w->unsure_ms = last->unsure_ms + gap > 0 ? last->unsure_ms + gap : 0;
    } else if (gap < -FOLLOW_MS || gap > ABSENCE_MS) {
        w->anchor_ms = last->time_ms;
        w->unsure_ms = last->unsure_ms;
        w->jump_ms = gap;
        log_event("clock_jumped", "{s:f,s:b}", "seconds", (double)gap / 1000, "since_last_run", 1);
    } else {
        w->anchor_ms = gap > 0 ? system : last->time_ms;
        w->unsure_ms = last->unsure_ms + (gap > FOLLOW_MS ? gap : 0);
        if (gap > FOLLOW_MS)
            log_event("clock_unconfirmed", "{s:f}", "seconds", (double)w->unsure_ms / 1000);
    }
    w->confirmed = w->unsure_ms == 0;
}

void wall_clock_start(struct wall_clock *w, const char *file, bool trust)
{
    const char *shift = getenv("HUNCH_CLOCK_FILE");
    struct clock_record last;
    bool empty;
    int64_t system;
    pthread_mutex_init(&w->lock, NULL);
    w->shift_fd = shift ? open(shift, O_RDONLY | O_CLOEXEC) : -1;
    w->file_fd = file ? open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    look(w, &system, &w->anchor_ns);
    bool found = record_read(w, &last, &empty);
    w->agree_ns = w->anchor_ns;
    w->anchor_ms = system;
    w->generation = found ? last.generation : 0;
    w->known = found || trust;
    w->confirmed = trust;
    if (found && !trust)
        compare(w, &last, system);
    if (!found && !empty)
        log_event("clock_damaged", "{}");
    w->last_ms = w->start_ms = w->anchor_ms;
}

void wall_clock_stop(struct wall_clock *w)
{
    wall_clock_save(w);
    if (w->shift_fd >= 0)
        close(w->shift_fd);
    if (w->file_fd >= 0)
        close(w->file_fd);
    pthread_mutex_destroy(&w->lock);
}

void wall_clock_seen(struct wall_clock *w, int64_t time_ms)
{
    if (time_ms == 0 || !time_valid(time_ms))
        return;
    wall_clock_ms(w);
    pthread_mutex_lock(&w->lock);
    int64_t ahead = time_ms - w->last_ms;
    if (ahead > 0 && (ahead <= FOLLOW_MS || !w->known)) { /* the file is some milliseconds old after a crash */
        w->anchor_ms += ahead;
        w->last_ms = time_ms;
    } else if (!w->known && !w->confirmed && time_ms < w->start_ms && w->start_ms - time_ms > w->unsure_ms) {
        w->unsure_ms = w->start_ms - time_ms;
    }
    pthread_mutex_unlock(&w->lock);
}

/* --- while it runs --- */

static void set(struct wall_clock *w, int64_t system, int64_t passed)
{
    w->anchor_ms = w->last_ms = system;
    w->anchor_ns = passed;
    w->jump_ms = 0;
}

/* The system's clock differs by `jump` from this one. Whether the difference has changed. */
static bool jumped(struct wall_clock *w, int64_t system, int64_t passed, int64_t jump)
{
    bool back = jump < 0;
    bool changed = llabs(jump - w->jump_ms) > FOLLOW_MS;
    if (back && !w->confirmed && jump >= -w->unsure_ms - FOLLOW_MS) { /* it was wrong at the start */
        w->unsure_ms = w->unsure_ms + jump > 0 ? w->unsure_ms + jump : 0;
        set(w, system, passed);
    } else if (changed) {
        w->jump_ms = jump;
    } else if (back && passed - w->agree_ns >= AGREE_NS) {
        set(w, system, passed);
    }
    if (changed)
        w->agree_ns = passed;
    return changed;
}

int64_t wall_clock_ms(struct wall_clock *w)
{
    int64_t system, passed;
    bool changed = false;
    pthread_mutex_lock(&w->lock);
    look(w, &system, &passed);
    int64_t ms = w->anchor_ms + (passed - w->anchor_ns) / 1000000, jump = system - ms;
    if (jump >= 0 && jump <= FOLLOW_MS) {
        ms = w->anchor_ms = system;
        w->anchor_ns = passed;
        w->jump_ms = 0;
    } else if (jump < -FOLLOW_MS || jump > FOLLOW_MS) {
        changed = jumped(w, system, passed, jump);
        if (w->anchor_ns == passed)
            ms = w->anchor_ms;
    }
    if (!w->confirmed && w->jump_ms == 0 && passed - w->agree_ns >= AGREE_NS) {
        w->unsure_ms = 0;
        w->confirmed = true;
    }
    if (ms < w->last_ms)
        ms = w->last_ms;
    w->last_ms = ms;
    pthread_mutex_unlock(&w->lock);
    if (changed)
        log_event("clock_jumped", "{s:f,s:b}", "seconds", (double)jump / 1000, "since_last_run", 0);
    return ms;
}

int64_t wall_clock_age_ms(const struct wall_clock *w, int64_t now_ms, int64_t then_ms)
{
    return now_ms - then_ms - (then_ms <= w->start_ms ? w->unsure_ms : 0);
}

double wall_clock_offset_seconds(struct wall_clock *w)
{
    wall_clock_ms(w);
    pthread_mutex_lock(&w->lock);
    double seconds = (double)w->jump_ms / 1000;
    pthread_mutex_unlock(&w->lock);
    return seconds;
}
