/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch data: the data sets of the experiments; which are here, and how to get the others. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/catalogue.h"
#include "cli.h"
#include "data/download.h"
#include "options.h"
#include "data/prepare.h"
#include "play/store.h"
#include "stream.h"
#include "terminal.h"

struct command {
    struct catalogue catalogue;
    const char *to, *path;
    bool get, again, check, json, quiet;
    struct meter meter;
    const atomic_bool *stop;
};

static const struct command_text help = {
    .usage = "hunch data [OPTION ...] [NAME ...]\n"
             "       hunch data [OPTION ...] get NAME ...",
    .about = "List the data sets of the experiments, or describe those named. With get, fetch\n"
             "them from their original addresses, check them, and prepare the files that the\n"
             "experiments read. The folders in HUNCH_DATA and their subfolders are searched\n"
             "first.",
    .examples = "hunch data\n"
                "hunch data car usps\n"
                "hunch data --json",
};

static const struct cli_option option_table[] = {
    {"to", 0, "DIR", NULL, "get: write the files to DIR/NAME (default: the first folder of HUNCH_DATA, or ./data)",
     TO_TEXT(struct command, to)},
    {"again", 0, NULL, NULL, "get: fetch files again that exist already", TO_SET(struct command, again, true)},
    {"check", 0, NULL, NULL,
     "compare existing files with the known checksums, which are those of the uncompressed text",
     TO_SET(struct command, check, true)},
    {"json", 0, NULL, NULL, "print JSON", TO_SET(struct command, json, true)},
    {"catalogue", 0, "FILE", NULL, "read this catalogue instead of experiments/data.json",
     TO_TEXT(struct command, path)},
    {"quiet", 'q', NULL, NULL, "print no progress bar", TO_SET(struct command, quiet, true)},
    {0}};

/* --- what is there --- */

/* Of a file that is there: "good", "another version", or why it cannot be determined. */
static const char *sum_compare(const json_t *file, const char *where)
{
    char sum[CHECKSUM_TEXT];
    const char *known = catalogue_text(file, "sha256");
    if (checksum_file(where, true, sum, NULL))
        return "unreadable";
    return !*known ? "unknown" : strcmp(known, sum) ? "another version" : "good";
}

static size_t files_found(const json_t *set)
{
    const json_t *file;
    size_t i, n = 0;
    json_array_foreach(json_object_get(set, "files"), i, file)
    {
        char *where = catalogue_where(file);
        n += where != NULL;
        free(where);
    }
    return n;
}

static json_t *file_json(const struct command *c, const json_t *file)
{
    char *where = catalogue_where(file);
    json_t *out = json_pack("{s:s, s:O?, s:s?}", "name", catalogue_text(file, "name"), "sha256",
                            json_object_get(file, "sha256"), "path", where);
    if (c->check && where)
        json_object_set_new(out, "check", json_string(sum_compare(file, where)));
    free(where);
    return out;
}

static json_t *set_json(const struct command *c, const json_t *set)
{
    static const char *const copied[] = {"name",     "title",   "homepage",  "licence", "rows",
                                         "features", "classes", "originals", "notes"};
    json_t *out = json_object(), *files = json_array();
    const json_t *file;
    size_t i;
    for (i = 0; i < sizeof copied / sizeof *copied; i++)
        json_object_set(out, copied[i], json_object_get(set, copied[i]));
    json_array_foreach(json_object_get(set, "files"), i, file) json_array_append_new(files, file_json(c, file));
    json_object_set_new(out, "files", files);
    json_object_set_new(out, "found", json_boolean(files_found(set) == json_array_size(files)));
    json_object_set_new(out, "can_get", json_boolean(catalogue_can_get(set)));
    return out;
}

/* The folder of the first file that is there; malloc'd, or NULL. */
static char *set_folder(const json_t *set)
{
    const json_t *file;
    char *where = NULL;
    size_t i;
    json_array_foreach(json_object_get(set, "files"), i, file) if (!where) where = catalogue_where(file);
    char *slash = where ? strrchr(where, '/') : NULL;
    if (slash)
        *slash = '\0';
    else if (where)
        strcpy(where, ".");
    return where;
}

/* Of all files that are there, in a word. */
static const char *set_checked(const json_t *set)
{
    const json_t *file;
    const char *worst = "good";
    size_t i;
    json_array_foreach(json_object_get(set, "files"), i, file)
    {
        char *where = catalogue_where(file);
        const char *one = where ? sum_compare(file, where) : "good";
        if (strcmp(one, "good"))
            worst = one;
        free(where);
    }
    return worst;
}

