/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch replay: learning from logged rounds, and the estimated accuracy of policies. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "data.h"
#include "report/html.h"
#include "cli_model.h"
#include "options.h"
#include "policy/replay.h"
#include "terminal.h"

struct command {
    struct policy *policies;
    size_t n, learners;
    struct logged_options log_options;
    struct replay_options options;
    const char *model_path, *save, *page;
    struct model model;
    struct names *labels; /* of the logs */
    FILE *copy;           /* of standard input */
    char copy_path[40];
    struct logged *log;
    struct replay replay;
    struct meter meter;
    double confidence; /* in percent */
    bool json, quiet;
};

static void progress_show(void *context, uint64_t rows, double fraction)
{
    struct command *c = context;
    meter_draw(&c->meter, "", fraction, rows);
}

/* --- report --- */

static const char *const intervals[] = {"normal", "bootstrap", "bernstein", "anytime", NULL};

static const char *policy_prefix(const struct policy *p)
{
    return p->kind == POLICY_MODEL ? "model " : p->kind == POLICY_LABEL ? "label:" : "";
}

static void estimate_print(const struct offpolicy_estimate *e)
{
    if (isnan(e->value))
        printf("%9s   %s\n", "-", "no answer");
    else if (isnan(e->low))
        printf("%9.4f   %s\n", e->value, "-");
    else
        printf("%9.4f   %.4f .. %.4f\n", e->value, e->low, e->high);
}

static void policy_print(const struct command *c, const struct policy *p)
{
    const struct offpolicy *r = &p->result;
    char effective[32], rounds[32], text[320];
    printf("\n%s%s\n", policy_prefix(p), p->name);
    for (enum offpolicy_method m = 0; m < OFFPOLICY_METHODS; m++) {
        printf("  %-6s", offpolicy_name(m));
        estimate_print(&r->estimate[m]);
    }
    printf("  %-6s%9.4f   prediction of the reward model alone\n", "direct", p->direct);
    if (r->rows)
        printf(
            "  %s effective rounds of %s; weights: largest %.4g, mean %.4f; the policy can choose the logged label in %.1f %%\n",
            terminal_count(r->effective, effective), terminal_count((double)r->rows, rounds), r->max_weight,
            r->mean_weight, 100 * r->matches);
    for (size_t i = 0; replay_warning(&c->replay, p, i, text, sizeof text); i++)
        printf("  warning: %s\n", text);
}

static void report_text(const struct command *c)
{
    const struct replay *r = &c->replay;
    char rounds[32], number[32];
    printf("%s rounds, %u labels, %s features; %.4f of the logged labels were right",
           terminal_count((double)r->rounds, rounds), names_count(logged_labels(c->log)),
           terminal_count(logged_width(c->log), number), (double)r->right / (double)r->rounds);
    if (r->weighted)
        printf("; probabilities %.4g .. %.4g", r->low, r->high);
    printf("\n");
    if (r->lessons)
        printf("%s lessons (true labels without a round)\n", terminal_count((double)r->lessons, number));
    if (logged_unanswered(c->log))
        printf("warning: %s rounds without an answer left out; if those differ from the others, so would the scores\n",
               terminal_count((double)logged_unanswered(c->log), number));
    printf("estimated accuracy, and %g %% intervals (%s):\n", 100 * c->options.offpolicy.confidence,
           intervals[c->options.offpolicy.interval]);
    for (size_t i = 0; i < r->n; i++)
        policy_print(c, &r->policies[i]);
}

static json_t *number_json(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *policy_json(const struct command *c, const struct policy *p)
{
    static const char *const kinds[] = {"learner", "model", "logged", "uniform", "label"};
    const struct offpolicy *r = &p->result;
    json_t *estimates = json_object(), *warnings = json_array();
    char text[320];
    for (enum offpolicy_method m = 0; m < OFFPOLICY_METHODS; m++) {
        const struct offpolicy_estimate *e = &r->estimate[m];
        json_object_set_new(estimates, offpolicy_name(m),
                            json_pack("{s:o, s:o, s:o, s:o}", "value", number_json(e->value), "std_error",
                                      number_json(e->std_error), "low", number_json(e->low), "high",
                                      number_json(e->high)));
    }
    for (size_t i = 0; replay_warning(&c->replay, p, i, text, sizeof text); i++)
        json_array_append_new(warnings, json_string(text));
    return json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:o, s:f, s:I, s:o}", "kind", kinds[p->kind], "policy",
                     p->kind == POLICY_LEARNER ? hunch_spec(p->learner) : p->name, "estimates", estimates, "direct",
                     p->direct, "effective_rounds", r->effective, "max_weight", r->max_weight, "mean_weight",
                     number_json(r->mean_weight), "matches", r->matches, "unsupported", (json_int_t)p->unsupported,
                     "warnings", warnings);
}

