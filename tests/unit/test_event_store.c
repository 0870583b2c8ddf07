/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../temporary.h"
#include "storage/event_store.h"

static void create(const char *dir, struct event_store *ret)
{
    struct http_error err = {0};
    struct names *labels = names_new();
    names_add(labels, "a", 1);
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_true(event_store_create(dir, "m", "{}", labels, 1, &err));
    assert_true(event_store_open(ret, dir, false, &err));
    names_free(labels);
}

static void append(struct event_store *s, uint64_t seq, uint64_t key)
{
    struct http_error err = {0};
    struct event *e = event_new(EVENT_DECISION, 1, "{\"f\":1}", 7);
    e->seq = seq;
    e->key = key;
    assert_true(event_store_append(s, &e, 1, &err));
    assert_int_equal(s->last_seq, seq);
    event_free(e);
}

static uint64_t key_of(struct reader *r, uint64_t seq)
{
    struct http_error err = {0};
    struct event *e = NULL;
    assert_true(reader_find(r, seq, &e, &err));
    uint64_t key = e ? e->key : 0;
    event_free(e);
    return key;
}

/* A model is deleted (its folder is moved away) and another of the same name made: those who still read the first one
 * must not see the second one's log. */
static void test_successor(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[4096], moved[4096];
    struct event_store old, new;
    snprintf(path, sizeof path, "%s/m", folder);
    snprintf(moved, sizeof moved, "%s/trash", folder);
    create(path, &old);
    append(&old, 1, 11);
    event_store_reader_end(&old, event_store_reader_begin(&old, 1, 1)); /* the first one is open */
    assert_int_equal(rename(path, moved), 0);
    create(path, &new);
    append(&new, 1, 22);

    struct reader *first = event_store_reader_begin(&new, 1, 1);
    assert_int_equal(key_of(first, 1), 22);
    event_store_reader_end(&new, first);
    first = event_store_reader_begin(&old, 1, 1);
    assert_int_equal(key_of(first, 1), 11);
    struct reader second = {0}; /* what a second thread would open */
    struct http_error err = {0};
    assert_false(event_store_open_reader(&old, &second, &err));
    event_store_reader_end(&old, first);
    event_store_close(&old);
    event_store_close(&new);
    temporary_remove(folder);
    free(folder);
}

static void answer(struct event_store *s, uint64_t seq, uint64_t decision)
{
    struct http_error err = {0};
    struct event *e = event_new(EVENT_FEEDBACK, 0, "", 0);
    e->seq = seq;
    e->decision = decision;
    assert_true(event_store_append(s, &e, 1, &err));
    event_free(e);
}

static uint64_t answer_of(struct reader *r, uint64_t seq)
{
    struct http_error err = {0};
    struct event *e = NULL;
    assert_true(reader_find(r, seq, &e, &err));
    assert_non_null(e);
    assert_int_equal(e->seq, seq);
    uint64_t answer = e->answer.seq;
    event_free(e);
    return answer;
}

/* Decisions that silence would answer: not those that an earlier one with the same id of a client has made void. */
static void test_unanswered(void **state)
{
    (void)state;
    static const char *const given[] = {"one", "one", NULL, "two", "one", "two"};
    static const uint64_t expected[] = {1, 3, 4};
    char *folder = temporary_folder(), path[4096];
    struct event_store s;
    struct unanswered found[8];
    struct http_error err = {0};
    uint64_t at = 0;
    size_t n = 0;
    snprintf(path, sizeof path, "%s/m", folder);
    create(path, &s);
    for (uint64_t seq = 1; seq <= sizeof given / sizeof *given; seq++) {
        struct event *e = event_new(EVENT_DECISION, 1, "{\"f\":1}", 7);
        e->seq = seq;
        event_set_given_id(e, given[seq - 1] ? strdup(given[seq - 1]) : NULL);
        assert_true(event_store_append(&s, &e, 1, &err));
        event_free(e);
    }
    assert_true(event_store_unanswered(&s, false, 1, &at, found, 8, &n, &err));
    assert_int_equal(at, 6);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(found[i].seq, expected[i]);
    event_store_close(&s);
    temporary_remove(folder);
    free(folder);
}

