/* SPDX-License-Identifier: BSD-3-Clause */
/* hunch replay: learning from logged rounds, and what policies would have scored. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "data.h"
#include "html.h"
#include "model.h"
#include "options.h"
#include "replay.h"
#include "terminal.h"

struct command {
    struct policy *policies;
    size_t n, learners;
    struct logged_options log_options;
    struct replay_options options;
    const char *model_path, *save, *page;
    struct model model;
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

static const char *const intervals[] = {"normal", "bootstrap", "bernstein", NULL};

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
    printf("\n%s%s\n", policy_prefix(p), p->kind == POLICY_LEARNER ? hunch_spec(p->learner) : p->name);
    for (enum offpolicy_method m = 0; m < OFFPOLICY_METHODS; m++) {
        printf("  %-6s", offpolicy_name(m));
        estimate_print(&r->estimate[m]);
    }
    printf("  %s effective rounds of %s; weights: largest %.4g, mean %.4f; could show the logged label in %.1f %%\n",
           terminal_count(r->effective, effective), terminal_count((double)r->rows, rounds), r->max_weight,
           r->mean_weight, 100 * r->matches);
    for (size_t i = 0; replay_warning(&c->replay, p, i, text, sizeof text); i++)
        printf("  warning: %s\n", text);
}

static void report_text(const struct command *c)
{
    const struct replay *r = &c->replay;
    char rounds[32], number[32];
    printf("%s rounds, %u labels, %s features; %.4f of the labels shown were right; probabilities %.4g .. %.4g\n",
           terminal_count((double)r->rounds, rounds), names_count(logged_labels(c->log)),
           terminal_count(logged_width(c->log), number), (double)r->right / (double)r->rounds, r->low, r->high);
    if (r->lessons)
        printf("%s lessons (true labels without a round)\n", terminal_count((double)r->lessons, number));
    if (logged_unanswered(c->log))
        printf("warning: %s rounds without an answer left out; if those differ from the others, so would the scores\n",
               terminal_count((double)logged_unanswered(c->log), number));
    printf("share of right labels, and %g %% intervals (%s):\n", 100 * c->options.offpolicy.confidence,
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
    return json_pack("{s:s, s:s, s:o, s:f, s:f, s:f, s:f, s:I, s:o}", "kind", kinds[p->kind], "policy",
                     p->kind == POLICY_LEARNER ? hunch_spec(p->learner) : p->name, "estimates", estimates,
                     "effective_rounds", r->effective, "max_weight", r->max_weight, "mean_weight", r->mean_weight,
                     "matches", r->matches, "unsupported", (json_int_t)p->unsupported, "warnings", warnings);
}

static int report_json(const struct command *c)
{
    const struct replay *r = &c->replay;
    json_t *policies = json_array();
    for (size_t i = 0; i < r->n; i++)
        json_array_append_new(policies, policy_json(c, &r->policies[i]));
    json_t *all =
        json_pack("{s:I, s:I, s:I, s:I, s:i, s:I, s:f, s:f, s:f, s:s, s:f, s:b, s:o}", "rounds", (json_int_t)r->rounds,
                  "lessons", (json_int_t)r->lessons, "unanswered", (json_int_t)logged_unanswered(c->log), "skipped",
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
    static const char *const heads[] = {"policy", "ips", "snips", "dr", "effective rounds", "largest weight"};
    const struct replay *r = &c->replay;
    FILE *out = cli_create(c->page);
    char rounds[32], text[320];
    if (!out)
        return EXIT_SYSTEM;
    html_begin(out, "hunch replay");
    fprintf(out, "<p class=\"soft\">%s rounds · %u labels · %.4f of the labels shown were right</p>\n",
            terminal_count((double)r->rounds, rounds), names_count(logged_labels(c->log)),
            (double)r->right / (double)r->rounds);
    fprintf(out, "<p>The share of right labels that each policy would have had, with %g %% intervals (%s).</p>\n",
            100 * c->options.offpolicy.confidence, intervals[c->options.offpolicy.interval]);
    html_table(out, heads, 6);
    for (size_t i = 0; i < r->n; i++) {
        const struct policy *p = &r->policies[i];
        char cells[OFFPOLICY_METHODS][64], effective[32], weight[32];
        for (enum offpolicy_method m = 0; m < OFFPOLICY_METHODS; m++)
            estimate_text(&p->result.estimate[m], cells[m]);
        snprintf(text, sizeof text, "%s%s", policy_prefix(p),
                 p->kind == POLICY_LEARNER ? hunch_spec(p->learner) : p->name);
        snprintf(weight, sizeof weight, "%.4g", p->result.max_weight);
        html_row(out,
                 (const char *const[]){text, cells[0], cells[1], cells[2],
                                       terminal_count(p->result.effective, effective), weight},
                 6);
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
    fputs("<h2>How to go on</h2>\n", out);
    html_commands(out, "hunch replay LOG -l SPEC --save model.hunch    # keep what a learner made of the log\n"
                       "hunch replay LOG --interval bootstrap          # intervals that assume less");
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
    .about = "Learn from logged rounds (x, the label shown, its probability, right or wrong)\n"
             "and estimate the share of right labels that policies would have had: ips, snips\n"
             "and dr, with intervals. LOG is text (tsv, csv, jsonl or vw, compressed or not,\n"
             "'-' for standard input) or a server's log.db.",
    .examples = "hunch replay log.vw --learner banditron --learner confidit:eta=0.1\n"
                "hunch replay log.vw --model model.hunch --policy logged --policy uniform\n"
                "hunch replay log.vw --interval bootstrap --json",
};

static const struct cli_option policies[] = {
    {"learner", 'l', "SPEC", NULL,
     "the label with the largest score of this learner, before each round; it learns from the labels that the log has "
     "shown, with the log's "
     "probabilities; the default learner when no policy is given",
     TO_CALL(learner_take)},
    {"model", 0, "MODEL", NULL, "a saved model, as it is (once)", TO_CALL(model_name)},
    {"policy", 0, "P", NULL, "logged (what was shown, as a check), uniform, or label:NAME (always the same)",
     TO_CALL(policy_take)},
    {0}};

static const struct cli_option option_table[] = {
    {"seed", 's', "N", "0", "of the learners and the bootstrap",
     TO_NUMBER(struct command, options.seed, 0, UINT64_MAX)},
    {"classes", 0, "K", NULL, "there are so many labels, or more; labels that first appear later join then",
     TO_NUMBER(struct command, options.classes, 1, HUNCH_MAX_CLASSES)},
    {"save", 0, "MODEL", NULL, "save what the only learner has learned", TO_TEXT(struct command, save)},
    {"interval", 0, "I", "normal",
     "normal, bootstrap (percentiles), or bernstein (holds for every number of rounds; wide; not for snips)",
     TO_WORD(struct command, options.offpolicy.interval, 0, intervals)},
    {"confidence", 0, "C", "95", "of the intervals, in percent", TO_REAL(struct command, confidence, 1, 99.9999)},
    {"replicates", 0, "N", "1000", "of the bootstrap",
     TO_NUMBER(struct command, options.offpolicy.replicates, 10, 1000000)},
    {"clip", 0, "W", NULL, "cut weights at W: less noise, some bias",
     TO_REAL(struct command, options.clip, 1e-9, INFINITY)},
    {"json", 0, NULL, NULL, "print JSON", TO_SET(struct command, json, true)},
    {"report", 0, "FILE", NULL, "write the estimates as a page (HTML, self-contained)", TO_TEXT(struct command, page)},
    {"quiet", 'q', NULL, NULL, "no progress bar, no remarks", TO_SET(struct command, quiet, true)},
    {0}};

static const struct cli_option logs[] = {
    {"shown", 0, "C", NULL, "of tables: the column of the label that was shown, by name or position",
     TO_TEXT(struct stream_options, columns.shown)},
    {"prob", 0, "C", NULL, "... of its probability", TO_TEXT(struct stream_options, columns.prob)},
    {"right", 0, "C", NULL, "... that says whether it was right (1 or 0)",
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

static int replay(struct command *c, const char *const *paths, size_t n)
{
    hunch_error error;
    int code = c->model_path ? model_take(c) : EXIT_DONE;
    if (code)
        return code;
    code = data_schema_load(&c->log_options.stream);
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
        code = replay(&c, (const char *const *)argv + optind, (size_t)(argc - optind));
    replay_free(&c.replay);
    for (size_t i = 0; i < c.n; i++)
        if (c.policies[i].kind == POLICY_LEARNER)
            hunch_free(c.policies[i].learner);
    free(c.policies);
    logged_close(c.log);
    model_free(&c.model);
    return code;
}
