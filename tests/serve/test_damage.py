# SPDX-License-Identifier: BSD-3-Clause
"""One bit of one file of the state folder is wrong, or the end of a file is missing: no answer changes unseen.

HUNCH_BIT_FLIPS and HUNCH_TRUNCATIONS say how many of each are tried, HUNCH_SEED which ones.
"""
import os
import random
import shutil
import time
from collections import Counter
from pathlib import Path

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
