/* SPDX-License-Identifier: BSD-3-Clause */
#include "parser.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"

hunch_status parser_fail(const struct parser *p, uint64_t line, hunch_error *reterr, const char *format, ...)
{
    char what[192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    /* a long path must not push the reason out of the message */
    size_t length = strlen(p->path), room = sizeof reterr->message - strlen(what) - 24;
    const char *path = length > room ? p->path + length - room : p->path;
    return fail_with(reterr, HUNCH_EINVAL, "%s%s:%" PRIu64 ": %s", path == p->path ? "" : "...", path, line, what);
}

bool parser_skips(struct parser *p, hunch_status status)
{
    if (status != HUNCH_EINVAL || !p->options->skip_bad_rows)
        return false;
    p->skipped++;
    return true;
}

void parser_row(struct rows *out, size_t values, uint32_t label, uint64_t line)
{
    out->label[out->n] = label;
    out->line[out->n] = line;
    out->start[++out->n] = (int64_t)values;
}

/* Control bytes mean that this is no text at all. */
static hunch_status label_check(const struct parser *p, const char *text, size_t length, uint64_t line,
                                hunch_error *reterr)
{
    if (length > PARSER_LABEL_LIMIT)
        return parser_fail(p, line, reterr, "label '%s' is longer than %d bytes", quote(text, length).text,
                           PARSER_LABEL_LIMIT);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return parser_fail(p, line, reterr, "label '%s' holds a control character", quote(text, length).text);
    return HUNCH_OK;
}

static hunch_status label_add(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                              hunch_error *reterr)
{
    uint32_t number = names_find(p->labels, text, length);
    if (number == NAMES_NONE) {
        hunch_status status = label_check(p, text, length, line, reterr);
        if (status)
            return status;
        if (p->options->fixed_labels)
            return parser_fail(p, line, reterr, "label '%s' is not one of the known labels", quote(text, length).text);
        if (names_count(p->labels) >= HUNCH_MAX_CLASSES)
            return parser_fail(p, line, reterr, "label '%s' is one more than the %u that can be handled",
                               quote(text, length).text, HUNCH_MAX_CLASSES);
        number = names_add(p->labels, text, length);
        if (number == NAMES_NONE)
            return fail_memory(reterr);
    }
    *ret = number;
    return HUNCH_OK;
}

hunch_status parser_label(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                          hunch_error *reterr)
{
    uint64_t key = (uint64_t)length << 56; /* never 0, and NULs in the text count */
    unsigned char bytes[8] = {0};
    if (length > 7 || length == 0)
        return label_add(p, text, length, line, ret, reterr);
    memcpy(bytes, text, length);
    for (int i = 0; i < 7; i++)
        key |= (uint64_t)bytes[i] << (8 * i);
    struct label_slot *slot = &p->label_slots[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 58];
    if (slot->key == key) {
        *ret = slot->number;
        return HUNCH_OK;
    }
    hunch_status status = label_add(p, text, length, line, ret, reterr);
    if (!status)
        *slot = (struct label_slot){key, *ret};
    return status;
}

hunch_status parser_feature(struct parser *p, const char *text, size_t length, uint64_t line, uint32_t *ret,
                            hunch_error *reterr)
{
    uint32_t number = names_find(p->features, text, length);
    if (number == NAMES_NONE) {
        if (memchr(text, 0, length))
            return parser_fail(p, line, reterr, "name '%s' holds a NUL byte", quote(text, length).text);
        number = names_add(p->features, text, length);
        if (number == NAMES_NONE)
            return fail_memory(reterr);
    }
    *ret = number;
    return HUNCH_OK;
}
