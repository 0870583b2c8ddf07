# SPDX-License-Identifier: BSD-3-Clause
"""Poison, undo and damage: a bad event, or a bad bit, never changes a model unseen."""
import ctypes
import json
import os
import random
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from conftest import HUNCH, until, verify

FLIPS = int(os.environ.get('HUNCH_BIT_FLIPS', '150'))


def database(server, model='m', mode='rw'):
    return closing(sqlite3.connect('file:%s/models/%s/log.db?mode=%s' % (server.folder, model, mode), uri=True,
                                   timeout=20))


def status(client, model='m'):
    return client('GET', '/v1/models/' + model).json


def live(client, rounds, model='m', start=0):
    ids = []
    for i in range(start, start + rounds):
        d = client.predict(model, {'f%d' % (i % 7): 1, 'g%d' % (i % 3): 0.5 * (i % 10)})
        assert client.feedback(model, id=d['id'], right=d['label'] == 'tech').status == 200
        ids.append(d['id'])
    return ids


# --- poison ---

@pytest.mark.parametrize('features,x,name', [('named', {'a': 1, 'big': 2e9}, 'big'), ('named', {'big': -1e38}, 'big'),
                                             ('hashed', {'a': 1, 'big': 3e9}, 'big'), ('indexed', [0, 1e10], '1'),
                                             ('indexed', [[7, 1e10]], '7')])
def test_values_beyond_the_bound_are_refused(client, features, x, name):
    client.create('m', features=features)
    for path, body in (('predict', {'x': x}), ('scores', {'x': x}), ('teach', {'x': x, 'label': 'tech'})):
        reply = client('POST', '/v1/models/m/' + path, body)
        assert reply.status == 400 and reply.code == 'bad_value', reply.body
        assert '"%s"' % name in reply.json['error']['message']
    assert status(client)['decisions'] == 0


def test_bounds_are_settings(server):
    client = server.client
    client.create('m', bounds={'value': 10, 'features': 2})
    assert client('POST', '/v1/models/m/predict', {'x': {'a': 10}}).status == 200
    assert client('POST', '/v1/models/m/predict', {'x': {'a': 10.5}}).code == 'bad_value'
    assert client('POST', '/v1/models/m/predict', {'x': {'a': 1, 'b': 1, 'c': 1}}).status == 413
    assert status(client)['bounds'] == {'value': 10, 'features': 2}
    for bad in ({'value': 0}, {'value': 5e-324}, {'value': 'x'}, {'features': 0}, {'other': 1}, 7):
        assert client('PUT', '/v1/models/n', {'classes': 2, 'bounds': bad}).status == 400
    server.kill()
    client = server.start().client
    assert client('POST', '/v1/models/m/predict', {'x': {'a': 10.5}}).code == 'bad_value'
    client('PUT', '/v1/models/m', {'labels': ['sports', 'politics', 'tech'], 'bounds': {'value': 11}}).status == 409


def test_events_that_the_log_refuses_are_refused_once(server):
    client = server.client
    client.create('m')
    client.create('other')
    live(client, 20)
    before = status(client)['seq']
    with database(server) as db:  # stands for whatever a log may refuse for its content
        db.execute("CREATE TRIGGER refuse BEFORE INSERT ON feedback WHEN new.true_label = 1 "
                   "BEGIN SELECT RAISE(ABORT, 'poison'); END")
        db.commit()
    d = client.predict('m', {'f1': 1}, durable=True)
    assert client.feedback('m', id=d['id'], label='politics').status == 503
    server.wait_for('events_refused')
    server.wait_for('model_rebuilt')
    until(lambda: status(client)['status'] == 'ok')
    assert status(client)['seq'] == before + 1
    live(client, 5)
    live(client, 5, 'other')
    assert client('GET', '/readyz').status == 200
    assert client.feedback('m', id=d['id'], right=True).json['result'] == 'learned'
    assert server.stop() == 0
    code, models = verify(server.folder)
    assert code == 0 and all(m['equal'] for m in models)


