/* SPDX-License-Identifier: BSD-3-Clause */
/* An archive of texts to bags of words: group/number is a text of class group. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "prepare_sink.h"

#define TEXT_LIMIT ((size_t)1 << 28)

struct count {
    uint32_t word, times;
};

struct text {
    char *group;
    unsigned long number;
    struct count *words;
    size_t n;
};

struct library {
    struct text *texts;
    size_t n, room;
    struct names *words;
    struct names *stop; /* words that are left out */
    uint32_t *times;    /* of each word in the text that is being read */
    uint32_t *place;    /* of each word in the sorted list, from 1 */
    size_t times_room;
    char *bytes; /* of a text */
    size_t bytes_room;
};

static bool times_grow(struct library *l, uint32_t word)
{
    if (word < l->times_room)
        return true;
    size_t before = l->times_room;
    if (!array_reserve(&l->times, &l->times_room, (size_t)word + 1, sizeof *l->times))
        return false;
    memset(l->times + before, 0, (l->times_room - before) * sizeof *l->times);
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Counts the words of the text and keeps those that are there. */
static bool words_count(struct library *l, size_t size, struct text *t)
{
    size_t room = 0;
    for (size_t at = 0; at < size;) {
        size_t begin = at;
        for (; at < size && is_letter(l->bytes[at]); at++)
            l->bytes[at] = (char)(l->bytes[at] | 0x20);
        if (at == begin) {
            at++;
            continue;
        }
        if (names_find(l->stop, l->bytes + begin, at - begin) != NAMES_NONE)
            continue;
        uint32_t word = names_add(l->words, l->bytes + begin, at - begin);
        if (word == NAMES_NONE || !times_grow(l, word))
            return false;
        if (l->times[word]++ == 0) {
            if (!array_reserve(&t->words, &room, t->n + 1, sizeof *t->words))
                return false;
            t->words[t->n++].word = word;
        }
    }
    for (size_t i = 0; i < t->n; i++) {
        t->words[i].times = l->times[t->words[i].word];
        l->times[t->words[i].word] = 0;
    }
    return true;
}

/* The last two parts of the path are group and number; false: it is not such a path. */
static bool path_split(const char *path, struct text *ret)
{
    const char *slash = strrchr(path, '/'), *group;
    if (!slash || slash == path || slash[1] < '0' || slash[1] > '9')
        return false;
    for (group = slash; group > path && group[-1] != '/'; group--)
        ;
    ret->number = strtoul(slash + 1, NULL, 10);
    ret->group = strndup(group, (size_t)(slash - group));
    return true;
}

static hunch_status text_take(struct library *l, struct archive *a, struct archive_entry *entry, hunch_error *reterr)
{
    struct text t = {0};
    size_t size = (size_t)archive_entry_size(entry);
    if (archive_entry_filetype(entry) != AE_IFREG || !path_split(archive_entry_pathname(entry), &t))
        return HUNCH_OK;
    if (!t.group || size > TEXT_LIMIT || !array_reserve(&l->texts, &l->room, l->n + 1, sizeof *l->texts) ||
        !array_reserve(&l->bytes, &l->bytes_room, size + 1, 1)) {
        free(t.group);
        return error_memory(reterr);
    }
    la_ssize_t got = archive_read_data(a, l->bytes, size);
    bool good = got == (la_ssize_t)size && words_count(l, size, &t);
    l->texts[l->n++] = t;
    return good                      ? HUNCH_OK
           : got != (la_ssize_t)size ? error_set(reterr, HUNCH_EINVAL, "the archive is damaged")
                                     : error_memory(reterr);
}

static hunch_status archive_take(struct library *l, const char *path, hunch_error *reterr)
{
    struct archive *a = archive_read_new();
    struct archive_entry *entry;
    int code = ARCHIVE_FATAL;
    hunch_status status = HUNCH_OK;
    if (!a)
        return error_memory(reterr);
    archive_read_support_filter_all(a);
    archive_read_support_format_tar(a);
    if (archive_read_open_filename(a, path, 1 << 16) == ARCHIVE_OK)
        while (!status && (code = archive_read_next_header(a, &entry)) == ARCHIVE_OK)
            status = text_take(l, a, entry, reterr);
    if (!status && code != ARCHIVE_EOF)
        status = error_set(reterr, HUNCH_EINVAL, "%s: %s", path,
                           archive_error_string(a) ? archive_error_string(a) : "not an archive");
    archive_read_free(a);
    return status;
}

static int texts_compare(const void *a, const void *b)
{
    const struct text *x = a, *y = b;
    int group = strcmp(x->group, y->group);
    return group ? group : (x->number > y->number) - (x->number < y->number);
}

static int strings_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int counts_compare(const void *a, const void *b)
{
    const struct count *x = a, *y = b;
    return (x->word > y->word) - (x->word < y->word);
}

/* Features are the places of words in the sorted list. */
static bool words_sort(struct library *l)
{
    uint32_t n = names_count(l->words);
    const char **sorted = calloc(n + 1, sizeof *sorted);
    l->place = calloc(n + 1, sizeof *l->place);
    for (uint32_t i = 0; sorted && i < n; i++)
        sorted[i] = names_text(l->words, i, NULL);
    if (sorted)
        qsort(sorted, n, sizeof *sorted, strings_compare);
    for (uint32_t i = 0; sorted && l->place && i < n; i++)
        l->place[names_find(l->words, sorted[i], strlen(sorted[i]))] = i + 1;
    bool good = sorted && l->place;
    free(sorted);
    return good;
}

static hunch_status texts_write(struct sink *s, struct library *l, hunch_error *reterr)
{
    bool binary = json_is_true(json_object_get(s->step, "binary"));
    hunch_status status = HUNCH_OK;
    if (l->n)
        qsort(l->texts, l->n, sizeof *l->texts, texts_compare);
    if (!words_sort(l))
        return error_memory(reterr);
    for (size_t i = 0; i < l->n && !status; i++) {
        struct text *t = &l->texts[i];
        for (size_t j = 0; j < t->n; j++)
            t->words[j].word = l->place[t->words[j].word];
        if (t->n)
            qsort(t->words, t->n, sizeof *t->words, counts_compare);
        status = sink_row(s, t->group, reterr);
        for (size_t j = 0; j < t->n && !status; j++)
            status = sink_value(s, t->words[j].word, binary ? 1 : t->words[j].times, reterr);
        if (!status)
            status = sink_end(s, reterr);
    }
    return status;
}

/* A list of words to leave out: the first word of each line. */
static hunch_status stop_take(struct library *l, const char *path, hunch_error *reterr)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    if (!file)
        return error_set(reterr, HUNCH_EIO, "%s: %s", path, strerror(errno));
    while (good && getline(&line, &room, file) > 0) {
        size_t length = strcspn(line, " \t\r\n");
        good = !length || names_add(l->stop, line, length) != NAMES_NONE;
    }
    free(line);
    fclose(file);
    return good ? HUNCH_OK : error_memory(reterr);
}

hunch_status prepare_words(struct sink *s, const char *const *from, size_t n, hunch_error *reterr)
{
    struct library l = {.words = names_new(), .stop = names_new()};
    size_t texts = json_is_true(json_object_get(s->step, "stop")) && n ? n - 1 : n;
    hunch_status status = l.words && l.stop ? HUNCH_OK : error_memory(reterr);
    if (!status && texts < n)
        status = stop_take(&l, from[texts], reterr);
    for (size_t i = 0; i < texts && !status; i++)
        status = archive_take(&l, from[i], reterr);
    if (!status)
        status = texts_write(s, &l, reterr);
    snprintf(s->done.what, sizeof s->done.what, "%zu texts became bags of %s", l.n,
             json_is_true(json_object_get(s->step, "binary")) ? "words (1 for those that occur)" : "counted words");
    for (size_t i = 0; i < l.n; i++) {
        free(l.texts[i].group);
        free(l.texts[i].words);
    }
    free(l.texts);
    names_free(l.words);
    names_free(l.stop);
    free(l.times);
    free(l.place);
    free(l.bytes);
    return status;
}
