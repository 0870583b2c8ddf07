/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One model on one machine, whose power fails behind every single call that changes the disk.
 *
 *     sim_crash [--seconds N] [--first S]        histories of seeds S (1), S + 1, ... for about so long (10)
 *     sim_crash --seed S [--call C --loss L]     one of them, or one crash of it
 *
 * A history is made from its seed: predictions, feedback, lessons, labels, commits, snapshots, versions that are added
 * and promoted, events that are excluded, a log that is trimmed, a disk that is full or fails. It is recorded, and then
 * each of its calls is where the power fails, with each kind of loss (disk.h): the model is opened from what is there
 * and checked.
 *     log_checker      every event that had been acknowledged is in the log, none that had not happened is
 *     state_checker    the model is the one that there was at that event, and what is in the log makes it again
 *     ledger           feedback that had been acknowledged is known: the same again is "already", another a conflict
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../temporary.h"
#include "disk.h"
#include "model/versions.h"
#include "storage/snapshot.h"
#include "world.h"

#define STEPS 40
#define EVENTS 512
#define STATES 8 /* that there may have been at one event: others decided, or something was excluded */

static const char *const settings[] = {
    "{\"labels\":[\"a\",\"b\",\"c\"],\"learner\":\"banditron\",\"seed\":1}",
    "{\"labels\":[\"a\",\"b\"],\"learner\":\"confidit\",\"seed\":2,\"max_features\":12,\"reuse_names\":true}",
    "{\"classes\":4,\"learner\":\"linucb\",\"features\":\"hashed\",\"hash_bits\":8,\"seed\":3,\"ttl_seconds\":30,"
    "\"answer_after\":20,\"answer_default\":\"wrong\"}",
    "{\"labels\":[\"a\",\"b\",\"c\"],\"seed\":4}",
};

struct decision_known {
    uint64_t seq, key;
    bool answered, right, late;      /* late: silence had answered before */
    uint64_t answer_seq, active_seq; /* of the feedback that was learned, of the activation */
};

/* What had been promised when that many calls had been made. */
struct promise {
    size_t calls;
    uint64_t committed;
    uint32_t version; /* that decides; 0: it is being changed */
};

static struct {
    struct world world;
    struct model *model;
    char folder[3000], copy[3000];
    uint64_t last;
    struct {
        uint64_t hash[STATES];
        size_t n;
    } states[EVENTS];
    struct decision_known decisions[EVENTS];
    size_t decisions_n;
    struct promise promises[1 << 14];
    size_t promises_n;
    unsigned labels;
    uint32_t deciding;
    bool fails; /* its disk, at times */
    struct rng faults;
} sim;

/* --- the history --- */

static uint64_t draw(uint64_t n)
{
    return rng_below(&sim.world.rng, n);
}

static void note_state(void)
{
    struct model_state *s = &sim.model->state;
    if (s->seq >= EVENTS)
        world_fail("too many events");
    uint64_t hash = state_hash(s);
    for (size_t i = 0; i < sim.states[s->seq].n; i++)
        if (sim.states[s->seq].hash[i] == hash)
            return;
    if (sim.states[s->seq].n == STATES)
        world_fail("too many states");
    sim.states[s->seq].hash[sim.states[s->seq].n++] = hash;
}

static void promise(void)
{
    struct promise *p = &sim.promises[sim.promises_n++];
    if (sim.promises_n == sizeof sim.promises / sizeof *sim.promises)
        world_fail("too many promises");
    *p = (struct promise){disk_calls(), sim.model->committed, sim.deciding};
}

static void parse(struct example *ret, char text[100])
{
    struct http_error err = {0};
    int n = snprintf(text, 100, "{\"f%u\":1,\"g\":%.2f}", (unsigned)draw(20), (double)draw(300) / 100);
    if (!example_parse(ret, text, (size_t)n, &sim.model->state.settings, &err))
        world_fail("no example: %s", err.message);
}

static void predict(void)
{
    char text[100];
    struct example x;
    struct asked a;
    struct http_error err = {0};
    parse(&x, text);
    asked_make(&a, sim.model, &sim.world.rng);
    if (model_predict(sim.model, &x, &a.decision, &err))
        sim.decisions[sim.decisions_n++] = (struct decision_known){.seq = a.decision.id, .key = a.decision.key};
    else if (err.status != 503)
        world_fail("predict: %s", err.message);
    asked_free(&a);
    example_free(&x);
}

