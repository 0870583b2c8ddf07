/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch serve: from arguments to serve_options; the server itself is in serve/. */
#include <string.h>

#include "cli.h"
#include "options.h"
#include "serve.h"

static const struct command_text help = {
    .usage = "hunch serve --dir FOLDER [OPTION ...]",
    .common = "dir listen tokens",
    .about = "Answer predictions over HTTP and learn from feedback whenever it arrives.",
    .notes = "hunch-serve(1) describes endpoints and files. Charts and models are on the page\n"
             "http://localhost:8811/",
    .examples = "hunch serve --dir state\n"
                "curl -X PUT localhost:8811/v1/models/news -d '{\"labels\":[\"sports\",\"politics\",\"tech\"]}'\n"
                "curl localhost:8811/v1/models/news/predict -d '{\"x\":{\"user=42\":1,\"hour\":0.7}}'\n"
                "curl localhost:8811/v1/models/news/feedback -d '{\"id\":\"...\",\"right\":false}'",
};

static const struct cli_option option_table[] = {
    {"dir", 0, "DIR", "hunch-state", "folder of models and logs; created if missing; one process at a time can use it",
     TO_TEXT(struct serve_options, dir)},
    {"listen", 0, "HOST:PORT", "127.0.0.1:8811",
     "address to listen on; port 0: any free port, printed on standard error; addresses that other machines can reach "
     "need --tokens or --insecure",
     TO_TEXT(struct serve_options, listen)},
    {"tokens", 0, "FILE", NULL,
     "access tokens: lines of \"read|write|admin TOKEN\"; each scope includes those before it; tokens have 8 to 256 "
     "characters; # starts a comment; SIGHUP rereads the file",
     TO_TEXT(struct serve_options, tokens)},
    {"insecure", 0, NULL, NULL, "listen on addresses that other machines can reach without tokens",
     TO_SET(struct serve_options, insecure, true)},
    {"tls-cert", 0, "FILE", NULL, "serve HTTPS with this certificate (PEM)", TO_TEXT(struct serve_options, tls_cert)},
    {"tls-key", 0, "FILE", NULL, "key of the certificate (PEM)", TO_TEXT(struct serve_options, tls_key)},
    {"threads", 0, "N", NULL, "number of threads for requests (default: the number of processors)",
     TO_NUMBER(struct serve_options, threads, 0, 1024)},
    {"snapshot-events", 0, "N", "100000", "write a snapshot of a model after N events",
     TO_NUMBER(struct serve_options, snapshot_events, 1, 1e15)},
    {"snapshot-seconds", 0, "N", "300", "or after N seconds", TO_NUMBER(struct serve_options, snapshot_s, 1, 1e7)},
    {"keep-days", 0, "D", "0",
     "delete decisions from the log after D days, once they have expired or have feedback and two snapshots no longer "
     "need them; 0: keep all",
     TO_REAL(struct serve_options, keep_days, 0, 1e5)},
    {"no-vacuum", 0, NULL, NULL, "do not return the space of deleted decisions to the file system",
     TO_SET(struct serve_options, vacuum, false)},
    {"scrub-hours", 0, "H", "24", "interval at which every log is checked for damage; 0: never",
     TO_REAL(struct serve_options, scrub_hours, 0, 1e5)},
    {"trust-clock", 0, NULL, NULL, "use the system's time even if it seems to have jumped since the last run",
     TO_SET(struct serve_options, trust_clock, true)},
    {"load", 0, "NAME=FILE,...", NULL, "create models from saved files, unless they exist",
     TO_TEXT(struct serve_options, load)},
    {"undelete-days", 0, "D", "0", "keep deleted models for D days (POST /v1/models/NAME/undelete)",
     TO_REAL(struct serve_options, undelete_days, 0, 1e5)},
    {"drain-seconds", 0, "N", "10", "seconds to wait for running requests when stopping",
     TO_NUMBER(struct serve_options, drain_s, 0, 3600)},
    {"log-requests", 0, NULL, NULL, "print one line per request on standard error",
     TO_SET(struct serve_options, log_requests, true)},
    {"kafka", 0, "FILE", NULL,
     "join a group of nodes over Apache Kafka; FILE has lines of \"name = value\" for librdkafka "
     "(bootstrap.servers ...) and for hunch (hunch.node ...)",
     TO_TEXT(struct serve_options, kafka)},
    {"models", 0, "PATTERN", NULL, "with --kafka: serve only models whose names match this shell pattern",
     TO_TEXT(struct serve_options, models)},
    {"verify", 0, NULL, NULL,
     "do not serve: rebuild every model from its newest snapshot and again from the beginning of its log, compare byte "
     "by byte, and print one line of JSON per model",
     TO_SET(struct serve_options, verify, true)},
    {"restore", 0, "FILE", NULL, "do not serve: put a backup (GET /v1/backup) into the folder, which must be empty",
     TO_TEXT(struct serve_options, restore)},
    {"verify-backup", 0, "FILE", NULL,
     "do not serve: unpack a backup into a temporary folder (in TMPDIR) and verify its models as --verify does",
     TO_TEXT(struct serve_options, verify_backup)},
    {"repair", 0, "WHAT", NULL,
     "do not serve: repair models whose status is degraded by keeping the state of the log or of the newest snapshot "
     "(log or snapshot)",
     TO_TEXT(struct serve_options, repair)},
    {0}};

