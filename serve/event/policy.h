/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which side decides, and what it is compared with. The model decides, or the baseline: what the application does without it,
 * named in each request. While the model decides, a share of the requests may be a control: answered by the baseline, by
 * one fixed label or uniformly.
 *
 * The counts below are a function of the log like all others. They are reset when the policy changes.
 */
#ifndef SERVE_POLICY_H
#define SERVE_POLICY_H

#include <jansson.h>

#include "base/value_bounds.h"
#include "event/event.h"
#include "stream.h"
#include "util/http_error.h"
#include "util/text.h"

#define LABEL_MAX_BYTES 256 /* of a label's name */

enum control { CONTROL_BASELINE, CONTROL_UNIFORM, CONTROL_LABEL };

struct policy {
    bool baseline_decides;
    double control_share; /* 0: no control */
    enum control control;
    char label[LABEL_MAX_BYTES + 1]; /* CONTROL_LABEL */
};

/* Members "decides" and "control" of an object; those that it does not have stay as they are. */
bool policy_read(struct policy *inout, const json_t *json, struct http_error *err);
/* "decides":...,"control":..., without braces */
void policy_write(const struct policy *p, struct text *t);
/* Whether its label is one of the model's. */
bool policy_label_ok(const struct policy *p, const struct names *labels, struct http_error *err);
bool policy_equal(const struct policy *a, const struct policy *b);

/* One kind of decision and the answers to it. */
struct side {
    uint64_t decisions;
    struct value_bounds value;
};

struct comparison {
    uint64_t since;       /* decisions after this place count */
    struct side baseline; /* its decisions, logged or shown while it decides */
    struct side instead;  /* of those: where the model would have shown the same, and what would have come of that */
    struct side model;    /* its decisions while there is a control, */
    struct side control;  /* and those of the control */
};

void comparison_decision(struct comparison *c, const struct policy *p, const struct event *decision);
void comparison_answer(struct comparison *c, const struct policy *p, const struct event *decision, bool right);
/* {...}, for people; confidence 0.95. */
void comparison_describe(const struct comparison *c, struct text *t);
/* As part of a snapshot, bit by bit. */
void comparison_write(const struct comparison *c, struct text *t);
bool comparison_read(struct comparison *ret, const json_t *array);

#endif
