/* SPDX-License-Identifier: BSD-3-Clause */
/* What one item of a request's body asks for. The plain forms are read by json_fast, everything else by the parser; the
 * choice is made here and nowhere else. */
#ifndef SERVE_ITEMS_H
#define SERVE_ITEMS_H

#include "event/body.h"
#include "event/example.h"
#include "event/json_fast.h"
#include "event/row_reader.h"

/* What the model makes of examples. */
struct reading {
    const struct settings *settings;
    struct row_reader *rows; /* NULL: it has no schema */
};

struct item_predict {
    struct example x;
    bool scores, durable, probabilities;
    const json_t *eligible, *exclude; /* arrays; NULL: not given */
    const char *given_id;             /* "event"; NULL: not given */
    const json_t *baseline;           /* the label that the application would show, or has shown; NULL: not given */
    double baseline_chance;           /* of that; 0: not given */
    bool deferred;
    double act_at; /* 0: not given */
};

/* Of an example or of a decision. */
struct item_explain {
    bool decided; /* id instead of x */
    struct feedback_input id;
    struct example x;
    const json_t *label; /* NULL: not given */
};

struct item_teach {
    struct example x;
    const char *label;
    size_t label_length;
    char number[24];
};

/* Each borrows from the item, which must outlive it; free the example of what was read. */
bool item_read_predict(struct item_predict *ret, struct body_item *item, const struct reading *how,
                       struct http_error *err);
/* A decision that the application has made: its label is `baseline`. */
bool item_read_logged(struct item_predict *ret, struct body_item *item, const struct reading *how,
                      struct http_error *err);
/* {"x":...} or {"row":...} alone. */
bool item_read_example(struct example *ret, struct body_item *item, const struct reading *how, struct http_error *err);
bool item_read_explain(struct item_explain *ret, struct body_item *item, const struct reading *how,
                       struct http_error *err);
bool item_read_teach(struct item_teach *ret, struct body_item *item, const struct reading *how, struct http_error *err);
/* number: room for a label that was written as a number. */
bool item_read_activation(struct feedback_input *ret, struct body_item *item, struct http_error *err);
bool item_read_feedback(struct feedback_input *ret, char number[24], struct body_item *item, struct http_error *err);

#endif