static void set_line(const struct command *c, const json_t *set)
{
    const char *licence = catalogue_text(set, "licence");
    char rows[32], features[32], found[48];
    size_t files = json_array_size(json_object_get(set, "files")), here = files_found(set);
    char *folder = set_folder(set);
    snprintf(found, sizeof found, here == files ? "yes" : here ? "%zu of %zu files" : "no", here, files);
    printf("%-14s %9s %9s %8lld  %-30.*s %-14s ", catalogue_text(set, "name"),
           terminal_count(json_number_value(json_object_get(set, "rows")), rows),
           terminal_count(json_number_value(json_object_get(set, "features")), features),
           (long long)json_integer_value(json_object_get(set, "classes")), (int)strcspn(licence, "(,"), licence, found);
    if (c->check)
        printf("%-16s ", here ? set_checked(set) : "-");
    if (folder)
        puts(folder);
    else
        printf("%s%s\n", catalogue_can_get(set) ? "hunch data get " : "(must be fetched by hand)",
               catalogue_can_get(set) ? catalogue_text(set, "name") : "");
    free(folder);
}

static void file_print(const struct command *c, const json_t *file)
{
    char *where = catalogue_where(file);
    const char *sum = catalogue_text(file, "sha256");
    printf("file       %s: %s\n", catalogue_text(file, "name"), where ? where : "not found");
    printf("           SHA-256 of its text %s%s%s\n", *sum ? sum : "not known", c->check && where ? ": " : "",
           c->check && where ? sum_compare(file, where) : "");
    free(where);
}

static void set_print(const struct command *c, const json_t *set)
{
    const json_t *one;
    char rows[32], features[32];
    size_t i;
    printf("name       %s\ntitle      %s\nhomepage   %s\nlicence    %s\n", catalogue_text(set, "name"),
           catalogue_text(set, "title"), catalogue_text(set, "homepage"), catalogue_text(set, "licence"));
    printf("size       %s rows, %s features, %lld classes\n",
           terminal_count(json_number_value(json_object_get(set, "rows")), rows),
           terminal_count(json_number_value(json_object_get(set, "features")), features),
           (long long)json_integer_value(json_object_get(set, "classes")));
    json_array_foreach(json_object_get(set, "files"), i, one) file_print(c, one);
    json_array_foreach(json_object_get(set, "originals"), i, one)
    {
        const char *sum = catalogue_text(one, "sha256");
        printf("original   %s\n           SHA-256 %s\n", catalogue_text(one, "url"), *sum ? sum : "not known");
    }
    printf("notes      %s\n", catalogue_text(set, "notes"));
}

/* --- getting --- */

static void progress_show(void *context, uint64_t done, uint64_t total)
{
    struct command *c = context;
    meter_draw(&c->meter, "fetching", total ? (double)done / (double)total : -1, 0);
}

static char *path_in(const char *folder, const char *name, const char *ending)
{
    char *path;
    if (asprintf(&path, "%s/%s%s", folder, name, ending) < 0)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    return path;
}

/* The original beside the prepared files: fetched, or there already. */
static int original_get(struct command *c, const json_t *original, const char *path)
{
    const char *url = catalogue_text(original, "url"), *known = catalogue_text(original, "sha256");
    struct download_options options = {*known ? known : NULL, c->stop, progress_show, c};
    struct download done;
    hunch_error error;
    char bytes[32], sum[CHECKSUM_TEXT];
    if (!c->again && access(path, F_OK) == 0 && !checksum_file(path, false, sum, NULL) &&
        (!*known || !strcmp(known, sum))) {
        printf("%s is there already, SHA-256 %s (%s)\n", path, sum, *known ? "as expected" : "no checksum known");
        return EXIT_DONE;
    }
    meter_begin(&c->meter, !c->quiet);
    hunch_status status = download_file(url, path, &options, &done, &error);
    meter_end(&c->meter);
    if (status)
        return cli_fail(atomic_load(c->stop) ? EXIT_INTERRUPTED : cli_code(status), "%s", error.message);
    printf("fetched %s: %s bytes", url, terminal_count((double)done.bytes, bytes));
    if (done.resumed)
        printf(", the first %s from an earlier attempt", terminal_count((double)done.resumed, bytes));
    printf("\n  SHA-256 %s (%s)\n", done.sha256, *known ? "as expected" : "no checksum known");
    return EXIT_DONE;
}

static const char *sum_known(const json_t *set, const char *name)
{
    const json_t *file;
    size_t i;
    json_array_foreach(json_object_get(set, "files"), i,
                       file) if (!strcmp(catalogue_text(file, "name"), name)) return catalogue_text(file, "sha256");
    return "";
}

static int step_take(const struct command *c, const json_t *set, const json_t *step, const char *folder)
{
    const json_t *names = json_object_get(step, "from"), *one;
    const char *to = catalogue_text(step, "to"), *known = sum_known(set, to);
    char *path = path_in(folder, to, ".svm"), rows[32], features[32];
    char **from = cli_alloc(json_array_size(names), sizeof *from);
    struct prepared done;
    hunch_error error;
    hunch_status status = HUNCH_OK;
    size_t i;
    json_array_foreach(names, i, one) from[i] = path_in(folder, json_string_value(one), "");
    if (c->again || access(path, F_OK)) {
        status = prepare_file(step, (const char *const *)from, json_array_size(names), path, &done, &error);
        if (!status)
            printf("wrote %s: %s; %s rows, %s features, %" PRIu32 " classes\n  SHA-256 %s (%s)\n", path, done.what,
                   terminal_count((double)done.rows, rows), terminal_count(done.features, features), done.classes,
                   done.sha256,
                   !*known                      ? "no checksum known"
                   : strcmp(known, done.sha256) ? "another version than the one known"
                                                : "as known");
    } else {
        printf("%s is there already\n", path);
    }
    for (i = 0; i < json_array_size(names); i++)
        free(from[i]);
    free(from);
    int code = status ? cli_fail(cli_code(status), "%s: %s", path, error.message) : EXIT_DONE;
    free(path);
    return code;
}

