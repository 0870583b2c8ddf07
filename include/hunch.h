/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libhunch: an online multiclass classifier that learns only from right/wrong feedback (bandit feedback).
 *
 * In each round the learner gets an example x, predicts one of K labels, and gets one bit:
 *
 *     hunch_options options = HUNCH_OPTIONS_INIT;
 *     options.learner = "confidit:eta=0.1";
 *     options.classes = 9;
 *     hunch_create(&h, &options, &error);
 *     hunch_predict(h, &x, &choice);          // choice.label is the prediction
 *     hunch_feedback(h, &x, &choice, right);  // now, later, or never
 *
 * General rules:
 *   - Every call that can fail returns a hunch_status; 0 is success. A failed call changes nothing and
 *     leaves its out-parameters untouched. hunch_reason() describes the error of the last call on a learner.
 *   - The caller passes x and the choice back with the feedback, so a learner stores no pending rounds: feedback may
 *     be late, lost, repeated or reordered.
 *   - A learner may be used by one thread at a time. There is no global state, so different learners may run in
 *     different threads. Calls that take a const hunch * may run concurrently.
 *   - The random generator is part of the learner and of the saved model: the same seed and calls give the same bytes,
 *     and a loaded model continues exactly like the saved one.
 *   - The library never prints or exits, and opens only the files passed to hunch_save and hunch_load.
 */
#ifndef HUNCH_H
#define HUNCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HUNCH_API __attribute__((visibility("default")))
#else
#define HUNCH_API
#endif

/* All status codes: name, number, meaning. */
#define HUNCH_STATUS_LIST(X)                                                                                           \
    X(HUNCH_OK, 0, "success")                                                                                          \
    X(HUNCH_EINVAL, 1, "invalid input or setting")                                                                     \
    X(HUNCH_ENOMEM, 2, "out of memory")                                                                                \
    X(HUNCH_EIO, 3, "reading or writing failed")                                                                       \
    X(HUNCH_EMODEL, 4, "not a model, damaged, or written by a newer version")                                          \
    X(HUNCH_ELIMIT, 5, "a limit was reached")                                                                          \
    X(HUNCH_EUNSUPPORTED, 6, "this learner cannot do that")

typedef enum hunch_status {
#define HUNCH_STATUS_ENUM(name, number, text) name = number,
    HUNCH_STATUS_LIST(HUNCH_STATUS_ENUM)
#undef HUNCH_STATUS_ENUM
} hunch_status;

/* A readable error message; owned by the caller, who may pass NULL instead. */
typedef struct hunch_error {
    char message[256];
} hunch_error;

typedef struct hunch hunch; /* a learner */

/* One example, borrowed for the call only. index NULL: dense, value[i] belongs to feature i. Otherwise indices are
 * strictly increasing. Absolute values are at most HUNCH_MAX_VALUE. New features may appear at any time: the learner
 * grows. */
typedef struct hunch_vec {
    const uint32_t *index;
    const float *value;
    size_t n;
} hunch_vec;

/* A prediction: plain data to keep, send or store until the feedback arrives. */
typedef struct hunch_choice {
    uint64_t round;    /* number of this prediction in the learner's life, from 1 */
    double prob;       /* the probability of label, in (0,1] */
    uint32_t label;    /* the predicted label, 0 .. K-1 */
    uint32_t greedy;   /* the label with the largest score */
    uint32_t note;     /* internal data of the learner, to be passed back unchanged */
    float margin;      /* the label's score minus the best other score; 0: unknown */
    double confidence; /* calibrated probability that the label is right */
} hunch_choice;

/* The role of a feature, if known: a column of a table (a number, or the 0 or 1 of a category), or a word of a text, whose
 * value is its count. */
typedef enum hunch_role { HUNCH_ROLE_UNKNOWN, HUNCH_COLUMN, HUNCH_WORD } hunch_role;

/* Options of a learner. Start from HUNCH_OPTIONS_INIT; the size allows later versions to add fields. */
typedef struct hunch_options {
    size_t size;
    const char *learner;   /* "name" or "name:setting=value,..."; NULL: the default learner */
    uint32_t classes;      /* K, at least 1; hunch_add_classes adds more later */
    uint32_t features;     /* initial number of features; 0: grow as features appear */
    uint32_t max_features; /* limit of the number of features; 0: HUNCH_MAX_FEATURES */
    uint64_t seed;         /* seed of the learner's generator */
    uint64_t memory;       /* memory limit in bytes of full matrices, beyond which matrix=auto chooses a smaller
                              form; 0: 256 MiB */
} hunch_options;

