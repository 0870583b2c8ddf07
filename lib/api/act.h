/* SPDX-License-Identifier: BSD-3-Clause */
/* Act or hand over: thresholds of the confidence that keep a promise; docs/explanation/confidence.md has the rule and what was measured. */
#ifndef ACT_H
#define ACT_H

#include "state/state_bytes.h"

struct promise {
    hunch_promise known;
    double surest; /* a confidence that few choices reach */
};

struct promises {
    struct promise each[HUNCH_PROMISES];
    uint32_t n;
};

/* Promises of both are kept as long as there is room. */
void promises_merge(struct promises *dst, const struct promises *src);
void promises_put(struct writer *w, const struct promises *p);
hunch_status promises_take(struct reader *r, struct promises *ret, hunch_error *reterr);

#endif
