# SPDX-License-Identifier: BSD-3-Clause
"""The server does what openapi.json says: every endpoint is called, and every answer is held against its schema."""
import os
import re

import pytest
from conftest import Client, Server

TOKEN = 'the-admin-token'
HERE = os.path.dirname(os.path.abspath(__file__))


class Contract:
    """Enough of JSON Schema for what openapi.json uses; a keyword that it does not know is an error."""

    def __init__(self, document):
        self.document = document

    def resolved(self, thing):
        while '$ref' in thing:
            kind, name = thing['$ref'].split('/')[-2:]
            thing = self.document['components'][kind][name]
        return thing

    def check(self, schema, value, at='$'):
        schema = dict(schema)
        if '$ref' in schema:
            return self.check(self.resolved(schema), value, at)
        schema.pop('description', None)
        schema.pop('format', None)
        for word in ('oneOf', 'anyOf'):
            if word in schema:
                fits = [s for s in schema.pop(word) if self.fits(s, value, at)]
                assert fits, '%s: %r fits none' % (at, value)
                assert word == 'anyOf' or len(fits) == 1 or value == [] or isinstance(value, bool), at
        for name in schema.pop('required', []) if 'type' not in schema else []:
            assert name in value, '%s: no %s' % (at, name)
        for name in value if isinstance(value, dict) and 'propertyNames' in schema else []:
            self.check(schema['propertyNames'], name, at)
        schema.pop('propertyNames', None)
        kind = schema.pop('type', None)
        if kind:
            self.check_type(kind, schema, value, at)
        if 'enum' in schema:
            assert value in schema.pop('enum'), at
        assert not schema, 'unknown keywords %s' % schema

    def fits(self, schema, value, at):
        try:
            self.check(schema, value, at)
            return True
        except AssertionError as e:
            assert 'unknown keywords' not in str(e), e
            return False

    def check_type(self, kind, schema, value, at):
        types = {'object': dict, 'array': list, 'string': str, 'integer': int, 'number': (int, float), 'boolean': bool,
                 'null': type(None)}
        assert isinstance(value, types[kind]), '%s: %r is no %s' % (at, value, kind)
        assert kind == 'boolean' or not isinstance(value, bool), at
        if kind == 'object':
            assert schema.pop('minProperties', 0) <= len(value), at
            properties = schema.pop('properties', {})
            for name in schema.pop('required', []):
                assert name in value, '%s: no %s' % (at, name)
            rest = schema.pop('additionalProperties', True)
            for name, v in value.items():
                if name in properties:
                    self.check(properties[name], v, at + '.' + name)
                else:
                    assert rest is not False, '%s: unexpected %s' % (at, name)
                    if rest is not True:
                        self.check(rest, v, at + '.' + name)
        elif kind == 'array':
            assert schema.pop('minItems', 0) <= len(value) <= schema.pop('maxItems', 1 << 60), at
            items = schema.pop('items', {})
            for i, v in enumerate(value):
                self.check(items, v, '%s[%d]' % (at, i))
        else:
            if 'minimum' in schema:
                assert value >= schema.pop('minimum'), at
            if 'exclusiveMinimum' in schema:
                assert value > schema.pop('exclusiveMinimum'), at
            if 'maximum' in schema:
                assert value <= schema.pop('maximum'), at
            if 'pattern' in schema:
                assert re.search(schema.pop('pattern'), value), at


@pytest.fixture(scope='module')
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp('openapi')
    (folder / 'tokens').write_text('admin %s\nread read-only-token\n' % TOKEN)
    server = Server(folder / 'state', '--tokens', str(folder / 'tokens'), '--max-body', '3000')
    server.token = TOKEN
    server.start()
    yield server, server.client('GET', '/openapi.json').json
    server.close()


def call(world, method, path, template, body=None, headers=None, token=TOKEN):
    """Calls, and holds request and answer against the description."""
    server, document = world
    contract = Contract(document)
    operation = document['paths'][template][method.lower()]
    reply = Client(server.port, token)(method, path, body, headers)
    assert str(reply.status) in operation['responses'], (template, reply.status, reply.body)
    content = contract.resolved(operation['responses'][str(reply.status)])['content']
    kind = reply.headers['Content-Type'].split(';')[0]
    assert kind in content, (template, kind)
    if kind == 'application/json':
        contract.check(content[kind]['schema'], reply.json, template)
    if reply.status < 300 and body is not None and not isinstance(body, str):
        contract.check(operation['requestBody']['content']['application/json']['schema'], body, 'request')
    return reply


