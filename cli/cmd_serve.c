/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch serve: from arguments to serve_options; the server itself is in serve/. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "serve.h"

static const char help[] =
    "Usage: hunch serve --dir FOLDER [OPTION ...]\n"
    "Answer predictions over HTTP and learn from feedback whenever it comes.\n\n"
    "  --dir FOLDER             models and logs; made if need be (default: hunch-state)\n"
    "  --listen HOST:PORT       (default: 127.0.0.1:8811; port 0: any free one)\n"
    "  --tokens FILE            who may do what: lines of \"read|write|admin TOKEN\"; read anew on SIGHUP\n"
    "  --insecure               listen beyond this machine without tokens\n"
    "  --tls-cert FILE --tls-key FILE   speak TLS (PEM)\n"
    "  --threads N              for requests (default: one per processor)\n"
    "  --snapshot-events N      events between snapshots of a model (default: 100000)\n"
    "  --snapshot-seconds N     or so much time (default: 300)\n"
    "  --keep-days D            delete older decisions from the log (default: 0, keep all)\n"
    "  --no-vacuum              do not give the room of deleted decisions back to the disk\n"
    "  --drain-seconds N        for requests under way when stopping (default: 10)\n"
    "  --log-requests           one line on standard error per request\n"
    "  --verify                 do not serve: replay every log from its start and compare\n"
    "Limits:\n"
    "  --max-body BYTES (1048576)   --max-header BYTES (16384)    --max-depth N (8)\n"
    "  --max-features N (10000, in one example)                   --max-names N (1000000, in a model's dictionary)\n"
    "  --max-batch N (1000)         --max-labels N (10000)        --max-models N (100)\n"
    "  --max-connections N (4096)   --idle-seconds N (60)         --request-seconds N (30)\n"
    "  --max-queue N (65536, events of a model not yet on disk)\n\n"
    "Examples:\n"
    "  hunch serve --dir state\n"
    "  curl -X PUT localhost:8811/v1/models/news -d '{\"labels\":[\"sports\",\"politics\",\"tech\"]}'\n"
    "  curl localhost:8811/v1/models/news/predict -d '{\"x\":{\"user=42\":1,\"hour\":0.7}}'\n"
    "Endpoints and files: hunch-serve(1). A page that shows it all: http://localhost:8811/\n";

/* One option: where its value goes, and what it may be. */
struct serve_flag {
    const char *name;
    enum { FLAG_HELP, FLAG_TEXT, FLAG_YES, FLAG_NO, FLAG_UNSIGNED, FLAG_SIZE, FLAG_U64, FLAG_DAYS } kind;
    void *at;
    double low, high;
};

#define FLAGS 32