def test_one_broken_model_does_not_make_the_server_unready(server):
    client = server.client
    client.create('good')
    client.create('bad')
    live(client, 3, 'bad')
    server.stop()
    for file in Path(server.folder, 'models', 'bad').iterdir():
        if file.name != 'head':
            file.write_bytes(b'nonsense')
    client = server.start().client
    ready = client('GET', '/readyz')
    assert ready.status == 200 and [m['model'] for m in ready.json['not_ready']] == ['bad']
    assert ready.json['not_ready'][0]['reason'] and status(client, 'bad')['reason']
    assert client('GET', '/readyz?model=bad').status == 503
    assert client('GET', '/readyz?model=good').status == 200
    assert client('GET', '/readyz?model=none').status == 404
    live(client, 3, 'good')


# --- undo ---

def test_every_request_about_a_broken_model_is_answered(server):
    client = server.client
    client.create('m')
    id = live(client, 3)[0]
    server.kill()
    with database(server) as log:
        log.execute("UPDATE about SET value = '{' WHERE key = 'settings'")
        log.commit()
    client = server.start().client
    assert status(client)['status'] == 'broken'
    x = {'x': {'f': 1}}
    for path, body in [('predict', x), ('scores', x), ('explain', x), ('explain', {'id': id}), ('teach', dict(x, label='tech')),
                       ('feedback', {'id': id, 'right': True}), ('activate', {'id': id}), ('decisions', dict(x, baseline='tech')),
                       ('labels', {'labels': ['new']}), ('exclude', {'seq': 1}), ('snapshot', None), ('rollback', None),
                       ('versions', {'learner': 'soba'}), ('versions/2/promote', None)]:
        reply = client('POST', '/v1/models/m/' + path, body)
        assert reply.status == 503 and reply.code in ('model_broken', 'damaged'), (path, reply.body)
    for change in ({'retire': ['tech']}, {'restore': ['tech']}, {'decides': 'baseline'},
                   {'control': {'share': 0.1, 'by': 'label', 'label': 'tech'}}):
        reply = client('PATCH', '/v1/models/m', change)
        assert reply.status == 503 and reply.code == 'model_broken', (change, reply.body)
    for path in ('', '/comparison', '/decisions', '/decisions/' + id, '/stats', '/snapshot', '/versions', '/model', '/log'):
        reply = client('GET', '/v1/models/m' + path)
        assert reply.status in (200, 503), (path, reply.body)


def test_exclude_makes_the_model_forget(make_server, tmp_path):
    """A model that was given nonsense and had it excluded is what its log says without it."""
    server = make_server('--snapshot-events', '50')
    client = server.client
    client.create('m', seed=3, learner='confidit')
    ids = live(client, 60)
    bad = client.predict('m', {'f1': 1000, 'nonsense': 1e6})
    assert client.feedback('m', id=bad['id'], label='politics').status == 200
    live(client, 100, start=60)
    spoiled = status(client)
    reply = client('POST', '/v1/models/m/exclude', {'id': bad['id']})
    assert reply.status == 202, reply.body
    server.wait_for('model_rebuilt')
    assert server.seen('event_excluded')
    until(lambda: not status(client).get('rebuilding'))
    now = status(client)
    assert now['excluded'] == 2 and now['decisions'] == spoiled['decisions'] - 1
    assert now['features_known'] == spoiled['features_known'] - 1
    live(client, 30, start=160)
    assert client.feedback('m', id=ids[0], right=True).status in (200, 409)
    before = client('GET', '/v1/models/m/snapshot').body
    server.kill()
    client = server.start().client
    assert client('GET', '/v1/models/m/snapshot').body == before
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'] and models[0]['mismatches'] == 0


