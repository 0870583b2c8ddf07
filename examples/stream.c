/* SPDX-License-Identifier: BSD-3-Clause */
/* Learns from a stream on standard input and prints its error. Each line: the true label (0 to 9), then feature:value
 * pairs; comments begin with #. Try it: hunch synth synsep --rows 5000 | ./stream */
#include <hunch.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_error error;
    hunch *h;
    options.classes = 10;
    if (hunch_create(&h, &options, &error) != HUNCH_OK)
        return fprintf(stderr, "%s\n", error.message), 1;
    static char line[1 << 16];
    int rounds = 0, wrong = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (*line == '#')
            continue;
        uint32_t index[1000];
        float value[1000];
        char *at = line;
        unsigned long y = strtoul(at, &at, 10);
        hunch_vec x = {index, value, 0};
        for (int used; x.n < 1000 && sscanf(at, " %u:%f%n", &index[x.n], &value[x.n], &used) == 2; at += used)
            x.n++;
        hunch_choice choice;
        if (hunch_predict(h, &x, &choice) != HUNCH_OK || hunch_feedback(h, &x, &choice, choice.label == y) != HUNCH_OK)
            return fprintf(stderr, "line %d: %s\n", rounds + 1, hunch_reason(h)), 1;
        rounds++;
        wrong += choice.label != y;
    }
    printf("%d rounds, %.2f %% wrong, with %s\n", rounds, rounds ? 100.0 * wrong / rounds : 0.0, hunch_spec(h));
    hunch_free(h);
    return 0;
}
