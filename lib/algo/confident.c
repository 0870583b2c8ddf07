/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Confident: margins and confidence (the project's own; an answer to the open question that closes Crammer and
 * Gentile 2013, "developing a margin-based version" of Confidit). See docs/reference/algorithms/confident.md.
 *
 * Per class a Gaussian N(w_i, S_i), S_i = I at first. Examples are put on a common scale: x~ = x / rho, where rho^2 is
 * the mean squared length of the examples predicted so far. With f_i = w_i.x~, v_i = x~'S_i x~ and rate the running
 * share of wrong answers:
 *   o = argmax f_i + sqrt(eta rate v_i);  q = argmax_{i != o} f_i, the runner-up.
 * step(i, c, b): w_i += c S_i x~, then S_i -= b S_i x~ x~'S_i.
 * Right (hits_o += 1): if l = 1 - (f_o - f_q) > 0, a step of multiclass AROW on the pair: b = 1/(v_o + v_q + r),
 *   step(o, l b, b), step(q, -l b, b). Then every other class i that has been right before and still violates the
 *   margin, m = 1 - (f_o + l b v_o - f_i) > 0: c = hits_i/(hits_i + D) / (v_i + v_o + r), step(i, -m c, c), where D is
 *   demote_after or, if that is more, demote_mean times the mean of all hits. So classes that were never or seldom seen
 *   right are not pushed away before they are discovered.
 * Wrong: if l = 1 - (f_q - f_o) > 0: h = 1 / sum_{i != o} exp(sharpness (f_i - f_q)), the belief that the runner-up is
 * the true label (1 when K = 2); b = 1/(v_o + (2 - h) v_q + r), step(o, -l b, b), step(q, h l b, h b). Both share b:
 * with a larger one of its own the runner-up locks third classes out.
 * doubt: where labels are noisy, answers say less. Of the labels that were safe, f_o - f_q >= 1, a share nu was wrong
 * all the same; r becomes r (1 + doubt nu^2).
 * matrix: what is kept of the S_i, see covariance.h; diag takes the step as S_jj^-1 += b/(1 - b v) x_j^2. decay: after
 * each step S_i += decay (I - S_i).
 * Text (see scale.h): f_i is w_i.x~ and an offset, the odds of naive Bayes, so that a few right answers are enough.
 * With y_j = |x_j| / sum |x_j|, n the rounds learned from and this one, B_j the sum of their y_j and C_ji of those that
 * were right with i: f_i += sum_j y_j max(-1, log((C_ji + p_j)/(B_j - C_ji + p_j) (n - hits_i + 50)/(hits_i + 50))),
 * p_j = 50 B_j/n. That this example counts keeps words modest that were seen once before.
 * Words beside columns: the offset g counts by a weight beta between 0 and 1, as far as it tells right answers from wrong
 * ones. With the lead m = f_o - f_q of the predicted label, d = g_o - g_q and the answer y (1: right), a logistic regression
 * of y on 1, m - beta d and d is learned by AdaGrad; beta = c_d/c_m, its last two coefficients.
 */
#include <math.h>

#include "base/exact.h"
#include "covariance/covariance.h"
#include "state/explore.h"
#include "state/linear.h"

enum { MATRIX_SET, ETA, R, SHARPNESS, DEMOTE_AFTER, DEMOTE_MEAN, FORGET, RANK, DECAY, DOUBT };
enum { HITS = COVARIANCE_TENSORS, NORMS, SEEN, ENTRIES, RATE, STEPS, LEARNED, RIGHT_WORDS, WORDS, SAFE, TELLING };
enum { TELLING_CONSTANT, TELLING_COLUMNS, TELLING_WORDS, TELLING_SQUARES, TELLING_NUMBERS = 2 * TELLING_SQUARES };

#define BAYES_PRIOR 50   /* rounds that the prior of naive Bayes counts for */
#define SAFE_PRIOR 50    /* safe labels that were right before there were any */
#define SAFE_WINDOW 1000 /* of them that count */

#define TELLING_RATE 0.2 /* of AdaGrad */
#define TELLING_MIN 0.1  /* c_m */

#define SHARES 64 /* of words that are found at a time */

enum { MATRIX_SPAN = 3 };