static int report_json(const struct command *c)
{
    const struct replay *r = &c->replay;
    json_t *policies = json_array();
    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(policies, policy_json(c, &r->policies[i]));
    json_t *all =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:i, s:I, s:f, s:f, s:f, s:s, s:f, s:b, s:o}", "rounds",
                  (json_int_t)r->rounds, "rounds_with_probability", (json_int_t)r->weighted, "lessons",
                  (json_int_t)r->lessons, "unanswered", (json_int_t)logged_unanswered(c->log), "skipped",
                  (json_int_t)logged_skipped(c->log), "labels", (int)names_count(logged_labels(c->log)), "features",
                  (json_int_t)logged_width(c->log), "right", (double)r->right / (double)r->rounds, "lowest_probability",
                  r->low, "highest_probability", r->high, "interval", intervals[c->options.offpolicy.interval],
                  "confidence", c->options.offpolicy.confidence, "interrupted", r->stopped, "policies", policies);
    return cli_json(all, JSON_INDENT(2));
}

static void estimate_text(const struct offpolicy_estimate *e, char ret[64])
{
    if (isnan(e->value))
        snprintf(ret, 64, "-");
    else if (isnan(e->low))
        snprintf(ret, 64, "%.4f", e->value);
    else
        snprintf(ret, 64, "%.4f (%.4f to %.4f)", e->value, e->low, e->high);
}

static int report_page(const struct command *c)
{
    static const char *const heads[] = {"policy", "ips", "snips", "dr", "direct", "effective rounds", "largest weight"};
    const struct replay *r = &c->replay;
    FILE *out = cli_create(c->page);
    char rounds[32], text[320];
    if (!out)
        return EXIT_SYSTEM;
    html_begin(out, "hunch replay");
    fprintf(out, "<p class=\"soft\">%s rounds · %u labels · %.4f of the logged labels were right</p>\n",
            terminal_count((double)r->rounds, rounds), names_count(logged_labels(c->log)),
            (double)r->right / (double)r->rounds);
    fprintf(out, "<p>Estimated accuracy of each policy, with %g %% intervals (%s).</p>\n",
            100 * c->options.offpolicy.confidence, intervals[c->options.offpolicy.interval]);
    html_table(out, heads, 7);
    for (size_t i = 0; i < r->n; i++) {
        const struct policy *p = &r->policies[i];
        char cells[OFFPOLICY_METHODS][64], effective[32], weight[32], direct[32];
        for (enum offpolicy_method m = 0; m < OFFPOLICY_METHODS; m++)
            estimate_text(&p->result.estimate[m], cells[m]);
        snprintf(text, sizeof text, "%s%s", policy_prefix(p), p->name);
        snprintf(weight, sizeof weight, "%.4g", p->result.max_weight);
        snprintf(direct, sizeof direct, "%.4f", p->direct);
        html_row(out,
                 (const char *const[]){text, cells[0], cells[1], cells[2], direct,
                                       terminal_count(p->result.effective, effective), weight},
                 7);
    }
    html_table_end(out);
    for (size_t i = 0; i < r->n; i++)
        for (size_t j = 0; replay_warning(r, &r->policies[i], j, text, sizeof text); j++) {
            fputs("<p class=\"worse\">", out);
            html_text(out, text);
            fputs("</p>\n", out);
        }
    if (logged_stream(c->log))
        data_schema_html(stream_schema(logged_stream(c->log)), out);
    fputs("<h2>Next steps</h2>\n", out);
    html_commands(out, "# save a model trained on the log\n"
                       "hunch replay LOG -l SPEC --save model.hunch\n"
                       "# intervals without a normal approximation\n"
                       "hunch replay LOG --interval bootstrap");
    html_end(out);
    return cli_close(out, c->page);
}

/* --- options --- */

static void policy_add(struct command *c, enum policy_kind kind, const char *name)
{
    if (!array_resize(&c->policies, c->n + 1, sizeof *c->policies))
        exit(cli_fail(EXIT_SYSTEM, "out of memory"));
    c->policies[c->n++] = (struct policy){.kind = kind, .name = name};
    c->learners += kind == POLICY_LEARNER;
}