static bool answer(struct model *m, const struct decision_known *d, bool right, struct feedback *ret)
{
    struct ticket t = {0};
    *ret = (struct feedback){.input = {.seq = d->seq, .key = d->key, .right = right}};
    model_feedback(m, ret, 1, &t);
    return !ret->error.status;
}

static bool activate(struct model *m, const struct decision_known *d, struct feedback *ret)
{
    struct ticket t = {0};
    *ret = (struct feedback){.input = {.seq = d->seq, .key = d->key, .activate = true}};
    model_feedback(m, ret, 1, &t);
    return !ret->error.status;
}

static void feedback(void)
{
    struct feedback f;
    if (!sim.decisions_n)
        return;
    struct decision_known *d = &sim.decisions[draw(sim.decisions_n)];
    bool right = draw(2);
    if (draw(2)) {
        if (activate(sim.model, d, &f) && !f.already)
            d->active_seq = f.wait;
        return;
    }
    if (answer(sim.model, d, right, &f) && !f.already) {
        d->answered = true;
        d->late = f.late;
        d->right = right;
        d->answer_seq = f.wait;
    } else if (d->answered && !d->late && f.error.status != 503 && f.error.status != 404 &&
               (f.already != (right == d->right)))
        world_fail("feedback to an answered decision: %d %s", f.error.status, f.error.message);
}

static void teach(void)
{
    char text[100];
    struct example x;
    struct ticket t = {0};
    struct http_error err = {0};
    size_t length;
    parse(&x, text);
    const char *label = names_text(sim.model->state.labels, 0, &length);
    if (!model_teach(sim.model, &x, label, length, &t, &err) && err.status != 503)
        world_fail("teach: %s", err.message);
    example_free(&x);
}

static void add_label(void)
{
    char name[20];
    size_t added;
    struct ticket t = {0};
    struct http_error err = {0};
    int n = snprintf(name, sizeof name, "label%u", sim.labels++ % 5);
    struct label_text label = {name, (size_t)n};
    if (!model_add_labels(sim.model, &label, 1, &added, &t, &err) && err.status != 503)
        world_fail("add a label: %s", err.message);
}

static void change_policy(void)
{
    struct ticket t = {0};
    ask_policy(sim.model, &sim.world.rng, &t);
}

static bool all_on_disk(void)
{
    world_write(&sim.world, 20);
    promise();
    return sim.model->last == sim.model->committed && !sim.model->failing;
}

static void snapshot(void)
{
    struct http_error err = {0};
    if (all_on_disk())
        model_snapshot(sim.model, &err);
}

/* Not while versions change or something is excluded: what failed then may have been done all the same, and the model
 * that follows from it is not known here. */
static void faults(bool on)
{
    disk_fail(on && sim.fails ? &sim.faults : NULL, 60);
}

static void change_versions(void)
{
    struct http_error err = {0};
    uint32_t number;
    if (!all_on_disk())
        return;
    faults(false);
    if (draw(2) && sim.model->shadows < 2) {
        version_add(sim.model, "banditron:gamma=0.2", 7, draw(2), &number, &err);
    } else if (sim.model->shadows) {
        number = sim.model->shadow[draw(sim.model->shadows)].version;
        sim.deciding = 0;
        promise();
        version_promote(sim.model, number, &err);
        sim.deciding = sim.model->state.version;
        note_state();
    }
    if (versions_due(sim.model))
        versions_work(sim.model);
    faults(true);
    promise();
}

static void exclude(void)
{
    struct http_error err = {0};
    if (!all_on_disk() || !sim.model->last || draw(3))
        return;
    faults(false);
    if (model_exclude(sim.model, 1 + draw(sim.model->last), &err) && model_rebuild_due(sim.model))
        model_rebuild(sim.model, &err);
    faults(true);
    if (!*model_reason(sim.model))
        note_state();
}

/* As SQLite does it by itself when the file of changes has grown. */
static void checkpoint(void)
{
    sqlite3_wal_checkpoint_v2(sim.model->store.db, NULL,
                              draw(2) ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_RESTART, NULL, NULL);
}

/* The log's oldest part goes, and what no one has answered expires. */
static void grow_old(void)
{
    snapshot();
    snapshot();
    world_advance(20000 + (int64_t)draw(40000));
    writer_keep(sim.model);
    world_write(&sim.world, 20);
}

