# SPDX-License-Identifier: BSD-3-Clause
"""Killed with SIGKILL at random moments, again and again, while clients predict and answer and an operator works.

Clients ask with ids of their own, among some of the labels, and leave decisions to silence; the operator excludes events, adds,
promotes and drops versions, retires and restores labels. Names take the places of others, and logs are scrubbed; in every
other folder they are trimmed too. A backup that came whole before the kill is restored, and has what was acknowledged before
it began. HUNCH_CRASH_ROUNDS (10): how often; HUNCH_CRASH_SEED: of the moments.
"""
import http.client
import os
import random
import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

from conftest import HUNCH, Client, verify

ROUNDS = int(os.environ.get('HUNCH_CRASH_ROUNDS', '10'))
SEED = int(os.environ.get('HUNCH_CRASH_SEED', '1'))
FRESH = 50  # rounds after which a new folder is begun
MODELS = {'news': 'confident', 'shop': 'banditron:gamma=0.2', 'quiet': 'soba'}
SILENCE = {'quiet': {'answer_after': 1, 'answer_default': 'wrong', 'late_feedback': 'replace'}}  # learned from who says nothing


class Driver(threading.Thread):
    """A client that goes on until its server is gone, and knows what was acknowledged."""

    def __init__(self, port, seed, waiting, acknowledged, asked):
        super().__init__()
        self.client, self.random = Client(port), random.Random(seed)
        self.waiting, self.acknowledged, self.asked = waiting, acknowledged, asked
        self.error = None

    def run(self):
        try:
            while True:
                self.step()
        except (OSError, http.client.HTTPException):
            self.client.close()
        except BaseException as e:
            self.error = e

    def answer(self, model, items):
        for i, right in items:
            self.asked.append((model, i, right))
        body = [{'id': i, 'right': right} for i, right in items]
        reply = self.client('POST', '/v1/models/%s/feedback' % model, body if len(body) > 1 else body[0])
        if reply.status != 200:
            assert reply.status == 404 or reply.code in ('busy', 'not_durable'), reply.body
            return
        results = reply.json if len(body) > 1 else [reply.json]
        for (i, right), result in zip(items, results):
            if result.get('result') in ('learned', 'already', 'late', 'replaced'):
                self.acknowledged[model, i] = right
            else:  # a decision that a crash took back before it was on disk
                assert result.get('status') == 404, result

    def step(self):
        r, model = self.random, self.random.choice(list(MODELS))
        user = r.randrange(40) if r.random() < 0.7 else r.randrange(40, 10 ** 6)  # some are seen once: places are reused
        x = {'u%d' % user: 1, 'h': round(r.random(), 3)}
        n = r.choice([1, 1, 1, 8])
        body = {'x': x}
        if r.random() < 0.2:
            body['eligible'] = ['tech', 'sports']
        if n == 1 and r.random() < 0.2:
            body['event'] = 'event %d' % r.randrange(10 ** 9)
        reply = self.client('POST', '/v1/models/%s/predict' % model, [body] * n if n > 1 else body)
        assert reply.status == 200, reply.body
        if 'event' in body and r.random() < 0.5:
            again = self.client('POST', '/v1/models/%s/predict' % model, body)
            assert again.json['id'] == reply.json['id'], again.body
        decisions = reply.json if n > 1 else [reply.json]
        items = [(d['id'], d['label'] == 'tech') for d in decisions]
        if r.random() < 0.3:  # later, maybe after a crash, maybe never
            self.waiting[:0] = list((model, i, right) for i, right in items)
            return
        self.answer(model, items)
        if self.waiting and r.random() < 0.3:
            model, i, right = self.waiting.pop()
            self.answer(model, [(i, right)])
        if r.random() < 0.1 and self.acknowledged:  # once more
            (model, i), right = r.choice(list(self.acknowledged.copy().items())[-50:])
            self.answer(model, [(i, right)])


class Operator(threading.Thread):
    """Excludes, adds, promotes, rolls back, drops; whatever is refused is refused."""

    def __init__(self, port, seed, acknowledged):
        super().__init__()
        self.client, self.random, self.acknowledged, self.done = Client(port), random.Random(seed), acknowledged, {}
        self.error = None

    def run(self):
        try:
            while True:
                self.step()
                time.sleep(0.02)
        except (OSError, http.client.HTTPException):
            self.client.close()
        except BaseException as e:
            self.error = e

    def ask(self, what, method, path, body=None):
        reply = self.client(method, path, body)
        assert reply.status in (200, 202, 404, 409) or reply.code in ('busy', 'storage', 'deadline', 'rebuilding'), (what, reply.body)
        self.done[what, reply.status] = self.done.get((what, reply.status), 0) + 1

    def step(self):
        r, model = self.random, self.random.choice(list(MODELS))
        path, what = '/v1/models/%s/' % model, r.choice(['exclude', 'add', 'promote', 'rollback', 'drop', 'snapshot', 'retire'])
        if what == 'exclude':
            mine = [i for m, i in list(self.acknowledged.copy())[-200:] if m == model]
            if mine and r.random() < 0.3:
                self.ask(what, 'POST', path + 'exclude', {'id': r.choice(mine)})
        elif what == 'add':
            self.ask(what, 'POST', path + 'versions', {'learner': r.choice(['soba', 'confidit', 'banditron'])})
        elif what == 'promote':
            self.ask(what, 'POST', path + 'versions/%d/promote' % r.randrange(1, 6))
        elif what == 'drop':
            self.ask(what, 'DELETE', path + 'versions/%d' % r.randrange(2, 6))
        elif what == 'retire':
            self.ask(what, 'PATCH', '/v1/models/' + model, {r.choice(['retire', 'restore']): ['politics']})
        else:
            self.ask(what, 'POST', path + what)


