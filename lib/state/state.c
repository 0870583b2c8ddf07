/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "state/second_moments.h"
#include "state/linear.h"
#include "numeric/matrix.h"
#include "numeric/zeros.h"

/* Lanes in whole vectors: 16 bytes while that is enough, 32 bytes beyond. */
size_t state_lanes(size_t lanes)
{
    const size_t small = 16 / sizeof(real), large = LANE_BYTES / sizeof(real);
    if (lanes <= small)
        return small;
    return (lanes + large - 1) / large * large;
}

size_t state_tensors(const struct algo *algo)
{
    size_t n = 0;
    while (algo->tensors[n].name)
        n++;
    assert(n <= MAX_TENSORS);
    return n;
}

/* Rows begin with a cache line where that costs little, so that no vector of theirs lies across two; or where what is
 * read in every round then fills whole lines. */
static size_t stride_round(size_t stride, size_t often)
{
    const size_t line = ZEROS_ALIGNMENT / sizeof(real);
    size_t whole = (stride + line - 1) / line * line;
    return whole - stride <= stride / 8 || (often % line == 0 && whole - stride <= stride / 2) ? whole : stride;
}

/* The places of those PER_FEATURE tensors that are, or are not, read in every round, from `stride` on. */
static size_t rows_lay(const struct algo *algo, bool seldom, size_t stride, struct tensor_place *inout)
{
    for (size_t i = 0; i < state_tensors(algo); i++)
        if (inout[i].kind == PER_FEATURE && covariance_is_seldom(algo, i) == seldom) {
            inout[i].at = stride;
            stride += inout[i].groups * inout[i].padded;
        }
    return stride;
}

/* Where every tensor goes for K classes; returns the reals per feature. */
static size_t places_lay(const struct state *s, uint32_t K, struct tensor_place *ret)
{
    struct state with = *s; /* as shapes see it */
    with.K = K;
    for (size_t i = 0; i < state_tensors(s->algo); i++) {
        struct tensor t = s->algo->tensors[i];
        if (s->algo->covariance)
            covariance_shape(s, (int)i, &t);
        if (s->algo->shape)
            s->algo->shape(&with, (int)i, &t);
        struct tensor_place *p = &ret[i];
        *p = (struct tensor_place){.kind = t.kind, .initial = t.initial};
        p->groups = t.groups == CLASSES ? K : t.groups;
        p->lanes = t.lanes == CLASSES ? K : t.lanes;
        p->padded = state_lanes(p->lanes);
    }
    size_t often = rows_lay(s->algo, false, 0, ret);
    return stride_round(rows_lay(s->algo, true, often, ret), often);
}

static void places_free(struct tensor_place *places, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(places[i].numbers);
        free(places[i].reals);
        free(places[i].matrices);
    }
}

/* Memory of the tensors that are not in the rows; `features` rows of matrices. */
static hunch_status places_allocate(struct tensor_place *places, size_t n, size_t features)
{
    for (size_t i = 0; i < n; i++) {
        struct tensor_place *p = &places[i];
        if (p->kind == PER_MODEL) {
            size_t count = p->groups * p->lanes;
            p->numbers = calloc(count ? count : 1, sizeof(double));
            if (!p->numbers)
                return HUNCH_ENOMEM;
            for (size_t k = 0; k < count; k++)
                p->numbers[k] = p->initial;
        } else if (p->kind == PER_MODEL_REAL) {
            p->reals = zeros_allocate(size_mul(p->groups, p->padded), sizeof(real));
            if (!p->reals)
                return HUNCH_ENOMEM;
            for (size_t k = 0; p->initial != 0 && k < p->groups * p->padded; k++)
                p->reals[k] = (real)p->initial;
        } else if (p->kind == MATRIX && features) {
            p->matrix_capacity = matrix_size(features * p->lanes);
            p->matrices = zeros_allocate(size_mul(p->groups, p->matrix_capacity), sizeof(real));
            if (!p->matrices)
                return HUNCH_ENOMEM;
            for (size_t g = 0; g < p->groups; g++)
                matrix_fill(p->matrices + g * p->matrix_capacity, 0, features * p->lanes, (real)p->initial);
        }
    }
    return HUNCH_OK;
}

