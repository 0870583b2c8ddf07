#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long clients of a group get no durable acknowledgement when one broker of three is killed, hangs (SIGSTOP) or is cut from
all other machines, with Kafka's default timeouts and with those of docs/how-to/scale.md. Each broker and node is a network
namespace; needs root, or user namespaces.

    HUNCH=build/cli/hunch KAFKA_LIBS=build-kafka/libs unshare -n bench/bench_kafka_faults.py [--settings default] [--models 6]

Six clients ask for durable decisions, each of a model of its own, and ask again at once after an error. A broker leads the topics
of some models; a model whose longest stretch is beyond a second is one of them. Prints a table in Markdown.
"""
import argparse
import os
import signal
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'kafka'))
from conftest import Machines, Node, until  # noqa: E402

SETTINGS = {  # of the brokers; how long to look
    'default': ('broker.session.timeout.ms=9000\nbroker.heartbeat.interval.ms=2000\nreplica.lag.time.max.ms=30000\n'
                'replica.socket.timeout.ms=30000\nrequest.timeout.ms=30000\n', 50),
    'recommended': ('', 20),
}


class Asker(threading.Thread):
    """The times of durable acknowledgements of one model."""

    def __init__(self, node, model):
        super().__init__(daemon=True)
        self.node, self.model, self.stop, self.times = node, model, False, []

    def run(self):
        client = self.node.connect()
        while not self.stop:
            try:
                reply = client('POST', '/v1/models/%s/predict' % self.model, {'x': {'a': 1}, 'durable': True})
            except OSError:
                client = self.node.connect()
                continue
            if reply.status == 200:
                self.times.append(time.monotonic())
            time.sleep(0.02)

    def stretch(self, since, until_):
        times = [t for t in self.times if since - 2 < t < until_]
        return max(b - a for a, b in zip(times, times[1:] + [until_])) if times else until_ - since


def breaks(cluster, how, i):
    if how == 'killed':
        cluster.kill(i)
    elif how == 'hung':
        cluster.signal(i, signal.SIGSTOP)
    else:
        cluster.network.cut([i])


def mends(cluster, how, i):
    if how == 'killed':
        cluster.revive(i)
        cluster.wait_for(i)
    elif how == 'hung':
        cluster.signal(i, signal.SIGCONT)
    else:
        cluster.network.heal()


def measure(folder, name, models):
    extra, patience = SETTINGS[name]
    os.makedirs(folder)
    with open(os.path.join(folder, 'extra.properties'), 'w') as f:
        f.write(extra)
    cluster = Machines(folder)
    nodes, askers = [], []
    try:
        cluster.start()
        nodes = [Node(cluster, folder, n, 'faults.', hunch_wait_ms=1000, hunch_hash_events=100000).start() for n in 'ab']
        for k in range(models):
            nodes[0].client.create('m%d' % k, learner='banditron')
            until(lambda: nodes[1].model('m%d' % k))
        askers = [Asker(nodes[k % 2], 'm%d' % k) for k in range(models)]
        for a in askers:
            a.start()
        for how in ('killed', 'hung', 'cut'):
            found = []
            for i in (1, 2, 3):
                time.sleep(6)
                start = time.monotonic()
                breaks(cluster, how, i)
                time.sleep(patience)
                found += [a.stretch(start, start + patience) for a in askers]
                mends(cluster, how, i)
                until(lambda: all(n.client('GET', '/readyz').status == 200 for n in nodes))
            hit = sorted(s for s in found if s > 1)
            print('| %s | %s | %d of %d | %.1f | %.1f | %.1f |' % (
                how, name, len(hit), len(found), hit[0], statistics.median(hit), hit[-1]) if hit else
                '| %s | %s | 0 of %d | - | - | - |' % (how, name, len(found)), flush=True)
    finally:
        for a in askers:
            a.stop = True
        for n in nodes:
            n.close()
        cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--settings', choices=SETTINGS, action='append')
    parser.add_argument('--models', type=int, default=6)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='bench-kafka-')
    print('| a broker is | timeouts | models that waited for more than a second | shortest, s | median, s | longest, s |\n'
          '|---|---|--:|--:|--:|--:|')
    for name in options.settings or SETTINGS:
        measure(os.path.join(folder, name), name, options.models)


if __name__ == '__main__':
    main()
