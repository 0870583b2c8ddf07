#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether anything holds up the event loops, on loopback:

    bench/bench_serve_latency.py build/cli/hunch [--megabytes 500] [--seconds 10]

Latencies of /healthz over eight connections (median, 99 %, largest): alone; while two clients read a model of n
megabytes slowly, and leave; while snapshots of it are written, with predictions meanwhile; while log.db is locked from
outside, with answers and predictions meanwhile. Beside each the latencies of an echo between two processes at the same time: what
the machine itself takes, which others may keep busy."""
import argparse
import json
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection

from bench_serve_models import Server, spread


def echo(stop, times):
    """Latencies between this process and another."""
    with subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as cat:
        while not stop.is_set():
            start = time.monotonic()
            cat.stdin.write(b'x')
            cat.stdout.read(1)
            times.append((time.monotonic() - start) * 1e3)
            time.sleep(0.005)


def ask_often(port, method, path, body, stop, times):
    connection = HTTPConnection('127.0.0.1', port, timeout=60)
    while not stop.is_set():
        start = time.monotonic()
        connection.request(method, path, body)
        connection.getresponse().read()
        times.append((time.monotonic() - start) * 1e3)
        time.sleep(0.005)


def during(what, port, work, asked=None):
    """Runs the work; prints the latencies meanwhile. asked: requests, besides."""
    stop, health, machine, others = threading.Event(), [], [], []
    threads = [threading.Thread(target=ask_often, args=(port, 'GET', '/healthz', None, stop, health)) for _ in range(8)]
    threads += [threading.Thread(target=ask_often, args=(port, 'POST', *a, stop, others)) for a in asked or ()]
    threads.append(threading.Thread(target=echo, args=(stop, machine)))
    [t.start() for t in threads]
    work()
    stop.set()
    [t.join() for t in threads]
    print('%-42s healthz %-22s echo %-22s%s' % (what, spread(sorted(health), (0.5, 0.99, 1)), spread(sorted(machine), (0.5, 0.99, 1)),
                                               ' requests ' + spread(sorted(others), (0.5, 0.99, 1)) if others else ''), flush=True)


def lock(path):
    db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    db.execute('BEGIN EXCLUSIVE')
    return db


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('hunch')
    p.add_argument('--megabytes', type=int, default=500)
    p.add_argument('--seconds', type=int, default=10)
    a = p.parse_args()
    folder = tempfile.mkdtemp(prefix='hunch-latency-')
    server = Server(a.hunch, folder, [])
    port, features = server.connection.port, a.megabytes * 1000000 // (4 * 32)
    try:
        server('PUT', '/v1/models/large', {'labels': ['l%d' % i for i in range(32)], 'features': 'indexed', 'seed': 1,
                                           'max_features': features, 'learner': 'banditron'})
        server('POST', '/v1/models/large/teach', {'x': [[0, 1], [features - 1, 1]], 'label': 'l0'})
        server('PUT', '/v1/models/small', {'labels': ['a', 'b'], 'learner': 'banditron'})
        during('alone', port, lambda: time.sleep(a.seconds))
        slow = ['curl', '-s', '-o', '/dev/null', '--limit-rate', '500K', '-m', str(a.seconds + 5),
                'http://127.0.0.1:%d/v1/models/large/snapshot' % port]

        def read_slowly():
            [c.wait() for c in [subprocess.Popen(slow) for _ in range(2)]]
            time.sleep(1)
        during('%d MB read slowly by two, who leave' % a.megabytes, port, read_slowly)
        predict = [('/v1/models/large/predict', json.dumps({'x': [[1, 1]]}))]
        during('three snapshots of %d MB' % a.megabytes, port,
               lambda: [server('POST', '/v1/models/large/snapshot') for _ in range(3)], predict)
        ids = [server('POST', '/v1/models/small/predict', {'x': {'a': 1}, 'durable': True})['id'] for _ in range(8)]
        db = lock(folder + '/models/small/log.db')  # before the answers come: each waits for it, while predictions go on
        during('log.db locked', port, lambda: (time.sleep(a.seconds), db.execute('ROLLBACK'), db.close()),
               [('/v1/models/small/feedback', json.dumps({'id': i, 'right': True})) for i in ids] +
               [('/v1/models/small/predict', json.dumps({'x': {'a': 1}}))])
        server.stop()
    finally:
        server.process.kill()
        shutil.rmtree(folder)


if __name__ == '__main__':
    sys.exit(main())
