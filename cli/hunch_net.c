/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands that need the network, started by hunch: see net_start.c. Their libraries, and those that these need,
 * take as long to load as all else together. */
#include <string.h>

#include "cli.h"

static int command_run(int argc, char **argv)
{
#define COMMAND(name, title)
#define NET_COMMAND(name, title)                                                                                       \
    if (argc > 0 && !strcmp(argv[0], #name))                                                                           \
        return cmd_##name(argc, argv);
#include "commands.h"
#undef COMMAND
#undef NET_COMMAND
    return cli_fail(EXIT_USAGE, "this program is a part of hunch; 'hunch --help' lists the commands");
}

int main(int argc, char **argv)
{
    return cli_flush(command_run(argc - 1, argv + 1));
}
