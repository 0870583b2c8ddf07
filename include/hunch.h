/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libhunch: online multiclass learning when all one is ever told is "right" or "wrong".
 *
 * Each round an example x arrives, one of K labels is shown, and one bit comes back:
 *
 *     hunch_options options = HUNCH_OPTIONS_INIT;
 *     options.learner = "confidit:eta=0.1";
 *     options.classes = 9;
 *     hunch_create(&h, &options, &error);
 *     hunch_predict(h, &x, &choice);          // choice.label is what to show
 *     hunch_feedback(h, &x, &choice, right);  // now, later, or never
 *
 * Rules that hold everywhere:
 *   - Every call that can fail returns a hunch_status; 0 is success. A failed call changes nothing and
 *     leaves its out-parameters untouched. hunch_reason() tells what was wrong with the last call on a learner.
 *   - x and the choice are handed back by the caller, so a learner holds no pending rounds: late, lost, repeated
 *     and reordered feedback are ordinary cases.
 *   - One learner serves one thread at a time; there is no global state, so different learners may run in
 *     different threads. Calls that take a const hunch * may run together.
 *   - The generator lives in the learner and in the saved model: same seed and same calls give the same bytes,
 *     and save, load, go on equals never having stopped.
 *   - The library never prints, never exits, and opens no files but those named to hunch_save and hunch_load.
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

/* Every status, once: name, number, what it means. */
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

/* A readable reason; owned by the caller, who may pass NULL where one is asked for. */
typedef struct hunch_error {
    char message[256];
} hunch_error;

typedef struct hunch hunch; /* a learner */

/* One example, borrowed for the call only. index NULL: dense, value[i] belongs to feature i. Otherwise indices are
 * strictly increasing. No value is larger than HUNCH_MAX_VALUE, either way. Features never seen before are welcome: the
 * learner grows. */
typedef struct hunch_vec {
    const uint32_t *index;
    const float *value;
    size_t n;
} hunch_vec;

/* One answer: plain data to keep, send or store until the feedback comes. */
typedef struct hunch_choice {
    uint64_t round;    /* number of this prediction in the learner's life, from 1 */
    double prob;       /* the chance that label was given, in (0,1] */
    uint32_t label;    /* the label to show, 0 .. K-1 */
    uint32_t greedy;   /* the label with the largest score */
    uint32_t note;     /* a remark of the learner's to itself (say, that it explored): hand it back as it was */
    float margin;      /* by how much the label's score exceeds the best other's, below 0: falls short; 0: not known */
    double confidence; /* the chance that the label is right: the share of right answers of late at such margins */
} hunch_choice;

/* What a learner is made of. Start from HUNCH_OPTIONS_INIT; the size lets the struct grow in later versions. */
typedef struct hunch_options {
    size_t size;
    const char *learner;   /* "name" or "name:setting=value,..."; NULL: the default learner */
    uint32_t classes;      /* K, at least 1; hunch_add_classes adds more later */
    uint32_t features;     /* how many features to make room for at once; 0: grow as they come */
    uint32_t max_features; /* refuse larger indices than this allows; 0: HUNCH_MAX_FEATURES */
    uint64_t seed;         /* of the learner's generator */
    uint64_t memory;       /* bytes that full matrices may take before matrix=auto chooses something smaller;
                              0: 256 MiB */
} hunch_options;

#define HUNCH_MAX_FEATURES (1u << 26)
#define HUNCH_MAX_CLASSES (1u << 20)
/* Larger values, of either sign, are refused. Squares of those that are accepted, summed over all features that there
 * can be or over as many rounds as a float can count, stay far from a float's end, so that no example ever turns a
 * learner's numbers to infinity. */
#define HUNCH_MAX_VALUE 1e13f
#define HUNCH_OPTIONS_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(hunch_options), NULL, 2, 0, 0, 0, 0                                                                     \
    }

/* --- one round at a time --- */

HUNCH_API hunch_status hunch_create(hunch **ret, const hunch_options *options, hunch_error *reterr);
HUNCH_API void hunch_free(hunch *h); /* NULL is fine */

