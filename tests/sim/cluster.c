/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three nodes that serve one model over a journal that loses, repeats and delays.
 *
 *     sim_cluster [--seconds N]     histories of seeds 1, 2, ... for about so long (10)
 *     sim_cluster --seed S          one of them
 *
 * A history is made from its seed. Clients ask any node, answer at any other, contradict each other and try again;
 * records are delivered late, twice or, when a node is killed or the topic refuses them, not at all; every node reads at
 * its own pace; nodes are killed, started again, wiped, and replaced by some that compute otherwise; the brokers' clock
 * is ahead for a while.
 *     state_checker    all nodes have the same model at the same event, after every step
 *     ledger           feedback is learned once; what was acknowledged is known to every node at the end, and what was
 *                      said to be unknown is known to none
 *     clock_checker    no decision expires before its time, by more than a broker may be ahead
 *     hash_checker     a node whose log's time has come to another minute has made a hash
 *     misfit_checker   a node that computes otherwise takes nothing, and its model stays as it was
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../temporary.h"
#include "cluster.h"
#include "cluster/arithmetic.h"
#include "storage/store_shared.h"

#define STEPS 300
#define TTL_MS 180000
#define WAIT_NS INT64_C(5000000000)

static const char settings[] =
    "{\"labels\":[\"a\",\"b\",\"c\"],\"learner\":\"banditron\",\"seed\":1,\"ttl_seconds\":180}";

struct simulation sim;

/* --- nodes --- */

static void node_start(struct node *n)
{
    struct model_context context = sim.world.context;
    context.writers = &n->writers;
    context.cluster = &replication_cluster;
    context.cluster_context = &n->cluster;
    n->model = model_open(n->folder, "m", &context);
    if (!n->model || *model_reason(n->model) || n->model->degraded[0])
        world_fail("a node does not start: %s", n->model ? model_reason(n->model) : "");
    if (n->model->shared->misfit != n->misfit)
        world_fail("misfit_checker: whether a node fits is not noticed");
    n->minute = n->model->shared->log_ms / 60000;
    n->hashes = n->model->shared->hashes_n;
}

static void node_make(struct node *n, bool misfit)
{
    uint64_t arithmetic;
    struct settings s;
    struct http_error err = {0};
    json_t *json = json_read(settings, sizeof settings - 1, 8, &err);
    if (!json || !settings_read(&s, json, &sim.world.options.limits, &err) || !arithmetic_of(&s, &arithmetic, &err))
        world_fail("no settings: %s", err.message);
    json_decref(json);
    settings_free(&s);
    folder_remove(n->folder);
    world_make_model(&sim.world, n->folder, settings);
    if (!store_share(n->folder, "topic", arithmetic + misfit, &err))
        world_fail("not shared: %s", err.message);
    n->misfit = misfit;
    n->visible = 0; /* it reads the journal from the beginning */
    sim.misfits += misfit;
}

/* The process is gone: what it had proposed and not sent, and what it had applied and not committed. */
static void node_kill(struct node *n)
{
    deliver(n, draw(4));
    n->model->replication->stop(n->model); /* its clients learn nothing */
    work_queue_remove(&n->writers, &n->model->writing);
    model_close(n->model);
    n->model = NULL;
    for (size_t i = 0; i < NODES; i++)
        sim.nodes[i].cluster.departed_ns = clock_now();
    sim.killed++;
}

static void node_step(struct node *n, unsigned turns)
{
    for (unsigned i = 0; i < turns && work_queue_step(&n->cluster.appliers); i++)
        ;
}

/* --- clients --- */

static void given_name(size_t given, char ret[16])
{
    snprintf(ret, 16, "event %zu", given);
}

/* Whatever node is asked, and whatever happens to it: an id has one decision. */
static void check_given(struct node *n, size_t given, uint64_t id)
{
    char name[16];
    struct http_error err = {0};
    given_name(given, name);
    if (!n->model || !model_given_first(n->model, name, id, &err))
        return;
    if (sim.given[given] && sim.given[given] != id)
        world_fail("given_checker: %s had decision %016llx and now %016llx", name, (unsigned long long)sim.given[given],
                   (unsigned long long)id);
    sim.given[given] = id;
}

