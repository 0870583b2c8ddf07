/* SPDX-License-Identifier: BSD-3-Clause */
#include "api/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "covariance/covariance.h"
#include "api/eligible.h"
#include "state/explore.h"
#include "state/linear.h"
#include "state/params.h"

static hunch_status refuse(hunch *h, hunch_status status, const char *what)
{
    return error_set(&h->error, status, "%s", what);
}

/* --- making and freeing --- */

/* Indices have 32 bits, and a bias takes one of them. */
static uint32_t features_max(const hunch_options *o)
{
    uint32_t max = o->max_features ? o->max_features : HUNCH_MAX_FEATURES;
    return max < UINT32_MAX - 1 ? max : UINT32_MAX - 1;
}

static hunch_status options_check(const hunch_options *o, hunch_error *reterr)
{
    if (o->classes < 1 || o->classes > HUNCH_MAX_CLASSES)
        return error_set(reterr, HUNCH_EINVAL, "%u classes: there must be 1 to %u", o->classes, HUNCH_MAX_CLASSES);
    uint32_t limit = features_max(o);
    if (o->features > limit)
        return error_set(reterr, HUNCH_EINVAL, "%u features are more than the limit of %u", o->features, limit);
    return HUNCH_OK;
}

hunch_status hunch_create(hunch **ret, const hunch_options *options, hunch_error *reterr)
{
    hunch_options o = HUNCH_OPTIONS_INIT;
    if (!ret || !options || options->size < offsetof(hunch_options, features))
        return error_set(reterr, HUNCH_EINVAL, "options must start from HUNCH_OPTIONS_INIT");
    memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    hunch_status status = options_check(&o, reterr);
    if (status != HUNCH_OK)
        return status;

    hunch *h = calloc(1, sizeof *h);
    if (!h)
        return error_set(reterr, HUNCH_ENOMEM, "out of memory");
    struct state *s = &h->state;
    s->K = o.classes;
    s->rng.state = h->seed = o.seed;
    s->memory = o.memory ? o.memory : (uint64_t)256 << 20;
    status = params_parse(s, o.learner, reterr);
    if (status != HUNCH_OK)
        goto fail_empty;
    h->max_features = features_max(&o) + (s->bias != 0);
    front_init(&h->front, s->map, s->bias);
    confidence_init(&h->confidence, s->K);
    s->mapped = front_columns_from(&h->front);
    s->expected = o.features;
    status = state_init(s, reterr);
    if (status != HUNCH_OK)
        goto fail_params;
    h->spec = params_print(s);
    status = h->spec ? HUNCH_OK : HUNCH_ENOMEM;
    if (status == HUNCH_OK && o.features && !s->scale) /* else what room each takes is known with the first row */
        status = state_grow_features(s, o.features + (s->bias != 0));
    if (status != HUNCH_OK) {
        hunch_free(h);
        return error_set(reterr, status, "out of memory");
    }
    *ret = h;
    return HUNCH_OK;

fail_params:
    params_clear(s);
fail_empty:
    free(h);
    return status;
}

void hunch_free(hunch *h)
{
    if (!h)
        return;
    state_clear(&h->state);
    params_clear(&h->state);
    for (size_t i = 0; i < h->metas; i++) {
        free(h->meta[i].key);
        free(h->meta[i].bytes);
    }
    free(h->meta);
    free(h->spec);
    free(h->index);
    free(h->value);
    free(h->noted);
    free(h->lead);
    free(h->usable);
    free(h->eligible);
    front_free(&h->front);
    front_room_free(&h->front_room);
    free(h);
}

/* --- the example --- */

