# SPDX-License-Identifier: BSD-3-Clause
"""Examples: names, hashes, numbers; the dictionary and its limit."""
import random

from conftest import Client, verify


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
    client.create('m', learner='perceptron', max_features=3, reuse_names=False)
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


def flood(client, model, first, n):
    """Names that are seen once, by a client that has nothing else."""
    body = [{'x': {'n%d' % i: 1}, 'durable': True} for i in range(first, first + n)]
    assert all('id' in r for r in client('POST', '/v1/models/%s/predict' % model, body).json)


def learn(client, model, rounds):
    """Predictions of what one feature says; the share of wrong ones among the last half."""
    r, wrong = random.Random(1), []
    for _ in range(rounds):
        colour, label = r.choice([('red', 'sports'), ('green', 'politics'), ('blue', 'tech')])
        d = client.predict(model, {'colour': colour})
        wrong.append(d['label'] != label)
        assert client.feedback(model, id=d['id'], label=label).status == 200
    return sum(wrong[rounds // 2:]) / (rounds - rounds // 2)


def test_names_seen_once_give_their_places_to_new_ones(server):
    """One client fills the dictionary; another's new names are learned from all the same, while the first goes on."""
    for model, reuse in (('kept', False), ('reused', True)):
        server.client.create(model, learner='perceptron', max_features=100, seed=1, reuse_names=reuse)
        flood(server.client, model, 0, 1000)
        other, wrong = Client(server.port), []
        for i in range(20):
            wrong.append(learn(other, model, 10))
            flood(server.client, model, 1000 + 50 * i, 50)
        about = server.client('GET', '/v1/models/' + model).json
        assert about['reuse_names'] == reuse and about['features_known'] == 100
        if reuse:  # each of the three colours was seen twice before fifty others came
            assert sum(wrong[1:]) == 0 and about['features_ignored'] == 0 and about['names_reused'] == 1900 + 3
        else:
            assert sum(wrong) / 20 > 0.4 and about['features_ignored'] == 1900 + 200 and about['names_reused'] == 0
    before = server.client('GET', '/v1/models/reused/snapshot').body
    server.kill()
    assert server.start().client('GET', '/v1/models/reused/snapshot').body == before
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and all(m['equal'] for m in models)


def test_an_answer_after_its_names_have_lost_their_places(server):
    """What is learned live, from decisions in memory, is what a replay learns from the log; an excluded event too."""
    client = server.client
    client.create('m', learner='confident', max_features=10, seed=1)
    ids = [client.predict('m', {'a%d' % i: 1, 'all': 1})['id'] for i in range(5)]
    flood(client, 'm', 0, 12)  # a0 to a4 are gone; all is not
    for i in ids:
        assert client.feedback('m', id=i, label='tech').status == 200
    assert client('GET', '/v1/models/m').json['names_reused'] == 5 + 12 - 9
    scores = greedy(client, 'm', {'a0': 1})
    assert scores == greedy(client, 'm', {}) and greedy(client, 'm', {'all': 1})['tech'] > scores['tech']
    for first in (3, 9):  # replayed from the start, and from a snapshot
        before = client('GET', '/v1/models/m/snapshot').body
        server.kill()
        client = server.start().client
        assert client('GET', '/v1/models/m/snapshot').body == before
        assert client('POST', '/v1/models/m/snapshot').status == 200
        flood(client, 'm', first, 5)
    assert client('POST', '/v1/models/m/exclude', {'id': ids[1]}).status == 202
    server.wait_for('model_rebuilt')
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal'], models


def test_a_crowd_of_new_names_in_one_example(client):
    """Beyond the free numbers they are ignored, and none takes that of another name of the same example."""
    client.create('m', learner='confident', max_features=5, seed=1)
    teach(client, 'm', {'a': 1, 'b': 1, 'c': 1, 'd': 1, 'e': 1}, 'tech')
    teach(client, 'm', {'d': 1, 'e': 1}, 'tech')
    teach(client, 'm', {'c': 1, 'f': 1, 'g': 1, 'h': 1, 'i': 1}, 'sports')
    about = client('GET', '/v1/models/m').json
    assert (about['features_known'], about['features_ignored'], about['names_reused']) == (5, 2, 2)
    for name, known in (('a', False), ('b', False), ('c', True), ('d', True), ('f', True), ('g', True), ('h', False)):
        assert (greedy(client, 'm', {name: 1}) != greedy(client, 'm', {})) == known, name


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
                           ('m', '{"a":1,}', 'bad_json'), ('m', '{"":1}', 'bad_feature'), ('m', '{"a":[1]}', 'bad_value'),
                           ('m', '{"%s":1}' % ('a' * 513), 'bad_feature'), ('m', '{"a":1e40}', 'bad_value'),
                           ('i', '{"10":1}', 'bad_feature'), ('i', '{"01":1}', 'bad_feature')):
        for path in ('predict', 'scores'):
            reply = client('POST', '/v1/models/%s/%s' % (model, path), '{"x":%s}' % x)
            assert (reply.status, reply.code) == (400, code), x
