# SPDX-License-Identifier: BSD-3-Clause
"""Clients contradict each other about the same decisions while the server is killed and started again; judge.py says whether one
order explains the replies. HUNCH_CRASH_ROUNDS (10): how many kills; HUNCH_CRASH_SEED: of the moments.
"""
import http.client
import os
import random
import threading
import time

import pytest
from conftest import Client, verify
from judge import History, explained

ROUNDS = int(os.environ.get('HUNCH_CRASH_ROUNDS', '10'))
SEED = int(os.environ.get('HUNCH_CRASH_SEED', '1'))
NEVER = float('inf')


@pytest.mark.parametrize('operations, right', [
    ([(True, 0, 1, 'learned'), (True, 2, 3, 'already'), (False, 2, 3, 'conflict')], True),
    ([(True, 0, 5, 'learned'), (False, 1, 2, 'conflict')], True),               # at the same time
    ([(True, 3, 5, 'learned'), (False, 1, 2, 'conflict')], False),              # refused because of what came later
    ([(True, 0, 1, 'learned'), (True, 2, 3, 'learned')], False),                # learned twice
    ([(True, 0, 1, 'learned'), (False, 2, 3, 'already')], False),
    ([(True, 0, 1, 'learned'), (True, 2, 3, 'unknown')], False),                # acknowledged, and gone
    ([(True, 0, NEVER, None), (False, 2, 3, 'conflict'), (True, 4, 5, 'already')], True),  # no answer came, and it was learned
    ([(True, 0, NEVER, None), (False, 2, 3, 'learned')], True),                 # it was not
    ([(True, 0, NEVER, None), (False, 2, 3, 'conflict'), (False, 4, 5, 'learned')], False),  # told of, and taken back
    ([(True, 0, NEVER, None), (True, 2, 3, 'unknown'), (True, 4, 5, 'unknown')], True),
    ([(True, 0, 1, 'unknown'), (True, 2, 3, 'learned')], False),
])
def test_judge(operations, right):
    assert explained(operations) == right


class Quarreller(threading.Thread):
    """Asks, and answers what it and the others have asked, each time as it likes."""

    def __init__(self, port, seed, history, ids):
        super().__init__()
        self.client, self.random, self.history, self.ids, self.error = Client(port), random.Random(seed), history, ids, None

    def run(self):
        try:
            while True:
                self.ids.append(self.client.predict('m', {'f%d' % self.random.randrange(20): 1})['id'])
                for _ in range(4):
                    id, right = self.random.choice(self.ids[-6:]), self.random.random() < 0.5
                    self.history.record(id, right, lambda: self.tell(id, right))
        except (OSError, http.client.HTTPException):
            self.client.close()
        except BaseException as e:
            self.error = e

    def tell(self, id, right):
        reply = self.client.feedback('m', id=id, right=right)
        if reply.status == 503:
            return None
        return {200: lambda: reply.json['result'], 404: lambda: 'unknown', 409: lambda: 'conflict'}[reply.status]()


def test_one_order_explains_all_answers(make_server):
    history, ids, rng = History(), [], random.Random(SEED)
    server = make_server('--snapshot-events', '200')
    server.client.create('m', learner='banditron')
    for turn in range(ROUNDS):
        clients = [Quarreller(server.port, rng.random(), history, ids) for _ in range(4)]
        [c.start() for c in clients]
        time.sleep(0.05 + 0.4 * rng.random())
        server.kill()
        [c.join() for c in clients]
        assert [c.error for c in clients] == [None] * 4
        server.start()
        for id in ids[-8:]:  # what those heard who were there last must still hold
            client = Quarreller(server.port, 0, history, ids)
            for right in rng.sample((True, False), 2):
                history.record(id, right, lambda: client.tell(id, right))
    assert not history.wrong(), history.wrong()
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'], models
    print(len(history), 'operations on', len(history.operations), 'decisions')
