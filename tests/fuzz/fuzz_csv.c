/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* the last bit of the first byte chooses the delimiter */
    return size ? fuzz_text(bytes[0] & 1 ? &format_csv : &format_tsv, bytes + 1, size - 1) : 0;
}
