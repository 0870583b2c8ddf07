/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One run in constant memory. A reader appends pieces of the input to a list; every learner plays every piece, in
 * order; a piece that all have played is filled again. Free workers take the learner that is furthest behind, so the
 * learners stay close together and a piece is played by one after the other while it is in the cache. Many learners'
 * weights do not fit there, so that each time another one's turn comes they must be fetched anew: then a turn is a
 * stretch of several pieces.
 *
 * Before the learners exist the reader fills a window, to find the labels. It closes at the end of the input, when it
 * is full, when as many labels as the caller asked for have been seen, or at once when the input has a header that
 * tells them.
 */
#include "progressive_common.h"

#include <stdlib.h>

#include "fail.h"

#define WINDOW_BYTES ((size_t)64 << 20)
/* Pieces that may wait for the slowest learner. */
#define AHEAD 8
/* Pieces played in one turn when there are many learners; twice as many may wait. */
#define STRETCH 128
/* A piece of a cache is about so large. */
#define PIECE_BYTES ((size_t)1 << 18)
/* More learners than so many per thread are many. */
#define MANY_PER_THREAD 4

enum reader_state { READER_BUSY, READER_WAITS_FOR_INPUT, READER_ENDED, READER_LEFT_BEHIND };

struct seat {
    struct player player;
    struct link *at; /* what to play next; NULL: has played all there is */
    uint64_t bytes;  /* of input that it has played */
    uint64_t rows;
    unsigned worker; /* that played it last, and has it in its cache */
    bool busy;
};

struct link {
    struct piece piece;
    struct link *next;
    uint64_t number;
    size_t left; /* learners that have not played it */
};

struct line {
    struct source *source;
    struct progressive_options options;
    const atomic_bool *stop; /* for the players: NULL when what was read ahead is to be played to its end */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* for the reader and the workers */
    pthread_cond_t told;    /* for the calling thread */
    /* all below under mutex */
    struct seat *seats;
    size_t learners;
    bool window_open, ready; /* ready: the learners exist, or never will */
    struct link *first, *last, *spare;
    size_t waiting, spares, window_bytes;
    size_t ahead, stretch; /* pieces that may wait, and that make a turn */
    uint64_t pieces, rows_read, bytes_read;
    enum reader_state reader;
    unsigned at_work;
    hunch_status status;
    hunch_error error;
};

static void fail_line(struct line *l, hunch_status status, const hunch_error *error)
{
    if (!l->status) {
        l->status = status;
        l->error = *error;
    }
}

static bool line_is_over(const struct line *l)
{
    return l->status || (l->stop && atomic_load_explicit(l->stop, memory_order_relaxed));
}

/* --- the reader --- */

static size_t piece_bytes(const struct piece *p)
{
    const struct block *b = &p->block;
    return b->rows * 24 + (size_t)(b->rows ? b->start[b->rows] - b->start[0] : 0) * 8;
}

static void link_append(struct line *l, struct link *link)
{
    link->number = l->pieces++;
    link->left = l->learners;
    link->next = NULL;
    if (l->last)
        l->last->next = link;
    else
        l->first = link;
    l->last = link;
    l->waiting++;
    l->window_bytes += piece_bytes(&link->piece);
    l->rows_read += link->piece.block.rows;
    l->bytes_read = link->piece.bytes_read;
    for (size_t i = 0; l->ready && i < l->learners; i++)
        if (!l->seats[i].at)
            l->seats[i].at = link;
}

static struct link *link_get(struct line *l)
{
    struct link *link = l->spare;
    if (!link)
        return calloc(1, sizeof *link);
    l->spare = link->next;
    l->spares--;
    return link;
}

static void link_put(struct line *l, struct link *link)
{
    if (l->spares < l->ahead) {
        link->next = l->spare;
        l->spare = link;
        l->spares++;
        return;
    }
    piece_free(&link->piece);
    free(link);
}

