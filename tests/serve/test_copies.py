# SPDX-License-Identifier: BSD-3-Clause
"""Models come and go whole: as files, as backups, and back from the trash."""
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import closing

import pytest
from conftest import HUNCH, Client, until, verify


def play(client, model, rounds, start=0):
    for i in range(start, start + rounds):
        d = client.predict(model, {'f%d' % (i % 7): 1, 'g': 0.1 * (i % 5)})
        assert client.feedback(model, id=d['id'], right=d['label'] == 'tech').status == 200


def file_of(client, model='m'):
    reply = client('GET', '/v1/models/%s/model' % model)
    assert reply.status == 200, reply.body
    return reply.body


# --- files ---

def test_a_model_file_goes_onto_the_server_and_back(server, tmp_path):
    client = server.client
    client.create('m', learner='confidit', seed=1)
    play(client, 'm', 50)
    reply = client('PUT', '/v1/models/copy', file_of(client), {'Content-Type': 'application/octet-stream'})
    assert reply.status == 201, reply.body
    copy = reply.json
    assert copy['labels'] == ['sports', 'politics', 'tech'] and copy['features'] == 'named'
    assert copy['decisions'] == 0 and copy['features_known'] == client('GET', '/v1/models/m').json['features_known']
    x = {'f1': 1, 'g': 0.2}
    scores = [client('POST', '/v1/models/%s/scores' % m, {'x': x}).json for m in ('m', 'copy')]
    assert scores[0] == scores[1]
    assert client('PUT', '/v1/models/copy', file_of(client)).status == 409
    play(client, 'copy', 30)
    before = file_of(client, 'copy')
    server.kill()
    client = server.start().client
    assert file_of(client, 'copy') == before
    play(client, 'copy', 20)
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and all(m['equal'] for m in models)


def test_a_model_of_the_tool(make_server, tmp_path):
    rows = ''.join('%s,%d,%d\n' % ('yes' if i % 3 else 'no', i % 3, i % 5) for i in range(200))
    (tmp_path / 'data.csv').write_text('label,a,b\n' + rows)
    saved = tmp_path / 'model.hunch'
    done = subprocess.run([HUNCH, 'run', str(tmp_path / 'data.csv'), '--save', str(saved)], capture_output=True)
    assert done.returncode == 0, done.stderr
    server = make_server('--load', 'tool=%s' % saved)
    tool = server.client('GET', '/v1/models/tool').json
    assert sorted(tool['labels']) == ['no', 'yes'] and tool['features'] == 'named'
    assert server.client('POST', '/v1/models/tool/predict', {'x': {'a': 1, 'b': 2}}).status == 200
    (tmp_path / 'back.hunch').write_bytes(file_of(server.client, 'tool'))
    assert subprocess.run([HUNCH, 'inspect', str(tmp_path / 'back.hunch')], capture_output=True).returncode == 0
    server.stop()
    server.start()  # --load again: it is there, and stays
    assert server.client('GET', '/v1/models/tool').json['decisions'] == 1


