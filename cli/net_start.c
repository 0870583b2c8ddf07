/* SPDX-License-Identifier: BSD-3-Clause */
/* From hunch to hunch-net: the commands that need the network. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "libexec_folder.h"

#define NET "hunch-net"

/* Whether the program is there; where it is, this does not return. */
static bool net_try(const char *folder, const char *below, char **argv)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s/" NET, folder, below);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    execv(path, argv);
    return errno != ENOENT && errno != ENOTDIR;
}

/* The folder of the program that runs; false: the system does not tell. */
static bool own_folder(char *ret, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", ret, size - 1);
    if (n <= 0)
        return false;
    ret[n] = '\0';
    char *end = strrchr(ret, '/');
    if (!end)
        return false;
    *end = '\0';
    return true;
}

/* Beside hunch as it is built, below the same prefix as it is installed, or where it was to be installed. */
int net_start(int argc, char **argv)
{
    char folder[PATH_MAX], **arguments = malloc(((size_t)argc + 2) * sizeof *arguments);
    if (!arguments)
        return cli_fail(EXIT_SYSTEM, "out of memory");
    arguments[0] = "hunch";
    memcpy(arguments + 1, argv, (size_t)argc * sizeof *argv);
    arguments[argc + 1] = NULL;
    bool known = own_folder(folder, sizeof folder);
    bool there = known && (net_try(folder, "", arguments) || net_try(folder, "/../libexec/hunch", arguments));
    there = there || net_try(HUNCH_LIBEXEC, "", arguments);
    int error = errno;
    free(arguments);
    if (there)
        return cli_fail(EXIT_SYSTEM, "the program " NET " cannot be started: %s", strerror(error));
    return cli_fail(EXIT_SYSTEM, "'hunch %s' is part of the program " NET ", which is neither beside hunch nor in %s",
                    argv[0], HUNCH_LIBEXEC);
}
