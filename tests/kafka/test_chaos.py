# SPDX-License-Identifier: BSD-3-Clause
"""Anything may die at any moment. Three nodes, three brokers, clients that ask and answer all the while, and at random
moments a node or a broker is killed or stopped, the whole cluster is killed, a node's disk is wiped, a node is added, the
network is cut between some machines and the others, in one direction or both (network namespaces, where the machine allows).
Afterwards: every acknowledged answer is there on every node, once, as it was given; nothing else was learned; the models
are equal to each other and to one that a new node makes from the journal alone.

HUNCH_CHAOS_ROUNDS: how many such events (default 20); HUNCH_CHAOS_SEED: which ones.
"""
import http.client
import os
import random
import shutil
import signal
import threading
import time

import pytest
from conftest import Cluster, Machines, until, until_equal, verify

ROUNDS = int(os.environ.get('HUNCH_CHAOS_ROUNDS', '20'))
SEED = int(os.environ.get('HUNCH_CHAOS_SEED', str(random.SystemRandom().randrange(10 ** 6))))
PARTITIONS = int(os.environ.get('HUNCH_PARTITIONS', '0')) > 0
MODEL = 'm'


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    c = (Machines if PARTITIONS else Cluster)(tmp_path_factory.mktemp('cluster'))
    try:
        yield c.start()
    finally:
        c.close()


class Worker(threading.Thread):
    """Asks one node and answers at another, whoever is there; keeps what was acknowledged."""

    def __init__(self, nodes, number):
        super().__init__(daemon=True)
        self.nodes, self.random, self.stop = nodes, random.Random(SEED * 1000 + number), False
        self.acknowledged, self.uncertain, self.open, self.durable = {}, {}, [], set()
        self.refused, self.wrong, self.deferred, self.events = 0, [], set(), 0

    def ask(self, method, path, body):
        node = self.random.choice(self.nodes)
        try:
            client = node.connect()
            reply = client(method, path, body)
            client.close()
            return reply
        except (OSError, http.client.HTTPException, ValueError, TypeError, AttributeError):  # the last: it never started yet
            return None

    def predict(self):
        """Among some labels, deferred, with an id of our own (then asked twice), or for a label that we have chosen."""
        path, body = 'predict', {'x': {'f%d' % self.random.randrange(30): 1, 'g': self.random.random()}}
        body['durable'] = self.random.random() < 0.5
        body['defer'] = self.random.random() < 0.2
        if self.random.random() < 0.3:
            body['eligible'] = ['sports', self.random.choice(['politics', 'tech'])]
        if self.random.random() < 0.2:
            path, body['label'], body['probability'] = 'decisions', 'politics', 0.5
        if self.random.random() < 0.2:
            self.events += 1
            body['event'] = '%s %d' % (self.name, self.events)
        reply = self.ask('POST', '/v1/models/m/' + path, body)
        if not reply or reply.status != 200:
            return
        id = reply.json['id']
        again = self.ask('POST', '/v1/models/m/' + path, body) if 'event' in body else None
        if again and again.status != 503 and (again.status != 200 or again.json['id'] != id):
            self.wrong.append(('event', id, again.body))
        self.open.append((id, self.random.random() < 0.6))
        if body['durable'] or 'event' in body:
            self.durable.add(id)
        if body['defer']:
            self.deferred.add(id)

    def retire(self):
        self.ask('PATCH', '/v1/models/m', {self.random.choice(['retire', 'restore']): ['tech']})

    def activate(self, id):
        """False: it is not certain."""
        reply = self.ask('POST', '/v1/models/m/activate', {'id': id})
        if not reply or reply.status == 503:
            return False
        if reply.status == 200:
            self.deferred.discard(id)
        elif reply.status != 404 or id in self.durable:
            self.wrong.append(('activate', id, reply.body))
        return True

    def tell(self, id, right):
        """True: the answer is known."""
        if id in self.deferred and not self.activate(id):
            return False
        reply = self.ask('POST', '/v1/models/m/feedback', {'id': id, 'right': right})
        if reply and reply.status == 200:
            self.acknowledged[id] = right
            self.uncertain.pop(id, None)
            return True
        if reply and reply.status == 404 and id not in self.durable:  # one that no one asked to be durable may be lost
            self.refused += 1
            return True
        if reply and reply.status not in (503,):
            self.wrong.append(('first', id, reply.body))
        self.uncertain[id] = right
        return False

    def run(self):
        while not self.stop:
            self.predict()
            if self.random.random() < 0.02:
                self.retire()
            if self.open and self.random.random() < 0.9:
                id, right = self.open.pop(self.random.randrange(len(self.open)))
                if not self.tell(id, right):
                    self.open.append((id, right))
            if self.acknowledged and self.random.random() < 0.1:  # said again, and otherwise
                id = self.random.choice(list(self.acknowledged))
                again = self.ask('POST', '/v1/models/m/feedback', {'id': id, 'right': self.acknowledged[id]})
                other = self.ask('POST', '/v1/models/m/feedback', {'id': id, 'right': not self.acknowledged[id]})
                if again and (again.status not in (200, 503) or again.status == 200 and again.json['result'] != 'already'):
                    self.wrong.append(('again', id, again.body))
                if other and other.status not in (409, 503):
                    self.wrong.append(('otherwise', id, other.body))
            time.sleep(0.01)