static void window_close(struct line *l)
{
    size_t limit = l->options.window ? l->options.window : WINDOW_BYTES;
    uint32_t labels = names_count(source_labels(l->source));
    bool described = source_is_described(l->source) && l->pieces > 0;
    if (l->reader == READER_ENDED || l->window_bytes >= limit || l->options.loaded || described ||
        (l->options.classes && labels >= l->options.classes))
        l->window_open = false;
    if (!l->window_open && !l->ready)
        pthread_cond_signal(&l->told);
}

/* With the mutex held; false: no more. The link is handed over or put back. */
static bool link_fill(struct line *l, struct link *link)
{
    hunch_error error;
    l->reader = READER_WAITS_FOR_INPUT;
    pthread_mutex_unlock(&l->mutex);
    hunch_status status = source_read(l->source, &link->piece, &error);
    pthread_mutex_lock(&l->mutex);
    if (l->reader == READER_LEFT_BEHIND)
        return false; /* nobody waits for this thread any more, and nothing here may be touched */
    l->reader = READER_BUSY;
    pthread_mutex_unlock(&l->mutex);
    if (!status)
        status = source_accept(l->source, &link->piece, &error);
    pthread_mutex_lock(&l->mutex);
    bool more = !status && link->piece.batch.rows > 0;
    if (status)
        fail_line(l, status, &error);
    if (more && link->piece.block.rows)
        link_append(l, link);
    else
        link_put(l, link);
    return more;
}

static bool reader_may_go_on(const struct line *l)
{
    return l->window_open || (l->ready && l->waiting < l->ahead);
}

