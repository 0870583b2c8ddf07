/* SPDX-License-Identifier: BSD-3-Clause */
/* C11's threads by POSIX's, to be preloaded: librdkafka uses them, and the thread sanitizer knows only the latter.
 * glibc's types are the same underneath. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

struct start {
    thrd_start_t run;
    void *argument;
};

static void *begin(void *start)
{
    struct start s = *(struct start *)start;
    free(start);
    return (void *)(long)s.run(s.argument);
}

static int result(int code)
{
    return code ? thrd_error : thrd_success;
}

int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    struct start *s = malloc(sizeof *s);
    if (!s)
        return thrd_nomem;
    *s = (struct start){run, argument};
    return result(pthread_create((pthread_t *)thread, NULL, begin, s));
}

int thrd_join(thrd_t thread, int *ret)
{
    void *value = NULL;
    int code = pthread_join((pthread_t)thread, &value);
    if (ret)
        *ret = (int)(long)value;
    return result(code);
}

int thrd_detach(thrd_t thread)
{
    return result(pthread_detach((pthread_t)thread));
}

int mtx_init(mtx_t *m, int type)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    int code = pthread_mutex_init((pthread_mutex_t *)m, &a);
    pthread_mutexattr_destroy(&a);
    return result(code);
}

void mtx_destroy(mtx_t *m)
{
    pthread_mutex_destroy((pthread_mutex_t *)m);
}

int mtx_lock(mtx_t *m)
{
    return result(pthread_mutex_lock((pthread_mutex_t *)m));
}

int mtx_trylock(mtx_t *m)
{
    return pthread_mutex_trylock((pthread_mutex_t *)m) ? thrd_busy : thrd_success;
}

int mtx_unlock(mtx_t *m)
{
    return result(pthread_mutex_unlock((pthread_mutex_t *)m));
}

int cnd_init(cnd_t *c)
{
    return result(pthread_cond_init((pthread_cond_t *)c, NULL));
}

void cnd_destroy(cnd_t *c)
{
    pthread_cond_destroy((pthread_cond_t *)c);
}

int cnd_signal(cnd_t *c)
{
    return result(pthread_cond_signal((pthread_cond_t *)c));
}

int cnd_broadcast(cnd_t *c)
{
    return result(pthread_cond_broadcast((pthread_cond_t *)c));
}

int cnd_wait(cnd_t *c, mtx_t *m)
{
    return result(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}

int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until)
{
    int code = pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, until);
    return code == ETIMEDOUT ? thrd_timedout : result(code);
}