/* A finder stays at its moment for those who need no later one; and lets go of it, so that the file of changes can
 * start over. */
static void test_moments(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[4096];
    struct event_store s;
    int pages = -1, moved = -1;
    snprintf(path, sizeof path, "%s/m", folder);
    create(path, &s);
    for (uint64_t seq = 1; seq <= 20; seq++)
        append(&s, seq, seq);
    answer(&s, 21, 7);

    struct reader *r = event_store_reader_begin(&s, 21, 21);
    for (uint64_t seq = 1; seq <= 20; seq += 3) /* near, and with an answer among them */
        assert_int_equal(answer_of(r, seq), seq == 7 ? 21 : 0);
    assert_int_equal(key_of(r, 21), 0); /* is no decision */
    assert_int_equal(answer_of(r, 7), 21);
    assert_int_equal(answer_of(r, 8), 0);
    event_store_reader_end(&s, r);

    answer(&s, 22, 8);
    r = event_store_reader_begin(&s, 21, 22);
    assert_int_equal(r->upto, 21);
    assert_int_equal(answer_of(r, 8), 0);
    event_store_reader_end(&s, r);
    assert_int_equal(sqlite3_wal_checkpoint_v2(s.db, NULL, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved), SQLITE_OK);
    assert_true(moved < pages);

    r = event_store_reader_begin(&s, 22, 22);
    assert_int_equal(r->upto, 22);
    assert_int_equal(answer_of(r, 8), 22);
    event_store_reader_end(&s, r);
    event_store_release(&s);
    assert_int_equal(sqlite3_wal_checkpoint_v2(s.db, NULL, SQLITE_CHECKPOINT_TRUNCATE, &pages, &moved), SQLITE_OK);
    event_store_close(&s);
    temporary_remove(folder);
    free(folder);
}

/* All events of a batch or none. */
static void test_whole_batches(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[4096];
    struct event_store s;
    struct http_error err = {0};
    struct event *batch[3] = {event_new(EVENT_DECISION, 1, "{}", 2), event_new(EVENT_FEEDBACK, 0, "", 0),
                              event_new(EVENT_FEEDBACK, 0, "", 0)};
    struct event *found;
    snprintf(path, sizeof path, "%s/m", folder);
    create(path, &s);
    for (size_t i = 0; i < 3; i++) {
        batch[i]->seq = i + 1;
        batch[i]->decision = i ? 1 : 0;
    }
    assert_false(event_store_append(&s, batch, 3, &err)); /* a decision is answered once */
    assert_true(event_store_decision(&s, 1, &found, &err));
    assert_null(found);
    assert_true(event_store_append(&s, batch, 2, &err));
    assert_true(event_store_decision(&s, 1, &found, &err));
    assert_non_null(found);
    event_free(found);
    for (size_t i = 0; i < 3; i++)
        event_free(batch[i]);
    event_store_close(&s);
    temporary_remove(folder);
    free(folder);
}

struct writing {
    struct event_store *store;
    _Atomic bool stop;
};

/* Assertions belong to the test's own thread: what cannot be written is not looked at either. */
static void *write_on(void *about)
{
    struct writing *w = about;
    struct http_error err;
    for (uint64_t seq = 1; !w->stop; seq++) {
        struct event *e = event_new(EVENT_DECISION, 1, "{}", 2);
        e->seq = seq;
        event_store_append(w->store, &e, 1, &err);
        event_free(e);
    }
    return NULL;
}

