/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

int64_t mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t system_ms(const struct wall *w)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    int64_t ms = t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
    if (w->shift_fd >= 0) {
        char shift[32] = {0};
        if (pread(w->shift_fd, shift, sizeof shift - 1, 0) > 0)
            ms += strtoll(shift, NULL, 10);
    }
    return ms;
}

void wall_start(struct wall *w)
{
    const char *file = getenv("HUNCH_CLOCK_FILE");
    pthread_mutex_init(&w->lock, NULL);
    w->shift_fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    w->last_ms = w->base_ms = system_ms(w);
    w->base_mono = mono_ns();
}

void wall_stop(struct wall *w)
{
    if (w->shift_fd >= 0)
        close(w->shift_fd);
    pthread_mutex_destroy(&w->lock);
}

void wall_at_least(struct wall *w, int64_t ms)
{
    pthread_mutex_lock(&w->lock);
    if (ms > w->last_ms) {
        w->last_ms = w->base_ms = ms;
        w->base_mono = mono_ns();
    }
    pthread_mutex_unlock(&w->lock);
}

int64_t wall_ms(struct wall *w)
{
    pthread_mutex_lock(&w->lock);
    int64_t ms = system_ms(w);
    if (ms >= w->last_ms) {
        w->base_ms = ms;
        w->base_mono = mono_ns();
    } else {
        ms = w->base_ms + (mono_ns() - w->base_mono) / 1000000;
        if (ms < w->last_ms)
            ms = w->last_ms;
    }
    w->last_ms = ms;
    pthread_mutex_unlock(&w->lock);
    return ms;
}
