# SPDX-License-Identifier: BSD-3-Clause
"""Restarts, faults and time: what was acknowledged stays, and the model is what the log says."""
import json
import os
import random
import re
import resource
import shutil
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

import pytest
from conftest import HUNCH, PATIENCE, Client, housekeeping, until, verify


def live(client, model, rounds, start=0):
    """Some rounds of every kind; gives back the answers that were acknowledged."""
    done = {}
    for i in range(start, start + rounds):
        d = client.predict(model, {'f%d' % (i % 11): 1, 'g%d' % (i % 5): 0.25 * i, 'bias': 1})
        if i % 4 == 3:
            continue
        answer = {'label': 'tech'} if i % 7 == 0 else {'right': d['label'] == 'tech'}
        reply = client.feedback(model, id=d['id'], **answer)
        assert reply.status == 200, reply.body
        done[d['id']] = answer
        if i % 50 == 10:
            client('POST', '/v1/models/%s/labels' % model, {'labels': ['extra%d' % i]})
        if i % 13 == 0:
            client('POST', '/v1/models/%s/teach' % model, {'x': {'f1': 1}, 'label': 'sports'})
    return done


def log_of(server, model='m'):
    with closing(sqlite3.connect('file:%s/models/%s/log.db?mode=ro' % (server.folder, model), uri=True)) as db:
        return db.execute('SELECT id, was_right, true_label FROM log WHERE was_right IS NOT NULL').fetchall()


def bytes_of(client, model='m'):
    reply = client('GET', '/v1/models/%s/snapshot' % model)
    assert reply.status == 200, reply.body
    return reply.body


def test_restart_is_as_if_it_never_stopped(make_server, tmp_path):
    """One server lives on; the other is killed and stopped in between. The same requests, the same bytes, for every
    learner there is."""
    straight = make_server(folder=tmp_path / 'straight').client
    broken = make_server('--snapshot-events', '40', folder=tmp_path / 'broken')
    learners = [learner['name'] for learner in straight('GET', '/v1/learners').json['learners']]
    assert len(learners) > 5
    for client in (straight, broken.client):
        for name in learners:
            client.create(name, learner=name, seed=5)
    for part in range(4):
        for name in learners:
            for client in (straight, broken.client):
                live(client, name, 15, part * 15)
                client.predict(name, {'f1': 1}, durable=True)
        broken.kill() if part % 2 else broken.stop()
        broken.start()
        for name in learners:
            assert bytes_of(broken.client, name) == bytes_of(straight, name), name
    broken.stop()
    code, models = verify(broken.folder)
    assert code == 0 and len(models) == len(learners)
    assert all(m['equal'] and m['mismatches'] == 0 for m in models)


def test_acknowledged_feedback_survives_a_kill(server):
    server.client.create('m')
    done = live(server.client, 'm', 60)
    server.kill()
    server.start()
    logged = log_of(server)
    assert sorted(i for i, _, _ in logged) == sorted(done)
    for i, answer in done.items():
        assert server.client.feedback('m', id=i, **answer).json['result'] == 'already'