/* HUNCH_DATA's first folder, or ./data. */
static char *folder_choose(const struct command *c, const char *name)
{
    const char *data = getenv("HUNCH_DATA");
    char *folder = c->to                           ? strdup(c->to)
                   : data && *data && *data != ':' ? strndup(data, strcspn(data, ":"))
                                                   : strdup("data");
    if (!folder)
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    char *path = path_in(folder, name, "");
    free(folder);
    return path;
}

static int set_get(struct command *c, const json_t *set)
{
    const char *name = catalogue_text(set, "name");
    const json_t *one;
    hunch_error error;
    size_t i;
    int code = EXIT_DONE;
    if (!c->to && !c->again && files_found(set) == json_array_size(json_object_get(set, "files"))) {
        char *where = set_folder(set);
        printf("%s is in %s already\n", name, where ? where : "?");
        free(where);
        return EXIT_DONE;
    }
    if (!catalogue_can_get(set))
        return cli_fail(EXIT_INPUT, "%s cannot be fetched by this command: %s", name, catalogue_text(set, "notes"));
    char *folder = folder_choose(c, name);
    if (store_folder(folder, &error))
        code = cli_fail(EXIT_SYSTEM, "%s", error.message);
    json_array_foreach(json_object_get(set, "originals"), i, one)
    {
        char *path = path_in(folder, catalogue_text(one, "name"), "");
        code = code ? code : original_get(c, one, path);
        free(path);
    }
    json_array_foreach(json_object_get(set, "prepare"), i, one) code = code ? code : step_take(c, set, one, folder);
    if (!code) {
        printf("licence: %s\n", catalogue_text(set, "licence"));
        if (files_found(set) < json_array_size(json_object_get(set, "files")))
            printf("put %.*s into HUNCH_DATA, and experiments will find it\n", (int)(strlen(folder) - strlen(name) - 1),
                   folder);
    }
    free(folder);
    return code;
}

/* --- the command --- */

static int names_take(struct command *c, char **names, size_t n)
{
    json_t *list = json_array();
    int code = EXIT_DONE;
    for (size_t i = 0; i < n && !code; i++) {
        const json_t *set = catalogue_find(&c->catalogue, names[i]);
        if (!set)
            code = cli_fail(EXIT_INPUT, "there is no data set '%s'; 'hunch data' lists them", names[i]);
        else if (c->get)
            code = set_get(c, set);
        else if (c->json)
            json_array_append_new(list, set_json(c, set));
        else {
            printf("%s", i ? "\n" : "");
            set_print(c, set);
        }
    }
    if (!code && c->json && !c->get)
        return cli_json(list, JSON_INDENT(2));
    json_decref(list);
    return code;
}

static int all_list(const struct command *c)
{
    json_t *list = json_array();
    const json_t *set;
    size_t i;
    if (!c->json)
        printf("%-14s %9s %9s %8s  %-30s %-14s %s%s\n", "name", "rows", "features", "classes", "licence", "found",
               c->check ? "checksum         " : "", "where");
    json_array_foreach(c->catalogue.sets, i, set)
    {
        if (c->json)
            json_array_append_new(list, set_json(c, set));
        else
            set_line(c, set);
    }
    if (c->json)
        return cli_json(list, JSON_INDENT(2));
    json_decref(list);
    puts("\nhunch data NAME describes one: addresses, checksums, notes.");
    return EXIT_DONE;
}

static int options_check(struct command *c, int argc, char **argv)
{
    c->get = optind < argc && !strcmp(argv[optind], "get");
    optind += c->get;
    if (c->get && optind == argc)
        return cli_usage(argv[0], "expected the name of a data set after get");
    if (!c->get && (c->to || c->again))
        return cli_usage(argv[0], "--to and --again need get");
    return -1;
}

int cmd_data(int argc, char **argv)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct command c = {0};
    hunch_error error;
    int code = options_parse(&help, (struct option_group[]){{NULL, option_table, &c}, {0}}, argc, argv);
    if (code < 0)
        code = options_check(&c, argc, argv);
    if (code >= 0)
        return code;
    if (c.get) {
        c.stop = cli_catch_interrupts();
        sigaction(SIGXFSZ, &ignore, NULL); /* a limit on file sizes is an error like a full disk */
    }
    hunch_status status = catalogue_open(&c.catalogue, c.path, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    code = optind < argc ? names_take(&c, argv + optind, (size_t)(argc - optind)) : all_list(&c);
    catalogue_close(&c.catalogue);
    return code;
}
