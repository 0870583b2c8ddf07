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

#include "state/state_bytes.h"
#include "covariance/covariance.h"
#include "api/learner.h"
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
    bytes[8] = 99; /* the version: damage, unless the checksum vouches for it */
    file_write(bytes, size);
    refused_with("checksum");
    uint64_t sum = XXH3_64bits(bytes, size - 8);
    memcpy(bytes + size - 8, &sum, 8);
    file_write(bytes, size);
    refused_with("newer version");
    hunch_free_bytes(bytes);
    hunch_free(h);
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    refused_with("not a file");
    rmdir(path);
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
