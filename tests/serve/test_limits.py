# SPDX-License-Identifier: BSD-3-Clause
"""What is too much, too deep, too slow or not JSON at all."""
import http.client
import json
import os
import resource
import shutil
import signal
import socket
import threading
import time

import pytest
from conftest import PATIENCE, Client, send_raw, until, verify


MALFORMED = [
    (b'{"x":{"a":1,}}', 12), (b'{"x":{"a":NaN}}', None), (b'{"x":{"a":Infinity}}', None), (b'{"x":{"a":01}}', None),
    (b'{"x":{"a":1}', 12), (b'', 0), (b'{"x":{"a":1}} trailing', None), (b'{"x":{"a":1,"a":2}}', None),
    (b'{"x":{"\xff":1}}', 7), (b'{"x":{"\xc3(":1}}', 7), (b'{"x":{"a\\u0000":1}}', None), (b'{"x":{"\\ud800":1}}', None),
    (b'{"x":{"a":1e999}}', None), (b'{"x":{"a":123456789012345678901234567890}}', None), (b"{'x':1}", 1),
    (b'\xef\xbb\xbf{}', 2), (b'\x00', None), (b'[' * 1000, 8), (b'{"x":' * 20 + b'1' + b'}' * 20, None),
    (b'{"x":{"a":"' + b'\xed\xa0\x80' + b'"}}', 11), (b'nul', None), (b'{"x":{"a":-}}', None), (b'"\n"', None),
]


@pytest.fixture(scope='module')
def shared(tmp_path_factory):
    from conftest import Server
    server = Server(tmp_path_factory.mktemp('limits') / 'state', '--max-body', '20000', '--max-models', '3',
                    '--max-features', '50', '--max-batch', '20', '--max-header', '4096').start()
    server.client.create('m')
    yield server
    server.close()


@pytest.mark.parametrize('body,position', MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_json_is_400_with_its_position(shared, body, position):
    reply = Client(shared.port)('POST', '/v1/models/m/predict', body)
    assert reply.status == 400, reply.body
    error = reply.json['error']
    assert error['code'] in ('bad_json', 'too_deep') and error['line'] >= 1 and error['column'] >= 1
    if position is not None:
        assert error['position'] == position, error


def test_position_counts_lines(shared):
    error = Client(shared.port)('POST', '/v1/models/m/predict', b'{\n "x":\n  {"a" 1}\n}').json['error']
    assert (error['line'], error['column'], error['position']) == (3, 8, 15)


def test_sizes(shared):
    client = Client(shared.port)
    assert client('POST', '/v1/models/m/predict', {'x': {'f%d' % i: 1 for i in range(50)}}).status == 200
    reply = client('POST', '/v1/models/m/predict', {'x': {'f%d' % i: 1 for i in range(51)}})
    assert (reply.status, reply.code) == (413, 'too_many_features')
    reply = client('POST', '/v1/models/m/predict', [{'x': {}}] * 21)
    assert (reply.status, reply.code) == (413, 'too_many_items')
    reply = client('POST', '/v1/models/m/predict', '{"x":{}}\n' * 21, {'Content-Type': 'application/x-ndjson'})
    items = [json.loads(line) for line in reply.body.splitlines()]
    assert len(items) == 21 and items[20]['status'] == 413 and 'id' in items[19]
    reply = Client(shared.port)('POST', '/v1/models/m/predict', b' ' * 20001)
    assert (reply.status, reply.code) == (413, 'too_large')
    assert client('POST', '/v1/models/m/predict', {'x': {'n' * 513: 1}}).code == 'bad_feature'
    for name in ('n2', 'n3'):
        client.create(name)
    reply = client('PUT', '/v1/models/n4', {'labels': ['a']})
    assert (reply.status, reply.code) == (413, 'too_many_models')


def test_chunked_body_is_limited_too(shared):
    connection = http.client.HTTPConnection('127.0.0.1', shared.port, timeout=20)
    connection.request('POST', '/v1/models/m/predict', iter([b' ' * 5000] * 5), encode_chunked=True,
                       headers={'Transfer-Encoding': 'chunked'})
    assert connection.getresponse().status == 413
    connection.close()
    connection.request('POST', '/v1/models/m/predict', iter([b'{"x":', b'{"a":1}}']), encode_chunked=True,
                       headers={'Transfer-Encoding': 'chunked'})
    assert connection.getresponse().status == 200
    connection.close()


def test_large_headers_are_refused(shared):
    head = b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n' + b''.join(b'X-%d: %s\r\n' % (i, b'y' * 100)
                                                                    for i in range(200)) + b'\r\n'
    assert b' 431 ' in send_raw(shared.port, head)[0].split(b'\r\n')[0]
    assert send_raw(shared.port, b'GET /' + b'a' * 9000 + b' HTTP/1.1\r\nHost: localhost\r\n\r\n')[0][9:12] in (b'414', b'431')