/* One who looks at a log that is being written never finds it damaged. */
static void test_a_look_at_a_living_log(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[4096];
    struct event_store s, look;
    struct http_error err = {0};
    struct writing w = {&s, false};
    pthread_t thread;
    snprintf(path, sizeof path, "%s/m", folder);
    create(path, &s);
    assert_int_equal(pthread_create(&thread, NULL, write_on, &w), 0);
    char damage[sizeof look.damage] = "";
    for (int i = 0; i < 300 && !damage[0]; i++) {
        assert_true(event_store_open(&look, path, true, &err));
        snprintf(damage, sizeof damage, "%s", look.damage);
        event_store_close(&look);
    }
    w.stop = true;
    pthread_join(thread, NULL);
    assert_string_equal(damage, "");
    event_store_close(&s);
    temporary_remove(folder);
    free(folder);
}

/* --- checkpoints of other processes --- */

#define WRITE_BYTE 120 /* sqlite.org/walformat.html */
#define CHECKPOINT_BYTE 121

struct other {
    pid_t pid;
    int end; /* closed: it lets go and leaves */
};

static bool try_lock(const char *log, int byte)
{
    char path[4200];
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    snprintf(path, sizeof path, "%s/log.db-shm", log);
    int fd = open(path, O_RDWR);
    return fd >= 0 && fcntl(fd, F_SETLK, &lock) == 0;
}

/* Another process takes one of the log's locks; pid 0: someone has it. */
static struct other other_lock(const char *log, int byte)
{
    int said[2], end[2];
    char answer = 0;
    assert_int_equal(pipe(said), 0);
    assert_int_equal(pipe(end), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        close(end[1]);
        answer = try_lock(log, byte) ? 'y' : 'n';
        if (write(said[1], &answer, 1) == 1 && answer == 'y' && read(end[0], &answer, 1) != 0)
            _exit(1);
        _exit(0);
    }
    close(end[0]);
    assert_int_equal(read(said[0], &answer, 1), 1);
    close(said[0]);
    close(said[1]);
    struct other other = {pid, end[1]};
    if (answer == 'y')
        return other;
    close(end[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    return (struct other){0};
}

static void other_leaves(struct other *o)
{
    assert_true(o->pid > 0);
    close(o->end);
    assert_int_equal(waitpid(o->pid, NULL, 0), o->pid);
}

/* No other process makes a checkpoint while we write, nor writes while we make one; and we do neither while it does. */
static void test_checkpoints_of_others(void **state)
{
    (void)state;
    char *folder = temporary_folder(), path[4096];
    struct event_store s;
    struct http_error err = {0};
    snprintf(path, sizeof path, "%s/m", folder);
    create(path, &s);
    sqlite3_busy_timeout(s.db, 20);
    append(&s, 1, 1);

    assert_true(event_store_begin(&s, &err));
    assert_int_equal(other_lock(path, CHECKPOINT_BYTE).pid, 0);
    event_store_rollback(&s);
    struct other other = other_lock(path, CHECKPOINT_BYTE);
    assert_false(event_store_begin(&s, &err));
    assert_string_equal(err.code, "storage");
    other_leaves(&other);
    append(&s, 2, 2);

    other = other_lock(path, WRITE_BYTE);
    assert_int_equal(sqlite3_wal_checkpoint_v2(s.db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL), SQLITE_BUSY);
    other_leaves(&other);
    const int modes[] = {SQLITE_CHECKPOINT_PASSIVE, SQLITE_CHECKPOINT_FULL, SQLITE_CHECKPOINT_RESTART,
                         SQLITE_CHECKPOINT_TRUNCATE};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        append(&s, 3 + i, 3 + i);
        assert_int_equal(sqlite3_wal_checkpoint_v2(s.db, NULL, modes[i], NULL, NULL), SQLITE_OK);
    }
    for (int byte = WRITE_BYTE; byte <= CHECKPOINT_BYTE; byte++) { /* all of them have been given back */
        other = other_lock(path, byte);
        other_leaves(&other);
    }
    event_store_close(&s);
    temporary_remove(folder);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_successor),
                                       cmocka_unit_test(test_moments),
                                       cmocka_unit_test(test_whole_batches),
                                       cmocka_unit_test(test_unanswered),
                                       cmocka_unit_test(test_a_look_at_a_living_log),
                                       cmocka_unit_test(test_checkpoints_of_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
