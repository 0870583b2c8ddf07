/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few forms of JSON that arrive thousands of times a second, read in one pass over the text without building a tree.
 * These functions accept the plain forms only and return false for everything else, valid or not: the parser handles
 * that and reports errors. The parser reads whatever they accept in the same way; the fuzzer compares the two.
 */
#ifndef SERVE_JSON_FAST_H
#define SERVE_JSON_FAST_H

#include "event/example.h"

/* The feedback to a decision in a request. */
struct feedback_input {
    uint64_t seq, key; /* the decision's id */
    bool right;
    bool labelled; /* the true label instead of `right` */
    bool silent;   /* given by the server, since no feedback arrived in time */
    bool activate; /* no answer: the decision has been shown */
    const char *label;
    size_t label_length;
};

/* {"id":"...","right":true} or {"id":"...","label":"..."}; borrows the text. */
bool json_fast_feedback(struct feedback_input *ret, const char *text, size_t length);
/* {"user=42":1,"hour":0.7,"weekend":true}; borrows the text. */
bool json_fast_example(struct example *ret, const char *text, size_t length, const struct settings *settings);
/* {"x":{...}} with such an example. */
bool json_fast_predict(struct example *ret, const char *text, size_t length, const struct settings *settings);

#endif