static const struct cli_option limits[] = {
    {"max-body", 0, "BYTES", "1048576", "size of a request", TO_NUMBER(struct limits, body, 64, 1e9)},
    {"max-model", 0, "BYTES", "268435456",
     "size of an uploaded model file, and of a new model before it has learned anything",
     TO_NUMBER(struct limits, model, 64, 1e12)},
    {"max-header", 0, "BYTES", "16384", "memory of a connection for its request line and header fields",
     TO_NUMBER(struct limits, header, 1024, 1e8)},
    {"max-depth", 0, "N", "8", "nesting depth of JSON", TO_NUMBER(struct limits, depth, 3, 1000)},
    {"max-features", 0, "N", "10000", "features in one example",
     TO_NUMBER(struct limits, features, 1, HUNCH_MAX_FEATURES)},
    {"max-names", 0, "N", "1000000",
     "names in a model's dictionary of features, unless the model has its own limit; when it is full, a new name "
     "replaces the oldest one that was seen in one event only; if N is 65536 or more, the last eighth is shared "
     "fairly: no client can use more than an eighth of it",
     TO_NUMBER(struct limits, names, 1, HUNCH_MAX_FEATURES)},
    {"max-new-names", 0, "N", "0",
     "new feature names that one client (token, or address) may add to a model per minute; further ones are left "
     "out of the example and counted in the answer; 0: no limit",
     TO_NUMBER(struct limits, new_names, 0, HUNCH_MAX_FEATURES)},
    {"max-batch", 0, "N", "1000", "items in one request", TO_NUMBER(struct limits, batch, 1, 1e6)},
    {"max-labels", 0, "N", "10000", "labels of a model", TO_NUMBER(struct limits, labels, 1, HUNCH_MAX_CLASSES)},
    {"max-models", 0, "N", "100", "models of the server", TO_NUMBER(struct limits, models, 1, 1e5)},
    {"max-resident", 0, "N", "4096",
     "models in memory at the same time; the least recently used ones stay on disk until the next request",
     TO_NUMBER(struct limits, resident, 1, 1e6)},
    {"max-connections", 0, "N", "4096", "open connections", TO_NUMBER(struct limits, connections, 1, 1e6)},
    {"max-per-address", 0, "N", "2048", "open connections from one address; 0: no limit",
     TO_NUMBER(struct limits, per_address, 0, 1e6)},
    {"idle-seconds", 0, "N", "60", "close a connection after N seconds without a request",
     TO_NUMBER(struct limits, idle_s, 1, 1e6)},
    {"request-seconds", 0, "N", "30",
     "seconds within which a request must arrive completely; its answer must be read within as many, and a second for each 256 KiB",
     TO_NUMBER(struct limits, request_s, 1, 1e6)},
    {"deadline-seconds", 0, "N", "30", "seconds within which a request must be done; requests that wait longer get 503",
     TO_NUMBER(struct limits, deadline_s, 1, 1e6)},
    {"max-scores", 0, "N", "1000000", "scores that one request may ask for: rows x labels",
     TO_NUMBER(struct limits, scores, 1, 1e9)},
    {"max-answer", 0, "BYTES", "67108864",
     "size of the scores that one request may ask for; at most eight times as many bytes wait for clients to read them",
     TO_NUMBER(struct limits, answer, 1024, 1e12)},
    {"max-queue", 0, "N", "65536", "events of a model that are not yet on disk; beyond that, requests get 503",
     TO_NUMBER(struct limits, queue, 1, 1 << 24)},
    {0}};

int cmd_serve(int argc, char **argv)
{
    static const int codes[] = {EXIT_DONE, EXIT_USAGE, EXIT_INPUT, EXIT_SYSTEM};
    struct serve_options o = SERVE_OPTIONS_INIT;
    const struct option_group groups[] = {{NULL, option_table, &o}, {"Limits", limits, &o.limits}, {0}};
    hunch_error error = {{0}};
    int code = options_parse(&help, groups, argc, argv);
    if (code >= 0)
        return code;
    if (optind < argc)
        return cli_usage("serve", "unexpected argument '%s'", argv[optind]);
    if (o.repair && strcmp(o.repair, "log") != 0 && strcmp(o.repair, "snapshot") != 0)
        return cli_usage("serve", "--repair needs log or snapshot, not '%s'", o.repair);
    if (o.limits.batch > o.limits.queue)
        o.limits.batch = o.limits.queue;
    enum serve_result result = serve_run(&o, &error);
    return result == SERVE_DONE ? EXIT_DONE : cli_fail(codes[result], "%s", error.message);
}