@pytest.mark.parametrize('bad', [b'HUNCHMDL', b'HUNCHMDL' + b'x' * 500, None])
def test_files_that_are_no_models(client, bad):
    client.create('m')
    if bad is None:
        bad = bytearray(file_of(client))
        bad[len(bad) // 2] ^= 1
        bad = bytes(bad)
    reply = client('PUT', '/v1/models/n', bad)
    assert reply.status == 400 and reply.code == 'bad_model'
    assert client('GET', '/v1/models/n').status == 404


# --- backups ---

def test_backup_and_restore(make_server, tmp_path):
    server = make_server('--snapshot-events', '40')
    client = server.client
    client.create('a', seed=1)
    client.create('b', seed=2, learner='soba')
    client('PUT', '/v1/models/c', file_of(client, 'a'))
    stop = threading.Event()

    def busy():
        c = Client(server.port)
        while not stop.is_set():
            play(c, 'b', 5)
    for model in 'abc':
        play(client, model, 60)
    thread = threading.Thread(target=busy)
    thread.start()
    backup = tmp_path / 'backup.tar'
    backup.write_bytes(client('GET', '/v1/backup').body)
    stop.set()
    thread.join()
    names = subprocess.run(['tar', 'tf', str(backup)], capture_output=True, check=True).stdout.decode().split()
    assert 'models/a/log.db' in names and 'models/c/base.hunch' in names
    wanted = file_of(client, 'a')
    restore = [HUNCH, 'serve', '--dir', str(tmp_path / 'new'), '--restore', str(backup)]
    assert subprocess.run(restore).returncode == 0
    assert subprocess.run(restore, capture_output=True).returncode == 2  # not over what is there
    code, models = verify(tmp_path / 'new')
    assert code == 0 and sorted(m['model'] for m in models) == ['a', 'b', 'c'] and all(m['equal'] for m in models)
    other = make_server(folder=tmp_path / 'new')
    assert file_of(other.client, 'a') == wanted
    assert other.client('GET', '/v1/models/b').json['decisions'] >= 60
    play(other.client, 'b', 10)


def test_a_log_copied_by_sqlite_while_serving(make_server, tmp_path):
    """What replication of log.db alone (Litestream, sqlite3's .backup) leaves: the model of that moment, from its log."""
    server = make_server()
    server.client.create('m', seed=1)
    told, stop = [], threading.Event()

    def use():
        client, i = Client(server.port), 0
        while not stop.is_set():
            d = client.predict('m', {'user=%d' % (i % 50): 1, 'hour': i % 24})
            if client.feedback('m', id=d['id'], right=i % 3 > 0).status == 200:
                told.append(d['id'])
            i += 1
    threads = [threading.Thread(target=use) for _ in range(3)]
    [t.start() for t in threads]
    until(lambda: len(told) > 200)
    before = list(told)
    folder = tmp_path / 'other' / 'models' / 'm'
    folder.mkdir(parents=True)
    with closing(sqlite3.connect(server.folder + '/models/m/log.db')) as log, closing(sqlite3.connect(folder / 'log.db')) as copy:
        log.backup(copy)
    stop.set()
    [t.join() for t in threads]
    other = make_server(folder=tmp_path / 'other')
    status = other.client('GET', '/v1/models/m').json
    assert status['status'] == 'ok' and status['feedback'] >= len(before)
    assert all(other.client.feedback('m', id=i, right=False).status in (200, 409) for i in before)  # known, and answered
    other.stop()
    code, models = verify(tmp_path / 'other')
    assert code == 0 and models[0]['equal']


CHECKPOINTS = int(os.environ.get('HUNCH_CHECKPOINTS', '2000'))
OTHER = """
import sqlite3, sys
log, n = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0), int(sys.argv[2])
while n > 0:
    for mode in ('PASSIVE', 'PASSIVE', 'RESTART', 'TRUNCATE'):
        try:
            n -= log.execute('PRAGMA wal_checkpoint(%s)' % mode).fetchone()[0] == 0
        except sqlite3.OperationalError:
            pass
"""


def test_checkpoints_by_other_processes(make_server):
    """Two of them make checkpoints all the time, as Litestream does now and then: nothing acknowledged is lost."""
    server = make_server('--snapshot-events', '1000000')
    server.client.create('m', seed=1, learner='banditron')
    told, stop = [], threading.Event()

    def use(seed):
        client, r = Client(server.port), random.Random(seed)
        while not stop.is_set():
            n = r.choice([1, 1, 40])
            ids = [d['id'] for d in client('POST', '/v1/models/m/predict', [{'x': {'user=%d' % r.randrange(50): 1}}] * n).json]
            reply = client('POST', '/v1/models/m/feedback', [{'id': i, 'right': True} for i in ids])
            assert reply.status == 200, reply.body
            told.extend(item['id'] for item in reply.json if item['result'] == 'learned')
    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(3)]
    [t.start() for t in threads]
    others = [subprocess.Popen([sys.executable, '-c', OTHER, server.folder + '/models/m/log.db', str(CHECKPOINTS // 2)])
              for _ in range(2)]
    assert [o.wait() for o in others] == [0, 0]
    stop.set()
    [t.join() for t in threads]
    server.kill()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'], models
    with closing(sqlite3.connect(server.folder + '/models/m/log.db')) as log:
        logged = {i for i, in log.execute('SELECT id FROM log WHERE was_right')}
        assert log.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    assert set(told) <= logged
    print(CHECKPOINTS, 'checkpoints by others,', len(told), 'answers')
    assert told


def test_a_backup_cannot_write_elsewhere(tmp_path):
    (tmp_path / 'evil').write_text('x')
    for name in ('models/../../evil', 'models/m/../../evil', 'evil', '/tmp/evil', 'models/m/other'):
        tar = tmp_path / 'bad.tar'
        subprocess.run(['tar', 'cPf', str(tar), '--transform', 's|.*|%s|' % name, '-C', str(tmp_path), 'evil'], check=True)
        done = subprocess.run([HUNCH, 'serve', '--dir', str(tmp_path / 'state'), '--restore', str(tar)],
                              capture_output=True)
        assert done.returncode == 2, name
        files = [f for _, _, fs in os.walk(tmp_path / 'state') for f in fs]
        assert set(files) <= {'lock', 'version'}, files


def restore_into(folder, backup):
    return subprocess.run([HUNCH, 'serve', '--dir', str(folder), '--restore', str(backup)], capture_output=True)


def verify_backup(backup):
    done = subprocess.run([HUNCH, 'serve', '--verify-backup', str(backup)], capture_output=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


@pytest.fixture
def trimmed(make_server):
    """A model with two versions whose log no longer goes back to the start."""
    server = make_server('--keep-days', '0.00001', '--snapshot-events', '200', '--snapshot-seconds', '1')
    client = server.client
    client.create('m', ttl_seconds=1, learner='confident')
    play(client, 'm', 100)
    assert client('POST', '/v1/models/m/versions', {'learner': 'soba'}).status == 202
    server.wait_for('version_ready')
    while not server.seen('log_trimmed'):
        play(client, 'm', 100)
    return server


def test_a_backup_has_all_versions(trimmed, make_server, tmp_path):
    client = trimmed.client
    assert client('POST', '/v1/models/m/versions/2/promote').status == 200
    backup = tmp_path / 'backup.tar'
    backup.write_bytes(client('GET', '/v1/backup').body)
    code, models, said = verify_backup(backup)
    assert code == 0 and models[0]['model'] == 'm' and models[0]['trimmed'], said
    assert restore_into(tmp_path / 'new', backup).returncode == 0
    other = make_server(folder=tmp_path / 'new')
    until(lambda: other.seen('version_ready') or other.seen('version_failed'))
    assert not other.seen('version_failed')
    assert other.client('POST', '/v1/models/m/rollback').status == 200
    play(other.client, 'm', 10)


def test_backups_while_versions_are_promoted(trimmed, tmp_path):
    """Backups of every moment around a promotion can be restored."""
    stop, backups = threading.Event(), []

    def copy():
        client = Client(trimmed.port)
        while not stop.is_set():
            reply = client('GET', '/v1/backup')
            assert reply.status == 200, reply.body
            backups.append(reply.body)
    threads = [threading.Thread(target=copy) for _ in range(2)]
    [t.start() for t in threads]
    for i in range(10):
        assert trimmed.client('POST', '/v1/models/m/versions/%d/promote' % (2 - i % 2)).status == 200
        play(trimmed.client, 'm', 30)
    stop.set()
    [t.join() for t in threads]
    assert len(backups) >= 10
    for i, body in enumerate(backups):
        (tmp_path / 'backup.tar').write_bytes(body)
        code, _, said = verify_backup(tmp_path / 'backup.tar')
        assert code == 0, (i, said)


def test_a_damaged_backup_is_refused(make_server, tmp_path):
    """Bytes changed, ends cut off: refused without a trace, or without a difference (the padding of tar)."""
    server = make_server()
    server.client.create('m', seed=1)
    play(server.client, 'm', 30)
    server.client('POST', '/v1/models/m/snapshot')
    body = server.client('GET', '/v1/backup').body
    wanted = file_of(server.client, 'm')
    folder, backup, refused = tmp_path / 'new', tmp_path / 'backup.tar', 0
    r = random.Random(7)
    cases = [body[:n] for n in sorted(r.sample(range(len(body)), 15))]
    for at in r.sample(range(len(body)), 60):
        cases.append(body[:at] + bytes([body[at] ^ 1 << r.randrange(8)]) + body[at + 1:])
    for case in cases:
        backup.write_bytes(case)
        done = restore_into(folder, backup)
        if done.returncode:
            refused += 1
            assert sorted(os.listdir(folder)) == ['lock', 'version'], done.stderr
            assert verify_backup(backup)[0] == 2
        else:
            for name in ('log.db', snapshot_of(server.folder)):
                assert hashlib.sha256((folder / 'models' / 'm' / name).read_bytes()).digest() == \
                    hashlib.sha256(member(body, 'models/m/' + name)).digest()
            shutil.rmtree(folder)
    assert refused > 50
    backup.write_bytes(body)  # and after all of that the good one goes into the same folder
    assert restore_into(folder, backup).returncode == 0
    assert file_of(make_server(folder=folder).client, 'm') == wanted


def snapshot_of(folder):
    return sorted(n for n in os.listdir(folder + '/models/m') if n.startswith('snapshot-'))[-1]


def member(tar, name):
    return tarfile.open(fileobj=io.BytesIO(tar)).extractfile(name).read()


def test_a_backup_leaves_out_what_could_not_be_restored(make_server, tmp_path):
    """A model that is read-only since rows of its log are damaged is left out by name; the others are there."""
    server = make_server()
    for model in 'ab':
        server.client.create(model, seed=1)
        play(server.client, model, 20)
    server.kill()
    with closing(sqlite3.connect(server.folder + '/models/a/log.db')) as log:
        log.execute("UPDATE decisions SET x = '{\"other\":1}' WHERE seq = (SELECT max(seq) FROM decisions)")
        log.commit()
    server.start()
    assert server.client('GET', '/v1/models/a').json['status'] != 'ok'
    backup = tmp_path / 'backup.tar'
    backup.write_bytes(server.client('GET', '/v1/backup').body)
    assert server.event('backup_skipped')['model'] == 'a'
    code, models, said = verify_backup(backup)
    assert code == 0 and [m['model'] for m in models] == ['b'], said
    assert restore_into(tmp_path / 'new', backup).returncode == 0


def test_repair_tells_the_truth(trimmed, tmp_path):
    """What replication of log.db alone leaves of a trimmed log: nothing to repair it with, and that is what repair says."""
    trimmed.stop()
    folder = pathlib.Path(trimmed.folder) / 'models' / 'm'
    for name in os.listdir(folder):
        if name != 'log.db':
            os.unlink(folder / name)
    before = (folder / 'log.db').read_bytes()
    for what in ('log', 'snapshot'):
        done = subprocess.run([HUNCH, 'serve', '--dir', trimmed.folder, '--repair', what], capture_output=True)
        assert done.returncode == 2 and b'model_repaired' not in done.stderr, done.stderr
        assert (folder / 'log.db').read_bytes() == before


# --- soft delete ---

def test_each_of_several_deleted_models_comes_back(make_server):
    client = make_server('--undelete-days', '2').client
    for labels in (['a', 'b'], ['c', 'd'], ['e', 'f']):
        client.create('m', labels=labels)
        assert client('DELETE', '/v1/models/m').status == 200
    for nth in ('0', '-1', 'x', '1x', '', '4294967297'):
        assert client('POST', '/v1/models/m/undelete?nth=' + nth).status == 400, nth
    assert client('POST', '/v1/models/m/undelete?nth=4').status == 404
    assert client('POST', '/v1/models/m/undelete?nth=3').json['labels'] == ['a', 'b']
    assert client('DELETE', '/v1/models/m').status == 200  # now the last one
    assert client('POST', '/v1/models/m/undelete?nth=3').json['labels'] == ['c', 'd']


def test_undelete(make_server, clock):
    server = make_server('--undelete-days', '2', clock=clock)
    client = server.client
    client.create('m', seed=1)
    play(client, 'm', 20)
    before = file_of(client)
    assert client('DELETE', '/v1/models/m').status == 200
    assert client('GET', '/v1/models/m').status == 404
    reply = client('POST', '/v1/models/m/undelete')
    assert reply.status == 200 and reply.json['decisions'] == 20, reply.body
    assert file_of(client) == before
    assert client('POST', '/v1/models/m/undelete').status == 409
    client('DELETE', '/v1/models/m')
    server.kill()
    client = server.start().client
    assert client('POST', '/v1/models/m/undelete').json['decisions'] == 20
    client('DELETE', '/v1/models/m')
    server.stop()
    clock.write_text(str(3 * 86400 * 1000))  # between two runs: not believed without the operator's word
    client = server.start().client
    assert len(os.listdir(server.folder + '/trash')) == 1
    server.stop()
    client = server.start('--trust-clock').client
    assert client('POST', '/v1/models/m/undelete').status == 404
    assert os.listdir(server.folder + '/trash') == []


def test_undelete_while_the_deleted_model_still_writes(make_server):
    """Its log is written by one model at a time, though requests to the deleted one may still wait for their commit."""
    server = make_server('--undelete-days', '1')
    client = server.client
    client.create('m')
    client.predict('m', {'a': 1}, durable=True)
    with closing(sqlite3.connect('file:%s/models/m/log.db' % server.folder, uri=True, isolation_level=None,
                                 check_same_thread=False)) as db:
        db.execute('BEGIN IMMEDIATE')
        threading.Timer(2, lambda: db.execute('ROLLBACK')).start()
        waiting = threading.Thread(target=lambda: Client(server.port).predict('m', {'a': 2}, durable=True))
        waiting.start()
        until(lambda: client('GET', '/v1/models/m').json['decisions'] == 2)
        assert client('DELETE', '/v1/models/m').status == 200
        assert client('POST', '/v1/models/m/undelete').status == 200
        client('POST', '/v1/models/m/predict', {'x': {'a': 3}, 'durable': True})
        waiting.join()
        time.sleep(2)
        assert client.predict('m', {'a': 4}, durable=True)
    assert not server.seen('events_refused')
    assert client('GET', '/v1/models/m').json['decisions'] == 4
