/* SPDX-License-Identifier: BSD-3-Clause */
#include "covariance/covariance.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "state/explore.h"
#include "state/linear.h"
#include "numeric/matrix.h"
#include "state/state.h"

#define SPAN_RANK 64
#define WIDE_FEATURES 4096 /* with more of them, and sparse rows, ... */
#define WIDE_DENSITY 0.1   /* ... which have less than this share of them, ... */
#define WIDE_RANK 16       /* ... as many directions do */
#define SETTLE_FROM 16     /* rounds that tell what rows are like */
#define SETTLE_TO 256
#define FOURIER_FEATURES 1024          /* maps with fewer features are Fourier ones, the others pairs: see front.c */
#define SPAN_NUMBERS ((size_t)1 << 20) /* in the matrices of all classes */
#define FEW_PAIRS 1024
#define PAIRS_RANK 112     /* a third of the features, or more, ... */
#define PAIRS_COLUMNS 25   /* ... that n columns and their pairs are; with more of them ... */
#define PAIRS_RANK_MANY 72 /* ... as many do, in half the time */

static const struct covariance_form *const forms[] = {&covariance_full, &covariance_diag, &covariance_span,
                                                      &covariance_kernel};
#define FORMS (sizeof forms / sizeof *forms)

const char *const covariance_choices[] = {"diag", "full", "span", NULL};

/* --- the form --- */

double covariance_precision(const struct state *s)
{
    const struct covariance_use *use = s->algo->covariance;
    return use->precision ? use->precision(s) : 1;
}

/* What the examples are made of tells how many directions matter, and the classes, each with a matrix of its own, how
 * many can be afforded. */
static size_t span_rank(const struct state *s)
{
    size_t rank = SPAN_RANK;
    if (s->text && !s->mapped)
        return 1;
    if (s->mapped && s->mapped < FOURIER_FEATURES)
        rank = 40;
    else if (s->mapped && s->mapped <= FEW_PAIRS && s->K <= 5)
        rank = PAIRS_RANK;
    while (rank > 8 && rank * rank * s->K > SPAN_NUMBERS)
        rank -= 8;
    return rank;
}

static bool rank_is_auto(const struct state *s)
{
    return setting_auto(s, s->algo->covariance->rank);
}

void covariance_init(struct state *s)
{
    const struct covariance_use *use = s->algo->covariance;
    if (!use || (use->wanted && !use->wanted(s)))
        return;
    s->covariance.form = use->setting < 0 ? &covariance_diag : &covariance_full;
    if (use->setting < 0)
        return;
    const char *set = s->algo->info.settings[use->setting].choices[setting_choice(s, use->setting)];
    s->covariance.automatic = !strcmp(set, "auto");
    for (size_t i = 0; i < FORMS; i++)
        if (!strcmp(forms[i]->name, set))
            s->covariance.form = forms[i];
    if (s->covariance.form == &covariance_span && rank_is_auto(s))
        s->covariance.rank = span_rank(s);
}

size_t covariance_rank(const struct state *s)
{
    return rank_is_auto(s) ? s->covariance.rank : (size_t)setting_number(s, s->algo->covariance->rank);
}

void covariance_shape(const struct state *s, int tensor, struct tensor *inout)
{
    const struct covariance_form *form = s->covariance.form;
    if (tensor >= COVARIANCE_TENSORS)
        return;
    if (form ? !form->shape(s, tensor, inout) : tensor != COVARIANCE_W)
        inout->kind = ABSENT;
}

const char *covariance_name(const struct state *s)
{
    return s->covariance.automatic ? s->covariance.form->name : "";
}

/* matrix=span: its rank; matrix=auto: 0 while it is full. */
uint32_t covariance_saved(const struct state *s)
{
    return (uint32_t)s->covariance.rank;
}

static void nothing_filled(struct state *s, const struct state *before)
{
}

static hunch_status rank_set(struct state *s, size_t rank, void (*fill)(struct state *s, const struct state *before))
{
    size_t old = s->covariance.rank;
    s->covariance.rank = rank;
    hunch_status status = state_reshape(s, s->covariance.form, fill);
    if (status != HUNCH_OK)
        s->covariance.rank = old;
    return status;
}

static hunch_status rank_change(struct state *s, uint32_t rank)
{
    size_t old = s->covariance.rank;
    bool less = rank == WIDE_RANK || rank == PAIRS_RANK_MANY;
    if ((rank < old && !less) || rank > PAIRS_RANK)
        return HUNCH_EMODEL;
    return rank == old ? HUNCH_OK : rank_set(s, rank, nothing_filled);
}

/* Rows with few of many features are nearly at right angles to each other: more directions are only slower. */
static bool is_wide(const struct state *s)
{
    const struct covariance_use *use = s->algo->covariance;
    return s->covariance.rank > WIDE_RANK && s->features > WIDE_FEATURES && !s->mapped && use->density &&
           use->density(s) < WIDE_DENSITY * s->features;
}

