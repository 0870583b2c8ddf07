/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a label: the features that say most about it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"

#define EXPLAINED 10 /* features */

/* The strongest first; takes them out of losses. */
static void write_strongest(const struct model_state *s, const hunch_vec *x, float *losses, struct text *t)
{
    text_puts(t, "[");
    for (size_t i = 0; i < EXPLAINED && i < x->n; i++) {
        size_t best = 0, length;
        for (size_t j = 1; j < x->n; j++)
            best = fabsf(losses[j]) > fabsf(losses[best]) ? j : best;
        if (losses[best] == 0)
            break;
        char number[16];
        const char *name = number;
        if (s->dictionary.names)
            name = names_text(s->dictionary.names, x->index[best], &length);
        else
            length = (size_t)snprintf(number, sizeof number, "%u", x->index[best]);
        text_puts(t, i ? ",{\"feature\":" : "{\"feature\":");
        text_quote(t, name, length);
        text_puts(t, ",\"amount\":");
        text_number(t, (double)losses[best]);
        text_puts(t, "}");
        losses[best] = 0;
    }
    text_puts(t, "]");
}

/* Under the lock. */
static bool explain(struct model *m, const struct event *e, uint32_t label, float *losses, struct text *t,
                    struct http_error *err)
{
    const struct model_state *s = &m->state;
    hunch_vec v = event_vec(e);
    size_t length;
    hunch_status status = label == NO_LABEL ? hunch_greedy(s->learner, &v, &label) : HUNCH_OK;
    if (status == HUNCH_OK)
        status = hunch_explain(s->learner, &v, label, losses);
    if (status != HUNCH_OK)
        return http_error_no_memory(err);
    const char *name = names_text(s->labels, label, &length);
    text_puts(t, "\"label\":");
    text_quote(t, name, length);
    text_puts(t, ",\"explanation\":");
    write_strongest(s, &v, losses, t);
    return true;
}

bool model_explain(struct model *m, const struct example *x, const json_t *label, uint32_t known, struct text *t,
                   struct http_error *err)
{
    struct event *e = event_new(EVENT_DECISION, x->n, "", 0);
    float *losses = malloc((x->n + 1) * sizeof *losses);
    bool ok = (e && losses) || http_error_no_memory(err);
    pthread_mutex_lock(&m->lock);
    const char *broken = model_reason(m);
    ok = ok && (!*broken || http_error_set(err, 503, "model_broken", "%s", broken)) &&
         (!label || model_find_label(m, label, &known, err)) && state_recall(&m->state, x, e, err) &&
         explain(m, e, known, losses, t, err);
    pthread_mutex_unlock(&m->lock);
    free(losses);
    event_free(e);
    return ok;
}
