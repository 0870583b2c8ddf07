/* SPDX-License-Identifier: BSD-3-Clause */
#include "play/player.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"

hunch_status player_create(struct player *p, const hunch_options *options, hunch *loaded, hunch_error *reterr)
{
    struct player made = {.learner = loaded, .borrowed = loaded};
    hunch_error why;
    if (!tally_init(&made.tally))
        return error_memory(reterr);
    hunch_status status = loaded ? HUNCH_OK : hunch_create(&made.learner, options, &why);
    if (status) {
        tally_free(&made.tally);
        return error_set(reterr, status, "%s: %s", options->learner, why.message);
    }
    *p = made;
    return HUNCH_OK;
}

static hunch_status player_fail(const struct player *p, hunch_status status, hunch_error *reterr)
{
    return error_set(reterr, status, "%s: %s", hunch_spec(p->learner), hunch_reason(p->learner));
}

hunch_status player_classes(struct player *p, uint32_t classes, hunch_error *reterr)
{
    uint32_t known = hunch_classes(p->learner);
    hunch_status status = classes > known ? hunch_add_classes(p->learner, classes - known) : HUNCH_OK;
    return status ? player_fail(p, status, reterr) : HUNCH_OK;
}

hunch_status player_roles(struct player *p, const struct rows *rows, hunch_error *reterr)
{
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < rows->roles_n && !status; i++)
        status = hunch_set_role(p->learner, rows->roles[i].feature, rows->roles[i].role);
    return status ? player_fail(p, status, reterr) : HUNCH_OK;
}

hunch_status player_teach(struct player *p, const struct rows *rows, hunch_error *reterr)
{
    hunch_status status = player_roles(p, rows, reterr);
    if (status)
        return status;
    for (size_t i = 0; i < rows->n && !status; i++) {
        size_t from = (size_t)rows->start[i], n = (size_t)rows->start[i + 1] - from;
        hunch_vec x = {rows->columns ? NULL : rows->index + from, rows->value + from, n};
        status = hunch_teach(p->learner, &x, rows->label[i]);
    }
    return status ? player_fail(p, status, reterr) : HUNCH_OK;
}

void player_set_repeated(struct player *p, bool repeated)
{
    hunch_set_repeated(p->learner, repeated);
    p->tally.repeated = repeated;
}

/* Which choices would have been acted on; the thresholds do not affect learning, so they are updated after the batch. */
static hunch_status act(struct player *p, const hunch_choice *choices, const uint32_t *labels, size_t n)
{
    struct tally *t = &p->tally;
    hunch_status status = HUNCH_OK;
    for (size_t i = 0; i < n && !status; i++) {
        uint32_t mark;
        bool right = choices[i].label == labels[i];
        status = hunch_act(p->learner, &choices[i], t->act_at, &mark);
        if (!status)
            status = hunch_acted(p->learner, t->act_at, mark, right);
        t->acted += !status && mark & HUNCH_ACT;
        t->acted_right += !status && mark & HUNCH_ACT && right;
    }
    return status;
}

/* The labels that the row's first cell names, with | between them; none: all. */
static hunch_status eligible_read(const struct player *p, const struct rows *block, size_t row, uint32_t **inout,
                                  size_t *inout_room, size_t *ret_n, hunch_error *reterr)
{
    const char *cell = rows_cell(block, row, 0);
    *ret_n = 0;
    for (const char *end; cell && *rows_cell(block, row, 0); cell = *end ? end + 1 : NULL) {
        end = strchrnul(cell, '|');
        size_t length = (size_t)(end - cell), named = 0;
        uint32_t k = 0;
        for (; k < block->classes; k++) { /* names_find is for the reading thread */
            const char *name = names_text(p->eligible, k, &named);
            if (named == length && memcmp(name, cell, length) == 0)
                break;
        }
        if (k == block->classes) /* no row has had it yet: it cannot be shown */
            continue;
        if (!array_reserve(inout, inout_room, *ret_n + 1, sizeof **inout))
            return error_memory(reterr);
        (*inout)[(*ret_n)++] = k;
    }
    return *ret_n || !*rows_cell(block, row, 0)
               ? HUNCH_OK
               : error_set(reterr, HUNCH_EINVAL, "--eligible: no row so far has one of the labels \"%s\"",
                           rows_cell(block, row, 0));
}

