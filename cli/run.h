/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of hunch run: its options, what it does (cmd_run.c), and what it reports. */
#ifndef RUN_H
#define RUN_H

#include "data.h"
#include "learners.h"
#include "play/progressive.h"

struct run_options {
    struct learners learners;
    char **specs; /* of the learners, with --ties, --normalize and --bias */
    uint64_t seed;
    uint32_t runs, passes, classes, max_features, threads;
    bool seed_given, shuffle, no_shuffle;
    const char *trace, *curve, *save, *load, *regret, *report, *figure, *beside, *log, *teach, *eligible;
    char *ignore; /* columns, with that of eligible */
    bool json, quiet, plot, balanced, plot_recent, confusion;
    double act_at;              /* 0: none */
    struct truth truth;         /* with --regret */
    struct names *truth_labels; /* likewise */
    struct stream_options stream;
    char **paths;
    size_t files;
};

/* Options, and the files, found where they are; -1: go on, else the exit code. */
int run_options_parse(struct run_options *o, int argc, char **argv);
void run_options_free(struct run_options *o);

/* Several runs or passes, or a shuffled order, need the data in memory. */
static inline bool run_in_memory(const struct run_options *o)
{
    return o->shuffle || o->runs > 1 || o->passes > 1;
}

/* All return the exit code. */
int report_table(const struct run_options *o, const struct progressive *results, const struct stream *data);
int report_json(const struct run_options *o, const struct progressive *results);
int report_curve(const struct run_options *o, const struct progressive *results);

/* The page of --report: what was shown for what is counted while learners play (each in one thread at a time). */
struct run_page;
struct run_page *run_page_new(size_t learners);
void run_page_count(struct run_page *p, const struct player_rounds *rounds);
/* The learning curves alone, to o->figure. */
int run_figure_write(const struct run_options *o, const struct progressive *p);
int run_page_write(const struct run_page *page, const struct run_options *o, const struct progressive *p,
                   const struct stream *stream);
void run_page_free(struct run_page *p); /* NULL is fine */

/* The trace of one learner, written while it plays. */
struct trace;
struct trace *trace_open(const char *path);                      /* NULL: the user has been told */
void trace_stream(struct trace *t, const struct stream *stream); /* whose labels name the choices */
void trace_write(struct trace *t, const hunch_choice *choices, const uint32_t *labels, size_t n);
int trace_close(struct trace *t); /* NULL is fine */

/* Its log, and its errors by class, likewise. */
struct run_log;
struct run_log *run_log_open(const char *path); /* path NULL: no log. NULL: the user has been told */
void run_log_stream(struct run_log *l, const struct stream *stream);
void run_log_write(struct run_log *l, const struct player_rounds *rounds);
void run_log_report(const struct run_log *l, const struct tally *tally); /* the tally has counted per class */
int run_log_close(struct run_log *l);                                    /* NULL is fine */

#endif
