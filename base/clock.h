/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks, as numbers. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Nanoseconds that only go forward, from an arbitrary start: for durations and deadlines. */
static inline int64_t clock_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static inline double clock_seconds(void)
{
    return (double)clock_now() * 1e-9;
}

/* Nanoseconds since 1970, as the machine is set. */
static inline int64_t clock_wall(void)
{
    return clock_ns(CLOCK_REALTIME);
}

/* Seconds that this thread has computed. */
static inline double clock_thread(void)
{
    return (double)clock_ns(CLOCK_THREAD_CPUTIME_ID) * 1e-9;
}

static inline void clock_sleep_ms(int64_t ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* A clock's time that many nanoseconds from now, as pthread_cond_timedwait and others take it. */
static inline struct timespec clock_after(clockid_t clock, int64_t ns)
{
    int64_t t = clock_ns(clock) + ns;
    return (struct timespec){t / 1000000000, t % 1000000000};
}

#endif
