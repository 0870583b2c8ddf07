/* SPDX-License-Identifier: BSD-3-Clause */
/* Model files: atomic, refused with a reason when they are not what they should be; merging is exact for counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "bytes.h"
#include "covariance.h"
#include "learner.h"
#include "../temporary.h"

static char *path;

/* rank: of its span, unless it is 0 */
static hunch *trained_with(const char *spec, uint32_t rank)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch *h = NULL;
    options.learner = spec;
    options.classes = 3;
    assert_int_equal(hunch_create(&h, &options, NULL), HUNCH_OK);
    if (rank)
        assert_int_equal(covariance_take_number(&h->state, rank), HUNCH_OK);
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t index[] = {i % 3, 5};
        float value[] = {1, 0.5f};
        hunch_vec x = {index, value, 2};
        hunch_choice c;
        assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == i % 3), HUNCH_OK);
    }
    return h;
}

static hunch *trained(const char *spec)
{
    return trained_with(spec, 0);
}

static void file_write(const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
}

static void refused_with(const char *reason)
{
    hunch *h = NULL;
    hunch_error error = {""};
    assert_int_not_equal(hunch_load(&h, path, &error), HUNCH_OK);
    assert_null(h);
    if (!strstr(error.message, reason))
        fail_msg("\"%s\" does not say \"%s\"", error.message, reason);
}

static void test_save_and_load(void **state)
{
    (void)state;
    hunch *h = trained("banditron"), *loaded = NULL;
    assert_int_equal(hunch_save(h, path, NULL), HUNCH_OK);
    assert_int_equal(hunch_save(h, path, NULL), HUNCH_OK); /* over the old one */
    assert_int_equal(hunch_load(&loaded, path, NULL), HUNCH_OK);
    assert_int_equal(hunch_rounds(loaded), 30);
    assert_int_equal(hunch_features(loaded), 6);
    assert_string_equal(hunch_spec(loaded), hunch_spec(h));
    hunch_free(loaded);
    hunch_free(h);
}

static void test_refusals(void **state)
{
    (void)state;
    hunch *h = trained("banditron");
    char *bytes;
    size_t size;
    assert_int_equal(hunch_write(h, (void **)&bytes, &size, NULL), HUNCH_OK);
    unlink(path);
    refused_with("No such file");
    file_write("", 0);
    refused_with("not a hunch model");
    file_write("GIF89a, certainly not a model of ours", 37);
    refused_with("not a hunch model");
    file_write(bytes, size - 1);
    refused_with("checksum");
    bytes[size / 2] ^= 1;
    file_write(bytes, size);
    refused_with("checksum");
    bytes[size / 2] ^= 1;
    bytes[8] = 99; /* the version, before the checksum is looked at: a newer format may have another one */
    file_write(bytes, size);
    refused_with("newer version");
    hunch_free_bytes(bytes);
    hunch_free(h);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    refused_with("not a file");
    rmdir(path);
}

/* The bytes of h as older versions wrote them: before 3 without the columns' weights, before 2 without the confidence
 * at the end. To be freed. */
static char *older_bytes(const hunch *h, uint32_t version, size_t *ret_size)
{
    const size_t checksum = sizeof(uint64_t), confidence = 98 * sizeof(double);
    struct writer front = {0}, weights = {0};
    char *bytes, *now;
    size_t size;
    assert_int_equal(hunch_write(h, (void **)&bytes, &size, NULL), HUNCH_OK);
    if (version < 3)
        relevance_put(&weights, &h->front.relevance, h->front.scale.columns);
    front_put(&front, &h->front);
    front.bytes = malloc(front.used);
    size_t length = front.used, used;
    front.used = 0;
    front_put(&front, &h->front);
    now = memmem(bytes, size, front.bytes, length);
    assert_non_null(now);
    memmove(now + length - weights.used, now + length, size - (size_t)(now - bytes) - length);
    used = size - weights.used - checksum - (version < 2 ? confidence : 0);
    memcpy(bytes + strlen("HUNCHMDL"), &version, sizeof version);
    uint64_t sum = XXH3_64bits(bytes, used);
    memcpy(bytes + used, &sum, sizeof sum);
    free(front.bytes);
    *ret_size = used + checksum;
    return bytes;
}

static void test_older_formats_are_read(void **state)
{
    (void)state;
    hunch *h = trained("confident:matrix=diag,scale=auto,map=fourier");
    float value[] = {1, 2}, want[3], got[3];
    hunch_vec x = {NULL, value, 2};
    assert_int_equal(hunch_scores(h, &x, want), HUNCH_OK);
    for (uint32_t version = 1; version <= 2; version++) {
        hunch *loaded = NULL;
        hunch_error error = {""};
        double weight = 0;
        size_t size;
        char *bytes = older_bytes(h, version, &size);
        assert_int_equal(hunch_read(&loaded, bytes, size, &error), HUNCH_OK);
        assert_int_equal(hunch_scores(loaded, &x, got), HUNCH_OK);
        assert_memory_equal(got, want, sizeof want);
        assert_int_equal(hunch_get_weight(loaded, 5, &weight), HUNCH_OK);
        assert_true(weight == 1);
        hunch_free_bytes(bytes);
        hunch_free(loaded);
    }
    hunch_free(h);
}