/* Choose a label for x; may explore, so it draws from the generator and counts a round. */
HUNCH_API hunch_status hunch_predict(hunch *h, const hunch_vec *x, hunch_choice *ret);
/* A prediction in two halves, for who keeps several learners alike by a log of what happened. hunch_peek: what
 * hunch_predict would choose if it drew from seed, without a trace: nothing that is saved changes. hunch_observe: the
 * choice, made by this learner or one like it, counts as a round. Both together change what hunch_predict changes, but
 * for the generator, which they leave as it was. */
HUNCH_API hunch_status hunch_peek(hunch *h, const hunch_vec *x, uint64_t seed, hunch_choice *ret);
HUNCH_API hunch_status hunch_observe(hunch *h, const hunch_vec *x, const hunch_choice *choice);
/* Tell whether the choice made for x was right. Learners that need the true label (full_information below) learn
 * from right answers only; use hunch_teach for them. */
HUNCH_API hunch_status hunch_feedback(hunch *h, const hunch_vec *x, const hunch_choice *choice, int right);
/* Learn from a round that another policy played: it showed label for x with the chance prob, in (0,1], and right (0 or
 * 1) came back. Counts as a round and leaves the generator as it was; the learner's own greedy label is what it would
 * have been. */
HUNCH_API hunch_status hunch_learn(hunch *h, const hunch_vec *x, uint32_t label, double prob, int right);
/* Tell the true label of x, when someone knows it. */
HUNCH_API hunch_status hunch_teach(hunch *h, const hunch_vec *x, uint32_t label);
/* The K scores whose largest is the greedy label. Draws nothing and changes nothing. */
HUNCH_API hunch_status hunch_scores(const hunch *h, const hunch_vec *x, float *ret_scores);
/* What hunch_scores gave for an example as K chances: the largest score's is the confidence that it would be chosen
 * with, but at least 1/K; the others share the rest as softmax(b scores) does, where b gives the largest its chance. */
HUNCH_API hunch_status hunch_probabilities(const hunch *h, const float *scores, double *ret_probabilities);
/* The greedy label alone (ties to the lowest index). */
HUNCH_API hunch_status hunch_greedy(const hunch *h, const hunch_vec *x, uint32_t *ret_label);

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

/* Progressive evaluation: for each row predict, compare with labels[i], give one bit back (the true label to
 * full-information learners). ret_choices (rows entries) may be NULL. The same numbers as row by row, faster. On an
 * error the rows before the bad one have been learned and *ret_done, when not NULL, tells how many. */
HUNCH_API hunch_status hunch_run_batch(hunch *h, const hunch_batch *batch, const uint32_t *labels,
                                       hunch_choice *ret_choices, size_t *ret_done);
/* Greedy labels and (rows x K, row by row) scores of a batch; either may be NULL. */
HUNCH_API hunch_status hunch_score_batch(const hunch *h, const hunch_batch *batch, uint32_t *ret_labels,
                                         float *ret_scores);

/* --- models as files and bytes --- */

/* Written to a temporary file beside path, synced, then renamed: path holds the old model or the new one, never half.
 */
HUNCH_API hunch_status hunch_save(const hunch *h, const char *path, hunch_error *reterr);
HUNCH_API hunch_status hunch_load(hunch **ret, const char *path, hunch_error *reterr);
/* The same bytes in memory. *ret_bytes is to be freed with hunch_free_bytes. */
HUNCH_API hunch_status hunch_write(const hunch *h, void **ret_bytes, size_t *ret_size, hunch_error *reterr);
HUNCH_API hunch_status hunch_read(hunch **ret, const void *bytes, size_t size, hunch_error *reterr);
HUNCH_API void hunch_free_bytes(void *bytes);
/* Add what src has learned to dst. Both must have the same learner spec and classes. Counts are added; first-order
 * weights are averaged by rounds seen; learners that keep second moments add up information, A = A_1 + A_2 - prior and
 * A w = A_1 w_1 + A_2 w_2, in every form (full matrices take the cube of the features in time); kept examples follow
 * one another. Exact for learners whose state is a sum over examples. Two that matrix=auto has brought to different
 * forms are merged in the smaller one. On failure dst has learned nothing. */