static void judge(struct request *q)
{
    struct round *r = q->round;
    const struct feedback *f = &q->item;
    if (q->is_activation) {
        r->active = r->active || (!f->error.status && !q->ticket.error.status);
    } else if (!q->is_feedback) {
        r->durable = r->durable || !q->ticket.error.status;
    } else if (!f->error.status && !q->ticket.error.status) {
        if (!f->already && r->learned)
            world_fail("ledger: decision %016llx was learned twice", (unsigned long long)r->id);
        if (r->answered && r->right != q->right)
            world_fail("ledger: decision %016llx has two answers", (unsigned long long)r->id);
        sim.learned += !f->already;
        r->learned = r->learned || !f->already;
        r->answered = true;
        r->right = q->right;
    } else if (f->error.status == 404 && strcmp(f->error.code, "expired_id") == 0) {
        if (true_ms() - r->shown_ms < TTL_MS - CLOCK_SLACK_MS)
            world_fail("clock_checker: decision %016llx expired after %lld ms", (unsigned long long)r->id,
                       (long long)(true_ms() - r->shown_ms));
        sim.expired++;
    } else if (f->error.status == 404) {
        r->unknown = true;
        sim.unknown++;
    }
    if (q->node && !q->ticket.error.status)
        check_given(q->node, q->given, r->id);
    struct request **at = &sim.requests;
    while (*at && *at != q)
        at = &(*at)->next;
    if (*at)
        *at = q->next;
    free(q);
}

static void woken(struct waiter *w, bool durable)
{
    (void)durable;
    judge((struct request *)w);
}

static void before_wait(struct waiter *w)
{
    struct request *q = (struct request *)w;
    q->waits = true;
    q->next = sim.requests;
    sim.requests = q;
}

static void await(struct node *n, struct request *q)
{
    q->ticket.waiter.wake = woken;
    if (n->model->replication->wait(n->model, &q->ticket, 0, before_wait) != DURABLE_LATER)
        judge(q);
}

static struct request *request_new(struct round *r)
{
    struct request *q = calloc(1, sizeof *q);
    if (!q)
        abort();
    q->round = r;
    return q;
}

static bool round_known(uint64_t id)
{
    for (size_t i = 0; i < sim.rounds_n; i++)
        if (sim.rounds[i].id == id)
            return true;
    return false;
}

static void predict(struct node *n)
{
    char text[64], given[16];
    struct example x;
    struct asked a;
    struct http_error err = {0};
    struct round *r = &sim.rounds[sim.rounds_n];
    struct request *q = request_new(r);
    int length = snprintf(text, sizeof text, "{\"f%u\":1}", (unsigned)draw(12));
    if (sim.rounds_n == ROUNDS || !example_parse(&x, text, (size_t)length, &n->model->state.settings, &err))
        world_fail("no example");
    asked_make(&a, n->model, &sim.world.rng);
    struct decision *d = &a.decision;
    d->ticket = draw(2) ? &q->ticket : NULL;
    if (draw(3) == 0) {
        q->node = n;
        q->given = draw(GIVEN);
        given_name(q->given, given);
        d->given_id = given;
        d->ticket = &q->ticket; /* as requests with an id do */
    }
    if (!model_predict(n->model, &x, d, &err)) {
        if (err.status != 503)
            world_fail("predict: %d %s", err.status, err.message);
        free(q);
    } else if (q->node && round_known(d->id)) {
        check_given(n, q->given, d->id);
        free(q);
    } else {
        *r = (struct round){.id = d->id, .key = d->key, .shown_ms = true_ms()};
        sim.rounds_n++;
        d->ticket ? await(n, q) : free(q);
    }
    asked_free(&a);
    example_free(&x);
}

static void feedback(struct node *n, struct round *r, bool right)
{
    struct request *q = request_new(r);
    q->is_feedback = true;
    q->right = right;
    q->item.input = (struct feedback_input){.seq = r->id, .key = r->key, .right = right};
    model_feedback(n->model, &q->item, 1, &q->ticket);
    await(n, q);
}

static void activate(struct node *n, struct round *r)
{
    struct request *q = request_new(r);
    q->is_activation = true;
    q->item.input = (struct feedback_input){.seq = r->id, .key = r->key, .activate = true};
    model_feedback(n->model, &q->item, 1, &q->ticket);
    await(n, q);
}

static void change_policy(struct node *n)
{
    struct request *q = request_new(&sim.rounds[ROUNDS - 1]); /* no one's */
    ask_policy(n->model, &sim.world.rng, &q->ticket);
    await(n, q);
}

