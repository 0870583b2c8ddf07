/* SPDX-License-Identifier: BSD-3-Clause */
/* Caches: the same rows as the text, and nothing but a clear refusal for files that are damaged or forged. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cache/cache.h"
#include "cache/cache_format.h"
#include "base/rng.h"
#include "stream_helper.h"
#include "synth.h"

/* Whatever the stream holds, as a cache. */
static char *cache_make(const char *const *paths, size_t n, bool compress)
{
    struct stream *s;
    struct rows batch = {0};
    struct cache_writer *w;
    hunch_error error;
    char *path = path_make("data.hc");
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(stream_open(&s, paths, n, NULL, &error), HUNCH_OK);
    assert_int_equal(cache_writer_new(&w, fd, compress, &error), HUNCH_OK);
    while (!stream_next(s, &batch, &error) && batch.n > 0)
        assert_int_equal(cache_writer_add(w, &batch, &error), HUNCH_OK);
    assert_int_equal(cache_writer_finish(w, stream_labels(s), stream_features(s), stream_index_base(s), &error),
                     HUNCH_OK);
    cache_writer_free(w);
    close(fd);
    rows_free(&batch);
    stream_close(s);
    return path;
}

static char *synth_file(const char *name, uint64_t rows)
{
    struct synth_options options = synth_find(name)->defaults;
    struct synth *s;
    hunch_error error;
    char *path = path_make("data.svm");
    FILE *file = fopen(path, "w");
    options.rows = rows;
    assert_int_equal(synth_open(&s, name, &options, &error), HUNCH_OK);
    assert_int_equal(synth_write(s, file, &error), HUNCH_OK);
    fclose(file);
    synth_close(s);
    return path;
}

static void same_as_text(char *text)
{
    const char *paths[] = {text};
    struct seen right = seen_read(text, NULL);
    for (int compress = 0; compress < 2; compress++) {
        char *cache = cache_make(paths, 1, compress);
        for (int threads = 0; threads < 2; threads++) {
            seen_by_pipeline = threads;
            struct seen rows = seen_read(cache, NULL);
            assert_seen_equal(&right, &rows);
            assert_string_equal(right.features, rows.features);
            seen_free(&rows);
        }
        path_free(cache);
    }
    seen_free(&right);
    path_free(text);
}

static void test_same_as_text(void **state)
{
    (void)state;
    same_as_text(synth_file("zipf", 3000));
    same_as_text(synth_file("dense", 500));   /* without indices */
    same_as_text(synth_file("synsep", 3000)); /* without values */
    same_as_text(text_file("a.svm", "a\nb 1:2\n3:1\nc\n"));
    same_as_text(text_file("a.svm", "a\n"));
    same_as_text(text_file("a.csv", "size,colour,label\n1,red,x\n,blue,y\n3,,\n"));
}

/* Caches after other files: their labels and features get the numbers that the stream has given them. */
static void test_renumbered(void **state)
{
    (void)state;
    char *a = text_file("a.vw", "x | p q:2\ny | r\n"), *b = text_file("b.vw", "y | r:3 q p:4\nz | s p\n | q\n");
    const char *both[] = {a, b}, *second[] = {b};
    struct seen right, rows;
    hunch_error error;
    assert_int_equal(seen_try(both, 2, NULL, &right, NULL, &error), HUNCH_OK);
    char *cache = cache_make(second, 1, false);
    const char *mixed[] = {a, cache};
    assert_int_equal(seen_try(mixed, 2, NULL, &rows, NULL, &error), HUNCH_OK);
    assert_seen_equal(&right, &rows);
    assert_string_equal(right.features, rows.features);
    seen_free(&right);
    seen_free(&rows);
    path_free(a);
    path_free(b);
    path_free(cache);
}

static unsigned char *file_read(const char *path, size_t *ret_size)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    *ret_size = (size_t)status.st_size;
    unsigned char *bytes = aligned_alloc(64, (*ret_size + 127) / 64 * 64);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(bytes, 1, *ret_size, file), *ret_size);
    fclose(file);
    return bytes;
}

/* Reads all blocks; the batch is looked at, so that sanitizers see what lies outside. */
static hunch_status bytes_try(const unsigned char *bytes, size_t size, hunch_error *reterr)
{
    struct cache *c;
    struct rows batch = {0};
    volatile double sum = 0;
    hunch_status status = cache_open_bytes(&c, bytes, size, "data.hc", reterr);
    if (status)
        return status;
    while (!(status = cache_read(c, NULL, NULL, &batch, reterr)) && batch.n > 0)
        for (size_t i = 0; i < batch.n; i++)
            for (int64_t j = batch.start[i]; j < batch.start[i + 1]; j++)
                sum += (double)batch.value[j] * batch.index[j] + batch.label[i];
    rows_free(&batch);
    cache_close(c);
    return status;
}

static void expect(const unsigned char *bytes, size_t size, const char *message)
{
    hunch_error error = {{0}};
    assert_int_equal(bytes_try(bytes, size, &error), HUNCH_EINVAL);
    assert_string_equal(error.message, message);
}

static unsigned char *sample(size_t *ret_size, bool compress)
{
    char *text = synth_file("zipf", 150);
    const char *paths[] = {text};
    char *cache = cache_make(paths, 1, compress);
    unsigned char *bytes = file_read(cache, ret_size);
    path_free(text);
    path_free(cache);
    return bytes;
}