def test_every_answer_fits(world):
    m = '/v1/models/m'
    t = '/v1/models/{name}'
    new = {'labels': ['a', 'b', 3], 'learner': 'banditron', 'features': 'named', 'seed': 1, 'ttl_seconds': 1000}
    assert call(world, 'PUT', m, t, new).status == 201
    assert call(world, 'PUT', m, t, new).status == 200
    assert call(world, 'PUT', m, t, {'labels': ['z']}).status == 409
    assert call(world, 'PUT', m, t, {'labels': []}).status == 400
    assert call(world, 'PUT', '/v1/models/n', t, {'classes': 3, 'features': 'indexed'}).status == 201
    assert call(world, 'PUT', '/v1/models/h', t, {'classes': 3, 'features': 'hashed', 'hash_bits': 4}).status == 201
    d = call(world, 'POST', m + '/predict', t + '/predict', {'x': {'u': 1, 'v': 'w', 'b': True}, 'durable': True}).json
    call(world, 'POST', m + '/predict', t + '/predict', '[{"x":{},"scores":true},{"x":3}]')
    call(world, 'POST', m + '/predict', t + '/predict', [])
    call(world, 'POST', '/v1/models/n/predict', t + '/predict', [{'x': [1, 2]}, {'x': [[1, 2]]}, {'x': {'3': 1}}])
    assert call(world, 'POST', m + '/predict', t + '/predict', '{').status == 400
    assert call(world, 'POST', m + '/predict', t + '/predict', ' ' * 4000).status == 413
    lines = {'Content-Type': 'application/x-ndjson'}
    assert call(world, 'POST', m + '/predict', t + '/predict', '{"x":{}}\n{"x":{}}\n', lines).status == 200
    f = t + '/feedback'
    assert call(world, 'POST', m + '/feedback', f, {'id': d['id'], 'right': True}).json['result'] == 'learned'
    assert call(world, 'POST', m + '/feedback', f, {'id': d['id'], 'right': True}).json['result'] == 'already'
    assert call(world, 'POST', m + '/feedback', f, {'id': d['id'], 'right': False}).status == 409
    assert call(world, 'POST', m + '/feedback', f, {'id': 'none', 'right': False}).status == 404
    call(world, 'POST', m + '/feedback', f, [{'id': d['id'], 'label': 'a'}, {'id': d['id'], 'label': 3}])
    a = t + '/activate'
    deferred = call(world, 'POST', m + '/predict', t + '/predict', {'x': {}, 'defer': True, 'baseline': 'a'}).json
    assert call(world, 'POST', m + '/feedback', f, {'id': deferred['id'], 'right': True}).status == 409
    assert call(world, 'POST', m + '/activate', a, {'id': deferred['id']}).json['result'] == 'activated'
    call(world, 'POST', m + '/activate', a, [{'id': deferred['id']}, {'id': 3}])
    assert call(world, 'POST', m + '/activate', a, {'id': 'none'}).status == 404
    call(world, 'POST', m + '/decisions', t + '/decisions', {'x': {'u': 1}, 'label': 'a', 'probability': 0.5})
    call(world, 'POST', m + '/decisions', t + '/decisions', [{'x': {'u': 1}, 'label': 'a', 'defer': True}, {'x': {}}])
    call(world, 'PATCH', m, t, {'decides': 'baseline', 'control': {'share': 0.5, 'label': 'b'}})
    assert call(world, 'PATCH', m, t, {'control': {'share': 2, 'by': 'uniform'}}).status == 400
    assert call(world, 'POST', m + '/predict', t + '/predict', {'x': {'u': 1}}).status == 400
    call(world, 'POST', m + '/predict', t + '/predict', {'x': {'u': 1}, 'baseline': 'b', 'baseline_probability': 0.5})
    call(world, 'GET', m + '/comparison', t + '/comparison')
    call(world, 'PATCH', m, t, {'decides': 'model', 'control': None})
    call(world, 'POST', m + '/teach', t + '/teach', {'x': {'u': 1}, 'label': 'a'})
    call(world, 'POST', m + '/scores', t + '/scores', {'x': {'u': 1}})
    call(world, 'POST', m + '/labels', t + '/labels', {'labels': ['c', 4]})
    assert call(world, 'POST', m + '/exclude', t + '/exclude', {'id': d['id']}).status == 202
    assert call(world, 'POST', m + '/exclude', t + '/exclude', {'seq': 1 << 40}).status == 404
    call(world, 'GET', '/readyz?model=m', '/readyz')
    call(world, 'GET', m, t)
    call(world, 'GET', '/v1/models/h', t)
    call(world, 'GET', '/v1/models', '/v1/models')
    call(world, 'GET', m + '/decisions?limit=5', t + '/decisions')
    call(world, 'GET', m + '/decisions/' + d['id'], t + '/decisions/{id}')
    for span in ('minutes', 'day', 'month'):
        call(world, 'GET', m + '/stats?span=' + span, t + '/stats')
    call(world, 'GET', m + '/stats?span=era', t + '/stats')
    reply = call(world, 'GET', m + '/snapshot', t + '/snapshot')
    assert reply.body.startswith(b'HUNCHMDL') and reply.headers['X-Hunch-Seq']
    call(world, 'POST', m + '/snapshot', t + '/snapshot')
    assert call(world, 'GET', m + '/log', t + '/log').status == 404  # of a single machine
    for path in ('/v1/learners', '/v1/nodes', '/v1', '/healthz', '/readyz', '/metrics', '/', '/page.js', '/page.css', '/openapi.json'):
        assert call(world, 'GET', path, path).status == 200
    call(world, 'GET', m + '/model', t + '/model')
    v = t + '/versions'
    assert call(world, 'POST', m + '/versions', v, {'learner': 'soba', 'seed': 1}).status == 202
    call(world, 'GET', m + '/versions', v)
    call(world, 'POST', m + '/versions/2/promote', v + '/{version}/promote')
    call(world, 'POST', m + '/rollback', t + '/rollback')
    call(world, 'DELETE', m + '/versions/7', v + '/{version}')
    assert call(world, 'POST', m + '/undelete', t + '/undelete').status == 409
    assert call(world, 'GET', '/v1/backup', '/v1/backup').status == 200
    assert call(world, 'DELETE', '/v1/models/n', t).status == 200
    assert call(world, 'DELETE', '/v1/models/n', t).status == 404


