/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors, arrays, files that are replaced, the processor's name. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/cpu.h"
#include "base/replace.h"
#include "base/spell.h"

#include "../temporary.h"

static void test_errors(void **state)
{
    (void)state;
    hunch_error error;
    assert_int_equal(error_set(&error, HUNCH_EINVAL, "row %d", 3), HUNCH_EINVAL);
    assert_string_equal(error.message, "row 3");
    assert_int_equal(error_set(NULL, HUNCH_EIO, "row %d", 3), HUNCH_EIO);
    assert_int_equal(error_memory(&error), HUNCH_ENOMEM);
    assert_string_equal(quote("a\tb\xff\xc3\xa9", 6).text, "a\\x09b\\xff\xc3\xa9");
    char long_text[200];
    memset(long_text, 'x', sizeof long_text);
    assert_true(strlen(quote(long_text, sizeof long_text).text) < sizeof(struct quoted));
    assert_string_equal(quote(long_text, sizeof long_text).text + 56, "...");
}

static void test_sizes(void **state)
{
    (void)state;
    assert_true(size_mul(6, 7) == 42 && size_add(6, 7) == 13);
    assert_true(size_mul(SIZE_MAX / 2, 3) == SIZE_MAX && size_add(SIZE_MAX, 1) == SIZE_MAX);
}

static void test_array_grows(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t room = 0, moves = 0;
    for (uint32_t n = 0; n < 10000; n++) {
        size_t before = room;
        assert_true(array_reserve(&items, &room, (size_t)n + 1, sizeof *items));
        moves += room != before;
        items[n] = n;
    }
    for (uint32_t n = 0; n < 10000; n++)
        assert_int_equal(items[n], n);
    assert_true(room >= 10000 && moves < 25);
    uint32_t *before = items;
    size_t was = room;
    assert_false(array_reserve(&items, &room, SIZE_MAX / 2, sizeof *items));
    assert_false(array_resize(&items, SIZE_MAX, sizeof *items));
    assert_true(items == before && room == was);
    free(items);
}

static size_t files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t n = 0;
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void content_check(const char *path, const char *want)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    assert_string_equal(text, want);
}

static void test_replace(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[4096];
    struct replace r;
    struct stat st;
    hunch_error error;
    assert_non_null(folder);
    snprintf(path, sizeof path, "%s/file", folder);
    mode_t mask = umask(027);
    assert_int_equal(replace_file(path, 0666, "first", 5, NULL), HUNCH_OK);
    assert_int_equal(umask(mask), 027);
    content_check(path, "first");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(replace_open(&r, path, 0666, NULL), HUNCH_OK);
    fputs("second", r.file);
    assert_int_equal(files_in(folder), 2);
    replace_close(&r); /* not committed */
    content_check(path, "first");
    assert_int_equal(files_in(folder), 1);
    assert_int_equal(replace_open(&r, path, 0666, NULL), HUNCH_OK);
    fputs("second", r.file);
    assert_int_equal(replace_commit(&r, NULL), HUNCH_OK);
    replace_close(&r);
    content_check(path, "second");
    assert_int_equal(files_in(folder), 1);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0); /* a pipe stays a pipe */
    assert_int_equal(replace_file(path, 0666, "x", 1, &error), HUNCH_EIO);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* a folder cannot be replaced */
    assert_int_equal(replace_file(path, 0666, "x", 1, &error), HUNCH_EIO);
    assert_non_null(strstr(error.message, path));
    assert_int_equal(files_in(folder), 1);
    rmdir(path);
    rmdir(folder);
    assert_int_equal(replace_file(path, 0666, "x", 1, &error), HUNCH_EIO);
    free(folder);
}

static void test_cpu(void **state)
{
    (void)state;
    enum cpu best = cpu_best();
    assert_int_equal(cpu_chosen("plain"), CPU_PLAIN);
    assert_int_equal(cpu_chosen("abacus"), -1);
    setenv("HUNCH_CPU", "plain", 1);
    assert_int_equal(cpu_best(), CPU_PLAIN);
    setenv("HUNCH_CPU", "abacus", 1);
    assert_int_equal(cpu_best(), best);
    unsetenv("HUNCH_CPU");
}

static const char *nearest(const char *text)
{
    static const char *const words[] = {"banditron", "gamma", "eta", "label", "label-column", "ties"};
    struct spell spell = spell_begin(text);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        spell_try(&spell, words[i]);
    return spell.best ? spell.best : "";
}

static void test_spell(void **state)
{
    (void)state;
    assert_string_equal(nearest("banditrom"), "banditron"); /* changed */
    assert_string_equal(nearest("banditrn"), "banditron");  /* left out */
    assert_string_equal(nearest("banndittron"), "banditron");
    assert_string_equal(nearest("bandirton"), "banditron"); /* swapped */
    assert_string_equal(nearest("GAMA"), "gamma");
    assert_string_equal(nearest("labels"), "label");
    assert_string_equal(nearest("label-c"), "label-column"); /* begun */
    assert_string_equal(nearest("xyz"), "");
    assert_string_equal(nearest(""), "");
    char long_word[200];
    memset(long_word, 'a', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = 0;
    assert_string_equal(nearest(long_word), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),  cmocka_unit_test(test_sizes), cmocka_unit_test(test_array_grows),
        cmocka_unit_test(test_replace), cmocka_unit_test(test_cpu),   cmocka_unit_test(test_spell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
