# SPDX-License-Identifier: BSD-3-Clause
"""One bit of one file of the state folder is wrong, or the end of a file is missing: no answer changes unseen.

HUNCH_BIT_FLIPS and HUNCH_TRUNCATIONS say how many of each are tried, HUNCH_SEED which ones.
"""
import os
import random
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from conftest import PATIENCE, Server, until

FLIPS = int(os.environ.get('HUNCH_BIT_FLIPS', '60'))
TRUNCATIONS = int(os.environ.get('HUNCH_TRUNCATIONS', '20'))
SEED = int(os.environ.get('HUNCH_SEED', '5'))
LABELS = ['sports', 'politics', 'tech']

# What the server says about damage that it has found.
REPORTS = {'model_broken', 'model_degraded', 'log_damaged', 'index_damaged', 'snapshot_damaged', 'clock_damaged',
           'version_failed', 'shadow_failed', 'housekeeping_failed'}


def play(client, model, rounds, start=0):
    """Pairs of id and answer; every fifth decision stays open."""
    answered, opened = [], []
    for i in range(start, start + rounds):
        d = client.predict(model, {'f%d' % (i % 7): 1, 'g%d' % (i % 3): 0.5 * (i % 10)}, event='event %d' % i)
        if i % 5:
            assert client.feedback(model, id=d['id'], right=i % 2 == 0).status == 200
            answered.append((d['id'], i % 2 == 0))
        else:
            opened.append(('event %d' % i, d['id']))
    return answered, opened


def state_hash(client, model):
    reply = client('GET', '/v1/models/%s/snapshot' % model)
    return reply.status, reply.headers['X-Hunch-Hash']


def versions_of(client):
    """Those that do not decide are made in the background."""
    end = time.monotonic() + 5
    while True:
        reply = client('GET', '/v1/models/m/versions')
        if reply.status != 200 or time.monotonic() > end or all(v['status'] != 'building' for v in reply.json['versions']):
            return reply
        time.sleep(0.05)


class Base:
    """A folder with everything in it, and what its server answers."""

    def __init__(self, folder, stopped):
        self.folder = Path(folder)
        server = Server(folder, '--snapshot-events', '90', '--undelete-days', '9').start()
        try:
            client = server.client
            client.create('m', seed=1, learner='banditron:gamma=0.2')
            play(client, 'm', 20)
            assert client('POST', '/v1/models/m/versions', {'learner': 'soba'}).status == 202
            until(lambda: client('GET', '/v1/models/m/versions').json['versions'][-1]['status'] == 'shadow')
            assert client('POST', '/v1/models/m/versions/2/promote').status == 200
            assert client('POST', '/v1/models/m/labels', {'labels': ['weather']}).status == 200
            client.create('gone', seed=2, learner='banditron')
            play(client, 'gone', 10)
            self.gone = state_hash(client, 'gone')
            assert client('PUT', '/v1/models/b', client('GET', '/v1/models/m/model').body).status == 201
            assert client('DELETE', '/v1/models/gone').status == 200
            assert client('POST', '/v1/models/m/exclude', {'seq': 9}).status in (200, 202)
            until(lambda: not client('GET', '/v1/models/m').json.get('rebuilding'))
            self.answered, self.opened = play(client, 'm', 100, start=20)
            until(lambda: client('GET', '/v1/models/m').json['snapshot_seq'] > 0)
            more = play(client, 'm', 30, start=120)
            self.answered += more[0]
            self.opened += more[1]
            play(client, 'b', 10)
            self.hashes = {m: state_hash(client, m) for m in 'mb'}
            self.versions = [(v['version'], v['status'], v['learner']) for v in versions_of(client).json['versions']]
            client.predict('m', {'f1': 1}, durable=True)
            server.stop() if stopped else server.kill()
        finally:
            server.close()

    def files(self):
        return sorted(f.relative_to(self.folder) for f in self.folder.rglob('*') if f.is_file() and f.stat().st_size)


