#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many small models on one server, on loopback:

    bench/bench_serve_models.py build/cli/hunch [--models 2500] [--rounds 4] [-- OPTIONS OF SERVE]

Makes some models, lets them live some rounds, puts copies of their folders beside them, and starts the server again: time
until it listens; memory and threads then, when all models that fit are in memory, and after many have been used; how long a
prediction and its durable answer took for models in random order (median, 99 %, 99.9 %)."""
import argparse
import http.client
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time


class Server:
    def __init__(self, hunch, folder, more):
        start = time.monotonic()
        self.process = subprocess.Popen([hunch, 'serve', '--dir', folder, '--listen', '127.0.0.1:0', *more],
                                        stderr=subprocess.PIPE)
        event = {'event': ''}
        while event['event'] != 'listening':
            event = json.loads(self.process.stderr.readline())
        self.seconds = time.monotonic() - start
        self.events = subprocess.Popen(['cat'], stdin=self.process.stderr, stdout=subprocess.DEVNULL)
        self.connection = http.client.HTTPConnection('127.0.0.1', event['port'], timeout=600)

    def __call__(self, method, path, body=None, good=(200, 201)):
        self.connection.request(method, path, json.dumps(body) if body is not None else None)
        reply = self.connection.getresponse()
        text = reply.read()
        assert reply.status in good, (reply.status, text[:300])
        return json.loads(text) if text[:1] in b'{[' else text

    def status(self, name):
        with open('/proc/%d/status' % self.process.pid) as f:
            return int(next(line.split()[1] for line in f if line.startswith(name + ':')))

    def stop(self):
        start = time.monotonic()
        self.process.terminate()
        code = self.process.wait(600)
        self.events.wait()
        assert code == 0, code
        return time.monotonic() - start


def row(what, server, **more):
    print('%-38s %8.0f MB %5d threads  %s' % (what, server.status('VmRSS') / 1024, server.status('Threads'),
                                              '  '.join('%s %s' % pair for pair in more.items())), flush=True)


def touch(server, names, rounds, chance):
    """One prediction and its durable answer per model and round; milliseconds of each pair."""
    times = []
    for _ in range(rounds):
        for name in names:
            start = time.monotonic()
            x = {'user=%d' % chance.randrange(20): 1, 'hour': chance.random()}
            d = server('POST', '/v1/models/%s/predict' % name, {'x': x})
            server('POST', '/v1/models/%s/feedback' % name, {'id': d['id'], 'right': chance.random() < 0.5})
            times.append((time.monotonic() - start) * 1e3)
    return sorted(times)


def spread(times, shares=(0.5, 0.99, 0.999)):
    return ' / '.join('%.1f' % times[min(int(len(times) * q), len(times) - 1)] for q in shares) + ' ms'


def copies(folder, names, made):
    for i, name in enumerate(names[made:]):
        shutil.copytree('%s/models/%s' % (folder, names[i % made]), '%s/models/%s' % (folder, name))


def settled(server):
    """All that fit are in memory: how many."""
    before = -1
    while True:
        text = server('GET', '/metrics').decode()
        now = int(re.search(r'hunch_models{where="memory"} (\d+)', text)[1])
        if now == before:
            return now
        before = now
        time.sleep(2)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('hunch')
    p.add_argument('--models', type=int, default=2500)
    p.add_argument('--made', type=int, default=50, help='models that are made by requests; the others are copies')
    p.add_argument('--rounds', type=int, default=4)
    p.add_argument('--touch', type=int, default=2500, help='models that are used after the start')
    p.add_argument('--learner', default='confident', help='of every model')
    p.add_argument('serve', nargs='*', help='options of hunch serve')
    a = p.parse_args()
    folder = tempfile.mkdtemp(prefix='hunch-models-')
    chance = random.Random(1)
    names = ['m%06d' % i for i in range(a.models)]
    made = min(a.made, a.models)
    options = ['--max-models', str(a.models), *a.serve]
    try:
        server = Server(a.hunch, folder, options)
        row('empty', server)
        start = time.monotonic()
        for name in names[:made]:
            server('PUT', '/v1/models/' + name, {'labels': ['sports', 'politics', 'tech'], 'seed': 1, 'learner': a.learner})
        row('%d models made' % made, server, each='%.1f ms' % ((time.monotonic() - start) / made * 1e3))
        touch(server, names[:made], a.rounds, chance)
        server.stop()
        copies(folder, names, made)
        server = Server(a.hunch, folder, options)
        row('%d models, listens after %.2f s' % (a.models, server.seconds), server)
        row('%d of them in memory' % settled(server), server)
        some = chance.sample(names, min(a.touch, len(names)))
        row('%d models used' % len(some), server, pair=spread(touch(server, some, 1, chance)))
        row('%d in memory, the same again' % settled(server), server, pair=spread(touch(server, some, 1, chance)))
        print('stopped in %.1f s' % server.stop())
    finally:
        shutil.rmtree(folder)


if __name__ == '__main__':
    sys.exit(main())
