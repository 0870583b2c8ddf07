/* SPDX-License-Identifier: BSD-3-Clause */
/* SHA-256 of files. Nettle does it: libarchive, which reads compressed data here, brings it along already. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#include <stdbool.h>

#include <nettle/sha2.h>

#include "hunch.h"

#define CHECKSUM_TEXT (2 * SHA256_DIGEST_SIZE + 1)

void checksum_text(struct sha256_ctx *context, char ret[CHECKSUM_TEXT]); /* ends the sum */
/* Of the file, or (unpacked) of what is in a compressed one. */
hunch_status checksum_file(const char *path, bool unpacked, char ret[CHECKSUM_TEXT], hunch_error *reterr);

#endif
