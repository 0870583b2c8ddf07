/* SPDX-License-Identifier: BSD-3-Clause */
#include "data/prepare.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "data/prepare_sink.h"

static hunch_status text_add(struct sink *s, const char *text, size_t length, hunch_error *reterr)
{
    if (!array_reserve(&s->line, &s->room, s->length + length + 1, 1))
        return error_memory(reterr);
    memcpy(s->line + s->length, text, length);
    s->length += length;
    return HUNCH_OK;
}

/* The label's place among those of the step; -1: it is not there. */
static long label_place(const json_t *labels, const char *label)
{
    for (size_t i = 0; i < json_array_size(labels); i++) {
        const char *one = json_string_value(json_array_get(labels, i));
        if (one && !strcmp(one, label))
            return (long)i;
    }
    return -1;
}

hunch_status sink_row(struct sink *s, const char *label, hunch_error *reterr)
{
    const json_t *labels = json_object_get(s->step, "labels");
    char number[24];
    s->length = 0;
    if (labels) {
        long place = label_place(labels, label);
        if (place < 0)
            return error_set(reterr, HUNCH_EINVAL, "row %" PRIu64 " has the unknown label '%s'", s->done.rows + 1,
                             quote(label, strlen(label)).text);
        s->done.classes += !s->seen[place];
        s->seen[place] = true;
        snprintf(number, sizeof number, "%ld", place);
        return text_add(s, number, strlen(number), reterr);
    }
    if (names_add(s->labels, label, strlen(label)) == NAMES_NONE)
        return error_memory(reterr);
    s->done.classes = names_count(s->labels);
    return text_add(s, label, strlen(label), reterr);
}

hunch_status sink_value(struct sink *s, uint32_t feature, double value, hunch_error *reterr)
{
    char text[48];
    if (value == 0)
        return HUNCH_OK;
    int length = snprintf(text, sizeof text, " %" PRIu32 ":%.6g", feature, value);
    if (feature > s->done.features)
        s->done.features = feature;
    return text_add(s, text, (size_t)length, reterr);
}

hunch_status sink_end(struct sink *s, hunch_error *reterr)
{
    hunch_status status = text_add(s, "\n", 1, reterr);
    if (status)
        return status;
    s->done.rows++;
    s->done.bytes += s->length;
    sha256_update(&s->sum, s->length, (const uint8_t *)s->line);
    if (fwrite(s->line, 1, s->length, s->out.file) != s->length)
        return error_set(reterr, HUNCH_EIO, "%s: %s", s->out.path, strerror(errno));
    return HUNCH_OK;
}

static hunch_status count_check(const json_t *step, const char *key, uint64_t got, hunch_error *reterr)
{
    const json_t *expected = json_object_get(step, key);
    if (!expected || (uint64_t)json_integer_value(expected) == got)
        return HUNCH_OK;
    return error_set(reterr, HUNCH_EINVAL, "the original has changed: it gives %" PRIu64 " %s, and should give %lld",
                     got, key, (long long)json_integer_value(expected));
}

static hunch_status sink_open(struct sink *s, const json_t *step, const char *path, hunch_error *reterr)
{
    *s = (struct sink){.step = step};
    sha256_init(&s->sum);
    s->labels = names_new();
    s->seen = calloc(json_array_size(json_object_get(step, "labels")) + 1, sizeof *s->seen);
    if (!s->labels || !s->seen)
        return error_memory(reterr);
    return replace_open(&s->out, path, 0644, reterr);
}

static hunch_status sink_finish(struct sink *s, hunch_error *reterr)
{
    hunch_status status = count_check(s->step, "rows", s->done.rows, reterr);
    if (!status)
        status = count_check(s->step, "features", s->done.features, reterr);
    if (!status)
        status = count_check(s->step, "classes", s->done.classes, reterr);
    if (status)
        return status;
    checksum_text(&s->sum, s->done.sha256);
    return replace_commit(&s->out, reterr);
}

hunch_status prepare_file(const json_t *step, const char *const *from, size_t n, const char *path, struct prepared *ret,
                          hunch_error *reterr)
{
    static const struct {
        const char *name;
        prepare_kind *make;
    } kinds[] = {
        {"table", prepare_table}, {"svmlight", prepare_svmlight}, {"topics", prepare_topics}, {"words", prepare_words}};
    const char *kind = json_string_value(json_object_get(step, "kind"));
    prepare_kind *make = NULL;
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, kind))
            make = kinds[i].make;
    if (!make)
        return error_set(reterr, HUNCH_EINVAL,
                         "the catalogue asks for a preparation '%s', which this version does not know",
                         kind ? kind : "");
    struct sink s;
    hunch_status status = sink_open(&s, step, path, reterr);
    if (!status)
        status = make(&s, from, n, reterr);
    if (!status)
        status = sink_finish(&s, reterr);
    replace_close(&s.out);
    if (!status)
        *ret = s.done;
    names_free(s.labels);
    free(s.seen);
    free(s.line);
    return status;
}
