/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that a product makes all day: predict, feedback, teach, scores; one at a time or many. */
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/array.h"
#include "event/items.h"
#include "http/server.h"

#define RESULT_BYTES 64 /* of most answers to feedback */

/* Does one item and writes its answer. */
typedef bool (*item_function)(struct request *r, struct body_item *item, struct text *out, struct http_error *err);

static void write_error(struct text *out, const struct http_error *err)
{
    text_printf(out, "{\"status\":%d,\"error\":", err->status);
    http_error_write(err, out);
    text_puts(out, "}");
}

/* The model and the body of a request; false: the error has been set. */
static bool open_body(struct request *r, struct body *ret, bool changes)
{
    if (!request_model(r) || !model_usable(r->model, &r->error) ||
        !body_open(ret, r->body.data ? r->body.data : "", r->body.length, r->lines, &r->server->options->limits,
                   &r->error))
        return false;
    if (ret->form == BODY_LINES)
        r->type = "application/x-ndjson";
    if (!changes || ret->form == BODY_ONE || model_has_room(r->model, body_items_max(ret), &r->error))
        return true;
    body_close(ret);
    return false;
}

static void end_reply(struct request *r, enum body_form form)
{
    text_puts(&r->reply, form == BODY_ARRAY ? "]\n" : form == BODY_ONE ? "\n" : "");
}

static void run_items(struct request *r, bool changes, item_function each)
{
    struct body b;
    struct body_item item;
    enum body_next next;
    size_t n = 0;
    if (!open_body(r, &b, changes))
        return;
    text_add(&r->reply, "[", b.form == BODY_ARRAY);
    for (struct http_error err = {0}; (next = body_next(&b, &item, &err)) != BODY_END;) {
        text_add(&r->reply, ",", b.form == BODY_ARRAY && n++ > 0);
        bool ok = next == BODY_ITEM && !request_late(r, &err) && each(r, &item, &r->reply, &err);
        if (next == BODY_ITEM)
            body_item_free(&item);
        if (!ok && b.form == BODY_ONE)
            r->error = err;
        else if (!ok)
            write_error(&r->reply, &err);
        text_add(&r->reply, "\n", b.form == BODY_LINES);
    }
    end_reply(r, b.form);
    body_close(&b);
}

/* Room for as many scores as the model has labels. */
static bool scores_make(struct request *r, struct scores *ret, struct http_error *err)
{
    ret->n = model_labels(r->model);
    r->scores += ret->n;
    if (r->scores > r->server->options->limits.scores)
        return http_error_set(err, 413, "too_many_scores", "a request can have at most %zu scores (rows x labels)",
                              r->server->options->limits.scores);
    size_t max = r->server->options->limits.answer;
    if (!r->row_bytes)
        r->row_bytes = model_scores_bytes(r->model);
    r->scores_bytes += r->row_bytes;
    if (r->scores_bytes > max)
        return http_error_set(err, 413, "answer_too_large", "the scores of one request take at most %zu bytes", max);
    if (r->scores_bytes > r->row_bytes && r->server->unread > max * 8)
        return http_error_set(err, 503, "busy", "answers of %zu bytes wait for slow clients", r->server->unread);
    ret->value = malloc(ret->n * sizeof *ret->value);
    return ret->value || http_error_no_memory(err);
}

/* What was not used of an example. */
static void write_unused(const struct example *x, struct text *t)
{
    if (x->unknown) {
        text_puts(t, ",\"unknown_columns\":");
        text_puts(t, x->unknown);
    }
    if (x->refused)
        text_printf(t, ",\"names_refused\":%zu", x->refused);
}

