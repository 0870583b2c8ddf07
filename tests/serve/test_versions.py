# SPDX-License-Identifier: BSD-3-Clause
"""From one learner to another in production: shadows, promotion, rollback; and the log still tells it all."""
import contextlib
import threading
import time
import pathlib
import random
import re
import sqlite3

from conftest import Client, until, verify


def play(client, rounds, start=0, model='m'):
    """The right label is determined by the features: a learner can do well."""
    pick = random.Random(start)
    labels = ['sports', 'politics', 'tech']
    wrong = 0
    for i in range(rounds):
        true = pick.randrange(3)
        d = client.predict(model, {'t%d' % true: 1, 'n%d' % pick.randrange(5): 0.3})
        wrong += d['label'] != labels[true]
        body = {'label': labels[true]} if i % 10 == 0 else {'right': d['label'] == labels[true]}
        assert client.feedback(model, id=d['id'], **body).status == 200
    return wrong / rounds


def versions(client):
    reply = client('GET', '/v1/models/m/versions')
    assert reply.status == 200, reply.body
    return reply.json, {v['version']: v for v in reply.json['versions']}


def add(client, learner, **more):
    reply = client('POST', '/v1/models/m/versions', dict(learner=learner, **more))
    assert reply.status == 202, reply.body
    number = reply.json['versions'][-1]['version']
    until(lambda: versions(client)[1][number]['status'] == 'shadow')
    return number


def bytes_of(client):
    return client('GET', '/v1/models/m/model').body


def test_from_one_learner_to_another(make_server):
    server = make_server('--snapshot-events', '300')
    client = server.client
    client.create('m', learner='banditron:gamma=0.4', seed=1)
    play(client, 150)
    client('POST', '/v1/models/m/teach', {'x': {'t1': 1}, 'label': 'politics'})
    assert add(client, 'confidit', seed=7) == 2
    shadow = versions(client)[1][2]
    assert shadow['decisions'] == 150 and shadow['answers'] == 150  # made from the whole log
    play(client, 150, 1)
    client('POST', '/v1/models/m/labels', {'labels': ['extra']})
    play(client, 50, 2)
    all_, by = versions(client)
    assert all_['active'] == 1 and by[2]['decisions'] == 350
    assert by[2]['error'] < all_['error'] and by[2]['estimate'] > 0.8 and by[2]['agreement'] > 0.4
    # promoted: it decides from now on, and the old one goes on in its shadow
    assert client('POST', '/v1/models/m/versions/2/promote').json['active'] == 2
    assert client('GET', '/v1/models/m').json['learner'].startswith('confidit')
    assert play(client, 100, 3) < 0.35
    until(lambda: versions(client)[1][1]['status'] == 'shadow')
    assert client('POST', '/v1/models/m/versions/2/promote').status == 409
    before = bytes_of(client)
    server.kill()
    client = server.start().client
    assert versions(client)[0]['active'] == 2 and bytes_of(client) == before
    until(lambda: versions(client)[1][1]['status'] == 'shadow')
    assert versions(client)[1][1]['seq'] == client('GET', '/v1/models/m').json['seq']
    # and back
    assert client('POST', '/v1/models/m/rollback').json['active'] == 1
    play(client, 50, 4)
    assert client('POST', '/v1/models/m/rollback').json['active'] == 2
    play(client, 50, 5)
    assert server.event('version_promoted')['to'] == 2
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'] and models[0]['mismatches'] == 0


def test_feedback_to_decisions_of_another_version(server):
    client = server.client
    client.create('m', learner='banditron', seed=1)
    ids = [client.predict('m', {'t%d' % (i % 3): 1}) for i in range(30)]
    add(client, 'soba')
    client('POST', '/v1/models/m/versions/2/promote')
    for d in ids:
        assert client.feedback('m', id=d['id'], right=d['label'] == 'tech').json['result'] == 'learned'
    before = bytes_of(client)
    server.kill()
    client = server.start().client
    assert bytes_of(client) == before
    server.stop()
    assert verify(server.folder)[0] == 0


def test_versions_and_exclusion(make_server):
    server = make_server('--snapshot-events', '100')
    client = server.client
    client.create('m', seed=1)
    play(client, 60)
    add(client, 'confidit')
    bad = client.predict('m', {'t1': 1, 'nonsense': 50})
    client.feedback('m', id=bad['id'], label='sports')
    play(client, 60, 1)
    client('POST', '/v1/models/m/versions/2/promote')
    play(client, 20, 2)
    assert client('POST', '/v1/models/m/exclude', {'id': bad['id']}).status == 202
    server.wait_for('model_rebuilt')
    until(lambda: {v['status'] for v in versions(client)[1].values()} == {'active', 'shadow'})
    play(client, 20, 3)
    server.kill()
    client = server.start().client
    assert client('GET', '/v1/models/m').json['excluded'] == 2 and versions(client)[0]['active'] == 2
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'] and models[0]['mismatches'] == 0


