/* SPDX-License-Identifier: BSD-3-Clause */
/* The sub-commands, one file each, and what they share. */
#ifndef CLI_H
#define CLI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <getopt.h>
#include <jansson.h>

#include "hunch.h"

/* Exit codes of every command. Interrupted work that printed what it had ends with EXIT_INTERRUPTED. */
enum { EXIT_DONE = 0, EXIT_USAGE = 1, EXIT_INPUT = 2, EXIT_SYSTEM = 3, EXIT_INTERRUPTED = 130 };

/* argv[0] is the sub-command's name. */
#define COMMAND(name, title) int cmd_##name(int argc, char **argv);
#define NET_COMMAND COMMAND
#include "commands.h"
#undef COMMAND
#undef NET_COMMAND

/* Becomes hunch-net, which has the commands that need the network; returns an exit code where that fails. */
int net_start(int argc, char **argv);

/* What getopt_long returns for the first option of a table, whether it has a letter or not. */
enum { CLI_OWN = 256 };

/* "hunch: " and the message on standard error; both return the exit code. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The exit code of a failed library call: what the user gave (2) or what the system did (3). */
int cli_code(hunch_status status);
/* getopt_long whose messages begin with "hunch: ". */
int cli_getopt(int argc, char **argv, const char *letters, const struct option *options);
/* getopt_long has already named the bad option: say where help is. */
int cli_bad_option(const char *command);

/* The argument of option --name as a number; false: it is none or out of bounds, and the user has been told. */
bool cli_number(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *ret);
/* The one of words (NULL at the end) that text is; -1: none, and the user has been told. */
int cli_word(const char *name, const char *text, const char *const *words);

/* End the program now, with what was printed, while other threads may still wait for input that never comes. */
_Noreturn void cli_leave(int code);
/* What was printed must have arrived: a full disk is not success. Returns code, or EXIT_SYSTEM instead of 0. */
int cli_flush(int code);

/* From now on Ctrl-C and SIGTERM set this instead of ending the program; a second one ends it. */
const atomic_bool *cli_catch_interrupts(void);

/* Whether a file could be written there, before work begins whose results it is to hold. */
int cli_check_path(const char *path);
/* A file for results, "-" for standard output; NULL: the user has been told. cli_close returns the exit code. */
FILE *cli_create(const char *path);
int cli_close(FILE *file, const char *path);
/* Prints value and lets go of it; NULL is "out of memory". Returns the exit code. */
int cli_json(json_t *value, size_t flags);

void *cli_alloc(size_t count, size_t size); /* zeroed; ends the program when there is no memory */
/* "there is no WHAT 'text'", with the nearest of words if one is near, else with the hint. Returns EXIT_USAGE. */
int cli_unknown(const char *what, const char *text, const char *const *words, size_t n, const char *hint);

#endif
