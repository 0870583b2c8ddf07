/* SPDX-License-Identifier: BSD-3-Clause */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/log.h"

void log_event(const char *event, const char *format, ...)
{
    char when[40];
    struct timespec now;
    struct tm utc;
    va_list list;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t n = strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(when + n, sizeof when - n, ".%03ldZ", now.tv_nsec / 1000000);

    va_start(list, format);
    json_t *fields = json_vpack_ex(NULL, 0, format, list);
    va_end(list);
    json_t *line = json_pack("{s:s,s:s}", "time", when, "event", event);
    if (line && fields)
        json_object_update(line, fields);
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    if (text) {
        size_t length = strlen(text);
        text[length] = '\n'; /* in place of the NUL: one write, so that lines of threads never mix */
        ssize_t written = write(STDERR_FILENO, text, length + 1);
        (void)written;
        free(text);
    }
    json_decref(line);
    json_decref(fields);
}
