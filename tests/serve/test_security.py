# SPDX-License-Identifier: BSD-3-Clause
"""Tokens, scopes, loopback, other sites' pages, TLS."""
import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess

import pytest
from conftest import HUNCH, PATIENCE, Client, until

READ, WRITE, ADMIN = 'read-token-1', 'write-token-2', 'admin-token-3'


@pytest.fixture
def tokens(tmp_path):
    path = tmp_path / 'tokens'
    path.write_text('# who may do what\n\nread %s\nwrite  %s\r\nadmin\t%s\n' % (READ, WRITE, ADMIN))
    return path


def allowed(server, token):
    """What this token may do: the status of one request of each kind."""
    client = Client(server.port, token)
    requests = [('GET', '/healthz', None), ('GET', '/v1/models', None), ('GET', '/metrics', None),
                ('POST', '/v1/models/m/scores', {'x': {}}), ('POST', '/v1/models/m/predict', {'x': {}}),
                ('PUT', '/v1/models/m2', {'labels': ['a', 'b']}), ('DELETE', '/v1/models/m2', None),
                ('POST', '/v1/models/m/snapshot', None)]
    return [client(*request).status for request in requests]


def test_scopes(make_server, tokens):
    server = make_server('--tokens', str(tokens), token=ADMIN)
    server.client.create('m')
    assert allowed(server, None) == [200] + [401] * 7
    assert allowed(server, 'wrong-token-x') == [200] + [401] * 7
    assert allowed(server, READ) == [200, 200, 200, 200, 403, 403, 403, 403]
    assert allowed(server, WRITE) == [200, 200, 200, 200, 200, 403, 403, 403]
    assert allowed(server, ADMIN) == [200, 200, 200, 200, 200, 201, 200, 200]
    client = Client(server.port)
    for bad in ('', 'Bearer', 'Bearer ', 'Basic ' + ADMIN, 'Bearer ' + ADMIN + 'x', 'Bearer ' + ADMIN[:-1],
                'Bearer ' + 'x' * 5000):
        assert client('GET', '/v1/models', headers={'Authorization': bad}).status == 401
    reply = client('GET', '/v1/models')
    assert reply.headers['WWW-Authenticate'] == 'Bearer' and reply.code == 'no_token'
    assert client('GET', '/').status == 200  # the page itself holds no data
    assert client('GET', '/v1').json['tokens'] is True


def test_tokens_are_read_again_on_hup(make_server, tokens):
    server = make_server('--tokens', str(tokens), token=ADMIN)
    tokens.write_text('admin another-token\n')
    server.process.send_signal(signal.SIGHUP)
    server.wait_for('tokens_loaded')
    assert Client(server.port, ADMIN)('GET', '/v1/models').status == 401
    assert Client(server.port, 'another-token')('GET', '/v1/models').status == 200
    tokens.write_text('admin another-token\nsuperuser oops\n')
    server.process.send_signal(signal.SIGHUP)
    assert 'line 2' in server.wait_for('tokens_kept')['reason']
    assert Client(server.port, 'another-token')('GET', '/v1/models').status == 200


def test_nothing_secret_in_the_event_log(make_server, tokens):
    server = make_server('--tokens', str(tokens), '--log-requests', token=ADMIN)
    server.client.create('m')
    server.client.predict('m', {'secret-feature': 1})
    Client(server.port, 'guess-token')('GET', '/v1/models')
    server.stop()
    text = json.dumps(server.events)
    assert server.seen('request')
    for secret in (READ, WRITE, ADMIN, 'guess-token', 'secret-feature'):
        assert secret not in text


def refused(*arguments):
    done = subprocess.run([HUNCH, 'serve'] + list(arguments), stderr=subprocess.PIPE, timeout=PATIENCE)
    return done.returncode, done.stderr.decode()


def test_listening_elsewhere_needs_tokens(tmp_path, tokens):
    state = str(tmp_path / 'state')
    code, said = refused('--dir', state, '--listen', '0.0.0.0:0')
    assert code == 1 and '--tokens' in said
    code, said = refused('--dir', state, '--listen', ':0')
    assert code == 1
    tokens.write_text('read short\n')
    code, said = refused('--dir', state, '--tokens', str(tokens))
    assert code == 1 and 'line 1' in said and 'short' not in said
    tokens.write_text('# none\n')
    assert refused('--dir', state, '--tokens', str(tokens))[0] == 1
    assert refused('--dir', state, '--tokens', str(tmp_path / 'absent'))[0] == 1