static hunch_status vec_refuse(const hunch_vec *x, hunch_error *reterr)
{
    for (size_t i = 0; i < x->n; i++) {
        unsigned long long index = x->index ? x->index[i] : i;
        if (i && x->index && x->index[i] <= x->index[i - 1])
            return error_set(reterr, HUNCH_EINVAL, "the example's indices do not increase at %llu", index);
        if (!isfinite(x->value[i]))
            return error_set(reterr, HUNCH_EINVAL, "feature %llu: the value is not finite", index);
        if (fabsf(x->value[i]) > HUNCH_MAX_VALUE)
            return error_set(reterr, HUNCH_EINVAL, "feature %llu: the value %g is beyond the limit of %g", index,
                             (double)x->value[i], (double)HUNCH_MAX_VALUE);
    }
    return error_set(reterr, HUNCH_EINVAL, "the example is not valid");
}

hunch_status vec_check(const hunch *h, const hunch_vec *x, hunch_error *reterr)
{
    if (!x || (x->n && !x->value))
        return error_set(reterr, HUNCH_EINVAL, "the example is NULL");
    if (!h->state.linear->is_valid(x->index, x->value, x->n))
        return vec_refuse(x, reterr);
    uint64_t features = !x->n ? 0 : x->index ? (uint64_t)x->index[x->n - 1] + 1 : x->n;
    uint32_t limit = h->max_features - (h->state.bias != 0);
    if (features > limit)
        return error_set(reterr, HUNCH_ELIMIT, "feature index %llu is beyond the limit of %u features",
                         (unsigned long long)(features - 1), limit);
    return HUNCH_OK;
}

static hunch_status room_make(hunch *h, size_t n)
{
    if (n <= h->room)
        return HUNCH_OK;
    size_t room = n + n / 2;
    if (!array_resize(&h->index, room, sizeof *h->index) || !array_resize(&h->value, room, sizeof *h->value))
        return refuse(h, HUNCH_ENOMEM, "out of memory for an example");
    h->room = room;
    return HUNCH_OK;
}

void vec_rewrite(const struct state *s, const hunch_vec *x, uint32_t *index, float *value, struct vec *ret)
{
    size_t n = 0;
    bool bias = state_has_bias(s);
    struct vec raw = {.index = x->index, .value = x->value, .n = x->n, .all = x->n};
    double length = s->normalize ? sqrt(vec_norm2(&raw)) : 1;
    double scale = length > 0 ? 1 / length : 0;
    if (bias) {
        index[n] = 0;
        value[n++] = (float)s->bias;
    }
    for (size_t i = 0; i < x->n; i++, n++) {
        index[n] = (x->index ? x->index[i] : (uint32_t)i) + bias;
        value[n] = s->normalize ? (float)(x->value[i] * scale) : x->value[i];
    }
    *ret = (struct vec){.index = x->index ? index : NULL, .value = value, .n = n, .all = n};
}

static hunch_status vec_make(hunch *h, const hunch_vec *x, struct vec *ret)
{
    hunch_status status = vec_check(h, x, &h->error);
    if (status != HUNCH_OK)
        return status;
    if (!h->state.normalize && !state_has_bias(&h->state)) {
        *ret = (struct vec){.index = x->index, .value = x->value, .n = x->n, .all = x->n};
        return HUNCH_OK;
    }
    status = room_make(h, x->n + 1);
    if (status == HUNCH_OK)
        vec_rewrite(&h->state, x, h->index, h->value, ret);
    return status;
}

hunch_status learner_see(hunch *h, const hunch_vec *x, unsigned wants, struct vec *ret, uint32_t *ret_features)
{
    hunch_status status = vec_make(h, x, ret);
    if (status == HUNCH_OK && h->state.scale) {
        h->raw = (hunch_vec){ret->index && vec_is_dense(ret->index, ret->n) ? NULL : ret->index, ret->value, ret->n};
        status = front_reserve(&h->front, &h->raw);
        if (status == HUNCH_OK)
            status = front_write(&h->front, h->state.linear, &h->raw, wants, &h->front_room, ret);
        if (status != HUNCH_OK)
            return refuse(h, status, "out of memory for more features");
    }
    if (status != HUNCH_OK)
        return status;
    *ret_features = !ret->n          ? 0
                    : h->state.scale ? front_features(&h->front, &h->raw)
                                     : (ret->index ? ret->index[ret->n - 1] : (uint32_t)ret->n - 1) + 1;
    return HUNCH_OK;
}

