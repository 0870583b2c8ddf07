/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

/* The members that were read, as "kk=v" with the kind's letter, in memory that ends with the text; "!": unsupported. */
static void scan(const char *text, char *ret)
{
    size_t length = strlen(text);
    char *copy = malloc(length + 1);
    struct json_scan s;
    struct json_value v;
    assert_non_null(copy);
    memcpy(copy, text, length);
    *ret = 0;
    if (!json_scan_begin(&s, copy, copy + length)) {
        strcpy(ret, "no object");
    } else {
        while (json_scan_next(&s, &v)) {
            ret += sprintf(ret, "%.*s=%c%.*s ", (int)s.key_length, s.key, "snwN{["[v.kind], (int)v.length, v.text);
            if (v.kind == JSON_VALUE_OBJECT || v.kind == JSON_VALUE_ARRAY)
                s.at = json_value_end(v.text, s.end, UINT_MAX);
        }
        strcpy(ret, s.unsupported ? "!" : json_scan_ended(&s) ? "" : "more");
    }
    free(copy);
}

static void test_scan(void **state)
{
    static const char *const cases[][2] = {
        {" {\"a\" : \"b\", \"c\":1.5e-3 ,\"d\":true,\"e\":null}\r\n", "a=sb c=n1.5e-3 d=wtrue e=Nnull "},
        {"{}", ""},
        {"{\"\":\"\"}", "=s "},
        {"{\"a\":{\"x\":[1,\"}\"]},\"b\":[{}]}", "a={ b=[ "},
        {"{\"stra\xc3\x9f"
         "e\":\"\xf0\x9f\x98\x80\"}",
         "stra\xc3\x9f"
         "e=s\xf0\x9f\x98\x80 "},
        {"[1]", "no object"},
        {"", "no object"},
        {"{", "!"},
        {"{\"a\"", "!"},
        {"{\"a\":1", "!"},
        {"{\"a\":12345678901234567890}", "!"}, /* more digits than fit */
        {"{\"a\":123456789012345678}", "a=n123456789012345678 "},
        {"{\"a\":01}", "!"},
        {"{\"a\":1.}", "!"},
        {"{\"a\":1e}", "!"},
        {"{\"a\":-}", "!"},
        {"{\"a\":nul}", "!"},
        {"{\"a\":1,}", "a=n1 !"},
        {"{,\"a\":1}", "!"},
        {"{\"a\":1 \"b\":2}", "a=n1 !"},
        {"{\"a\\n\":1}", "!"},
        {"{\"a\":\"\xc0\x80\"}", "!"},
        {"{\"a\":\"\xc3\"}", "!"},
        {"{\"a\":\"tab\there\"}", "!"},
        {"{\"a\":1} x", "a=n1 more"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[200];
        scan(cases[i][0], got);
        assert_string_equal(got, cases[i][1]);
    }
}

static void test_value_end(void **state)
{
    static const struct {
        const char *text;
        unsigned depth;
        size_t end;
    } cases[] = {{"[1,2],3", 8, 5}, {"{\"a\":[\"]\\\"\"]}}", 8, 13},
                 {"12:", 8, 2},     {"[[[1]]]", 2, 2},
                 {"[[1]]", 2, 5},   {"\"a\\", 8, 3},
                 {"", 8, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = cases[i].text;
        assert_int_equal(json_value_end(text, text + strlen(text), cases[i].depth) - text, cases[i].end);
    }
}

static void append(void *to, const char *bytes, size_t n)
{
    strncat(to, bytes, n);
}

static void test_quote(void **state)
{
    static const char *const cases[][2] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a\"b\\c\n\x7f", "\"a\\\"b\\\\c\\u000a\\u007f\""},
        {"\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\x9f\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"x\xff\xc3", "\"x\\ufffd\\ufffd\""},
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""}, /* half of a pair */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[100] = "";
        json_quote(append, got, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(got, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scan), cmocka_unit_test(test_value_end),
                                       cmocka_unit_test(test_quote)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
