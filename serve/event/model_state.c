/* SPDX-License-Identifier: BSD-3-Clause */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/label_set.h"
#include "event/model_state.h"

#define FEW_LABELS 128 /* whatever the learner, a model of n is made in no time */

static bool half_done(struct model_state *c, struct http_error *err)
{
    snprintf(c->broken, sizeof c->broken, "memory ran out half-way; the state is made again from the log");
    return http_error_no_memory(err);
}

/* Nothing that is not a number leaves a model. */
static bool poisoned(struct model_state *c, const struct event *e, const char *what, struct http_error *err)
{
    static const char *const kinds[] = {[EVENT_DECISION] = "decision",
                                        [EVENT_FEEDBACK] = "feedback",
                                        [EVENT_LESSON] = "lesson",
                                        [EVENT_LATE] = "late feedback"};
    snprintf(c->broken, sizeof c->broken, "%s %llu made a %s that is not a number", kinds[e->kind],
             (unsigned long long)e->seq, what);
    return http_error_set(err, 503, "model_broken", "%s", c->broken);
}

/* After learning: the scores of what was learned from. */
static bool scores_finite(struct model_state *c, const hunch_vec *v)
{
    size_t n = names_count(c->labels);
    if (n > c->scores_room) {
        float *scores = realloc(c->scores, n * sizeof *scores);
        if (!scores)
            return true; /* looked at next time */
        c->scores = scores;
        c->scores_room = n;
    }
    float sum = 0; /* of zeros, unless one is infinite or not a number */
    if (hunch_scores(c->learner, v, c->scores) != HUNCH_OK)
        return true;
    for (size_t i = 0; i < n; i++)
        sum += c->scores[i] - c->scores[i];
    return sum == 0;
}

static bool learner_error(const struct model_state *c, hunch_status status, struct http_error *err)
{
    int code = status == HUNCH_ENOMEM ? 503 : status == HUNCH_EINVAL || status == HUNCH_ELIMIT ? 400 : 500;
    return http_error_set(err, code, status == HUNCH_ENOMEM ? "out_of_memory" : "learner", "%s",
                          hunch_reason(c->learner));
}

/* Of a learner with that many labels that has learned nothing yet; 0: it can't be made. */
static size_t learner_bytes(const struct settings *settings, const char *learner, uint32_t labels)
{
    hunch *h;
    hunch_options options = HUNCH_OPTIONS_INIT;
    options.learner = learner;
    options.classes = labels;
    options.max_features = settings->max_features;
    options.memory = settings->memory;
    if (hunch_create(&h, &options, NULL) != HUNCH_OK)
        return 0;
    size_t bytes = hunch_bytes(h);
    hunch_free(h);
    return bytes;
}

bool state_size_ok(const struct settings *settings, const char *learner, size_t labels, size_t max,
                   struct http_error *err)
{
    if (labels <= FEW_LABELS)
        return true;
    size_t few = learner_bytes(settings, learner, FEW_LABELS / 2), more = learner_bytes(settings, learner, FEW_LABELS);
    double each = more > few ? (double)(more - few) * 2 / FEW_LABELS : 0;
    double bytes = (double)more + each * (double)(labels - FEW_LABELS);
    return bytes <= (double)max ||
           http_error_set(err, 413, "too_large",
                          "this learner needs %.0f MB for %zu labels, but --max-model allows %.0f: use fewer"
                          " labels or another learner",
                          bytes / 1e6, labels, (double)max / 1e6);
}

bool state_new(struct model_state *ret, struct settings *settings, struct http_error *err)
{
    struct model_state c = {.settings = *settings, .version = 1, .policy = settings->policy};
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error = {{0}};
    *settings = (struct settings){0};

    options.learner = c.settings.learner;
    options.classes = names_count(c.settings.labels);
    options.max_features = c.settings.max_features;
    options.memory = c.settings.memory;
    options.seed = c.settings.seed;
    hunch_status status = hunch_create(&c.learner, &options, &error);
    if (status != HUNCH_OK) {
        http_error_set(err, status == HUNCH_ENOMEM ? 503 : 400, "bad_learner", "%s", error.message);
        goto fail;
    }
    char *spec = strdup(hunch_spec(c.learner));
    c.labels = names_copy(c.settings.labels);
    if (c.settings.features == FEATURES_NAMED)
        c.dictionary.names = names_new();
    c.label = calloc(names_count(c.settings.labels), sizeof *c.label);
    if (spec) {
        free(c.settings.learner);
        c.settings.learner = spec;
    }
    if (!spec || !c.labels || !c.label || (c.settings.features == FEATURES_NAMED && !c.dictionary.names)) {
        http_error_no_memory(err);
        goto fail;
    }
    *ret = c;
    return true;
fail:
    state_free(&c);
    return false;
}

