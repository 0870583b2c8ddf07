/* SPDX-License-Identifier: BSD-3-Clause */
#include "policy/replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "policy/reward.h"

#define CERTAIN (1 - 1e-9)
#define BETWEEN_REPORTS 256 /* rounds */

struct play {
    struct replay *replay;
    struct logged *log;
    const struct replay_options *options;
    struct reward *model;
    size_t room; /* rows of each policy */
    hunch_error *reterr;
    uint32_t *labels; /* scratch */
    size_t labels_room;
};

static hunch_status learner_make(struct play *p, struct policy *policy)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error why;
    uint32_t labels = logged_classes(p->log);
    options.learner = policy->name;
    options.classes = labels > p->options->classes ? labels : p->options->classes;
    options.seed = p->options->seed;
    hunch_status status = hunch_create(&policy->learner, &options, &why);
    return status ? error_set(p->reterr, status, "%s: %s", policy->name, why.message) : HUNCH_OK;
}

static hunch_status learner_fail(struct play *p, const struct policy *policy, hunch_status status)
{
    return error_set(p->reterr, status, "%s: %s", policy->name, hunch_reason(policy->learner));
}

/* Learners for labels that have just been seen, and room for one more round. */
static hunch_status room_make(struct play *p)
{
    struct replay *r = p->replay;
    uint32_t labels = logged_classes(p->log), max = labels > p->options->classes ? labels : p->options->classes;
    bool grow = r->weighted == p->room;
    const struct rows *rows = logged_rows(p->log);
    size_t room = grow ? p->room + p->room / 2 + 1024 : p->room;
    for (size_t i = 0; i < r->n; i++) {
        struct policy *policy = &r->policies[i];
        hunch_status status = HUNCH_OK;
        if (policy->kind == POLICY_LEARNER && !policy->learner)
            status = learner_make(p, policy);
        if (status)
            return status;
        if (policy->kind == POLICY_LEARNER && labels > hunch_classes(policy->learner))
            status = hunch_add_classes(policy->learner, labels - hunch_classes(policy->learner));
        for (size_t j = 0; policy->learner && rows && j < rows->roles_n && !status; j++)
            status = hunch_set_role(policy->learner, rows->roles[j].feature, rows->roles[j].role);
        if (status)
            return learner_fail(p, policy, status);
        if (policy->learner && hunch_classes(policy->learner) > max)
            max = hunch_classes(policy->learner);
        if (grow && !array_resize(&policy->rows, room, sizeof *policy->rows))
            return error_memory(p->reterr);
    }
    p->room = room;
    return reward_reserve(p->model, max, logged_width(p->log)) ? HUNCH_OK : error_memory(p->reterr);
}

/* The model's greedy label, among those of the row that it has. NONE: it has none of them. */
static hunch_status model_greedy(struct play *p, hunch *model, const struct logged_row *row, hunch_choice *choice)
{
    size_t n = 0;
    if (!row->eligible)
        return hunch_greedy(model, &row->x, &choice->greedy);
    if (!array_reserve(&p->labels, &p->labels_room, row->eligible_n, sizeof *p->labels))
        return HUNCH_ENOMEM;
    for (size_t i = 0; i < row->eligible_n; i++)
        if (row->eligible[i] < hunch_classes(model))
            p->labels[n++] = row->eligible[i];
    return n ? hunch_peek_among(model, &row->x, p->labels, n, 0, choice) : HUNCH_OK;
}

/* The label that the policy would show. A learner makes its own choice too, so that what it is given afterwards is
 * about a round that it has played. */
static hunch_status policy_label(struct play *p, struct policy *policy, const struct logged_row *row,
                                 hunch_choice *choice)
{
    hunch_status status = HUNCH_OK;
    if (policy->kind == POLICY_LEARNER)
        status = hunch_predict_among(policy->learner, &row->x, row->eligible, row->eligible_n, choice);
    else if (policy->kind == POLICY_MODEL)
        status = model_greedy(p, policy->learner, row, choice);
    else if (policy->kind == POLICY_LABEL)
        choice->greedy = logged_label(p->log, policy->name);
    return status ? learner_fail(p, policy, status) : HUNCH_OK;
}