/* What hunch_run_batch does, among the eligible labels of each row. */
static hunch_status play_among(struct player *p, const struct rows *block, size_t from, size_t n,
                               const uint32_t *revealed, hunch_choice *ret_choices, size_t *ret_done,
                               hunch_error *reterr)
{
    uint32_t *labels = NULL;
    size_t room = 0, some, i;
    bool full = hunch_algorithm_of(p->learner)->full_information;
    hunch_status status = HUNCH_OK;
    for (i = 0; i < n && !status; i++) {
        size_t begin = (size_t)block->start[from + i], end = (size_t)block->start[from + i + 1];
        hunch_vec x = {block->columns ? NULL : block->index + begin, block->value + begin, end - begin};
        status = eligible_read(p, block, from + i, &labels, &room, &some, reterr);
        if (status)
            break;
        status = hunch_predict_among(p->learner, &x, some ? labels : NULL, some, &ret_choices[i]);
        if (!status)
            status = full ? hunch_teach(p->learner, &x, revealed[i])
                          : hunch_feedback(p->learner, &x, &ret_choices[i], ret_choices[i].label == revealed[i]);
        if (status)
            player_fail(p, status, reterr);
    }
    free(labels);
    *ret_done = i;
    return status;
}

hunch_status player_play(struct player *p, const struct rows *block, const uint32_t *revealed, const atomic_bool *stop,
                         hunch_error *reterr)
{
    hunch_choice choices[PLAYER_ROWS];
    hunch_status status = HUNCH_OK;
    double began = clock_thread();
    status = player_roles(p, block, reterr);
    for (size_t from = 0; !status && from < block->n; from += PLAYER_ROWS) {
        if (stop && atomic_load_explicit(stop, memory_order_relaxed))
            break;
        size_t to = block->n - from > PLAYER_ROWS ? from + PLAYER_ROWS : block->n, done = 0;
        hunch_batch batch = rows_batch(block, from, to);
        const uint32_t *labels = block->label + from;
        if (p->eligible && block->cells.n) {
            status = play_among(p, block, from, to - from, revealed ? revealed + from : labels, choices, &done, reterr);
            if (status)
                return status;
        } else {
            status = hunch_run_batch(p->learner, &batch, revealed ? revealed + from : labels, choices, &done);
        }
        tally_count(&p->tally, choices, labels, done);
        if (!status && p->tally.act_at > 0 && !p->tally.repeated)
            status = act(p, choices, labels, done);
        if (p->watch)
            p->watch(p->context, &(struct player_rounds){p->number, p->run, block, from, done, choices, labels});
    }
    p->tally.seconds += clock_thread() - began;
    return status ? player_fail(p, status, reterr) : HUNCH_OK;
}

hunch_status player_finish(struct player *p, bool keep, struct outcome *ret, hunch_error *reterr)
{
    char *spec = strdup(hunch_spec(p->learner));
    if (!spec) {
        player_free(p);
        return error_memory(reterr);
    }
    tally_finish(&p->tally);
    *ret = (struct outcome){.spec = spec,
                            .tally = p->tally,
                            .test_mistakes = ret->test_mistakes,
                            .bytes = hunch_bytes(p->learner),
                            .classes = hunch_classes(p->learner),
                            .features = hunch_features(p->learner),
                            .learner = keep ? p->learner : NULL};
    if (!keep)
        hunch_free(p->learner);
    *p = (struct player){0};
    return HUNCH_OK;
}

void player_free(struct player *p)
{
    tally_free(&p->tally);
    if (!p->borrowed)
        hunch_free(p->learner);
    *p = (struct player){0};
}

void outcome_free(struct outcome *o)
{
    free(o->spec);
    tally_free(&o->tally);
    hunch_free(o->learner);
    *o = (struct outcome){0};
}
