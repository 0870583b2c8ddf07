/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The models that the papers' theorems are about. The truth of every row is known: the probability of each label,
 * and the best label.
 *
 *   linear      Confidit's noise model (2013, equation 2, alpha = 1): x = (1, z)/sqrt 2 with |z| = 1, and label i with
 *               chance (1 + u_i.x)/2 = 1/K + v_i.z/2; the v_i add up to 0, the longest has length 2/K
 *   margin      the same, without rows whose two best labels have chances nearer than the margin (its Corollary 1)
 *   halfspaces  |x| = 1, the label with the largest u_k.x, |u_k| = 1; no rows with two scores nearer than the margin
 *   adversary   halfspaces, but a share of the rows has the second best label, in bursts: nothing stochastic about it
 *   permuted    halfspaces whose labels all move on by one from the middle row on
 *   rotating    halfspaces that turn: features 2i and 2i+1 by half a circle from the first row to the last
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "synth_set.h"

#define TRIES 10000 /* rows among which one must have the margin */
#define BURST 200   /* rows between the beginnings of the adversary's bursts */

struct model {
    double *vector; /* classes x size */
    double *point;  /* of the last row */
    double *turned; /* the same as the halfspaces stand at that row */
    double *score;
    size_t size;
    bool constant; /* x has a constant feature, and vectors add up to 0 */
    bool permuted;
    double turn; /* in all, as an angle */
    uint32_t best, second, label;
    double gap;
};

static void model_free(struct synth *s)
{
    struct model *m = s->own;
    if (!m)
        return;
    free(m->vector);
    free(m->point);
    free(m->turned);
    free(m->score);
    free(m);
}

static double length_of(const double *x, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    return sqrt(squares);
}

/* Directions at random; for the noise model without their mean, and no longer than 2/K. */
static void vectors_draw(struct synth *s, struct model *m)
{
    uint32_t k = s->classes;
    double longest = 0;
    for (size_t i = 0; i < k * m->size; i++)
        m->vector[i] = synth_gaussian(&s->state);
    for (size_t j = 0; m->constant && j < m->size; j++) {
        double mean = 0;
        for (uint32_t i = 0; i < k; i++)
            mean += m->vector[i * m->size + j] / k;
        for (uint32_t i = 0; i < k; i++)
            m->vector[i * m->size + j] -= mean;
    }
    for (uint32_t i = 0; i < k; i++)
        longest = fmax(longest, length_of(m->vector + i * m->size, m->size));
    for (uint32_t i = 0; i < k; i++) {
        double scale = m->constant ? 2 / (k * longest) : 1 / length_of(m->vector + i * m->size, m->size);
        for (size_t j = 0; j < m->size; j++)
            m->vector[i * m->size + j] *= scale;
    }
}

static void point_turn(const struct synth *s, struct model *m)
{
    double angle = s->options.rows ? m->turn * (double)s->row / (double)s->options.rows : 0;
    for (size_t j = 0; j < m->size; j++)
        m->turned[j] = m->point[j];
    for (size_t j = 0; angle != 0 && j + 1 < m->size; j += 2) {
        m->turned[j] = cos(angle) * m->point[j] - sin(angle) * m->point[j + 1];
        m->turned[j + 1] = sin(angle) * m->point[j] + cos(angle) * m->point[j + 1];
    }
}

/* A direction, rounded as its text is; scores (chances in the noise model), the best two and their distance. */
static void point_draw(struct synth *s, struct model *m)
{
    for (size_t j = 0; j < m->size; j++)
        m->point[j] = synth_gaussian(&s->state);
    double length = length_of(m->point, m->size), root = m->constant ? sqrt(2) : 1;
    for (size_t j = 0; j < m->size; j++)
        m->point[j] = (double)synth_round(m->point[j] / length / root, 5);
    point_turn(s, m);
    m->best = m->second = 0;
    for (uint32_t i = 0; i < s->classes; i++) {
        double sum = 0;
        for (size_t j = 0; j < m->size; j++)
            sum += m->vector[i * m->size + j] * m->turned[j] * root;
        m->score[i] = m->constant ? fmax(1.0 / s->classes + sum / 2, 0) : sum;
        if (i == 0 || m->score[i] > m->score[m->best]) {
            m->second = m->best;
            m->best = i;
        } else if (i == 1 || m->score[i] > m->score[m->second]) {
            m->second = i;
        }
    }
    m->gap = m->score[m->best] - m->score[m->second];
}

static hunch_status model_begin(struct synth *s, bool constant, hunch_error *reterr)
{
    if (s->features < 3 || s->classes < 2)
        return error_set(reterr, HUNCH_EINVAL, "%s needs at least 3 features and 2 classes", s->set->kind.name);
    struct model *m = calloc(1, sizeof *m);
    if (!(s->own = m))
        return error_memory(reterr);
    m->constant = constant;
    m->size = s->features - constant;
    m->vector = calloc((size_t)s->classes * m->size, sizeof *m->vector);
    m->point = calloc(m->size, sizeof *m->point);
    m->turned = calloc(m->size, sizeof *m->turned);
    m->score = calloc(s->classes, sizeof *m->score);
    if (!m->vector || !m->point || !m->turned || !m->score)
        return error_memory(reterr);
    vectors_draw(s, m);
    struct rng before = s->state; /* is there a row with such a margin? */
    for (int i = 0; i < TRIES; i++) {
        point_draw(s, m);
        if (m->gap >= s->options.margin) {
            s->state = before;
            return HUNCH_OK;
        }
    }
    return error_set(reterr, HUNCH_EINVAL, "%s: too few rows have a margin of %g with %u classes", s->set->kind.name,
                     s->options.margin, s->classes);
}