static const char *const matrix_choices[] = {"auto", "full", "diag", "span", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("matrix", "auto", matrix_choices,
                   "representation of the covariances; auto: full while it fits the memory limit, then span"),
    SETTING_REAL("eta", "3", 0, 1e6, "exploration: how much of the width is added to a score, times the error rate"),
    SETTING_REAL("r", "0.3", 1e-6, 1e6, "regularisation: larger is slower"),
    SETTING_REAL("sharpness", "3", 0, 100, "how strongly the runner-up is assumed to be the true label after a miss"),
    SETTING_REAL("demote_after", "50", 0, 1e9, "right answers after which a class is demoted with half the weight"),
    SETTING_REAL("demote_mean", "0", 0, 1e9,
                 "the same in units of the mean number of right answers per class, if larger"),
    SETTING_REAL("forget", "0.002", 0, 1, "how fast the running error rate forgets"),
    {"rank", HUNCH_INTEGER, "auto", 1, BASIS_MAX, params_auto,
     "matrix=span: directions kept, for all classes; auto: 1 to 112, as the examples and the classes are"},
    SETTING_REAL("decay", "0", 0, 0.5,
                 "matrix=span: how much of the covariances each step forgets, for streams that drift"),
    SETTING_REAL("doubt", "0", 0, 1e6,
                 "slower for noisy labels: how much r grows with the squared fraction of wrong ones among safe labels"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    COVARIANCE_TABLE("W", "b", "S", "full_S"),
    {"hits", PER_MODEL, 1, CLASSES, 0, MERGE_SUM},
    {"norms", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"seen", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"entries", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"rate", PER_MODEL, 1, 1, 1, MERGE_MEAN},
    {"steps", PER_MODEL, 1, 1, 0, MERGE_SUM}, /* taken so far: what a run has cost (bench_full.c) */
    {"learned", PER_MODEL, 1, 1, 0, MERGE_SUM},
    {"right_words", PER_FEATURE, 1, CLASSES, 0, MERGE_SUM},
    {"words", PER_FEATURE, 1, 1, 0, MERGE_SUM},
    {"safe", PER_MODEL, 1, 2, 0, MERGE_SUM},                   /* labels, and wrong ones */
    {"telling", PER_MODEL, 1, TELLING_NUMBERS, 1, MERGE_MEAN}, /* coefficients, and sums of squared slopes */
    TENSORS_END,
};

static hunch_status check(const struct state *s, hunch_error *reterr)
{
    if (setting_choice(s, MATRIX_SET) != MATRIX_SPAN && setting_number(s, DECAY) > 0)
        return error_set(reterr, HUNCH_EINVAL, "decay=%g: only matrix=span can forget", setting_number(s, DECAY));
    return HUNCH_OK;
}

static void shape(const struct state *s, int tensor, struct tensor *inout)
{
    if (!s->text && (tensor == RIGHT_WORDS || tensor == WORDS || tensor == TELLING))
        inout->kind = ABSENT;
    if (tensor == SAFE && setting_number(s, DOUBT) <= 0)
        inout->kind = ABSENT;
}

/* Features that an example has, on average. */
static double density(const struct state *s)
{
    return model_numbers(s, ENTRIES)[0] / fmax(model_numbers(s, SEEN)[0], 1);
}

static const struct covariance_use covariance = {
    .setting = MATRIX_SET, .rule = DIAGONAL_INVERT, .rank = RANK, .density = density};

/* --- scores --- */

static double scale_of(const struct state *s)
{
    double seen = model_numbers(s, SEEN)[0], norms = model_numbers(s, NORMS)[0];
    return norms > 0 ? sqrt(seen / fmax(norms, seen * LENGTH2_MIN)) : 1;
}

static void note(struct state *s, const struct vec *x)
{
    model_numbers(s, NORMS)[0] += linear_norm2(s, x);
    model_numbers(s, ENTRIES)[0] += (double)x->all;
    model_numbers(s, SEEN)[0]++;
}

/* An example's words. */
static struct vec words_of(const struct vec *x)
{
    const struct vec_part *w = &x->words;
    if (!w->index)
        return *x;
    return (struct vec){.index = w->index, .value = w->value, .n = w->n, .all = w->all, .absolute = x->absolute};
}

static real absolute_sum(const struct vec *x)
{
    double sum = 0;
    if (x->absolute > 0)
        return (real)x->absolute;
    for (size_t i = 0; i < x->all; i++)
        sum += fabsf(x->value[i]);
    return (real)sum;
}

/* What odds adds for the words that a const call has left out because nothing is known of them. */
static void odds_unseen(const struct state *s, const struct linear_odds *t, const struct vec *x, real *inout)
{
    for (size_t i = x->n; i < x->all; i++) {
        real y = t->share * (real)fabsf(x->value[i]);
        for (uint32_t k = 0; k < s->K; k++)
            inout[k] += y * word_odds(0, y, t->prior, t->ratio[k]);
    }
}

/* Text: the odds of naive Bayes. */
static bool offset(const struct state *s, const struct vec *row, real *ret)
{
    const struct vec words = words_of(row), *x = &words;
    const double *hits = model_numbers(s, HITS), n = model_numbers(s, LEARNED)[0] + 1;
    if (!s->text || n < 2)
        return false;
    real sum = absolute_sum(x), *ratio = ret + s->lanes;
    if (!(sum > 0))
        return false;
    for (size_t k = 0; k < s->lanes; k++)
        ratio[k] = k < s->K ? (real)((n - hits[k] + BAYES_PRIOR) / (hits[k] + BAYES_PRIOR)) : 1;
    struct linear_odds t = {linear_row(s, RIGHT_WORDS, 0), linear_row(s, WORDS, 0), 1 / sum, (real)(BAYES_PRIOR / n),
                            ratio};
    s->linear->odds(&t, s->stride, s->tensor[RIGHT_WORDS].padded, x, ret);
    odds_unseen(s, &t, x, ret);
    return true;
}

/* beta of words that stand beside columns */
static double words_weight(const struct state *s, const struct vec *x)
{
    if (!x->plain.index || s->tensor[TELLING].kind == ABSENT)
        return 1;
    const double *t = model_numbers(s, TELLING);
    return fmin(fmax(t[TELLING_WORDS], 0) / fmax(t[TELLING_COLUMNS], TELLING_MIN), 1);
}

/* room: 2 * lanes reals */
static void offset_add(const struct state *s, const struct vec *x, real *scores, real *room)
{
    if (!offset(s, x, room))
        return;
    real weight = (real)words_weight(s, x);
    for (uint32_t k = 0; k < s->K; k++)
        scores[k] += weight * room[k];
}

static void words_weigh(struct state *s, const struct vec *x, uint32_t o, bool right)
{
    real *room = s->scores + 2 * s->lanes;
    uint32_t q = explore_rival(s->scores, s->K, o);
    if (!x->plain.index || s->tensor[TELLING].kind == ABSENT || s->repeated || q == o)
        return;
    if (!offset(s, x, room))
        return;
    double *t = model_numbers(s, TELLING), words = (double)room[o] - room[q];
    double lead = (double)s->scores[o] - s->scores[q] - words_weight(s, x) * words;
    const double row[] = {1, lead, words};
    double z = t[0] * row[0] + t[1] * row[1] + t[2] * row[2], off = right - 1 / (1 + exact_exp(-z));
    for (int i = 0; i < TELLING_SQUARES; i++) {
        double slope = off * row[i];
        t[TELLING_SQUARES + i] += slope * slope;
        t[i] += TELLING_RATE * slope / sqrt(t[TELLING_SQUARES + i]);
    }
    s->words_weight = words_weight(s, x);
}

static void offset_learn(struct state *s, const struct vec *row, uint32_t label, bool right)
{
    const struct vec words = words_of(row), *x = &words;
    model_numbers(s, LEARNED)[0]++;
    real sum = s->text ? absolute_sum(x) : 0, y[SHARES];
    for (size_t i = 0, n; sum > 0 && i < x->n; i += n) {
        n = x->n - i < SHARES ? x->n - i : SHARES;
        for (size_t a = 0; a < n; a++)
            y[a] = (real)fabsf(x->value[i + a]) / sum;
        for (size_t a = 0; a < n; a++) {
            uint32_t j = vec_index(x, i + a);
            linear_row(s, WORDS, j)[0] += y[a];
            if (right)
                linear_row(s, RIGHT_WORDS, j)[label] += y[a];
        }
    }
}

static void scores(const struct state *s, const struct vec *x, real *ret)
{
    real c = (real)scale_of(s);
    covariance_scores(s, x, ret);
    for (uint32_t k = 0; k < s->K; k++)
        ret[k] *= c;
    offset_add(s, x, ret, ret + s->lanes);
}

static void examine(struct state *s, const struct vec *x)
{
    covariance_read_scores(s, x, scale_of(s));
    offset_add(s, x, s->scores, s->scores + s->lanes);
}

static real variance(struct state *s, uint32_t k)
{
    return (real)covariance_variance(s, k);
}

static void bounds(struct state *s, const struct vec *x)
{
    examine(s, x);
    covariance_bounds(s, (real)(setting_number(s, ETA) * model_numbers(s, RATE)[0]));
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    bounds(s, x);
    explore_none(explore_argmax(s, s->bounds), ret);
    ret->greedy = explore_argmax(s, s->scores);
}

/* --- steps --- */

/* w_k += c S_k x~, S_k -= b S_k x~ x~'S_k */
static void step(struct state *s, uint32_t k, double c, double b)
{
    model_numbers(s, STEPS)[0]++;
    covariance_step(s, k, c, b);
    if (setting_number(s, DECAY) > 0)
        covariance_decay(s, k, setting_number(s, DECAY));
}

static void steps_begin(struct state *s, const struct vec *x)
{
    if (!s->scored)
        examine(s, x);
    covariance_load(s, x, scale_of(s));
}

static void doubt_learn(struct state *s, uint32_t o, bool right)
{
    if (s->tensor[SAFE].kind == ABSENT || s->repeated)
        return;
    uint32_t q = explore_rival(s->scores, s->K, o);
    if ((double)s->scores[o] - s->scores[q] < 1)
        return;
    double *safe = model_numbers(s, SAFE);
    safe[0] += 1 - safe[0] / SAFE_WINDOW;
    safe[1] += !right - safe[1] / SAFE_WINDOW;
}

/* r, larger where labels are noisy. */
static double doubted_r(const struct state *s)
{
    double r = setting_number(s, R);
    if (s->tensor[SAFE].kind == ABSENT)
        return r;
    const double *safe = model_numbers(s, SAFE);
    double share = safe[1] / (safe[0] + SAFE_PRIOR);
    return r * (1 + setting_number(s, DOUBT) * share * share);
}

static void learn_right(struct state *s, uint32_t o)
{
    const real *f = s->scores;
    double *hits = model_numbers(s, HITS), total = 0;
    hits[o]++;
    uint32_t q = explore_rival(f, s->K, o);
    double loss = 1 - ((double)f[o] - f[q]);
    if (q == o || loss <= 0)
        return;
    real v_o = variance(s, o), v_q = variance(s, q);
    double r = doubted_r(s), b = 1 / (v_o + v_q + r), now = f[o] + loss * b * v_o;
    step(s, o, loss * b, b);
    step(s, q, -loss * b, b);
    for (uint32_t k = 0; k < s->K; k++)
        total += hits[k];
    double demote_after = fmax(setting_number(s, DEMOTE_AFTER), setting_number(s, DEMOTE_MEAN) * total / s->K);
    for (uint32_t k = 0; k < s->K; k++) {
        double m = 1 - (now - f[k]);
        if (k == o || k == q || m <= 0 || hits[k] <= 0)
            continue;
        double c = hits[k] / (hits[k] + demote_after) / (variance(s, k) + v_o + r);
        step(s, k, -m * c, c);
    }
}

/* The belief that q is the true label, now that o is known not to be. */
static double hunch_of(const struct state *s, uint32_t o, uint32_t q)
{
    double sharp = setting_number(s, SHARPNESS), sum = 0;
    for (uint32_t k = 0; k < s->K; k++)
        if (k != o)
            sum += exact_exp(sharp * ((double)s->scores[k] - s->scores[q]));
    return 1 / sum;
}

static void learn_wrong(struct state *s, uint32_t o)
{
    uint32_t q = explore_rival(s->scores, s->K, o);
    double loss = 1 - ((double)s->scores[q] - s->scores[o]);
    if (q == o || loss <= 0)
        return;
    double h = hunch_of(s, o, q);
    double b = 1 / (variance(s, o) + (2 - h) * variance(s, q) + doubted_r(s));
    step(s, o, -loss * b, b);
    step(s, q, h * loss * b, h * b);
}

static void rate_report(struct state *s, bool right)
{
    if (s->repeated) /* its answers are better than those to come */
        return;
    double *rate = model_numbers(s, RATE), seen = model_numbers(s, SEEN)[0];
    *rate += (!right - *rate) * fmax(1 / (seen + 1), setting_number(s, FORGET));
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!(c->note & NOTE_EXPLORED)) /* the label was its own */
        rate_report(s, right);
    if (!x->n)
        return;
    steps_begin(s, x);
    doubt_learn(s, c->label, right);
    words_weigh(s, x, c->label, right);
    if (right)
        learn_right(s, c->label);
    else
        learn_wrong(s, c->label);
    covariance_flush(s);
    offset_learn(s, x, c->label, right);
}

/* A round in which the label that would have been shown is found right or wrong, and the true one is learned. */
static void teach(struct state *s, const struct vec *x, uint32_t label)
{
    note(s, x);
    bounds(s, x);
    uint32_t shown = explore_first(s->bounds, s->K);
    rate_report(s, shown == label);
    if (!x->n)
        return;
    doubt_learn(s, shown, shown == label);
    words_weigh(s, x, shown, shown == label);
    steps_begin(s, x);
    learn_right(s, label);
    covariance_flush(s);
    offset_learn(s, x, label, true);
}

static bool lead(const struct state *s, uint32_t label, real *ret)
{
    return covariance_weights_between(s, label, explore_rival(s->scores, s->K, label), ret);
}

const struct algo algo_confident = {
    .info = {"confident", "confidence-weighted upper confidence bounds", "this project", 0, settings},
    .tensors = tensors,
    .covariance = &covariance,
    .check = check,
    .note = note,
    .shape = shape,
    .predict = predict,
    .learn = learn,
    .teach = teach,
    .scores = scores,
    .lead = lead,
};
