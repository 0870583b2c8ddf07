/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One model on one machine, where every single allocation, call of SQLite and call of the system fails once.
 *
 *     sim_faults [--seconds N]                             as many of the faults as that takes (10)
 *     sim_faults --kind memory|sqlite|system --call N      one of them
 *
 * The life of a model (made, asked, answered, taught; labels, policies, versions, snapshots; events excluded, expired and
 * trimmed; closed, opened again, verified) is played once to count the calls, and then once for each call that fails. What
 * fails says so; afterwards the model is opened from its folder without faults.
 *     log_checker      it opens, whole, with all that had been acknowledged
 *     state_checker    its log makes it again, from the newest snapshot and from the start
 *     ledger           feedback that had been acknowledged is known: the same again is "already", another a conflict
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sqlite3.h>

#include "../temporary.h"
#include "event/items.h"
#include "model/versions.h"
#include "storage/recover.h"
#include "storage/snapshot.h"
#include "storage/verify.h"
#include "world.h"

#define DECISIONS 256

/* --- calls that fail, wrapped by the linker --- */

enum kind { MEMORY, SQLITE, SYSTEM, KINDS };
static const char *const kinds[KINDS] = {"memory", "sqlite", "system"};

static struct {
    bool on, failed;
    enum kind kind;
    unsigned long call, calls[KINDS]; /* which fails, 0: none; how many there have been */
} fault;

/* For the person who looks for the reason: a debugger stops here. */
static __attribute__((noinline)) bool fails_now(void)
{
    fault.failed = true;
    return true;
}

static bool fails(enum kind kind)
{
    return fault.on && ++fault.calls[kind] == fault.call && kind == fault.kind && fails_now();
}

#define WRAP(result, name, kind, failure, parameters, arguments)                                                       \
    result __real_##name parameters;                                                                                   \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        if (fails(kind))                                                                                               \
            return failure;                                                                                            \
        return __real_##name arguments;                                                                                \
    }

#define MINUS_ONE (errno = EIO, -1)
WRAP(void *, malloc, MEMORY, NULL, (size_t n), (n))
WRAP(void *, calloc, MEMORY, NULL, (size_t n, size_t size), (n, size))
WRAP(void *, realloc, MEMORY, NULL, (void *p, size_t n), (p, n))
WRAP(void *, aligned_alloc, MEMORY, NULL, (size_t alignment, size_t n), (alignment, n))
WRAP(char *, strdup, MEMORY, NULL, (const char *text), (text))
WRAP(char *, strndup, MEMORY, NULL, (const char *text, size_t n), (text, n))
WRAP(int, sqlite3_step, SQLITE, SQLITE_IOERR, (sqlite3_stmt * q), (q))
WRAP(int, sqlite3_exec, SQLITE, SQLITE_IOERR,
     (sqlite3 * db, const char *sql, int (*each)(void *, int, char **, char **), void *context, char **message),
     (db, sql, each, context, message))
WRAP(int, sqlite3_prepare_v2, SQLITE, SQLITE_IOERR,
     (sqlite3 * db, const char *sql, int n, sqlite3_stmt **ret, const char **tail), (db, sql, n, ret, tail))
WRAP(int, sqlite3_prepare_v3, SQLITE, SQLITE_IOERR,
     (sqlite3 * db, const char *sql, int n, unsigned flags, sqlite3_stmt **ret, const char **tail),
     (db, sql, n, flags, ret, tail))
WRAP(int, fsync, SYSTEM, MINUS_ONE, (int fd), (fd))
WRAP(int, rename, SYSTEM, MINUS_ONE, (const char *from, const char *to), (from, to))
WRAP(int, mkdir, SYSTEM, MINUS_ONE, (const char *path, mode_t mode), (path, mode))
WRAP(int, fstat64, SYSTEM, MINUS_ONE, (int fd, struct stat *st), (fd, st))
WRAP(ssize_t, write, SYSTEM, MINUS_ONE, (int fd, const void *bytes, size_t size), (fd, bytes, size))
WRAP(ssize_t, pwrite64, SYSTEM, MINUS_ONE, (int fd, const void *bytes, size_t size, off_t at), (fd, bytes, size, at))
WRAP(ssize_t, read, SYSTEM, MINUS_ONE, (int fd, void *to, size_t size), (fd, to, size))
WRAP(ssize_t, pread64, SYSTEM, MINUS_ONE, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
WRAP(DIR *, opendir, SYSTEM, NULL, (const char *path), (path))
WRAP(int, unlink, SYSTEM, MINUS_ONE, (const char *path), (path))

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    return fails(SYSTEM) ? MINUS_ONE : __real_open64(path, flags, 0600);
}

