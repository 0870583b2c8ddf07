/* SPDX-License-Identifier: BSD-3-Clause */
#include "specs.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char *chosen; /* NULL: all */

void specs_choose(int argc, char **argv)
{
    chosen = argc > 1 ? argv[1] : NULL;
}

static bool algorithm_is_chosen(const char *spec)
{
    return !chosen || (!strncmp(spec, chosen, strlen(chosen)) && strchr(":", spec[strlen(chosen)]));
}

static void spec_visit(spec_check *check, const char *spec)
{
    print_message("           %s\n", spec);
    check(spec);
}

void specs_each(spec_check *check)
{
    const hunch_algorithm *const *list;
    size_t n = hunch_algorithms(&list), visited = 0;
    char spec[300];
    assert_true(n >= 9);
    for (size_t i = 0; i < n; i++) {
        if (!algorithm_is_chosen(list[i]->name))
            continue;
        visited++;
        spec_visit(check, list[i]->name);
        const hunch_setting *tables[] = {list[i]->settings, hunch_common_settings()};
        for (int t = 0; t < 2; t++)
            for (const hunch_setting *d = tables[t]; d->name; d++)
                for (int c = 0; d->choices && d->choices[c]; c++) {
                    if (!strcmp(d->choices[c], d->fallback) ||
                        (!strcmp(d->name, "map") && i % 6 && strcmp(list[i]->name, "panel")))
                        continue; /* what a map does is the same for all but panel: a few will do */
                    snprintf(spec, sizeof spec, "%s:%s=%s", list[i]->name, d->name, d->choices[c]);
                    spec_visit(check, spec);
                }
        snprintf(spec, sizeof spec, "%s:floor=0.3", list[i]->name);
        spec_visit(check, spec);
        snprintf(spec, sizeof spec, "%s:bias=1,normalize=l2,ties=random", list[i]->name);
        spec_visit(check, spec);
    }
    /* Fewer directions than the stream has features, so that they come, go and turn. */
    static const char *const more[] = {"confident:matrix=span,rank=3",
                                       "confident:matrix=span,rank=9,bias=1",
                                       "linucb:matrix=span,rank=3",
                                       "confidit:matrix=span,rank=4,project=yes",
                                       "arow:matrix=span,rank=2",
                                       "confidit:matrix=kernel,project=yes,budget=20",
                                       "confidit:matrix=kernel,kernel=linear,project=yes",
                                       "confidit:matrix=kernel,kernel=poly,project=clip",
                                       "soba:matrix=kernel,kernel=poly,degree=3,budget=20"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (algorithm_is_chosen(more[i]))
            spec_visit(check, more[i]);
    assert_int_equal(visited, chosen ? 1 : n);
}

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

void small_stream_make(struct small_stream *ret, uint64_t seed)
{
    uint64_t state = seed;
    int64_t used = 0;
    for (int i = 0; i < STREAM_ROWS; i++) {
        uint32_t y = (uint32_t)(next(&state) % STREAM_CLASSES);
        ret->start[i] = used;
        for (uint32_t j = 0; j < STREAM_FEATURES; j++) {
            uint64_t r = next(&state);
            int on = j % STREAM_CLASSES == y ? r % 4 != 0 : r % 5 == 0;
            if (!on)
                continue;
            ret->index[used] = j;
            ret->value[used++] = (float)((double)((r >> 32) % 64 + 1) / 64);
        }
        ret->label[i] = next(&state) % 10 ? y : (uint32_t)(next(&state) % STREAM_CLASSES);
    }
    ret->start[STREAM_ROWS] = used;
}

hunch_vec small_stream_row(const struct small_stream *s, int i)
{
    return (hunch_vec){s->index + s->start[i], s->value + s->start[i], (size_t)(s->start[i + 1] - s->start[i])};
}

hunch *learner_make(const char *spec, uint64_t seed)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error = {""};
    hunch *h = NULL;
    options.learner = spec;
    options.classes = STREAM_CLASSES;
    options.seed = seed;
    if (hunch_create(&h, &options, &error) != HUNCH_OK)
        fail_msg("%s: %s", spec, error.message);
    return h;
}

hunch_choice learner_play(hunch *h, const struct small_stream *s, int i)
{
    hunch_vec x = small_stream_row(s, i);
    hunch_choice c;
    assert_int_equal(hunch_predict(h, &x, &c), HUNCH_OK);
    if (hunch_algorithm_of(h)->full_information)
        assert_int_equal(hunch_teach(h, &x, s->label[i]), HUNCH_OK);
    else
        assert_int_equal(hunch_feedback(h, &x, &c, c.label == s->label[i]), HUNCH_OK);
    return c;
}

void learner_finite(const hunch *h, const char *when)
{
    hunch_tensor t;
    for (size_t n = 0; n < hunch_tensors(h, 0, NULL); n++) {
        hunch_tensors(h, n, &t);
        for (size_t i = 0; i < t.rows; i++)
            for (size_t j = 0; j < t.columns; j++) {
                double v = NAN;
                assert_int_equal(hunch_get(h, t.name, i, j, &v), HUNCH_OK);
                if (!isfinite(v))
                    fail_msg("%s, %s: %s[%zu,%zu] is %g", hunch_spec(h), when, t.name, i, j, v);
            }
    }
}

void learners_equal(const hunch *a, const hunch *b, const char *what)
{
    void *one, *two;
    size_t size_one, size_two;
    assert_int_equal(hunch_write(a, &one, &size_one, NULL), HUNCH_OK);
    assert_int_equal(hunch_write(b, &two, &size_two, NULL), HUNCH_OK);
    if (size_one != size_two || memcmp(one, two, size_one))
        fail_msg("%s: %s differ", hunch_spec(a), what);
    hunch_free_bytes(one);
    hunch_free_bytes(two);
}
