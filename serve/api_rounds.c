/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests that a product makes all day: predict, feedback, teach, scores; one at a time or many. */
#include <stdlib.h>
#include <string.h>

#include "body.h"
#include "server.h"

/* Does one item and writes its answer. */
typedef bool (*item_function)(struct request *r, const struct body_item *item, struct text *out, struct problem *p);
/* The same from the plain text, without a parser; false: it takes one. ret_ok: what item_function would give. */
typedef bool (*plain_function)(struct request *r, const char *text, size_t length, struct text *out, struct problem *p,
                               bool *ret_ok);

static bool only_members(const json_t *json, const char *const *known, struct problem *p)
{
    const char *key;
    json_t *value;
    if (!json_is_object(json))
        return problem_set(p, 400, "bad_request", "each item must be a JSON object");
    json_object_foreach((json_t *)json, key, value)
    {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key))
            i++;
        if (!known[i])
            return problem_set(p, 400, "bad_request", "there is no member \"%.100s\" here", key);
    }
    return true;
}

static void write_problem(struct text *out, const struct problem *p)
{
    text_printf(out, "{\"status\":%d,\"error\":", p->status);
    problem_write(p, out);
    text_puts(out, "}");
}

static size_t items_at_most(const struct body *b)
{
    size_t n = 1;
    if (b->form == BODY_ARRAY)
        return json_array_size(b->json);
    const char *at = b->form == BODY_LINES ? b->text : NULL, *end = b->text + b->length;
    while (at && n < b->limits->batch && (at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        n++;
    }
    return n;
}

static bool do_item(struct request *r, struct body *b, struct body_item *item, plain_function plain, item_function each,
                    struct problem *p)
{
    bool ok;
    if (!item->json && plain && plain(r, item->text, item->length, &r->reply, p, &ok))
        return ok;
    return (item->json || body_line_read(b, item, p)) && each(r, item, &r->reply, p);
}

static void do_items(struct request *r, struct body *b, plain_function plain, item_function each)
{
    struct body_item item;
    struct problem p = {0};
    enum body_next next;
    size_t n = 0;
    text_add(&r->reply, "[", b->form == BODY_ARRAY);
    while ((next = b->form == BODY_LINES ? body_line(b, &item, &p) : body_next(b, &item, &p)) != BODY_END) {
        text_add(&r->reply, ",", b->form == BODY_ARRAY && n++ > 0);
        bool ok = next == BODY_ITEM && do_item(r, b, &item, plain, each, &p);
        if (!ok && b->form == BODY_ONE) {
            r->problem = p;
            break;
        }
        if (!ok)
            write_problem(&r->reply, &p);
        text_add(&r->reply, "\n", b->form == BODY_LINES);
    }
    text_puts(&r->reply, b->form == BODY_ARRAY ? "]\n" : b->form == BODY_ONE ? "\n" : "");
}

static void run_items(struct request *r, bool changes, plain_function plain, item_function each)
{
    struct body b;
    const char *text = r->body.data ? r->body.data : "";
    bool ok;
    if (!request_model(r))
        return;
    if (!r->lines && plain && plain(r, text, r->body.length, &r->reply, &r->problem, &ok)) {
        text_add(&r->reply, "\n", ok);
        return;
    }
    if (!body_open(&b, text, r->body.length, r->lines, &r->server->options->limits, &r->problem))
        return;
    if (b.form == BODY_LINES)
        r->type = "application/x-ndjson";
    if (!changes || b.form == BODY_ONE || served_has_room(r->model, items_at_most(&b), &r->problem))
        do_items(r, &b, plain, each);
    body_close(&b);
}

/* --- examples --- */

/* The example of an item, and its text for the log: as the client wrote it. */
struct given {
    struct example x;
    const char *text;
    size_t length;
    char *made; /* the text, when it had to be made */
};

static bool given_read(struct request *r, const struct body_item *item, struct given *ret, struct problem *p)
{
    const json_t *x = json_object_get(item->json, "x");
    ret->made = NULL;
    if (!x)
        return problem_set(p, 400, "bad_request", "\"x\" is missing: the example");
    if (!example_read(&ret->x, x, &r->model->core.settings, r->server->options->limits.features, p))
        return false;
    if (!body_member(item->text, item->length, "x", &ret->text, &ret->length)) {
        ret->made = json_dumps(x, JSON_COMPACT);
        if (!ret->made) {
            example_free(&ret->x);
            return problem_set(p, 503, "out_of_memory", "out of memory");
        }
        ret->text = ret->made;
        ret->length = strlen(ret->made);
    }
    return true;
}

static void given_free(struct given *g)
{
    example_free(&g->x);
    free(g->made);
}

static bool usable(const struct served *m, struct problem *p)
{
    return !m->broken[0] || problem_set(p, 503, "model_broken", "%s", m->broken);
}

/* --- predict --- */

static void write_decision(struct served *m, const struct decision *d, const float *scores, size_t n, struct text *t)
{
    char id[ID_CHARS + 1];
    id_write(id, d->seq, d->key);
    text_puts(t, "{\"id\":\"");
    text_add(t, id, ID_CHARS);
    text_puts(t, "\",\"label\":");
    text_quote(t, d->label, strlen(d->label));
    text_puts(t, ",\"greedy\":");
    text_quote(t, d->greedy, strlen(d->greedy));
    text_puts(t, ",\"probability\":");
    text_number(t, d->choice.prob);
    if (scores) {
        text_puts(t, ",\"scores\":");
        served_write_scores(m, scores, n, t);
    }
    text_puts(t, "}");
}

static bool predict(struct request *r, const struct body_item *item, struct text *out, struct problem *p)
{
    static const char *const members[] = {"x", "scores", "durable", NULL};
    const json_t *wanted = json_object_get(item->json, "scores"), *durable = json_object_get(item->json, "durable");
    struct served *m = r->model;
    struct given g;
    struct decision d;
    float *scores = NULL;
    size_t n = 0;
    if (!usable(m, p) || !only_members(item->json, members, p))
        return false;
    if ((wanted && !json_is_boolean(wanted)) || (durable && !json_is_boolean(durable)))
        return problem_set(p, 400, "bad_request", "scores and durable are true or false");
    if (!given_read(r, item, &g, p))
        return false;
    if (json_is_true(wanted)) {
        n = served_labels(m);
        scores = malloc(n * sizeof *scores);
    }
    bool ok = !json_is_true(wanted) || scores || problem_set(p, 503, "out_of_memory", "out of memory");
    ok = ok && served_predict(m, &g.x, g.text, g.length, &d, scores, n, p);
    if (ok)
        write_decision(m, &d, scores, n, out);
    if (ok && json_is_true(durable))
        r->wait_seq = d.seq > r->wait_seq ? d.seq : r->wait_seq;
    free(scores);
    given_free(&g);
    return ok;
}

static bool predict_plain(struct request *r, const char *text, size_t length, struct text *out, struct problem *p,
                          bool *ret_ok)
{
    struct served *m = r->model;
    struct given g = {0};
    struct decision d;
    if (m->broken[0] || !quick_question(&g.x, &g.text, &g.length, text, length, &m->core.settings))
        return false;
    bool few = g.x.n <= r->server->options->limits.features;
    if (few)
        *ret_ok = served_predict(m, &g.x, g.text, g.length, &d, NULL, 0, p);
    if (few && *ret_ok)
        write_decision(m, &d, NULL, 0, out);
    given_free(&g);
    return few;
}

void api_predict(struct request *r)
{
    run_items(r, true, predict_plain, predict);
}

/* --- feedback --- */

static bool feedback_read(const json_t *json, struct feedback *f, char number[24])
{
    static const char *const members[] = {"id", "right", "label", NULL};
    struct problem *p = &f->problem;
    if (!only_members(json, members, p))
        return false;
    const json_t *id = json_object_get(json, "id"), *right = json_object_get(json, "right"),
                 *label = json_object_get(json, "label");
    if (!json_is_string(id))
        return problem_set(p, 400, "bad_request", "\"id\" is missing: that of the decision");
    if (!id_read(json_string_value(id), json_string_length(id), &f->said.seq, &f->said.key))
        return problem_set(p, 404, "unknown_id", "no decision has this id");
    if (!!right == !!label)
        return problem_set(p, 400, "bad_request", "give either \"right\" or the true \"label\"");
    if (right && !json_is_boolean(right))
        return problem_set(p, 400, "bad_request", "\"right\" is true or false");
    f->said.right = json_is_true(right);
    f->said.labelled = label != NULL;
    return !label || label_read(label, &f->said.label, &f->said.label_length, number, p);
}

static void write_result(const struct feedback *f, struct text *t)
{
    char id[ID_CHARS + 1];
    if (f->problem.status) {
        write_problem(t, &f->problem);
        return;
    }
    id_write(id, f->said.seq, f->said.key);
    text_puts(t, "{\"id\":\"");
    text_add(t, id, ID_CHARS);
    text_puts(t, f->already ? "\",\"result\":\"already\"}" : "\",\"result\":\"learned\"}");
}

static void write_results(struct request *r, enum body_form form, const struct feedback *items, size_t n)
{
    struct text *t = &r->reply;
    if (form == BODY_ONE && items[0].problem.status) {
        r->problem = items[0].problem;
        return;
    }
    text_add(t, "[", form == BODY_ARRAY);
    for (size_t i = 0; i < n; i++) {
        if (!items[i].problem.status && items[i].wait > r->wait_seq)
            r->wait_seq = items[i].wait;
        text_add(t, ",", form == BODY_ARRAY && i > 0);
        write_result(&items[i], t);
        text_add(t, "\n", form == BODY_LINES);
    }
    text_puts(t, form == BODY_ARRAY ? "]\n" : form == BODY_ONE ? "\n" : "");
}

/* What an item of the request is until the answer: its JSON owns the label's text. */
struct kept {
    json_t *json; /* NULL: read the quick way */
    char number[24];
};

static enum body_next read_item(struct body *b, struct feedback *f, struct kept *k)
{
    struct body_item item;
    struct problem *p = &f->problem;
    enum body_next next = b->form == BODY_LINES ? body_line(b, &item, p) : body_next(b, &item, p);
    if (next != BODY_ITEM || (!item.json && quick_answer(&f->said, item.text, item.length)))
        return next;
    if (!item.json && !body_line_read(b, &item, p))
        return BODY_BAD;
    k->json = json_incref(item.json);
    feedback_read(item.json, f, k->number);
    return next;
}

static void answer_many(struct request *r, struct body *b)
{
    size_t most = items_at_most(b) + 1, n = 0; /* the one too many is answered too */
    struct feedback *items = calloc(most, sizeof *items);
    struct kept *kept = calloc(most, sizeof *kept);
    if (b->form == BODY_LINES)
        r->type = "application/x-ndjson";
    if (!items || !kept) {
        problem_set(&r->problem, 503, "out_of_memory", "out of memory");
    } else if (b->form == BODY_ONE || served_has_room(r->model, most - 1, &r->problem)) {
        while (n < most && read_item(b, &items[n], &kept[n]) != BODY_END)
            n++;
        served_feedback(r->model, items, n);
        write_results(r, b->form, items, n);
        for (size_t i = 0; i < n; i++)
            json_decref(kept[i].json);
    }
    free(items);
    free(kept);
}

void api_feedback(struct request *r)
{
    struct body b;
    struct feedback one = {0};
    const char *text = r->body.data ? r->body.data : "";
    if (!request_model(r) || !usable(r->model, &r->problem))
        return;
    if (!r->lines && quick_answer(&one.said, text, r->body.length)) {
        served_feedback(r->model, &one, 1);
        write_results(r, BODY_ONE, &one, 1);
    } else if (body_open(&b, text, r->body.length, r->lines, &r->server->options->limits, &r->problem)) {
        answer_many(r, &b);
        body_close(&b);
    }
}

/* --- teach and scores --- */

static bool teach(struct request *r, const struct body_item *item, struct text *out, struct problem *p)
{
    static const char *const members[] = {"x", "label", NULL};
    struct given g;
    const char *label;
    char number[24];
    size_t length;
    uint64_t seq = 0;
    if (!usable(r->model, p) || !only_members(item->json, members, p) ||
        !label_read(json_object_get(item->json, "label"), &label, &length, number, p) || !given_read(r, item, &g, p))
        return false;
    bool ok = served_teach(r->model, &g.x, g.text, g.length, label, length, &seq, p);
    given_free(&g);
    if (seq > r->wait_seq)
        r->wait_seq = seq;
    if (ok)
        text_puts(out, "{\"result\":\"learned\"}");
    return ok;
}

void api_teach(struct request *r)
{
    run_items(r, true, NULL, teach);
}

static bool scores(struct request *r, const struct body_item *item, struct text *out, struct problem *p)
{
    static const char *const members[] = {"x", NULL};
    struct given g;
    char greedy[LABEL_MAX_BYTES + 1];
    uint32_t best = 0;
    if (!usable(r->model, p) || !only_members(item->json, members, p) || !given_read(r, item, &g, p))
        return false;
    size_t n = served_labels(r->model);
    float *all = malloc(n * sizeof *all);
    bool ok = (all || problem_set(p, 503, "out_of_memory", "out of memory")) &&
              served_scores(r->model, &g.x, &best, all, n, p);
    if (ok) {
        served_label(r->model, best, greedy);
        text_puts(out, "{\"greedy\":");
        text_quote(out, greedy, strlen(greedy));
        text_puts(out, ",\"scores\":");
        served_write_scores(r->model, all, n, out);
        text_puts(out, "}");
    }
    free(all);
    given_free(&g);
    return ok;
}

void api_scores(struct request *r)
{
    run_items(r, false, NULL, scores);
}