unsigned learner_wants(const hunch *h, const hunch_choice *c)
{
    return h->state.algo->wants ? h->state.algo->wants(&h->state, c) : WANT_MAP;
}

hunch_status learner_prepare(hunch *h, const hunch_vec *x, unsigned wants, struct vec *ret)
{
    uint32_t features = 0;
    hunch_status status = learner_see(h, x, wants, ret, &features);
    if (status != HUNCH_OK)
        return status;
    status = state_grow_features(&h->state, features);
    if (status == HUNCH_OK && h->front.map.kind & MAP_FOURIER &&
        !array_reserve(&h->lead, &h->lead_room, h->state.capacity, sizeof *h->lead))
        status = HUNCH_ENOMEM;
    return status == HUNCH_OK ? status : refuse(h, status, "out of memory for more features");
}

/* --- rounds --- */

bool learner_observe(hunch *h)
{
    if (!h->state.scale)
        return false;
    struct front_change change = front_observe(&h->front, &h->raw, &h->front_room.row);
    if (change.features && state_renew(&h->state, change.mapped, change.text, NULL) == HUNCH_OK) {
        front_commit(&h->front, &change);
        confidence_init(&h->confidence, h->state.K);
    } else if (change.features)
        front_discard(&change); /* no memory: all stays as it was */
    return change.writing;
}

/* Masks are gone when it returns: nothing but a choice depends on them. */
static void round_predict_among(struct state *s, const struct vec *x, const struct eligible *among, hunch_choice *ret,
                                double *ret_chances)
{
    if (among->may)
        state_restrict(s, among->may, among->n);
    round_predict(s, x, ret, ret_chances);
    if (among->may)
        state_restrict(s, NULL, 0);
}

void learner_predict(hunch *h, const struct vec *x, const struct eligible *among, hunch_choice *ret,
                     double *ret_chances)
{
    round_predict_among(&h->state, x, among, ret, ret_chances);
    ret->confidence = confidence_read(&h->confidence, ret->margin);
}

/* What is left in s->scores does not serve learning: it may differ from what predict makes in the last bit. */
static const real *scores_now(struct state *s, const struct vec *x)
{
    s->scored = false;
    s->algo->scores(s, x, s->scores);
    return s->scores;
}

/* Pass the relevance of columns to the preprocessing. */
static void lead_report(hunch *h, const struct vec *x, const struct front_answer *answer)
{
    struct state *s = &h->state;
    if (s->restarted)
        front_restart(&h->front);
    if (s->words_weight > 0)
        h->front.scale.words_weight = s->words_weight;
    s->restarted = false;
    if (s->scale && x->n && s->algo->lead && front_count(&h->front, x, answer) &&
        s->algo->lead(s, answer->label, h->lead))
        front_learn(&h->front, s->linear, x, h->lead);
}

/* Inverse probabilities that are larger make some learners' numbers infinite. */
#define PROB_LEAST 1e-9

hunch_status learner_learn(hunch *h, const struct vec *x, const hunch_choice *choice, bool right)
{
    struct state *s = &h->state;
    hunch_choice counted = *choice;
    const hunch_choice *c = &counted;
    counted.prob = fmax(choice->prob, PROB_LEAST);
    float margin = c->margin != 0 ? c->margin : explore_margin(scores_now(s, x), s->K, c->label);
    hunch_status status = round_learn(s, x, c, right);
    if (status != HUNCH_OK)
        return refuse(h, status, "out of memory for this example");
    if (!s->repeated)
        confidence_learn(&h->confidence, s->K, margin, right);
    lead_report(h, x, &(struct front_answer){c->label, .is_known = right, .right = right});
    return HUNCH_OK;
}

