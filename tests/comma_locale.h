/* SPDX-License-Identifier: BSD-3-Clause */
/* A locale with a decimal comma, made for the test: not every machine has one. */
#ifndef COMMA_LOCALE_H
#define COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "temporary.h"

/* Sets it; false: localedef, or the sources of de_DE, are not there. */
static inline bool comma_locale_set(void)
{
    char *folder = temporary_folder(), *command = NULL;
    bool set = false;
    if (folder && asprintf(&command, "localedef -c -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1", folder) > 0) {
        int code = system(command); /* it may warn, and make it all the same */
        (void)code;
        setenv("LOCPATH", folder, 1);
        set = setlocale(LC_ALL, "de_DE.UTF-8") && localeconv()->decimal_point[0] == ',';
        unsetenv("LOCPATH");
        temporary_remove(folder);
    }
    free(command);
    free(folder);
    if (!set)
        printf("SKIPPED: no locale with a decimal comma can be made\n");
    return set;
}

static inline void comma_locale_reset(void)
{
    setlocale(LC_ALL, "C");
}

#endif