static void step(void)
{
    static void (*const rare[])(void) = {snapshot,  change_versions, exclude, grow_old,     checkpoint,
                                         add_label, checkpoint,      teach,   change_policy};
    uint64_t what = draw(100);
    if (*model_reason(sim.model) || sim.model->degraded[0])
        return;
    if (what < 40)
        predict();
    else if (what < 65)
        feedback();
    else if (what < 82)
        world_write(&sim.world, 1);
    else
        rare[what % (sizeof rare / sizeof *rare)]();
    world_advance((int64_t)draw(500));
    if (!*model_reason(sim.model))
        note_state();
    promise();
}

static void play(uint64_t seed)
{
    memset(sim.states, 0, sizeof sim.states);
    sim.decisions_n = sim.promises_n = sim.labels = 0;
    world_begin(&sim.world, seed);
    sim.world.options.keep_days = draw(2) ? 10.0 / 86400 : 0;
    sim.world.options.vacuum = draw(2);
    folder_remove(sim.folder);
    world_make_model(&sim.world, sim.folder, settings[seed % (sizeof settings / sizeof *settings)]);
    sim.model = model_open(sim.folder, "m", &sim.world.context);
    if (!sim.model || *model_reason(sim.model))
        world_fail("the model does not open: %s", sim.model ? model_reason(sim.model) : "");
    sim.deciding = sim.model->state.version;
    disk_record(sim.folder);
    note_state();
    promise();
    sim.fails = seed % 3 == 0;
    sim.faults.state = seed * 77;
    faults(true);
    for (unsigned i = 0; i < STEPS; i++)
        step();
    disk_fail(NULL, 0);
    world_write(&sim.world, 20);
    promise();
    sim.last = sim.model->last;
    disk_stop();
}

/* --- after a crash --- */

static const struct promise *promise_at(size_t calls)
{
    size_t i = sim.promises_n;
    while (i > 1 && sim.promises[i - 1].calls > calls)
        i--;
    return &sim.promises[i - 1];
}

static void check_log(const struct model *m, const struct promise *p)
{
    if (m->last < p->committed)
        world_fail("log_checker: the log ends at %llu, but %llu was acknowledged", (unsigned long long)m->last,
                   (unsigned long long)p->committed);
    if (m->last > sim.last)
        world_fail("log_checker: the log ends at %llu, which has not happened", (unsigned long long)m->last);
    if (m->store.damage[0])
        world_fail("log_checker: %s", m->store.damage);
}

static void check_state(struct model *m, const struct promise *p)
{
    uint64_t hash = state_hash(&m->state);
    bool found = false;
    for (size_t i = 0; i < sim.states[m->last].n; i++)
        found = found || sim.states[m->last].hash[i] == hash;
    if (m->state.seq != m->last || !found)
        world_fail("state_checker: another model at event %llu of the log's %llu", (unsigned long long)m->state.seq,
                   (unsigned long long)m->last);
    if (p->version && m->last == p->committed && m->state.version != p->version && p[1].version == p->version)
        world_fail("state_checker: version %u decides instead of %u", m->state.version, p->version);
}

static void check_ledger(struct model *m, const struct promise *p)
{
    struct feedback f;
    for (size_t i = 0; i < sim.decisions_n; i++) {
        const struct decision_known *d = &sim.decisions[i];
        bool expired = !d->answered && d->seq <= m->store.expired_upto;
        if (d->active_seq && d->active_seq <= p->committed && d->seq > m->store.trimmed && !expired &&
            (!activate(m, d, &f) || !f.already))
            world_fail("ledger: activation %llu of decision %llu is %d %s", (unsigned long long)d->active_seq,
                       (unsigned long long)d->seq, f.error.status, f.error.status ? f.error.message : "done again");
        if (!d->answered || d->answer_seq > p->committed || d->seq <= m->store.trimmed)
            continue;
        if (!answer(m, d, d->right, &f) || !f.already)
            world_fail("ledger: feedback %llu to decision %llu, acknowledged, is %d %s",
                       (unsigned long long)d->answer_seq, (unsigned long long)d->seq, f.error.status,
                       f.error.status ? f.error.message : "learned again");
        if (!d->late && (answer(m, d, !d->right, &f) || f.error.status != 409))
            world_fail("ledger: another answer to decision %llu is %d %s", (unsigned long long)d->seq, f.error.status,
                       f.error.message);
    }
}