/* --- the life of a model --- */

struct told {
    uint64_t seq, key, wait;
    bool answered, right, acknowledged;
};

static struct {
    struct world world;
    struct model *model;
    char folder[3000];
    struct told told[DECISIONS];
    size_t told_n;
    bool made;
} sim;

static const char settings[] =
    "{\"labels\":[\"a\",\"b\",\"c\"],\"learner\":\"banditron\",\"seed\":1,\"max_features\":14,"
    "\"reuse_names\":true,\"ttl_seconds\":60,\"bounds\":{\"value\":1000}}";

static const char *const asked[] = {
    "{\"x\":{\"f%u\":1,\"g\":0.5}}",
    "{\"x\":{\"f%u\":1,\"colour\":\"red\",\"on\":true},\"event\":\"e%u\",\"durable\":true}",
    "{\"x\":{\"f%u\":1},\"eligible\":[\"a\",\"b\"],\"scores\":true}",
    "{\"x\":{\"f%u\":0.25},\"exclude\":[\"c\"],\"probabilities\":true}",
    "{\"x\":{\"f%u\":1},\"baseline\":\"b\",\"defer\":true}",
    "{\"x\":{\"f%u\":1},\"x\":{\"f%u\":2}}",
    "{\"x\":{\"\\u00e9%u\":-1e-3},\"event\":\"e%u\"}",
};

static void predict(struct body_item *item)
{
    struct item_predict p;
    struct http_error err = {0};
    struct reading how = model_reading(sim.model);
    if (!item_read_predict(&p, item, &how, &err))
        return;
    double chances[16];
    float scores[16];
    size_t n = model_labels(sim.model);
    struct decision d = {.eligible = p.eligible,
                         .exclude = p.exclude,
                         .given_id = p.given_id,
                         .baseline = p.baseline,
                         .deferred = p.deferred,
                         .chances = p.probabilities && n <= 16 ? chances : NULL,
                         .scores = {p.scores && n <= 16 ? scores : NULL, n}};
    if (model_predict(sim.model, &p.x, &d, &err) && sim.told_n < DECISIONS)
        sim.told[sim.told_n++] = (struct told){.seq = d.id, .key = d.key};
    example_free(&p.x);
}

static void feedback(struct body_item *item)
{
    struct feedback f = {0};
    struct ticket t = {0};
    char number[24];
    if (!item_read_feedback(&f.input, number, item, &f.error))
        return;
    model_feedback(sim.model, &f, 1, &t);
    for (size_t i = 0; !f.error.status && i < sim.told_n; i++)
        if (sim.told[i].seq == f.input.seq && sim.told[i].key == f.input.key && !f.input.labelled) {
            sim.told[i].answered = true;
            sim.told[i].right = f.input.right;
            sim.told[i].wait = f.wait;
        }
}

static void teach(struct body_item *item)
{
    struct item_teach x;
    struct ticket t = {0};
    struct http_error err = {0};
    struct reading how = model_reading(sim.model);
    if (!item_read_teach(&x, item, &how, &err))
        return;
    model_teach(sim.model, &x.x, x.label, x.label_length, &t, &err);
    example_free(&x.x);
}

static void request(const char *text, void (*each)(struct body_item *item))
{
    struct body b;
    struct body_item item;
    enum body_next next;
    struct http_error err = {0};
    if (!model_usable(sim.model, &err) || !body_open(&b, text, strlen(text), false, &sim.world.options.limits, &err))
        return;
    while ((next = body_next(&b, &item, &err)) != BODY_END)
        if (next == BODY_ITEM) {
            each(&item);
            body_item_free(&item);
        }
    body_close(&b);
}

/* Whether all of it is on disk: what is done next would wait for that. */
static bool write_all(void)
{
    world_write(&sim.world, 20);
    for (size_t i = 0; i < sim.told_n; i++)
        sim.told[i].acknowledged |= sim.told[i].answered && sim.told[i].wait <= sim.model->committed;
    return sim.model->last == sim.model->committed && !sim.model->failing && !*model_reason(sim.model);
}

