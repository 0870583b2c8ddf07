/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/spell.h"

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

int cli_check_path(const char *path)
{
    char *copy = strdup(path), *slash = copy ? strrchr(copy, '/') : NULL;
    if (slash)
        slash[slash == copy] = 0;
    const char *folder = slash ? copy : ".";
    struct stat there;
    int code = EXIT_DONE;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        code = cli_fail(EXIT_SYSTEM, "%s: is a directory", path);
    else if (access(folder, F_OK))
        code = cli_fail(EXIT_SYSTEM, "%s: there is no folder '%s'", path, folder);
    else if (access(folder, W_OK | X_OK) && access(path, W_OK))
        code = cli_fail(EXIT_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    free(copy);
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
    errno = 0;
    bool failed = fflush(file) || ferror(file);
    int why = errno;
    if (file != stdout && fclose(file) && !failed) {
        failed = true;
        why = errno;
    }
    if (!failed)
        return EXIT_DONE;
    struct stat there;
    bool half = file != stdout && stat(path, &there) == 0 && S_ISREG(there.st_mode) && unlink(path) == 0;
    return cli_fail(EXIT_SYSTEM, "%s: writing failed%s%s%s", path, why ? ": " : "", why ? strerror(why) : "",
                    half ? "; what there was of it is removed" : "");
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

int cli_unknown(const char *what, const char *text, const char *const *words, size_t n, const char *hint)
{
    struct spell spell = spell_begin(text);
    for (size_t i = 0; i < n; i++)
        spell_try(&spell, words[i]);
    if (spell.best)
        return cli_fail(EXIT_USAGE, "there is no %s '%s'; did you mean '%s'?", what, text, spell.best);
    return cli_fail(EXIT_USAGE, "there is no %s '%s'; %s", what, text, hint);
}
