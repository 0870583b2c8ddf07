#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The server under load, on loopback, with wrk and 64 connections:

    bench/bench_serve.py build/cli/hunch [--seconds 5] [--requests 1000000]

Prints one table: /healthz (what the HTTP library can do), predictions, durable feedback one by one and in batches,
against a bare SQLite loop that commits groups of rows to the same disk; then memory over many requests.

Feedback is measured with the default learner, which with some 1,040 features keeps diagonals: learning takes less than a
microsecond and what is measured is the server. Once more with full matrices of as many features, where learning takes
longer than all the rest, as it would without a server: that row tells what such a model costs."""
import argparse
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

CONNECTIONS = 64
LEARNERS = (('plain', 'confident', (1, 100)), ('full', 'confident:matrix=full', (1,)))
PREDICT = '''
wrk.method, wrk.path = "POST", "/v1/models/plain/predict"
local n = 0
request = function()
  n = n + 1
  return wrk.format(nil, nil, nil, '{"x":{"user=' .. (n % 1000) .. '":1,"hour":0.7,"topic=' .. (n % 37) .. '":1,"age":0.31,"phone":1}}')
end
'''
FEEDBACK = '''
wrk.method, wrk.path = "POST", "/v1/models/%s/feedback"
local bodies, n = {}, 0
for line in io.lines("%s") do bodies[#bodies + 1] = line:gsub("@", "\\n") end
if %d > 1 then wrk.headers["Content-Type"] = "application/x-ndjson" end
request = function() n = n %% #bodies + 1; return wrk.format(nil, nil, nil, bodies[n]) end
'''


class Busy(Exception):
    pass


class Server:
    def __init__(self, hunch, folder):
        self.process = subprocess.Popen([hunch, 'serve', '--dir', folder + '/state', '--listen', '127.0.0.1:0'],
                                        stderr=subprocess.PIPE)
        while True:
            event = json.loads(self.process.stderr.readline())
            if event['event'] == 'listening':
                break
        self.port, self.folder = event['port'], folder
        self.events = subprocess.Popen(['cat'], stdin=self.process.stderr, stdout=subprocess.DEVNULL)
        self.connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)

    def ask(self, method, path, body=None, headers=None):
        self.connection.request(method, path, body if isinstance(body, (str, type(None))) else json.dumps(body), headers or {})
        reply = self.connection.getresponse()
        data = reply.read()
        if reply.status == 503:
            raise Busy(data)
        assert reply.status < 300, data
        return data

    def metric(self, name):
        text = self.ask('GET', '/metrics').decode()
        return sum(float(v) for v in re.findall(r'^%s(?:\{[^}]*\})? (\S+)$' % name, text, re.M))

    def resident(self):
        with open('/proc/%d/status' % self.process.pid) as f:
            return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1)) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(120)
        self.events.wait()
        assert code == 0, code


def wrk(server, seconds, script=None, path='/'):
    command = ['wrk', '-t1', '-c%d' % CONNECTIONS, '-d%ds' % max(1, round(seconds)), '--latency', '--timeout', '60s']
    if script:
        name = server.folder + '/script.lua'
        with open(name, 'w') as f:
            f.write(script)
        command += ['-s', name]
    out = subprocess.run(command + ['http://127.0.0.1:%d%s' % (server.port, path)], stdout=subprocess.PIPE, check=True).stdout.decode()
    bad = re.search(r'Non-2xx or 3xx responses: (\d+)', out)
    p50, p99 = (re.search(r'^\s+%s%%\s+(\S+)' % p, out, re.M).group(1) for p in (50, 99))
    return {'rate': float(re.search(r'Requests/sec:\s+(\S+)', out).group(1)), 'p50': p50, 'p99': p99,
            'requests': int(re.search(r'(\d+) requests in', out).group(1)), 'bad': int(bad.group(1)) if bad else 0}


def decisions(server, model, n):
    """Makes n decisions; gives back their ids."""
    ids = []
    batch = ''.join('{"x":{"user=%d":1,"hour":0.7,"topic=%d":1,"age":0.31,"phone":1}}\n' % (i, i % 37) for i in range(1000))
    while len(ids) < n:
        try:
            reply = server.ask('POST', '/v1/models/%s/predict' % model, batch, {'Content-Type': 'application/x-ndjson'})
        except Busy:
            time.sleep(0.1)
            continue
        ids += re.findall(rb'"id":"([^"]+)"', reply)
    return [i.decode() for i in ids[:n]]


def feedback(server, model, seconds, ids, group):
    """Feedback by wrk, `group` to a request; rows that reached the disk per second, counted by the server."""
    name = server.folder + '/bodies'
    with open(name, 'w') as f:
        for i in range(0, len(ids), group):
            f.write('@'.join('{"id":"%s","right":%s}' % (x, 'true' if hash(x) % 3 else 'false') for x in ids[i:i + group]) + '\n')
    time.sleep(0.2)  # the decisions are on disk
    events, commits = server.metric('hunch_committed_events_total'), server.metric('hunch_commits_total')
    result = wrk(server, seconds, FEEDBACK % (model, name, group))
    events, commits = server.metric('hunch_committed_events_total') - events, server.metric('hunch_commits_total') - commits
    # What was under way when wrk stopped is not counted, nor the time that wrk takes to read its script.
    done = min(events, result['requests'] * group)
    result.update(rows=result['rate'] * done / max(1, result['requests']), per_commit=events / max(1, commits), used=events / len(ids))
    return result


def bare(folder, seconds, group):
    """The same rows in groups of one commit each, by SQLite alone: WAL, full synchronisation."""
    path = tempfile.mkdtemp(dir=folder) + '/bare.db'
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2000;'
                     'CREATE TABLE feedback(seq INTEGER PRIMARY KEY, decision INTEGER NOT NULL UNIQUE, time_ms INTEGER NOT NULL,'
                     ' was_right INTEGER NOT NULL, true_label INTEGER);')
    n, end, start = 0, time.monotonic() + seconds, time.monotonic()
    while time.monotonic() < end:
        rows = [(2 * i + 1, 2 * i, 1700000000000 + i, i & 1, None) for i in range(n, n + group)]
        db.execute('BEGIN IMMEDIATE')
        db.executemany('INSERT INTO feedback VALUES(?, ?, ?, ?, ?)', rows)
        db.execute('COMMIT')
        n += group
    rate = n / (time.monotonic() - start)
    db.close()
    return rate


def memory(server, requests):
    """Resident memory after every tenth of n predictions and as many feedbacks."""
    sizes, per = [], requests // 10
    for _ in range(10):
        left = per // 2
        while left > 0:
            ids = decisions(server, 'plain', 1000)
            body = ''.join('{"id":"%s","right":true}\n' % i for i in ids)
            server.ask('POST', '/v1/models/plain/feedback', body, {'Content-Type': 'application/x-ndjson'})
            left -= 1000
        sizes.append(server.resident())
    return sizes


def print_feedback(server, model, seconds, group, exchanges):
    ids = decisions(server, model, (60000 if group == 1 else 600000) * max(1, seconds))
    f = feedback(server, model, seconds, ids, group)
    print('%-34s %10.0f %9s %9s   %.0f rows per commit, %d refused%s%s' %
          ('one by one' if group == 1 else 'in batches of %d (x-ndjson)' % group, f['rows'], f['p50'], f['p99'], f['per_commit'], f['bad'],
           ', %.2f x predict' % (f['rate'] / exchanges) if group == 1 else '', '' if f['used'] < 1 else ', ran out of ids'))
    for rows in (CONNECTIONS, max(1, round(f['per_commit']))):
        alone = bare(server.folder, seconds, rows)
        print('%-34s %10.0f %21s feedback is %.2f x that' % ('  bare SQLite, %d rows per commit' % rows, alone, '', f['rows'] / alone))


def rates(server, seconds):
    wrk(server, 1, path='/healthz')  # warm
    health = wrk(server, seconds, path='/healthz')
    predict = wrk(server, seconds, PREDICT)
    print('%-34s %10s %9s %9s' % ('64 connections, loopback', 'requests/s', 'p50', 'p99'))
    print('%-34s %10.0f %9s %9s' % ('GET /healthz', health['rate'], health['p50'], health['p99']))
    print('%-34s %10.0f %9s %9s   %.2f x healthz, %d refused' % ('predict', predict['rate'], predict['p50'], predict['p99'],
                                                                predict['rate'] / health['rate'], predict['bad']))
    for model, learner, groups in LEARNERS:
        print('%-34s' % ('durable feedback, ' + learner))
        for group in groups:
            print_feedback(server, model, seconds, group, predict['rate'])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('hunch')
    parser.add_argument('--seconds', type=int, default=5, help='of each rate; 0: only memory')
    parser.add_argument('--requests', type=int, default=1000000)
    parser.add_argument('--folder', help='on the disk to be measured; default: the temporary folder')
    args = parser.parse_args()
    if not shutil.which('wrk'):
        sys.exit('wrk is needed (package wrk)')
    folder = tempfile.mkdtemp(prefix='hunch-bench-', dir=args.folder)
    server = Server(os.path.abspath(args.hunch), folder)
    try:
        for model, learner, _ in LEARNERS:
            server.ask('PUT', '/v1/models/' + model, {'labels': ['sports', 'politics', 'tech'], 'seed': 1, 'learner': learner})
        if args.seconds:
            rates(server, args.seconds)
        sizes = memory(server, args.requests)
        print('memory over %d predictions and answers, MB: %s' % (args.requests, ' '.join('%.0f' % s for s in sizes)))
    finally:
        server.stop()
        shutil.rmtree(folder)


if __name__ == '__main__':
    main()
