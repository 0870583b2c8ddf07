/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a learner spec: refused with a reason, or a learner whose own spec reads back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hunch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error = {""};
    hunch *h = NULL, *again = NULL;
    char *spec = strndup((const char *)bytes, size);
    if (!spec)
        return 0;
    options.learner = spec;
    options.classes = 3;
    if (hunch_create(&h, &options, &error) == HUNCH_OK) {
        options.learner = hunch_spec(h);
        if (hunch_create(&again, &options, &error) != HUNCH_OK || strcmp(hunch_spec(h), hunch_spec(again)))
            abort();
    } else if (!error.message[0]) {
        abort();
    }
    hunch_free(again);
    hunch_free(h);
    free(spec);
    return 0;
}