def test_insecure_is_possible_when_asked_for(make_server):
    server = make_server('--insecure', '--listen', '0.0.0.0:0')
    assert server.client('GET', '/v1/models').status == 200


def test_other_sites_are_refused(server):
    client = server.client
    client.create('m')
    here = 'http://127.0.0.1:%d' % server.port
    x = {'x': {}}
    assert client('POST', '/v1/models/m/predict', x, {'Origin': here}).status == 200
    for origin in ('http://evil.example', 'null', 'https://127.0.0.1', 'http://127.0.0.1:1'):
        assert client('POST', '/v1/models/m/predict', x, {'Origin': origin}).code == 'bad_origin'
    assert client('GET', '/v1/models', headers={'Host': 'evil.example'}).code == 'bad_host'  # DNS rebinding
    assert client('GET', '/v1/models', headers={'Host': 'localhost:%d' % server.port}).status == 200
    assert client('GET', '/v1/models', headers={'Host': '[::1]:80'}).status == 200


def test_page_is_locked_down(client):
    reply = client('GET', '/')
    policy = reply.headers['Content-Security-Policy']
    assert "default-src 'none'" in policy and 'unsafe' not in policy
    assert reply.headers['X-Content-Type-Options'] == 'nosniff'


@pytest.mark.skipif(not shutil.which('openssl'), reason='openssl makes the certificate')
def test_tls(make_server, tmp_path):
    cert, key = str(tmp_path / 'cert.pem'), str(tmp_path / 'key.pem')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
                    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
                   check=True, stderr=subprocess.DEVNULL)
    server = make_server('--tls-cert', cert, '--tls-key', key)
    import http.client
    connection = http.client.HTTPSConnection('localhost', server.port, timeout=30,
                                             context=ssl.create_default_context(cafile=cert))
    connection.request('PUT', '/v1/models/m', json.dumps({'labels': ['a', 'b']}))
    assert connection.getresponse().read() and server.event('listening')['tls'] is True
    for _ in range(20):
        connection.request('POST', '/v1/models/m/predict', json.dumps({'x': {'a': 1}}))
        d = json.loads(connection.getresponse().read())
        connection.request('POST', '/v1/models/m/feedback', json.dumps({'id': d['id'], 'right': True}))
        assert connection.getresponse().read()
    connection.close()
    code, said = refused('--dir', str(tmp_path / 's2'), '--tls-cert', cert)
    assert code == 1 and '--tls-key' in said


def test_files_are_private(server):
    server.client.create('m')
    assert os.stat(server.folder).st_mode & 0o077 == 0
    until(lambda: os.path.exists(server.folder + '/models/m/log.db'))


def test_a_page_of_another_site_gets_nothing(server):
    """A browser that follows a foreign page's request says so, also where no Origin is sent."""
    server.client.create('m')
    for path in ('/v1/backup', '/v1/models', '/v1/models/m/model'):
        assert server.client('GET', path, headers={'Sec-Fetch-Site': 'cross-site'}).code == 'bad_origin'
        assert server.client('GET', path, headers={'Sec-Fetch-Site': 'same-origin'}).status == 200
        assert server.client('GET', path, headers={'Origin': 'http://evil.example'}).code == 'bad_origin'
        assert server.client('GET', path, headers={'Origin': 'http://127.0.0.1:%d' % server.port}).status == 200
    assert server.client('GET', '/', headers={'Sec-Fetch-Site': 'cross-site'}).status == 200


def test_readiness_names_no_model_without_a_token(make_server, tmp_path):
    tokens = tmp_path / 'tokens'
    tokens.write_text('read abcdefgh1\nadmin abcdefgh2\n')
    server = make_server('--tokens', str(tokens), token='abcdefgh2')
    server.client.create('secret')
    server.stop()
    log = pathlib.Path(server.folder) / 'models' / 'secret' / 'log.db'
    log.write_bytes(b'not a log')
    server.start()
    for token, named in ((None, False), ('abcdefgh1', True)):
        reply = Client(server.port, token)('GET', '/readyz')
        assert reply.status == 503 and (b'secret' in reply.body) == named, reply.body
