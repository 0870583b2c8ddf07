/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/history.h"

static const struct {
    const char *name;
    int64_t width_ms;
    size_t slices; /* shown */
} spans[SPANS] = {
    {"minutes", 5 * 1000, 180},         /* 15 minutes in slices of 5 s */
    {"day", 5 * 60 * 1000, 288},        /* 24 hours in slices of 5 min */
    {"month", 2 * 60 * 60 * 1000, 360}, /* 30 days in slices of 2 h */
};

static const double bounds[DELAY_BOUNDS] = {0.1, 1, 5, 15, 60, 300, 900, 3600, 14400, 43200, 86400, 259200};

double history_delay_bound(size_t i)
{
    return bounds[i];
}

bool history_span(const char *name, size_t *ret)
{
    for (size_t i = 0; i < SPANS; i++) {
        if (strcmp(name, spans[i].name) == 0) {
            *ret = i;
            return true;
        }
    }
    return false;
}

void history_free(struct history *h)
{
    for (size_t i = 0; i < SPANS; i++)
        for (size_t j = 0; j < SLICES / BLOCK; j++)
            free(h->blocks[i][j]);
}

/* The slice of that number; NULL: nothing has happened then, or it is long ago. */
static const struct slice *slice_find(const struct history *h, size_t span, int64_t number)
{
    const struct slice *block = h->blocks[span][number % SLICES / BLOCK];
    const struct slice *s = block ? &block[number % BLOCK] : NULL;
    return s && s->number == number ? s : NULL;
}

/* To be counted in; NULL: it is older than what is kept, or there is no memory for it. */
static struct slice *slice_at(struct history *h, size_t span, int64_t time_ms)
{
    int64_t number = time_ms / spans[span].width_ms;
    struct slice **block = &h->blocks[span][number % SLICES / BLOCK];
    if (!*block && !(*block = calloc(BLOCK, sizeof **block)))
        return NULL;
    struct slice *s = &(*block)[number % BLOCK];
    if (s->number > number)
        return NULL;
    if (s->number != number)
        *s = (struct slice){.number = number};
    return s;
}

static void window_add(struct window *w, bool hit)
{
    if (w->n == WINDOW)
        w->hits -= w->hit[w->at];
    else
        w->n++;
    w->hit[w->at] = hit;
    w->hits += hit;
    w->at = (w->at + 1) % WINDOW;
}

double window_share(const struct window *w)
{
    return w->n ? (double)w->hits / (double)w->n : NAN;
}

void history_decision(struct history *h, int64_t time_ms, bool explored)
{
    for (size_t i = 0; i < SPANS; i++) {
        struct slice *s = slice_at(h, i, time_ms);
        if (s) {
            s->decisions++;
            s->explored += explored;
        }
    }
    window_add(&h->explored, explored);
}

void history_answer(struct history *h, int64_t time_ms, int64_t delay_ms, bool right)
{
    double delay = delay_ms > 0 ? (double)delay_ms / 1000 : 0;
    size_t b = 0;
    for (size_t i = 0; i < SPANS; i++) {
        struct slice *s = slice_at(h, i, time_ms);
        if (s) {
            s->answers++;
            s->wrong += !right;
            s->delay_s += delay;
        }
    }
    window_add(&h->wrong, !right);
    while (b < DELAY_BOUNDS && delay > bounds[b])
        b++;
    h->delays[b]++;
    h->delay_sum_s += delay;
    h->delay_n++;
}

static double recent_error(const struct history *h, size_t span, int64_t slices, int64_t now_ms)
{
    int64_t last = now_ms / spans[span].width_ms;
    uint64_t answers = 0, wrong = 0;
    for (int64_t i = last - slices + 1; i <= last; i++) {
        const struct slice *s = slice_find(h, span, i);
        if (s) {
            answers += s->answers;
            wrong += s->wrong;
        }
    }
    return answers ? (double)wrong / (double)answers : NAN;
}

double history_error_hour(const struct history *h, int64_t now_ms)
{
    return recent_error(h, 1, 12, now_ms);
}

double history_error_week(const struct history *h, int64_t now_ms)
{
    return recent_error(h, 2, 84, now_ms);
}

static void delays_write(const struct history *h, struct text *t)
{
    text_puts(t, "\"delays\":[");
    for (size_t i = 0; i <= DELAY_BOUNDS; i++) {
        text_puts(t, i ? ",{\"upto_s\":" : "{\"upto_s\":");
        if (i < DELAY_BOUNDS)
            text_number(t, bounds[i]);
        else
            text_puts(t, "null");
        text_printf(t, ",\"answers\":%llu}", (unsigned long long)h->delays[i]);
    }
    text_puts(t, "]");
}

void history_write(const struct history *h, size_t span, int64_t now_ms, struct text *t)
{
    int64_t width = spans[span].width_ms, last = now_ms / width, n = (int64_t)spans[span].slices;
    bool first = true;
    text_printf(t, "\"span\":\"%s\",\"slice_ms\":%lld,\"from_ms\":%lld,\"now_ms\":%lld,\"slices\":[", spans[span].name,
                (long long)width, (long long)((last - n + 1) * width), (long long)now_ms);
    for (int64_t i = last - n + 1; i <= last; i++) {
        const struct slice *s = slice_find(h, span, i);
        if (!s)
            continue;
        text_printf(
            t, "%s{\"at_ms\":%lld,\"decisions\":%u,\"explored\":%u,\"answers\":%u,\"wrong\":%u,\"delay_s\":%.3f}",
            first ? "" : ",", (long long)(i * width), s->decisions, s->explored, s->answers, s->wrong, s->delay_s);
        first = false;
    }
    text_puts(t, "],");
    delays_write(h, t);
}
