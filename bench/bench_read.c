/* SPDX-License-Identifier: BSD-3-Clause */
/* What reading costs, and nothing else: the CPU time of one thread from the file's first byte to its last row, the best
 * of TURNS. Usage: bench_read FILE ... (reading.py makes some) */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "stream.h"

#define TURNS 9

/* Seconds; 0: it failed. */
static double file_read(const char *path, uint64_t *ret_rows)
{
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct stream *s;
    struct rows rows = {0};
    hunch_error error;
    double begin = clock_thread();
    hunch_status status = stream_open(&s, &path, 1, &options, &error);
    if (!status) {
        do
            status = stream_next(s, &rows, &error);
        while (!status && rows.n);
        *ret_rows = stream_rows_read(s);
        rows_free(&rows);
        stream_close(s);
    }
    if (status)
        fprintf(stderr, "%s\n", error.message);
    return status ? 0 : clock_thread() - begin;
}

int main(int argc, char **argv)
{
    printf("| file | MB | rows | CPU s | MB/s |\n|---|---|---|---|---|\n");
    for (int i = 1; i < argc; i++) {
        struct stat about = {0};
        uint64_t rows = 0;
        double best = 1e9;
        for (int turn = 0; turn < TURNS; turn++) {
            double took = file_read(argv[i], &rows);
            if (took == 0 || stat(argv[i], &about))
                return EXIT_FAILURE;
            best = took < best ? took : best;
        }
        double megabytes = (double)about.st_size / 1e6;
        printf("| %s | %.1f | %llu | %.3f | %.0f |\n", argv[i], megabytes, (unsigned long long)rows, best,
               megabytes / best);
    }
    return EXIT_SUCCESS;
}