static void add_label(struct node *n)
{
    char name[16];
    size_t added;
    struct round nothing;
    struct request *q = request_new(&nothing);
    struct http_error err = {0};
    int length = snprintf(name, sizeof name, "label%u", (unsigned)draw(4));
    struct label_text label = {name, (size_t)length};
    (void)model_add_labels(n->model, &label, 1, &added, &q->ticket, &err);
    q->round = &sim.rounds[ROUNDS - 1]; /* no one's */
    await(n, q);
}

/* --- checkers --- */

static void check_hashes(struct node *n)
{
    const struct shared *s = n->model->shared;
    int64_t minute = s->log_ms / 60000;
    if (minute != n->minute && s->hashes_n == n->hashes)
        world_fail("hash_checker: no hash in a minute");
    n->minute = minute;
    n->hashes = s->hashes_n;
}

static void check_states(void)
{
    for (size_t i = 0; i < NODES; i++) {
        struct model *m = sim.nodes[i].model;
        if (!m || *model_reason(m))
            continue;
        uint64_t hash = state_hash(&m->state), *known = &sim.hashes[m->state.seq];
        if (*known && *known != hash)
            world_fail("state_checker: node %zu has another model at event %llu", i, (unsigned long long)m->state.seq);
        *known = hash;
        check_hashes(&sim.nodes[i]);
        if (sim.nodes[i].misfit && (m->last || sim.nodes[i].journal->first))
            world_fail("misfit_checker: node %zu has applied or proposed something", i);
        if (m->shared->diverged || (m->shared->stopped[0] && !sim.nodes[i].misfit))
            world_fail("state_checker: node %zu: %s", i, m->shared->diverged ? "diverged" : m->shared->stopped);
    }
}

/* Brokers and nodes are well again: everything is delivered, applied and committed. */
static void heal(void)
{
    for (size_t i = 0; i < NODES; i++) {
        struct node *n = &sim.nodes[i];
        n->hangs = false;
        if (n->misfit && n->model)
            node_kill(n);
        if (n->misfit)
            node_make(n, false);
        if (!n->model)
            node_start(n);
    }
    for (int again = 0; again < 400; again++) {
        world_advance(100);
        for (size_t i = 0; i < NODES; i++) {
            deliver(&sim.nodes[i], RECORDS);
            read_on(&sim.nodes[i], RECORDS);
            node_step(&sim.nodes[i], 4);
            for (int k = 0; k < 4 && work_queue_step(&sim.nodes[i].writers); k++)
                ;
        }
        check_states();
    }
}

static void check_ledger(void)
{
    for (size_t i = 1; i < NODES; i++)
        if (sim.nodes[i].model->last != sim.nodes[0].model->last)
            world_fail("log_checker: node %zu is at event %llu, another at %llu", i,
                       (unsigned long long)sim.nodes[i].model->last, (unsigned long long)sim.nodes[0].model->last);
    for (size_t i = 0; i < sim.rounds_n; i++) {
        struct round *r = &sim.rounds[i];
        for (size_t k = 0; k < NODES; k++) {
            struct ticket t = {0};
            struct model *m = sim.nodes[k].model;
            struct feedback f = {.input = {.seq = r->id, .key = r->key, .right = r->right}};
            struct event *d = ring_by_handle(m, r->id, r->key);
            struct http_error err = {0};
            bool own = !d && store_shared_decision(&m->store, r->id, r->key, &d, &err) && d;
            if (r->durable && !d)
                world_fail("ledger: node %zu has no decision %016llx, which was acknowledged", k,
                           (unsigned long long)r->id);
            if (r->unknown && d)
                world_fail("ledger: node %zu has decision %016llx, which was said to be unknown", k,
                           (unsigned long long)r->id);
            if (own)
                event_free(d);
            struct feedback again = {.input = {.seq = r->id, .key = r->key, .activate = true}};
            if (r->active)
                model_feedback(m, &again, 1, &t);
            if (r->active && (again.error.status || !again.already))
                world_fail("ledger: node %zu: activation of %016llx, acknowledged, is %d %s", k,
                           (unsigned long long)r->id, again.error.status, again.error.message);
            if (!r->answered)
                continue;
            model_feedback(m, &f, 1, &t);
            if (f.error.status || !f.already)
                world_fail("ledger: node %zu: feedback to %016llx, acknowledged, is %d %s", k,
                           (unsigned long long)r->id, f.error.status, f.error.message);
        }
    }
}

