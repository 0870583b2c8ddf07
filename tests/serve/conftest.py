# SPDX-License-Identifier: BSD-3-Clause
"""A server of one's own for each test, and a client for it."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time

import pytest

HUNCH = os.environ.get('HUNCH', 'hunch')
PATIENCE = 120  # seconds, for machines that are busy


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json['error']['code']


class Client:
    """One keep-alive connection."""

    def __init__(self, port, token=None, host='127.0.0.1'):
        self.port, self.token, self.host = port, token, host
        self.connection = None

    def __call__(self, method, path, body=None, headers=None):
        headers = dict(headers or {})
        if self.token:
            headers['Authorization'] = 'Bearer ' + self.token
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        kept = self.connection is not None
        try:
            return self.send(method, path, body, headers)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
            if not kept or method != 'GET':  # the server may close a connection that was idle; who only asks may ask again
                raise
        return self.send(method, path, body, headers)

    def send(self, method, path, body, headers):
        if not self.connection:
            self.connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            self.connection.request(method, path, body, headers)
            response = self.connection.getresponse()
            reply = Reply(response.status, response.headers, response.read())
        except Exception:
            self.close()
            raise
        if response.will_close:
            self.close()
        return reply

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def predict(self, model, x, **more):
        reply = self('POST', '/v1/models/%s/predict' % model, dict(x=x, **more))
        assert reply.status == 200, reply.body
        return reply.json

    def feedback(self, model, **body):
        return self('POST', '/v1/models/%s/feedback' % model, body)

    def create(self, model, **settings):
        settings.setdefault('labels', ['sports', 'politics', 'tech'])
        reply = self('PUT', '/v1/models/%s' % model, settings)
        assert reply.status == 201, reply.body
        return reply.json


class Server:
    """A process that can be stopped, killed and started again over the same folder."""
    host, before = '127.0.0.1', ()  # where it listens; what its command begins with

    def __init__(self, folder, *arguments, env=None, preexec=None):
        self.folder, self.arguments, self.env, self.preexec = str(folder), list(arguments), env, preexec
        self.process, self.events = None, []

    def start(self, *more):
        command = [*self.before, HUNCH, 'serve', '--dir', self.folder, '--listen', self.host + ':0', *self.arguments, *more]
        env = dict(os.environ, **(self.env or {}))
        self.events = []
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, env=env, preexec_fn=self.preexec)
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self.reader.start()
        assert self.ready.wait(PATIENCE), 'the server does not start'
        self.port = self.event('listening')['port'] if self.seen('listening') else None
        assert self.port, self.events
        self.client = Client(self.port, getattr(self, 'token', None), self.host)
        return self

    def _read(self, process):
        for line in process.stderr:
            try:
                event = json.loads(line)
            except ValueError:
                event = {'event': 'text', 'text': line.decode(errors='replace')}
            self.events.append(event)
            if event['event'] == 'listening':
                self.ready.set()
        self.ready.set()

    def seen(self, name):
        return any(e['event'] == name for e in self.events)

    def event(self, name):
        return [e for e in self.events if e['event'] == name][-1]

    def wait_for(self, name):
        until(lambda: self.seen(name))
        return self.event(name)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)

    def close(self):
        if self.process and self.process.poll() is None:
            self.stop() if 'HUNCH_COVERAGE' in os.environ else self.kill()  # one that is killed has counted nothing


def until(condition, patience=PATIENCE):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, 'waited too long'
        time.sleep(0.02)


def housekeeping(client):
    """Returns when the server has kept house since the call: silence has answered a decision of a model made for this."""
    client.create('witness', labels=['a', 'b'], answer_after=1, answer_default='wrong')
    client.predict('witness', {'f': 1}, durable=True)
    until(lambda: client('GET', '/v1/models/witness').json['silent'] == 1)
    assert client('DELETE', '/v1/models/witness').status == 200


def verify(folder):
    """What `hunch serve --verify` says: one dictionary per model."""
    done = subprocess.run([HUNCH, 'serve', '--dir', str(folder), '--verify'], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=PATIENCE * 5)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def send_raw(port, data, patience=20):
    """Sends bytes as they are; gives back what comes, and whether the server closed the connection."""
    with socket.create_connection(('127.0.0.1', port), timeout=patience) as s:
        s.sendall(data)
        got = b''
        try:
            while True:
                more = s.recv(65536)
                if not more:
                    return got, True
                got += more
        except ConnectionResetError:
            return got, True
        except socket.timeout:
            return got, False


@pytest.fixture
def clock(tmp_path):
    """A file with what is added to the server's clocks (see serve/util/wall_clock.h), for make_server(clock=clock)."""
    file = tmp_path / 'clock'
    file.write_text('0')
    return file


@pytest.fixture
def make_server(tmp_path):
    made = []

    def make(*arguments, folder=None, start=True, token=None, clock=None, **more):
        if clock:
            more['env'] = {**(more.get('env') or {}), 'HUNCH_CLOCK_FILE': str(clock)}
        server = Server(folder or tmp_path / 'state', *arguments, **more)
        server.token = token
        made.append(server)
        return server.start() if start else server

    yield make
    for server in made:
        server.close()


@pytest.fixture
def server(make_server):
    return make_server()


@pytest.fixture
def client(server):
    return server.client