/* Hash of the client (its token or address) and the model. */
static uint64_t client_hash(struct request *r)
{
    const char *token = MHD_lookup_connection_value(r->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    uint64_t hash = XXH3_64bits(r->model->name, strlen(r->model->name));
    if (r->server->tokens && token)
        return XXH3_64bits_withSeed(token, strlen(token), hash);
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    if (a && a->sa_family == AF_INET)
        return XXH3_64bits_withSeed(&((const struct sockaddr_in *)a)->sin_addr, sizeof(struct in_addr), hash);
    if (a && a->sa_family == AF_INET6) /* a network of a client's own has 2^64 addresses */
        return XXH3_64bits_withSeed(&((const struct sockaddr_in6 *)a)->sin6_addr, 8, hash);
    return hash;
}

/* New names beyond the client's quota are left out of the example, and so of the log. */
static bool admit_names(struct request *r, struct example *x, struct http_error *err)
{
    size_t per_minute = r->server->options->limits.new_names;
    struct names_room room;
    size_t new = model_new_names(r->model, x, per_minute > 0, &room);
    size_t granted = new ? quota_take(&r->server->names, client_hash(r), new, &room, per_minute) : 0;
    if (granted == new)
        return true;
    atomic_fetch_add(&r->server->metrics.names_refused, new - granted);
    return model_refuse_names(r->model, x, granted, err);
}

/* --- predict --- */

static void write_decision(struct model *m, const struct decision *d, const struct example *x, struct text *t)
{
    char id[ID_CHARS + 1];
    id_write(id, d->id, d->key);
    text_puts(t, "{\"id\":\"");
    text_add(t, id, ID_CHARS);
    text_puts(t, "\",\"label\":");
    text_quote(t, d->label, strlen(d->label));
    text_puts(t, ",\"greedy\":");
    text_quote(t, d->greedy, strlen(d->greedy));
    text_puts(t, ",\"probability\":");
    text_number(t, d->logged && !(d->baseline_chance > 0) ? NAN : d->choice.prob);
    if (d->chooser != CHOSEN_BY_MODEL) {
        static const char *const by[CHOOSERS] = {"model", "baseline", "control", "control"};
        text_printf(t, ",\"chosen_by\":\"%s\"", by[d->chooser]);
    }
    if (d->choice.confidence > 0) {
        text_puts(t, ",\"confidence\":");
        text_number(t, d->choice.confidence);
    }
    if (d->act_at > 0)
        text_puts(t, d->act ? ",\"act\":true" : ",\"act\":false");
    if (d->scores.value) {
        text_puts(t, ",\"scores\":");
        model_write_scores(m, &d->scores, t);
    }
    if (d->chances) {
        text_puts(t, ",\"probabilities\":");
        model_write_chances(m, d->chances, d->scores.n, t);
    }
    write_unused(x, t);
    text_puts(t, "}");
}

/* Room for the chances of as many labels as the model has. */
static bool chances_make(struct request *r, struct decision *d, struct http_error *err)
{
    struct scores s = {0};
    if (!scores_make(r, &s, err)) /* counted as scores are */
        return false;
    free(s.value);
    d->scores.n = d->scores.value && d->scores.n < s.n ? d->scores.n : s.n;
    d->chances = malloc((s.n + !s.n) * sizeof *d->chances);
    return d->chances || http_error_no_memory(err);
}

/* In a group another node may decide for the same id at the same time; the journal's order tells which came first. */
struct given {
    struct given *next;
    uint64_t id; /* of the decision */
    char text[GIVEN_ID_MAX + 1];
};

static void finish_given(struct request *r)
{
    for (struct given *g = r->unfinished, *next; g; g = next) {
        next = g->next;
        if (!r->error.status && !r->ticket.error.status)
            model_given_first(r->model, g->text, g->id, &r->error);
        free(g);
    }
    r->unfinished = NULL;
}

/* A request that waits for the journal looks again when its decisions have been applied. */
static bool given_later(struct request *r, const char *text, uint64_t id, struct http_error *err)
{
    struct given *g = calloc(1, sizeof *g);
    if (!g)
        return http_error_no_memory(err);
    strcpy(g->text, text);
    g->id = id;
    g->next = r->unfinished;
    r->unfinished = g;
    r->finish = finish_given;
    return true;
}

static bool decide(struct request *r, struct item_predict *p, bool logged, struct text *out, struct http_error *err)
{
    struct model *m = r->model;
    bool waits = p->given_id && m->shared;
    struct decision d = {.ticket = p->durable || waits ? &r->ticket : NULL,
                         .eligible = p->eligible,
                         .exclude = p->exclude,
                         .given_id = p->given_id,
                         .logged = logged,
                         .deferred = p->deferred,
                         .act_at = p->act_at,
                         .baseline = p->baseline,
                         .baseline_chance = p->baseline_chance};
    bool ok = (!p->scores || scores_make(r, &d.scores, err)) && (!p->probabilities || chances_make(r, &d, err)) &&
              admit_names(r, &p->x, err) && model_predict(m, &p->x, &d, err) &&
              (!waits || given_later(r, p->given_id, d.id, err));
    if (ok)
        write_decision(m, &d, &p->x, out);
    free(d.scores.value);
    free(d.chances);
    example_free(&p->x);
    return ok;
}

static bool predict(struct request *r, struct body_item *item, struct text *out, struct http_error *err)
{
    struct item_predict p;
    struct reading how = model_reading(r->model);
    return item_read_predict(&p, item, &how, err) && decide(r, &p, false, out, err);
}

void api_predict(struct request *r)
{
    run_items(r, true, predict);
}

static bool log_one(struct request *r, struct body_item *item, struct text *out, struct http_error *err)
{
    struct item_predict p;
    struct reading how = model_reading(r->model);
    return item_read_logged(&p, item, &how, err) && decide(r, &p, true, out, err);
}

void api_log_decisions(struct request *r)
{
    run_items(r, true, log_one);
}

/* --- feedback --- */

static void write_result(const struct feedback *f, struct text *t)
{
    char id[ID_CHARS + 1];
    if (f->error.status) {
        write_error(t, &f->error);
        return;
    }
    id_write(id, f->input.seq, f->input.key);
    text_puts(t, "{\"id\":\"");
    text_add(t, id, ID_CHARS);
    text_puts(t, "\",\"result\":\"");
    text_puts(t, f->already     ? "already"
                 : f->activated ? "activated"
                 : !f->late     ? "learned"
                 : f->replaced  ? "replaced"
                                : "late");
    text_puts(t, "\"}");
}

static void write_results(struct request *r, enum body_form form, const struct feedback *items, size_t n)
{
    struct text *t = &r->reply;
    if (form == BODY_ONE && items[0].error.status) {
        r->error = items[0].error;
        return;
    }
    text_room(t, n * RESULT_BYTES);
    text_add(t, "[", form == BODY_ARRAY);
    for (size_t i = 0; i < n; i++) {
        text_add(t, ",", form == BODY_ARRAY && i > 0);
        write_result(&items[i], t);
        text_add(t, "\n", form == BODY_LINES);
    }
    end_reply(r, form);
}

/* An item until the answer: its JSON, or this, owns the label's text. */
struct feedback_item {
    struct body_item item;
    char number[24];
};

/* A request's feedback until it is answered, in one block. */
struct feedback_request {
    struct body body;
    struct feedback *items;
    struct feedback_item *texts;
    size_t n;
};

static struct feedback_request *feedback_new(const struct body *b, size_t max)
{
    struct feedback_request *f = calloc(1, size_add(sizeof *f, size_mul(max, sizeof *f->items + sizeof *f->texts)));
    if (!f)
        return NULL;
    f->body = *b;
    f->items = (struct feedback *)(f + 1);
    f->texts = (struct feedback_item *)(f->items + max);
    return f;
}

static void finish_feedback(struct request *r)
{
    struct feedback_request *f = r->unfinished;
    if (!r->error.status)
        write_results(r, f->body.form, f->items, f->n);
    for (size_t i = 0; i < f->n; i++)
        body_item_free(&f->texts[i].item);
    body_close(&f->body);
    free(f);
    r->unfinished = NULL;
}

static void read_items(struct feedback_request *f, size_t max, bool activations)
{
    enum body_next next;
    for (; f->n < max && (next = body_next(&f->body, &f->texts[f->n].item, &f->items[f->n].error)) != BODY_END; f->n++)
        if (next != BODY_ITEM)
            continue;
        else if (activations)
            item_read_activation(&f->items[f->n].input, &f->texts[f->n].item, &f->items[f->n].error);
        else
            item_read_feedback(&f->items[f->n].input, f->texts[f->n].number, &f->texts[f->n].item,
                               &f->items[f->n].error);
}

static void take_feedback(struct request *r, bool activations)
{
    struct body b;
    if (!open_body(r, &b, true))
        return;
    size_t max = b.form == BODY_ONE ? 1 : body_items_max(&b) + 1; /* the one too many is answered too */
    struct feedback_request *f = feedback_new(&b, max);
    if (!f) {
        body_close(&b);
        http_error_no_memory(&r->error);
        return;
    }
    r->unfinished = f;
    read_items(f, max, activations);
    model_feedback(r->model, f->items, f->n, &r->ticket);
    if (r->ticket.proposed)
        r->finish = finish_feedback;
    else
        finish_feedback(r);
}

void api_feedback(struct request *r)
{
    take_feedback(r, false);
}

void api_activate(struct request *r)
{
    take_feedback(r, true);
}

/* --- teach and scores --- */

static bool teach(struct request *r, struct body_item *item, struct text *out, struct http_error *err)
{
    struct item_teach t;
    struct reading how = model_reading(r->model);
    if (!item_read_teach(&t, item, &how, err))
        return false;
    bool ok = admit_names(r, &t.x, err) && model_teach(r->model, &t.x, t.label, t.label_length, &r->ticket, err);
    if (ok) {
        text_puts(out, "{\"result\":\"learned\"");
        write_unused(&t.x, out);
        text_puts(out, "}");
    }
    example_free(&t.x);
    return ok;
}

void api_teach(struct request *r)
{
    run_items(r, true, teach);
}

static bool scores(struct request *r, struct body_item *item, struct text *out, struct http_error *err)
{
    struct example x;
    struct scores s = {0};
    char greedy[LABEL_MAX_BYTES + 1];
    uint32_t best = 0;
    struct reading how = model_reading(r->model);
    if (!item_read_example(&x, item, &how, err))
        return false;
    bool ok = scores_make(r, &s, err) && model_scores(r->model, &x, &best, &s, err);
    if (ok) {
        model_label_name(r->model, best, greedy);
        text_puts(out, "{\"greedy\":");
        text_quote(out, greedy, strlen(greedy));
        text_puts(out, ",\"scores\":");
        model_write_scores(r->model, &s, out);
        write_unused(&x, out);
        text_puts(out, "}");
    }
    free(s.value);
    example_free(&x);
    return ok;
}

void api_scores(struct request *r)
{
    run_items(r, false, scores);
}

/* --- explain --- */

/* The example of a decision, as the log has it, and its label. */
static bool read_decided(struct request *r, struct item_explain *p, struct event **ret, struct http_error *err)
{
    struct model *m = r->model;
    struct reading how = model_reading(m);
    pthread_mutex_lock(&m->lock);
    uint64_t last = m->last;
    pthread_mutex_unlock(&m->lock);
    wait_durable(m, last);
    *ret = request_decision(r, p->id.seq, p->id.key, err);
    return *ret && example_parse(&p->x, (*ret)->x, (*ret)->x_length, how.settings, err);
}

static bool explain(struct request *r, struct body_item *item, struct text *out, struct http_error *err)
{
    struct item_explain p;
    struct event *e = NULL;
    struct text why = {0};
    struct reading how = model_reading(r->model);
    size_t max = r->server->options->limits.scores;
    if (!item_read_explain(&p, item, &how, err) || (p.decided && !read_decided(r, &p, &e, err))) {
        event_free(e);
        return false;
    }
    r->scores += model_labels(r->model) * (p.x.n + 1);
    bool ok = (r->scores <= max || http_error_set(err, 413, "too_many_scores",
                                                  "a request can have at most %zu scores (features x labels)", max)) &&
              model_explain(r->model, &p.x, p.label, e ? e->choice.label : NO_LABEL, &why, err);
    if (ok) {
        text_puts(out, "{");
        text_add(out, why.data, why.length);
        write_unused(&p.x, out);
        text_puts(out, "}");
    }
    text_free(&why);
    example_free(&p.x);
    event_free(e);
    return ok;
}

void api_explain(struct request *r)
{
    run_items(r, false, explain);
}