static void test_refused(void **state)
{
    (void)state;
    size_t size;
    unsigned char *bytes = sample(&size, false);
    struct cache_header *h = (struct cache_header *)(void *)bytes;
    hunch_error error;
    assert_int_equal(bytes_try(bytes, size, &error), HUNCH_OK);
    expect(bytes, size - 1, "data.hc: truncated cache");
    expect(bytes, 100, "data.hc: truncated cache");
    expect(bytes, 5, "data.hc: is not a cache, or was not finished");
    expect(bytes, size + 1, "data.hc: damaged cache (bytes after its end)");
    bytes[300] ^= 1;
    expect(bytes, size, "data.hc: damaged cache (checksum of a block)");
    bytes[300] ^= 1;
    bytes[size - 1] ^= 1;
    expect(bytes, size, "data.hc: damaged cache (checksum of the names)");
    bytes[size - 1] ^= 1;
    h->rows++;
    expect(bytes, size, "data.hc: damaged cache (header)");
    h->rows--;
    h->version = 2;
    expect(bytes, size, "data.hc: cache of a newer version (2; this program reads up to 1)");
    h->version = 1;
    h->endian = __builtin_bswap32(h->endian);
    expect(bytes, size, "data.hc: cache of a machine with the other byte order");
    free(bytes);
}

/* No single changed byte goes unseen. */
static void test_every_byte(void **state)
{
    (void)state;
    for (int compress = 0; compress < 2; compress++) {
        size_t size, padding = 0;
        unsigned char *bytes = sample(&size, compress);
        for (size_t i = 0; i < size; i += i < 256 || i + 4096 > size ? 1 : 97) {
            hunch_error error;
            bytes[i] ^= 0x10;
            padding += bytes_try(bytes, size, &error) == HUNCH_OK;
            bytes[i] ^= 0x10;
        }
        assert_true(padding <= 64 * 8); /* between blocks there may be zeros that nobody reads */
        free(bytes);
    }
}

/* Right checksums for what can have one; right: the header before it was changed. */
static void reseal(unsigned char *bytes, size_t size, const struct cache_header *right)
{
    struct cache_header *h = (struct cache_header *)(void *)bytes;
    struct cache_block *b = (struct cache_block *)(void *)(bytes + right->directory);
    uint64_t blocks = h->blocks < right->blocks ? h->blocks : right->blocks;
    for (uint64_t i = 0; i < blocks; i++)
        if (b[i].offset < size && b[i].size <= size - b[i].offset)
            b[i].checksum = XXH3_64bits(bytes + b[i].offset, b[i].size);
    h->directory_checksum = XXH3_64bits(b, blocks * sizeof *b);
    h->checksum = XXH3_64bits(h, offsetof(struct cache_header, checksum));
}

/* Forged: wrong inside, but with right checksums. */
static void test_forged(void **state)
{
    (void)state;
    size_t size;
    unsigned char *right = sample(&size, false), *bytes = aligned_alloc(64, (size + 127) / 64 * 64);
    struct cache_header *h = (struct cache_header *)(void *)bytes;
    struct cache_layout layout;
    memcpy(bytes, right, size);
    struct cache_block *b = (struct cache_block *)(void *)(bytes + h->directory);
    cache_layout(b->rows, b->values, b->flags, &layout);
    int64_t *start = (int64_t *)(void *)(bytes + b->offset + layout.start);
    uint32_t *label = (uint32_t *)(void *)(bytes + b->offset + layout.label);
    uint32_t *index = (uint32_t *)(void *)(bytes + b->offset + layout.index);
    float *value = (float *)(void *)(bytes + b->offset + layout.value);
#define FORGED(change, what)                                                                                           \
    do {                                                                                                               \
        memcpy(bytes, right, size);                                                                                    \
        change;                                                                                                        \
        reseal(bytes, size, (struct cache_header *)(void *)right);                                                     \
        expect(bytes, size, "data.hc: damaged cache (" what ")");                                                      \
    } while (0)
    FORGED(start[1] = 1 << 30, "beginnings of rows");
    FORGED(start[1] = -1, "beginnings of rows");
    FORGED(start[0] = 1, "beginnings of rows");
    FORGED(label[3] = 4, "label without a name");
    FORGED(index[1] = index[0], "order of features");
    FORGED(index[b->values - 1] = 47236, "order of features");
    FORGED(value[7] = strtof("nan", NULL), "a value that is no number");
    FORGED(value[7] = strtof("inf", NULL), "a value that is no number");
    FORGED(b->rows += 100, "directory");
    FORGED(b->values = UINT64_MAX / 2, "directory");
    FORGED(b->offset += 64 * (size / 64), "directory");
    FORGED(b->flags = CACHE_DENSE | CACHE_ONES, "directory");
    FORGED(b->flags = CACHE_ZSTD, "size of a compressed block");
    FORGED(h->blocks = UINT64_MAX / 8, "directory");
    FORGED(h->blocks--, "totals");
    FORGED(h->directory += 4, "directory");
    FORGED(h->labels = UINT64_MAX, "names");
    FORGED(h->features = UINT64_MAX, "number of features");
    free(right);
    free(bytes);
}

static void test_standard_input(void **state)
{
    (void)state;
    char *text = text_file("not.hc", "a 1:1\n");
    const char *paths[] = {text};
    struct stream_options options = STREAM_OPTIONS_INIT;
    struct seen rows;
    hunch_error error;
    options.format = STREAM_CACHE;
    assert_int_equal(seen_try(paths, 1, &options, &rows, NULL, &error), HUNCH_EINVAL);
    assert_non_null(strstr(error.message, "not.hc: is not a cache"));
    path_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_text), cmocka_unit_test(test_renumbered), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_every_byte),   cmocka_unit_test(test_forged),     cmocka_unit_test(test_standard_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
