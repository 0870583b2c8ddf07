/* SPDX-License-Identifier: BSD-3-Clause */
/* The sub-commands, one file each, and what they share. */
#ifndef CLI_H
#define CLI_H

/* Exit codes of every command. Interrupted work that printed what it had ends with EXIT_INTERRUPTED. */
enum { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_SYSTEM = 3, EXIT_INTERRUPTED = 130 };

/* argv[0] is the sub-command's name. */
#define COMMAND(name, title) int cmd_##name(int argc, char **argv);
#include "commands.h"
#undef COMMAND

#endif
