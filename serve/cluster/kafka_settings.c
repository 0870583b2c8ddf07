/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"
#include "cluster/kafka_settings.h"
#include "event/settings.h"

static char *trim(char *s)
{
    s += strspn(s, " \t");
    for (size_t n = strlen(s); n > 0 && strchr(" \t\r", s[n - 1]); n--)
        s[n - 1] = 0;
    return s;
}

static bool set_own(struct kafka_settings *s, const char *name, const char *value, struct http_error *err)
{
    const struct {
        const char *name;
        const char **text;
        int64_t *number, low, high;
    } all[] = {
        {"node", &s->node, NULL, 0, 0},
        {"advertise", &s->advertise, NULL, 0, 0},
        {"token", &s->token, NULL, 0, 0},
        {"prefix", &s->prefix, NULL, 0, 0},
        {"adopt", &s->adopt, NULL, 0, 0},
        {"replicas", NULL, &s->replicas, 1, 100},
        {"min.insync", NULL, &s->in_sync, 1, 100},
        {"hash.events", NULL, &s->hash_events, 1, INT64_MAX},
        {"wait.ms", NULL, &s->wait_ms, 1, 600000},
        {"lag.events", NULL, &s->lag_events, 0, INT64_MAX},
        {"margin.seconds", NULL, &s->margin_s, 0, INT32_MAX},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *end;
        if (strcmp(all[i].name, name))
            continue;
        if (all[i].text) {
            *all[i].text = value;
            return true;
        }
        long long v = strtoll(value, &end, 10);
        if (end == value || *end || v < all[i].low || v > all[i].high)
            return http_error_set(err, 400, "kafka", "hunch.%s must be a whole number of at least %lld", name,
                                  (long long)all[i].low);
        *all[i].number = v;
        return true;
    }
    return http_error_set(err, 400, "kafka", "unknown setting hunch.%s", name);
}

static bool set_line(struct kafka_settings *s, char *line, struct http_error *err)
{
    line = trim(line);
    if (!*line || *line == '#')
        return true;
    char *value = strchr(line, '=');
    if (!value)
        return http_error_set(err, 400, "kafka", "\"%.100s\" is not name = value", line);
    *value++ = 0;
    const char *name = trim(line);
    value = trim(value);
    if (strncmp(name, "hunch.", 6) == 0)
        return set_own(s, name + 6, value, err);
    if (s->pairs_n + 2 > sizeof s->pairs / sizeof *s->pairs)
        return http_error_set(err, 400, "kafka", "too many settings");
    s->pairs[s->pairs_n++] = name;
    s->pairs[s->pairs_n++] = value;
    return true;
}

bool kafka_settings_read(struct kafka_settings *ret, const struct serve_options *options, struct http_error *err)
{
    struct kafka_settings s = {
        .prefix = "hunch.",
        .replicas = 3,
        .in_sync = 2,
        .hash_events = 100000,
        .wait_ms = 5000,
        .lag_events = 100000,
        .margin_s = 7 * 86400,
        .queue = (int64_t)options->limits.queue,
        .queue_bytes = (int64_t)options->limits.queue_bytes,
        .record_bytes = (int64_t)options->limits.body + 4096,
    };
    size_t size;
    void *bytes;
    if (!file_read(options->kafka, 1 << 20, &bytes, &size, err))
        return false;
    s.text = bytes;
    if (gethostname(s.host, sizeof s.host - 1) != 0)
        snprintf(s.host, sizeof s.host, "node");
    bool ok = true;
    char *rest = s.text;
    for (char *line; ok && (line = strsep(&rest, "\n"));)
        ok = set_line(&s, line, err);
    *ret = s;
    ret->node = s.node ? s.node : ret->host;
    if (ok && (!model_name_ok(ret->node) || !model_name_ok(s.prefix)))
        ok = http_error_set(err, 400, "kafka",
                            "hunch.node and hunch.prefix must have 1 to %d letters, digits, '.', '_' or '-'",
                            NAME_MAX_BYTES);
    if (!ok)
        kafka_settings_free(ret);
    return ok;
}

void kafka_settings_free(struct kafka_settings *s)
{
    free(s->text);
    *s = (struct kafka_settings){0};
}