static bool is_of_many_pairs(const struct state *s)
{
    return s->covariance.rank == PAIRS_RANK && s->features > s->mapped + 1 + PAIRS_COLUMNS;
}

hunch_status covariance_settle(struct state *s)
{
    if (s->round < SETTLE_FROM || s->round > SETTLE_TO || !s->covariance.rank || !rank_is_auto(s))
        return HUNCH_OK;
    size_t rank = is_wide(s) ? WIDE_RANK : is_of_many_pairs(s) ? PAIRS_RANK_MANY : 0;
    s->scored &= !rank;
    return rank ? rank_set(s, rank, covariance_span_narrow) : HUNCH_OK;
}

/* matrix=auto: from full to span. */
static hunch_status span_begin(struct state *s, size_t rank)
{
    s->covariance.form = &covariance_span;
    s->covariance.rank = rank;
    hunch_status status = state_reshape(s, &covariance_full, covariance_span_begin);
    if (status != HUNCH_OK) {
        s->covariance.form = &covariance_full;
        s->covariance.rank = 0;
    }
    return status;
}

static bool may_begin_span(const struct state *s)
{
    return s->covariance.automatic && s->covariance.form == &covariance_full;
}

hunch_status covariance_take_number(struct state *s, uint32_t number)
{
    if (number && may_begin_span(s))
        return number > BASIS_MAX ? HUNCH_EMODEL : span_begin(s, number);
    return s->covariance.rank ? rank_change(s, number) : number ? HUNCH_EMODEL : HUNCH_OK;
}

hunch_status covariance_grow(struct state *s, uint32_t features, uint32_t classes)
{
    double full = (double)matrix_size(features) * classes * sizeof(real) * (MATRIX_KEEPS_LOW ? 2 : 1);
    if (!may_begin_span(s) || full <= (double)s->memory)
        return HUNCH_OK;
    return span_begin(s, rank_is_auto(s) ? span_rank(s) : covariance_rank(s));
}

hunch_status covariance_grow_as_is(struct state *s, uint32_t features)
{
    bool automatic = s->covariance.automatic;
    s->covariance.automatic = false;
    hunch_status status = state_grow_features(s, features);
    s->covariance.automatic = automatic;
    return status;
}

bool covariance_is_alike(const struct state *s, const struct state *other)
{
    return s->covariance.form == other->covariance.form && s->covariance.rank == other->covariance.rank;
}

hunch_status covariance_align(struct state *s, const struct state *other)
{
    bool is_span = other->covariance.form == &covariance_span;
    if (may_begin_span(s) && is_span)
        return span_begin(s, other->covariance.rank);
    return is_span && other->covariance.rank < s->covariance.rank
               ? rank_set(s, other->covariance.rank, covariance_span_narrow)
               : HUNCH_OK;
}

/* --- reading --- */

void covariance_scores(const struct state *s, const struct vec *x, real *ret)
{
    s->covariance.form->scores(s, x, ret);
}

void covariance_peek(const struct state *s, const struct vec *x, real *ret, real *ret_variances)
{
    const struct covariance_form *form = s->covariance.form;
    real unseen = (real)(x->unseen / covariance_precision(s));
    form->peek(s, x, ret, ret_variances);
    for (uint32_t k = 0; k < s->K; k++)
        ret_variances[k] += form->unseen ? (real)(x->unseen * form->unseen(s, k)) : unseen;
}

void covariance_rescale(struct state *s, double scale)
{
    real c = (real)scale;
    for (uint32_t k = 0; c != 1 && k < s->K; k++) {
        s->scores[k] *= c;
        s->variances[k] *= c * c;
    }
}

void covariance_read_scores(struct state *s, const struct vec *x, double scale)
{
    s->covariance.form->read(s, x, scale);
    s->scored = true;
}

void covariance_read(struct state *s, const struct vec *x, double scale)
{
    covariance_read_scores(s, x, scale);
    for (uint32_t k = 0; s->covariance.form->variance && k < s->K; k++)
        s->variances[k] = (real)s->covariance.form->variance(s, k);
}

double covariance_variance(struct state *s, uint32_t k)
{
    return s->covariance.form->variance ? s->covariance.form->variance(s, k) : s->variances[k];
}

double covariance_reach(const struct state *s)
{
    return s->covariance.form->reach ? s->covariance.form->reach(s) : INFINITY;
}

/* Where variances are not known beforehand, those are left out that cannot decide: of all classes where the largest
 * score is beyond what any width could bring another to. */
