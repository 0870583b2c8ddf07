/* SPDX-License-Identifier: BSD-3-Clause */
/* Labels in an order that does not depend on that of the rows: sorted, if all of them are numbers. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "stream_private.h"
#include "stream_state.h"

struct ranked {
    const char *text;
    uint32_t was;
    double number;
};

static int ranked_compare(const void *a, const void *b)
{
    const struct ranked *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return strcmp(left->text, right->text);
}

/* false: the labels are not all numbers, or are in order. */
static bool rank_make(const struct names *names, struct ranked *ranked)
{
    uint32_t n = names_count(names);
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        const char *text = names_text(names, i, NULL);
        ranked[i] = (struct ranked){text, i, 0};
        if (!number_is(text, &ranked[i].number))
            return false;
        sorted = sorted && (!i || ranked_compare(&ranked[i - 1], &ranked[i]) < 0);
    }
    if (!sorted)
        qsort(ranked, n, sizeof *ranked, ranked_compare);
    return !sorted;
}

/* Number the labels by their rank from now on. */
static hunch_status rank_take(struct stream *s, const struct ranked *ranked, uint32_t n, uint32_t **ret,
                              hunch_error *reterr)
{
    struct names *labels = names_new();
    uint32_t *number = malloc((n + (size_t)1) * sizeof *number);
    bool good = labels && number;
    for (uint32_t i = 0; good && i < n; i++) {
        number[ranked[i].was] = i;
        good = names_add(labels, ranked[i].text, strlen(ranked[i].text)) != NAMES_NONE;
    }
    uint64_t *counts = good ? calloc(s->label_rows_n + 1, sizeof *counts) : NULL;
    good = counts;
    if (!good) {
        names_free(labels);
        free(number);
        return error_memory(reterr);
    }
    for (uint32_t i = 0; i < n && i < s->label_rows_n; i++)
        counts[i] = ranked[i].was < s->label_rows_n ? s->label_rows[ranked[i].was] : 0;
    free(s->label_rows);
    s->label_rows = counts;
    names_free(s->parser.labels);
    s->parser.labels = labels;
    memset(s->parser.label_slots, 0, sizeof s->parser.label_slots);
    hunch_status status = stream_map_labels(s, reterr); /* what a cache's map to has moved, or it needs a map now */
    if (status)
        free(number);
    else
        *ret = number;
    return status;
}

hunch_status stream_sort_labels(struct stream *s, uint32_t **ret, hunch_error *reterr)
{
    uint32_t n = names_count(s->parser.labels), *number = NULL;
    hunch_status status = HUNCH_OK;
    struct ranked *ranked = s->options.labels ? NULL : malloc((n + (size_t)1) * sizeof *ranked);
    if (!ranked && !s->options.labels)
        return error_memory(reterr);
    if (ranked && rank_make(s->parser.labels, ranked))
        status = rank_take(s, ranked, n, &number, reterr);
    free(ranked);
    if (!status)
        *ret = number;
    return status;
}

hunch_status stream_settle(struct stream *s, hunch_error *reterr)
{
    uint32_t *number;
    hunch_status status = stream_sort_labels(s, &number, reterr);
    for (size_t i = 0; i < s->ahead_n && !status; i++) {
        struct rows *rows = &s->ahead[i];
        for (size_t j = 0; number && j < rows->n; j++)
            if (rows->label[j] != STREAM_NO_LABEL)
                rows->label[j] = number[rows->label[j]];
        rows->classes = names_count(s->parser.labels);
        rows->width = s->width;
    }
    if (!status)
        free(number);
    return status;
}