#define HUNCH_MAX_FEATURES (1u << 26)
#define HUNCH_MAX_CLASSES (1u << 20)
/* Larger absolute values are refused. Sums of squares of accepted values over all possible features, or over as many
 * rounds as a float can count, do not overflow, so no example can make a learner's numbers infinite. */
#define HUNCH_MAX_VALUE 1e13f
#define HUNCH_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(hunch_options), NULL, 2, 0, 0, 0, 0                                                                     \
    }

/* --- one round at a time --- */

HUNCH_API hunch_status hunch_create(hunch **ret, const hunch_options *options, hunch_error *reterr);
HUNCH_API void hunch_free(hunch *h); /* NULL is fine */

/* Predict a label for x. The learner may explore, so this draws from the generator and counts a round. */
HUNCH_API hunch_status hunch_predict(hunch *h, const hunch_vec *x, hunch_choice *ret);
/* A prediction in two steps, for applications that keep several equal learners with a log of events. hunch_peek returns
 * what hunch_predict would choose if it drew from seed, and changes nothing that is saved. hunch_observe counts the
 * choice, of this learner or an equal one, as a round. Together they have the effect of hunch_predict, except that the
 * generator does not change. */
HUNCH_API hunch_status hunch_peek(hunch *h, const hunch_vec *x, uint64_t seed, hunch_choice *ret);
HUNCH_API hunch_status hunch_observe(hunch *h, const hunch_vec *x, const hunch_choice *choice);
/* The same among n eligible labels (NULL: all): the others have probability 0, prob is the label's exact probability among
 * the eligible ones, and greedy the best of them. A single eligible label has probability 1. */
HUNCH_API hunch_status hunch_predict_among(hunch *h, const hunch_vec *x, const uint32_t *eligible, size_t n,
                                           hunch_choice *ret);
HUNCH_API hunch_status hunch_peek_among(hunch *h, const hunch_vec *x, const uint32_t *eligible, size_t n, uint64_t seed,
                                        hunch_choice *ret);
/* The K probabilities of the labels in the next hunch_predict_among; changes nothing that is saved. (lints and adabandit
 * draw random numbers before they choose; their probabilities are conditional on such a draw.) */
HUNCH_API hunch_status hunch_chances(hunch *h, const hunch_vec *x, const uint32_t *eligible, size_t n,
                                     double *ret_chances);
/* A retired label (retired 1) is never predicted and never greedy; it stays in the model, has scores and can be taught. 0
 * restores it. At least one label must remain active. The retired labels are saved with the model. */
HUNCH_API hunch_status hunch_retire(hunch *h, uint32_t label, int retired);
HUNCH_API int hunch_is_retired(const hunch *h, uint32_t label);
/* Learn whether the choice for x was right. Learners that need the true label (full_information below) learn from right
 * answers only; use hunch_teach for them. A probability below 1e-9 counts as 1e-9. */
HUNCH_API hunch_status hunch_feedback(hunch *h, const hunch_vec *x, const hunch_choice *choice, int right);
/* Learn from a round of another policy, which predicted label for x with probability prob, in (0,1], and got the feedback
 * right (0 or 1). Counts as a round and does not change the generator. The choice's greedy label is that of this learner.
 */
HUNCH_API hunch_status hunch_learn(hunch *h, const hunch_vec *x, uint32_t label, double prob, int right);
/* Act on a choice, or hand it over. In the long run the fraction `promise`, in (0,1), of the choices acted on is right, for
 * any drift and any quality of the confidence. hunch_act sets the bit HUNCH_ACT of *ret_mark if the confidence of a choice
 * that this learner has just made reaches the threshold of that promise. Keep the mark and pass it to hunch_acted with the
 * answer, now, later or never, also for choices that were handed over: the threshold adapts to the answers (adaptive
 * conformal inference). Call hunch_feedback in addition. A learner stores at most HUNCH_PROMISES promises, and saves them
 * with the model. */