/* Of the labels that could be shown: those of the row, or all. */
static double guess_mean(const struct reward *model, const struct logged_row *row, uint32_t labels)
{
    double sum = 0;
    for (uint32_t k = 0; k < labels; k++)
        sum += reward_guess(model, &row->x, row->eligible ? row->eligible[k] : k);
    return sum / labels;
}

static void row_judge(struct play *p, struct policy *policy, const struct logged_row *row, uint32_t label)
{
    uint32_t known = logged_classes(p->log), labels = known > p->options->classes ? known : p->options->classes;
    labels = row->eligible ? (uint32_t)row->eligible_n : labels;
    struct offpolicy_row out = {.reward = row->right, .shown = reward_guess(p->model, &row->x, row->label)};
    bool certain = row->prob >= CERTAIN;
    if (policy->kind == POLICY_LOGGED) {
        out.weight = 1;
        out.expected = out.shown;
    } else if (policy->kind == POLICY_UNIFORM) {
        out.weight = 1 / (labels * row->prob);
        out.expected = guess_mean(p->model, row, labels);
        policy->unsupported += certain && labels > 1;
    } else {
        out.weight = label == row->label ? 1 / row->prob : 0;
        out.expected = label == NAMES_NONE ? 0 : reward_guess(p->model, &row->x, label);
        policy->unsupported += certain && label != row->label;
    }
    if (p->options->clip > 0 && policy->kind != POLICY_LOGGED)
        out.weight = fmin(out.weight, p->options->clip);
    policy->direct += (out.expected - policy->direct) / (double)(p->replay->rounds + 1);
    if (row->prob > 0)
        policy->rows[p->replay->weighted] = out;
}

static hunch_status row_learn(struct play *p, struct policy *policy, const struct logged_row *row, hunch_choice *choice)
{
    hunch_status status;
    if (policy->kind != POLICY_LEARNER)
        return HUNCH_OK;
    if (row->truth != LOGGED_NONE) {
        status = hunch_teach(policy->learner, &row->x, row->truth);
    } else {
        if (choice->label != row->label)
            choice->note = 0; /* a remark about another label */
        choice->label = row->label;
        choice->prob = row->prob > 0 ? row->prob : 1;
        status = hunch_feedback(policy->learner, &row->x, choice, row->right);
    }
    return status ? learner_fail(p, policy, status) : HUNCH_OK;
}

static void log_count(struct replay *r, const struct logged_row *row)
{
    if (row->prob > 0) {
        r->low = r->weighted ? fmin(r->low, row->prob) : row->prob;
        r->high = fmax(r->high, row->prob);
        r->certain += row->prob >= CERTAIN;
        r->weighted++;
    }
    r->right += row->right;
    r->rounds++;
}

static hunch_status row_play(struct play *p, const struct logged_row *row)
{
    struct replay *r = p->replay;
    bool lesson = row->label == LOGGED_NONE;
    hunch_status status = room_make(p);
    for (size_t i = 0; i < r->n && !status; i++) {
        struct policy *policy = &r->policies[i];
        hunch_choice choice = {.greedy = NAMES_NONE};
        if (!lesson) {
            status = policy_label(p, policy, row, &choice);
            if (!status && !row->unjudged)
                row_judge(p, policy, row, choice.greedy);
        }
        if (!status)
            status = row_learn(p, policy, row, &choice);
    }
    if (status)
        return status;
    if (lesson) {
        reward_learn(p->model, &row->x, row->truth, true);
        r->lessons++;
    } else {
        reward_learn(p->model, &row->x, row->label, row->right);
        if (!row->unjudged)
            log_count(r, row);
    }
    return HUNCH_OK;
}

static bool must_stop(const struct play *p)
{
    return p->options->stop && atomic_load_explicit(p->options->stop, memory_order_relaxed);
}

static hunch_status rows_play(struct play *p)
{
    uint64_t total = logged_bytes_total(p->log);
    struct logged_row row;
    bool more = true;
    hunch_status status = HUNCH_OK;
    for (uint64_t i = 0; more && !status; i++) {
        if (i % BETWEEN_REPORTS == 0) {
            p->replay->stopped = must_stop(p);
            if (p->replay->stopped)
                break;
            if (p->options->progress)
                p->options->progress(p->options->context, p->replay->rounds,
                                     total ? (double)logged_bytes(p->log) / (double)total : -1);
        }
        status = logged_next(p->log, &row, &more, p->reterr);
        if (!status && more)
            status = row_play(p, &row);
    }
    return status;
}