def test_exclude_while_serving(make_server):
    server = make_server('--snapshot-events', '200')
    client = server.client
    client.create('m', seed=3)
    ids = live(client, 300)
    for i in (5, 150, 299):
        assert client('POST', '/v1/models/m/exclude', {'id': ids[i]}).status == 202
        live(client, 40, start=i)
    until(lambda: not status(client).get('rebuilding') and status(client)['excluded'] == 6)
    live(client, 20)
    server.kill()
    server.start()
    assert status(server.client)['excluded'] == 6
    server.stop()
    assert verify(server.folder)[1][0]['equal']


def test_exclude_refuses_what_is_not_there(client):
    client.create('m')
    live(client, 2)
    ask = lambda body: client('POST', '/v1/models/m/exclude', body)
    assert ask({'seq': (1 << 63) - 1}).status == 404  # as many digits as there can be
    assert ask({'seq': 99}).status == 404 and ask({'id': 'x'}).status == 404
    for bad in ({}, {'seq': 0}, {'seq': 'x'}, {'seq': 1, 'id': 'x'}, {'other': 1}):
        assert ask(bad).status == 400
    client('POST', '/v1/models/m/labels', {'labels': ['new']})
    seq = status(client)['seq']
    assert ask({'seq': seq}).status == 404  # a label is not something to be forgotten


# --- damage ---

def test_verify_changes_nothing(make_server):
    server = make_server('--snapshot-events', '30')
    server.client.create('m')
    live(server.client, 40)
    until(lambda: status(server.client)['snapshot_seq'] > 0)
    server.kill()
    folder = Path(server.folder, 'models', 'm')
    newest = max(folder.glob('snapshot-*'))
    newest.write_bytes(newest.read_bytes()[:-1] + b'?')
    contents = {f.name: f.read_bytes() for f in folder.iterdir() if not f.name.endswith('-shm')}
    code, models = verify(server.folder)
    assert code != 0 and models[0]['damaged_snapshots'] == 1 and models[0]['equal']
    assert {f.name: f.read_bytes() for f in folder.iterdir() if not f.name.endswith('-shm')} == contents


@pytest.mark.parametrize('keep', ['log', 'snapshot'])
def test_a_log_that_lost_its_end(make_server, keep):
    """The WAL is gone and a snapshot is ahead: the model comes up read-only until someone says which truth to keep."""
    server = make_server('--snapshot-events', '30')
    client = server.client
    client.create('m', seed=1)
    live(client, 10)
    server.stop()
    client = server.start().client
    live(client, 60)
    until(lambda: status(client)['snapshot_seq'] > 60)
    server.kill()
    folder = Path(server.folder, 'models', 'm')
    (folder / 'log.db-wal').unlink()
    assert verify(server.folder)[0] != 0
    client = server.start().client
    now = status(client)
    assert now['status'] == 'degraded' and 'snapshot' in now['reason'] and server.seen('model_degraded')
    for path, body in (('predict', {'x': {'a': 1}}), ('teach', {'x': {'a': 1}, 'label': 'tech'})):
        assert client('POST', '/v1/models/m/' + path, body).code == 'model_degraded'
    assert client('POST', '/v1/models/m/scores', {'x': {'f1': 1}}).status == 200
    server.stop()
    assert subprocess.run([HUNCH, 'serve', '--dir', server.folder, '--repair', keep]).returncode == 0
    client = server.start().client
    after = status(client)
    assert after['status'] == 'ok'
    assert after['decisions'] == (10 if keep == 'log' else now['decisions'])
    live(client, 10)
    server.kill()
    client = server.start().client
    assert status(client)['decisions'] == after['decisions'] + 10
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal']


def test_an_end_lost_without_a_snapshot_is_seen(server):
    server.client.create('m')
    live(server.client, 20)
    server.kill()
    Path(server.folder, 'models', 'm', 'log.db-wal').unlink()
    client = server.start().client
    assert status(client)['status'] in ('degraded', 'broken')


