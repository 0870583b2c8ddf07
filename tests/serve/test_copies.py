# SPDX-License-Identifier: BSD-3-Clause
"""Models come and go whole: as files, as backups, and back from the trash."""
import os
import sqlite3
import subprocess
import threading
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


# --- soft delete ---

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
    clock.write_text(str(3 * 86400 * 1000))
    client = server.start().client
    assert client('POST', '/v1/models/m/undelete').status == 404
    assert os.listdir(server.folder + '/trash') == []
