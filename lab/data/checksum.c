/* SPDX-License-Identifier: BSD-3-Clause */
#include "data/checksum.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "stream.h"

#define BLOCK ((size_t)1 << 18)

void checksum_text(struct sha256_ctx *context, char ret[CHECKSUM_TEXT])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

static hunch_status raw_add(struct sha256_ctx *sum, const char *path, char *buffer, hunch_error *reterr)
{
    FILE *file = fopen(path, "rb");
    size_t got = 0;
    if (!file)
        return error_set(reterr, HUNCH_EINVAL, "%s: %s", path, strerror(errno));
    while ((got = fread(buffer, 1, BLOCK, file)) > 0)
        sha256_update(sum, got, (const uint8_t *)buffer);
    hunch_status status = ferror(file) ? error_set(reterr, HUNCH_EIO, "%s: %s", path, strerror(errno)) : HUNCH_OK;
    fclose(file);
    return status;
}

static hunch_status unpacked_add(struct sha256_ctx *sum, const char *path, char *buffer, hunch_error *reterr)
{
    struct input *in;
    size_t got = 1;
    hunch_status status = input_open(&in, path, false, reterr);
    if (status)
        return status;
    while (!status && got) {
        status = input_read(in, buffer, BLOCK, &got, reterr);
        if (!status)
            sha256_update(sum, got, (const uint8_t *)buffer);
    }
    input_close(in);
    return status;
}

hunch_status checksum_file(const char *path, bool unpacked, char ret[CHECKSUM_TEXT], hunch_error *reterr)
{
    struct sha256_ctx sum;
    char *buffer = malloc(BLOCK);
    sha256_init(&sum);
    hunch_status status = !buffer    ? error_memory(reterr)
                          : unpacked ? unpacked_add(&sum, path, buffer, reterr)
                                     : raw_add(&sum, path, buffer, reterr);
    free(buffer);
    if (!status)
        checksum_text(&sum, ret);
    return status;
}