#define HUNCH_ACT 1u
#define HUNCH_PROMISES 8
HUNCH_API hunch_status hunch_act(hunch *h, const hunch_choice *choice, double promise, uint32_t *ret_mark);
HUNCH_API hunch_status hunch_acted(hunch *h, double promise, uint32_t mark, int right);
/* Results of promise number i; returns the number of promises. */
typedef struct hunch_promise {
    double promise, threshold;
    uint64_t answers, acted, right; /* answers: to choices passed to hunch_act; right: of those acted on */
} hunch_promise;
HUNCH_API size_t hunch_get_promise(const hunch *h, size_t i, hunch_promise *ret);
/* Learn the true label of x. */
HUNCH_API hunch_status hunch_teach(hunch *h, const hunch_vec *x, uint32_t label);
/* Mark the following examples as repeated (a further pass over a table). The learner still learns from their answers, but
 * does not use them as evidence of its accuracy: for the detection of drift, comparisons of members, and calibration. 0 at
 * first; not saved. */
HUNCH_API void hunch_set_repeated(hunch *h, int repeated);
/* The K scores; the label with the largest one is greedy. Draws no random numbers and changes nothing. */
HUNCH_API hunch_status hunch_scores(const hunch *h, const hunch_vec *x, float *ret_scores);
/* The result of hunch_scores as K probabilities: the best label has its confidence, but at least 1/K; the others get the
 * rest in proportion to softmax(b scores), where b is chosen such that the best label has its probability. */
HUNCH_API hunch_status hunch_probabilities(const hunch *h, const float *scores, double *ret_probabilities);
/* The greedy label alone (ties to the lowest index). */
HUNCH_API hunch_status hunch_greedy(const hunch *h, const hunch_vec *x, uint32_t *ret_label);
/* Explain a label: by how much its score would decrease without each feature of x, in their order (x->n numbers); negative
 * for evidence against the label. Costs as much as x->n + 1 calls of hunch_scores; changes nothing. */
HUNCH_API hunch_status hunch_explain(const hunch *h, const hunch_vec *x, uint32_t label, float *ret_losses);

/* Set the role of a feature, if possible before the first example that has it; saved with the model. Examples may have
 * words, columns or both. Once a role was set, features without a role are columns until an example has words, and words
 * from then on. Without any roles, the learner decides from the first 256 examples. Learners without scale=auto ignore
 * roles. */
HUNCH_API hunch_status hunch_set_role(hunch *h, uint32_t feature, hunch_role role);

/* --- many rounds at a time --- */

/* Rows in CSR form (start has rows + 1 entries; row i is index[start[i]] .. index[start[i+1]-1]) or dense (index and
 * start NULL: row i begins at value[i * columns]). Borrowed for the call only. */
typedef struct hunch_batch {
    size_t rows;
    const int64_t *start;
    const uint32_t *index;
    const float *value;
    size_t columns;
} hunch_batch;

/* Progressive evaluation: for each row predict, compare with labels[i], and learn from one bit (full-information learners
 * learn from the true label). ret_choices (rows entries) may be NULL. The results equal those of single calls. On an error
 * the rows before the bad one have been learned; *ret_done, if not NULL, is their number. */
HUNCH_API hunch_status hunch_run_batch(hunch *h, const hunch_batch *batch, const uint32_t *labels,
                                       hunch_choice *ret_choices, size_t *ret_done);
/* Greedy labels and (rows x K, row by row) scores of a batch; either may be NULL. */
HUNCH_API hunch_status hunch_score_batch(const hunch *h, const hunch_batch *batch, uint32_t *ret_labels,
                                         float *ret_scores);

/* --- models as files and bytes --- */

/* Writes a temporary file next to path, syncs and renames it: path always has a complete model. */
HUNCH_API hunch_status hunch_save(const hunch *h, const char *path, hunch_error *reterr);
HUNCH_API hunch_status hunch_load(hunch **ret, const char *path, hunch_error *reterr);
/* The same bytes in memory. Free *ret_bytes with hunch_free_bytes. */
HUNCH_API hunch_status hunch_write(const hunch *h, void **ret_bytes, size_t *ret_size, hunch_error *reterr);
HUNCH_API hunch_status hunch_read(hunch **ret, const void *bytes, size_t size, hunch_error *reterr);
HUNCH_API void hunch_free_bytes(void *bytes);
/* Add what src has learned to dst. Both must have the same learner spec and classes. Counts are added; first-order
 * weights are averaged by rounds seen; learners that keep second moments add up information, A = A_1 + A_2 - prior and
 * A w = A_1 w_1 + A_2 w_2, in every form (cubic time in the features for full matrices); kept examples are concatenated.
 * Exact for learners whose state is a sum over examples. If matrix=auto has chosen different forms, the result has the
 * smaller one. merge(a, b) and merge(b, a) differ in those parts of the state that are not sums and remain dst's: the
 * retired labels, panel's champion and its counts, the directions of matrix=span, the examples that a kernel's budget
 * drops, and the generator. On failure dst does not change. */
