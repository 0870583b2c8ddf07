/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a shared journal: what is written is read back; anything else is refused, whatever its bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/record.h"

static struct event *example_event(enum event_kind kind)
{
    static const char x[] = "{\"hour\":0.7,\"user=42\":1}";
    struct event *e = event_for_example(kind, x, sizeof x - 1);
    e->source = (struct event_source){.origin = 0x0123456789abcdef, .counter = 7};
    e->time_ms = 1700000000123;
    if (kind == EVENT_DECISION || kind == EVENT_FEEDBACK) {
        e->source.handle = HANDLE_BIT | 99;
        e->key = 0xfedcba9876543210;
    }
    if (kind == EVENT_DECISION) {
        e->choice = (hunch_choice){.round = 5, .prob = 0.1, .label = 2, .greedy = 1, .note = 3};
        e->seen = 11;
        e->chooser = CHOSEN_BY_CONTROL;
        e->unknown_chance = e->deferred = true;
        e->model_chance = 0.7;
        e->act_at = 0.9;
        e->act = 3;
        event_set_eligible(e, strdup("0-3,7"));
        event_set_given_id(e, strdup("page 7f3a 12"));
    }
    e->answer.right = kind == EVENT_FEEDBACK || kind == EVENT_RETIRE;
    e->answer.silent = (kind == EVENT_FEEDBACK);
    e->answer.active = (kind == EVENT_FEEDBACK);
    e->label = kind == EVENT_LESSON ? 4 : NO_LABEL;
    e->seq = kind == EVENT_HASH ? 1000 : 0;
    e->key = kind == EVENT_HASH ? 0xabc : e->key;
    return e;
}

static void test_read_back(void **state)
{
    (void)state;
    for (int kind = EVENT_DECISION; kind <= EVENT_HASH; kind++) {
        if (kind == EVENT_LATE || kind == EVENT_ACTIVATE) /* are feedback in the journal */
            continue;
        struct http_error err = {0};
        struct text t = {0};
        struct event *e = example_event((enum event_kind)kind), *read = NULL;
        record_write(e, &t);
        assert_true(record_read(t.data, t.length, &read, &err));
        assert_int_equal(read->kind, kind);
        assert_memory_equal(&read->source, &e->source, sizeof e->source);
        assert_memory_equal(&read->choice, &e->choice, sizeof e->choice);
        assert_int_equal(read->time_ms, e->time_ms);
        assert_int_equal(read->key, e->key);
        assert_int_equal(read->seq, e->seq);
        assert_int_equal(read->seen, e->seen);
        assert_int_equal(read->chooser, e->chooser);
        assert_int_equal(read->unknown_chance, e->unknown_chance);
        assert_int_equal(read->deferred, e->deferred);
        assert_true(read->model_chance == e->model_chance);
        assert_true(read->act_at == e->act_at && read->act == e->act);
        assert_int_equal(read->label, e->label);
        assert_int_equal(read->answer.right, e->answer.right);
        assert_int_equal(read->answer.label, e->answer.label);
        assert_int_equal(read->answer.silent, e->answer.silent);
        assert_int_equal(read->answer.active, e->answer.active);
        assert_int_equal(!read->eligible, !e->eligible);
        assert_int_equal(!read->given_id, !e->given_id);
        if (e->given_id)
            assert_string_equal(read->given_id, e->given_id);
        if (e->eligible)
            assert_string_equal(read->eligible, e->eligible);
        assert_int_equal(read->x_length, e->x_length);
        assert_memory_equal(read->x, e->x, e->x_length);
        assert_true(read->room >= 2); /* features */
        event_free(read);
        event_free(e);
        text_free(&t);
    }
}

static void test_a_broker_ahead_of_most_nodes(void **state)
{
    (void)state;
    const int64_t now = 1700000000000, year = INT64_C(31536000000);
    assert_int_equal(record_time(now, now), now);
    assert_int_equal(record_time(now, now + year), now); /* nodes ahead */
    assert_int_equal(record_time(now + CLOCK_SLACK_MS, now), now + CLOCK_SLACK_MS);
    assert_int_equal(record_time(now + year, now), now + CLOCK_SLACK_MS);
    assert_int_equal(record_time(now + year, 0), now + year); /* no node knows */
}

static void test_anything_else(void **state)
{
    (void)state;
    static const size_t fixed[] = {120, 46, 28, 26, 46, 27, 46, 26, 42}; /* bytes before the text */
    for (int kind = EVENT_DECISION; kind <= EVENT_HASH; kind++) {
        struct text t = {0};
        struct event *e = example_event((enum event_kind)kind);
        record_write(e, &t);
        for (size_t n = 0; n < t.length;
             n++) { /* cut short; a copy of its own, so that a sanitizer sees reads beyond it */
            struct http_error err = {0};
            struct event *read = NULL;
            char *cut = malloc(n ? n : 1);
            memcpy(cut, t.data, n);
            bool ok = record_read(cut, n, &read, &err);
            assert_int_equal(ok, n >= fixed[kind] + (kind == EVENT_LESSON ? 4 : 0));
            if (ok)
                event_free(read);
            else
                assert_string_equal(err.code, "damaged");
            free(cut);
        }
        for (int byte = 0; byte < 2; byte++) { /* a format or a kind that is not known */
            struct http_error err = {0};
            struct event *read = NULL;
            char was = t.data[byte];
            t.data[byte] = 77;
            assert_false(record_read(t.data, t.length, &read, &err));
            assert_string_equal(err.code, "newer");
            t.data[byte] = was;
        }
        event_free(e);
        text_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read_back), cmocka_unit_test(test_anything_else),
                                       cmocka_unit_test(test_a_broker_ahead_of_most_nodes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
