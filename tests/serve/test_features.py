# SPDX-License-Identifier: BSD-3-Clause
"""Examples: names, hashes, numbers; the dictionary and its limit."""


def greedy(client, model, x):
    return client('POST', '/v1/models/%s/scores' % model, {'x': x}).json['scores']


def teach(client, model, x, label):
    reply = client('POST', '/v1/models/%s/teach' % model, {'x': x, 'label': label})
    assert reply.status == 200, reply.body


def test_names_values_words_and_bools(client):
    client.create('m', learner='perceptron')
    teach(client, 'm', {'hour': 0.5, 'colour': 'red', 'weekend': True, 'rain': False}, 'tech')
    model = client('GET', '/v1/models/m').json
    assert model['features_known'] == 4
    assert greedy(client, 'm', {'colour=red': 1}) == greedy(client, 'm', {'colour': 'red'})
    assert greedy(client, 'm', {'weekend': 1}) == greedy(client, 'm', {'weekend': True})
    assert greedy(client, 'm', {'colour': 'blue'}) == greedy(client, 'm', {})
    reply = client('POST', '/v1/models/m/predict', {'x': {'colour': 'red', 'colour=red': 1}})
    assert (reply.status, reply.code) == (400, 'bad_feature')


def test_hashed(client):
    client.create('m', learner='perceptron', features='hashed', hash_bits=20)
    teach(client, 'm', {'a': 1, 'b': 'c'}, 'tech')
    assert greedy(client, 'm', {'b=c': 1})['tech'] > 0
    model = client('GET', '/v1/models/m').json
    assert model['hash_bits'] == 20 and model['max_features'] == 1 << 20
    # In two slots many names meet and are added up.
    client.create('tiny', learner='perceptron', features='hashed', hash_bits=1)
    teach(client, 'tiny', {'f%d' % i: 1 for i in range(100)}, 'tech')
    assert client('GET', '/v1/models/tiny').json['features_known'] <= 2


def test_indexed(client):
    client('PUT', '/v1/models/m', {'learner': 'perceptron', 'features': 'indexed', 'max_features': 100, 'classes': 3})
    teach(client, 'm', [0, 0, 0, 2.5], 2)
    assert greedy(client, 'm', [[3, 1]]) == greedy(client, 'm', {'3': 1}) == greedy(client, 'm', [0, 0, 0, 1])
    assert greedy(client, 'm', {'3': 1})['2'] > 0
    for bad in ([[100, 1]], [[-1, 1]], [[1]], [[1, 2, 3]], [['1', 2]], {'x': 1}, {'03': 1}, {'100': 1}, ['a'],
                [1] * 101, [[1, 'a']]):
        assert client('POST', '/v1/models/m/predict', {'x': bad}).status == 400, bad


def test_labels_by_number(client):
    assert client('PUT', '/v1/models/m', {'classes': 4, 'learner': 'perceptron'}).json['labels'] == ['0', '1', '2', '3']
    d = client.predict('m', {'a': 1})
    assert client.feedback('m', id=d['id'], label=3).status == 200
    assert client.feedback('m', id=d['id'], label='3').json['result'] == 'already'


def test_full_dictionary_ignores_new_names(server):
    client = server.client
    client.create('m', learner='perceptron', max_features=3)
    teach(client, 'm', {'a': 1, 'b': 1}, 'tech')
    d = client.predict('m', {'c': 1, 'd': 1, 'a': 1}, durable=True)
    assert client.feedback('m', id=d['id'], label='sports').status == 200
    model = client('GET', '/v1/models/m').json
    assert (model['features_known'], model['features_ignored']) == (3, 1)
    assert greedy(client, 'm', {'d': 1}) == greedy(client, 'm', {})
    before = client('GET', '/v1/models/m/snapshot').body
    server.kill()
    client = server.start().client
    assert client('GET', '/v1/models/m/snapshot').body == before


def test_names_are_any_text(client):
    client.create('m', learner='perceptron', labels=['gut "so"', 'naïve\n', '日本'])
    x = {'ключ': 1, 'a"b\\c': 2, '\u0001': 3, 'x y\tz': 0.5, '😀': 'ja'}
    d = client.predict('m', x, durable=True)
    assert d['label'] in ['gut "so"', 'naïve\n', '日本']
    assert client.feedback('m', id=d['id'], label='日本').status == 200
    assert client('GET', '/v1/models/m/decisions/' + d['id']).json['x'] == x
    assert greedy(client, 'm', x)['日本'] > 0


def test_the_log_keeps_the_clients_words(client):
    """Even when the member is not spelled plainly."""
    client.create('m')
    body = '{"scores":false, "\\u0078" : {"a":0.10, "b" : 1e-3}}'
    reply = client('POST', '/v1/models/m/predict', body)
    assert reply.status == 200
    body = ' { "x" : {"a": 0.10,\n "b":1e-3, "nest\\"]}":2 } , "durable": true }  '
    d = client('POST', '/v1/models/m/predict', body).json
    listed = client('GET', '/v1/models/m/decisions').body.decode()
    assert '{"a": 0.10,\n "b":1e-3, "nest\\"]}":2 }' in listed
    assert client('GET', '/v1/models/m/decisions/' + d['id']).json['x'] == {'a': 0.1, 'b': 0.001, 'nest"]}': 2}


def test_an_empty_example(client):
    client.create('m')
    d = client.predict('m', {})
    assert client.feedback('m', id=d['id'], right=True).status == 200


def test_spelling_makes_no_difference(client):
    """Plain requests are read without the parser: the same model comes of the same example in any spelling."""
    plain = '{"x":{"user=7":1,"hour":0.7,"day":-3,"on":true,"off":false,"zero":-0.0,"size":123456.789}}'
    odd = ('{ "x" : {"us\\u0065r=7":1.0,"hour":7e-1,"day":-3.0, "on":true ,\n"off":false,"zero":-0.0,"size":1.23456789e5} }',
           '{"x":{"user=7":1,"hour":0.70000000000000000,"day":-3,"on":true,"off":false,"zero":-0.0,"size":123456.789},"scores":false}')
    for kind, more in (('named', {}), ('hashed', {'hash_bits': 6})):
        models = []
        for i, texts in enumerate(((plain, plain), odd)):
            name = kind + str(i)
            client.create(name, features=kind, seed=4, **more)
            for n in range(20):
                reply = client('POST', '/v1/models/%s/predict' % name, texts[n % 2])
                assert reply.status == 200, reply.body
                reply = client.feedback(name, id=reply.json['id'], right=n % 3 == 0)
                assert reply.status == 200, reply.body
            models.append(client('GET', '/v1/models/%s/snapshot' % name).body)
        assert models[0] == models[1]


def test_plain_requests_are_refused_like_others(client):
    client.create('m')
    client.create('i', features='indexed', max_features=10)
    for model, x, code in (('m', '{"a":1,"a":2}', 'bad_json'), ('m', '{"a":01}', 'bad_json'), ('m', '{"a":1.}', 'bad_json'),
                           ('m', '{"a":1,}', 'bad_json'), ('m', '{"":1}', 'bad_feature'), ('m', '{"a":null}', 'bad_value'),
                           ('m', '{"%s":1}' % ('a' * 513), 'bad_feature'), ('m', '{"a":1e40}', 'bad_value'),
                           ('i', '{"10":1}', 'bad_feature'), ('i', '{"01":1}', 'bad_feature')):
        for path in ('predict', 'scores'):
            reply = client('POST', '/v1/models/%s/%s' % (model, path), '{"x":%s}' % x)
            assert (reply.status, reply.code) == (400, code), x