def test_what_is_refused(client):
    client.create('m')
    post = lambda path, body=None: client('POST', '/v1/models/m/' + path, body)
    assert post('versions', {'learner': 'nonsense'}).code == 'bad_learner'
    for bad in ({}, {'learner': 3}, {'learner': 'soba', 'other': 1}, {'learner': 'soba', 'seed': -1}):
        assert post('versions', bad).status == 400
    assert post('rollback').status == 409
    assert post('versions/1/promote').status == 409 and post('versions/9/promote').status == 404
    assert post('versions/x/promote').status == 404
    assert client('DELETE', '/v1/models/m/versions/1').status == 409
    assert client('DELETE', '/v1/models/m/versions/5').status == 404
    number = add(client, 'soba')
    assert client('DELETE', '/v1/models/m/versions/%d' % number).status == 200
    assert len(versions(client)[1]) == 1
    assert post('versions/%d/promote' % number).code == 'unknown_version'


def test_back_to_the_first_version_and_killed_at_once(make_server):
    """The log was trimmed and no snapshot of the first version was taken since: what it was as a shadow is the way back."""
    server = make_server('--snapshot-events', '50', '--keep-days', '0.000005')
    client = server.client
    client.create('m', learner='banditron:gamma=0.2', ttl_seconds=1)
    play(client, 100)
    add(client, 'banditron:gamma=0.05')
    assert client('POST', '/v1/models/m/versions/2/promote').json['active'] == 2
    folder = pathlib.Path(server.folder) / 'models' / 'm'

    def trimmed():
        play(client, 20)
        with contextlib.closing(sqlite3.connect(folder / 'log.db')) as db:
            return int((db.execute("SELECT value FROM about WHERE key = 'trimmed'").fetchone() or [0])[0])
    until(lambda: trimmed() > 150 and (folder / 'shadow-1.hunch').exists())
    before = {f.name: f.read_bytes() for f in folder.iterdir() if f.name.startswith(('snapshot-', 'shadow-'))}
    assert client('POST', '/v1/models/m/versions/1/promote').json['active'] == 1
    server.kill()
    for f in folder.iterdir():
        if f.name.startswith(('snapshot-', 'shadow-')):
            f.unlink()
    for name, data in before.items():
        (folder / name).write_bytes(data)
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'] and models[0]['trimmed'], models


def test_versions_change_while_the_log_is_locked(server):
    """Admin work waits for a log that someone else has locked; other requests do not wait for it."""
    client = server.client
    client.create('m')
    client.create('other')
    assert client('POST', '/v1/models/m/versions', {'learner': 'soba'}).status == 202
    server.wait_for('version_ready')
    done = []

    def admin(method, path, body=None):
        done.append((path, Client(server.port)(method, '/v1/models/m/versions' + path, body).status))
    with contextlib.closing(sqlite3.connect(server.folder + '/models/m/log.db', isolation_level=None)) as lock:
        lock.execute('BEGIN IMMEDIATE')
        threads = [threading.Thread(target=admin, args=a) for a in (
            ('POST', '/2/promote'), ('POST', '', {'learner': 'banditron'}))]
        [t.start() for t in threads]
        for i in range(30):
            assert client('GET', '/healthz').status == 200
            assert client.predict('other', {'a': i})
            assert client.predict('m', {'a': i})
            time.sleep(0.02)
        assert not done
        lock.execute('ROLLBACK')
    [t.join() for t in threads]
    assert sorted(done) == [('', 202), ('/2/promote', 200)]
    assert client('GET', '/v1/models/m/versions').json['active'] == 2
    server.stop()
    assert verify(server.folder)[0] == 0