class Saver(threading.Thread):
    """Takes backups; keeps the last one that came whole, with what had been acknowledged before it began."""

    def __init__(self, port, acknowledged):
        super().__init__()
        self.client, self.acknowledged, self.backup, self.error = Client(port), acknowledged, None, None

    def run(self):
        try:
            while True:
                before = dict(self.acknowledged)
                reply = self.client('GET', '/v1/backup')
                assert reply.status == 200, reply.body
                self.backup = before, reply.body
                time.sleep(0.1)
        except (OSError, http.client.HTTPException):
            self.client.close()
        except BaseException as e:
            self.error = e


def check_backup(folder, backup, asked, trims):
    """It can be restored, its models are those of their logs, and nothing acknowledged before it is missing."""
    acknowledged, data = backup
    shutil.rmtree(folder, ignore_errors=True)
    file = folder.with_suffix('.tar')
    file.write_bytes(data)
    done = subprocess.run([HUNCH, 'serve', '--dir', str(folder), '--restore', str(file)], capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr
    code, models = verify(folder)
    assert code == 0 and len(models) == len(MODELS), models
    if not trims:
        check_log(folder, acknowledged, asked)


def check_log(folder, acknowledged, asked):
    """Every acknowledged answer is there exactly once, and nothing that no one said."""
    said = set(asked)
    for model in MODELS.keys() - SILENCE.keys():
        with closing(sqlite3.connect('%s/models/%s/log.db' % (folder, model))) as db:
            rows = db.execute('SELECT id, was_right FROM log WHERE was_right IS NOT NULL').fetchall()
            twice = db.execute('SELECT count(*) - count(DISTINCT decision) FROM feedback').fetchone()[0]
        logged = dict(rows)
        assert len(logged) == len(rows) and twice == 0
        for (name, i), right in acknowledged.items():
            if name == model:
                assert logged.get(i) == right, (model, i)
        assert all((model, i, bool(right)) in said for i, right in rows)


def test_kill_at_random_moments(make_server, tmp_path):
    rng = random.Random(SEED)
    events, backups, done = 0, 0, {}
    for turn in range(ROUNDS):
        if turn % FRESH == 0:
            if turn:
                server.close()
            folder = tmp_path / ('state%d' % (turn // FRESH))
            trims = turn // FRESH % 2 == 1
            server = make_server('--snapshot-events', '300', '--max-queue', '512', '--max-batch', '100',
                                 '--scrub-hours', '0.0002', '--keep-days', '0.000005' if trims else '0', folder=folder)
            waiting, acknowledged, asked = [], {}, []
            for name, learner in MODELS.items():
                server.client.create(name, learner=learner, max_features=80, **SILENCE.get(name, {'ttl_seconds': 1 if trims else 100000}))
        drivers = [Driver(server.port, rng.random(), waiting, acknowledged, asked) for _ in range(4)]
        drivers.append(Operator(server.port, rng.random(), acknowledged))
        drivers.append(Saver(server.port, acknowledged))
        [d.start() for d in drivers]
        time.sleep(rng.choice([0.02, 0.1, 0.3, 0.6]) * rng.random())
        server.kill()
        [d.join() for d in drivers]
        assert [d.error for d in drivers] == [None] * 6
        backups += drivers[-1].backup is not None
        if drivers[-1].backup:
            check_backup(tmp_path / 'restored', drivers[-1].backup, asked, trims)
        assert not server.seen('log_damaged') and not server.seen('shadow_failed'), server.events
        for what, n in drivers[-2].done.items():
            done[what] = done.get(what, 0) + n
        code, models = verify(folder)  # from the newest snapshot and from scratch: the same bytes
        assert code == 0 and len(models) == len(MODELS), models
        if not trims:
            check_log(folder, acknowledged, asked)
        server.start()
        for m in models:
            if m['model'] in SILENCE:
                continue  # time goes on, and so does that model
            reply = server.client('GET', '/v1/models/%s/snapshot' % m['model'])
            assert reply.headers['X-Hunch-Hash'] == m['hash'] and int(reply.headers['X-Hunch-Seq']) == m['seq']
        events = max(events, sum(m['seq'] for m in models))
    server.close()
    assert events > 0
    print(done, backups, 'backups restored')