/* It goes on from there, and what it then has is there when it is opened once more. */
static void check_goes_on(struct world *w, struct model **m)
{
    struct example x;
    struct decision d;
    struct http_error err = {0};
    static const char text[] = "{\"f1\":1,\"g\":0.5}";
    if (!example_parse(&x, text, sizeof text - 1, &(*m)->state.settings, &err))
        world_fail("no example: %s", err.message);
    json_t *own = json_string(names_text((*m)->state.labels, 0, NULL));
    for (int i = 0; i < 3; i++) {
        struct feedback f;
        d = (struct decision){.baseline = own};
        if (!model_predict(*m, &x, &d, &err))
            world_fail("predict after a crash: %s", err.message);
        if (!answer(*m, &(struct decision_known){.seq = d.id, .key = d.key}, true, &f))
            world_fail("feedback after a crash: %s", f.error.message);
    }
    json_decref(own);
    example_free(&x);
    uint64_t hash = state_hash(&(*m)->state), last = (*m)->last;
    world_close(w, *m);
    *m = model_open(sim.copy, "m", &w->context);
    if (*model_reason(*m) || (*m)->degraded[0] || (*m)->last != last || state_hash(&(*m)->state) != hash)
        world_fail("state_checker: not the same model when it is opened again: %s%s", model_reason(*m), (*m)->degraded);
}

static void crash(uint64_t seed, size_t calls, enum disk_loss loss)
{
    struct world w;
    struct rng r = {seed ^ calls << 20 ^ (uint64_t)loss << 50};
    const struct promise *p = promise_at(calls);
    world_name("sim_crash --seed %llu --call %zu --loss %d", (unsigned long long)seed, calls, (int)loss);
    world_begin(&w, seed + calls);
    w.options.keep_days = sim.world.options.keep_days;
    folder_empty(sim.copy);
    if (!disk_crash(calls, loss, &r, sim.copy))
        world_fail("the disk can't be made");
    struct model *m = model_open(sim.copy, "m", &w.context);
    if (!m || *model_reason(m) || m->degraded[0])
        world_fail("behind \"%s\" the model is %s%s", calls ? disk_describe(calls - 1) : "the beginning",
                   m ? model_reason(m) : "not there", m ? m->degraded : "");
    check_log(m, p);
    check_state(m, p);
    check_ledger(m, p);
    if (rng_below(&r, 4) == 0)
        check_goes_on(&w, &m);
    world_close(&w, m);
    world_end(&w);
}

/* --- the program --- */

static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Gives how many crashes there were. */
static size_t run(uint64_t seed, long only_call, int only_loss, double until)
{
    size_t crashes = 0;
    world_name("sim_crash --seed %llu", (unsigned long long)seed);
    play(seed);
    for (size_t i = 0; only_call >= 0 && i < (size_t)only_call && i < disk_calls(); i++)
        printf("%zu %s\n", i + 1, disk_describe(i)); /* for the person who looks for the reason */
    for (size_t calls = 0; calls <= disk_calls() && (only_call >= 0 || seconds() < until); calls++)
        for (int loss = 0; loss < DISK_LOSSES; loss++)
            if ((only_call < 0 || (size_t)only_call == calls) && (only_loss < 0 || only_loss == loss)) {
                crash(seed, calls, (enum disk_loss)loss);
                crashes++;
            }
    world_close(&sim.world, sim.model);
    world_end(&sim.world);
    return crashes;
}

int main(int argc, char **argv)
{
    uint64_t seed = 0, first = 1;
    long call = -1;
    int loss = -1;
    double max = 10;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--first") == 0)
            first = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--call") == 0)
            call = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--loss") == 0)
            loss = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            max = strtod(argv[i + 1], NULL);
    }
    if (!getenv("SIM_LOG") && !freopen("/dev/null", "w", stderr))
        return 1;
    char *folder = temporary_folder();
    if (!folder)
        return 1;
    snprintf(sim.folder, sizeof sim.folder, "%s/m", folder);
    snprintf(sim.copy, sizeof sim.copy, "%s/copy", folder);
    disk_begin();
    size_t crashes = 0, histories = 0;
    if (seed) {
        crashes = run(seed, call, loss, 1e9);
        histories = 1;
    }
    for (; !histories || (!seed && seconds() < max); histories++)
        crashes += run(first + histories, -1, -1, max);
    printf("%zu histories, %zu crashes, each checked: %.1f s of processor time\n", histories, crashes, seconds());
    folder_remove(sim.folder);
    folder_remove(sim.copy);
    int code = temporary_remove(folder);
    free(folder);
    return code;
}