class Chaos:
    def __init__(self, cluster, nodes, make_node, workers):
        self.cluster, self.nodes, self.make_node, self.random = cluster, nodes, make_node, random.Random(SEED)
        self.acknowledged = lambda: sum(len(w.acknowledged) for w in workers)
        self.broken = {}  # broker -> what it needs to come back
        self.happened = []

    def node_killed(self):
        node = self.random.choice(self.nodes)
        node.kill()
        time.sleep(self.random.random())
        node.start(ready=False)

    def node_wiped(self):
        node = self.random.choice(self.nodes)
        node.kill()
        shutil.rmtree(node.folder)
        node.start(ready=False)

    def node_stopped(self):
        node = self.random.choice(self.nodes)
        node.process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.random() * 2)
        node.process.send_signal(signal.SIGCONT)

    def node_restarted(self):
        node = self.random.choice(self.nodes)
        node.stop()
        node.start(ready=False)

    def node_added(self):
        if len(self.nodes) < 5:
            self.nodes.append(self.make_node('extra%d' % len(self.nodes), start=False))
            self.nodes[-1].start(ready=False)

    def broker_killed(self):
        i = self.random.choice((1, 2, 3))
        if i not in self.broken:
            self.cluster.kill(i)
            self.broken[i] = 'start'

    def broker_stopped(self):
        i = self.random.choice((1, 2, 3))
        if i not in self.broken:
            self.cluster.signal(i, signal.SIGSTOP)
            self.broken[i] = 'continue'

    def cluster_killed(self):
        for i in (1, 2, 3):
            if self.broken.get(i) != 'start':
                self.cluster.signal(i, signal.SIGCONT)
                self.cluster.kill(i)
                self.broken[i] = 'start'

    def partitioned(self):
        if 'network' not in self.broken:
            all = sorted(self.cluster.network.machines)
            side = self.random.sample(all, self.random.randrange(1, len(all) // 2 + 1))
            self.cluster.network.cut(side, self.random.random() < 0.7)
            self.broken['network'] = 'heal'

    def mend(self):
        for i, what in list(self.broken.items()):
            if what == 'start':
                self.cluster.revive(i)
            elif what == 'heal':
                self.cluster.network.heal()
            else:
                self.cluster.signal(i, signal.SIGCONT)
            del self.broken[i]

    def round(self):
        what = self.random.choice((self.node_killed, self.node_killed, self.broker_killed, self.broker_killed,
                                   self.broker_stopped, self.node_stopped, self.node_restarted, self.node_wiped,
                                   self.node_added, self.cluster_killed) + (self.partitioned, self.partitioned) * PARTITIONS)
        self.happened.append(what.__name__)
        what()
        time.sleep(self.random.random() * (8 if 'network' in self.broken else 2))  # it takes seconds to be noticed
        if self.broken and self.random.random() < 0.7:
            self.mend()
        if not self.broken:
            self.progress(10)

    def progress(self, answers):
        """Some more are acknowledged, unless that takes too long."""
        end = time.monotonic() + 60
        goal = self.acknowledged() + answers
        while self.acknowledged() < goal and time.monotonic() < end:
            time.sleep(0.1)


def settle(nodes):
    for node in nodes:
        node.until_ready(180)


@pytest.mark.skipif(not PARTITIONS, reason='no network namespaces')
def test_partitions(cluster, make_node):
    """One at a time, and what is to be seen of each."""
    def told(node, id):
        reply = node.client('POST', '/v1/models/p/feedback', {'id': id, 'right': True})
        assert reply.status == 200 or reply.code == 'not_durable', reply.body
        return reply.status == 200

    a, b = (make_node(n, hunch_wait_ms=2000) for n in 'ab')
    a.client.create('p')
    until(lambda: b.model('p'))
    ids = [a.client.predict('p', {'x': 1}, durable=True)['id'] for _ in range(4)]

    cluster.network.cut({a.machine})  # a node without brokers and other nodes
    shown = a.client.predict('p', {'x': 1})
    lost = a.client('POST', '/v1/models/p/feedback', {'id': ids[0], 'right': True})
    assert lost.status == 503 and lost.code == 'not_durable', lost.body
    until(lambda: a.client('GET', '/readyz').status == 503)
    assert b.client.feedback('p', id=ids[0], right=False).status == 200  # the others go on
    cluster.network.heal()
    a.until_ready()
    assert a.client.feedback('p', id=ids[0], right=False).json['result'] == 'already'
    assert b.client.feedback('p', id=shown['id'], right=True).status == 200

    for i in cluster.brokers:  # each is cut from the other brokers; nodes still reach it, and it may think that it still leads
        cluster.until_whole(a.prefix)  # two others that are in sync are needed to go on
        for j in set(cluster.brokers) - {i}:
            cluster.network.lose(i, j)
            cluster.network.lose(j, i)
        start = time.monotonic()
        until(lambda: told(a, ids[i]) and told(b, ids[i]))  # nodes go on with those that are left, while the cut lasts
        print('broker %d cut from the others: answers are taken after %.1f s' % (i, time.monotonic() - start))
        cluster.network.heal()
        for node in (a, b):
            node.until_ready()
            assert node.client.feedback('p', id=ids[i], right=True).json['result'] == 'already'
            until(lambda: 'hunch_brokers_avoided 0\n' in node.client('GET', '/metrics').body.decode())
    assert len(set(until_equal((a, b), 'p'))) == 1
    assert a.model('p')['feedback'] == b.model('p')['feedback'] == 5


def test_chaos(cluster, make_node):
    print('seed', SEED)
    nodes = [make_node(n, hunch_wait_ms=5000) for n in 'abc']
    nodes[0].client.create(MODEL, learner='confidit', seed=1)
    for n in nodes:
        until(lambda: n.model(MODEL))
    workers = [Worker(nodes, i) for i in range(4)]
    for w in workers:
        w.start()
    chaos = Chaos(cluster, nodes, make_node, workers)
    try:
        for _ in range(ROUNDS):
            chaos.round()
    finally:
        chaos.mend()
        for w in workers:
            w.stop = True
        for w in workers:
            w.join(120)
    settle(nodes)
    check(nodes, workers, make_node, chaos)


def check(nodes, workers, make_node, chaos):
    for w in workers:  # what is uncertain becomes certain by saying it again
        for id, right in list(w.uncertain.items()):
            until(lambda: w.tell(id, right))
    wrong = [x for w in workers for x in w.wrong]
    assert not wrong, (SEED, wrong[:5])
    acknowledged = {id: right for w in workers for id, right in w.acknowledged.items()}
    fresh = make_node('fresh')  # nothing but the journal, or a copy of another's log
    nodes = nodes + [fresh]
    hashes = until_equal(nodes, MODEL, 120)
    assert len(set(hashes)) == 1, (SEED, hashes)
    counts = [n.model(MODEL)['feedback'] for n in nodes]
    assert counts == [len(acknowledged)] * len(nodes), (SEED, counts, len(acknowledged))
    until(lambda: all(n.model(MODEL)['committed_seq'] == n.model(MODEL)['seq'] for n in nodes))
    for n in nodes:
        for id, right in acknowledged.items():
            said = n.client('GET', '/v1/models/m/decisions/' + id).json['feedback']
            assert said and said['right'] == right, (SEED, n.name, id, said)
        assert n.metric('hunch_diverged', MODEL) == 0, (SEED, n.name)
    print('%d events %s; %d answers acknowledged, %d to decisions that were lost, %d nodes equal' % (
        len(chaos.happened), {k: chaos.happened.count(k) for k in sorted(set(chaos.happened))}, len(acknowledged),
        sum(w.refused for w in workers), len(nodes)))
    for n in nodes:
        assert n.stop() == 0
        code, lines = verify(n.folder)  # its own store, replayed from the beginning
        assert code == 0 and lines[0]['equal'] and '%016x' % int(lines[0]['hash'], 16) == hashes[0], (SEED, lines, hashes)
