/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every exchange has the same shape, so that ranks never wait for each other in different ones: first a number from
 * every rank (how many bytes it has, or that it has ended and how), then, if all agree, bytes. A rank that has ended
 * takes part in further exchanges until all have; a rank that wanted bytes learns that one is missing, fails, and ends
 * as well.
 */
#include "ranks.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/pool.h"

#define ENDED INT64_MIN /* + exit code; other negative numbers: not ready */
#define NOT_READY (-1)

/* There is one MPI in a process; this is what is known of it. */
static struct {
    bool started;
    int count, mine;
    int here;  /* ranks on this machine */
    int error; /* the real standard error of ranks other than 0 */
} job = {false, 1, 0, 1, -1};

#ifdef HAVE_MPI
#include <mpi.h>

#define CHUNK ((size_t)1 << 30) /* MPI counts in int */

/* Open MPI, MPICH and what follows PMI: a program that was started by hand does not load MPI's machinery. */
static bool under_mpirun(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (getenv(marks[i]))
            return true;
    return false;
}

static hunch_status output_hide(hunch_error *reterr)
{
    FILE *kept = tmpfile();
    job.error = dup(STDERR_FILENO);
    bool good = kept && job.error >= 0 && dup2(fileno(kept), STDERR_FILENO) >= 0 && freopen("/dev/null", "w", stdout);
    if (kept)
        fclose(kept);
    return good ? HUNCH_OK : error_set(reterr, HUNCH_EIO, "temporary files cannot be opened");
}

hunch_status ranks_start(hunch_error *reterr)
{
    MPI_Comm machine;
    int level;
    if (job.started || !under_mpirun())
        return HUNCH_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return error_set(reterr, HUNCH_EIO, "MPI could not be started");
    MPI_Comm_size(MPI_COMM_WORLD, &job.count);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.mine);
    job.started = true;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &job.here);
    MPI_Comm_free(&machine);
    return job.mine > 0 ? output_hide(reterr) : HUNCH_OK;
}

static bool numbers_exchange(int64_t mine, int64_t *ret)
{
    ret[0] = mine;
    return !job.started || MPI_Allgather(&mine, 1, MPI_INT64_T, ret, 1, MPI_INT64_T, MPI_COMM_WORLD) == MPI_SUCCESS;
}

static bool bytes_send(char *bytes, size_t size, int from)
{
    for (size_t at = 0; at < size && job.started; at += CHUNK) {
        size_t n = size - at < CHUNK ? size - at : CHUNK;
        if (MPI_Bcast(bytes + at, (int)n, MPI_BYTE, from, MPI_COMM_WORLD) != MPI_SUCCESS)
            return false;
    }
    return true;
}

static void job_end(void)
{
    if (job.started)
        MPI_Finalize();
}
#else
hunch_status ranks_start(hunch_error *reterr)
{
    (void)reterr;
    return HUNCH_OK;
}

static bool numbers_exchange(int64_t mine, int64_t *ret)
{
    ret[0] = mine;
    return true;
}

static bool bytes_send(char *bytes, size_t size, int from)
{
    (void)bytes;
    (void)size;
    (void)from;
    return true;
}

static void job_end(void)
{
}
#endif

size_t ranks_count(void)
{
    return (size_t)job.count;
}

bool ranks_first(void)
{
    return job.mine == 0;
}

bool ranks_mine(size_t i)
{
    return i % (size_t)job.count == (size_t)job.mine;
}

unsigned ranks_threads(void)
{
    unsigned cores = pool_processors() / (unsigned)job.here;
    return cores ? cores : 1;
}

/* Everyone's number; HUNCH_EIO when one has ended or cannot go on. */
static hunch_status agree(int64_t mine, int64_t *ret, hunch_error *reterr)
{
    if (!numbers_exchange(mine, ret))
        return error_set(reterr, HUNCH_EIO, "MPI failed");
    for (size_t i = 0; i < ranks_count(); i++)
        if (ret[i] < 0)
            return error_set(reterr, HUNCH_EIO, "process %zu of %zu has ended too early", i, ranks_count());
    return HUNCH_OK;
}

static bool room_make(struct ranks_bytes *b, const int64_t *sizes)
{
    size_t count = ranks_count(), all = 0;
    for (size_t i = 0; i < count; i++)
        all += (size_t)sizes[i] + 1;
    b->memory = malloc(all);
    b->bytes = calloc(count, sizeof *b->bytes);
    b->size = calloc(count, sizeof *b->size);
    return b->memory && b->bytes && b->size;
}

static hunch_status bytes_exchange(const void *bytes, struct ranks_bytes *b, const int64_t *sizes, hunch_error *reterr)
{
    char *at = b->memory;
    for (size_t i = 0; i < ranks_count(); i++) {
        b->bytes[i] = at;
        b->size[i] = (size_t)sizes[i];
        if (ranks_mine(i) && b->size[i])
            memcpy(at, bytes, b->size[i]);
        if (!bytes_send(at, b->size[i], (int)i))
            return error_set(reterr, HUNCH_EIO, "MPI failed to send results");
        at += b->size[i];
        *at++ = '\0';
    }
    return HUNCH_OK;
}

hunch_status ranks_gather(const void *bytes, size_t size, struct ranks_bytes *ret, hunch_error *reterr)
{
    struct ranks_bytes b = {0};
    int64_t *sizes = calloc(2 * ranks_count(), sizeof *sizes);
    if (!sizes)
        return error_memory(reterr); /* so little that nothing else would work either */
    hunch_status status = agree((int64_t)size, sizes, reterr);
    if (!status) {
        bool ready = room_make(&b, sizes);
        status = agree(ready ? 0 : NOT_READY, sizes + ranks_count(), reterr);
        if (!ready)
            status = error_memory(reterr);
    }
    if (!status)
        status = bytes_exchange(bytes, &b, sizes, reterr);
    free(sizes);
    if (status)
        ranks_bytes_free(&b);
    else
        *ret = b;
    return status;
}

void ranks_bytes_free(struct ranks_bytes *b)
{
    free(b->memory);
    free(b->bytes);
    free(b->size);
    *b = (struct ranks_bytes){0};
}

/* What a rank wanted to say that ended before rank 0 could say the same. */
static void output_show(void)
{
    char bytes[4096];
    ssize_t got;
    fflush(stderr);
    lseek(STDERR_FILENO, 0, SEEK_SET);
    while ((got = read(STDERR_FILENO, bytes, sizeof bytes)) > 0)
        if (write(job.error, bytes, (size_t)got) != got)
            break;
}

int ranks_stop(int code)
{
    size_t count = ranks_count();
    int64_t *codes = calloc(count, sizeof *codes);
    bool all = !codes;
    for (int times = 0; !all && numbers_exchange(ENDED + code, codes); times++) {
        all = true;
        for (size_t i = 0; i < count; i++)
            all = all && codes[i] <= ENDED + 255;
        if (times == 0 && code && codes[0] > ENDED + 255 && job.error >= 0)
            output_show();
    }
    for (size_t i = 0; codes && all && i < count && !code; i++)
        code = (int)(codes[i] - ENDED);
    free(codes);
    job_end();
    return code;
}
