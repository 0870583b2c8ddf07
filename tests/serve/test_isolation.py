# SPDX-License-Identifier: BSD-3-Clause
"""No request holds up the others; HTTP is read in one way only; systemd gets what it asks for."""
import json
import os
import socket
import sqlite3
import ssl
import subprocess
import threading
import time
from contextlib import closing

import pytest
from conftest import HUNCH, PATIENCE, Client, send_raw as raw


def answered_meanwhile(port, waiting, requests=20):
    """Requests are answered while another one is not: whatever the machine's speed, waiting() holds before and after."""
    client = Client(port)
    for _ in range(requests):
        assert waiting()
        assert client('GET', '/healthz').status == 200
    assert waiting()


@pytest.fixture
def large(make_server):
    """A model of some 100 MB."""
    server = make_server('--threads', '1')
    server.client.create('m', features='indexed', max_features=1 << 22, learner='banditron:gamma=0.1',
                         labels=['a', 'b', 'c', 'd', 'e', 'f'])
    reply = server.client('POST', '/v1/models/m/teach', {'x': [[0, 1], [(1 << 22) - 1, 1]], 'label': 'a'})
    assert reply.status == 200, reply.body
    return server


def test_a_slow_reader_of_a_large_answer(large):
    slow = socket.create_connection(('127.0.0.1', large.port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.sendall(b'GET /v1/models/m/snapshot HTTP/1.1\r\nHost: localhost\r\n\r\n')
    got = slow.recv(1000)
    assert got.startswith(b'HTTP/1.1 200')

    def more():  # a little at a time
        return len(slow.recv(1000)) > 0
    answered_meanwhile(large.port, more)
    slow.close()


def test_a_snapshot_of_a_large_model(large):
    """Several predictions in succession are answered while one snapshot is written."""
    client, others, meanwhile = large.client, Client(large.port), 0
    end = time.monotonic() + PATIENCE
    while meanwhile < 5:
        assert time.monotonic() < end, 'predictions wait for a snapshot'
        done, meanwhile = threading.Event(), 0

        def snapshot():
            assert client('POST', '/v1/models/m/snapshot').status == 200
            done.set()
        thread = threading.Thread(target=snapshot)
        thread.start()
        while not done.is_set():
            assert others('POST', '/v1/models/m/predict', {'x': [[meanwhile, 1]]}).status == 200
            meanwhile += not done.is_set()
        thread.join()
        client('POST', '/v1/models/m/teach', {'x': [[1, 1]], 'label': 'b'})
    large.kill()
    large.start()
    assert large.event('model_open')['snapshot_seq'] > 0 and large.event('model_open')['damaged_snapshots'] == 0


def test_a_large_model_has_large_pages(large):
    """So that the fork for its snapshot copies few page tables, while every other thread's page faults wait. They are asked for
    (the flag hg): whether the system has some left is its own affair."""
    enabled = '/sys/kernel/mm/transparent_hugepage/enabled'
    if not os.access(enabled, os.R_OK) or '[never]' in open(enabled).read():
        pytest.skip('the system has no large pages')
    size = asked = 0
    with open('/proc/%d/smaps' % large.process.pid) as f:
        for line in f:
            if line.startswith('Size:'):
                size = int(line.split()[1])
            elif line.startswith('VmFlags:') and ' hg' in line:
                asked += size
    assert asked > 10000


def test_a_log_that_someone_has_locked(make_server):
    server = make_server('--threads', '1', '--max-queue', '8', '--max-batch', '8')
    client = server.client
    client.create('m')
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(1100)]
    with closing(sqlite3.connect(server.folder + '/models/m/log.db', timeout=5)) as db:
        db.execute('BEGIN EXCLUSIVE')
        done = []

        def ask():
            c = Client(server.port)
            done.append(c.feedback('m', id=ids[0], right=True).status)
        thread = threading.Thread(target=ask)
        thread.start()
        answered_meanwhile(server.port, lambda: not done, 500)
        db.execute('ROLLBACK')
    thread.join()
    assert done == [200]


def test_the_cost_of_a_request_has_a_limit(make_server):
    client = make_server('--max-scores', '1000').client
    client.create('m', labels=['l%d' % i for i in range(300)])
    rows = client('POST', '/v1/models/m/scores', [{'x': {'a': 1}}] * 5).json
    assert [r.get('status') for r in rows] == [None, None, None, 413, 413]
    assert client('POST', '/v1/models/m/predict', {'x': {'a': 1}, 'scores': True}).status == 200


# --- HTTP ---

FRAMED_TWICE = [
    b'Content-Length: 5\r\nContent-Length: 5', b'Content-Length: 5\r\nContent-Length: 9', b'Content-Length: 5\r\nHost: localhost',
    b'Content-Length: 5\r\nTransfer-Encoding: chunked', b'Transfer-Encoding: chunked\r\ncontent-length: 5',
    b'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', b'Transfer-Encoding: gzip, chunked', b'Transfer-Encoding: identity',
    b'Content-Length : 5', b'Content-Length\t: 5', b'Content-Length:\r\n 5', b'Content-Length: 5\r\n 0', b'Transfer-Encoding:\r\n\tchunked',
    b'X-A: b\r\n Content-Length: 5', b'X(: 1', b'X\xe4: 1', b'X: a\x01b', b'X: a\rContent-Length: 5', b'X: \x7f']


@pytest.mark.parametrize('fields', FRAMED_TWICE)
def test_two_ends_of_a_request(server, fields):
    """What a proxy may read otherwise than we do is refused, and nothing behind it is taken for a request."""
    server.client.create('m')
    answer, closed = raw(server.port, b'POST /v1/models/m/predict HTTP/1.1\r\nHost: localhost\r\n' + fields +
                         b'\r\n\r\n{"x":GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert answer.startswith(b'HTTP/1.1 400') and closed and answer.count(b'HTTP/1.1') == 1
    assert json.loads(answer.split(b'\r\n\r\n')[1])['error']['code'] == 'bad_framing'


@pytest.mark.parametrize('head', [b'GET /a b HTTP/1.1\r\nHost: localhost', b'GET /a\tb HTTP/1.1\r\nHost: localhost',
                                  b'GET /a\x7f HTTP/1.1\r\nHost: localhost', b'G@T / HTTP/1.1\r\nHost: localhost',
                                  b'GET / HTTP/1.1', b'GET / HTTP/1.1\r\nHost:\r\n localhost'])
def test_heads_that_we_refuse(server, head):
    answer, closed = raw(server.port, head + b'\r\n\r\n')
    fields, body = answer.split(b'\r\n\r\n')
    assert fields.startswith(b'HTTP/1.1 400') and b'application/json' in fields and closed
    assert json.loads(body)['error']['code'] == 'bad_framing'


PREDICT = b'POST /v1/models/m/predict HTTP/1.1\r\nHost: localhost\r\n'


@pytest.mark.parametrize('text,status', [
    (b'GARBAGE\r\n\r\n', b''), (b'GET /healthz\r\n\r\n', b'400'), (b'GET / HTTX/1.1\r\n\r\n', b'400'),
    (b'GET / HTTP/2.0\r\n\r\n', b'505'), (b'GET / HTTP/0.9\r\n\r\n', b'505'), (PREDICT + b'nonsense\r\n\r\n', b'400'),
    (PREDICT + b'Content-Length: -5\r\n\r\n', b'400'), (PREDICT + b'Content-Length: 5, 5\r\n\r\n', b'400'),
    (PREDICT + b'Content-Length: 99999999999999999999\r\n\r\n', b'413'),
    (PREDICT + b'Transfer-Encoding: chunked\r\n\r\nzz\r\n', b'400'),
    (PREDICT + b'Transfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n', b'400')])
def test_heads_that_the_library_refuses(server, text, status):
    """Not with our JSON (docs/explanation/server.md, limits), but they are refused and nothing behind them is read."""
    answer, closed = raw(server.port, text + b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    assert closed and answer[9:12] == status and b'"status"' not in answer


def test_answers_are_utf8(client):
    for path in ('/v1/models/%ff%fe', '/v1/models/a%c3', '/%ed%a0%80', '/v1/models/m/decisions/%ff'):
        client('GET', path).body.decode()
    client.create('m')
    for body in (b'{"id":"\xff","right":true}', b'{"\xff":1}', b'{"x":{"\xc3":1}}', b'\xff'):
        for path in ('predict', 'feedback'):
            reply = client('POST', '/v1/models/m/' + path, body)
            reply.body.decode()
            assert reply.status == 400


def test_connections_of_one_address(make_server):
    server = make_server('--max-per-address', '5')
    server.client('GET', '/healthz')
    taken = [socket.create_connection(('127.0.0.1', server.port)) for _ in range(4)]
    for s in taken:
        s.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
        assert s.recv(1000)
    with pytest.raises((ConnectionError, AssertionError)):
        with socket.create_connection(('127.0.0.1', server.port)) as s:
            s.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
            assert s.recv(1000)


# --- TLS ---

def certificate(folder, name):
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
                    '-keyout', folder / 'key', '-out', folder / 'cert', '-days', '2', '-subj', '/CN=' + name],
                   check=True, capture_output=True)


def handshake(port, version=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if version:
        context.set_ciphers('ALL:@SECLEVEL=0')
        context.minimum_version = context.maximum_version = version
    with context.wrap_socket(socket.create_connection(('127.0.0.1', port))) as s:
        return s.version(), s.getpeercert(True)


def test_tls_versions_and_a_new_certificate(make_server, tmp_path):
    certificate(tmp_path, 'first')
    server = make_server('--tls-cert', str(tmp_path / 'cert'), '--tls-key', str(tmp_path / 'key'))
    assert handshake(server.port)[0] == 'TLSv1.3'
    assert handshake(server.port, ssl.TLSVersion.TLSv1_2)[0] == 'TLSv1.2'
    for old in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
        with pytest.raises((ssl.SSLError, OSError)):
            handshake(server.port, old)
    before = handshake(server.port)[1]
    certificate(tmp_path, 'second')
    server.process.send_signal(1)
    server.wait_for('certificate_loaded')
    assert handshake(server.port)[1] != before
    (tmp_path / 'cert').write_text('nonsense')
    server.process.send_signal(1)
    server.wait_for('certificate_kept')
    assert handshake(server.port)[0] == 'TLSv1.3'


# --- systemd ---

def test_notify_socket_and_credentials(tmp_path):
    """As systemd starts it: told when it is ready and that it lives, listening on a socket that was there before."""
    path = str(tmp_path / 'notify')
    listener = socket.create_server(('127.0.0.1', 0))
    port = listener.getsockname()[1]
    credentials = tmp_path / 'credentials'
    credentials.mkdir()
    (credentials / 'hunch.tokens').write_text('admin a-long-token\n')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(path)
        told.settimeout(PATIENCE)
        script = 'exec 3<&%d; export LISTEN_PID=$$; exec "$@"' % listener.fileno()
        process = subprocess.Popen(['bash', '-c', script, 'bash', HUNCH, 'serve', '--dir', str(tmp_path / 'state')],
                                   pass_fds=[listener.fileno()], stderr=subprocess.PIPE,
                                   env=dict(os.environ, NOTIFY_SOCKET=path, LISTEN_FDS='1',
                                            CREDENTIALS_DIRECTORY=str(credentials)))
        assert told.recv(100) == b'READY=1'
        assert told.recv(100) == b'WATCHDOG=1'
        assert Client(port)('GET', '/v1/models').status == 401
        assert Client(port)('GET', '/v1/models').status == 401
        assert Client(port, 'a-long-token')('GET', '/v1/models').status == 200
        process.terminate()
        while told.recv(100) != b'STOPPING=1':
            pass
        events = [json.loads(line) for line in process.communicate(timeout=PATIENCE)[1].splitlines()]
        assert process.returncode == 0
    listener.close()
    refused = [e for e in events if e['event'] == 'token_refused']
    assert len(refused) == 1 and refused[0]['address'] == '127.0.0.1'