@pytest.mark.parametrize('change', ["UPDATE decisions SET probability = 0.5 WHERE seq = 21",
                                    "UPDATE feedback SET was_right = 1 - was_right WHERE seq = 22",
                                    "DELETE FROM decisions WHERE seq = 21", "DELETE FROM feedback WHERE seq = 40",
                                    "UPDATE decisions SET x = '{\"f1\":2}' WHERE seq = 21"])
def test_a_changed_row_is_seen(server, change):
    server.client.create('m')
    live(server.client, 30)
    server.stop()
    with database(server) as db:
        db.execute(change)
        db.commit()
    assert verify(server.folder)[0] != 0


def test_scrub_sees_it(make_server):
    server = make_server('--scrub-hours', '0.0003')
    client = server.client
    client.create('m')
    live(client, 30)
    until(lambda: b'hunch_scrubbed_rows_total 0' not in client('GET', '/metrics').body)
    assert 'damage' not in status(client)
    with database(server) as db:
        db.execute('UPDATE decisions SET seen = 7 WHERE seq = 21')
        db.commit()
    server.wait_for('log_damaged')
    assert 'event 21' in status(client)['damage'] and b'hunch_log_damaged{model="m"} 1' in client('GET', '/metrics').body
    live(client, 5)  # the state does not depend on it


