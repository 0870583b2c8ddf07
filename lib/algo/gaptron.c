/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gaptron (D. van der Hoeven, "Exploiting the surrogate gap in online multiclass classification", NeurIPS 2020) and
 * Gappletron (D. van der Hoeven, F. Fusco, N. Cesa-Bianchi, "Beyond bandit feedback in online multiclass
 * classification", NeurIPS 2021), with bandit feedback: the room between a surrogate loss and the mistakes pays for the
 * exploration.
 *
 * s = W x, g = argmax s, m_y = s_y - max_{k != y} s_k. With the gap a below, o is drawn from
 *   P_k = (1 - max(a, gamma)) [k = g] + max(a, gamma)/K.
 *   loss=logistic      -log2 pi_y, pi = softmax(s);                                 a = 1 - [pi_g >= 1/2] pi_g
 *   loss=hinge         0 if g = y and m_g > kappa, else max(0, 1 - m_y);            a = 1 - max([m_g > kappa], m_g)
 *   loss=smooth-hinge  1 - 2 m_y for m_y <= 0, (1 - m_y)^2 up to 1, 0 beyond;       a = (1 - min(1, m_g))^2
 * Only when right: W -= eta G with G the loss's gradient at y = o over p. step=adaptive (Gappletron): eta = B/sqrt(2
 * (1e-8 + H)), H the sum of |G|^2. step=fixed (Gaptron): eta = gamma/K times that of full information.
 */
#include <math.h>

#include "state/explore.h"
#include "state/linear.h"

enum { LOSS, GAMMA, STEP, B, ETA, KAPPA, LENGTH };
enum { LOGISTIC, HINGE, SMOOTH_HINGE };
enum { ADAPTIVE, FIXED };
enum { W, H };

#define LN2 0.69314718055994530942

static const char *const loss_choices[] = {"logistic", "hinge", "smooth-hinge", NULL};
static const char *const step_choices[] = {"adaptive", "fixed", NULL};

static const hunch_setting settings[] = {
    SETTING_CHOICE("loss", "logistic", loss_choices, "the surrogate of the mistakes"),
    SETTING_REAL("gamma", "0.01", 0, 1, "least fraction of rounds that explore; in theory B sqrt(K / rounds)"),
    SETTING_CHOICE("step", "adaptive", step_choices, "Gappletron's steps, or Gaptron's"),
    SETTING_REAL("B", "10", 1e-6, 1e6, "adaptive: size of the steps, a bound on the norm of the best weights"),
    SETTING_REAL_OR_AUTO("eta", "auto", 0, 1e6,
                         "fixed: size of the steps; auto: gamma/(K X)^2 times ln(2)/2, 1 - kappa or 1/4, by the loss"),
    SETTING_REAL("kappa", "0.5", 0, 1, "hinge: the margin above which a right answer has no loss"),
    SETTING_REAL("X", "1", 1e-6, 1e6, "fixed, eta=auto: a bound on the length of the examples"),
    SETTINGS_END,
};

static const struct tensor tensors[] = {
    {"W", PER_FEATURE, 1, CLASSES, 0, MERGE_MEAN},
    {"H", PER_MODEL, 1, 1, 0, MERGE_SUM},
    TENSORS_END,
};

/* The best of the others that may be shown; y itself when there is none. */
static uint32_t rival(const struct state *s, uint32_t y)
{
    uint32_t best = y;
    if (!s->eligible)
        return explore_rival(s->scores, s->K, y);
    for (uint32_t k = 0; k < s->K; k++)
        if (k != y && s->eligible[k] && (best == y || s->scores[k] > s->scores[best]))
            best = k;
    return best;
}

/* By how much y's score exceeds that. */
static double margin(const struct state *s, uint32_t y)
{
    return (double)s->scores[y] - s->scores[rival(s, y)];
}

static double gap(struct state *s, uint32_t g)
{
    double m = margin(s, g);
    switch (setting_choice(s, LOSS)) {
    case LOGISTIC:
        explore_softmax(s, s->scores, 1, s->probabilities);
        return s->probabilities[g] >= 0.5 ? 1 - s->probabilities[g] : 1;
    case HINGE:
        return m > setting_number(s, KAPPA) ? 0 : 1 - m;
    default:
        return (1 - fmin(1, m)) * (1 - fmin(1, m));
    }
}

static void predict(struct state *s, const struct vec *x, hunch_choice *ret)
{
    uint32_t g = explore_greedy(s, x);
    explore_mix(s, g, fmax(gap(s, g), setting_number(s, GAMMA)), ret);
}

/* The gradient's factors per class, for y, into s->probabilities; false: it is 0. */
static bool gradient(struct state *s, uint32_t y)
{
    double *h = s->probabilities, m = margin(s, y), slope = fmin(2, 2 * (1 - m));
    int loss = setting_choice(s, LOSS);
    uint32_t r = rival(s, y);
    if (loss == LOGISTIC) {
        explore_softmax(s, s->scores, 1, h);
        h[y] -= 1;
        for (uint32_t k = 0; k < s->K; k++)
            h[k] /= LN2;
        return true;
    }
    if (loss == HINGE)
        slope = m < 1 && m <= setting_number(s, KAPPA);
    if (slope <= 0 || r == y)
        return false;
    for (uint32_t k = 0; k < s->K; k++)
        h[k] = k == y ? -slope : k == r ? slope : 0;
    return true;
}

static double eta(const struct state *s)
{
    double full[] = {LN2 / 2, 1 - setting_number(s, KAPPA), 0.25}, KX = s->K * setting_number(s, LENGTH);
    if (!setting_auto(s, ETA))
        return setting_number(s, ETA);
    return setting_number(s, GAMMA) / (KX * KX) * full[setting_choice(s, LOSS)];
}

static void learn(struct state *s, const struct vec *x, const hunch_choice *c, bool right)
{
    if (!right)
        return;
    explore_scores(s, x);
    if (!gradient(s, c->label))
        return;
    double rate = setting_choice(s, STEP) == FIXED
                      ? eta(s)
                      : linear_adaptive_rate(s, model_numbers(s, H), setting_number(s, B), x, c->prob);
    linear_descend(s, W, rate / c->prob, x);
}

const struct algo algo_gaptron = {
    .info = {"gaptron", "gradient steps, exploration by surrogate gap",
             "van der Hoeven 2020; van der Hoeven, Fusco and Cesa-Bianchi 2021", 0, settings},
    .tensors = tensors,
    .predict = predict,
    .learn = learn,
    .scores = linear_first_scores,
};
