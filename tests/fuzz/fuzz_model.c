/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a model, with the checksum made right so that the reader behind it is reached: no crash, no leak, and
 * what is accepted can be used and written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "hunch.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use(hunch *h)
{
    uint32_t index[] = {0, 3, 9};
    float value[] = {1, -0.5f, 2};
    hunch_vec x = {index, value, 3};
    hunch_choice c;
    void *again;
    size_t n;
    if (hunch_predict(h, &x, &c) == HUNCH_OK)
        (void)hunch_feedback(h, &x, &c, 1);
    if (hunch_write(h, &again, &n, NULL) == HUNCH_OK)
        hunch_free_bytes(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    hunch *h = NULL;
    char *copy = malloc(size + 8);
    if (!copy)
        return 0;
    memcpy(copy, bytes, size);
    uint64_t sum = XXH3_64bits(copy, size);
    memcpy(copy + size, &sum, 8);
    if (hunch_read(&h, copy, size + 8, NULL) == HUNCH_OK) {
        if (hunch_bytes(h) < (64u << 20))
            use(h);
        hunch_free(h);
    }
    free(copy);
    return 0;
}
