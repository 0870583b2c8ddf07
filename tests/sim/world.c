/* SPDX-License-Identifier: BSD-3-Clause */
#include "world.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "event/body.h"

/* --- clocks and random numbers, wrapped by the linker --- */

static int64_t passed_ns;
static struct rng randomness;
static char history[200];

int __real_unlink(const char *path);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int __wrap_nanosleep(const struct timespec *how_long, struct timespec *left);
ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags);

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
    const int64_t start_s = clock == CLOCK_REALTIME ? 1700000000 : 1000;
    passed_ns += 1000;
    *ret = (struct timespec){start_s + passed_ns / 1000000000, passed_ns % 1000000000};
    return 0;
}

/* There is no other thread that could come. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    (void)c;
    (void)m;
    (void)until;
    passed_ns += 1000000;
    return ETIMEDOUT;
}

int __wrap_nanosleep(const struct timespec *how_long, struct timespec *left)
{
    (void)left;
    passed_ns += how_long->tv_sec * 1000000000 + how_long->tv_nsec;
    return 0;
}

ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags)
{
    unsigned char *bytes = to;
    (void)flags;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(rng_next(&randomness) >> 24);
    return (ssize_t)n;
}

void world_advance(int64_t ms)
{
    passed_ns += ms * 1000000;
}

/* --- the world --- */

void world_begin(struct world *w, uint64_t seed)
{
    passed_ns = 0;
    randomness.state = seed ^ UINT64_C(0x5deece66d);
    *w = (struct world){.rng = {seed}, .options = SERVE_OPTIONS_INIT};
    w->options.snapshot_events = 1000000;
    w->options.snapshot_s = 1000000;
    w->options.limits = (struct limits){
        .body = 1 << 20, .model = 1 << 26, .depth = 8, .features = 1000, .batch = 100, .labels = 100, .names = 100000};
    w->options.limits.models = 100;
    w->options.limits.resident = 100;
    w->options.limits.queue = 1000;
    w->options.limits.queue_bytes = 1 << 20;
    w->options.limits.recent_bytes = 1 << 14; /* decisions leave memory soon */
    wall_clock_start(&w->wall, NULL, true);
    if (!work_queue_open(&w->writers, 0, writer_work))
        world_fail("no turns");
    w->context = (struct model_context){
        .options = &w->options, .wall = &w->wall, .metrics = &w->metrics, .writers = &w->writers};
}

void world_end(struct world *w)
{
    work_queue_close(&w->writers);
    wall_clock_stop(&w->wall);
}

void world_write(struct world *w, unsigned turns)
{
    while (turns-- && work_queue_step(&w->writers))
        ;
}

void world_close(struct world *w, struct model *m)
{
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    writer_wake(m);
    pthread_mutex_unlock(&m->lock);
    world_write(w, 20);
    model_stop(m, 0);
    model_close(m);
}

void world_make_model(struct world *w, const char *folder, const char *text)
{
    struct settings settings;
    struct http_error err = {0};
    json_t *json = json_read(text, strlen(text), 8, &err);
    if (!json || !settings_read(&settings, json, &w->options.limits, &err) ||
        !model_create(folder, "m", &(struct model_source){.settings = &settings}, wall_clock_ms(&w->wall), &err))
        world_fail("no model can be made of %s: %s", text, err.message);
    settings_free(&settings);
    json_decref(json);
}

void world_name(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(history, sizeof history, format, list);
    va_end(list);
}

void world_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("FAILED: ");
    vprintf(format, list);
    printf("\nplay it again with: %s\n", history);
    va_end(list);
    exit(1);
}

uint64_t state_hash(struct model_state *s)
{
    struct http_error err = {0};
    void *bytes;
    size_t size;
    if (!state_write(s, &bytes, &size, &err))
        world_fail("the state can't be written: %s", err.message);
    uint64_t hash = XXH3_64bits(bytes, size);
    hunch_free_bytes(bytes);
    return hash;
}

void folder_empty(const char *folder)
{
    folder_remove(folder);
    if (mkdir(folder, 0700) != 0)
        world_fail("can't make %s: %s", folder, strerror(errno));
}

void folder_remove(const char *folder)
{
    DIR *d = opendir(folder);
    char path[4096];
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < (int)sizeof path)
            __real_unlink(path);
    if (d)
        closedir(d);
    rmdir(folder);
}

static json_t *some_label(const struct model *m, struct rng *rng)
{
    return json_string(names_text(m->state.labels, (uint32_t)rng_below(rng, names_count(m->state.labels)), NULL));
}

void asked_make(struct asked *ret, const struct model *m, struct rng *rng)
{
    *ret = (struct asked){.baseline = some_label(m, rng)};
    struct decision *d = &ret->decision;
    d->logged = rng_below(rng, 4) == 0;
    d->baseline_chance = rng_below(rng, 2) ? 0.5 : 0;
    d->deferred = rng_below(rng, 3) == 0;
    d->act_at = rng_below(rng, 3) == 0 ? 0.8 : 0;
    if (rng_below(rng, 3) == 0) {
        ret->eligible = json_array();
        json_array_append(ret->eligible, ret->baseline);
        json_array_append_new(ret->eligible, some_label(m, rng));
    }
    d->baseline = ret->baseline;
    d->eligible = ret->eligible;
}

void asked_free(struct asked *a)
{
    json_decref(a->eligible);
    json_decref(a->baseline);
}

void ask_policy(struct model *m, struct rng *rng, struct ticket *t)
{
    static const char *const policies[] = {
        "{\"decides\":\"model\",\"control\":null}",
        "{\"decides\":\"baseline\"}",
        "{\"decides\":\"model\",\"control\":{\"share\":0.3,\"by\":\"uniform\"}}",
        "{\"decides\":\"model\",\"control\":{\"share\":0.5,\"by\":\"baseline\"}}",
    };
    struct http_error err = {0};
    json_t *json = json_loads(policies[rng_below(rng, sizeof policies / sizeof *policies)], 0, NULL);
    if (!model_set_policy(m, json, t, &err) && err.status != 503)
        world_fail("policy: %s", err.message);
    json_decref(json);
}
