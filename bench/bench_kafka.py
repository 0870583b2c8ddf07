#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a group of nodes over Kafka does, all on this machine: predictions and durable feedback per second with one, two and
three nodes, how long feedback waits when the leader of a topic is killed, and how fast a new node catches up.

    HUNCH=build/cli/hunch KAFKA_LIBS=build-kafka/libs bench/bench_kafka.py [--seconds 5] [--events 100000]

With --models N instead: what one node with that many models takes (one broker): threads, memory, processor time at rest, and how
long it takes to make them, to start and to stop. With --apply N: the processor time that a node takes for applying that many events
of one model from the journal's beginning, which is its start with an empty folder. With --roles N: the processor time of a prediction
and of feedback, N of each, for the node that is asked, for a node that only applies, and for the brokers.

Three brokers, the nodes and the clients share the processors, so the ratios between the rows mean more than the rows.
Prints a table in Markdown.
"""
import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'kafka'))
import conftest  # noqa: E402
from conftest import Client, Cluster, Node, until, until_equal  # noqa: E402

MODEL = 'bench'
ALONE = {'hunch_replicas': 1, 'hunch_min_insync': 1}
PREDICT, FEEDBACK = '/v1/models/bench/predict', '/v1/models/bench/feedback'


def ask(connection, path, body):
    connection.request('POST', path, body)
    return json.loads(connection.getresponse().read())


def load(port, number, batch, seconds, ready, go, results):
    """One client: batches of predictions, each answered with a batch of feedback; rates of the two apart."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=60)
    body = json.dumps([{'x': {'user=%d' % (number * 1000 + i % 50): 1, 'hour': i / batch}} for i in range(batch)])
    single = json.dumps({'x': {'user=%d' % number: 1, 'hour': 0.5}})
    ready.release()
    go.wait()
    done = {'predict': [0, 0.0], 'feedback': [0, 0.0]}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        decisions = ask(connection, PREDICT, body if batch > 1 else single)
        decisions = decisions if batch > 1 else [decisions]
        middle = time.monotonic()
        answers = [{'id': d['id'], 'right': i % 3 == 0} for i, d in enumerate(decisions)]
        told = ask(connection, FEEDBACK, json.dumps(answers if batch > 1 else answers[0]))
        told = told if batch > 1 else [told]
        assert all(t.get('result') == 'learned' for t in told), told[:2]
        done['predict'][0] += batch
        done['predict'][1] += middle - start
        done['feedback'][0] += batch
        done['feedback'][1] += time.monotonic() - middle
    results.put(done)


def cpu_seconds(pid):
    """Of a process so far, which other jobs on the machine do not change much."""
    with open('/proc/%d/stat' % pid) as f:
        fields = f.read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def cpu(cluster, nodes):
    return sum(cpu_seconds(n.process.pid) for n in nodes), sum(cpu_seconds(cluster.pid(i)) for i in (1, 2, 3))


def rates(nodes, clients, batch, seconds):
    """Predictions and durable answers per second of all clients together."""
    ready, go, results = multiprocessing.Semaphore(0), multiprocessing.Event(), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=load, args=(nodes[i % len(nodes)].port, i, batch, seconds, ready, go, results))
               for i in range(clients)]
    for w in workers:
        w.start()
    for _ in workers:
        ready.acquire()
    start = time.monotonic()
    go.set()
    done = [results.get() for _ in workers]
    elapsed = time.monotonic() - start
    for w in workers:
        w.join()
    rounds = sum(d['feedback'][0] for d in done) / elapsed
    predict = sum(d['predict'][0] / d['predict'][1] for d in done)  # as if clients only asked
    feedback = sum(d['feedback'][0] / d['feedback'][1] for d in done)
    wait = sum(d['feedback'][1] for d in done) / max(1, sum(d['feedback'][0] for d in done)) * batch
    return rounds, predict, feedback, wait


def leader_of(cluster, nodes):
    """The broker whose end stops answers; found by trying. Gives the longest silence in seconds."""
    client = Client(nodes[0].port)
    longest = 0.0
    for i in (1, 2, 3):
        cluster.kill(i)
        last, end = time.monotonic(), time.monotonic() + 12
        while time.monotonic() < end:
            reply = client('POST', PREDICT, {'x': {'a': 1}, 'durable': True})
            now = time.monotonic()
            if reply.status == 200:
                longest, last = max(longest, now - last), now
        cluster.revive(i)
        cluster.wait_for(i)
        time.sleep(5)
        nodes[0].until_ready()
    return longest