def test_scopes_are_as_described(world):
    """Without a token and with one that may only read, every endpoint answers as its `security` says."""
    server, document = world
    Client(server.port, TOKEN)('PUT', '/v1/models/scopes', {'labels': ['a']})
    for template, operations in document['paths'].items():
        for method, operation in operations.items():
            path = template.replace('{name}', 'scopes').replace('{version}', '2').replace('{id}', '0' * 16 + '-' + '0' * 16)
            scope = operation['security'][0]['token'][0] if operation['security'] else None
            status = Client(server.port)(method.upper(), path).status
            assert (status == 401) == (scope is not None), (method, template)
            status = Client(server.port, 'read-only-token')(method.upper(), path).status
            assert (status == 403) == (scope in ('write', 'admin')), (method, template, status)


def test_routes_and_description_are_the_same(world):
    """Nothing is served that is not described, and the other way round."""
    document = world[1]
    described = {(method.upper(), re.sub(r'\{\w+\}', '*', path)) for path, ops in document['paths'].items() for method in ops}
    source = os.path.join(HERE, '..', '..', 'serve', 'http', 'route.c')
    routes = set(re.findall(r'\{"([A-Z]+)", "(/[^"]*)", api_', open(source).read()))
    assert routes == described


def test_everything_is_in_the_manual(world):
    manual = open(os.path.join(HERE, '..', '..', 'docs', 'man', 'hunch-serve.1')).read().replace('\\-', '-')
    for path, operations in world[1]['paths'].items():
        for method in operations:
            line = '%s %s' % (method.upper(), path.replace('{name}', 'NAME').replace('{version}', 'VERSION').replace('{id}', 'ID'))
            assert line in manual, line