/* Fourier features of before angles were whole numbers are others, and stay as they were; they cannot be merged with
 * those of now. */
static void test_angles_of_before_are_read(void **state)
{
    (void)state;
    static const char *const spec = "confident:matrix=diag,scale=auto,map=fourier";
    hunch *h = trained(spec), *before = trained(spec), *loaded = NULL, *again = NULL;
    float value[] = {1, 2}, want[3], got[3];
    hunch_vec x = {NULL, value, 2};
    size_t size;
    assert_int_equal(hunch_scores(before, &x, got), HUNCH_OK);
    map_free(&before->front.map);
    before->front.map.real_angles = true;
    assert_int_equal(map_reserve(&before->front.map, before->front.scale.columns), HUNCH_OK);
    assert_int_equal(hunch_scores(before, &x, want), HUNCH_OK);
    assert_memory_not_equal(got, want, sizeof want);
    char *bytes = older_bytes(before, 3, &size);
    assert_int_equal(hunch_read(&loaded, bytes, size, NULL), HUNCH_OK);
    hunch_free_bytes(bytes);
    assert_int_equal(hunch_write(loaded, (void **)&bytes, &size, NULL), HUNCH_OK); /* and as a model of now */
    assert_int_equal(hunch_read(&again, bytes, size, NULL), HUNCH_OK);
    hunch_free_bytes(bytes);
    assert_int_equal(hunch_scores(loaded, &x, got), HUNCH_OK);
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(hunch_scores(again, &x, got), HUNCH_OK);
    assert_memory_equal(got, want, sizeof want);
    assert_int_equal(hunch_merge(again, h), HUNCH_EUNSUPPORTED);
    hunch_free(again);
    hunch_free(loaded);
    hunch_free(before);
    hunch_free(h);
}

/* Behind few pairs a span had 128 directions, of which a model file said nothing; it has 112 now, which it tells. */
static void test_a_rank_of_before_is_read(void **state)
{
    (void)state;
    for (uint32_t rank = 112; rank <= 128; rank += 16) {
        hunch *h = trained_with("confident:matrix=span,scale=auto,map=pairs", rank), *loaded = NULL;
        float value[] = {1, 2}, want[3], got[3];
        hunch_vec x = {NULL, value, 2};
        void *bytes;
        size_t size;
        assert_int_equal(h->state.covariance.rank, rank);
        assert_int_equal(covariance_saved(&h->state), rank == 128 ? 0 : rank);
        assert_int_equal(hunch_write(h, &bytes, &size, NULL), HUNCH_OK);
        assert_int_equal(hunch_read(&loaded, bytes, size, NULL), HUNCH_OK);
        assert_int_equal(loaded->state.covariance.rank, rank);
        assert_int_equal(hunch_scores(h, &x, want), HUNCH_OK);
        assert_int_equal(hunch_scores(loaded, &x, got), HUNCH_OK);
        assert_memory_equal(got, want, sizeof want);
        hunch_free_bytes(bytes);
        hunch_free(loaded);
        hunch_free(h);
    }
}

static void test_failed_save_keeps_the_old_model(void **state)
{
    (void)state;
    hunch *h = trained("banditron"), *loaded = NULL;
    hunch_error error = {""};
    assert_int_equal(hunch_save(h, "/nonexistent/folder/model", &error), HUNCH_EIO);
    assert_non_null(strstr(error.message, "/nonexistent/folder/model"));
    assert_int_equal(hunch_save(h, path, NULL), HUNCH_OK);
    assert_int_equal(hunch_load(&loaded, path, NULL), HUNCH_OK);
    hunch_free(loaded);
    hunch_free(h);
}

static void test_merge(void **state)
{
    (void)state;
    hunch *a = trained("banditron"), *b = trained("banditron"), *c = trained("soba");
    double before, after;
    assert_int_equal(hunch_get(a, "W", 5, 0, &before), HUNCH_OK);
    assert_int_equal(hunch_merge(a, b), HUNCH_OK); /* the mean of two equal models */
    assert_int_equal(hunch_get(a, "W", 5, 0, &after), HUNCH_OK);
    assert_true(before == after);
    assert_int_equal(hunch_rounds(a), 60);
    assert_int_equal(hunch_merge(a, c), HUNCH_EINVAL);
    assert_int_equal(hunch_merge(a, a), HUNCH_EINVAL);
    hunch_free(a);
    hunch_free(b);
    hunch_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_save_and_load),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_older_formats_are_read),
        cmocka_unit_test(test_angles_of_before_are_read),
        cmocka_unit_test(test_a_rank_of_before_is_read),
        cmocka_unit_test(test_failed_save_keeps_the_old_model),
        cmocka_unit_test(test_merge),
    };
    char *folder = temporary_folder();
    if (!folder || asprintf(&path, "%s/model", folder) < 0)
        return 1;
    int failed = cmocka_run_group_tests_name("model", tests, NULL, NULL);
    failed += temporary_remove(folder) != 0;
    free(folder);
    free(path);
    return failed;
}
