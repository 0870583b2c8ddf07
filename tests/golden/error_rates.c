/* SPDX-License-Identifier: BSD-3-Clause */
/* Error rates on SynSep and SynNonSep over seeds 101 .. 120, one line per (data, spec): the float build's must not
 * differ from the double build's (tools/compare_precision.py runs the test). */
#include <stdio.h>
#include <stdlib.h>

#include "hunch.h"
#include "synsep.h"

#define ROWS 20000
#define SEEDS 20

static double error_rate(const struct synsep *data, const char *spec, uint64_t seed)
{
    static hunch_choice choices[ROWS];
    hunch_options options = HUNCH_OPTIONS_INIT;
    hunch_batch batch = {data->rows, data->start, data->index, data->value, 0};
    hunch *h = NULL;
    hunch_error error;
    unsigned wrong = 0;
    options.learner = spec;
    options.classes = SYN_CLASSES;
    options.seed = seed;
    if (hunch_create(&h, &options, &error) != HUNCH_OK ||
        hunch_run_batch(h, &batch, data->label, choices, NULL) != HUNCH_OK) {
        fprintf(stderr, "%s: %s\n", spec, h ? hunch_reason(h) : error.message);
        exit(1);
    }
    hunch_free(h);
    for (uint32_t i = 0; i < data->rows; i++)
        wrong += choices[i].label != data->label[i];
    return (double)wrong / data->rows;
}

int main(void)
{
    static const char *const formats[] = {"banditron:gamma=2^%d", "newtron:gamma=2^%d,estimator=author,step=rescale",
                                          "soba:gamma=2^%d,margin=author"};
    struct synsep data;
    for (int noisy = 0; noisy < 2; noisy++) {
        synsep_make(&data, ROWS, 1, noisy ? 0.05 : 0);
        for (int f = 0; f < 3; f++)
            for (int gamma = -6; gamma <= -3; gamma++) {
                char spec[100];
                snprintf(spec, sizeof spec, formats[f], gamma);
                printf("%s %s", noisy ? "synnonsep" : "synsep", spec);
                for (uint64_t seed = 101; seed < 101 + SEEDS; seed++)
                    printf(" %.17g", error_rate(&data, spec, seed));
                printf("\n");
            }
        synsep_free(&data);
    }
    return 0;
}