static void *read_all(void *context)
{
    struct line *l = context;
    hunch_error error;
    bool more = true;
    pthread_mutex_lock(&l->mutex);
    while (more && !line_is_over(l)) {
        if (!reader_may_go_on(l)) {
            pthread_cond_wait(&l->changed, &l->mutex);
            continue;
        }
        struct link *link = link_get(l);
        if (!link) {
            fail_line(l, fail_memory(&error), &error);
            break;
        }
        more = link_fill(l, link);
        if (l->reader == READER_LEFT_BEHIND) {
            pthread_mutex_unlock(&l->mutex);
            return NULL;
        }
        window_close(l);
        pthread_cond_broadcast(&l->changed);
    }
    l->reader = READER_ENDED;
    window_close(l);
    pthread_cond_broadcast(&l->changed);
    pthread_cond_signal(&l->told);
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* --- the workers --- */

static bool reader_is_gone(const struct line *l)
{
    return l->reader == READER_ENDED || l->reader == READER_LEFT_BEHIND;
}

static bool all_is_played(const struct line *l)
{
    return reader_is_gone(l) && !l->first;
}

/* A whole turn, or what is left. */
static bool has_a_turn(const struct line *l, const struct seat *s)
{
    return s->at && (l->pieces - s->at->number >= l->stretch || reader_is_gone(l));
}

/* The free learner that is furthest behind; of several, one that this worker played last. */
static struct seat *seat_choose(struct line *l, unsigned worker)
{
    struct seat *best = NULL;
    for (size_t i = 0; i < l->learners; i++) {
        struct seat *s = &l->seats[i];
        if (s->busy || !has_a_turn(l, s))
            continue;
        if (!best || s->at->number < best->at->number ||
            (s->at->number == best->at->number && s->worker == worker && best->worker != worker))
            best = s;
    }
    return best;
}

/* With the mutex held, but for the playing itself. */
static void piece_play(struct line *l, struct seat *s)
{
    struct link *link = s->at;
    hunch_error error;
    pthread_mutex_unlock(&l->mutex);
    hunch_status status = player_classes(&s->player, link->piece.classes, &error);
    if (!status)
        status = player_play(&s->player, &link->piece.block, NULL, l->stop, &error);
    pthread_mutex_lock(&l->mutex);
    if (status)
        fail_line(l, status, &error);
    s->bytes = link->piece.bytes_read;
    s->rows = s->player.tally.rounds;
    s->at = link->next;
    if (--link->left == 0) {
        l->first = link->next; /* pieces are finished in order */
        if (!l->first)
            l->last = NULL;
        l->waiting--;
        link_put(l, link);
        pthread_cond_broadcast(&l->changed);
    }
}

static void seat_play(struct line *l, struct seat *s, unsigned worker)
{
    s->busy = true;
    s->worker = worker;
    for (size_t i = 0; i < l->stretch && s->at && !line_is_over(l); i++)
        piece_play(l, s);
    s->busy = false;
    pthread_cond_broadcast(&l->changed);
}

struct worker {
    struct line *line;
    unsigned number;
    pthread_t thread;
};

static void *work(void *context)
{
    struct worker *w = context;
    struct line *l = w->line;
    pthread_mutex_lock(&l->mutex);
    while (!line_is_over(l) && !all_is_played(l)) {
        struct seat *s = seat_choose(l, w->number);
        if (s)
            seat_play(l, s, w->number);
        else
            pthread_cond_wait(&l->changed, &l->mutex);
    }
    l->at_work--;
    pthread_cond_signal(&l->told);
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* --- the whole --- */

static void progress_report(const struct line *l)
{
    if (!l->options.progress)
        return;
    uint64_t total = source_bytes_total(l->source), rows = 0;
    double bytes = 0;
    for (size_t i = 0; l->ready && i < l->learners; i++) {
        rows += l->seats[i].rows;
        bytes += (double)l->seats[i].bytes;
    }
    struct progress p = {false, bytes / (double)l->learners / (double)total, rows / l->learners};
    if (!l->ready)
        p = (struct progress){true, (double)l->bytes_read / (double)total, l->rows_read};
    if (!total)
        p.fraction = -1;
    l->options.progress(l->options.context, &p);
}

/* A reader that waits for input cannot be told to stop: it is left behind. */
static void reader_leave(struct line *l)
{
    if (line_is_over(l) || progressive_told(&l->options))
        if (l->reader == READER_WAITS_FOR_INPUT) {
            l->reader = READER_LEFT_BEHIND;
            l->window_open = false;
            pthread_cond_broadcast(&l->changed);
        }
}

static hunch_status learners_create(struct line *l, hunch_error *reterr)
{
    hunch_status status = source_rank(l->source, reterr);
    for (struct link *link = l->first; link && !status; link = link->next)
        source_renumber(l->source, &link->piece);
    hunch_options data = HUNCH_OPTIONS_INIT;
    data.classes = names_count(source_labels(l->source));
    data.features = source_width(l->source);
    for (size_t i = 0; i < l->learners && !status; i++) {
        status = progressive_player(&l->seats[i].player, &l->options, i, &data, reterr);
        l->seats[i].at = l->first;
    }
    return status;
}

/* Wait until the labels are known, then make the learners. */
static void line_prepare(struct line *l)
{
    hunch_error error;
    while (l->window_open && !l->status) {
        progressive_wait(&l->told, &l->mutex);
        progress_report(l);
        reader_leave(l);
    }
    /* Told to stop while reading ahead: what has been read is all there is, and is played to its end. */
    if (progressive_told(&l->options))
        l->stop = NULL;
    if (!l->status) {
        hunch_status status = learners_create(l, &error);
        if (status)
            fail_line(l, status, &error);
    }
    l->ready = true;
    pthread_cond_broadcast(&l->changed);
}

static void line_finish(struct line *l, struct progressive *results)
{
    hunch_error error;
    if (!l->status && !l->rows_read && !progressive_told(&l->options))
        fail_line(l, fail_with(&error, HUNCH_EINVAL, "no row of the input could be used"), &error);
    for (size_t i = 0; i < l->learners; i++) {
        struct player *p = &l->seats[i].player;
        if (!p->learner)
            continue;
        hunch_status status = l->status;
        if (status)
            player_free(p);
        else
            status = player_finish(p, l->options.keep, &results->results[i], &error);
        if (status)
            fail_line(l, status, &error);
    }
}

static void links_free(struct link *link)
{
    while (link) {
        struct link *next = link->next;
        piece_free(&link->piece);
        free(link);
        link = next;
    }
}

/* With the mutex held and the reader running. */
static void line_play(struct line *l, unsigned threads)
{
    struct worker *workers = calloc(threads, sizeof *workers);
    unsigned started = 0;
    hunch_error error;
    for (; workers && started < threads; started++) {
        workers[started] = (struct worker){.line = l, .number = started};
        if (pthread_create(&workers[started].thread, NULL, work, &workers[started]))
            break;
    }
    if (!started)
        fail_line(l, fail_memory(&error), &error);
    l->at_work = started;
    while (l->at_work) {
        progressive_wait(&l->told, &l->mutex);
        progress_report(l);
        reader_leave(l);
        if (line_is_over(l))
            pthread_cond_broadcast(&l->changed);
    }
    while (l->reader != READER_ENDED && l->reader != READER_LEFT_BEHIND) {
        reader_leave(l);
        pthread_cond_broadcast(&l->changed);
        progressive_wait(&l->told, &l->mutex);
    }
    pthread_mutex_unlock(&l->mutex);
    for (unsigned i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    free(workers);
    pthread_mutex_lock(&l->mutex);
}

static bool are_many(const struct progressive_options *options, unsigned threads)
{
    return options->learners > MANY_PER_THREAD * (size_t)threads;
}

size_t progressive_reach(const struct progressive_options *options)
{
    bool many = are_many(options, play_threads(options->threads, options->learners));
    return many ? (2 * STRETCH + AHEAD) * PIECE_BYTES : 0;
}

static struct line *line_new(struct source *source, const struct progressive_options *options, unsigned threads)
{
    bool many = are_many(options, threads);
    struct line *l = calloc(1, sizeof *l);
    struct seat *seats = calloc(options->learners + 1, sizeof *seats);
    if (!l || !seats) {
        free(l);
        free(seats);
        return NULL;
    }
    *l = (struct line){.source = source,
                       .options = *options,
                       .seats = seats,
                       .learners = options->learners,
                       .stop = options->stop,
                       .ahead = many ? 2 * STRETCH : AHEAD,
                       .stretch = many ? STRETCH : 1,
                       .window_open = !options->loaded};
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->changed, NULL);
    pthread_cond_init(&l->told, NULL);
    return l;
}

static void line_free(struct line *l)
{
    links_free(l->first);
    links_free(l->spare);
    free(l->seats);
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->changed);
    pthread_cond_destroy(&l->told);
    free(l);
}

hunch_status progressive_stream(struct progressive *ret, struct source *source,
                                const struct progressive_options *options, hunch_error *reterr)
{
    struct progressive results;
    unsigned threads = play_threads(options->threads, options->learners);
    struct line *l = line_new(source, options, threads);
    pthread_t reader;
    if (!l)
        return fail_memory(reterr);
    if (!progressive_init(&results, options->learners, 1) || pthread_create(&reader, NULL, read_all, l)) {
        progressive_free(&results);
        line_free(l);
        return fail_memory(reterr);
    }
    pthread_mutex_lock(&l->mutex);
    line_prepare(l);
    line_play(l, threads);
    line_finish(l, &results);
    hunch_status status = l->status;
    if (status)
        fail_with(reterr, status, "%s", l->error.message);
    results.stopped = progressive_told(options);
    results.stuck = l->reader == READER_LEFT_BEHIND;
    pthread_mutex_unlock(&l->mutex);
    if (results.stuck) {
        pthread_detach(reader); /* it holds the line and the source */
    } else {
        pthread_join(reader, NULL);
        line_free(l);
    }
    bool stuck = results.stuck;
    if (status) {
        progressive_free(&results);
        results.stuck = stuck;
    }
    *ret = results;
    return status;
}
