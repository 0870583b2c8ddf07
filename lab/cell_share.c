/* SPDX-License-Identifier: BSD-3-Clause */
#include "cell_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ranks.h"

/* {"status", "message", "cells": [[number, cached, what came out], ...]} */
static char *mine_write(const struct cell *cells, size_t n, hunch_status status, const char *message)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && !status; i++)
        if (ranks_mine(i) && cells[i].done)
            json_array_append_new(list, json_pack("[I, b, o]", (json_int_t)i, cells[i].cached, cell_json(&cells[i])));
    json_t *all = json_pack("{s:i, s:s, s:o}", "status", (int)status, "message", message, "cells", list);
    char *text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    return text;
}

static bool theirs_read(struct cell *cells, size_t n, const json_t *list)
{
    const json_t *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        json_int_t number;
        json_t *result;
        int cached;
        if (json_unpack((json_t *)one, "[I, b, o]", &number, &cached, &result) || number < 0 || (size_t)number >= n ||
            !cell_read(&cells[number], result))
            return false;
        cells[number].cached = cached;
    }
    return true;
}

static hunch_status rank_take(struct cell *cells, size_t n, const struct ranks_bytes *all, size_t rank,
                              hunch_error *reterr)
{
    json_t *json = json_loadb(all->bytes[rank], all->size[rank], 0, NULL);
    const char *message = json_string_value(json_object_get(json, "message"));
    hunch_status status = (hunch_status)json_integer_value(json_object_get(json, "status"));
    if (!json)
        status = error_memory(reterr);
    else if (status)
        status = error_set(reterr, status, "%s", message ? message : "");
    else if (!ranks_mine(rank) && !theirs_read(cells, n, json_object_get(json, "cells")))
        status = error_set(reterr, HUNCH_EIO, "process %zu is another version, or works on other data", rank);
    json_decref(json);
    return status;
}

hunch_status cells_share(struct cell *cells, size_t n, hunch_status status, hunch_error *reterr)
{
    if (ranks_count() == 1)
        return status;
    struct ranks_bytes all = {0};
    char *mine = mine_write(cells, n, status, status && reterr ? reterr->message : "");
    hunch_status shared = ranks_gather(mine ? mine : "", mine ? strlen(mine) : 0, &all, reterr);
    for (size_t i = 0; i < ranks_count() && !shared; i++)
        shared = rank_take(cells, n, &all, i, reterr);
    ranks_bytes_free(&all);
    free(mine);
    return shared;
}