def test_feedback_for_decisions_that_left_memory(make_server):
    """The ring of recent decisions is small; old ones are read from the log, and answered once all the same."""
    server = make_server('--max-queue', '8', '--max-batch', '8')
    client = server.client
    client.create('m', seed=1)
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(1500)]
    assert client.feedback('m', id=ids[0], right=True).json['result'] == 'learned'
    assert client.feedback('m', id=ids[0], right=True).json['result'] == 'already'
    assert client.feedback('m', id=ids[0], right=False).status == 409
    results = []

    def answer():
        c = Client(server.port)
        for i in ids[1:60]:
            results.append(c.feedback('m', id=i, right=True).json.get('result'))
    threads = [threading.Thread(target=answer) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results.count('learned') == 59 and results.count('already') == 59 * 3
    server.stop()
    assert verify(server.folder)[1][0]['equal']


LINES = {'Content-Type': 'application/x-ndjson'}


def test_memory_and_log_teach_the_same(make_server, tmp_path):
    """Feedback to decisions that are in memory, and to the same ones read back from the log by several threads' requests
    in batches, one by one and in odd spellings: the same models, bit for bit."""
    spellings = ('{"id":"%s","right":true}', ' { "right" : false ,\t"id":"%s" } ', '{"id":"%s","label":"tech"}',
                 '{"id":"%s","l\\u0061bel":"tech"}', '{"label":"spor\\u0074s","id":"%s"}')
    wide, narrow = make_server(folder=tmp_path / 'wide'), make_server('--max-queue', '8', '--max-batch', '8',
                                                                      folder=tmp_path / 'narrow')
    models = {}
    for server in (wide, narrow):
        client = server.client
        client.create('m', seed=3)
        ids = []
        for i in range(1400):
            x = {'u=%d' % (i % 50): 1, 'h': i / 7, 'k': -i, 'b': i % 2 == 0, 'e': 1e-7 * i}
            if i % 5 == 0:
                x.update({'colour': 'red', 'größe': 1})
            ids.append(client.predict('m', x, durable=i % 4 == 3)['id'])
        for i in range(0, 300, 6):
            lines = '\n'.join(spellings[k % 5] % ids[k] for k in range(i, i + 5))
            reply = client('POST', '/v1/models/m/feedback', lines, LINES)
            assert [json.loads(line)['result'] for line in reply.body.splitlines()] == ['learned'] * 5
            reply = client('POST', '/v1/models/m/feedback', spellings[i % 5] % ids[i + 5])
            assert reply.json['result'] == 'learned'
        models[server] = bytes_of(client)
        server.stop()
        assert verify(server.folder)[1][0]['equal']
    assert models[wide] == models[narrow]


def test_a_batch_of_every_kind(make_server, clock):
    server = make_server('--max-queue', '16', '--max-batch', '16', clock=clock)
    client = server.client
    client.create('m', seed=1, ttl_seconds=60)
    expired = client.predict('m', {'a': 1}, durable=True)['id']
    clock.write_text(str(90 * 1000))
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(1100)]  # the first ones have left memory
    old, older, recent = ids[1], ids[0], ids[-1]
    other_key = old[:17] + ('0' if old[17] != '0' else '1') + old[18:]
    future = 'f' + '0' * 14 + '0-' + old[17:]
    say = '{"id":"%s","right":true}'
    batch = [(say % old, 'learned'), (say % recent, 'learned'), (say % expired, 'expired_id'), (say % old, 'already'),
             (say % recent, 'already'), (say % other_key, 'unknown_id'), (say % future, 'unknown_id'), ('{"id":', 'bad_json'),
             ('{"id":"%s","right":false}' % old, 'conflict'), (say % 'x', 'unknown_id'), ('{"id":"%s"}' % older, 'bad_request'),
             ('{"id":"%s","label":"nothing"}' % older, 'unknown_label'), ('{"id":"%s","label":"tech"}' % older, 'learned')]
    reply = client('POST', '/v1/models/m/feedback', '\n'.join(line for line, _ in batch), LINES)
    items = [json.loads(line) for line in reply.body.splitlines()]
    assert [i.get('result') or i['error']['code'] for i in items] == [result for _, result in batch]
    server.stop()
    models = verify(server.folder)[1]
    assert models[0]['equal'] and models[0]['feedback'] == 3


