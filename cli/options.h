/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The options of a command, stated once. From its tables come parsing, --help, the OPTIONS section of its man page
 * (tools/man_options.py writes it and a test compares) and the completion of bash, zsh and fish, which ask
 * `hunch COMMAND --help=options`. `--help` fits one screen; `--help=all` describes every option.
 *
 * To add an option, add a row to the command's table, or to a table that several commands share (data_options in
 * data.c: everything that reads data; learners_options in learners.c; laboratory_options in laboratory.c):
 *
 *     {"curve", 0, "FILE", NULL, "write the learning curves", TO_TEXT(struct run_options, curve)},
 *      name, letter, argument, default, help (a clause without a full stop), where the value goes
 *
 * and run `tools/man_options.py HUNCH --write`. The default is text that is taken like an argument, before those of the
 * command line; NULL leaves the field as it is. A row that must do more than store a value names a function: TO_CALL.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_kind { OPTION_TEXT, OPTION_SET, OPTION_WORD, OPTION_NUMBER, OPTION_REAL, OPTION_CALL };

struct option_value {
    enum option_kind kind;
    size_t offset, size; /* of the field, in the struct of the group */
    double low, high;    /* bounds; low: what OPTION_SET stores, where OPTION_WORD counts from */
    const char *const *words;
    bool (*take)(void *at, const char *argument); /* false: it is bad, and the user has been told */
};

#define OPTION_FIELD(type, field) offsetof(type, field), sizeof(((type *)0)->field)
/* clang-format off */
#define TO_TEXT(type, field) {OPTION_TEXT, OPTION_FIELD(type, field), 0, 0, NULL, NULL}
/* An option without an argument: stores value in a bool, an enum or a number. */
#define TO_SET(type, field, value) {OPTION_SET, OPTION_FIELD(type, field), value, 0, NULL, NULL}
/* One of words (NULL at the end): stores its position, counted from first, in a bool, an enum or an int. */
#define TO_WORD(type, field, first, words) {OPTION_WORD, OPTION_FIELD(type, field), first, 0, words, NULL}
/* A whole number, into an unsigned field of 4 or 8 bytes; UINT64_MAX may be written as such. */
#define TO_NUMBER(type, field, low, high) {OPTION_NUMBER, OPTION_FIELD(type, field), low, (double)(high), NULL, NULL}
#define TO_REAL(type, field, low, high) {OPTION_REAL, OPTION_FIELD(type, field), low, high, NULL, NULL}
#define TO_CALL(function) {OPTION_CALL, 0, 0, 0, 0, NULL, function}
/* clang-format on */

struct cli_option {
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* what --help calls it; NULL: there is none. FILE, DIR, MODEL and SPEC are completed */
    const char *fallback; /* the default; NULL: none that could be written down */
    const char *help;
    struct option_value value;
};

/* Options that go into one struct. */
struct option_group {
    const char *title;             /* NULL: "Options", or goes on with the one before */
    const struct cli_option *rows; /* {0} at the end */
    void *at;
};

/* What --help says around the options. */
struct command_text {
    const char *usage; /* without "Usage: "; several lines are fine */
    const char *about;
    const char *common; /* names of the most used options, separated by spaces; NULL: --help describes all options */
    void (*lists)(bool all); /* prints more before the options, for --help=all at length; NULL: nothing */
    const char *notes;       /* below them; NULL: nothing */
    const char *examples;    /* one on each line */
};

/* Defaults, then the command line; groups end with {0}. -1: go on, with operands from optind; else the exit code. */
int options_parse(const struct command_text *text, const struct option_group *groups, int argc, char **argv);

#endif