def catch_up(make, nodes, events):
    """A new node that reads the journal from its beginning, and one that takes a copy: events per second."""
    client = Client(nodes[0].port)
    have = nodes[0].model(MODEL)['seq']
    body = json.dumps([{'x': {'user=%d' % i: 1, 'hour': 0.5}} for i in range(1000)])
    while have < events:
        client('POST', PREDICT, body)
        have = nodes[0].model(MODEL)['seq']
    until(lambda: nodes[0].metric('hunch_lag_events', MODEL) == 0)
    have = nodes[0].model(MODEL)['seq']
    start = time.monotonic()
    node = make('late%d' % len(nodes))
    until(lambda: (node.model(MODEL) or {}).get('seq', 0) >= have, 300)
    return have, time.monotonic() - start, cpu_seconds(node.process.pid), node.seen('copy_taken')


def process(pid):
    """Threads, resident megabytes and open files of a process."""
    with open('/proc/%d/status' % pid) as f:
        told = dict(line.split(':', 1) for line in f)
    return int(told['Threads']), int(told['VmRSS'].split()[0]) / 1024, len(os.listdir('/proc/%d/fd' % pid))


@contextlib.contextmanager
def one_broker(folder):
    cluster = Cluster(os.path.join(folder, 'cluster'), brokers=1, HEAP='2g')
    try:
        yield cluster.start()
    finally:
        cluster.close()


def many_models(folder, n):
    """One node that has n models."""
    def make(number, names):
        client = Client(node.port)
        for name in names[number::4]:
            client.create(name, learner='banditron')

    def rests(what):
        pid = node.process.pid
        time.sleep(5)
        before = cpu_seconds(pid)
        time.sleep(10)
        print('| %s | %d | %d | %.0f | %d | %.1f | %.1f |' % (
            what, n, *process(pid), (cpu_seconds(pid) - before) * 10, seconds), flush=True)

    with one_broker(folder) as cluster:
        node = Node(cluster, folder, 'one', 'bench.', '--max-models', str(n), **ALONE).start()
        start, names = time.monotonic(), ['m%04d' % i for i in range(n)]
        makers = [threading.Thread(target=make, args=(i, names)) for i in range(4)]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.join()
        seconds = time.monotonic() - start
        print('| after | models | threads | MB | files | CPU at rest, % of a core | seconds |\n|---|--:|--:|--:|--:|--:|--:|')
        rests('making them')
        start = time.monotonic()
        assert node.stop() == 0
        stopped = time.monotonic() - start
        start = time.monotonic()
        node.start()
        until(lambda: node.client('GET', '/readyz').status == 200, 600)
        seconds = time.monotonic() - start
        rests('a start')
        for i in (0, n - 1):
            told = node.client.feedback(names[i], id=node.client.predict(names[i], {'a': 1})['id'], right=True)
            assert told.json['result'] == 'learned', told.body
        print('\nStopped in %.1f s.' % stopped)
        node.close()


def apply_alone(folder, events, commands):
    """How much processor time a node takes for each event, start taken off."""
    with one_broker(folder) as cluster:
        first = Node(cluster, folder, 'first', 'bench.', **ALONE).start()
        first.client.create(MODEL, learner='confidit', seed=1)
        while first.model(MODEL)['seq'] < events:
            asked = [{'x': {'user=%d' % (i % 50): 1, 'hour': i / 1000}} for i in range(1000)]
            told = first.client('POST', PREDICT, asked).json
            told = first.client('POST', FEEDBACK, [{'id': d['id'], 'right': i % 3 == 0} for i, d in enumerate(told)]).json
            assert all(t.get('result') == 'learned' for t in told), told[:2]
        have = first.model(MODEL)['seq']
        first.stop()  # so that there is no one to take a copy from
        print('| hunch | events | seconds | CPU s |\n|---|--:|--:|--:|')
        for run in range(4):
            for name in commands:
                conftest._serve.HUNCH = name
                node = Node(cluster, folder, 'n%d%s' % (run, os.path.basename(name)), 'bench.', **ALONE)
                start = time.monotonic()
                node.start(ready=False)
                until(lambda: (node.model(MODEL) or {}).get('seq', 0) >= have, 300)
                print('| %s | %d | %.2f | %.2f |' % (name, have, time.monotonic() - start, cpu_seconds(node.process.pid)),
                      flush=True)
                node.close()