def test_versions_added_at_the_same_time_have_numbers_of_their_own(server):
    server.client.create('m')
    numbers = []

    def add():
        reply = Client(server.port)('POST', '/v1/models/m/versions', {'learner': 'soba'})
        numbers.append(reply.status)
    threads = [threading.Thread(target=add) for _ in range(3)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert numbers == [202] * 3
    assert [v['version'] for v in server.client('GET', '/v1/models/m/versions').json['versions']] == [1, 2, 3, 4]


def test_many_labels_at_once(make_server):
    """One growth for one request; the replay, which grows likewise, comes to the same bytes."""
    server = make_server()
    client = server.client
    client.create('m', labels=['l%d' % i for i in range(50)])
    names = ['n%d' % i for i in range(150)]
    for i in range(20):
        d = client.predict('m', {'a': 1, 'u%d' % i: 1})
        client.feedback('m', id=d['id'], right=i % 3 == 0)
    reply = client('POST', '/v1/models/m/labels', {'labels': names + names[:10] + ['l0']})
    assert reply.json == {'added': 150, 'labels': 200}
    assert client('POST', '/v1/models/m/labels', {'labels': names}).json == {'added': 0, 'labels': 200}
    assert client('POST', '/v1/models/m/labels', {'labels': ['x%d' % i for i in range(20000)]}).status == 413
    assert client('GET', '/v1/models/m').json['labels'] == ['l%d' % i for i in range(50)] + names
    for i in range(20):
        d = client.predict('m', {'a': 1, 'u%d' % i: 1})
        client.feedback('m', id=d['id'], right=i % 3 == 0)
    server.kill()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'] and models[0]['mismatches'] == 0


def test_a_better_version_takes_over_by_itself(make_server):
    """The log says why; nothing takes it back; a replay comes out the same."""
    server = make_server('--snapshot-events', '300')
    client = server.client
    pick = random.Random(5)
    client.create('m', learner='banditron:gamma=0.4', labels=['even', 'odd'], seed=1)
    assert client('POST', '/v1/models/m/versions', {'learner': 'soba', 'promote': 'perhaps'}).status == 400
    assert add(client, 'confidit:scale=auto,map=pairs', seed=7, promote='auto') == 2
    assert add(client, 'banditron:gamma=0.4', seed=8) == 3  # no better, and asked for nothing

    def rounds(n):
        """Whether two categories are alike: only the second version has pairs of them."""
        for _ in range(n):
            a, b = pick.randrange(2), pick.randrange(2)
            d = client.predict('m', {'a%d' % a: 1, 'b%d' % b: 1})
            client.feedback('m', id=d['id'], right=d['label'] == ('odd' if a != b else 'even'))

    for _ in range(40):
        rounds(100)
        if versions(client)[0]['active'] == 2:
            break
    all_, by = versions(client)
    assert all_['active'] == 2, by
    assert by[2]['promote'] == 'auto' and by[3]['promote'] == 'manual'
    promoted = all_['promoted']
    assert promoted['version'] == 2 and promoted['why'].startswith('automatic: +') and 'over version 1' in promoted['why']
    assert float(re.search(r'at least (\S+) \(95 %', promoted['why'])[1]) >= 0
    assert server.event('version_promoted')['why'] == promoted['why']
    low, high = by[3]['estimate_interval']
    assert 0 <= low <= by[3]['estimate'] <= high <= 1
    rounds(300)
    until(lambda: versions(client)[1][1]['status'] == 'shadow')
    assert versions(client)[0]['active'] == 2  # version 1 does not come back by itself
    low, high = versions(client)[1][1]['gain_interval']
    assert -1 <= low <= high <= 1 and low < 0

    def known():
        all_, by = versions(client)
        return all_['promoted'], {n: {k: v for k, v in one.items() if k != 'bytes'} for n, one in by.items()}

    before = bytes_of(client), known()
    server.kill()
    client = server.start().client
    assert bytes_of(client) == before[0]
    until(lambda: versions(client)[1][3]['status'] == 'shadow' and versions(client)[1][1]['status'] == 'shadow')
    assert known() == before[1]  # what is known of shadows, too
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'] and models[0]['mismatches'] == 0


def test_versions_made_under_load_know_who_decided(server):
    """What a version learns last, from memory instead of the log, is as in the log: here most decisions are a control's."""
    client = server.client
    client.create('m', learner='banditron', control={'share': 0.9, 'label': 'sports'}, seed=1)
    over = threading.Event()

    def ask():
        own, pick = Client(server.port), random.Random(1)
        while not over.is_set():
            made = own('POST', '/v1/models/m/predict', [{'x': {'t%d' % pick.randrange(9): 1}} for _ in range(20)]).json
            own('POST', '/v1/models/m/feedback', [{'id': d['id'], 'right': pick.random() < 0.5} for d in made])
    threads = [threading.Thread(target=ask) for _ in range(2)]
    [t.start() for t in threads]
    try:
        numbers = [add(client, 'soba') for _ in range(3)]
    finally:
        over.set()
        [t.join() for t in threads]
    by = versions(client)[1]
    assert [by[n]['answers'] - by[n]['decisions'] for n in numbers] == [0] * 3, by
    assert client('POST', '/v1/models/m/versions/%d/promote' % numbers[-1]).status == 200
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'] and models[0]['mismatches'] == 0