HUNCH_API hunch_status hunch_merge(hunch *dst, const hunch *src);

/* Bytes kept with the model under a name of the caller's: label names, feature names, anything. Setting size 0
 * removes. By convention "labels" and "features" hold NUL-terminated names in order. */
HUNCH_API hunch_status hunch_set_meta(hunch *h, const char *key, const void *bytes, size_t size);
HUNCH_API const void *hunch_get_meta(const hunch *h, const char *key, size_t *ret_size); /* NULL: none */

/* --- what a learner is --- */

HUNCH_API hunch_status hunch_add_classes(hunch *h, uint32_t more);
HUNCH_API uint32_t hunch_classes(const hunch *h);
HUNCH_API uint32_t hunch_features(const hunch *h);    /* largest feature seen + 1 */
HUNCH_API uint64_t hunch_rounds(const hunch *h);      /* predictions made */
HUNCH_API uint64_t hunch_bytes(const hunch *h);       /* memory that the state takes */
HUNCH_API const char *hunch_spec(const hunch *h);     /* full spec, defaults included, as create would take it */
HUNCH_API const char *hunch_form(const hunch *h);     /* what matrix=auto came to ("full", "diag" ...); else "" */
HUNCH_API const char *hunch_reason(const hunch *h);   /* what was wrong with the last call that failed */
HUNCH_API void hunch_reseed(hunch *h, uint64_t seed); /* of the learner, and from it of learners within */

/* The learner's numbers, by name: counters ("updates") and tensors ("W"). */
typedef struct hunch_tensor {
    const char *name;
    size_t rows, columns; /* e.g. features x classes; 1 x 1 for a counter */
} hunch_tensor;
HUNCH_API size_t hunch_tensors(const hunch *h, size_t i, hunch_tensor *ret); /* how many there are; ret may be NULL */
HUNCH_API hunch_status hunch_get(const hunch *h, const char *name, size_t row, size_t column, double *ret);

/* How a learner has followed its stream. HUNCH_EUNSUPPORTED: it takes the stream to be always the same. */
typedef struct hunch_drift {
    uint64_t restarts;     /* how often it began anew because errors became too many */
    uint64_t last_restart; /* the round of the last time; 0: there was none */
    double
        forgetting; /* in force: the decay of the learner, or of the one within that leads; 0: nothing is forgotten */
} hunch_drift;
HUNCH_API hunch_status hunch_get_drift(const hunch *h, hunch_drift *ret);
/* How much a feature of the examples counts where the learner draws curves: 1 at first, less for columns that say
 * nothing. HUNCH_EUNSUPPORTED: it weighs none; HUNCH_EINVAL: it has not seen this one. */
HUNCH_API hunch_status hunch_get_weight(const hunch *h, uint32_t feature, double *ret);

/* --- the table of algorithms --- */

typedef enum hunch_setting_kind { HUNCH_REAL, HUNCH_INTEGER, HUNCH_CHOICE, HUNCH_TEXT } hunch_setting_kind;

typedef struct hunch_setting {
    const char *name;
    hunch_setting_kind kind;
    const char *fallback;       /* the default, as text */
    double low, high;           /* bounds of numbers, both included */
    const char *const *choices; /* of HUNCH_CHOICE, or words that may stand for a number ("auto"); NULL at the end */
    const char *help;
} hunch_setting;

typedef struct hunch_algorithm {
    const char *name;
    const char *title; /* one line */
    const char *paper;
    int full_information;          /* 1: learns from the true label (hunch_teach) */
    const hunch_setting *settings; /* its own, name NULL at the end */
} hunch_algorithm;

/* How many there are; *ret (may be NULL) is the array of them. */
HUNCH_API size_t hunch_algorithms(const hunch_algorithm *const **ret);
HUNCH_API const hunch_setting *hunch_common_settings(void); /* those that every learner takes */
HUNCH_API const hunch_algorithm *hunch_algorithm_of(const hunch *h);
HUNCH_API const char *hunch_default_learner(void);
HUNCH_API const char *hunch_version(void);
HUNCH_API const char *hunch_status_text(hunch_status status);

#ifdef __cplusplus
}
#endif
#endif
