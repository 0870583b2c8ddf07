/* SPDX-License-Identifier: BSD-3-Clause */
#include "state/table.h"

#include <string.h>

#include "state/params.h"

#define ALGO(name) extern const struct algo algo_##name;
#include "algo/list.h"
#undef ALGO

static const struct algo *const algorithms[] = {
#define ALGO(name) &algo_##name,
#include "algo/list.h"
#undef ALGO
};

static const hunch_algorithm *const infos[] = {
#define ALGO(name) &algo_##name.info,
#include "algo/list.h"
#undef ALGO
};

#define COUNT (sizeof algorithms / sizeof *algorithms)

const struct algo *table_find(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(algorithms[i]->info.name, name))
            return algorithms[i];
    return NULL;
}

size_t hunch_algorithms(const hunch_algorithm *const **ret)
{
    if (ret)
        *ret = infos;
    return COUNT;
}

const hunch_setting *hunch_common_settings(void)
{
    return params_common;
}

const char *hunch_default_learner(void)
{
    return "panel";
}

const char *hunch_version(void)
{
    return HUNCH_VERSION;
}