static bool learner_take(void *at, const char *text)
{
    policy_add(at, POLICY_LEARNER, text);
    return true;
}

static bool model_name(void *at, const char *text)
{
    struct command *c = at;
    if (c->model_path)
        return cli_fail(EXIT_USAGE, "--model may be given once"), false;
    c->model_path = text;
    policy_add(c, POLICY_MODEL, text);
    return true;
}

static bool policy_take(void *at, const char *text)
{
    if (!strcmp(text, "logged"))
        policy_add(at, POLICY_LOGGED, "logged");
    else if (!strcmp(text, "uniform"))
        policy_add(at, POLICY_UNIFORM, "uniform");
    else if (!strncmp(text, "label:", 6) && text[6])
        policy_add(at, POLICY_LABEL, text + 6);
    else
        return cli_fail(EXIT_USAGE, "--policy %s: expected logged, uniform or label:NAME", text), false;
    return true;
}

static const struct command_text help = {
    .usage = "hunch replay [OPTION ...] LOG ...",
    .common = "policy learner model",
    .about = "Estimate the accuracy of other policies from logged rounds, with confidence\n"
             "intervals, and learn from them. LOG is text (tsv, csv, jsonl or vw, compressed\n"
             "or not, '-' for standard input) or a server's log.db.",
    .examples = "hunch replay log.vw --learner banditron --learner confidit:eta=0.1\n"
                "hunch replay log.vw --model model.hunch --policy logged --policy uniform\n"
                "hunch replay log.vw --interval bootstrap --json",
};

static const struct cli_option policies[] = {
    {"learner", 'l', "SPEC", NULL,
     "policy: the label with the largest score of this learner before each round; it learns from the logged labels with "
     "their probabilities (default: the default learner)",
     TO_CALL(learner_take)},
    {"model", 0, "MODEL", NULL, "policy: a saved model; it does not learn; at most one", TO_CALL(model_name)},
    {"policy", 0, "P", NULL, "logged (the logged labels, as a check), uniform, or label:NAME (always the same label)",
     TO_CALL(policy_take)},
    {0}};

static const struct cli_option option_table[] = {
    {"seed", 's', "N", "0", "seed of the learners and the bootstrap",
     TO_NUMBER(struct command, options.seed, 0, UINT64_MAX)},
    {"classes", 0, "K", NULL, "expected number of labels; further labels are added when they appear",
     TO_NUMBER(struct command, options.classes, 1, HUNCH_MAX_CLASSES)},
    {"save", 0, "MODEL", NULL, "save the trained model; needs one learner", TO_TEXT(struct command, save)},
    {"interval", 0, "I", "normal",
     "normal, bootstrap (percentiles), bernstein (valid for every number of rounds; wide; not for snips), or anytime "
     "(valid at all rounds simultaneously, for repeated looks; not for snips)",
     TO_WORD(struct command, options.offpolicy.interval, 0, intervals)},
    {"confidence", 0, "C", "95", "confidence level of the intervals in percent",
     TO_REAL(struct command, confidence, 1, 99.9999)},
    {"replicates", 0, "N", "1000", "number of bootstrap replicates",
     TO_NUMBER(struct command, options.offpolicy.replicates, 10, 1000000)},
    {"clip", 0, "W", NULL, "clip importance weights at W: lower variance, some bias",
     TO_REAL(struct command, options.clip, 1e-9, INFINITY)},
    {"json", 0, NULL, NULL, "print JSON", TO_SET(struct command, json, true)},
    {"report", 0, "FILE", NULL, "write the estimates as a self-contained HTML page", TO_TEXT(struct command, page)},
    {"quiet", 'q', NULL, NULL, "print no progress bar and no remarks", TO_SET(struct command, quiet, true)},
    {0}};

static const struct cli_option logs[] = {
    {"shown", 0, "C", NULL, "column of the table with the predicted label, by name or position",
     TO_TEXT(struct stream_options, columns.shown)},
    {"prob", 0, "C", NULL, "column with its probability", TO_TEXT(struct stream_options, columns.prob)},
    {"right", 0, "C", NULL, "column with the feedback (1 right, 0 wrong)",
     TO_TEXT(struct stream_options, columns.right)},
    {0}};

/* --- work --- */

/* The log is read with the model's names and numbers, so that both mean the same. */
static int model_take(struct command *c)
{
    int code = model_load(&c->model, c->model_path);
    if (code)
        return code;
    model_read_data(&c->model, &c->log_options.stream);
    for (size_t i = 0; i < c->n; i++)
        if (c->policies[i].kind == POLICY_MODEL)
            c->policies[i].learner = c->model.learner;
    return EXIT_DONE;
}

