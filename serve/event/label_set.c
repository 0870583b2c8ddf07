/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "event/label_set.h"
#include "util/text.h"

char *label_set_write(const bool *in, uint32_t labels)
{
    struct text t = {0};
    text_puts(&t, "");
    for (uint32_t k = 0, end; k < labels; k = end + 1) {
        end = k;
        if (!in[k])
            continue;
        while (end + 1 < labels && in[end + 1])
            end++;
        text_printf(&t, end > k ? "%s%u-%u" : "%s%u", t.length ? "," : "", k, end);
    }
    char *text = t.failed || !t.data ? NULL : strdup(t.data);
    text_free(&t);
    return text;
}

/* A number below `most` at *at, which goes on behind it. */
static bool number_read(const char **at, uint32_t max, uint32_t *ret)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long v = strtoul(*at, &end, 10);
    *at = end;
    *ret = (uint32_t)v;
    return v < max;
}

/* The next range, from `from` on; false: the text is none. */
static bool range_read(const char **at, uint32_t from, uint32_t labels, uint32_t *ret_low, uint32_t *ret_high)
{
    if (!number_read(at, labels, ret_low) || *ret_low < from)
        return false;
    *ret_high = *ret_low;
    if (**at == '-' && (++*at, !number_read(at, labels, ret_high) || *ret_high <= *ret_low))
        return false;
    return **at == ',' ? *++*at != 0 : **at == 0;
}

bool label_set_read(const char *text, uint32_t labels, uint32_t **ret, size_t *ret_n)
{
    uint32_t *all = malloc((labels + !labels) * sizeof *all), low, high, from = 0;
    size_t n = 0;
    bool ok = all && *text;
    while (ok && *text && (ok = range_read(&text, from, labels, &low, &high))) {
        while (low <= high)
            all[n++] = low++;
        from = high + 1;
    }
    if (!ok) {
        free(all);
        return false;
    }
    *ret = all;
    *ret_n = n;
    return true;
}
