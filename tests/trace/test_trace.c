/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replays the traces that the NumPy references wrote (tests/trace/make_traces.py): the same labels and greedy labels
 * in every round, probabilities and scores within tolerance. Every algorithm in the table must have a trace.
 * Usage: test_trace FOLDER...
 */
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hunch.h"

#define FEATURES_MAX 4096
#define CLASSES_MAX 64

struct round {
    uint32_t y, label, greedy;
    double prob, scores[CLASSES_MAX];
    uint32_t index[FEATURES_MAX];
    float value[FEATURES_MAX];
    size_t n;
};

struct trace {
    char spec[512];
    unsigned classes;
    unsigned long long seed;
    double tolerance;
};

#define SCALED_TOLERANCE                                                                                               \
    fmax(HUNCH_TRACE_TOLERANCE, 1e-4) /* columns on a common scale are floats in double builds, too */

#define CLOUDS_TOLERANCE fmax(HUNCH_TRACE_TOLERANCE, 1e-3) /* long examples have large coordinates, squared as floats */
#define SPAN_TOLERANCE fmax(HUNCH_TRACE_TOLERANCE, 1e-5)   /* its steps are floats, too */

static bool near(const struct trace *t, double got, double want)
{
    return fabs(got - want) <= t->tolerance * (1 + fabs(want));
}

/* "y | i:v i:v | label greedy prob | s s s" */
static bool round_parse(char *line, unsigned classes, struct round *ret)
{
    char *part[4], *at = line;
    for (int i = 0; i < 4; i++)
        if (!(part[i] = strsep(&at, "|")))
            return false;
    ret->y = (uint32_t)strtoul(part[0], NULL, 10);
    ret->n = 0;
    for (char *token; (token = strsep(&part[1], " "));) {
        if (!*token)
            continue;
        char *colon = strchr(token, ':');
        if (!colon || ret->n == FEATURES_MAX)
            return false;
        ret->index[ret->n] = (uint32_t)strtoul(token, NULL, 10);
        ret->value[ret->n++] = strtof(colon + 1, NULL);
    }
    if (sscanf(part[2], "%u %u %lf", &ret->label, &ret->greedy, &ret->prob) != 3)
        return false;
    char *end = part[3];
    for (unsigned k = 0; k < classes; k++)
        ret->scores[k] = strtod(end, &end);
    return true;
}

static bool round_replay(hunch *h, const struct round *r, const struct trace *t, const char *name, int number)
{
    hunch_vec x = {r->index, r->value, r->n};
    hunch_choice c;
    float scores[CLASSES_MAX];
    if (hunch_scores(h, &x, scores) != HUNCH_OK || hunch_predict(h, &x, &c) != HUNCH_OK) {
        printf("%s: round %d: %s\n", name, number, hunch_reason(h));
        return false;
    }
    for (unsigned k = 0; k < t->classes; k++)
        if (!near(t, scores[k], r->scores[k])) {
            printf("%s: round %d: score of label %u is %.9g, the reference has %.9g\n", name, number, k, scores[k],
                   r->scores[k]);
            return false;
        }
    if (c.label != r->label || c.greedy != r->greedy || !near(t, c.prob, r->prob)) {
        printf("%s: round %d: label %u greedy %u prob %.9g, the reference has %u %u %.9g\n", name, number, c.label,
               c.greedy, c.prob, r->label, r->greedy, r->prob);
        return false;
    }
    hunch_status status =
        hunch_algorithm_of(h)->full_information ? hunch_teach(h, &x, r->y) : hunch_feedback(h, &x, &c, c.label == r->y);
    return status == HUNCH_OK;
}

static hunch *trace_open(FILE *f, struct trace *t, const char *name)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error;
    hunch *h = NULL;
    if (fscanf(f, "spec: %511s\nclasses: %u\nseed: %llu\n", t->spec, &t->classes, &t->seed) != 3 ||
        t->classes > CLASSES_MAX) {
        printf("%s: not a trace\n", name);
        return NULL;
    }
    t->tolerance = strstr(t->spec, "scale=auto")      ? SCALED_TOLERANCE
                   : strstr(t->spec, "clouds:from=3") ? CLOUDS_TOLERANCE
                   : strstr(t->spec, "matrix=span")   ? SPAN_TOLERANCE
                                                      : HUNCH_TRACE_TOLERANCE;
    options.learner = t->spec;
    options.classes = t->classes;
    options.seed = t->seed;
    if (hunch_create(&h, &options, &error) != HUNCH_OK)
        printf("%s: %s\n", name, error.message);
    return h;
}

static bool trace_replay(const char *path, const char *name, bool *seen)
{
    static struct round r;
    struct trace t;
    char *line = NULL;
    size_t room = 0;
    int number = 0;
    bool good = false;
    FILE *f = fopen(path, "r");
    hunch *h = f ? trace_open(f, &t, name) : NULL;
    if (h) {
        const hunch_algorithm *const *list;
        size_t n = hunch_algorithms(&list);
        for (size_t i = 0; i < n; i++)
            seen[i] |= list[i] == hunch_algorithm_of(h);
        good = true;
        while (good && getline(&line, &room, f) > 0)
            good = round_parse(line, t.classes, &r) && round_replay(h, &r, &t, name, ++number);
        good = good && number > 0;
    }
    printf("%s %s (%d rounds)\n", good ? "ok  " : "FAIL", name, number);
    free(line);
    hunch_free(h);
    if (f)
        fclose(f);
    return good;
}

/* Replays every trace of a folder; false: it cannot be read. */
static bool folder_replay(const char *folder, bool *seen, int counts[2])
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(name);
        if (length > 6 && !strcmp(name + length - 6, ".trace")) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", folder, name);
            counts[trace_replay(path, name, seen)]++;
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n >= 0;
}

int main(int argc, char **argv)
{
    bool seen[256] = {false};
    int counts[2] = {0, 0}; /* failed, passed */
    for (int i = 1; i < argc || i == 1; i++)
        if (i == argc || !folder_replay(argv[i], seen, counts)) {
            fprintf(stderr, "usage: test_trace FOLDER...\n");
            return 2;
        }
    const hunch_algorithm *const *list;
    size_t algorithms = hunch_algorithms(&list);
    for (size_t i = 0; i < algorithms; i++)
        if (!seen[i]) {
            printf("FAIL %s has no trace\n", list[i]->name);
            counts[0]++;
        }
    printf("%d traces agree, %d failures\n", counts[1], counts[0]);
    return counts[0] != 0;
}
