# SPDX-License-Identifier: BSD-3-Clause
"""Many models on one server."""
import os
import random
import threading
import time

from conftest import Client, verify


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
