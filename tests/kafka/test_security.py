# SPDX-License-Identifier: BSD-3-Clause
"""A broker that asks for TLS and a password: what the one configuration file says goes to it, and an error says what is wrong."""
import os
import subprocess

import pytest
from conftest import Cluster, until

PASSWORD, NAME = 'open sesame = 1', 'hunch'
EXTRA = """
listeners=PLAINTEXT://127.0.0.1:{0},CONTROLLER://127.0.0.1:{1},PASSWORD://127.0.0.1:{2},CERTIFICATE://127.0.0.1:{3}
advertised.listeners=PLAINTEXT://127.0.0.1:{0},PASSWORD://localhost:{2},CERTIFICATE://localhost:{3}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PASSWORD:SASL_SSL,CERTIFICATE:SSL
ssl.keystore.type=PEM
ssl.keystore.location={4}/broker.pem
ssl.truststore.type=PEM
ssl.truststore.location={4}/ca.crt
listener.name.certificate.ssl.client.auth=required
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256
listener.name.password.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_{5}="{6}";
listener.name.password.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
"""
OPERATIONS = ('Create', 'Delete', 'Describe', 'DescribeConfigs', 'Read', 'Write')  # as docs/how-to/scale.md lists them


def openssl(folder, *arguments):
    subprocess.run(['openssl', *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)


def make_authority(folder, name):
    openssl(folder, 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
            '-subj', '/CN=' + name, '-keyout', name + '.key', '-out', name + '.crt')


def make_certificate(folder, name, subject):
    """Signed by `ca`, for localhost."""
    with open(os.path.join(folder, 'names'), 'w') as f:
        f.write('subjectAltName=DNS:localhost,IP:127.0.0.1')
    openssl(folder, 'req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=' + subject,
            '-keyout', name + '.key', '-out', name + '.csr')
    openssl(folder, 'x509', '-req', '-days', '2', '-in', name + '.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial',
            '-extfile', 'names', '-out', name + '.crt')
    with open(os.path.join(folder, name + '.pem'), 'w') as f:
        for part in (name + '.key', name + '.crt'):
            with open(os.path.join(folder, part)) as of:
                f.write(of.read())


def allow(cluster, principals, prefix, operations=OPERATIONS):
    java = ['java', '-Xmx128m', '-XX:TieredStopAtLevel=1', '-cp', os.environ['KAFKA_LIBS'] + '/*', 'kafka.admin.AclCommand']
    what = [x for o in operations for x in ('--operation', o)] + [x for p in principals for x in ('--allow-principal', 'User:' + p)]
    subprocess.run(java + ['--bootstrap-server', '127.0.0.1:%d' % cluster.port, '--add', '--topic', prefix,
                           '--resource-pattern-type', 'prefixed', *what], check=True, stdout=subprocess.DEVNULL, timeout=120)


@pytest.fixture(scope='session')
def cluster(tmp_path_factory):
    """One broker: for a password over TLS, and for a certificate."""
    folder = str(tmp_path_factory.mktemp('secure'))
    for authority in ('ca', 'stranger'):
        make_authority(folder, authority)
    make_certificate(folder, 'broker', 'localhost')
    make_certificate(folder, 'node', NAME)
    c = Cluster(folder, brokers=1, SCRAM='[name=%s,password=%s]' % (NAME, PASSWORD))
    with open(os.path.join(folder, 'extra.properties'), 'w') as f:
        f.write(EXTRA.format(c.port, c.port + 100, c.port + 1, c.port + 2, folder, NAME, PASSWORD))
    try:
        c.start()
        allow(c, [NAME, 'CN=' + NAME], 'mine.')
        allow(c, [NAME], 'blind.', [o for o in OPERATIONS if o != 'DescribeConfigs'])
        yield c
    finally:
        c.close()


@pytest.fixture
def make_secure(cluster, make_node):
    """A node of one broker's group; settings are given with '_' for '.'."""
    def make(name, start=True, port=1, authority='ca.crt', **settings):
        given = dict(bootstrap_servers='localhost:%d' % (cluster.port + port), security_protocol='SASL_SSL', hunch_replicas=1,
                     hunch_min_insync=1, ssl_ca_location=os.path.join(cluster.folder, authority), prefix='mine.', hunch_wait_ms=5000)
        if port == 1:
            given.update(sasl_mechanisms='SCRAM-SHA-256', sasl_username=NAME, sasl_password=PASSWORD)
        given.update(settings)
        return make_node(name, start=start, **given)
    return make


def works(node, model):
    node.client.create(model)
    d = node.client.predict(model, {'x': 1}, durable=True)
    assert node.client.feedback(model, id=d['id'], right=True).json['result'] == 'learned'
    assert node.client.again('DELETE', '/v1/models/' + model).status == 200
    assert not node.seen('topic_left'), node.events


def test_password_over_tls(make_secure):
    works(make_secure('a'), 'm')
    works(make_secure('b', sasl_mechanisms='PLAIN'), 'n')


def test_certificate(make_secure, cluster):
    keys = dict(ssl_key_location=os.path.join(cluster.folder, 'node.key'), ssl_certificate_location=os.path.join(cluster.folder, 'node.crt'))
    works(make_secure('a', port=2, security_protocol='SSL', **keys), 'm')


def refused(node, *words):
    """Reported by /readyz and the log, without a request; requests are answered, and SIGTERM ends it."""
    node.start(ready=False)

    def told():
        reply = node.client('GET', '/readyz')
        assert reply.status == 503, reply.body
        return all(w in reply.json['error']['message'] for w in words)
    until(told)
    until(lambda: any(all(w in e.get('reason', '') for w in words) for e in node.events if e['event'] == 'kafka_away'))
    assert node.client('GET', '/healthz').status == 200
    assert node.client('PUT', '/v1/models/m', {'labels': ['a', 'b']}).status == 503
    assert node.stop() == 0


@pytest.mark.parametrize('mechanism', ['SCRAM-SHA-256', 'PLAIN'])
def test_wrong_password(make_secure, mechanism):
    refused(make_secure('a', start=False, sasl_mechanisms=mechanism, sasl_password='open pepper'), 'uthentication')


def test_broker_of_an_unknown_authority(make_secure):
    refused(make_secure('a', start=False, authority='stranger.crt'), 'certificate')


def test_certificate_of_another_host(make_secure, cluster):
    refused(make_secure('a', start=False, bootstrap_servers='127.0.0.2:%d' % (cluster.port + 1)), '127.0.0.2')


def test_no_tls_where_it_is_wanted(make_secure):
    refused(make_secure('a', start=False, security_protocol='PLAINTEXT'), 'ransport')


def test_topics_that_are_not_allowed(make_secure):
    node = make_secure('a', start=False, prefix='other.')
    node.start(ready=False)
    until(lambda: 'uthorization failed' in node.client('GET', '/readyz').json['error']['message'], 60)
    assert node.stop() == 0


def test_settings_of_topics_that_may_not_be_read(make_secure):
    """What is not known is not taken for right."""
    node = make_secure('a', prefix='blind.')
    until(lambda: node.seen('topic_settings'))
    problem = node.event('topic_settings')['problem']
    assert 'not known' in problem and 'uthorization failed' in problem, problem


def test_settings_that_cannot_be(make_secure):
    for name, value, word in (('ssl_ca_location', '/nowhere/ca.crt', 'ca.crt'), ('security_protocol', 'TELNET', 'TELNET'),
                              ('sasl_mechanisms', 'SCRAM-SHA-1000', 'SCRAM-SHA-1000')):
        node = make_secure('a', start=False, **{name: value})
        with pytest.raises(AssertionError):
            node.start()
        assert node.process.wait(30) not in (0, None)
        said = ' '.join(str(e) for e in node.events)
        assert word in said and PASSWORD not in said, said