/* --- a history --- */

static void step(void)
{
    struct node *n = &sim.nodes[draw(NODES)];
    uint64_t what = draw(100);
    world_advance((int64_t)draw(what == 0 ? 90000 : 200));
    if (draw(50) == 0)
        sim.broker_ahead_ms = draw(2) ? (int64_t)draw(UINT64_C(100000000000)) : 0;
    if (!n->model) {
        if (draw(4) == 0)
            node_start(n);
    } else if (what < 25) {
        predict(n);
    } else if (what < 50 && sim.rounds_n) {
        struct round *r = &sim.rounds[draw(2) ? sim.rounds_n - 1 : draw(sim.rounds_n)];
        draw(2) ? activate(n, r) : feedback(n, r, draw(2));
    } else if (what < 70) {
        n->hangs ? (void)0 : deliver(n, 1 + draw(5));
    } else if (what < 94) {
        read_on(n, draw(6));
        node_step(n, 2);
        if (draw(3) == 0)
            work_queue_step(&n->writers);
    } else if (what < 95) {
        node_kill(n);
        if (n->misfit || draw(4) == 0) /* its disk is lost too */
            node_make(n, !n->misfit && draw(3) == 0);
    } else if (what < 97) {
        n->hangs = !n->hangs;
    } else if (what < 98) {
        add_label(n);
    } else if (what < 99) {
        change_policy(n);
    }
    check_states();
}

static void history(uint64_t seed, const char *folder)
{
    world_name("sim_cluster --seed %llu", (unsigned long long)seed);
    world_begin(&sim.world, seed);
    sim.records_n = sim.rounds_n = 0;
    memset(sim.given, 0, sizeof sim.given);
    sim.broker_ahead_ms = 0;
    memset(sim.hashes, 0, sizeof sim.hashes);
    for (size_t i = 0; i < NODES; i++) {
        struct node *n = &sim.nodes[i];
        *n = (struct node){
            .cluster = {
                .kind = &journal_sim, .peers = peers, .hash_events = seed % 2 ? 8 : RECORDS, .wait_ns = WAIT_NS}};
        n->cluster.journal = n;
        snprintf(n->folder, sizeof n->folder, "%s/n%zu", folder, i);
        if (!work_queue_open(&n->writers, 0, writer_work) || !work_queue_open(&n->cluster.appliers, 0, apply_work))
            world_fail("no turns");
        n->cluster.ahead_ms = (clock_wall() - clock_now()) / 1000000; /* one node's clock does not change it */
        node_make(n, false);
        node_start(n);
    }
    for (int i = 0; i < STEPS; i++)
        step();
    heal();
    if (sim.requests)
        world_fail("a request was never answered");
    check_ledger();
    for (size_t i = 0; i < NODES; i++) {
        node_kill(&sim.nodes[i]);
        work_queue_close(&sim.nodes[i].writers);
        work_queue_close(&sim.nodes[i].cluster.appliers);
        folder_remove(sim.nodes[i].folder);
    }
    for (size_t i = 0; i < sim.records_n; i++)
        text_free(&sim.records[i].bytes);
    world_end(&sim.world);
}

int main(int argc, char **argv)
{
    uint64_t seed = 0, n = 0;
    double max = 10;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0)
            max = strtod(argv[i + 1], NULL);
    }
    if (!getenv("SIM_LOG") && !freopen("/dev/null", "w", stderr))
        return 1;
    char *folder = temporary_folder();
    if (!folder)
        return 1;
    if (seed)
        history(seed, folder);
    while (!seed && (double)clock() / CLOCKS_PER_SEC < max)
        history(++n, folder);
    printf("%llu histories of %d nodes: %zu answers learned, %zu expired, %zu unknown, %zu records refused, %zu nodes "
           "killed, %zu misfits; %.1f s of processor time\n",
           (unsigned long long)(seed ? 1 : n), NODES, sim.learned, sim.expired, sim.unknown, sim.refused, sim.killed,
           sim.misfits, (double)clock() / CLOCKS_PER_SEC);
    int code = temporary_remove(folder);
    free(folder);
    return code;
}