hunch_status replay_play(struct replay *r, struct logged *log, const struct replay_options *options,
                         hunch_error *reterr)
{
    struct play p = {.replay = r, .log = log, .options = options, .model = reward_new(), .reterr = reterr};
    hunch_status status = p.model ? rows_play(&p) : error_memory(reterr);
    if (!status && !r->rounds)
        status = error_set(reterr, HUNCH_EINVAL,
                           r->stopped ? "stopped before the first round" : "the log holds no round with an answer");
    for (size_t i = 0; i < r->n && !status; i++) {
        struct offpolicy_options o = options->offpolicy;
        o.bound = options->clip > 0 ? fmin(options->clip, 1 / r->low) : 1 / r->low;
        status = offpolicy_estimate(&r->policies[i].result, r->policies[i].rows, r->weighted, &o, reterr);
    }
    reward_free(p.model);
    free(p.labels);
    return status;
}

void replay_free(struct replay *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->policies[i].rows);
        r->policies[i].rows = NULL;
    }
}

/* --- what the log can't tell --- */

static bool warn_certain(const struct replay *r, const struct policy *p, char *ret, size_t size)
{
    if (!p->unsupported)
        return false;
    double share = 100 * (double)p->unsupported / (double)r->weighted;
    if (r->certain == r->weighted)
        snprintf(ret, size,
                 "the log cannot answer: all labels were chosen with probability 1, and this policy differs in %.1f %% "
                 "of the rounds; the log contains no answer to its labels there",
                 share);
    else
        snprintf(
            ret, size,
            "in %.1f %% of the rounds the label was chosen with probability 1 and this policy differs: the log has no "
            "answer to its label. ips counts it as wrong, snips leaves these rounds out, dr uses the reward model: "
            "no estimate covers all rounds",
            share);
    return true;
}

static bool warn_unknown(const struct replay *r, const struct policy *p, char *ret, size_t size)
{
    if (r->weighted == r->rounds)
        return false;
    snprintf(
        ret, size,
        "%.1f %% of the rounds have no probability: ips, snips and dr leave them out. direct assumes that the reward "
        "model is right about labels that the log does not have for similar x; no interval covers its error",
        100 - 100 * (double)r->weighted / (double)r->rounds);
    return true;
}

static bool warn_match(const struct replay *r, const struct policy *p, char *ret, size_t size)
{
    if (p->result.effective > 0 || !r->weighted)
        return false;
    snprintf(ret, size, "the log cannot answer: it never has a label that this policy chooses");
    return true;
}

static bool warn_effective(const struct replay *r, const struct policy *p, char *ret, size_t size)
{
    double n = (double)r->weighted, e = p->result.effective;
    if (e <= 0 || (e >= 100 && e >= 0.01 * n))
        return false;
    snprintf(ret, size, "%.0f effective rounds of %.0f: the intervals are unreliable (too narrow)", e, n);
    return true;
}

static bool warn_tiny(const struct replay *r, const struct policy *p, char *ret, size_t size)
{
    double n = (double)r->weighted, total = p->result.mean_weight * n, share = p->result.max_weight / total;
    if (!(share > 0.05) || p->result.effective < 100)
        return false;
    snprintf(ret, size, "one round has %.0f %% of all weight (a tiny probability, %.2g at least); --clip cuts weights",
             100 * share, r->low);
    return true;
}

static bool warn_mean(const struct replay *r, const struct policy *p, char *ret, size_t size)
{
    double mean = p->result.mean_weight, off = fabs(mean - 1);
    if (p->result.effective <= 0 || p->unsupported || off < 0.05 || off < 4 * p->result.mean_error)
        return false;
    snprintf(ret, size,
             "the mean weight is %.3f and should be 1: the log's probabilities are not those with which labels were "
             "chosen, or some labels of this policy were never chosen",
             mean);
    return true;
}

bool replay_warning(const struct replay *r, const struct policy *p, size_t i, char *ret, size_t size)
{
    static bool (*const all[])(const struct replay *, const struct policy *, char *,
                               size_t) = {warn_unknown, warn_match, warn_certain, warn_effective, warn_tiny, warn_mean};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k](r, p, ret, size) && i-- == 0)
            return true;
    return false;
}