HUNCH_API hunch_status hunch_merge(hunch *dst, const hunch *src);

/* Bytes stored with the model under a key of the caller: label names, feature names, or other data. Size 0 removes them. By
 * convention "labels" and "features" hold NUL-terminated names in order. */
HUNCH_API hunch_status hunch_set_meta(hunch *h, const char *key, const void *bytes, size_t size);
HUNCH_API const void *hunch_get_meta(const hunch *h, const char *key, size_t *ret_size); /* NULL: none */

/* --- properties of a learner --- */

HUNCH_API hunch_status hunch_add_classes(hunch *h, uint32_t more);
HUNCH_API uint32_t hunch_classes(const hunch *h);
HUNCH_API uint32_t hunch_features(const hunch *h);    /* largest feature seen + 1 */
HUNCH_API uint64_t hunch_rounds(const hunch *h);      /* predictions made */
HUNCH_API uint64_t hunch_bytes(const hunch *h);       /* size of the state in memory */
HUNCH_API const char *hunch_spec(const hunch *h);     /* full spec with defaults, valid for hunch_create */
HUNCH_API const char *hunch_form(const hunch *h);     /* the choice of matrix=auto ("full", "diag" ...); else "" */
HUNCH_API const char *hunch_reason(const hunch *h);   /* message of the last failed call */
HUNCH_API void hunch_reseed(hunch *h, uint64_t seed); /* of the learner and its members */

/* The learner's arrays by name: counters ("updates") and tensors ("W"). */
typedef struct hunch_tensor {
    const char *name;
    size_t rows, columns; /* e.g. features x classes; 1 x 1 for a counter */
} hunch_tensor;
HUNCH_API size_t hunch_tensors(const hunch *h, size_t i, hunch_tensor *ret); /* returns their number; ret may be NULL */
HUNCH_API hunch_status hunch_get(const hunch *h, const char *name, size_t row, size_t column, double *ret);

/* Reaction to drift. HUNCH_EUNSUPPORTED: the learner assumes a stationary stream. */
typedef struct hunch_drift {
    uint64_t restarts;     /* number of restarts because of increased errors */
    uint64_t last_restart; /* round of the last restart; 0: none */
    double forgetting;     /* current decay of the learner or of its leading member; 0: none */
} hunch_drift;
HUNCH_API hunch_status hunch_get_drift(const hunch *h, hunch_drift *ret);
/* Relevance weight of a feature in the feature map: 1 at first, smaller for irrelevant columns. HUNCH_EUNSUPPORTED: the
 * learner has no weights; HUNCH_EINVAL: unknown feature. */
HUNCH_API hunch_status hunch_get_weight(const hunch *h, uint32_t feature, double *ret);

/* --- the table of algorithms --- */

typedef enum hunch_setting_kind { HUNCH_REAL, HUNCH_INTEGER, HUNCH_CHOICE, HUNCH_TEXT } hunch_setting_kind;

typedef struct hunch_setting {
    const char *name;
    hunch_setting_kind kind;
    const char *fallback;       /* the default, as text */
    double low, high;           /* bounds of numbers, both included */
    const char *const *choices; /* for HUNCH_CHOICE, or words allowed instead of a number ("auto"); NULL at the end */
    const char *help;
} hunch_setting;

typedef struct hunch_algorithm {
    const char *name;
    const char *title; /* one line */
    const char *paper;
    int full_information;          /* 1: learns from the true label (hunch_teach) */
    const hunch_setting *settings; /* of this algorithm; name NULL at the end */
} hunch_algorithm;

/* Returns the number of algorithms; *ret (may be NULL) is the array. */
HUNCH_API size_t hunch_algorithms(const hunch_algorithm *const **ret);
HUNCH_API const hunch_setting *hunch_common_settings(void); /* those that every learner has */
HUNCH_API const hunch_algorithm *hunch_algorithm_of(const hunch *h);
HUNCH_API const char *hunch_default_learner(void);
HUNCH_API const char *hunch_version(void);
HUNCH_API const char *hunch_status_text(hunch_status status);

#ifdef __cplusplus
}
#endif
#endif
