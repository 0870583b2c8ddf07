# SPDX-License-Identifier: BSD-3-Clause
"""What operators see: metrics, events, signals, snapshots, start and stop."""
import re
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

from conftest import HUNCH, PATIENCE, Client, until, verify


def metrics(client):
    """Parses strictly: every sample belongs to a declared metric, histograms rise."""
    reply = client('GET', '/metrics')
    assert reply.status == 200 and reply.headers['Content-Type'].startswith('text/plain; version=0.0.4')
    types, samples = {}, {}
    for line in reply.body.decode().splitlines():
        if line.startswith('# TYPE'):
            _, _, name, kind = line.split()
            assert name not in types
            types[name] = kind
        elif not line.startswith('#'):
            match = re.fullmatch(r'([a-z_]+)(?:\{((?:[a-z]+="[^"]*",?)*)\})? (\S+)', line)
            assert match, line
            name, labels, value = match.groups()
            base = re.sub(r'_(bucket|sum|count)$', '', name)
            assert name in types or types.get(base) == 'histogram', line
            assert (name, labels) not in samples
            samples[name, labels] = float(value)
    return samples


def test_metrics(client):
    before = metrics(client)
    client.create('m', learner='banditron:gamma=0.5')
    for i in range(40):
        d = client.predict('m', {'a': 1})
        if i < 30:
            client.feedback('m', id=d['id'], right=i % 3 == 0)
    client.feedback('m', id='nope', right=True)
    s = metrics(client)
    m = 'model="m"'
    assert s['hunch_decisions_total', m] == 40 and s['hunch_pending', m] == 10
    assert s['hunch_feedback_total', m + ',answer="right"'] == 10
    assert s['hunch_feedback_total', m + ',answer="wrong"'] == 20
    assert abs(s['hunch_error_rate', m] - 2 / 3) < 1e-9
    assert 0 < s['hunch_exploration_share', m] < 1
    for key, more in {('hunch_requests_total', 'endpoint="predict",code="200"'): 40,
                      ('hunch_requests_total', 'endpoint="feedback",code="404"'): 1,
                      ('hunch_request_seconds_count', 'endpoint="predict"'): 40,
                      ('hunch_request_seconds_bucket', 'endpoint="predict",le="+Inf"'): 40}.items():
        assert s[key] - before.get(key, 0) == more
    assert s['hunch_commit_seconds_count', None] > 0 and s['hunch_log_bytes', m] > 0
    assert s['hunch_feedback_delay_seconds_count', m] == 30
    for name in ('hunch_expired_total', 'hunch_snapshot_age_seconds', 'hunch_queue_events', 'hunch_storage_failing'):
        assert (name, m) in s


def test_libraries_with_known_defects_are_named(server):
    """In the log, in /readyz and in /metrics; which ones depends on the machine, that all say the same does not."""
    number = tuple(int(n) for n in sqlite3.sqlite_version.split('.'))
    old = number < (3, 51, 3) and not (3, 50, 7) <= number < (3, 51) and not (3, 44, 6) <= number < (3, 45)
    told = {(e['library'], e['version'], e['fixed']) for e in server.events if e['event'] == 'library_defect'}
    asked = {(d['library'], d['version'], d['fixed']) for d in server.client('GET', '/readyz').json['library_defects']}
    flags = {labels: value for (name, labels), value in metrics(server.client).items() if name == 'hunch_library_defect'}
    assert told == asked == {tuple(re.findall('"([^"]*)"', labels)) for labels, value in flags.items() if value}
    assert len(flags) == 2
    ours = [labels for labels in flags if 'library="sqlite"' in labels][0]
    if '"%s"' % sqlite3.sqlite_version in ours:  # Python's is the server's
        assert flags[ours] == old


def test_stats_survive_a_restart(server):
    server.client.create('m')
    for i in range(20):
        d = server.client.predict('m', {'a': 1})
        server.client.feedback('m', id=d['id'], right=i % 2 == 0)
    before = server.client('GET', '/v1/models/m/stats').json
    server.kill()
    after = server.start().client('GET', '/v1/models/m/stats').json
    total = lambda stats, what: sum(s[what] for s in stats['slices'])
    for what in ('decisions', 'explored', 'answers', 'wrong'):
        assert total(before, what) == total(after, what)
    for what in ('labels', 'delays'):
        assert before[what] == after[what]
    assert before['model']['error_rate'] == after['model']['error_rate'] == 0.5


def test_term_drains_and_snapshots(server):
    client = server.client
    client.create('m')
    for i in range(50):
        client.predict('m', {'a': i})
    body = client('GET', '/v1/models/m/snapshot').body
    errors, answers = [], []

    def go_on():
        c = Client(server.port)
        try:
            while True:
                d = c.predict('m', {'a': 1})
                reply = c.feedback('m', id=d['id'], right=True)
                (answers if reply.status == 200 else errors).append(d['id'])
        except Exception:
            pass
    threads = [threading.Thread(target=go_on) for _ in range(4)]
    [t.start() for t in threads]
    until(lambda: len(answers) > 50)
    assert server.stop() == 0
    [t.join() for t in threads]
    assert server.event('stopped')['all_on_disk'] is True and server.seen('snapshot')
    with closing(sqlite3.connect(server.folder + '/models/m/log.db')) as db:
        logged = {row[0] for row in db.execute('SELECT id FROM log WHERE was_right = 1')}
    assert set(answers) <= logged and answers
    server.start()
    assert server.event('model_open')['replayed'] == 0  # the snapshot has it all
    assert len(server.client('GET', '/v1/models/m/snapshot').body) >= len(body) - 100