def look(base, client, pick):
    """Names of answers that are not those of before; refusals with a reason of the server's own (503) count as seen."""
    changed, refused = [], []

    def note(name, status, right):
        (refused if status in (500, 503) else [] if right else changed).append(name)
    for model, wanted in base.hashes.items():
        got = state_hash(client, model)
        if model == 'm':  # one durable decision has been made since
            scores = client('POST', '/v1/models/m/scores', {'x': {'f%d' % i: 1 for i in range(7)}})
            note('scores', scores.status, scores.body == base.scores)
        else:
            note('state', got[0], got == wanted)
    for i, right in pick.sample(base.answered, 12):
        again, other = client.feedback('m', id=i, right=right), client.feedback('m', id=i, right=not right)
        note('again', again.status, again.status == 200 and again.json['result'] == 'already')
        note('contradiction', other.status, other.status == 409)
        assert other.status != 200, other.body  # learned twice is wrong in any case
    for event, i in pick.sample(base.opened, 6):
        told = client('POST', '/v1/models/m/predict', {'x': {'f1': 1}, 'event': event})
        note('event', told.status, told.status == 200 and told.json['id'] == i)
        answer = client.feedback('m', id=i, right=True)
        note('open decision', answer.status, answer.status == 200)
    versions = versions_of(client)
    note('versions', versions.status,
         versions.status == 200 and [(v['version'], v['status'], v['learner']) for v in versions.json['versions']] == base.versions)
    if client('POST', '/v1/models/gone/undelete').status == 200:
        got = state_hash(client, 'gone')
        note('undeleted', got[0], got == base.gone)
    return changed, refused


def attack(base, copy, damage, pick):
    """Damages a copy; gives back 'stopped', 'reported', 'refused' or 'harmless'."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(base.folder, copy)
    damage(copy)
    server = Server(copy, '--undelete-days', '9', '--keep-days', '30')
    try:
        try:
            server.start()
        except AssertionError:  # the server did not start, and says why
            assert server.process.wait(PATIENCE) == 2, server.events
            return 'stopped'
        changed, refused = look(base, server.client, pick)
        if changed:  # what is found in the background may follow a moment later
            end = time.monotonic() + 5
            while not REPORTS & {e['event'] for e in server.events} and time.monotonic() < end:
                time.sleep(0.05)
        said = REPORTS & {e['event'] for e in server.events}
        assert not changed or said, (changed, server.events)
        return 'reported' if said else 'refused' if refused else 'harmless'
    finally:
        server.close()


def flip(file, bit):
    def damage(folder):
        data = bytearray((folder / file).read_bytes())
        data[bit // 8] ^= 1 << bit % 8
        (folder / file).write_bytes(data)
    return damage


def cut(file, size):
    return lambda folder: os.truncate(folder / file, size)


def kind(file):
    return file.name if file.name[0] != 's' else file.name.split('-')[0]


def test_damage(tmp_path):
    pick, outcome = random.Random(SEED), Counter()
    bases = [Base(tmp_path / 'killed', False), Base(tmp_path / 'stopped', True)]
    for base in bases:
        server = Server(base.folder).start()
        base.scores = server.client('POST', '/v1/models/m/scores', {'x': {'f%d' % i: 1 for i in range(7)}}).body
        server.kill()
    for i in range(FLIPS + TRUNCATIONS):
        base = bases[i % 2]
        file = pick.choice(base.files())
        size = (base.folder / file).stat().st_size
        what = pick.randrange(size * 8 if i < FLIPS else size)
        try:
            result = attack(base, tmp_path / 'copy', flip(file, what) if i < FLIPS else cut(file, what), pick)
        except AssertionError as e:
            raise AssertionError('%s of %s at %d (%s)' % ('flip' if i < FLIPS else 'cut', file, what, base.folder.name)) from e
        outcome['flip' if i < FLIPS else 'cut', kind(file), result] += 1
    for (how, name, result), n in sorted(outcome.items()):
        print(how, name, result, n)
    assert sum(n for key, n in outcome.items() if key[2] != 'harmless') > (FLIPS + TRUNCATIONS) // 10, outcome


# --- indexes ---

N = 1200  # decisions of each kind: an index of them has a root and some leaves


def log_of(folder, model):
    return Path(folder) / 'models' / model / 'log.db'


class Asked:
    """Late answers, activations and decisions for ids of the client's, and what a repetition must not do again."""

    def __init__(self, server):
        client = server.client
        client.create('late', learner='banditron', answer_after=1, answer_default='wrong', late_feedback='replace')
        client.create('m', learner='banditron')
        self.late = self.many(client, 'late', lambda i: {})
        self.deferred = self.many(client, 'm', lambda i: {'defer': True})
        self.events = ['visit %d' % i for i in range(N)]
        self.given = self.many(client, 'm', lambda i: {'event': self.events[i]})
        until(lambda: client('GET', '/v1/models/late').json['silent'] == N)
        assert set(self.say(client, 'late', 'feedback', [{'id': i, 'right': True} for i in self.late])) == {'replaced'}
        assert set(self.say(client, 'm', 'activate', [{'id': i} for i in self.deferred])) == {'activated'}
        server.stop()

    @staticmethod
    def many(client, model, more):
        return [d['id'] for i in range(0, N, 300)
                for d in client('POST', '/v1/models/%s/predict' % model,
                                [{'x': {'u': 1}, **more(i + k)} for k in range(300)]).json]

    @staticmethod
    def say(client, model, what, items):
        results = []
        for i in range(0, N, 300):
            reply = client('POST', '/v1/models/%s/%s' % (model, what), items[i:i + 300])
            results += [d.get('result') for d in reply.json] if reply.status == 200 else []
        return results

    def done_again(self, client, name):
        """How often something was done once more."""
        if name == 'late':
            return self.say(client, 'late', 'feedback', [{'id': i, 'right': False} for i in self.late]).count('replaced')
        if name == 'activations':
            return self.say(client, 'm', 'activate', [{'id': i} for i in self.deferred]).count('activated')
        again = self.many(client, 'm', lambda i: {'event': self.events[i]}) if self.accepted(client) else self.given
        return sum(a != b for a, b in zip(again, self.given))

    def accepted(self, client):
        return client('POST', '/v1/models/m/predict', [{'x': {'u': 1}, 'event': e} for e in self.events[:300]]).status == 200


