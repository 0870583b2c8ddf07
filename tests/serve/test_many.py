# SPDX-License-Identifier: BSD-3-Clause
"""Many models on one server."""
import io
import os
import random
import re
import shutil
import tarfile
import threading
import time

from conftest import Client, until, verify


def threads_of(server):
    return len(os.listdir('/proc/%d/task' % server.process.pid))


def test_models_share_their_threads(make_server):
    """Each is written by one thread at a time, whenever its events come: at once, or after a moment's lingering."""
    names = ['m%02d' % i for i in range(60)]
    server = make_server('--max-models', '100')
    for name in names:
        server.client.create(name, learner='banditron')
    wrong, told = [], []

    def use(seed):
        client, chance = Client(server.port), random.Random(seed)
        for _ in range(80):
            name = chance.choice(names)
            d = client.predict(name, {'a': 1})
            time.sleep(chance.choice((0, 0.0195 + 0.001 * chance.random())))  # when a lingering model gets its turn
            reply = client.feedback(name, id=d['id'], right=True)
            (told if reply.status == 200 else wrong).append(reply.body)
    threads = [threading.Thread(target=use, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong and len(told) == 640
    assert threads_of(server) < 60
    assert server.stop() == 0
    code, models = verify(server.folder)
    assert code == 0 and len(models) == len(names) and all(m['equal'] for m in models)


def in_memory(server):
    text = server.client('GET', '/metrics').body.decode()
    return int(re.search(r'hunch_models{where="memory"} (\d+)', text)[1])


def test_models_that_are_not_used_go_to_disk_and_come_back(make_server):
    names = ['m%02d' % i for i in range(48)]
    server = make_server('--max-models', '100', '--max-resident', '16')
    for name in names:
        server.client.create(name, learner='banditron', seed=1)
    until(lambda: in_memory(server) <= 16)
    open_ids = {name: server.client.predict(name, {'a': 1}, durable=True)['id'] for name in names}
    until(lambda: in_memory(server) <= 16)
    listed = server.client('GET', '/v1/models').json['models']
    assert [m['name'] for m in listed] == names
    assert {m['status'] for m in listed} == {'ok', 'on_disk'}
    ready = server.client('GET', '/readyz').json
    assert ready['models'] == ready['ready'] == 48
    gone = next(m['name'] for m in listed if m['status'] == 'on_disk')
    assert server.client('GET', '/readyz?model=' + gone).status == 200
    wrong = []

    def use(seed):
        client, chance = Client(server.port), random.Random(seed)
        for _ in range(100):
            name = chance.choice(names)
            d = client.predict(name, {'a': 1, 'b': chance.random()})
            reply = client.feedback(name, id=d['id'], right=chance.random() < 0.5)
            if reply.status != 200 or reply.json['result'] != 'learned':
                wrong.append(reply.body)
    threads = [threading.Thread(target=use, args=(i,)) for i in range(6)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not wrong
    for name in names:  # what was asked before it went
        assert server.client.feedback(name, id=open_ids[name], right=True).json['result'] == 'learned'
        assert server.client.feedback(name, id=open_ids[name], right=True).json['result'] == 'already'
    assert sum(server.client('GET', '/v1/models/' + name).json['feedback'] for name in names) == 600 + 48
    until(lambda: in_memory(server) <= 16)
    gone = next(m['name'] for m in server.client('GET', '/v1/models').json['models'] if m['status'] == 'on_disk')
    assert server.client('PUT', '/v1/models/' + gone, {'labels': ['x', 'y']}).status == 409
    assert server.client('DELETE', '/v1/models/' + gone).status == 200
    assert server.client('GET', '/v1/models/' + gone).status == 404
    assert len(tarfile.open(fileobj=io.BytesIO(server.client('GET', '/v1/backup').body)).getnames()) >= 47
    assert server.stop() == 0
    code, models = verify(server.folder)
    assert code == 0 and len(models) == 47 and all(m['equal'] for m in models)


def test_very_many_models_are_opened_when_they_are_asked_for(make_server):
    server = make_server('--max-models', '1000')
    server.client.create('seed', learner='banditron')
    d = server.client.predict('seed', {'a': 1}, durable=True)
    server.stop()
    folder = os.path.join(server.folder, 'models')
    for i in range(299):
        shutil.copytree(os.path.join(folder, 'seed'), os.path.join(folder, 'm%03d' % i))
    server.start()
    assert server.client.feedback('m123', id=d['id'], right=True).json['result'] == 'learned'
    until(lambda: in_memory(server) == 300)  # there is room for all of them
    server.stop()
    server.start('--max-resident', '20')
    assert not server.seen('model_open')
    assert server.client.feedback('m123', id=d['id'], right=True).json['result'] == 'already'
    assert in_memory(server) == 1


def test_admin_work_and_requests_at_once(make_server):
    """Models are deleted, brought back, copied and changed while others use them: everything is answered, and nothing is lost."""
    names = ['m%d' % i for i in range(5)]
    server = make_server('--max-models', '30', '--max-resident', '3', '--undelete-days', '1', '--snapshot-events', '200')
    for name in names:
        server.client.create(name, learner='banditron')
    statuses, failed = [], []

    def requests(model, ids, pick):
        """One of each kind; the first two most often."""
        yield 6, 'POST', model + '/predict', {'x': {'u%d' % pick.randrange(99): 1}, 'event': 'e%d' % pick.randrange(60)}
        yield 6, 'POST', model + '/feedback', [{'id': i, 'right': pick.random() < 0.5} for i in ids[-9:]] or [{'id': '1', 'right': True}]
        yield 1, 'POST', model + '/labels', {'labels': ['l%d' % pick.randrange(40)]}
        yield 1, 'POST', model + '/versions', {'learner': 'soba'}
        yield 1, 'POST', model + '/versions/%d/promote' % pick.randrange(6), None
        yield 1, 'DELETE', model + '/versions/%d' % pick.randrange(6), None
        yield 1, 'DELETE' if pick.random() < 0.3 else 'GET', model, None
        yield 1, 'POST', model + '/undelete', None
        yield 1, 'PUT', model, {'labels': ['sports', 'politics', 'tech'], 'learner': 'soba'}
        yield 1, 'GET', pick.choice(('/v1/backup', '/v1/models', '/metrics', '/readyz', model + '/decisions?limit=1000', model + '/snapshot')), None
        yield 1, 'POST', model + '/exclude', {'seq': pick.randrange(2000)}
        yield 1, 'PATCH', model, {pick.choice(('retire', 'restore')): ['tech']}

    def use(seed):
        client, pick, ids = Client(server.port), random.Random(seed), {name: [] for name in names}
        for _ in range(300):
            name = pick.choice(names)
            choices = list(requests('/v1/models/' + name, ids[name], pick))
            _, method, path, body = pick.choices(choices, [weight for weight, *_ in choices])[0]
            try:
                reply = client(method, path, body)
            except OSError as e:
                failed.append((method, path, repr(e)))
                return
            statuses.append(reply.status)
            if reply.status == 200 and path.endswith('/predict'):
                ids[name].append(reply.json['id'])
            if reply.status == 500 or reply.status >= 400 and reply.code in ('damaged', 'model_broken', 'poison'):
                failed.append((method, path, reply.body))
    threads = [threading.Thread(target=use, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed and statuses.count(200) > 800, (failed[:5], len(statuses))
    assert server.stop() == 0
    code, models = verify(server.folder)
    assert code == 0 and all(m['equal'] for m in models)
