/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exp4 (P. Auer, N. Cesa-Bianchi, Y. Freund, R. Schapire, "The nonstochastic multiarmed bandit problem", SIAM Journal
 * on Computing 2002): exponential weights over experts. Here the experts are learners of this library, which learn too.
 *
 * Expert i advises its greedy label g_i. Q_k = sum of the weights e^omega_i of the experts with g_i = k, over the sum
 * of all weights; o is drawn from P = (1 - gamma) Q + gamma/K. Right: omega_i += gamma/(K p) for the experts with
 * g_i = o. Then every expert learns from (x, o, p, right), with its own advice as the greedy label.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/exact.h"
#include "../child.h"
#include "../explore.h"

enum { EXPERTS, GAMMA };
enum { OMEGA };

#define MOST_EXPERTS 16

static const hunch_setting settings[] = {
    {"experts", HUNCH_TEXT, "[cova;confidit;banditron]", 0, 0, NULL,
     "the learners to choose among: [name:setting=value,...;name;...]"},
    SETTING_REAL("gamma", "0.1", 0, 1, "share of rounds that explore, and learning rate of the weights"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"omega", PER_MODEL, 1, 1, 0, MERGE_MEAN},
    TENSORS_END,
};

struct panel {
    size_t n;
    struct state *expert[MOST_EXPERTS];
    uint32_t advice[MOST_EXPERTS]; /* of the example that predict saw last */
};

/* --- the list of experts --- */

/* The next spec of "[a;b;...]", semicolons within inner brackets apart; NULL at the end. *at moves on. */
static const char *list_next(const char **at, size_t *ret_length)
{
    const char *from = *at + (**at == '[' || **at == ';'), *to = from;
    if (**at == '\0' || **at == ']')
        return NULL;
    for (int depth = 0; *to && (depth > 0 || (*to != ';' && *to != ']')); to++)
        depth += (*to == '[') - (*to == ']');
    *at = to;
    *ret_length = (size_t)(to - from);
    return from;
}

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    const char *text = s->set[EXPERTS].text, *at = text;
    size_t n = 0, length;
    if (*text != '[')
        return error_set(reterr, HUNCH_EINVAL, "experts=%.100s: must look like [name:setting=value;name]", text);
    while (list_next(&at, &length))
        n++;
    if (strcmp(at, "]") || n > MOST_EXPERTS)
        return error_set(reterr, HUNCH_EINVAL, "experts=%.100s: must be 1 to %d learners within [ and ]", text,
                         MOST_EXPERTS);
    return HUNCH_OK;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    const char *at = s->set[EXPERTS].text;
    size_t n = 0, length;
    while (list_next(&at, &length))
        n++;
    if (tensor == OMEGA)
        inout->lanes = n;
}

static void detach(struct state *s)
{
    struct panel *p = s->extra;
    for (size_t i = 0; i < p->n; i++)
        child_free(p->expert[i]);
    free(p);
}

static hunch_status attach(struct state *s, hunch_error *reterr)
{
    const char *at = s->set[EXPERTS].text, *from;
    size_t length;
    struct panel *p = s->extra = calloc(1, sizeof *p);
    if (!p)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    while ((from = list_next(&at, &length))) {
        hunch_error why = {{0}};
        char *spec = strndup(from, length);
        hunch_status status = spec ? child_create(&p->expert[p->n], spec, s, &why) : HUNCH_ENOMEM;
        free(spec);
        if (status != HUNCH_OK)
            return error_set(reterr, status, "expert %zu: %.200s", p->n + 1, why.message);
        p->n++;
    }
    return HUNCH_OK;
}

/* --- rounds --- */

/* Advice of every expert, and Q. ret has room for SCORE_ROOM * lanes numbers, which each expert uses in its turn. */
static void examine(const struct state *s, const struct vec *x, uint32_t *ret_advice, real *ret)
{
    const struct panel *p = s->extra;
    const double *omega = model_numbers(s, OMEGA);
    double total = 0;
    for (size_t i = 0; i < p->n; i++)
        ret_advice[i] = child_advice(p->expert[i], x, ret);
    memset(ret, 0, s->K * sizeof *ret);
    for (size_t i = 0; i < p->n; i++)
        total += exact_exp(omega[i]);
    for (size_t i = 0; i < p->n; i++)
        ret[ret_advice[i]] += (real)(exact_exp(omega[i]) / total);
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    uint32_t advice[MOST_EXPERTS];
    examine(s, x, advice, ret);
}

static void note(struct state *s, const struct vec *x)
{
    const struct panel *p = s->extra;
    for (size_t i = 0; i < p->n; i++) {
        p->expert[i]->round = s->round;
        if (p->expert[i]->algo->note)
            p->expert[i]->algo->note(p->expert[i], x);
    }
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    struct panel *p = s->extra;
    double gamma = setting_number(s, GAMMA);
    examine(s, x, p->advice, s->scores);
    s->scored = true;
    for (uint32_t k = 0; k < s->K; k++)
        s->probabilities[k] = (1 - gamma) * s->scores[k] + gamma / s->K;
    ret->greedy = explore_argmax(s, s->scores);
    ret->label = explore_sample(s, s->probabilities);
    ret->prob = fmin(s->probabilities[ret->label], 1);
}