INDEXES = {'late': ('late', 'sqlite_autoindex_late_1'), 'activations': ('m', 'sqlite_autoindex_activations_1'),
           'given': ('m', 'decisions_given_id')}


def empty_root(log, index):
    """The index's root keeps no cell, so that most of what it leads to is not found."""
    with closing(sqlite3.connect(log)) as db:
        db.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
        root, = db.execute('SELECT rootpage FROM sqlite_schema WHERE name = ?', (index,)).fetchone()
    with open(log, 'r+b') as f:
        f.seek((root - 1) * 4096 + 3)
        assert int.from_bytes(f.read(2), 'big') > 0
        f.seek((root - 1) * 4096 + 3)
        f.write(bytes(2))


def halve_leaves(log, index):
    """Each of the index's leaves keeps half of its cells. The server is running: nothing is written but these bytes."""
    with closing(sqlite3.connect(log)) as db:
        pages = [p for p, in db.execute('SELECT pageno FROM dbstat WHERE name = ?', (index,))]
    data = log.read_bytes()
    with open(log, 'r+b') as f:
        for start in (4096 * (p - 1) for p in pages):
            if data[start] == 10:
                f.seek(start + 3)
                f.write((int.from_bytes(data[start + 3:start + 5], 'big') // 2).to_bytes(2, 'big'))


@pytest.fixture(scope='module')
def asked(tmp_path_factory):
    folder = tmp_path_factory.mktemp('asked')
    server = Server(folder / 'state').start()
    try:
        return folder, Asked(server)
    finally:
        server.close()


@pytest.mark.parametrize('name', INDEXES)
def test_what_a_damaged_index_hides_is_not_done_again(asked, make_server, tmp_path, name):
    folder, before = asked
    shutil.copytree(folder / 'state', tmp_path / 'state')
    model, index = INDEXES[name]
    empty_root(log_of(tmp_path / 'state', model), index)
    server = make_server(folder=tmp_path / 'state')
    assert server.event('index_damaged')
    assert before.done_again(server.client, name) == 0
    assert server.client('GET', '/v1/models/' + model).json['status'] == 'ok'  # it has been made again from the table


@pytest.mark.parametrize('name', ['late', 'activations'])
def test_what_an_index_hides_while_the_server_runs_is_not_done_again(asked, make_server, tmp_path, name):
    folder, before = asked
    shutil.copytree(folder / 'state', tmp_path / 'state')
    server = make_server(folder=tmp_path / 'state')
    model, index = INDEXES[name]
    halve_leaves(log_of(tmp_path / 'state', model), index)
    assert before.done_again(server.client, name) == 0
    server.wait_for('log_damaged')


def test_an_index_that_names_an_event_that_does_not_exist(asked, make_server, tmp_path):
    """No request waits for it: it would never be answered, and the writer of the log would loop without end."""
    folder, before = asked
    shutil.copytree(folder / 'state', tmp_path / 'state')
    log = log_of(tmp_path / 'state', 'late')
    with closing(sqlite3.connect(log)) as db:
        decision, seq = db.execute('SELECT decision, seq FROM late WHERE decision > 400').fetchone()
    server = make_server(folder=tmp_path / 'state')
    data, entry = log.read_bytes(), b'\3\2\2' + decision.to_bytes(2, 'big') + seq.to_bytes(2, 'big')
    assert data.count(entry) == 1
    log.write_bytes(data.replace(entry, entry[:5] + b'\x7f' + entry[6:]))
    answered, = [i for i in before.late if int(i[:16], 16) == decision]
    assert server.client.feedback('late', id=answered, right=True).code == 'damaged'
    server.wait_for('log_damaged')


def test_a_table_that_its_index_contradicts(asked, make_server, tmp_path):
    """One answer's row names another decision: the index is not made to say the same, for the row is what is damaged."""
    folder, before = asked
    shutil.copytree(folder / 'state', tmp_path / 'state')
    log = log_of(tmp_path / 'state', 'late')
    with closing(sqlite3.connect(log)) as db:
        decision, time_ms = db.execute('SELECT decision, time_ms FROM late WHERE decision > 400').fetchone()
    data, row = log.read_bytes(), decision.to_bytes(2, 'big') + time_ms.to_bytes(6, 'big')
    assert data.count(row) == 1
    log.write_bytes(data.replace(row, (decision + 0x4000).to_bytes(2, 'big') + row[2:]))
    server = make_server(folder=tmp_path / 'state')
    assert server.event('model_degraded')
    assert before.done_again(server.client, 'late') == 0


def test_a_decision_that_its_index_contradicts(asked, make_server, tmp_path):
    """The row that the index of the client's ids leads to has another id."""
    folder, before = asked
    shutil.copytree(folder / 'state', tmp_path / 'state')
    server = make_server(folder=tmp_path / 'state')
    log = log_of(tmp_path / 'state', 'm')
    with closing(sqlite3.connect(log)) as db:
        pages = [p for p, in db.execute("SELECT pageno FROM dbstat WHERE name = 'decisions'")]
    data = bytearray(log.read_bytes())
    at = [i for i in (data.find(b'visit 777', (p - 1) * 4096, p * 4096) for p in pages) if i >= 0]
    data[at[0]:at[0] + 9] = b'visit 7x7'
    log.write_bytes(data)
    assert server.client('POST', '/v1/models/m/predict', {'x': {'u': 1}, 'event': 'visit 777'}).code == 'damaged'
    server.wait_for('log_damaged')
    assert server.client.predict('m', {'u': 1}, event='visit 778')['id'] == before.given[778]
