/* SPDX-License-Identifier: BSD-3-Clause */
/* The labels that a request names: those that a decision is made among, that of the application itself, those to be
 * retired or restored; and who decides. */
#include <stdlib.h>
#include <string.h>

#include "event/label_set.h"
#include "model/model.h"

bool model_find_label(const struct model *m, const json_t *json, uint32_t *ret, struct http_error *err)
{
    const char *name;
    char number[24];
    size_t length;
    if (!label_read(json, &name, &length, number, err))
        return false;
    *ret = names_find(m->state.labels, name, length);
    return *ret != NAMES_NONE ||
           http_error_set(err, 400, "unknown_label", "this model has no label \"%.*s\"", (int)length, name);
}

/* Marks each of the labels. */
static bool mark(const struct model *m, const json_t *labels, bool as, bool *inout, struct http_error *err)
{
    for (size_t i = 0; i < json_array_size(labels); i++) {
        uint32_t k;
        if (!model_find_label(m, json_array_get(labels, i), &k, err))
            return false;
        inout[k] = as;
    }
    return true;
}

/* Whether the label may be shown for this decision. */
static bool may_show(const struct model *m, const struct event *e, uint32_t label, bool *ret, struct http_error *err)
{
    uint32_t *all = NULL;
    size_t n = 0;
    if (e->eligible && !label_set_read(e->eligible, names_count(m->state.labels), &all, &n))
        return http_error_no_memory(err);
    *ret = !e->eligible && !hunch_is_retired(m->state.learner, label);
    for (size_t i = 0; i < n; i++)
        *ret = *ret || (all[i] == label && !hunch_is_retired(m->state.learner, label));
    free(all);
    return true;
}

/* One of those that may be shown, each as likely. */
static bool choose_uniformly(struct model *m, struct event *e, double u, struct http_error *err)
{
    uint32_t classes = names_count(m->state.labels), left = 0, *may = NULL;
    size_t n = classes;
    if (e->eligible ? !label_set_read(e->eligible, classes, &may, &n) : !(may = malloc(n * sizeof *may)))
        return http_error_no_memory(err);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t label = e->eligible ? may[i] : i;
        if (!hunch_is_retired(m->state.learner, label))
            may[left++] = label;
    }
    if (left) {
        e->chooser = CHOSEN_UNIFORMLY;
        e->choice.label = may[(uint32_t)(u * left)];
        e->choice.prob = 1.0 / left;
    }
    free(may);
    return left || http_error_set(err, 400, "no_label", "every eligible label is retired, or none is eligible");
}

/* A request of the control. A fixed label that may not be shown this time is replaced by a uniform one. */
static bool choose_control(struct model *m, struct event *e, uint32_t baseline, double u, struct http_error *err)
{
    const struct policy *p = &m->state.policy;
    uint32_t label = baseline;
    bool shown = true;
    if (p->control == CONTROL_LABEL) {
        label = names_find(m->state.labels, p->label, strlen(p->label));
        if (label == NAMES_NONE || !may_show(m, e, label, &shown, err))
            return label != NAMES_NONE ? false
                                       : http_error_set(err, 503, "damaged", "the control's label does not exist");
    }
    if (p->control == CONTROL_UNIFORM || !shown)
        return choose_uniformly(m, e, u, err);
    e->chooser = CHOSEN_BY_CONTROL;
    e->choice.label = label;
    e->choice.prob = 1;
    return true;
}

static bool draw(struct model *m, double *ret, struct http_error *err)
{
    uint64_t key;
    bool ok = model_draw_key(m, &key, err);
    *ret = ok ? (double)(key >> 11) * 0x1p-53 : 0;
    return ok;
}

bool model_choose_side(struct model *m, const struct decision *d, struct event *e, struct http_error *err)
{
    const struct policy *p = &m->state.policy;
    bool control = p->control_share > 0 && !p->baseline_decides && !d->logged, shown;
    bool wanted = p->baseline_decides || (control && p->control == CONTROL_BASELINE);
    uint32_t label = 0;
    double u = 1, which = 0;
    e->chooser = CHOSEN_BY_MODEL;
    e->deferred = d->deferred;
    e->act_at = d->act_at > 0 ? d->act_at : m->state.settings.act_at;
    if (!state_act(&m->state, e, err)) /* before anything is drawn */
        return false;
    if (d->baseline && !model_find_label(m, d->baseline, &label, err))
        return false;
    if (d->baseline && !d->logged &&
        (!may_show(m, e, label, &shown, err) ||
         (!shown && !http_error_set(err, 400, "not_eligible", "\"baseline\" is not an eligible label"))))
        return false;
    if (!d->baseline && wanted)
        return http_error_set(err, 400, "no_baseline",
                              "this model needs \"baseline\", the application's label, in each request");
    if (d->logged || p->baseline_decides) {
        e->chooser = CHOSEN_BY_BASELINE;
        e->choice.label = label;
        e->unknown_chance = !(d->baseline_chance > 0);
        e->choice.prob = e->unknown_chance ? 1 : d->baseline_chance;
        return true;
    }
    if (control && (!draw(m, &u, err) || !draw(m, &which, err)))
        return false;
    return u >= p->control_share || !control || choose_control(m, e, label, which, err);
}