@pytest.mark.parametrize('data', [b'\x16\x03\x01\x02\x00\x01', b'GARBAGE\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n', b'\r\n' * 100,
                                  b'POST /v1/models/m/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n',
                                  b'POST /v1/models/m/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n'])
def test_not_http(shared, data):
    with socket.create_connection(('127.0.0.1', shared.port), timeout=1) as s:
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        try:
            s.recv(65536)
        except (ConnectionResetError, socket.timeout):
            pass  # closed at once or when its time has run out
    assert Client(shared.port)('GET', '/healthz').status == 200


def test_paths_stay_inside(shared):
    client = Client(shared.port)
    for name in ('..', '.', '.hidden', '-x', '%2e%2e', '..%2f..%2fetc', 'a%2fb', 'a%00b', 'x' * 65, 'a b', '%ff', 'ä'):
        quoted = name if name != 'ä' else '%C3%A4'
        reply = client('PUT', '/v1/models/' + quoted.replace(' ', '%20'), {'labels': ['a', 'b']})
        assert reply.status in (400, 404), (name, reply.status)
    assert client('GET', '/v1/../etc/passwd').status == 404
    assert client('GET', '/' + 'a/' * 200).status in (404, 414)


def test_methods(shared):
    client = Client(shared.port)
    reply = client('GET', '/v1/models/m/predict')
    assert reply.status == 405 and reply.headers['Allow'] == 'POST'
    assert client('POST', '/v1/models/m', b'{}').headers['Allow'] == 'GET, PUT, PATCH, DELETE'
    reply = client('HEAD', '/healthz')
    assert reply.status == 200 and reply.body == b''


def test_slow_clients_time_out(make_server):
    server = make_server('--request-seconds', '1', '--idle-seconds', '2')
    head = b'POST /v1/models/m/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n'
    connections = []
    for data in (b'', b'GET /hea', head, head + b'{"x"'):
        s = socket.create_connection(('127.0.0.1', server.port), timeout=30)
        s.sendall(data)
        connections.append(s)
    trickle = socket.create_connection(('127.0.0.1', server.port), timeout=30)
    ended, end = False, time.monotonic() + 30
    while not ended and time.monotonic() < end:  # never silent for long, never done
        try:
            trickle.sendall(b'G')
            time.sleep(0.2)
        except OSError:
            ended = True
    assert ended
    for s in connections:
        try:
            while s.recv(4096):
                pass
        except ConnectionResetError:
            pass
        s.close()
    assert server.client('GET', '/healthz').status == 200


def test_slow_readers_time_out(make_server):
    """A client that reads some bytes of a large answer now and then is disconnected."""
    server = make_server('--request-seconds', '1')
    server.client.create('m', labels=['label %04d' % i for i in range(1000)], learner='banditron')
    body = json.dumps([{'x': {'a': 1}}] * 800).encode()
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(PATIENCE)
    s.connect(('127.0.0.1', server.port))
    s.sendall(b'POST /v1/models/m/scores HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n' % len(body) + body)
    answer = s.recv(4096)
    size = int(answer.split(b'Content-Length: ')[1].split(b'\r\n')[0])
    assert size > 8e6
    read, end = 0, time.monotonic() + PATIENCE
    closed = lambda: 'hunch_slow_connections_total 1' in server.client('GET', '/metrics').body.decode()
    while not closed() and time.monotonic() < end:
        read += len(s.recv(512))
        time.sleep(0.5)
    assert closed() and read < 1e6
    s.close()