static real *blank_row(const struct tensor_place *places, size_t n, size_t stride)
{
    real *blank = zeros_allocate(stride, sizeof(real));
    for (size_t i = 0; blank && i < n; i++)
        if (places[i].kind == PER_FEATURE)
            for (size_t k = 0; k < places[i].groups * places[i].padded; k++)
                blank[places[i].at + k] = (real)places[i].initial;
    return blank;
}

static bool is_zeros(const real *numbers, size_t n)
{
    bool zeros = true;
    for (size_t k = 0; k < n && zeros; k++)
        zeros = numbers[k] == 0;
    return zeros;
}

/* Rows `from` to `to`, which are zeros, become blank ones. */
static void rows_fill(real *rows, size_t from, size_t to, const real *blank, size_t stride)
{
    bool zeros = is_zeros(blank, stride);
    for (size_t j = from; rows && !zeros && j < to; j++)
        memcpy(rows + j * stride, blank, stride * sizeof(real));
}

struct scratch {
    real *scores, *variances, *bounds, *steps, *gains, *shrinks;
    double *probabilities;
};

static bool scratch_allocate(struct scratch *t, uint32_t K)
{
    size_t lanes = state_lanes(K);
    t->scores = zeros_allocate(SCORE_ROOM * lanes, sizeof(real));
    t->variances = zeros_allocate(lanes, sizeof(real));
    t->bounds = zeros_allocate(lanes, sizeof(real));
    t->steps = zeros_allocate(lanes, sizeof(real));
    t->gains = zeros_allocate(lanes, sizeof(real));
    t->shrinks = zeros_allocate(lanes, sizeof(real));
    t->probabilities = calloc(K, sizeof(double));
    return t->scores && t->variances && t->bounds && t->steps && t->gains && t->shrinks && t->probabilities;
}

static void scratch_free(struct scratch *t)
{
    free(t->scores);
    free(t->variances);
    free(t->bounds);
    free(t->steps);
    free(t->gains);
    free(t->shrinks);
    free(t->probabilities);
}

static void scratch_swap(struct state *s, struct scratch *t)
{
    struct scratch old = {s->scores,           s->variances,          s->bounds,       s->steps,
                          s->covariance.gains, s->covariance.shrinks, s->probabilities};
    s->scores = t->scores;
    s->variances = t->variances;
    s->bounds = t->bounds;
    s->steps = t->steps;
    s->covariance.gains = t->gains;
    s->covariance.shrinks = t->shrinks;
    s->probabilities = t->probabilities;
    *t = old;
}

/* *ret is NULL where no scratch is needed. */
static hunch_status room_make(const struct state *s, uint32_t K, size_t capacity, void **ret)
{
    size_t size = covariance_room_size(s, K, capacity);
    *ret = NULL;
    if (!size)
        return HUNCH_OK;
    *ret = zeros_allocate(size, 1);
    if (!*ret)
        return HUNCH_ENOMEM;
    covariance_room_init(s, K, capacity, *ret);
    return HUNCH_OK;
}

const struct extra *state_extra(const struct state *s)
{
    static const struct extra none = {0};
    if (s->algo->extra)
        return s->algo->extra;
    const struct extra *kept = covariance_extra(s);
    return kept ? kept : &none;
}

hunch_status state_init(struct state *s, hunch_error *reterr)
{
    struct scratch scratch = {0};
    size_t n = state_tensors(s->algo);
    s->linear = linear_ops(NULL);
    s->lanes = state_lanes(s->K);
    covariance_init(s);
    s->stride = places_lay(s, s->K, s->tensor);
    s->blank = blank_row(s->tensor, n, s->stride);
    if (!s->blank || places_allocate(s->tensor, n, 0) != HUNCH_OK || !scratch_allocate(&scratch, s->K)) {
        scratch_free(&scratch);
        state_clear(s);
        return error_set(reterr, HUNCH_ENOMEM, "out of memory for %u classes", s->K);
    }
    scratch_swap(s, &scratch);
    const struct extra *extra = state_extra(s);
    if (extra->attach) {
        hunch_status status = extra->attach(s, reterr);
        if (status != HUNCH_OK) {
            state_clear(s);
            return status;
        }
    }
    return HUNCH_OK;
}

