# SPDX-License-Identifier: BSD-3-Clause
"""Three brokers, and nodes of hunch over them."""
import ctypes
import ctypes.util
import importlib.util
import itertools
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from network import PREFIX, Network

HERE = os.path.dirname(os.path.abspath(__file__))
_spec = importlib.util.spec_from_file_location('serve_conftest', os.path.join(HERE, '..', 'serve', 'conftest.py'))
_serve = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_serve)
HUNCH, PATIENCE, Server, until, verify = _serve.HUNCH, _serve.PATIENCE, _serve.Server, _serve.until, _serve.verify
housekeeping, make_server = _serve.housekeeping, _serve.make_server
sys.path.insert(0, os.path.join(HERE, '..'))
from ports import reserve  # noqa: E402


numbers = itertools.count()


def new_prefix():
    """Of topics that no other test has, nor an earlier run against the same cluster."""
    return 'test-%d-%d.' % (os.getpid(), next(numbers))


class Client(_serve.Client):
    """Asks again after 503, as docs/how-to/scale.md tells clients to; `stopped` does not pass by itself."""

    def again(self, method, path, body=None, headers=None):
        end = time.monotonic() + PATIENCE
        while True:
            reply = self(method, path, body, headers)
            if reply.status != 503 or reply.code == 'stopped' or time.monotonic() > end:
                return reply
            time.sleep(0.1)

    def predict(self, model, x, **more):
        reply = self.again('POST', '/v1/models/%s/predict' % model, dict(x=x, **more))
        assert reply.status == 200, reply.body
        return reply.json

    def feedback(self, model, **body):
        return self.again('POST', '/v1/models/%s/feedback' % model, body)

    def create(self, model, **settings):
        settings.setdefault('labels', ['sports', 'politics', 'tech'])
        reply = self.again('PUT', '/v1/models/%s' % model, settings)
        assert reply.status in (200, 201), reply.body
        return reply.json


class Partition(ctypes.Structure):
    _fields_ = [('id', ctypes.c_int32), ('error', ctypes.c_int), ('leader', ctypes.c_int32), ('replicas_n', ctypes.c_int),
                ('replicas', ctypes.POINTER(ctypes.c_int32)), ('in_sync_n', ctypes.c_int), ('in_sync', ctypes.POINTER(ctypes.c_int32))]


class Topic(ctypes.Structure):
    _fields_ = [('name', ctypes.c_char_p), ('partitions_n', ctypes.c_int), ('partitions', ctypes.POINTER(Partition)), ('error', ctypes.c_int)]


class Metadata(ctypes.Structure):
    """struct rd_kafka_metadata and what it has."""
    _fields_ = [('brokers_n', ctypes.c_int), ('brokers', ctypes.c_void_p), ('topics_n', ctypes.c_int), ('topics', ctypes.POINTER(Topic))]


def replicas_missing(broker, prefix):
    """How many replicas of these topics are not in sync, as this broker says; None: it says nothing."""
    k, why, told = ctypes.CDLL(ctypes.util.find_library('rdkafka')), ctypes.create_string_buffer(300), ctypes.POINTER(Metadata)()
    k.rd_kafka_conf_new.restype = k.rd_kafka_new.restype = ctypes.c_void_p
    conf = ctypes.c_void_p(k.rd_kafka_conf_new())
    k.rd_kafka_conf_set(conf, b'bootstrap.servers', broker.encode(), why, 300)
    k.rd_kafka_conf_set(conf, b'log_level', b'0', why, 300)
    client = ctypes.c_void_p(k.rd_kafka_new(1, conf, why, 300))
    missing = None
    if k.rd_kafka_metadata(client, 1, None, ctypes.byref(told), 5000) == 0:
        ours = [t for t in told[0].topics[:told[0].topics_n] if t.name.startswith(prefix.encode())]
        missing = sum(p.replicas_n - p.in_sync_n + (p.leader < 0) for t in ours for p in t.partitions[:t.partitions_n])
        missing = missing if ours else None
        k.rd_kafka_metadata_destroy(told)
    k.rd_kafka_destroy(client)
    return missing


class Cluster:
    """Brokers as processes that can be killed, stopped and started."""

    def __init__(self, folder, port=None, brokers=3, **env):
        self.folder, self.port = str(folder), port or reserve(103)  # brokers and, 100 further, controllers
        self.brokers = range(1, brokers + 1)
        self.env = dict(os.environ, LIBS=os.environ['KAFKA_LIBS'], PORT=str(self.port), BROKERS=str(brokers), **env)
        self.servers = ','.join('%s:%d' % (self.host(i), self.port + i - 1) for i in self.brokers)

    def host(self, i):
        return '127.0.0.1'

    def place(self, server):
        """Where a node of the group is to run."""

    def run(self, what, *which):
        subprocess.run([os.path.join(HERE, 'cluster.sh'), self.folder, what, *map(str, which)], env=self.env, check=True,
                       timeout=300)

    def start(self):
        self.run('format')
        self.run('start')
        for i in self.brokers:
            self.wait_for(i)
        return self

    def wait_for(self, i):
        def answers():
            try:
                socket.create_connection((self.host(i), self.port + i - 1), 1).close()
                return True
            except OSError:
                return False
        until(answers, 180)

    def until_whole(self, prefix):
        """Each broker says of the topics with that prefix that all replicas are in sync."""
        for i in self.brokers:
            until(lambda: replicas_missing('%s:%d' % (self.host(i), self.port + i - 1), prefix) == 0)

    def pid(self, i):
        with open(os.path.join(self.folder, 'n%d.pid' % i)) as f:
            return int(f.read())

    def signal(self, i, number):
        os.kill(self.pid(i), number)

    def kill(self, i):
        pid = self.pid(i)
        os.kill(pid, signal.SIGKILL)
        end = time.monotonic() + 10
        while os.path.exists('/proc/%d' % pid) and time.monotonic() < end:
            if open('/proc/%d/stat' % pid).read().rsplit(')', 1)[1].split()[0] == 'Z':
                break
            time.sleep(0.01)

    def revive(self, i):
        self.run('start', i)

    def close(self):
        for i in self.brokers:
            try:
                self.signal(i, signal.SIGCONT)
                self.kill(i)
            except (OSError, ValueError):
                pass