void state_free(struct model_state *c)
{
    settings_free(&c->settings);
    hunch_free(c->learner);
    names_free(c->labels);
    dictionary_free(&c->dictionary);
    free(c->label);
    free(c->scores);
    free(c->excluded);
    shadow_free(&c->shadow);
    *c = (struct model_state){0};
}

static bool see(struct model_state *c, const struct example *x, bool grow, struct event *e, struct http_error *err)
{
    return dictionary_see(&c->dictionary, &c->settings, x, grow, e, err);
}

/* The names got their numbers in see(); now that the learner has taken the example they are given. */
static bool keep_names(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    if (!dictionary_keep(&c->dictionary, &c->settings, x, e))
        return half_done(c, err);
    c->counts.ignored += c->dictionary.ignored;
    return true;
}

/* Each event of a model's log is applied once, in the order of the log. */
static void advance(struct model_state *c, uint64_t seq)
{
    assert(seq > c->seq);
    c->seq = seq;
}

static bool decided(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    assert(e->kind == EVENT_DECISION && e->choice.label < names_count(c->labels));
    if (!keep_names(c, x, e, err))
        return false;
    c->counts.decisions++;
    c->counts.explored += e->chooser == CHOSEN_BY_MODEL && e->choice.label != e->choice.greedy;
    c->counts.deferred += e->deferred;
    c->label[e->choice.label].shown++;
    advance(c, e->seq);
    return true;
}

/* Among the labels that the event names. labels NULL: all. */
static bool eligible_labels(const struct model_state *c, const struct event *e, uint32_t **ret_labels, size_t *ret_n,
                            struct http_error *err)
{
    *ret_labels = NULL;
    *ret_n = 0;
    return !e->eligible || label_set_read(e->eligible, names_count(c->labels), ret_labels, ret_n) ||
           http_error_set(err, 503, "damaged", "the eligible labels of a decision are not the model's");
}

