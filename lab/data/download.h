/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files from the web (libcurl), whole or not at all: written to path.part, checked, synced, then renamed.
 *
 * When the connection is cut the part stays, and the next call goes on from there if the server still has the same
 * file (If-Range with its date). After any other failure nothing stays.
 */
#ifndef DOWNLOAD_H
#define DOWNLOAD_H

#include <stdatomic.h>

#include "data/checksum.h"

struct download_options {
    const char *sha256;                                             /* expected; NULL: not known */
    const atomic_bool *stop;                                        /* may be NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total); /* total 0: not known; may be NULL */
    void *context;
};

struct download {
    uint64_t bytes;   /* of the file */
    uint64_t resumed; /* of them from an earlier attempt */
    char sha256[CHECKSUM_TEXT];
};

/* HUNCH_EIO: the network, the server or the disk; HUNCH_EINVAL: it is another file than expected. */
hunch_status download_file(const char *url, const char *path, const struct download_options *options,
                           struct download *ret, hunch_error *reterr);

#endif