static int learner_save(struct command *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->policies[i].kind == POLICY_LEARNER)
            return model_save(c->policies[i].learner, logged_stream(c->log), c->save);
    return EXIT_DONE;
}

/* Logs are read twice, so standard input is kept in a file. */
static int input_keep(struct command *c, const char **paths, size_t n)
{
    char buffer[65536];
    size_t got = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(paths[i], "-"))
            continue;
        if (!(c->copy = tmpfile()))
            return cli_fail(EXIT_SYSTEM, "cannot keep standard input in a temporary file");
        while ((got = fread(buffer, 1, sizeof buffer, stdin)) > 0 && fwrite(buffer, 1, got, c->copy) == got)
            ;
        if (got || ferror(stdin) || fflush(c->copy))
            return cli_fail(EXIT_SYSTEM, "cannot keep standard input in a temporary file");
        snprintf(c->copy_path, sizeof c->copy_path, "/dev/fd/%d", fileno(c->copy));
        paths[i] = c->copy_path;
        break;
    }
    return EXIT_DONE;
}

/* What labels there are is known before the first round is judged. */
static int labels_find(struct command *c, const char *const *paths, size_t n)
{
    hunch_error error;
    hunch_status status = logged_all_labels(&c->labels, paths, n, &c->log_options, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    c->log_options.stream.labels = c->labels;
    return EXIT_DONE;
}

static int replay(struct command *c, const char **paths, size_t n)
{
    hunch_error error;
    int code = c->model_path ? model_take(c) : EXIT_DONE;
    if (code)
        return code;
    code = data_schema_load(&c->log_options.stream);
    if (code)
        return code;
    code = input_keep(c, paths, n);
    if (!code)
        code = labels_find(c, paths, n);
    if (code)
        return code;
    hunch_status status = logged_open(&c->log, paths, n, &c->log_options, &error);
    if (status)
        return cli_fail(cli_code(status), "%s", error.message);
    c->replay = (struct replay){.policies = c->policies, .n = c->n};
    meter_begin(&c->meter, !c->quiet);
    c->options.stop = cli_catch_interrupts();
    c->options.context = c;
    c->options.progress = c->meter.out ? progress_show : NULL;
    status = replay_play(&c->replay, c->log, &c->options, &error);
    meter_end(&c->meter);
    if (status)
        return cli_fail(c->replay.stopped ? EXIT_INTERRUPTED : cli_code(status), "%s", error.message);
    if (c->json)
        code = report_json(c);
    else
        report_text(c);
    if (!code && c->page)
        code = report_page(c);
    if (!c->quiet && logged_stream(c->log))
        data_remarks(logged_stream(c->log));
    if (!code && logged_stream(c->log))
        code = data_schema_save(&c->log_options.stream, logged_stream(c->log));
    if (!code && c->save)
        code = learner_save(c);
    return !code && c->replay.stopped ? EXIT_INTERRUPTED : code;
}

static int options_check(struct command *c, const char *command, int logs_given)
{
    c->options.offpolicy.seed = c->options.seed;
    c->options.offpolicy.confidence = c->confidence / 100;
    if (!logs_given)
        return cli_usage(command, "expected a log ('-' for standard input)");
    if (!c->n)
        policy_add(c, POLICY_LEARNER, hunch_default_learner());
    if (c->save && c->learners != 1)
        return cli_usage(command, "--save needs exactly one --learner");
    return -1;
}

int cmd_replay(int argc, char **argv)
{
    struct command c = {0};
    const struct option_group groups[] = {{NULL, option_table, &c},
                                          {"Policies (each may be given several times)", policies, &c},
                                          {"Logs", logs, &c.log_options.stream},
                                          {DATA_TITLE, data_options, &c.log_options.stream},
                                          {0}};
    int code = options_parse(&help, groups, argc, argv);
    if (code < 0)
        code = options_check(&c, argv[0], argc - optind);
    if (code < 0)
        code = replay(&c, (const char **)argv + optind, (size_t)(argc - optind));
    replay_free(&c.replay);
    for (size_t i = 0; i < c.n; i++)
        if (c.policies[i].kind == POLICY_LEARNER)
            hunch_free(c.policies[i].learner);
    free(c.policies);
    logged_close(c.log);
    model_free(&c.model);
    names_free(c.labels);
    if (c.copy)
        fclose(c.copy);
    return code;
}