void state_clear(struct state *s)
{
    if (s->extra)
        // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): who attaches detaches
        state_extra(s)->detach(s);
    struct scratch none = {0};
    scratch_swap(s, &none);
    scratch_free(&none);
    places_free(s->tensor, state_tensors(s->algo));
    memset(s->tensor, 0, sizeof s->tensor);
    free(s->rows);
    free(s->blank);
    free(s->covariance.room);
    s->rows = s->blank = NULL;
    s->covariance.room = s->extra = NULL;
    s->features = s->capacity = 0;
}

hunch_status state_renew(struct state *s, uint32_t mapped, bool text, hunch_error *reterr)
{
    struct state fresh = {
        .algo = s->algo,
        .K = s->K,
        .memory = s->memory,
        .round = s->round,
        .rng = s->rng,
        .ties_random = s->ties_random,
        .normalize = s->normalize,
        .bias = s->bias,
        .floor = s->floor,
        .scale = s->scale,
        .map = s->map,
        .mapped = mapped,
        .text = text,
        .repeated = s->repeated,
        .expected = s->expected,
    };
    memcpy(fresh.set, s->set, sizeof fresh.set);
    hunch_status status = state_init(&fresh, reterr);
    if (status != HUNCH_OK)
        return status;
    state_clear(s);
    *s = fresh;
    return HUNCH_OK;
}

void state_restart(struct state *s)
{
    for (size_t i = 0; i < state_tensors(s->algo); i++) {
        struct tensor_place *p = &s->tensor[i];
        for (size_t k = 0; p->kind == PER_MODEL && k < p->groups * p->lanes; k++)
            p->numbers[k] = p->initial;
        for (size_t k = 0; p->kind == PER_MODEL_REAL && k < p->groups * p->padded; k++)
            p->reals[k] = (real)p->initial;
        for (size_t g = 0; p->kind == MATRIX && p->matrices && g < p->groups; g++) {
            memset(p->matrices + g * p->matrix_capacity, 0, p->matrix_capacity * sizeof(real));
            matrix_fill(p->matrices + g * p->matrix_capacity, 0, s->capacity * p->lanes, (real)p->initial);
        }
    }
    if (s->rows)
        zeros_clear(s->rows, s->capacity * s->stride * sizeof(real));
    rows_fill(s->rows, 0, s->capacity, s->blank, s->stride);
    s->scored = false;
}

bool state_is_plain(const struct state *s)
{
    bool plain = !s->extra && !s->covariance.automatic;
    for (size_t i = 0; i < state_tensors(s->algo); i++)
        plain = plain && s->tensor[i].kind != MATRIX;
    return plain;
}

bool state_is_laid_alike(const struct state *s, const struct state *other)
{
    bool alike = s->algo == other->algo && s->K == other->K && s->stride == other->stride && s->text == other->text &&
                 s->mapped == other->mapped && s->covariance.form == other->covariance.form &&
                 s->covariance.rank == other->covariance.rank;
    for (size_t i = 0; alike && i < state_tensors(s->algo); i++) {
        const struct tensor_place *p = &s->tensor[i], *o = &other->tensor[i];
        alike = p->kind == o->kind && p->groups == o->groups && p->lanes == o->lanes && p->at == o->at;
    }
    return alike;
}

/* The form's scratch as it was made: what it remembers of the numbers does not hold for others. */
static void room_renew(struct state *s)
{
    if (!s->covariance.room)
        return;
    memset(s->covariance.room, 0, covariance_room_size(s, s->K, s->capacity));
    covariance_room_init(s, s->K, s->capacity, s->covariance.room);
}

