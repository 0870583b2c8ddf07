/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders for tests, in TMPDIR. */
#ifndef TEMPORARY_H
#define TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>

/* A new folder; NULL: there is none. To be freed. */
static inline char *temporary_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *folder;
    if (asprintf(&folder, "%s/hunch-test-XXXXXX", base && *base ? base : "/tmp") < 0)
        return NULL;
    if (mkdtemp(folder))
        return folder;
    free(folder);
    return NULL;
}

static inline int temporary_remove(const char *folder)
{
    char *command;
    if (asprintf(&command, "rm -rf '%s'", folder) < 0)
        return -1;
    int code = system(command);
    free(command);
    return code;
}

#endif
