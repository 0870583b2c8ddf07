/* SPDX-License-Identifier: BSD-3-Clause */
/* The hunch command: finds the sub-command and calls it. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct command {
    const char *name, *title;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND(name, title) {#name, title, cmd_##name},
#define NET_COMMAND(name, title) {#name, title, net_start},
#include "commands.h"
#undef COMMAND
#undef NET_COMMAND
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out)
{
    fputs("Usage: hunch COMMAND [OPTION ...] [FILE ...]\n"
          "Online multiclass classification from right/wrong (bandit) feedback.\n\n"
          "Commands:\n",
          out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].title);
    fputs("\nOptions:\n"
          "  -h, --help     show this text; 'hunch COMMAND --help' shows the options of a command\n"
          "  -V, --version  show the version; the manual is hunch(1)\n\n"
          "Examples:\n"
          "  hunch run tickets.csv --save model.hunch --report report.html\n"
          "  hunch predict model.hunch tickets.csv\n",
          out);
}

static int command_unknown(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    return cli_unknown("command", name, names, COMMANDS, "'hunch --help' lists them");
}

static int command_run(int argc, char **argv)
{
    const char *name = argv[0];
    if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
        printf("hunch %s\n", hunch_version());
        return EXIT_DONE;
    }
    if (!strcmp(name, "--help") || !strcmp(name, "-h") || (!strcmp(name, "help") && argc == 1)) {
        help(stdout);
        return EXIT_DONE;
    }
    char *help_arguments[] = {argv[1], "--help", NULL};
    if (!strcmp(name, "help")) {
        argc = 2;
        argv = help_arguments;
        name = argv[0];
    }
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return commands[i].run(argc, argv);
    return command_unknown(name);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    return cli_flush(command_run(argc - 1, argv + 1));
}