bool model_eligible(struct model *m, const json_t *eligible, const json_t *exclude, char **ret, struct http_error *err)
{
    uint32_t n = names_count(m->state.labels), left = 0;
    if (!eligible && !exclude) {
        *ret = NULL;
        return true;
    }
    bool *in = malloc((n + !n) * sizeof *in);
    if (!in)
        return http_error_no_memory(err);
    for (uint32_t k = 0; k < n; k++)
        in[k] = !eligible;
    bool ok = mark(m, eligible, true, in, err) && mark(m, exclude, false, in, err);
    for (uint32_t k = 0; k < n; k++)
        left += in[k] && !hunch_is_retired(m->state.learner, k);
    if (ok && !left)
        ok = http_error_set(err, 400, "no_label", "every eligible label is retired, or none is eligible");
    *ret = ok ? label_set_write(in, n) : NULL;
    free(in);
    return ok && (*ret || http_error_no_memory(err));
}

/* Under the lock. What is so already is no event, but a crash must not undo it. */
static bool set_policy(struct model *m, const json_t *json, struct ticket *t, struct http_error *err)
{
    struct policy p = m->state.policy;
    struct text text = {0};
    if (!model_may_append(m, 1, 0, err) || !policy_read(&p, json, err) || !policy_label_ok(&p, m->state.labels, err))
        return false;
    ticket_need(t, m->last);
    if (policy_equal(&p, &m->state.policy))
        return true;
    text_puts(&text, "{");
    policy_write(&p, &text);
    text_puts(&text, "}");
    struct event *e = text.failed ? NULL : event_new(EVENT_POLICY, 0, text.data, text.length);
    text_free(&text);
    if (!e)
        return http_error_no_memory(err);
    bool ok = model_may_append(m, 1, e->bytes, err) && m->replication->change(m, &e, t, err);
    event_free(e);
    return ok;
}

bool model_set_policy(struct model *m, const json_t *json, struct ticket *t, struct http_error *err)
{
    pthread_mutex_lock(&m->lock);
    bool ok = set_policy(m, json, t, err);
    pthread_mutex_unlock(&m->lock);
    return ok;
}

/* Under the lock. */
static bool retire_one(struct model *m, const json_t *label, bool retired, struct ticket *t, struct http_error *err)
{
    uint32_t k;
    size_t length;
    if (!model_find_label(m, label, &k, err))
        return false;
    ticket_need(t, m->last);
    if (hunch_is_retired(m->state.learner, k) == retired)
        return true;
    const char *name = names_text(m->state.labels, k, &length);
    struct event *e = event_new(EVENT_RETIRE, 0, name, length);
    if (!e)
        return http_error_no_memory(err);
    e->label = k;
    e->answer.right = retired;
    bool ok = model_may_append(m, 1, e->bytes, err) && m->replication->change(m, &e, t, err);
    event_free(e);
    return ok;
}

/* Under the lock. Whether the names are labels, and another label remains: so that a refused request changes nothing. */
static bool may_retire(const struct model *m, const json_t *labels, bool retired, struct http_error *err)
{
    uint32_t n = names_count(m->state.labels), left = 0;
    bool *gone = calloc(n + !n, sizeof *gone);
    if (!gone)
        return http_error_no_memory(err);
    bool ok = mark(m, labels, true, gone, err);
    for (uint32_t k = 0; k < n; k++)
        left += !gone[k] && !hunch_is_retired(m->state.learner, k);
    free(gone);
    return ok && (!retired || left || !json_array_size(labels) ||
                  http_error_set(err, 400, "no_label", "at least one label must remain that is not retired"));
}

bool model_retire(struct model *m, const json_t *labels, bool retired, struct ticket *t, struct http_error *err)
{
    pthread_mutex_lock(&m->lock);
    bool ok = model_may_append(m, json_array_size(labels), 0, err) && may_retire(m, labels, retired, err);
    for (size_t i = 0; ok && i < json_array_size(labels); i++)
        ok = retire_one(m, json_array_get(labels, i), retired, t, err);
    pthread_mutex_unlock(&m->lock);
    return ok;
}
