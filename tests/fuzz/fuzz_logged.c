/* SPDX-License-Identifier: BSD-3-Clause */
/* Logs of rounds: the first byte chooses the format and whether bad rows are skipped, the rest is the file. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/logged.h"

static void rows_read(const char *path, const struct logged_options *options)
{
    struct logged *l;
    struct logged_row row;
    hunch_error error;
    bool more = true;
    if (logged_open(&l, &path, 1, options, &error))
        return;
    while (more && !logged_next(l, &row, &more, &error)) {
        if (!more)
            break;
        if (!(row.prob >= 0 && row.prob <= 1) || (row.label == LOGGED_NONE && row.truth == LOGGED_NONE) ||
            (row.label != LOGGED_NONE && row.label >= names_count(logged_labels(l))))
            abort();
        for (size_t i = 0; i < row.x.n; i++)
            if (row.x.index[i] >= logged_width(l) || (i && row.x.index[i] <= row.x.index[i - 1]))
                abort();
    }
    logged_close(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct logged_options options = {0};
    char path[64];
    if (size == 0)
        return 0;
    static const enum stream_format formats[] = {STREAM_AUTO,  STREAM_TSV, STREAM_CSV,
                                                 STREAM_JSONL, STREAM_VW,  STREAM_AUTO};
    options.stream.format = formats[bytes[0] % 6];
    options.server = bytes[0] % 6 == 5;
    options.stream.skip_bad_rows = bytes[0] & 64;
    options.stream.numbered = bytes[0] & 128;
    int fd = memfd_create("log", MFD_CLOEXEC);
    if (fd < 0 || write(fd, bytes + 1, size - 1) != (ssize_t)(size - 1))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    rows_read(path, &options);
    close(fd);
    return 0;
}
