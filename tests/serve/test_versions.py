# SPDX-License-Identifier: BSD-3-Clause
"""From one learner to another in production: shadows, promotion, rollback; and the log still tells it all."""
import contextlib
import pathlib
import random
import sqlite3

from conftest import until, verify


def play(client, rounds, start=0, model='m'):
    """The right label is told by the features: a learner can do well."""
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
    assert post('versions/1/promote').status == 409 and post('versions/9/promote').status == 409
    assert post('versions/x/promote').status == 404
    assert client('DELETE', '/v1/models/m/versions/1').status == 409
    assert client('DELETE', '/v1/models/m/versions/5').status == 404
    number = add(client, 'soba')
    assert client('DELETE', '/v1/models/m/versions/%d' % number).status == 200
    assert len(versions(client)[1]) == 1
    assert post('versions/%d/promote' % number).status == 409


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