class Machines(Cluster):
    """Brokers on machines of their own: 1, 2, 3 of the network; nodes from 11 on."""

    def __init__(self, folder):
        super().__init__(folder, 19091, NETWORK=PREFIX)
        self.network = Network()
        for i in self.brokers:
            with open(os.path.join(self.folder, 'h%d' % i), 'w') as f:
                f.write(str(self.network.add(i)))

    def host(self, i):
        return Network.address(i)

    def place(self, server):
        server.machine = max(10, *self.network.machines) + 1
        server.host = self.host(server.machine)
        server.before = ['nsenter', '-t', str(self.network.add(server.machine)), '-n']
        server.arguments.append('--insecure')

    def close(self):
        super().close()
        self.network.close()


class Node(Server):
    """A hunch of a group."""

    def __init__(self, cluster, folder, name, prefix, *arguments, **settings):
        super().__init__(os.path.join(str(folder), name), *arguments)
        self.name, self.prefix = name, prefix
        if 'HUNCH_PRELOAD' in os.environ:
            self.env = {'LD_PRELOAD': os.environ['HUNCH_PRELOAD']}
        cluster.place(self)
        self.config = os.path.join(str(folder), name + '.kafka')
        lines = {'bootstrap.servers': cluster.servers, 'hunch.node': name, 'hunch.prefix': prefix, 'hunch.hash.events': 50,
                 'hunch.wait.ms': 30000}  # a busy machine is no reason for 503
        lines.update({k.replace('_', '.'): v for k, v in settings.items()})
        with open(self.config, 'w') as f:
            f.writelines('%s = %s\n' % line for line in lines.items())
        self.arguments += ['--kafka', self.config, '--snapshot-seconds', '2']

    def start(self, *more, ready=True):
        super().start(*more)
        self.client = self.connect()
        if ready:
            self.until_ready()
        return self

    def connect(self):
        return Client(self.port, host=self.host)

    def until_ready(self, patience=PATIENCE):
        self.client.close()  # it may have been idle for long
        try:
            until(lambda: self.client('GET', '/readyz').status == 200, patience)
        except AssertionError:
            raise AssertionError('never ready: ' + self.story('', 60))

    def model(self, name):
        reply = self.client('GET', '/v1/models/' + name)
        return reply.json if reply.status == 200 else None

    def hash(self, name):
        reply = self.client('GET', '/v1/models/%s/snapshot' % name)
        return (reply.headers['X-Hunch-Seq'], reply.headers['X-Hunch-Hash']) if reply.status == 200 else None

    def story(self, model, events=30):
        """For a person who wants to know what is wrong with it."""
        lines = ['node %s' % self.name, self.client('GET', '/readyz').body.decode(), str(self.model(model))]
        metrics = self.client('GET', '/metrics').body.decode().splitlines()
        lines += [line for line in metrics if line[0] != '#' and any(word in line for word in ('journal', 'broker', 'lag', 'offset'))]
        return '\n  '.join(lines + [str(e) for e in self.events[-events:]])

    def metric(self, name, model):
        text = self.client('GET', '/metrics').body.decode()
        return [float(line.split()[-1]) for line in text.splitlines() if line.startswith('%s{model="%s"}' % (name, model))][0]


def until_equal(nodes, model, patience=PATIENCE):
    """All nodes have come to the same place: their hashes."""
    seen = []

    def equal():
        seen[:] = [n.hash(model) for n in nodes]
        return None not in seen and len({s for s, _ in seen}) == 1
    try:
        until(equal, patience)
    except AssertionError:
        raise AssertionError('\n'.join(n.story(model) for n in nodes))
    return [h for _, h in seen]


@pytest.fixture(scope='session')
def cluster(tmp_path_factory):
    """HUNCH_KAFKA_CLUSTER=FOLDER:PORT names one that runs already (cluster.sh), which saves its start."""
    running = os.environ.get('HUNCH_KAFKA_CLUSTER')
    if running:
        folder, port = running.rsplit(':', 1)
        yield Cluster(folder, int(port))
        return
    c = Cluster(tmp_path_factory.mktemp('cluster'))
    try:
        yield c.start()
    finally:
        c.close()


@pytest.fixture
def make_node(cluster, tmp_path):
    made = []
    prefix = new_prefix()

    def make(name, *arguments, start=True, **settings):
        node = Node(cluster, tmp_path, name, settings.pop('prefix', prefix), *arguments, **settings)
        made.append(node)
        return node.start() if start else node

    yield make
    for node in made:
        node.close()
    said = [e['text'] for node in made for e in node.events if e['event'] == 'text']
    assert not any('Sanitizer' in text or 'runtime error' in text for text in said), ''.join(said)