/* Whether the greedy label would have been right. Learners that are always told the label leave its scores behind. */
hunch_status learner_teach(hunch *h, const struct vec *x, uint32_t label)
{
    struct state *s = &h->state;
    bool left = s->algo->info.full_information;
    uint32_t greedy = left ? 0 : explore_first(scores_now(s, x), s->K);
    float margin = left ? 0 : explore_margin(s->scores, s->K, greedy);
    hunch_status status = round_teach(s, x, label);
    if (status != HUNCH_OK)
        return refuse(h, status, "out of memory for this example");
    if (left) {
        greedy = explore_first(s->scores, s->K);
        margin = explore_margin(s->scores, s->K, greedy);
    }
    if (!s->repeated)
        confidence_learn(&h->confidence, s->K, margin, greedy == label);
    lead_report(h, x, &(struct front_answer){label, .is_known = true, .right = greedy == label});
    return HUNCH_OK;
}

hunch_status hunch_predict_among(hunch *h, const hunch_vec *x, const uint32_t *eligible, size_t n, hunch_choice *ret)
{
    struct vec v;
    struct eligible among;
    hunch_status status = eligible_take(h, eligible, n, &among);
    if (status == HUNCH_OK)
        status = learner_prepare(h, x, learner_wants(h, NULL), &v);
    if (status != HUNCH_OK)
        return status;
    learner_predict(h, &v, &among, ret, NULL);
    learner_observe(h);
    return HUNCH_OK;
}

hunch_status hunch_predict(hunch *h, const hunch_vec *x, hunch_choice *ret)
{
    return hunch_predict_among(h, x, NULL, 0, ret);
}

hunch_status learner_check(hunch *h, const hunch_choice *c)
{
    if (!c)
        return refuse(h, HUNCH_EINVAL, "the choice is NULL");
    if (c->label >= h->state.K || c->greedy >= h->state.K)
        return refuse(h, HUNCH_EINVAL, "the choice names a label that this learner does not have");
    if (!(c->prob > 0 && c->prob <= 1 + 1e-12))
        return refuse(h, HUNCH_EINVAL, "the choice's probability is not in (0,1]");
    return HUNCH_OK;
}

hunch_status hunch_feedback(hunch *h, const hunch_vec *x, const hunch_choice *choice, int right)
{
    struct vec v;
    hunch_status status = learner_check(h, choice);
    if (status == HUNCH_OK && (choice->round == 0 || choice->round > h->state.round))
        status = refuse(h, HUNCH_EINVAL, "the choice is from a round that this learner does not know");
    if (status == HUNCH_OK && right != 0 && right != 1)
        status = refuse(h, HUNCH_EINVAL, "right must be 0 or 1");
    if (status == HUNCH_OK)
        status = learner_prepare(h, x, learner_wants(h, choice), &v);
    if (status != HUNCH_OK)
        return status;
    h->state.scored = false;
    return learner_learn(h, &v, choice, right);
}

hunch_status hunch_learn(hunch *h, const hunch_vec *x, uint32_t label, double prob, int right)
{
    struct state *s = &h->state;
    struct vec v;
    if (label >= s->K)
        return error_set(&h->error, HUNCH_EINVAL, "label %u: there are %u classes", label, s->K);
    if (!(prob > 0 && prob <= 1))
        return refuse(h, HUNCH_EINVAL, "the probability is not in (0,1]");
    if (right != 0 && right != 1)
        return refuse(h, HUNCH_EINVAL, "right must be 0 or 1");
    hunch_status status = learner_prepare(h, x, WANT_ALL, &v);
    if (status != HUNCH_OK)
        return status;
    s->round++; /* that of the example: who wakes for it is as old as if it were answered after the choice */
    status = round_reserve(s, &v); /* before anything changes */
    s->round--;
    if (status != HUNCH_OK)
        return refuse(h, HUNCH_ENOMEM, "out of memory for this example");
    struct rng rng = s->rng;
    hunch_choice c;
    round_predict_among(s, &v, &(struct eligible){h->usable, h->usable_n}, &c, NULL);
    s->rng = rng;
    c = (hunch_choice){.round = c.round, .prob = prob, .label = label, .greedy = c.greedy};
    if (learner_observe(h)) {
        s->scored = false;
        status = learner_prepare(h, x, WANT_ALL, &v);
    }
    return status == HUNCH_OK ? learner_learn(h, &v, &c, right) : status;
}