void covariance_bounds(struct state *s, real weight)
{
    const real *f = s->scores;
    double reach = covariance_reach(s), best = -INFINITY;
    for (uint32_t k = 0; k < s->K; k++)
        s->bounds[k] = f[k];
    if (reach < INFINITY) {
        uint32_t top = explore_first(f, s->K);
        if (s->K == 1 || f[explore_rival(f, s->K, top)] + sqrt(weight * reach) < f[top])
            return;
        best = f[top] + sqrt(weight * (real)covariance_variance(s, top));
    }
    for (uint32_t k = 0; k < s->K; k++)
        if (f[k] + sqrt(weight * reach) >= best)
            s->bounds[k] = f[k] + (real)sqrt(weight * (real)covariance_variance(s, k));
}

/* --- steps --- */

void covariance_load(struct state *s, const struct vec *x, double scale)
{
    s->covariance.x = x;
    s->covariance.scale = scale;
    s->covariance.form->load(s);
}

double covariance_variance_pair(struct state *s, uint32_t k, uint32_t l)
{
    return s->covariance.form->variance_pair(s, k, l);
}

void covariance_step(struct state *s, uint32_t k, double c, double b)
{
    s->covariance.form->step(s, k, c, b);
}

double covariance_regress(struct state *s, uint32_t k, double shift, double target, double score)
{
    return s->covariance.form->regress(s, k, shift, target, score);
}

void covariance_decay(struct state *s, uint32_t k, double share)
{
    s->covariance.form->decay(s, k, share);
}

bool covariance_weights_between(const struct state *s, uint32_t k, uint32_t l, real *ret)
{
    const struct covariance_form *form = s->covariance.form;
    if (s->tensor[COVARIANCE_W].kind == ABSENT)
        return false;
    if (form->weights_between) {
        form->weights_between(s, k, l, ret);
        return true;
    }
    for (uint32_t j = 0; j < s->features; j++) {
        const real *w = linear_row(s, COVARIANCE_W, j);
        ret[j] = w[k] - w[l];
    }
    return true;
}

void covariance_flush(struct state *s)
{
    if (s->covariance.form->flush)
        s->covariance.form->flush(s);
    s->covariance.x = NULL;
}

void covariance_joint_load(struct state *s, const struct vec *x, const struct joint *z)
{
    s->covariance.z = z;
    covariance_load(s, x, 1);
}

bool covariance_moves(const struct state *s, const struct vec *x)
{
    return x->n || s->covariance.form->keeps_examples;
}

double covariance_joint_variance(struct state *s)
{
    return s->covariance.form->joint_variance(s);
}

double covariance_joint_after(struct state *s, const struct vec *x, const struct joint *z)
{
    covariance_joint_load(s, x, z);
    double v = covariance_joint_variance(s);
    s->covariance.x = NULL;
    s->covariance.z = NULL;
    return v;
}

double covariance_joint_step(struct state *s, double first, double weight, double inner)
{
    double change = s->covariance.form->joint_step(s, first, weight, inner);
    s->covariance.x = NULL;
    s->covariance.z = NULL;
    return change;
}

/* Newton's method on 1/|W(mu)| = 1/radius, which is nearly linear in mu (More and Sorensen 1983). */
void covariance_joint_ball(struct state *s, int into, double radius, double *mu)
{
    const double tolerance = sizeof(real) == sizeof(float) ? 1e-6 : 1e-12;
    const int iterations_max = 50; /* 2 or 3 are usual */
    double slope, norm2 = s->covariance.form->joint_shrunk(s, into, *mu, &slope);
    for (int i = 0; i < iterations_max && slope > 0; i++) {
        double over = sqrt(norm2) / radius - 1;
        if (fabs(over) <= tolerance || (*mu <= 0 && over < 0))
            return;
        *mu = fmax(0, *mu + norm2 / slope * over);
        norm2 = s->covariance.form->joint_shrunk(s, into, *mu, &slope);
    }
}

hunch_status covariance_merge(struct state *s, const struct state *other)
{
    assert(s->covariance.form == other->covariance.form && s->features >= other->features);
    if (s->covariance.rank != other->covariance.rank)
        return HUNCH_EUNSUPPORTED;
    return s->covariance.form->merge ? s->covariance.form->merge(s, other) : HUNCH_OK;
}

bool covariance_is_seldom(const struct algo *algo, size_t tensor)
{
    return algo->covariance && (tensor == COVARIANCE_SPAN_Y || tensor == COVARIANCE_SPAN_LAST);
}

size_t covariance_room_size(const struct state *s, uint32_t K, size_t capacity)
{
    const struct covariance_form *form = s->covariance.form;
    return form && form->room_size ? form->room_size(s, K, capacity) : 0;
}

void covariance_room_init(const struct state *s, uint32_t K, size_t capacity, void *room)
{
    s->covariance.form->room_init(s, K, capacity, room);
}

const struct extra *covariance_extra(const struct state *s)
{
    return s->covariance.form ? s->covariance.form->extra : NULL;
}