bool state_predict(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    uint32_t *labels;
    size_t n;
    if (!see(c, x, true, e, err) || !eligible_labels(c, e, &labels, &n, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_predict_among(c->learner, &v, labels, n, &e->choice);
    free(labels);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    if (!isfinite(e->choice.prob) || e->choice.prob <= 0 || e->choice.prob > 1)
        return poisoned(c, e, "probability", err);
    e->seen = c->counts.answers + c->counts.lessons;
    return decided(c, x, e, err);
}

bool state_chances(struct model_state *c, const struct example *x, struct event *scratch, double *ret,
                   struct http_error *err)
{
    uint32_t *labels;
    size_t n;
    if (!state_recall(c, x, scratch, err) || !eligible_labels(c, scratch, &labels, &n, err))
        return false;
    hunch_vec v = event_vec(scratch);
    hunch_status status = hunch_chances(c->learner, &v, labels, n, ret);
    free(labels);
    return status == HUNCH_OK || learner_error(c, status, err);
}

bool state_peek(struct model_state *c, const struct example *x, uint64_t seed, struct event *e, struct http_error *err)
{
    uint32_t *labels;
    size_t n;
    if (!see(c, x, true, e, err) || !eligible_labels(c, e, &labels, &n, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_peek_among(c->learner, &v, labels, n, seed, &e->choice);
    free(labels);
    e->seen = c->counts.answers + c->counts.lessons;
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    return (e->choice.prob > 0 && e->choice.prob <= 1) ||
           http_error_set(err, 503, "model_broken", "the probability is not a number");
}

bool state_act(struct model_state *c, struct event *e, struct http_error *err)
{
    hunch_status status = e->act_at > 0 ? hunch_act(c->learner, &e->choice, e->act_at, &e->act) : HUNCH_OK;
    return status == HUNCH_OK || http_error_set(err, 400, "bad_request", "act_at: %s", hunch_reason(c->learner));
}

bool state_advise(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    uint32_t *labels;
    size_t n;
    hunch_choice own;
    if (!see(c, x, true, e, err) || !eligible_labels(c, e, &labels, &n, err))
        return false;
    hunch_vec v = event_vec(e);
    double *chances = malloc(names_count(c->labels) * sizeof *chances);
    hunch_status status = chances ? hunch_peek_among(c->learner, &v, labels, n, 0, &own) : HUNCH_ENOMEM;
    if (status == HUNCH_OK)
        status = hunch_chances(c->learner, &v, labels, n, chances);
    if (status == HUNCH_OK) {
        e->choice.round = own.round;
        e->choice.greedy = own.greedy;
        e->model_chance = chances[e->choice.label];
        e->seen = c->counts.answers + c->counts.lessons;
    }
    free(labels);
    free(chances);
    return status == HUNCH_OK || learner_error(c, status, err);
}

bool state_observe(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    if (!see(c, x, true, e, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_observe(c->learner, &v, &e->choice);
    return status == HUNCH_OK ? decided(c, x, e, err) : learner_error(c, status, err);
}

void state_count(struct model_state *c, const struct event *e)
{
    comparison_decision(&c->comparison, &c->policy, e);
}

bool state_compare(struct model_state *c, const struct event *decision, uint32_t by, const hunch_choice *own,
                   struct http_error *err)
{
    return !chosen_by_chance(decision) || shadow_decided(&c->shadow, decision, by, own) || half_done(c, err);
}

/* Learns from what was said about a decision, and counts nothing. */
static bool learn(struct model_state *c, const struct event *decision, const struct event *feedback, bool foreign,
                  struct http_error *err)
{
    const struct answer *a = &feedback->answer;
    assert(decision->kind == EVENT_DECISION && decision->seq < feedback->seq);
    assert(a->label == NO_LABEL || a->label < names_count(c->labels));
    hunch_vec v = event_vec(decision);
    hunch_choice choice = decision->choice;
    choice.margin = 0; /* not in the store: recomputed, so that a replay gives the same bytes */
    if ((foreign || c->excluded_n) &&
        choice.round > hunch_rounds(c->learner)) /* another's, or before some were forgotten */
        choice.round = hunch_rounds(c->learner);
    if (foreign && hunch_greedy(c->learner, &v, &choice.greedy) != HUNCH_OK)
        return learner_error(c, HUNCH_EINVAL, err);
    choice.note = foreign ? 0 : choice.note; /* another learner's remark */
    hunch_status status = a->label != NO_LABEL ? hunch_teach(c->learner, &v, a->label)
                                               : hunch_feedback(c->learner, &v, &choice, a->right);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    if (!scores_finite(c, &v))
        return poisoned(c, feedback, "score", err);
    return true;
}

static void count_told(struct model_state *c, const struct answer *a)
{
    if (a->label == NO_LABEL)
        return;
    c->counts.told++;
    c->label[a->label].told++;
}

bool state_answer(struct model_state *c, const struct event *decision, const struct event *feedback, bool foreign,
                  struct http_error *err)
{
    const struct answer *a = &feedback->answer;
    if (!learn(c, decision, feedback, foreign, err))
        return false;
    if (!foreign && decision->act_at > 0) /* it fails for a ninth promise: that one keeps its first threshold */
        (void)hunch_acted(c->learner, decision->act_at, decision->act, a->right);
    if (foreign && chosen_by_chance(decision))
        shadow_answered(&c->shadow, decision, a->right);
    struct label_counts *l = &c->label[decision->choice.label];
    c->counts.answers++;
    c->counts.silent += a->silent;
    c->counts.right += a->right;
    l->right += a->right;
    l->wrong += !a->right;
    count_told(c, a);
    if (!foreign)
        comparison_answer(&c->comparison, &c->policy, decision, a->right);
    advance(c, feedback->seq);
    return true;
}

bool state_late(struct model_state *c, const struct event *decision, const struct event *feedback, bool foreign,
                struct http_error *err)
{
    const struct answer *a = &feedback->answer;
    bool was = c->settings.answer_right;
    struct label_counts *l = &c->label[decision->choice.label];
    if (c->settings.late_replaces && !learn(c, decision, feedback, foreign, err))
        return false;
    c->counts.late++;
    if (c->settings.late_replaces && was != a->right) {
        c->counts.right += a->right ? 1 : -UINT64_C(1);
        l->right += a->right ? 1 : -UINT64_C(1);
        l->wrong += a->right ? -UINT64_C(1) : 1;
    }
    if (c->settings.late_replaces)
        count_told(c, a);
    advance(c, feedback->seq);
    return true;
}

void state_activate(struct model_state *c, const struct event *e)
{
    c->counts.activated++;
    advance(c, e->seq);
}

bool state_policy(struct model_state *c, const struct event *e, struct http_error *err)
{
    struct policy now = c->policy;
    json_t *json = json_loadb(e->x, e->x_length, 0, NULL);
    bool ok = json ? policy_read(&now, json, err) && policy_label_ok(&now, c->labels, err)
                   : http_error_set(err, 503, "damaged", "a policy in the log cannot be read");
    json_decref(json);
    if (!ok)
        return false;
    c->policy = now;
    c->comparison = (struct comparison){.since = e->seq};
    advance(c, e->seq);
    return true;
}

bool state_retire(struct model_state *c, const struct event *e, struct http_error *err)
{
    hunch_status status = hunch_retire(c->learner, e->label, e->answer.right);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    advance(c, e->seq);
    return true;
}

bool state_lesson(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    assert(e->label < names_count(c->labels));
    if (!see(c, x, true, e, err))
        return false;
    hunch_vec v = event_vec(e);
    hunch_status status = hunch_teach(c->learner, &v, e->label);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    if (!scores_finite(c, &v))
        return poisoned(c, e, "score", err);
    if (!keep_names(c, x, e, err))
        return false;
    c->counts.lessons++;
    c->label[e->label].told++;
    advance(c, e->seq);
    return true;
}

bool state_labels(struct model_state *c, struct event *const *events, size_t n, struct http_error *err)
{
    uint32_t had = names_count(c->labels);
    struct label_counts *label = realloc(c->label, (had + n) * sizeof *label);
    if (!label)
        return http_error_no_memory(err);
    c->label = label;
    memset(label + had, 0, n * sizeof *label);
    hunch_status status = hunch_add_classes(c->learner, (uint32_t)n);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    for (size_t i = 0; i < n; i++)
        if (names_add(c->labels, events[i]->x, events[i]->x_length) != had + i)
            return half_done(c, err);
    advance(c, events[n - 1]->seq);
    return true;
}

bool state_recall(struct model_state *c, const struct example *x, struct event *e, struct http_error *err)
{
    return see(c, x, false, e, err);
}

bool state_scores(struct model_state *c, const struct example *x, struct event *scratch, float *ret,
                  struct http_error *err)
{
    if (!state_recall(c, x, scratch, err))
        return false;
    hunch_vec v = event_vec(scratch);
    hunch_status status = hunch_scores(c->learner, &v, ret);
    if (status != HUNCH_OK)
        return learner_error(c, status, err);
    for (size_t i = 0; i < names_count(c->labels); i++)
        if (!isfinite(ret[i])) /* nothing was learned: the model is what it was */
            return http_error_set(err, 400, "poison", "refused: a score of this example is not finite");
    return true;
}

const char *state_checker(const struct model_state *c)
{
    const struct counts *n = &c->counts;
    struct label_counts sum = {0};
    for (uint32_t i = 0; i < names_count(c->labels); i++) {
        sum.shown += c->label[i].shown;
        sum.right += c->label[i].right;
        sum.wrong += c->label[i].wrong;
        sum.told += c->label[i].told;
    }
    if (hunch_classes(c->learner) != names_count(c->labels))
        return "the learner has other labels than the model";
    if (sum.shown != n->decisions || sum.right != n->right || sum.right + sum.wrong != n->answers ||
        sum.told != n->told + n->lessons)
        return "the counts by label do not add up to those of the model";
    if (c->dictionary.names && hunch_features(c->learner) > names_count(c->dictionary.names))
        return "the learner has features without a name";
    return NULL;
}

bool state_skip(struct model_state *c, uint64_t seq, struct http_error *err)
{
    uint64_t *all = realloc(c->excluded, (c->excluded_n + 1) * sizeof *all);
    if (!all)
        return http_error_no_memory(err);
    c->excluded = all;
    all[c->excluded_n++] = seq;
    advance(c, seq);
    return true;
}
