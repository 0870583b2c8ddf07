/* SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    return fuzz_text(&format_arff, bytes, size);
}