def test_single_bit_flips(make_server, tmp_path):
    """Each is harmless, recovered or reported; none changes a model unseen."""
    server = make_server('--snapshot-events', '60', folder=tmp_path / 'state')
    client = server.client
    client.create('m', seed=1, learner='banditron:gamma=0.2')
    live(client, 40)
    server.stop()
    client = server.start().client
    live(client, 60, start=40)
    until(lambda: status(client)['snapshot_seq'] >= 60)
    client.predict('m', {'f1': 1}, durable=True)
    server.kill()
    code, models = verify(server.folder)
    assert code == 0
    good = models[0]
    folder, pick = Path(server.folder), random.Random(5)
    files = [f for f in (folder / 'models' / 'm').iterdir() if f.stat().st_size and not f.name.endswith('-shm')]
    assert any(f.name == 'log.db-wal' for f in files)
    outcome = {'harmless': 0, 'reported': 0}
    for i in range(FLIPS):
        copy = tmp_path / 'copy'
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(folder, copy)
        (copy / 'models' / 'm' / 'log.db-shm').unlink(missing_ok=True)
        file = copy / 'models' / 'm' / files[i % len(files)].name
        data = bytearray(file.read_bytes())
        bit = pick.randrange(len(data) * 8)
        data[bit // 8] ^= 1 << bit % 8
        file.write_bytes(data)
        code, models = verify(copy)
        if code:
            outcome['reported'] += 1
        else:
            assert [(m['hash'], m['seq']) for m in models] == [(good['hash'], good['seq'])], (file, bit)
            outcome['harmless'] += 1
    assert outcome['reported'] > FLIPS // 10, outcome


# --- indexes and single rows ---

def index_pages(path):
    """The pages of the index of feedback by decision, and the file."""
    with closing(sqlite3.connect(path)) as db:
        db.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()
        pages = [p for p, in db.execute("SELECT pageno FROM dbstat WHERE name = 'sqlite_autoindex_feedback_1'")]
    return pages, path.read_bytes()


def answered_log(server, n=3000):
    server.client.create('m', learner='banditron')
    ids = []
    for _ in range(n // 50):
        batch = [d['id'] for d in server.client('POST', '/v1/models/m/predict', [{'x': {'u': 1}}] * 50).json]
        assert server.client('POST', '/v1/models/m/feedback', [{'id': i, 'right': True} for i in batch]).status == 200
        ids += batch
    server.stop()
    return ids, Path(server.folder) / 'models' / 'm' / 'log.db'


def learned_again(server, ids):
    learned = 0
    for i in range(0, len(ids), 500):
        reply = server.client('POST', '/v1/models/m/feedback', [{'id': d, 'right': False} for d in ids[i:i + 500]])
        if reply.status == 200:
            learned += sum(item.get('result') == 'learned' for item in reply.json)
    return learned


def test_a_damaged_index_learns_nothing_twice(make_server):
    server = make_server()
    ids, log = answered_log(server)
    pages, good = index_pages(log)
    r = random.Random(3)
    rebuilt = 0
    for _ in range(30):
        page = r.choice(pages)
        at = r.choice([i for i in range((page - 1) * 4096, page * 4096) if good[i]])
        log.write_bytes(good[:at] + bytes([good[at] ^ 1 << r.randrange(8)]) + good[at + 1:])
        for end in ('-wal', '-shm'):
            Path(str(log) + end).unlink(missing_ok=True)
        server.start()
        assert learned_again(server, ids) == 0
        rebuilt += server.seen('index_damaged')
        server.stop()
    assert rebuilt > 10


def test_a_damaged_index_while_it_runs(make_server):
    """The index is read again after it was found whole: the bits that were read at the start know better."""
    server = make_server()
    ids, log = answered_log(server)
    pages, good = index_pages(log)
    server.start()
    with open(log, 'r+b') as f:
        for page in pages:
            if good[(page - 1) * 4096] == 10:  # a leaf: half of its cells are gone
                f.seek((page - 1) * 4096 + 3)
                n = int.from_bytes(good[(page - 1) * 4096 + 3:(page - 1) * 4096 + 5], 'big')
                f.write((n // 2).to_bytes(2, 'big'))
    assert learned_again(server, ids) == 0
    assert server.seen('log_damaged') and server.client('GET', '/v1/models/m').json['damage']


def test_a_row_is_checked_when_it_is_read(make_server):
    """An example that was changed on disk is not learned from, though nothing has read the log through yet."""
    server = make_server('--scrub-hours', '0')
    server.client.create('m')
    ids = [server.client.predict('m', {'a': 1}, durable=True)['id'] for _ in range(20)]
    server.stop()
    log = Path(server.folder) / 'models' / 'm' / 'log.db'
    with closing(sqlite3.connect(log)) as db:
        db.execute("UPDATE decisions SET x = '{\"a\":2}' WHERE seq = 5")
        db.execute('DELETE FROM decisions WHERE seq = 9')
        db.commit()
    client = server.start().client
    for i in (4, 8):
        assert client.feedback('m', id=ids[i], right=True).code == 'damaged'
    assert client('GET', '/v1/models/m/decisions/' + ids[8]).code == 'damaged'
    assert client('GET', '/v1/models/m/decisions?limit=5').status == 200
    assert client('GET', '/v1/models/m/decisions').code == 'damaged'
    assert client.feedback('m', id=ids[6], right=True).json['result'] == 'learned'
    assert server.seen('log_damaged')


def test_the_logs_numbers_are_checked(make_server):
    server = make_server()
    server.client.create('m')
    server.client.predict('m', {'a': 1}, durable=True)
    server.stop()
    log = Path(server.folder) / 'models' / 'm' / 'log.db'
    for key in ('expired', 'expired_upto', 'trimmed', 'chain_from', 'chain_base'):
        with closing(sqlite3.connect(log)) as db:
            before, = db.execute('SELECT value FROM about WHERE key = ?', (key,)).fetchone()
            db.execute('UPDATE about SET value = ? WHERE key = ?', (before ^ 2, key))
            db.commit()
        client = server.start().client
        assert client('GET', '/v1/models/m').json['status'] == 'broken', key
        server.stop()
        with closing(sqlite3.connect(log)) as db:
            db.execute('UPDATE about SET value = ? WHERE key = ?', (before, key))
            db.commit()
    assert server.start().client('GET', '/v1/models/m').json['status'] == 'ok'


@pytest.mark.parametrize('kind', [{'features': 'hashed', 'hash_bits': 16}, {}])
def test_a_question_changes_nothing(server, kind):
    """Words, then a question with one value as small as a float can be: answered, or refused, and the model is as before."""
    client = server.client
    client.create('m', seed=1, **kind)
    r = random.Random(1)
    for i in range(60):
        label = r.randrange(3)
        d = client.predict('m', {'w%d' % (r.randrange(400) + label * 150): 1 for _ in range(25)})
        client.feedback('m', id=d['id'], right=d['label'] == ['sports', 'politics', 'tech'][label])
        for value in (1e-37, 2.9e-39, 1e-39, 1e-45):
            for name in ('w7', 'new'):
                assert client('POST', '/v1/models/m/scores', {'x': {name: value}}).status == 200, (i, name, value)
    d = client.predict('m', {'w7': 1e-45})
    assert client.feedback('m', id=d['id'], right=False).json['result'] == 'learned'
    assert status(client)['status'] == 'ok'


# --- other versions of the program ---

def contents(folder):
    return {str(f.relative_to(folder)): f.read_bytes() for f in Path(folder).rglob('*')
            if f.is_file() and not f.name.endswith('-shm')}


def test_folders_of_other_versions_are_left_alone(make_server):
    server = make_server()
    server.client.create('m')
    server.stop()
    version = Path(server.folder) / 'version'
    known = int(version.read_text().split()[2])
    for format, word in ((known + 1, 'newer'), (known + 2, 'newer')):  # before format 1 there was none
        version.write_text('hunch state %d\n' % format)
        before = contents(server.folder)
        for more in ([], ['--verify'], ['--repair', 'log']):
            done = subprocess.run([HUNCH, 'serve', '--dir', server.folder, '--listen', '127.0.0.1:0', *more],
                                  capture_output=True, timeout=60)
            assert done.returncode == 2 and word.encode() + b' version' in done.stderr, done.stderr
            assert contents(server.folder) == before


def test_a_newer_snapshot_is_not_called_damaged(make_server):
    """It stays what it is, and so does the log: the newer version can go on."""
    server = make_server()
    server.client.create('m')
    live(server.client, 30)
    server.stop()
    folder = Path(server.folder) / 'models' / 'm'
    newest = max(folder.glob('snapshot-*'))
    data = newest.read_bytes()
    body = data[:8] + bytes([data[8] + 1]) + data[9:-8]  # the format's number
    hash64 = ctypes.CDLL('libxxhash.so.0').XXH3_64bits
    hash64.restype, hash64.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
    newest.write_bytes(body + hash64(body, len(body)).to_bytes(8, 'little'))
    before = {f.name: f.read_bytes() for f in folder.glob('*snapshot*')}
    now = status(server.start().client)
    assert now['status'] == 'broken' and 'newer version' in now['reason'], now
    assert not server.seen('snapshot_damaged')
    server.stop()
    assert {f.name: f.read_bytes() for f in folder.glob('*snapshot*')} == before
    newest.write_bytes(data)
    assert status(server.start().client)['status'] == 'ok'


def test_verify_names_what_another_version_made(make_server):
    """Decisions that come out otherwise are damage, unless another version of the program made them."""
    server = make_server()
    client = server.client
    for seed, name in ((1, 'm'), (2, 'n')):
        client.create('from', learner='banditron:gamma=0.5', seed=seed)
        assert client('PUT', '/v1/models/' + name, client('GET', '/v1/models/from/model').body).status == 201
        client('DELETE', '/v1/models/from')
    live(client, 30)
    server.kill()
    folder = Path(server.folder) / 'models'
    for name in ('base.hunch', 'snapshot-0000000000000000.hunch'):
        shutil.copy(folder / 'n' / name, folder / 'm' / name)
    shutil.rmtree(folder / 'n')
    code, models = verify(server.folder)
    assert code and models[0]['mismatches'] > 0
    with database(server) as db:
        db.execute("UPDATE versions SET hunch = '0.0.1'")
        db.commit()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['mismatches'] == 0 and models[0]['made_by_another_version'] > 0