/* The experts that advised a label which was right with the chance p. */
static void reward(struct state *s, uint32_t label, double p)
{
    const struct panel *panel = s->extra;
    double *omega = model_numbers(s, OMEGA), largest = -INFINITY;
    for (size_t i = 0; i < panel->n; i++) {
        if (panel->advice[i] == label)
            omega[i] += setting_number(s, GAMMA) / (s->K * p);
        largest = fmax(largest, omega[i]);
    }
    for (size_t i = 0; i < panel->n; i++)
        omega[i] -= largest;
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    struct panel *p = s->extra;
    if (!s->scored)
        examine(s, x, p->advice, s->scores);
    if (right)
        reward(s, c->label, c->prob);
    for (size_t i = 0; i < p->n; i++) {
        hunch_choice own = *c;
        own.greedy = p->advice[i];
        round_learn(p->expert[i], x, &own, right);
    }
}

static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    struct panel *p = s->extra;
    if (!s->scored)
        examine(s, x, p->advice, s->scores);
    reward(s, label, 1);
    for (size_t i = 0; i < p->n; i++)
        round_teach(p->expert[i], x, label);
}

static hunch_status reserve(struct state *s, const struct vec *x)
{
    const struct panel *p = s->extra;
    for (size_t i = 0; i < p->n; i++) {
        hunch_status status = round_reserve(p->expert[i], x);
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

/* --- growth and bytes --- */

/* Grown or merged copies take the experts' places, all of them or none: with classes the experts grow to so many,
 * without they learn what the other's have learned. */
static hunch_status experts_replace(struct panel *p, uint32_t classes, const struct panel *other)
{
    struct panel fresh = {.n = p->n};
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < p->n && status == HUNCH_OK; i++) {
        status = child_copy(&fresh.expert[i], p->expert[i]);
        if (status == HUNCH_OK)
            status =
                other ? state_merge(fresh.expert[i], other->expert[i]) : state_grow_classes(fresh.expert[i], classes);
    }
    for (size_t i = 0; i < p->n; i++) {
        child_free(status == HUNCH_OK ? p->expert[i] : fresh.expert[i]);
        if (status == HUNCH_OK)
            p->expert[i] = fresh.expert[i];
    }
    return status;
}

static hunch_status extra_merge(struct state *s, const struct state *other)
{
    return experts_replace(s->extra, 0, other->extra);
}

static hunch_status grow(struct state *s, uint32_t features, uint32_t classes)
{
    struct panel *p = s->extra;
    if (classes > s->K)
        return experts_replace(p, classes, NULL);
    for (size_t i = 0; i < p->n; i++) { /* features that only some experts have room for do no harm */
        hunch_status status = state_grow_features(p->expert[i], features);
        if (status != HUNCH_OK)
            return status;
    }
    return HUNCH_OK;
}

/* Each expert's bytes, after their number. */
static size_t extra_size(const struct state *s)
{
    const struct panel *p = s->extra;
    size_t size = 0;
    for (size_t i = 0; i < p->n; i++)
        size += sizeof(uint64_t) + child_size(p->expert[i]);
    return size;
}

static void extra_write(const struct state *s, void *bytes)
{
    const struct panel *p = s->extra;
    char *at = bytes;
    for (size_t i = 0; i < p->n; i++) {
        uint64_t size = child_size(p->expert[i]);
        memcpy(at, &size, sizeof size);
        child_write(p->expert[i], at + sizeof size);
        at += sizeof size + size;
    }
}

static hunch_status extra_read(struct state *s, const void *bytes, size_t size, hunch_error *reterr)
{
    struct panel *p = s->extra;
    const char *at = bytes;
    for (size_t i = 0; i < p->n; i++) {
        uint64_t n = 0;
        if (size >= sizeof n)
            memcpy(&n, at, sizeof n);
        if (size < sizeof n || n > size - sizeof n)
            return error_set(reterr, HUNCH_EMODEL, "the model is damaged: an expert is cut");
        hunch_status status = child_read(p->expert[i], at + sizeof n, n, reterr);
        if (status != HUNCH_OK)
            return status;
        at += sizeof n + n;
        size -= sizeof n + n;
    }
    return size ? error_set(reterr, HUNCH_EMODEL, "the model is damaged: there is more than its experts") : HUNCH_OK;
}

static const struct extra experts = {
    .attach = attach,
    .detach = detach,
    .grow = grow,
    .reserve = reserve,
    .size = extra_size,
    .write = extra_write,
    .read = extra_read,
    .merge = extra_merge,
};

const struct algo algo_exp4 = {
    .info = {"exp4", "exponential weights over other learners", "Auer, Cesa-Bianchi, Freund and Schapire 2002", 0,
             settings},
    .tensors = tensors,
    .check = check,
    .shape = shape,
    .note = note,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .extra = &experts,
};
