/* SPDX-License-Identifier: BSD-3-Clause */
#include "data/download.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define SECONDS_TO_CONNECT 30L
#define SECONDS_OF_SILENCE 60L
#define REDIRECTIONS 5L

struct transfer {
    const struct download_options *options;
    const char *url;
    char *part;
    int fd, write_errno;
    curl_off_t from; /* bytes that are there already */
    time_t date;     /* of the file that they are from */
    char detail[CURL_ERROR_SIZE];
    CURL *curl;
};

static size_t bytes_write(char *bytes, size_t size, size_t n, void *context)
{
    struct transfer *t = context;
    size_t left = size * n;
    while (left) {
        ssize_t done = write(t->fd, bytes, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            t->write_errno = done < 0 ? errno : ENOSPC;
            return 0; /* makes curl fail */
        }
        bytes += done;
        left -= (size_t)done;
    }
    return size * n;
}

static int progress_print(void *context, curl_off_t total, curl_off_t done, curl_off_t up_total, curl_off_t up)
{
    struct transfer *t = context;
    if (t->options->progress)
        t->options->progress(t->options->context, (uint64_t)(t->from + done), total ? (uint64_t)(t->from + total) : 0);
    return t->options->stop && atomic_load_explicit(t->options->stop, memory_order_relaxed);
}

/* The part of an earlier attempt bears the date of the file at the server, so that it can be asked for the rest of
 * that very file; a part without such a date is fetched again. */
static hunch_status part_open(struct transfer *t, hunch_error *reterr)
{
    struct stat status;
    t->fd = open(t->part, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (t->fd < 0)
        return error_set(reterr, HUNCH_EIO, "%s: %s", t->part, strerror(errno));
    if (flock(t->fd, LOCK_EX | LOCK_NB))
        return error_set(reterr, HUNCH_EIO, "%s: another process is fetching it", t->part);
    if (fstat(t->fd, &status) == 0 && status.st_size > 0 && status.st_mtime > 1 && status.st_mtime < time(NULL) - 1) {
        t->from = status.st_size;
        t->date = status.st_mtime; /* writing changes it */
    }
    return HUNCH_OK;
}

static bool part_begin(struct transfer *t, curl_off_t at)
{
    t->from = at;
    t->write_errno = 0;
    if (ftruncate(t->fd, at) == 0 && lseek(t->fd, at, SEEK_SET) == at)
        return true;
    t->write_errno = errno;
    return false;
}

/* Asks for the rest only if the file is still the one of that date. */
static struct curl_slist *range_ask(struct transfer *t)
{
    struct tm when;
    char date[64], line[96];
    if (!t->from || !gmtime_r(&t->date, &when))
        return NULL;
    strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &when);
    snprintf(line, sizeof line, "If-Range: %s", date);
    return curl_slist_append(NULL, line);
}

static CURLcode perform(struct transfer *t)
{
    CURL *c = t->curl;
    struct curl_slist *headers = range_ask(t);
    t->detail[0] = '\0';
    curl_easy_reset(c);
    curl_easy_setopt(c, CURLOPT_URL, t->url);
    curl_easy_setopt(c, CURLOPT_USERAGENT, "hunch");
    curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(c, CURLOPT_MAXREDIRS, REDIRECTIONS);
    curl_easy_setopt(c, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_FILETIME, 1L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, SECONDS_TO_CONNECT);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, SECONDS_OF_SILENCE);
    curl_easy_setopt(c, CURLOPT_ERRORBUFFER, t->detail);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, bytes_write);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, progress_print);
    curl_easy_setopt(c, CURLOPT_XFERINFODATA, t);
    if (t->from)
        curl_easy_setopt(c, CURLOPT_RESUME_FROM_LARGE, t->from);
    if (headers)
        curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(c);
    curl_slist_free_all(headers);
    return code;
}

/* What is there stays for the next attempt, under the date that the server told; false: it told none. */
static bool part_keep(struct transfer *t)
{
    curl_off_t date = -1;
    curl_easy_getinfo(t->curl, CURLINFO_FILETIME_T, &date);
    struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = (time_t)date}};
    return lseek(t->fd, 0, SEEK_END) > 0 && date > 1 && futimens(t->fd, times) == 0;
}

static hunch_status transfer_fail(struct transfer *t, CURLcode code, hunch_error *reterr)
{
    long answer = 0;
    bool cut = code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_OPERATION_TIMEDOUT ||
               code == CURLE_ABORTED_BY_CALLBACK;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &answer);
    bool kept = cut && part_keep(t);
    if (!kept)
        unlink(t->part);
    if (t->write_errno)
        return error_set(reterr, HUNCH_EIO, "%s: %s", t->part, strerror(t->write_errno));
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return error_set(reterr, HUNCH_EIO, "%s: the server answers %ld", t->url, answer);
    const char *what = code == CURLE_ABORTED_BY_CALLBACK ? "stopped"
                       : *t->detail                      ? t->detail
                                                         : curl_easy_strerror(code);
    return error_set(reterr, HUNCH_EIO, "%s: %s%s", t->url, what, kept ? "; the same command goes on from there" : "");
}

static hunch_status part_fetch(struct transfer *t, hunch_error *reterr)
{
    CURLcode code = CURLE_OK;
    long answer = 0;
    curl_off_t resumed = t->from;
    if (part_begin(t, t->from))
        code = perform(t);
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &answer);
    /* the server sends all of it, has another file by now, or knows no ranges: from the beginning then */
    if (resumed && !t->write_errno &&
        (code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME || answer == 416)) {
        code = CURLE_OK;
        if (part_begin(t, 0))
            code = perform(t);
    }
    if (!code && !t->write_errno && fsync(t->fd))
        t->write_errno = errno;
    return code || t->write_errno ? transfer_fail(t, code, reterr) : HUNCH_OK;
}

static hunch_status part_accept(struct transfer *t, const char *path, struct download *ret, hunch_error *reterr)
{
    const char *expected = t->options->sha256;
    struct stat status;
    hunch_status result = checksum_file(t->part, false, ret->sha256, reterr);
    if (result || (expected && strcasecmp(expected, ret->sha256))) {
        unlink(t->part);
        return result ? result
                      : error_set(reterr, HUNCH_EINVAL,
                                  "%s: not the file that was expected: its SHA-256 is %s, and should be %s", t->url,
                                  ret->sha256, expected);
    }
    ret->bytes = fstat(t->fd, &status) ? 0 : (uint64_t)status.st_size;
    ret->resumed = (uint64_t)t->from;
    if (rename(t->part, path) == 0)
        return HUNCH_OK;
    result = error_set(reterr, HUNCH_EIO, "%s: %s", path, strerror(errno));
    unlink(t->part);
    return result;
}

hunch_status download_file(const char *url, const char *path, const struct download_options *options,
                           struct download *ret, hunch_error *reterr)
{
    struct transfer t = {.options = options, .url = url, .fd = -1};
    struct download d = {0};
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return error_set(reterr, HUNCH_EIO, "libcurl could not be started");
    t.curl = curl_easy_init();
    hunch_status status = t.curl && asprintf(&t.part, "%s.part", path) >= 0 ? HUNCH_OK : error_memory(reterr);
    if (!status)
        status = part_open(&t, reterr);
    if (!status)
        status = part_fetch(&t, reterr);
    if (!status)
        status = part_accept(&t, path, &d, reterr);
    if (!status)
        *ret = d;
    if (t.fd >= 0)
        close(t.fd);
    free(t.part);
    curl_easy_cleanup(t.curl);
    curl_global_cleanup();
    return status;
}