void state_copy(struct state *s, const struct state *other)
{
    room_renew(s);
    for (size_t i = 0; i < state_tensors(s->algo); i++) {
        struct tensor_place *p = &s->tensor[i];
        const struct tensor_place *o = &other->tensor[i];
        if (p->kind == PER_MODEL)
            memcpy(p->numbers, o->numbers, p->groups * p->lanes * sizeof *p->numbers);
        if (p->kind == PER_MODEL_REAL)
            memcpy(p->reals, o->reals, p->groups * p->padded * sizeof *p->reals);
    }
    if (other->rows)
        memcpy(s->rows, other->rows, other->features * other->stride * sizeof *s->rows);
    s->round = other->round;
    s->rng = other->rng;
    s->scored = false;
}

/* --- growth with features --- */

static hunch_status matrices_grow(struct state *s, uint32_t from, uint32_t to)
{
    real *fresh[MAX_TENSORS] = {NULL};
    size_t sizes[MAX_TENSORS] = {0}, n = state_tensors(s->algo);
    for (size_t i = 0; i < n; i++) {
        struct tensor_place *p = &s->tensor[i];
        if (p->kind != MATRIX)
            continue;
        sizes[i] = matrix_size((size_t)to * p->lanes);
        fresh[i] = zeros_allocate(size_mul(p->groups, sizes[i]), sizeof(real));
        if (!fresh[i]) {
            for (size_t j = 0; j < i; j++)
                free(fresh[j]);
            return HUNCH_ENOMEM;
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct tensor_place *p = &s->tensor[i];
        if (p->kind != MATRIX)
            continue;
        for (size_t g = 0; g < p->groups; g++) {
            real *m = fresh[i] + g * sizes[i];
            if (p->matrices)
                memcpy(m, p->matrices + g * p->matrix_capacity, p->matrix_capacity * sizeof(real));
            matrix_fill(m, from * p->lanes, to * p->lanes, (real)p->initial);
        }
        free(p->matrices);
        p->matrices = fresh[i];
        p->matrix_capacity = sizes[i];
    }
    return HUNCH_OK;
}

static uint32_t capacity_next(const struct state *s, uint32_t features)
{
    bool quadratic = false;
    for (size_t i = 0; i < state_tensors(s->algo); i++)
        quadratic |= s->tensor[i].kind == MATRIX;
    /* Room that is not touched costs nothing, so that much of it spares copies. Matrices cost the square: round up to
     * whole vectors only, doubling while they are small. */
    uint64_t want = features, all = (uint64_t)s->mapped + 1 + s->expected;
    bool known = s->expected && features <= all;
    bool untouched = features * s->stride * sizeof(real) >= ZEROS_LARGE && is_zeros(s->blank, s->stride);
    if (!quadratic)
        want = known ? all : want + (untouched ? 3 * want : want / 2 + 16);
    if (quadratic)
        want = (want + 15) / 16 * 16;
    if (quadratic && want < 2u * s->capacity && s->capacity < 128)
        want = 2u * s->capacity;
    else if (quadratic && want < s->capacity + s->capacity / 8)
        want = ((uint64_t)s->capacity + s->capacity / 8 + 15) / 16 * 16;
    return want > UINT32_MAX ? UINT32_MAX : (uint32_t)want;
}

static hunch_status capacity_raise(struct state *s, uint32_t capacity)
{
    real *rows = NULL;
    void *room = NULL;
    if (s->stride && !(rows = zeros_allocate(size_mul(capacity, s->stride), sizeof(real))))
        return HUNCH_ENOMEM;
    if (room_make(s, s->K, capacity, &room) != HUNCH_OK || matrices_grow(s, s->capacity, capacity) != HUNCH_OK) {
        free(rows);
        free(room);
        return HUNCH_ENOMEM;
    }
    if (s->rows && rows)
        memcpy(rows, s->rows, (size_t)s->features * s->stride * sizeof(real));
    rows_fill(rows, s->features, capacity, s->blank, s->stride);
    free(s->rows);
    free(s->covariance.room);
    s->rows = rows;
    s->covariance.room = room;
    uint32_t first = s->capacity;
    s->capacity = capacity;
    const struct extra *extra = state_extra(s);
    if (extra->fresh)
        extra->fresh(s, first, capacity, 0);
    return HUNCH_OK;
}

/* Before growth: what the algorithm keeps beside tensors, and the form that matrix=auto takes. */
static hunch_status growth_announce(struct state *s, uint32_t features, uint32_t classes)
{
    hunch_status status = s->covariance.form ? covariance_grow(s, features, classes) : HUNCH_OK;
    const struct extra *extra = state_extra(s);
    if (status == HUNCH_OK && extra->grow)
        status = extra->grow(s, features, classes);
    return status;
}

hunch_status state_grow_features(struct state *s, uint32_t features)
{
    if (features <= s->features)
        return HUNCH_OK;
    hunch_status status = growth_announce(s, features, s->K);
    if (status != HUNCH_OK)
        return status;
    if (features > s->capacity) {
        status = capacity_raise(s, capacity_next(s, features));
        if (status != HUNCH_OK) /* perhaps the exact size still fits */
            status = capacity_raise(s, features);
        if (status != HUNCH_OK)
            return status;
    }
    s->features = features;
    return HUNCH_OK;
}

/* --- growth with classes, change of form: everything is laid out again and copied number by number --- */

static void matrix_widen(real *to, size_t to_lanes, const real *from, size_t from_lanes, size_t features)
{
    for (size_t i = 0; i < features * from_lanes; i++)
        for (size_t j = 0; j <= i; j++)
            matrix_set(to, i / from_lanes * to_lanes + i % from_lanes, j / from_lanes * to_lanes + j % from_lanes,
                       matrix_get(from, i, j));
}

static void tensor_copy(const struct tensor_place *old, const real *old_row, struct tensor_place *new, real *new_row)
{
    for (size_t g = 0; g < old->groups; g++)
        memcpy(new_row + new->at + g *new->padded, old_row + old->at + g * old->padded, old->lanes * sizeof(real));
}

/* Tensors that both layouts have; what only the new one has, or has less of, keeps its initial values. */
static void state_copy_wider(const struct state *s, struct tensor_place *places, real *rows, size_t stride)
{
    bool zeros = is_zeros(s->blank, s->stride); /* then rows that were never touched take no memory */
    for (size_t i = 0; i < state_tensors(s->algo); i++) {
        const struct tensor_place *old = &s->tensor[i];
        struct tensor_place *new = &places[i];
        if (old->kind != new->kind || old->lanes > new->lanes || old->groups > new->groups)
            continue;
        for (size_t j = 0; old->kind == PER_FEATURE && j < s->features; j++)
            if (!zeros || !is_zeros(s->rows + j * s->stride + old->at, old->groups * old->padded))
                tensor_copy(old, s->rows + j * s->stride, new, rows + j * stride);
        for (size_t g = 0; old->kind == PER_MODEL && g < old->groups; g++)
            memcpy(new->numbers + g *new->lanes, old->numbers + g * old->lanes, old->lanes * sizeof(double));
        for (size_t g = 0; old->kind == PER_MODEL_REAL && g < old->groups; g++)
            memcpy(new->reals + g *new->padded, old->reals + g * old->padded, old->lanes * sizeof(real));
        for (size_t g = 0; old->kind == MATRIX && old->matrices && g < old->groups; g++)
            matrix_widen(new->matrices + g *new->matrix_capacity, new->lanes, old->matrices + g * old->matrix_capacity,
                         old->lanes, s->capacity);
    }
}

/* What one layout owns. */
struct layout {
    struct tensor_place places[MAX_TENSORS];
    real *rows, *blank;
    size_t stride;
    struct scratch scratch;
    void *room;
};

static void layout_free(struct layout *l, size_t tensors)
{
    free(l->room);
    free(l->blank);
    free(l->rows);
    scratch_free(&l->scratch);
    places_free(l->places, tensors);
}

static hunch_status layout_make(const struct state *s, uint32_t classes, struct layout *ret)
{
    size_t n = state_tensors(s->algo);
    *ret = (struct layout){.stride = 0};
    ret->stride = places_lay(s, classes, ret->places);
    ret->blank = blank_row(ret->places, n, ret->stride);
    if (!ret->blank || !scratch_allocate(&ret->scratch, classes) ||
        places_allocate(ret->places, n, s->capacity) != HUNCH_OK)
        goto fail;
    if (ret->stride && s->capacity && !(ret->rows = zeros_allocate(size_mul(s->capacity, ret->stride), sizeof(real))))
        goto fail;
    if (room_make(s, classes, s->capacity, &ret->room) != HUNCH_OK)
        goto fail;
    rows_fill(ret->rows, 0, s->capacity, ret->blank, ret->stride);
    return HUNCH_OK;
fail:
    layout_free(ret, n);
    return HUNCH_ENOMEM;
}

/* The state takes the layout; what it had before is left in it. */
static void layout_swap(struct state *s, struct layout *l)
{
    struct layout old = {.rows = s->rows, .blank = s->blank, .stride = s->stride, .room = s->covariance.room};
    memcpy(old.places, s->tensor, sizeof old.places);
    memcpy(s->tensor, l->places, sizeof l->places);
    s->rows = l->rows;
    s->blank = l->blank;
    s->stride = l->stride;
    s->covariance.room = l->room;
    scratch_swap(s, &l->scratch);
    old.scratch = l->scratch;
    *l = old;
}

hunch_status state_grow_classes(struct state *s, uint32_t classes)
{
    struct layout l;
    hunch_status status = growth_announce(s, s->features, classes);
    if (status == HUNCH_OK)
        status = layout_make(s, classes, &l);
    if (status != HUNCH_OK)
        return status;
    state_copy_wider(s, l.places, l.rows, l.stride);
    layout_swap(s, &l);
    layout_free(&l, state_tensors(s->algo));
    uint32_t first_class = s->K;
    s->K = classes;
    s->lanes = state_lanes(classes);
    const struct extra *extra = state_extra(s);
    if (extra->fresh)
        extra->fresh(s, 0, s->capacity, first_class);
    return HUNCH_OK;
}

hunch_status state_reshape(struct state *s, const struct covariance_form *old,
                           void (*fill)(struct state *s, const struct state *before))
{
    struct layout l;
    struct state before = *s;
    before.covariance.form = old;
    hunch_status status = layout_make(s, s->K, &l);
    if (status != HUNCH_OK)
        return status;
    state_copy_wider(s, l.places, l.rows, l.stride);
    layout_swap(s, &l);
    fill(s, &before);
    layout_free(&l, state_tensors(s->algo));
    return HUNCH_OK;
}

/* --- memory --- */

uint64_t state_bytes(const struct state *s)
{
    /* Large room for rows of zeros is not taken before they are touched. */
    bool touched = (uint64_t)s->capacity * s->stride * sizeof(real) < ZEROS_LARGE || !is_zeros(s->blank, s->stride);
    uint64_t rows = 1 + (uint64_t)(touched ? s->capacity : s->features);
    uint64_t bytes =
        rows * s->stride * sizeof(real) + (SCORE_ROOM + 5) * s->lanes * sizeof(real) + s->K * sizeof(double);
    for (size_t i = 0; i < state_tensors(s->algo); i++) {
        const struct tensor_place *p = &s->tensor[i];
        if (p->kind == PER_MODEL)
            bytes += p->groups * p->lanes * sizeof(double);
        else if (p->kind == PER_MODEL_REAL)
            bytes += (uint64_t)p->groups * p->padded * sizeof(real);
        else if (p->kind == MATRIX)
            bytes += (uint64_t)p->groups * p->matrix_capacity * sizeof(real);
    }
    const struct state *within = state_member(s, 0);
    const struct extra *extra = state_extra(s);
    if (!within)
        return bytes + (extra->size && s->extra ? extra->size(s) : 0);
    for (size_t i = 1; within; within = state_member(s, i++))
        bytes += state_bytes(within);
    return bytes;
}