static size_t list_flags(struct serve_options *o, struct serve_flag ret[FLAGS])
{
    struct limits *l = &o->limits;
    const struct serve_flag all[] = {
        {"help", FLAG_HELP, NULL, 0, 0},
        {"dir", FLAG_TEXT, &o->dir, 0, 0},
        {"listen", FLAG_TEXT, &o->listen, 0, 0},
        {"tokens", FLAG_TEXT, &o->tokens, 0, 0},
        {"tls-cert", FLAG_TEXT, &o->tls_cert, 0, 0},
        {"tls-key", FLAG_TEXT, &o->tls_key, 0, 0},
        {"insecure", FLAG_YES, &o->insecure, 0, 0},
        {"log-requests", FLAG_YES, &o->log_requests, 0, 0},
        {"verify", FLAG_YES, &o->verify, 0, 0},
        {"no-vacuum", FLAG_NO, &o->vacuum, 0, 0},
        {"threads", FLAG_UNSIGNED, &o->threads, 0, 1024},
        {"drain-seconds", FLAG_UNSIGNED, &o->drain_s, 0, 3600},
        {"snapshot-events", FLAG_U64, &o->snapshot_events, 1, 1e15},
        {"snapshot-seconds", FLAG_UNSIGNED, &o->snapshot_s, 1, 1e7},
        {"keep-days", FLAG_DAYS, &o->keep_days, 0, 1e5},
        {"max-body", FLAG_SIZE, &l->body, 64, 1e9},
        {"max-header", FLAG_SIZE, &l->header, 1024, 1e8},
        {"max-depth", FLAG_UNSIGNED, &l->depth, 3, 1000},
        {"max-features", FLAG_SIZE, &l->features, 1, HUNCH_MAX_FEATURES},
        {"max-names", FLAG_SIZE, &l->names, 1, HUNCH_MAX_FEATURES},
        {"max-batch", FLAG_SIZE, &l->batch, 1, 1e6},
        {"max-labels", FLAG_SIZE, &l->labels, 1, HUNCH_MAX_CLASSES},
        {"max-models", FLAG_UNSIGNED, &l->models, 1, 1e5},
        {"max-connections", FLAG_UNSIGNED, &l->connections, 1, 1e6},
        {"idle-seconds", FLAG_UNSIGNED, &l->idle_s, 1, 1e6},
        {"request-seconds", FLAG_UNSIGNED, &l->request_s, 1, 1e6},
        {"max-queue", FLAG_SIZE, &l->queue, 1, 1 << 24},
    };
    _Static_assert(sizeof all / sizeof *all < FLAGS, "room for all of them");
    memcpy(ret, all, sizeof all);
    return sizeof all / sizeof *all;
}

static bool set_flag(const struct serve_flag *f, const char *text)
{
    uint64_t v = 0;
    char *end;
    switch (f->kind) {
    case FLAG_TEXT:
        *(const char **)f->at = text;
        return true;
    case FLAG_YES:
    case FLAG_NO:
        *(bool *)f->at = f->kind == FLAG_YES;
        return true;
    case FLAG_DAYS:
        *(double *)f->at = strtod(text, &end);
        if (*text && !*end && *(double *)f->at >= f->low && *(double *)f->at <= f->high)
            return true;
        cli_fail(EXIT_USAGE, "--%s needs a number of days, not '%s'", f->name, text);
        return false;
    default:
        if (!cli_number(f->name, text, (uint64_t)f->low, (uint64_t)f->high, &v))
            return false;
    }
    if (f->kind == FLAG_UNSIGNED)
        *(unsigned *)f->at = (unsigned)v;
    else if (f->kind == FLAG_SIZE)
        *(size_t *)f->at = (size_t)v;
    else
        *(uint64_t *)f->at = v;
    return true;
}

int cmd_serve(int argc, char **argv)
{
    static const int codes[] = {EXIT_DONE, EXIT_USAGE, EXIT_INPUT, EXIT_SYSTEM};
    struct serve_options o;
    struct serve_flag flags[FLAGS];
    struct option options[FLAGS + 1] = {{0}};
    hunch_error error = {{0}};
    serve_defaults(&o);
    size_t n = list_flags(&o, flags);
    for (size_t i = 0; i < n; i++)
        options[i] = (struct option){flags[i].name,
                                     flags[i].kind == FLAG_HELP || flags[i].kind == FLAG_YES || flags[i].kind == FLAG_NO
                                         ? no_argument
                                         : required_argument,
                                     NULL, CLI_OWN + (int)i};
    for (int c; (c = cli_getopt(argc, argv, "h", options)) != -1;) {
        if (c == 'h' || c == CLI_OWN) {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (c < CLI_OWN)
            return cli_bad_option("serve");
        if (!set_flag(&flags[c - CLI_OWN], optarg))
            return EXIT_USAGE;
    }
    if (optind < argc)
        return cli_usage("serve", "unexpected argument '%s'", argv[optind]);
    if (o.limits.batch > o.limits.queue)
        o.limits.batch = o.limits.queue;
    enum serve_result result = serve_run(&o, &error);
    return result == SERVE_DONE ? EXIT_DONE : cli_fail(codes[result], "%s", error.message);
}