def roles(folder, items):
    """Processor time of each role: the node that is asked, a node that only applies, all brokers together."""
    cluster = Cluster(os.path.join(folder, 'cluster')).start()
    nodes = [Node(cluster, folder, name, 'bench.', hunch_hash_events=100000) for name in ('asked', 'applies')]
    idle = {}

    def spent():
        return [cpu_seconds(n.process.pid) for n in nodes] + [sum(cpu_seconds(cluster.pid(i)) for i in cluster.brokers)]

    def measure(what, batch, n, work):
        before, start = spent(), time.monotonic()
        kept = work()
        until(lambda: all(node.metric('hunch_lag_events', MODEL) == 0 for node in nodes))
        until(lambda: nodes[0].model(MODEL)['seq'] == nodes[1].model(MODEL)['seq'])
        elapsed = time.monotonic() - start
        used = [(b - a - idle.get(k, 0) * elapsed) / n * 1e6 for k, (a, b) in enumerate(zip(before, spent()))]
        print('| %s | %d | %s |' % (what, batch, ' | '.join('%.0f' % u for u in used)), flush=True)
        return kept

    try:
        nodes[0].start().client.create(MODEL, learner='confidit', seed=1)
        nodes[1].start()
        until(lambda: nodes[1].model(MODEL))
        connection = http.client.HTTPConnection('127.0.0.1', nodes[0].port, timeout=60)

        def predict(batch, n):
            asked = [{'x': {'user=%d' % (i % 50): 1, 'hour': i / 1000}} for i in range(batch)]
            replies = [ask(connection, PREDICT, json.dumps(asked if batch > 1 else asked[0])) for _ in range(n // batch)]
            return [[d['id'] for d in (r if batch > 1 else [r])] for r in replies]

        def answer(known):
            for ids in known:
                answers = [{'id': d, 'right': i % 3 == 0} for i, d in enumerate(ids)]
                ask(connection, FEEDBACK, json.dumps(answers if len(ids) > 1 else answers[0]))

        answer(predict(100, items) + predict(1, items // 10))  # the brokers' code is compiled by then
        before = spent()
        time.sleep(10)
        idle.update({k: (b - a) / 10 for k, (a, b) in enumerate(zip(before, spent()))})
        print('At rest, %% of a core: %s.\n' % ', '.join('%.1f' % (100 * idle[k]) for k in sorted(idle)))
        print('| request | items in one | the node asked, us an item | a node that applies | all brokers |\n|---|--:|--:|--:|--:|')
        for batch, n in ((1, items // 4), (100, items * 4)):
            known = measure('predict', batch, n, lambda: predict(batch, n))
            measure('feedback', batch, n, lambda: answer(known))
    finally:
        for node in nodes:
            node.close()
        cluster.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seconds', type=float, default=5)
    parser.add_argument('--events', type=int, default=100000)
    parser.add_argument('--no-kill', action='store_true')
    parser.add_argument('--models', type=int, default=0)
    parser.add_argument('--apply', type=int, default=0)
    parser.add_argument('--roles', type=int, default=0)
    parser.add_argument('--hunch', action='append', help='--apply: of these in turn')
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix='bench-kafka-')
    if options.roles:
        roles(folder, options.roles)
        return
    if options.models or options.apply:
        many_models(folder, options.models) if options.models else apply_alone(folder, options.apply,
                                                                                options.hunch or [conftest.HUNCH])
        return
    cluster = Cluster(os.path.join(folder, 'cluster')).start()
    nodes = []
    try:
        def make(name):
            nodes.append(Node(cluster, folder, name, 'bench.', hunch_hash_events=100000).start())
            return nodes[-1]
        make('one').client.create(MODEL, learner='confidit', seed=1)
        print('| nodes | clients | items a request | rounds/s | predictions/s while predicting | answers/s while answering | '
              'an answer waits, ms | CPU of all nodes, us a round | of all brokers |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|')
        for n in (1, 2, 3):
            while len(nodes) < n:
                make('node%d' % len(nodes))
            for node in nodes:
                until(lambda: node.model(MODEL))
            for clients, batch in ((6, 1), (6, 100)):
                before, events = cpu(cluster, nodes), nodes[0].model(MODEL)['feedback']
                rounds, predict, feedback, wait = rates(nodes, clients, batch, options.seconds)
                after, events = cpu(cluster, nodes), nodes[0].model(MODEL)['feedback'] - events
                print('| %d | %d | %d | %.0f | %.0f | %.0f | %.1f | %.0f | %.0f |' % (
                    n, clients, batch, rounds, predict, feedback, wait * 1e3, (after[0] - before[0]) / events * 1e6,
                    (after[1] - before[1]) / events * 1e6), flush=True)
        assert len(set(until_equal(nodes, MODEL, 120))) == 1
        for most in (0, options.events):
            events, seconds, used, copied = catch_up(make, nodes, most)
            print('\nA new node had %d events after %.1f s and %.2f s of CPU (%s).' % (
                events, seconds, used, "another node's copy" if copied else 'from the journal'), flush=True)
        if not options.no_kill:
            print('Longest silence when each broker was killed in turn: %.1f s.' % leader_of(cluster, nodes))
    finally:
        for node in nodes:
            node.close()
        cluster.close()


if __name__ == '__main__':
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main()