def test_a_batch_in_any_order(make_server):
    """Decisions that left memory are found whatever stands between them, and once each."""
    server = make_server('--max-queue', '64', '--max-batch', '64')
    client, chance = server.client, random.Random(1)
    client.create('m', seed=1)
    ids = []
    while len(ids) < 1200:
        reply = client('POST', '/v1/models/m/predict', [{'x': {'a': k, 'b': 1}, 'durable': True} for k in range(20)])
        ids += [d['id'] for d in reply.json]
        client('POST', '/v1/models/m/teach', [{'x': {'a': 1}, 'label': 'tech'}] * chance.randrange(1, 4))  # holes in the order
    places = sorted(chance.sample(range(900), 300))
    between = ['%016x-%s' % (int(ids[i + 19][:16], 16) + 1, ids[i][17:]) for i in range(0, 900, 20)]  # lessons, not decisions
    for step in range(0, 300, 30):
        some = places[step:step + 30] if step % 60 else chance.sample(places[step:step + 30], 30)
        batch = [ids[i] for i in some] + [ids[some[0]], ids[some[-1]]] + between[step // 30:step // 30 + 2]
        lines = '\n'.join('{"id":"%s","right":true}' % i for i in batch)
        items = [json.loads(line) for line in client('POST', '/v1/models/m/feedback', lines, LINES).body.splitlines()]
        assert [i.get('result') or i['error']['code'] for i in items] == ['learned'] * 30 + ['already'] * 2 + ['unknown_id'] * 2
    server.stop()
    assert verify(server.folder)[1][0]['equal'] and len(log_of(server)) == 300


def test_looking_for_many_at_once(make_server):
    """More threads than connections to the log, all with feedback to decisions that have left memory."""
    server = make_server('--max-queue', '64', '--max-batch', '64', '--threads', '6')
    client = server.client
    client.create('m', seed=1)
    ids = []
    while len(ids) < 2000:
        reply = client('POST', '/v1/models/m/predict', [{'x': {'a': k, 'b': 1}, 'durable': True} for k in range(20)])
        ids += [d['id'] for d in reply.json]
    results = []

    def answer(offset):
        c = Client(server.port)
        for k in range(offset, 960, 96):
            lines = '\n'.join('{"id":"%s","right":%s}' % (i, 'true' if k % 3 else 'false') for i in ids[k:k + 8])
            while True:
                items = [json.loads(line) for line in c('POST', '/v1/models/m/feedback', lines, LINES).body.splitlines()]
                results.extend(i['result'] for i in items if i.get('result') == 'learned')
                if all('result' in i for i in items):
                    break  # otherwise too many were waiting: again
    threads = [threading.Thread(target=answer, args=(8 * t,)) for t in range(12)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert results == ['learned'] * 960
    server.stop()
    assert verify(server.folder)[1][0]['equal'] and len(log_of(server)) == 960


def test_concurrent_duplicates_are_learned_once(server):
    server.client.create('m')
    ids = [server.client.predict('m', {'a': i})['id'] for i in range(100)]
    results, lock = {}, threading.Lock()

    def answer(offset):
        c = Client(server.port)
        for k in range(100):
            i = ids[(k + offset) % 100]
            r = c.feedback('m', id=i, right=True).json['result']
            with lock:
                results.setdefault(i, []).append(r)
    threads = [threading.Thread(target=answer, args=(o,)) for o in (0, 0, 50, 99)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert all(sorted(r) == ['already'] * 3 + ['learned'] for r in results.values())
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['feedback'] == 100


def test_damaged_snapshot_falls_back(make_server):
    server = make_server()
    server.client.create('m')
    for part in range(3):
        live(server.client, 'm', 20, part * 20)
        assert server.client('POST', '/v1/models/m/snapshot').status == 200
    live(server.client, 'm', 20, 60)
    server.client.predict('m', {}, durable=True)
    before = bytes_of(server.client)
    server.kill()
    folder = server.folder + '/models/m/'
    snapshots = sorted(n for n in os.listdir(folder) if n.endswith('.hunch'))
    assert len(snapshots) == 2  # the newest two are kept
    for damage in (lambda b: b[:len(b) // 2], lambda b: b[:40] + bytes([b[40] ^ 1]) + b[41:], lambda b: b''):
        path = folder + snapshots[1]
        good = open(path, 'rb').read()
        open(path, 'wb').write(damage(good))
        server.start()
        assert server.event('model_open')['damaged_snapshots'] == 1
        assert server.event('model_open')['snapshot_seq'] == int(snapshots[0][9:25], 16)
        assert bytes_of(server.client) == before
        server.kill()
        os.rename(path + '.damaged', path)
        open(path, 'wb').write(good)
    for name in snapshots:  # both: from the beginning
        open(folder + name, 'wb').write(b'nonsense')
    server.start()
    assert server.event('model_open')['damaged_snapshots'] == 2
    assert bytes_of(server.client) == before


def test_truncated_wal(server):
    """Never the work of a crash, but of people: the log ends earlier and, once someone has said so, the model with it."""
    server.client.create('m')
    live(server.client, 'm', 40)
    server.client.predict('m', {}, durable=True)
    server.client('POST', '/v1/models/m/snapshot')
    server.kill()
    wal = server.folder + '/models/m/log.db-wal'
    size = os.path.getsize(wal)
    for part in (0.7, 0.4, 0.1):
        with open(wal, 'r+b') as f:
            f.truncate(int(size * part))
        server.start()
        assert server.client('GET', '/v1/models/m').json['status'] == 'degraded'
        server.kill()
        assert subprocess.run([HUNCH, 'serve', '--dir', server.folder, '--repair', 'log']).returncode == 0
        server.start()
        d = server.client.predict('m', {'a': 1})
        assert server.client.feedback('m', id=d['id'], right=True).status == 200
        server.kill()
        code, models = verify(server.folder)
        assert code == 0 and models[0]['equal'], models
        if not os.path.exists(wal):
            break
        size = min(size, os.path.getsize(wal))


def test_damaged_log_breaks_one_model_only(server):
    for name in ('good', 'bad'):
        server.client.create(name)
        live(server.client, name, 10)
    server.stop()
    with open(server.folder + '/models/bad/log.db', 'r+b') as f:
        f.write(b'\0' * 4096)
    client = server.start().client
    assert client('POST', '/v1/models/bad/predict', {'x': {}}).code == 'model_broken'
    assert client('GET', '/v1/models/bad').json['status'] == 'broken'
    for path in ('stats', 'decisions', 'snapshot'):
        assert client('GET', '/v1/models/bad/' + path).status in (200, 503)
    assert client('GET', '/metrics').body.count(b'hunch_model_up') == 4
    assert [m['model'] for m in client('GET', '/readyz').json['not_ready']] == ['bad']
    live(client, 'good', 10)
    assert client('DELETE', '/v1/models/bad').status == 200
    assert client('GET', '/readyz').status == 200


def test_two_servers_on_one_folder(server):
    done = subprocess.run([HUNCH, 'serve', '--dir', server.folder, '--listen', '127.0.0.1:0'], stderr=subprocess.PIPE,
                          timeout=PATIENCE)
    assert done.returncode == 2 and b'in use' in done.stderr
    assert server.client('GET', '/healthz').status == 200


def test_newer_state_is_refused(server):
    server.client.create('m')
    server.stop()
    with closing(sqlite3.connect(server.folder + '/models/m/log.db', isolation_level=None)) as db:
        db.execute("UPDATE about SET value = 99 WHERE key = 'format'")
    client = server.start().client
    assert 'newer' in client('GET', '/v1/models/m').json['reason']
    server.stop()
    with open(server.folder + '/version', 'w') as f:
        f.write('hunch state 99\n')
    done = subprocess.run([HUNCH, 'serve', '--dir', server.folder], stderr=subprocess.PIPE, timeout=PATIENCE)
    assert done.returncode == 2 and b'newer' in done.stderr


def test_time_to_live(make_server, clock):
    server = make_server(clock=clock)
    client = server.client
    client.create('m', ttl_seconds=60)
    ids = [client.predict('m', {'a': i})['id'] for i in range(4)]
    client.feedback('m', id=ids[0], right=True)
    clock.write_text(str(59 * 1000))
    assert client.feedback('m', id=ids[1], right=True).json['result'] == 'learned'
    clock.write_text(str(75 * 1000))
    reply = client.feedback('m', id=ids[2], right=True)
    assert (reply.status, reply.code) == (404, 'expired_id')
    assert client.feedback('m', id=ids[0], right=True).json['result'] == 'already'
    client.predict('m', {})
    until(lambda: client('GET', '/v1/models/m').json['expired'] == 2)
    assert client('GET', '/v1/models/m').json['pending'] == 1
    server.kill()
    server.start()
    assert server.client('GET', '/v1/models/m').json['expired'] == 2


def test_clock_jumps_back(make_server, clock):
    server = make_server(clock=clock)
    server.client.create('m', ttl_seconds=100)
    first = server.client.predict('m', {'a': 1})
    clock.write_text('0 %d' % (-3600 * 1000))
    live(server.client, 'm', 10)
    assert server.client.feedback('m', id=first['id'], right=True).status == 200
    server.kill()  # and once more over a restart
    server.start()
    live(server.client, 'm', 10, 10)
    decisions = server.client('GET', '/v1/models/m/decisions?limit=1000').json['decisions']
    times = [d['time_ms'] for d in decisions]
    assert times == sorted(times, reverse=True)
    assert all(d['feedback']['delay_ms'] >= 0 for d in decisions if d['feedback'])
    server.stop()
    assert verify(server.folder)[1][0]['equal']


def test_retention(make_server, clock):
    server = make_server('--keep-days', '10', clock=clock)
    client = server.client
    client.create('m', ttl_seconds=3600)
    old = live(client, 'm', 50)
    for _ in range(2):
        client('POST', '/v1/models/m/snapshot')
        client.predict('m', {}, durable=True)
    clock.write_text(str(11 * 86400 * 1000))
    new = live(client, 'm', 20, 50)
    server.wait_for('log_trimmed')
    until(lambda: sorted(i for i, _, _ in log_of(server)) == sorted(new))
    before = bytes_of(client)
    server.kill()
    server.start()
    assert bytes_of(server.client) == before
    counts = server.client('GET', '/v1/models/m').json
    assert counts['decisions'] == 72 and counts['feedback'] == len(old) + len(new)
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['trimmed']


def test_retention_of_answered_rows_and_lessons(make_server, clock):
    """Answered decisions go before their time to live is over, and lessons go without any decision."""
    server = make_server('--keep-days', '1', clock=clock)
    client = server.client
    client.create('m', ttl_seconds=30 * 86400)
    client.create('taught')
    for i in range(40):
        d = client.predict('m', {'a': i})
        assert client.feedback('m', id=d['id'], right=True).status == 200
        client('POST', '/v1/models/taught/teach', {'x': {'a': i}, 'label': 'tech'})
    open_one = client.predict('m', {'b': 1}, durable=True)['id']
    clock.write_text(str(2 * 86400 * 1000))
    for model in ('m', 'taught'):
        for _ in range(2):
            client('POST', '/v1/models/%s/teach' % model, {'x': {'a': 1}, 'label': 'tech'})
            client('POST', '/v1/models/%s/snapshot' % model)

    def rows(model, table):
        path = 'file:%s/models/%s/log.db?mode=ro' % (server.folder, model)
        with closing(sqlite3.connect(path, uri=True)) as db:
            return db.execute('SELECT count(*) FROM ' + table).fetchone()[0]
    until(lambda: rows('m', 'decisions') == 1 and rows('m', 'feedback') == 0 and rows('taught', 'lessons') <= 2)
    assert client.feedback('m', id=open_one, right=True).json['result'] == 'learned'
    server.stop()
    assert verify(server.folder)[0] == 0


def test_retention_keeps_up(make_server):
    """Tens of thousands of events a second with a time to live of a second: the log stays small."""
    server = make_server('--keep-days', '0.00001', '--snapshot-events', '5000')
    client = server.client
    client.create('m', ttl_seconds=1, learner='banditron')
    body = json.dumps([{'x': {'a': 1}}] * 1000)
    start = time.monotonic()
    events, most = 0, 0
    path = 'file:%s/models/m/log.db?mode=ro' % server.folder
    while time.monotonic() < start + 6 or events < 30000 and time.monotonic() < start + PATIENCE:
        reply = client('POST', '/v1/models/m/predict', body)
        events += 1000 * (reply.status == 200)
        with closing(sqlite3.connect(path, uri=True)) as db:
            first, last = db.execute('SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM decisions').fetchone()
        most = max(most, last - first)
    assert events >= 30000
    assert most < 0.8 * events, (events, most)  # a second to live, and what the older of two snapshots still needs


def test_clock_jumps_by_years(make_server, clock):
    """Ten years forward and back, while it runs and while it does not: nothing young expires or is deleted."""
    server = make_server('--keep-days', '30', clock=clock)
    client = server.client
    client.create('m', ttl_seconds=3600)
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(5)]
    years = 10 * 365 * 86400 * 1000
    for i, jump in enumerate((years, -years)):
        clock.write_text('0 %d' % jump)
        assert client.feedback('m', id=ids[i], right=True).json['result'] == 'learned'
        assert server.wait_for('clock_jumped')
        assert abs(float(re.search(rb'\nhunch_clock_offset_seconds (\S+)', client('GET', '/metrics').body)[1]) - jump / 1e3) < 60
    for i, jump in enumerate((years, -years)):
        server.stop()
        clock.write_text('0 %d' % jump)
        client = server.start().client
        assert server.seen('clock_jumped')
        assert client.feedback('m', id=ids[2 + i], right=True).json['result'] == 'learned'
    housekeeping(client)
    now = client('GET', '/v1/models/m').json
    assert now['expired'] == 0 and now['decisions'] == 5
    assert len(client('GET', '/v1/models/m/decisions').json['decisions']) == 5


def test_clock_trusted(make_server, clock):
    """--trust-clock brings the log's time back to the system's, also when it was ahead for long."""
    server = make_server('--trust-clock', clock=clock, start=False)
    clock.write_text('0 %d' % (400 * 86400 * 1000))
    server.start().client.create('m')
    server.stop()
    clock.write_text('0')
    client = server.start().client
    d = client.predict('m', {'a': 1}, durable=True)
    assert abs(client('GET', '/v1/models/m/decisions/' + d['id']).json['time_ms'] / 1000 - time.time()) < 60


def test_time_between_runs(make_server, clock):
    """A start under a clock that is 29 days ahead deletes and expires nothing until the operator confirms it."""
    server = make_server('--keep-days', '1', '--snapshot-events', '20', clock=clock)
    client = server.client
    client.create('m', ttl_seconds=1800)
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(100)]
    for d in ids[:50]:
        client.feedback('m', id=d, right=True)
    for _ in range(2):
        client('POST', '/v1/models/m/snapshot')
        ids.append(client.predict('m', {'b': 1}, durable=True)['id'])
    rows = count_rows(server, 'm')
    server.stop()
    clock.write_text('0 %d' % (29 * 86400 * 1000))
    client = server.start().client
    assert server.seen('clock_unconfirmed')
    assert float(re.search(rb'\nhunch_clock_unconfirmed_seconds (\S+)', client('GET', '/metrics').body)[1]) > 28 * 86400
    assert client.feedback('m', id=ids[60], right=True).json['result'] == 'learned'
    time.sleep(2.5)  # housekeeping; as nothing is certain, there is no event to wait for
    assert count_rows(server, 'm') == rows and client('GET', '/v1/models/m').json['expired'] == 0
    server.stop()
    client = server.start('--trust-clock').client
    assert client.feedback('m', id=ids[61], right=True).code == 'expired_id'
    client('POST', '/v1/models/m/snapshot')
    until(lambda: count_rows(server, 'm') < rows)


def count_rows(server, model):
    path = 'file:%s/models/%s/log.db?mode=ro' % (server.folder, model)
    with closing(sqlite3.connect(path, uri=True)) as db:
        return db.execute('SELECT count(*) FROM decisions').fetchone()[0]


# --- no room ---

def drive(client, model, stop_at=None):
    """Predict and answer until something is refused; gives back what was acknowledged and the refusal."""
    done = {}
    for i in range(stop_at or 100000):
        reply = client('POST', '/v1/models/%s/predict' % model, {'x': {'f%d' % (i % 50): 1, 'pad': 'x' * 400}})
        if reply.status != 200:
            return done, reply
        d = reply.json
        reply = client.feedback(model, id=d['id'], right=i % 2 == 0)
        if reply.status != 200:
            return done, reply
        done[d['id']] = i % 2 == 0
    return done, None


def test_file_size_limit_and_recovery(make_server):
    """The process may not write larger files: a disk that is full, for everyone, without root."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    server = make_server(preexec=limit)
    server.client.create('m')
    done, reply = drive(server.client, 'm')
    assert reply.status == 503 and reply.json['error']['code'] in ('storage', 'not_durable', 'busy')
    assert reply.headers['Retry-After']
    server.wait_for('storage_failing')
    assert server.client('POST', '/v1/models/m/predict', {'x': {}}).status == 503
    assert server.client('POST', '/v1/models/m/scores', {'x': {}}).status == 200  # needs no log
    assert server.client('GET', '/healthz').status == 200
    assert server.client('GET', '/readyz').status == 503
    assert b'hunch_storage_failing{model="m"} 1' in server.client('GET', '/metrics').body
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    server.wait_for('storage_recovered')
    until(lambda: server.client('GET', '/readyz').status == 200)
    more, reply = drive(server.client, 'm', 20)
    assert reply is None
    done.update(more)
    before = bytes_of(server.client)
    server.stop()
    assert {i: bool(r) for i, r, _ in log_of(server)}.items() >= done.items()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal']
    server.start()
    assert bytes_of(server.client) == before


def test_feedback_during_a_full_disk_can_be_sent_again(make_server):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))
    server = make_server(preexec=limit)
    client = server.client
    client.create('m')
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(5)]
    drive(client, 'm')
    server.wait_for('storage_failing')
    reply = client.feedback('m', id=ids[0], right=True)
    assert reply.status == 503 and reply.code in ('storage', 'not_durable')
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    server.wait_for('storage_recovered')
    assert client.feedback('m', id=ids[0], right=True).status == 200
    server.kill()
    assert log_of(server).count((ids[0], 1, None)) == 1


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which('mount'), reason='mounting a small tmpfs needs root')
def test_small_disk(make_server, tmp_path):
    small = tmp_path / 'small'
    small.mkdir()
    if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=2m', 'none', str(small)], stderr=subprocess.DEVNULL).returncode:
        pytest.skip('mount is not allowed here')
    server = make_server(folder=small / 'state', start=False)
    try:
        server.start()
        server.client.create('m')
        filler = small / 'filler'
        filler.write_bytes(b'\0' * (1 << 20))
        done, reply = drive(server.client, 'm')
        assert reply.status == 503
        server.wait_for('storage_failing')
        assert 'full' in server.event('storage_failing')['reason']
        filler.unlink()
        server.wait_for('storage_recovered')
        more, reply = drive(server.client, 'm', 5)
        assert reply is None
        done.update(more)
        server.kill()
        server.start()
        assert {i: bool(r) for i, r, _ in log_of(server)}.items() >= done.items()
        server.stop()
        assert verify(server.folder)[1][0]['equal']
    finally:
        server.close()
        subprocess.run(['umount', '-l', str(small)], check=True)


def test_full_matrices_end_where_the_memory_does(make_server):
    """The default learner changes its form while features come in; a restart must come to the same."""
    server = make_server()
    client = server.client
    client.create('m', labels=['a', 'b'], memory=20000)
    assert client('GET', '/v1/models/m').json['memory'] == 20000
    for i in range(120):
        d = client.predict('m', {'user=%d' % i: 1, 'hour': i % 24 / 24, 'topic=%d' % (i % 7): 1})
        client.feedback('m', id=d['id'], right=i % 3 == 0)
    before = bytes_of(client, 'm')
    assert b'full_S' not in before  # the tensors' names are in it
    client.predict('m', {'user=3': 1}, durable=True)
    server.kill()
    assert verify(server.folder)[1][0]['equal']
    server.start()
    assert server.client('GET', '/v1/models/m').json['memory'] == 20000