def test_snapshots_come_by_themselves(make_server):
    server = make_server('--snapshot-events', '10')
    server.client.create('m')
    for i in range(30):
        server.client.predict('m', {'a': i})
    server.wait_for('snapshot')
    timed = make_server('--snapshot-seconds', '1', folder=server.folder + '2')
    timed.client.create('m')
    timed.client.predict('m', {})
    timed.wait_for('snapshot')
    until(lambda: timed.client('GET', '/v1/models/m').json['snapshot_seq'] == 1)


def test_the_log_answers_questions(server):
    """What docs/how-to/serve.md tells people to ask of log.db, and what off-policy evaluation needs."""
    client = server.client
    client.create('m', learner='banditron:gamma=0.3')
    for i in range(30):
        d = client.predict('m', {'a': 1})
        client.feedback('m', id=d['id'], right=d['label'] == 'tech')
    with closing(sqlite3.connect('file:%s/models/m/log.db?mode=ro' % server.folder, uri=True)) as db:
        assert db.execute('PRAGMA journal_mode').fetchone() == ('wal',)
        columns = [c[0] for c in db.execute('SELECT * FROM log LIMIT 1').description]
        assert columns == ['id', 'seq', 'time_ms', 'x', 'label', 'greedy', 'probability', 'round', 'note', 'seen', 'hunch',
                           'learner', 'was_right', 'true_label', 'silent', 'eligible', 'chosen_by', 'model_probability', 'deferred',
                           'activated_ms', 'feedback_time_ms', 'delay_ms', 'feedback_seq']
        ips = db.execute("SELECT avg((label = 'tech') * was_right / probability) FROM log").fetchone()[0]
        assert ips > 0
        assert db.execute('SELECT count(*) FROM log WHERE delay_ms < 0 OR learner NOT LIKE "banditron:%"').fetchone() == (0,)


def test_command_line():
    def run(*arguments):
        done = subprocess.run([HUNCH, 'serve'] + list(arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        return done.returncode, done.stdout.decode(), done.stderr.decode()
    code, out, _ = run('--help')
    assert code == 0 and '--listen' in out and 'predict' in out
    for bad in (('--nonsense',), ('extra',), ('--threads', 'x'), ('--keep-days', '-1'), ('--max-body',)):
        assert run(*bad)[0] == 1, bad
    code, _, err = run('--dir', '/nonexistent/folder/here')
    assert code == 2 and 'nonexistent' in err
    assert run('--dir', '/dev/null')[0] == 2


def test_bad_addresses(tmp_path):
    for listen in ('nonsense', '127.0.0.1', '127.0.0.1:', '127.0.0.1:99999', '[::1', 'no.such.host.invalid:1'):
        done = subprocess.run([HUNCH, 'serve', '--dir', str(tmp_path / 's'), '--listen', listen], stderr=subprocess.PIPE,
                              timeout=PATIENCE)
        assert done.returncode in (1, 3), listen


def test_address_in_use(server, tmp_path):
    done = subprocess.run([HUNCH, 'serve', '--dir', str(tmp_path / 'other'), '--listen', '127.0.0.1:%d' % server.port],
                          stderr=subprocess.PIPE, timeout=PATIENCE)
    assert done.returncode == 3 and b'listen' in done.stderr


def test_models_come_and_go_under_load(server):
    """Creation and deletion while others predict: no request fails for a reason of its own."""
    server.client.create('steady')
    stop, bad = threading.Event(), []

    def use():
        c = Client(server.port)
        while not stop.is_set():
            d = c.predict('steady', {'a': 1})
            if c.feedback('steady', id=d['id'], right=True).status != 200:
                bad.append(d)
            reply = c('POST', '/v1/models/fleeting/predict', {'x': {'a': 1}})
            if reply.status not in (200, 404):
                bad.append(reply.body)
            elif reply.status == 200 and c.feedback('fleeting', id=reply.json['id'], right=True).status not in (200, 404):
                bad.append(reply.body)
    threads = [threading.Thread(target=use) for _ in range(3)]
    [t.start() for t in threads]
    for _ in range(15):
        server.client.create('fleeting')
        time.sleep(0.02)
        assert server.client('DELETE', '/v1/models/fleeting').status == 200
    stop.set()
    [t.join() for t in threads]
    assert not bad
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and [m['model'] for m in models] == ['steady']


def test_int_stops_too(server):
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(60) == 0


def test_verify_makes_nothing(tmp_path):
    typo = tmp_path / 'typo'
    code, lines = verify(typo)
    assert code != 0 and lines == [] and not typo.exists()
    typo.mkdir()
    code, lines = verify(typo)  # some folder, not a state folder
    assert code != 0 and lines == []
