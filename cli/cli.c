/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void message_print(const char *format, va_list arguments)
{
    fflush(stdout);
    fputs("hunch: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

int cli_fail(int code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_print(format, arguments);
    va_end(arguments);
    return code;
}

int cli_getopt(int argc, char **argv, const char *letters, const struct option *options)
{
    static char name[] = "hunch";
    char *command = argv[0];
    argv[0] = name;
    int option = getopt_long(argc, argv, letters, options, NULL);
    argv[0] = command;
    return option;
}

int cli_bad_option(const char *command)
{
    fprintf(stderr, "Try 'hunch %s --help'.\n", command);
    return EXIT_USAGE;
}

int cli_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    message_print(format, arguments);
    va_end(arguments);
    return cli_bad_option(command);
}

int cli_code(hunch_status status)
{
    switch (status) {
    case HUNCH_OK:
        return EXIT_DONE;
    case HUNCH_ENOMEM:
    case HUNCH_EIO:
        return EXIT_SYSTEM;
    default:
        return EXIT_INPUT;
    }
}

bool cli_number(const char *name, const char *text, uint64_t low, uint64_t high, uint64_t *ret)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end || errno || number < low || number > high) {
        cli_fail(EXIT_USAGE, "--%s=%s: must be a whole number from %llu to %llu", name, text, (unsigned long long)low,
                 (unsigned long long)high);
        return false;
    }
    *ret = number;
    return true;
}

int cli_word(const char *name, const char *text, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], text))
            return i;
    fprintf(stderr, "hunch: --%s=%s: must be one of", name, text);
    for (int i = 0; words[i]; i++)
        fprintf(stderr, "%s %s", i ? "," : "", words[i]);
    fputc('\n', stderr);
    return -1;
}

int cli_flush(int code)
{
    if (fflush(stdout) || ferror(stdout))
        return code ? code : cli_fail(EXIT_SYSTEM, "writing to standard output failed");
    return code;
}

FILE *cli_create(const char *path)
{
    FILE *file = strcmp(path, "-") ? fopen(path, "w") : stdout;
    if (!file)
        cli_fail(EXIT_SYSTEM, "%s: %s", path, strerror(errno));
    return file;
}

int cli_close(FILE *file, const char *path)
{
    bool failed = ferror(file) || fflush(file);
    if (file != stdout && fclose(file))
        failed = true;
    return failed ? cli_fail(EXIT_SYSTEM, "%s: writing failed", path) : EXIT_DONE;
}

int cli_json(json_t *value, size_t flags)
{
    int failed = json_dumpf(value, stdout, flags);
    json_decref(value);
    putchar('\n');
    return failed ? cli_fail(EXIT_SYSTEM, "writing the results as JSON failed") : EXIT_DONE;
}

void cli_leave(int code)
{
    _Exit(cli_flush(code));
}

/* The only thing that a signal handler could reach. */
static atomic_bool interrupted;

static void interrupt(int signal)
{
    (void)signal;
    atomic_store(&interrupted, true);
}

const atomic_bool *cli_catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &interrupted;
}

void *cli_alloc(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    return memory;
}

#define WORD_MAX 32

/* How many letters must be added, dropped, changed or swapped with a neighbour to get from a to b. */
static size_t distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned char d[WORD_MAX + 1][WORD_MAX + 1];
    if (n > WORD_MAX || m > WORD_MAX)
        return WORD_MAX;
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (!i || !j) {
                d[i][j] = (unsigned char)(i + j);
                continue;
            }
            int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = (unsigned char)best;
        }
    return d[n][m];
}

int cli_unknown(const char *what, const char *text, const char *const *words, size_t n, const char *hint)
{
    const char *best = NULL;
    size_t least = 3;
    for (size_t i = 0; i < n; i++) {
        size_t far = distance(text, words[i]);
        if (!strncmp(words[i], text, strlen(text)) && strlen(text) > 1)
            far = 1; /* the rest is missing */
        if (far < least) {
            least = far;
            best = words[i];
        }
    }
    if (best)
        return cli_fail(EXIT_USAGE, "there is no %s '%s'; did you mean '%s'?", what, text, best);
    return cli_fail(EXIT_USAGE, "there is no %s '%s'; %s", what, text, hint);
}
