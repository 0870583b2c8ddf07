/* SPDX-License-Identifier: BSD-3-Clause */
/* An archive of texts to bags of words: group/number is a text of class group. With "under" only texts below that folder
 * count; with "largest" only that many groups, those with most texts, but for those of the list "leave"; with "only" the
 * groups that are labels. With "reviews", the name of a file in each group, each of its lines is a text whose words are
 * counted already: "word:2 two_words:1 #label#:positive". */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/number.h"
#include "data/prepare_sink.h"

#define TEXT_LIMIT ((size_t)1 << 31)
#define TIMES_MAX 1000000 /* of a word in a text */

struct count {
    uint32_t word, times;
};

struct text {
    char *group;
    unsigned long number;
    struct count *words;
    size_t n, room;
    bool left_out;
};

struct library {
    const json_t *step;
    struct text *texts;
    size_t n, room, kept;
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

static bool word_count(struct library *l, struct text *t, const char *word, size_t n, uint32_t times)
{
    uint32_t number = names_add(l->words, word, n);
    if (number == NAMES_NONE || !times_grow(l, number))
        return false;
    if (!l->times[number] && times) {
        if (!array_reserve(&t->words, &t->room, t->n + 1, sizeof *t->words))
            return false;
        t->words[t->n++].word = number;
    }
    l->times[number] += times;
    return true;
}

static void times_take(struct library *l, struct text *t)
{
    for (size_t i = 0; i < t->n; i++) {
        t->words[i].times = l->times[t->words[i].word];
        l->times[t->words[i].word] = 0;
    }
}

/* Counts the words of the text and keeps those that are there. */
static bool words_count(struct library *l, size_t size, struct text *t)
{
    for (size_t at = 0; at < size;) {
        size_t begin = at;
        for (; at < size && is_letter(l->bytes[at]); at++)
            l->bytes[at] = (char)(l->bytes[at] | 0x20);
        if (at == begin)
            at++;
        else if (names_find(l->stop, l->bytes + begin, at - begin) == NAMES_NONE &&
                 !word_count(l, t, l->bytes + begin, at - begin, 1))
            return false;
    }
    times_take(l, t);
    return true;
}

/* One line of counted words. */
static bool counts_read(struct library *l, char *line, struct text *t)
{
    for (char *word; (word = strsep(&line, " \t\r"));) {
        char *colon = strrchr(word, ':');
        double times;
        if (!colon || colon == word || !strncmp(word, "#label#", 7))
            continue;
        if (number_is(colon + 1, &times) && times >= 1 && times <= TIMES_MAX &&
            !word_count(l, t, word, (size_t)(colon - word), (uint32_t)times))
            return false;
    }
    times_take(l, t);
    return true;
}

/* The last two parts of the path are group and number, or group and the file of reviews; false: it is not such a path. */
static bool path_split(const char *path, const char *reviews, struct text *ret)
{
    const char *slash = strrchr(path, '/'), *group;
    if (!slash || slash == path || (reviews ? strcmp(slash + 1, reviews) : slash[1] < '0' || slash[1] > '9'))
        return false;
    for (group = slash; group > path && group[-1] != '/'; group--)
        ;
    ret->number = strtoul(slash + 1, NULL, 10);
    ret->group = strndup(group, (size_t)(slash - group));
    return true;
}

static bool is_label(const json_t *labels, const char *group)
{
    const json_t *one;
    size_t i;
    json_array_foreach(labels, i, one) if (!strcmp(json_string_value(one), group)) return true;
    return false;
}

static bool is_wanted(const struct library *l, const char *path, const struct text *t)
{
    const char *under = json_string_value(json_object_get(l->step, "under"));
    const json_t *leave = json_object_get(l->step, "leave"), *one;
    size_t i;
    json_array_foreach(leave, i, one) if (!strcmp(json_string_value(one), t->group)) return false;
    if (json_is_true(json_object_get(l->step, "only")) && !is_label(json_object_get(l->step, "labels"), t->group))
        return false;
    return !under || !strncmp(path, under, strlen(under));
}

/* Every line of l->bytes is a text of the file's group; frees the file's. */
static bool reviews_take(struct library *l, struct text *file)
{
    bool good = true;
    for (char *rest = l->bytes, *line; good && (line = strsep(&rest, "\n"));) {
        struct text t = {.group = strdup(file->group), .number = l->n};
        if (!*line) {
            free(t.group);
            continue;
        }
        good = t.group && array_reserve(&l->texts, &l->room, l->n + 1, sizeof *l->texts) && counts_read(l, line, &t);
        if (good) {
            l->texts[l->n++] = t;
        } else {
            free(t.group);
            free(t.words);
        }
    }
    free(file->group);
    return good;
}

static hunch_status text_take(struct library *l, struct archive *a, struct archive_entry *entry, hunch_error *reterr)
{
    struct text t = {0};
    const char *reviews = json_string_value(json_object_get(l->step, "reviews")), *path = archive_entry_pathname(entry);
    size_t size = (size_t)archive_entry_size(entry);
    if (archive_entry_filetype(entry) != AE_IFREG || !path_split(path, reviews, &t))
        return HUNCH_OK;
    if (t.group && !is_wanted(l, path, &t)) {
        free(t.group);
        return HUNCH_OK;
    }
    if (size > TEXT_LIMIT) {
        free(t.group);
        return error_set(reterr, HUNCH_EINVAL, "%s: larger than %zu bytes", path, TEXT_LIMIT);
    }
    if (!t.group || !array_reserve(&l->texts, &l->room, l->n + 1, sizeof *l->texts) ||
        !array_reserve(&l->bytes, &l->bytes_room, size + 1, 1)) {
        free(t.group);
        return error_memory(reterr);
    }
    if (archive_read_data(a, l->bytes, size) != (la_ssize_t)size) {
        free(t.group);
        return error_set(reterr, HUNCH_EINVAL, "the archive is damaged");
    }
    l->bytes[size] = '\0';
    if (reviews)
        return reviews_take(l, &t) ? HUNCH_OK : error_memory(reterr);
    bool good = words_count(l, size, &t);
    l->texts[l->n++] = t;
    return good ? HUNCH_OK : error_memory(reterr);
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

static size_t group_end(const struct library *l, size_t from)
{
    size_t to = from;
    while (to < l->n && !strcmp(l->texts[to].group, l->texts[from].group))
        to++;
    return to;
}

/* Of the sorted texts, those of the `most` largest groups; of groups of the same size the first. */
static void groups_keep(struct library *l, size_t max)
{
    size_t kept = 0;
    for (size_t from = 0, to; from < l->n; from = to) {
        size_t larger = 0;
        to = group_end(l, from);
        for (size_t other = 0, end; other < l->n; other = end) {
            end = group_end(l, other);
            larger += end - other > to - from || (end - other == to - from && other < from);
        }
        for (size_t i = from; i < to; i++)
            l->texts[i].left_out = larger >= max;
    }
    for (size_t i = 0; i < l->n; i++)
        kept += !l->texts[i].left_out;
    l->kept = kept;
}

static hunch_status texts_write(struct sink *s, struct library *l, hunch_error *reterr)
{
    bool binary = json_is_true(json_object_get(s->step, "binary"));
    size_t max = (size_t)json_integer_value(json_object_get(s->step, "largest"));
    hunch_status status = HUNCH_OK;
    if (l->n)
        qsort(l->texts, l->n, sizeof *l->texts, texts_compare);
    groups_keep(l, max ? max : l->n);
    if (!words_sort(l))
        return error_memory(reterr);
    for (size_t i = 0; i < l->n && !status; i++) {
        struct text *t = &l->texts[i];
        if (t->left_out)
            continue;
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
    struct library l = {.step = s->step, .words = names_new(), .stop = names_new()};
    size_t texts = json_is_true(json_object_get(s->step, "stop")) && n ? n - 1 : n;
    hunch_status status = l.words && l.stop ? HUNCH_OK : error_memory(reterr);
    if (!status && texts < n)
        status = stop_take(&l, from[texts], reterr);
    for (size_t i = 0; i < texts && !status; i++)
        status = archive_take(&l, from[i], reterr);
    if (!status)
        status = texts_write(s, &l, reterr);
    snprintf(s->done.what, sizeof s->done.what, "%zu texts became bags of %s", l.kept,
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