static void ask(unsigned from, unsigned to)
{
    char text[400];
    for (unsigned i = from; i < to; i++) {
        snprintf(text, sizeof text, asked[i % (sizeof asked / sizeof *asked)], i % 20, i % 8);
        request(text, predict);
        if (sim.told_n && i % 4) {
            const struct told *d = &sim.told[sim.told_n - 1 - i % (sim.told_n < 9 ? sim.told_n : 9)];
            snprintf(text, sizeof text, "{\"id\":\"%016llx-%016llx\",\"%s}", (unsigned long long)d->seq,
                     (unsigned long long)d->key,
                     i % 7 == 0   ? "label\":\"a\""
                     : i % 7 == 1 ? "right\":true,\"more\":1"
                     : i % 2      ? "right\":true"
                                  : "right\":false");
            request(text, feedback);
        }
        if (i % 6 == 0)
            write_all();
    }
}

static void change(void)
{
    struct ticket t = {0};
    struct http_error err = {0};
    size_t added;
    struct label_text labels[] = {{"d", 1}, {"e", 1}, {"d", 1}};
    json_t *policy = json_loads("{\"decides\":\"model\",\"control\":{\"share\":0.3,\"by\":\"uniform\"}}", 0, NULL);
    json_t *retired = json_loads("[\"c\"]", 0, NULL);
    request("[{\"x\":{\"f1\":1},\"label\":\"a\"},{\"x\":{\"f2\":\"t\"},\"label\":\"b\"},{\"x\":[1],\"label\":\"b\"}]",
            teach);
    model_add_labels(sim.model, labels, 3, &added, &t, &err);
    model_set_policy(sim.model, policy, &t, &err);
    model_retire(sim.model, retired, true, &t, &err);
    json_decref(policy);
    json_decref(retired);
    write_all();
}

static void rebuild(void)
{
    struct http_error err = {0};
    if (write_all() && model_rebuild_due(sim.model))
        model_rebuild(sim.model, &err);
}

static void snapshot(void)
{
    struct http_error err = {0};
    if (write_all())
        model_snapshot(sim.model, &err);
}

static void administer(void)
{
    struct http_error err = {0};
    uint32_t number;
    static const _Atomic bool stop = false;
    snapshot();
    version_add(sim.model, "banditron:gamma=0.2", 7, true, &number, &err);
    if (write_all() && versions_due(sim.model))
        versions_work(sim.model);
    ask(20, 30);
    if (write_all())
        version_promote(sim.model, 2, &err);
    if (write_all())
        model_exclude(sim.model, 3, &err);
    rebuild();
    ask(30, 36);
    version_drop(sim.model, 1, &err);
    if (write_all() && model_scrub_due(sim.model))
        model_scrub(sim.model, &stop);
    snapshot();
}

static void grow_old(void)
{
    world_advance(40000);
    ask(36, 40);
    write_all();
    for (int i = 0; i < 4; i++) {
        world_advance(30000);
        writer_keep(sim.model);
        write_all();
    }
}

static bool seen(void *context, const struct event *e)
{
    (void)context;
    return e != NULL;
}

static void look(void)
{
    struct http_error err = {0};
    event_store_recent(&sim.model->store, UINT64_MAX, 10, seen, NULL, &err);
    verify_restorable(sim.folder, &sim.world.options.limits, NULL, 0, &err);
}

static bool make(void)
{
    struct settings s;
    struct http_error err = {0};
    json_t *json = json_read(settings, strlen(settings), 8, &err);
    bool ok = json && settings_read(&s, json, &sim.world.options.limits, &err);
    if (ok) {
        ok =
            model_create(sim.folder, "m", &(struct model_source){.settings = &s}, wall_clock_ms(&sim.world.wall), &err);
        settings_free(&s);
    }
    json_decref(json);
    return ok;
}

static void life(bool trims)
{
    sim.world.options.keep_days = trims ? 10.0 / 86400 : 0;
    if (!make())
        return;
    sim.made = true;
    for (int i = 0; i < 2; i++) {
        sim.model = model_open(sim.folder, "m", &sim.world.context);
        if (!sim.model)
            continue;
        rebuild();
        if (i == 0) {
            ask(0, 20);
            change();
            administer();
            grow_old();
        } else {
            ask(40, 50);
            look();
        }
        world_close(&sim.world, sim.model);
        sim.model = NULL;
    }
}