static hunch_status linear_begin(struct synth *s, hunch_error *reterr)
{
    return model_begin(s, true, reterr);
}

static hunch_status halfspaces_begin(struct synth *s, hunch_error *reterr)
{
    return model_begin(s, false, reterr);
}

static hunch_status permuted_begin(struct synth *s, hunch_error *reterr)
{
    hunch_status status = model_begin(s, false, reterr);
    if (status == HUNCH_OK)
        ((struct model *)s->own)->permuted = true;
    return status;
}

static hunch_status rotating_begin(struct synth *s, hunch_error *reterr)
{
    hunch_status status = model_begin(s, false, reterr);
    if (status == HUNCH_OK)
        ((struct model *)s->own)->turn = 3.141592653589793;
    return status;
}

static size_t point_write(const struct model *m, uint32_t *index, float *value)
{
    size_t n = 0;
    if (m->constant) {
        index[n] = 0;
        value[n++] = synth_round(sqrt(0.5), 5);
    }
    for (size_t j = 0; j < m->size; j++)
        if (m->point[j] != 0) {
            index[n] = (uint32_t)j + m->constant;
            value[n++] = (float)m->point[j];
        }
    return n;
}

static double score_sum(const struct synth *s, const struct model *m)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->classes; i++)
        sum += m->score[i];
    return sum;
}

static uint32_t label_draw(struct synth *s, const struct model *m)
{
    double left = rng_uniform(&s->state) * score_sum(s, m);
    uint32_t label = 0;
    while (label + 1 < s->classes && (left -= m->score[label]) >= 0)
        label++;
    return label;
}

static size_t model_row(struct synth *s, uint32_t *index, float *value, uint32_t *ret_label)
{
    struct model *m = s->own;
    do
        point_draw(s, m);
    while (m->gap < s->options.margin);
    if (m->constant)
        m->label = label_draw(s, m);
    else
        m->label = (double)(s->row % BURST) < s->options.noise * BURST ? m->second : m->best;
    if (m->permuted && s->row >= s->options.rows / 2) {
        m->label = (m->label + 1) % s->classes;
        m->best = (m->best + 1) % s->classes;
    }
    *ret_label = m->label;
    return point_write(m, index, value);
}

static uint32_t linear_truth(const struct synth *s, float *chance)
{
    const struct model *m = s->own;
    for (uint32_t i = 0; i < s->classes; i++)
        chance[i] = (float)(m->score[i] / score_sum(s, m));
    return m->best;
}

static uint32_t halfspaces_truth(const struct synth *s, float *chance)
{
    const struct model *m = s->own;
    for (uint32_t i = 0; i < s->classes; i++)
        chance[i] = i == m->label;
    return m->best;
}

const struct synth_set synth_linear = {
    {"linear", "label probabilities linear in x (Confidit's noise model)", {10000, 1, 0, 10, 5, 1, 1, 0}, true, true},
    linear_begin,
    model_row,
    model_free,
    linear_truth};

const struct synth_set synth_margin = {{"margin",
                                        "linear, without rows whose best two labels are almost equally likely",
                                        {10000, 1, 0, 10, 5, 1, 1, 0.05},
                                        true,
                                        true},
                                       linear_begin,
                                       model_row,
                                       model_free,
                                       linear_truth};

const struct synth_set synth_halfspaces = {{"halfspaces",
                                            "uniform directions, labelled by a linear model with a margin",
                                            {10000, 1, 0, 10, 5, 1, 1, 0.1},
                                            true,
                                            true},
                                           halfspaces_begin,
                                           model_row,
                                           model_free,
                                           halfspaces_truth};

const struct synth_set synth_adversary = {
    {"adversary", "halfspaces with bursts of wrong labels", {10000, 1, 0.05, 10, 5, 1, 1, 0.1}, true, true},
    halfspaces_begin,
    model_row,
    model_free,
    halfspaces_truth};

const struct synth_set synth_permuted = {{"permuted",
                                          "halfspaces; halfway through, every label is replaced by the next one",
                                          {20000, 1, 0, 10, 5, 1, 1, 0.1},
                                          true,
                                          true},
                                         permuted_begin,
                                         model_row,
                                         model_free,
                                         halfspaces_truth};

const struct synth_set synth_rotating = {
    {"rotating", "halfspaces that rotate by 180 degrees", {20000, 1, 0, 10, 5, 1, 1, 0.1}, true, true},
    rotating_begin,
    model_row,
    model_free,
    halfspaces_truth};