def test_connections_are_limited_and_come_back(make_server):
    server = make_server('--max-connections', '8')
    held = []
    for _ in range(30):
        try:
            held.append(socket.create_connection(('127.0.0.1', server.port), timeout=5))
        except OSError:
            break
    for s in held:
        s.close()

    def alive():
        try:
            return Client(server.port)('GET', '/healthz').status == 200
        except (OSError, http.client.HTTPException):
            return False
    until(alive)


def test_many_keep_alive_connections(make_server):
    server = make_server()
    server.client.create('m')
    clients = [Client(server.port) for _ in range(500)]
    for _ in range(2):
        for c in clients:
            assert c('GET', '/healthz').status == 200
    for c in clients:
        c.close()
    assert server.client('GET', '/readyz').status == 200


@pytest.mark.parametrize('n', [128, 256])
def test_as_many_requests_at_once_as_the_library_reads(make_server, n):
    """libmicrohttpd takes 128 events at a time, and waited for more before it handled those, if there were no others."""
    server = make_server('--threads', '1', '--idle-seconds', '1000')
    connections = [socket.create_connection(('127.0.0.1', server.port), timeout=PATIENCE) for _ in range(n)]

    def ask():
        for c in connections:
            c.sendall(b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
    for _ in range(3):
        server.process.send_signal(signal.SIGSTOP)
        ask()
        server.process.send_signal(signal.SIGCONT)
        for c in connections:
            assert c.recv(4096).startswith(b'HTTP/1.1 200')
    for c in connections:
        c.close()


def test_a_model_that_begins_too_large_is_refused(make_server):
    """Before it is made: the default learner of 10,000 labels would take seconds and 800 MB."""
    server = make_server()
    start = resident_mb(server)
    reply = server.client('PUT', '/v1/models/m', {'classes': 10000})
    assert (reply.status, reply.code) == (413, 'too_large') and '--max-model' in reply.json['error']['message']
    assert resident_mb(server) < start + 100
    assert server.client('PUT', '/v1/models/m', {'classes': 10000, 'learner': 'confident'}).status == 201
    assert server.client('PUT', '/v1/models/m', {'classes': 10000, 'learner': 'confident'}).status == 200
    reply = server.client('POST', '/v1/models/m/versions', {'learner': 'panel'})
    assert (reply.status, reply.code) == (413, 'too_large')
    assert server.client('PUT', '/v1/models/few', {'classes': 500}).status == 201


def test_new_names_have_a_quota(make_server, tmp_path):
    """A client with endless new names does not fill the dictionary that others need; what it knows is still used."""
    tokens = tmp_path / 'tokens'
    tokens.write_text('write greedy-greedy\nwrite modest-modest\nadmin admin-admin\n')
    server = make_server('--max-new-names', '100', '--tokens', str(tokens), token='admin-admin')
    server.client.create('m', learner='banditron', max_features=1000)
    greedy, modest = Client(server.port, 'greedy-greedy'), Client(server.port, 'modest-modest')
    refused = 0
    for i in range(100):
        body = [{'x': dict({'n%d-%d-%d' % (i, j, k): k for k in range(5)}, known=1)} for j in range(20)]
        replies = greedy('POST', '/v1/models/m/predict', body).json
        assert all('id' in r for r in replies), replies[0]
        refused += sum(r.get('names_refused', 0) for r in replies)
    known = server.client('GET', '/v1/models/m').json['features_known']
    assert 100 <= known <= 300 and refused == 10000 + 1 - known  # it may take more than a minute
    d = modest.predict('m', {'mine': 1, 'known': 1}, durable=True)
    assert 'names_refused' not in d and modest.feedback('m', id=d['id'], right=True).status == 200
    assert server.client('GET', '/v1/models/m').json['features_known'] == known + 1
    taught = greedy('POST', '/v1/models/m/teach', {'x': {'known': 1, 'more': 1}, 'label': 'tech'}).json
    assert taught['result'] == 'learned'
    latest = server.client('GET', '/v1/models/m/decisions?limit=2').json['decisions']
    assert latest[0]['x'] == {'mine': 1, 'known': 1} and latest[1]['x']['known'] == 1
    assert b'hunch_names_refused_total %d' % (refused + taught.get('names_refused', 0)) in server.client('GET', '/metrics').body
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal']


def resident_mb(server):
    with open('/proc/%d/status' % server.process.pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith('VmRSS')) / 1024


def test_a_million_names_by_one_client_leave_room_for_others(make_server, tmp_path):
    tokens = tmp_path / 'tokens'
    tokens.write_text('write greedy-greedy\nwrite modest-modest\nadmin admin-admin\n')
    server = make_server('--tokens', str(tokens), token='admin-admin')
    server.client.create('m', learner='banditron', max_features=1 << 16)
    greedy, modest = Client(server.port, 'greedy-greedy'), Client(server.port, 'modest-modest')
    sizes, refused = [], 0
    for i in range(100):
        body = [{'x': {'n%d-%d-%d' % (i, j, k): 1 for k in range(1000)}} for j in range(10)]
        replies = greedy('POST', '/v1/models/m/predict', body).json
        refused += sum(r.get('names_refused', 0) for r in replies)
        sizes.append(resident_mb(server))
    known = server.client('GET', '/v1/models/m').json['features_known']
    assert known == (1 << 16) - (1 << 13) + (1 << 10) and refused == 10 ** 6 - known  # seven eighths, and an eighth of the last
    with open('/proc/%d/maps' % server.process.pid) as f:
        assert 'libasan' in f.read() or sizes[-1] < sizes[19] + 40, sizes  # a sanitizer keeps what is freed
    taught = modest('POST', '/v1/models/m/teach', {'x': {'mine-%d' % i: 1 for i in range(500)}, 'label': 'tech'}).json
    assert taught['result'] == 'learned' and 'names_refused' not in taught
    assert server.client('GET', '/v1/models/m').json['features_known'] == known + 500
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal']


def test_no_memory_is_not_bad_json(make_server):
    """A valid request that finds no memory is 503: to be repeated, never the client's fault."""
    with open(shutil.which(os.environ.get('HUNCH', 'hunch')), 'rb') as f:
        program = f.read()
        if b'__asan_init' in program or b'__tsan_init' in program:
            pytest.skip('a sanitizer needs more address space than the limit leaves')
    server = make_server('--max-body', '50000000', '--max-batch', '100000',
                         preexec=lambda: resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20)))
    server.client.create('m')
    large = json.dumps([{'x': {'f%d' % i: 1}} for i in range(60000)])
    stop, seen = threading.Event(), []

    def ask(body):
        client = Client(server.port)
        while not stop.is_set():
            try:
                seen.append(client('POST', '/v1/models/m/predict', body))
            except OSError:
                pass  # no memory for the answer itself
    small = json.dumps([{'x': {'u%d' % k: 1}} for k in range(20)])
    threads = [threading.Thread(target=ask, args=(b,)) for b in (small, small, large, large, large)]
    [t.start() for t in threads]
    try:
        until(lambda: {200, 503} <= {r.status for r in list(seen)} or server.process.poll() is not None)
    finally:
        stop.set()
        [t.join() for t in threads]
    assert server.process.poll() is None
    assert {r.status for r in seen} == {200, 503}


def test_scores_are_bounded_in_bytes(make_server):
    """Long labels, escaped sixfold: what an answer would take is known before anything is computed."""
    server = make_server('--max-answer', '1000000')
    client = server.client
    client.create('m', labels=['%04d' % i + '\x01' * 200 for i in range(100)], learner='perceptron')
    one = client('POST', '/v1/models/m/scores', {'x': {'a': 1}})
    assert one.status == 200 and len(one.body) > 100000
    reply = client('POST', '/v1/models/m/scores', [{'x': {'a': 1}}] * 20)
    codes = [item.get('error', {}).get('code') for item in reply.json]
    assert codes[0] is None and codes[-1] == 'answer_too_large' and len(reply.body) < 1100000
    before = client('GET', '/v1/models/m').json['decisions']
    assert client('POST', '/v1/models/m/predict', [{'x': {'a': 1}, 'scores': True}] * 20).status == 200
    assert client('GET', '/v1/models/m').json['decisions'] - before < 10