hunch_status hunch_teach(hunch *h, const hunch_vec *x, uint32_t label)
{
    struct vec v;
    if (label >= h->state.K)
        return error_set(&h->error, HUNCH_EINVAL, "label %u: there are %u classes", label, h->state.K);
    hunch_status status = learner_prepare(h, x, WANT_ALL, &v);
    if (status != HUNCH_OK)
        return status;
    h->state.scored = false;
    status = learner_teach(h, &v, label);
    if (status == HUNCH_OK)
        learner_observe(h);
    return status;
}

hunch_status hunch_set_role(hunch *h, uint32_t feature, hunch_role role)
{
    if (feature >= h->max_features - (h->state.bias != 0))
        return error_set(&h->error, HUNCH_ELIMIT, "feature index %u is beyond the limit of %u features", feature,
                         h->max_features - (h->state.bias != 0));
    if (role != HUNCH_COLUMN && role != HUNCH_WORD)
        return refuse(h, HUNCH_EINVAL, "a role must be HUNCH_COLUMN or HUNCH_WORD");
    if (!h->state.scale)
        return HUNCH_OK;
    const struct scale *c = &h->front.scale;
    if (!c->has_roles && c->rows > FRONT_DECIDES) /* it has found out */
        return HUNCH_OK;
    uint8_t had = c->has_roles && feature < c->described ? c->role[feature] : HUNCH_ROLE_UNKNOWN;
    if (had && had != role)
        return error_set(&h->error, HUNCH_EINVAL, "feature %u has another role already", feature);
    hunch_status status = scale_set_role(&h->front.scale, feature, role);
    return status == HUNCH_OK ? status : refuse(h, status, "out of memory for more features");
}

void hunch_set_repeated(hunch *h, int repeated)
{
    state_set_repeated(&h->state, repeated != 0);
}

/* --- what a learner is --- */

hunch_status hunch_add_classes(hunch *h, uint32_t more)
{
    if (more > HUNCH_MAX_CLASSES - h->state.K)
        return error_set(&h->error, HUNCH_ELIMIT, "more than %u classes", HUNCH_MAX_CLASSES);
    if (!more)
        return HUNCH_OK;
    hunch_status status = eligible_grow(h, h->state.K + more);
    if (status == HUNCH_OK)
        status = state_grow_classes(&h->state, h->state.K + more);
    if (status == HUNCH_OK)
        eligible_added(h, more);
    return status == HUNCH_OK ? status : refuse(h, status, "out of memory for more classes");
}

uint32_t hunch_classes(const hunch *h)
{
    return h->state.K;
}

uint32_t hunch_features(const hunch *h)
{
    if (h->state.scale)
        return (uint32_t)h->front.scale.columns;
    return h->state.features - (h->state.features && h->state.bias != 0);
}

uint64_t hunch_rounds(const hunch *h)
{
    return h->state.round;
}

uint64_t hunch_bytes(const hunch *h)
{
    return state_bytes(&h->state) + front_bytes(&h->front) + sizeof *h;
}

const char *hunch_spec(const hunch *h)
{
    return h->spec;
}

const char *hunch_form(const hunch *h)
{
    return covariance_name(&h->state);
}

const char *hunch_reason(const hunch *h)
{
    return h->error.message;
}

void hunch_reseed(hunch *h, uint64_t seed)
{
    h->seed = seed;
    state_reseed(&h->state, seed);
}

const hunch_algorithm *hunch_algorithm_of(const hunch *h)
{
    return &h->state.algo->info;
}