/* --- afterwards --- */

static void check_replay(struct model *m)
{
    struct event_store store;
    struct recovery how;
    struct model_state state;
    struct http_error err = {0};
    struct recover_options options = {.limits = &sim.world.options.limits, .look_only = true};
    if (!event_store_open(&store, sim.folder, true, &err))
        world_fail("log_checker: %s", err.message);
    for (int i = 0; i < 2; i++) {
        options.scratch = i && !store.trimmed;
        if (!recover(&state, &how, &store, &options, &err))
            world_fail("state_checker: %s", err.message);
        if (how.degraded[0] || how.mismatches || state.seq != m->last || state_hash(&state) != state_hash(&m->state))
            world_fail("state_checker: the log makes another model%s: %s, %llu mismatches", i ? " from its start" : "",
                       how.degraded, (unsigned long long)how.mismatches);
        state_free(&state);
    }
    event_store_close(&store);
}

static void check(void)
{
    sim.model = model_open(sim.folder, "m", &sim.world.context);
    if (!sim.model || *model_reason(sim.model) || sim.model->degraded[0])
        world_fail("log_checker: the model is %s%s", sim.model ? model_reason(sim.model) : "not there",
                   sim.model ? sim.model->degraded : "");
    check_replay(sim.model);
    for (size_t i = 0; i < sim.told_n; i++) {
        const struct told *d = &sim.told[i];
        if (!d->acknowledged || d->seq <= sim.model->store.trimmed)
            continue;
        for (int other = 0; other < 2; other++) {
            struct ticket t = {0};
            struct feedback f = {.input = {.seq = d->seq, .key = d->key, .right = d->right != other}};
            model_feedback(sim.model, &f, 1, &t);
            if (other ? f.error.status != 409 : !f.already)
                world_fail("ledger: feedback to decision %llu, acknowledged, is %d %s", (unsigned long long)d->seq,
                           f.error.status, f.error.message);
        }
    }
    ask(50, 56);
    write_all();
    if (sim.model->committed != sim.model->last)
        world_fail("it does not go on");
    world_close(&sim.world, sim.model);
    sim.model = NULL;
}

static void play(enum kind kind, unsigned long call)
{
    world_name("sim_faults --kind %s --call %lu", kinds[kind], call);
    world_begin(&sim.world, 1);
    folder_remove(sim.folder);
    sim.told_n = 0;
    sim.made = false;
    fault.kind = kind;
    fault.call = call;
    memset(fault.calls, 0, sizeof fault.calls);
    fault.on = true;
    life(call % 2);
    fault.on = false;
    if (sim.made)
        check();
    world_end(&sim.world);
}

/* --- the program --- */

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* All of a kind, in steps that are spread over all of them, until the time is over. */
static size_t play_all(enum kind kind, unsigned long calls, double until)
{
    unsigned long step = calls * 618 / 1000 | 1, n = 0;
    while (step > 1 && calls % step == 0)
        step += 2;
    for (unsigned long at = 0; n < calls && seconds() < until; n++, at = (at + step) % calls)
        play(kind, at + 1);
    return n;
}

int main(int argc, char **argv)
{
    enum kind kind = KINDS;
    unsigned long call = 0, calls[KINDS];
    double max = 10;
    for (int i = 1; i + 1 < argc; i += 2) {
        for (int k = 0; strcmp(argv[i], "--kind") == 0 && k < KINDS; k++)
            kind = strcmp(argv[i + 1], kinds[k]) == 0 ? (enum kind)k : kind;
        if (strcmp(argv[i], "--call") == 0)
            call = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            max = strtod(argv[i + 1], NULL);
    }
    char *folder = temporary_folder();
    if (!folder || (!getenv("SIM_LOG") && !freopen("/dev/null", "w", stderr)))
        return 1;
    snprintf(sim.folder, sizeof sim.folder, "%s/m", folder);
    if (kind < KINDS && call) {
        play(kind, call);
    } else {
        play(MEMORY, 0);
        memcpy(calls, fault.calls, sizeof calls);
        for (int k = 0; k < KINDS; k++)
            printf("%zu of %lu faults of kind %s\n", play_all((enum kind)k, calls[k], max * (k + 1) / KINDS), calls[k],
                   kinds[k]);
    }
    folder_remove(sim.folder);
    int code = temporary_remove(folder);
    free(folder);
    return code;
}
