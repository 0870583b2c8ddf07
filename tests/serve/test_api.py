# SPDX-License-Identifier: BSD-3-Clause
"""Models, predictions, feedback, batches: what the endpoints do."""
import json


def test_a_round(client):
    client.create('news', learner='banditron:gamma=0.2')
    d = client.predict('news', {'user=42': 1, 'hour': 0.7})
    assert set(d) == {'id', 'label', 'greedy', 'probability', 'confidence'}
    assert abs(d['confidence'] - 1 / 3) < 1e-12  # nothing has been answered yet
    assert d['label'] in ['sports', 'politics', 'tech'] and 0 < d['probability'] <= 1
    assert len(d['id']) == 33
    reply = client.feedback('news', id=d['id'], right=False)
    assert (reply.status, reply.json) == (200, {'id': d['id'], 'result': 'learned'})


def test_ids_begin_with_their_place(client):
    client.create('m')
    assert [client.predict('m', {})['id'][:17] for _ in range(2)] == ['0000000000000001-', '0000000000000002-']


def test_feedback_again_is_already_and_other_is_conflict(client):
    client.create('m')
    d = client.predict('m', {'a': 1})
    assert client.feedback('m', id=d['id'], right=True).json['result'] == 'learned'
    assert client.feedback('m', id=d['id'], right=True).json['result'] == 'already'
    assert client.feedback('m', id=d['id'], label=d['label']).json['result'] == 'already'  # the same thing said
    reply = client.feedback('m', id=d['id'], right=False)
    assert (reply.status, reply.code) == (409, 'conflict')
    model = client('GET', '/v1/models/m').json
    assert (model['feedback'], model['right'], model['pending']) == (1, 1, 0)


def test_unknown_ids(client):
    client.create('m')
    d = client.predict('m', {'a': 1})
    other = d['id'][:-1] + ('0' if d['id'][-1] != '0' else '1')  # the right number, the wrong secret
    for bad in [other, '', 'x', d['id'].upper().replace('0', 'F'), d['id'] + '0', 'ffffffffffffffff-' + 'f' * 16]:
        reply = client.feedback('m', id=bad, right=True)
        assert (reply.status, reply.code) == (404, 'unknown_id'), bad
    reply = client.feedback('none', id=d['id'], right=True)
    assert (reply.status, reply.code) == (404, 'unknown_model')


def test_the_true_label_teaches(client):
    client.create('m', learner='perceptron')
    for _ in range(5):
        d = client.predict('m', {'a': 1})
        assert client.feedback('m', id=d['id'], label='tech').status == 200
    assert client.predict('m', {'a': 1})['greedy'] == 'tech'
    model = client('GET', '/v1/models/m').json
    assert model['told'] == 5
    d = client.predict('m', {'a': 1})
    reply = client.feedback('m', id=d['id'], label='weather')
    assert (reply.status, reply.code) == (400, 'unknown_label')


def test_teach_without_a_decision(client):
    client.create('m', learner='perceptron')
    for _ in range(5):
        assert client('POST', '/v1/models/m/teach', {'x': {'a': 1}, 'label': 'politics'}).json == {'result': 'learned'}
    assert client('POST', '/v1/models/m/scores', {'x': {'a': 1}}).json['greedy'] == 'politics'
    assert client('GET', '/v1/models/m').json['lessons'] == 5
    assert client('POST', '/v1/models/m/teach', {'x': {'a': 1}}).code == 'bad_label'


def test_scores_change_nothing(server):
    client = server.client
    client.create('m')
    before = client('GET', '/v1/models/m/snapshot').body
    for x in ({'new': 1}, {}, {'other': 2.5}):
        reply = client('POST', '/v1/models/m/scores', {'x': x}).json
        assert set(reply['scores']) == {'sports', 'politics', 'tech'} and reply['greedy'] in reply['scores']
    assert client('GET', '/v1/models/m/snapshot').body == before
    assert set(client.predict('m', {'a': 1}, scores=True)['scores']) == {'sports', 'politics', 'tech'}


def test_labels_can_be_added(client):
    client.create('m', learner='perceptron')
    reply = client('POST', '/v1/models/m/labels', {'labels': ['weather', 'tech', 'food']})
    assert reply.json == {'added': 2, 'labels': 5}
    for _ in range(5):
        client('POST', '/v1/models/m/teach', {'x': {'sun': 1}, 'label': 'weather'})
    assert client('POST', '/v1/models/m/scores', {'x': {'sun': 1}}).json['greedy'] == 'weather'
    assert client('GET', '/v1/models/m').json['labels'] == ['sports', 'politics', 'tech', 'weather', 'food']
    for wrong in ({'not': 'a label'}, '', 1.5, 'x' * 100000):
        reply = client('POST', '/v1/models/m/labels', {'labels': ['snow', wrong]})
        assert reply.status == 400 and reply.code == 'bad_label', reply.body
    assert len(client('GET', '/v1/models/m').json['labels']) == 5


def test_batch_as_array(client):
    client.create('m')
    reply = client('POST', '/v1/models/m/predict', [{'x': {'a': 1}}, {'x': 3}, {'x': {'b': 1}, 'scores': True}])
    one, bad, two = reply.json
    assert reply.status == 200 and bad['status'] == 400 and bad['error']['code'] == 'bad_x' and 'scores' in two
    reply = client('POST', '/v1/models/m/feedback', [{'id': one['id'], 'right': True}, {'id': two['id'], 'right': False},
                                                     {'id': one['id'], 'right': True}, {'id': 'no', 'right': True}])
    assert [item.get('result') or item['status'] for item in reply.json] == ['learned', 'learned', 'already', 404]
    assert client('POST', '/v1/models/m/predict', []).json == []


def test_batch_as_lines(client):
    client.create('m')
    kind = {'Content-Type': 'application/x-ndjson'}
    reply = client('POST', '/v1/models/m/predict', '{"x":{"a":1}}\n\n{"x":{"a":}}\n{"x":{"b":1}}', kind)
    assert reply.status == 200 and reply.headers['Content-Type'] == 'application/x-ndjson'
    one, bad, two = [json.loads(line) for line in reply.body.splitlines()]
    assert bad['status'] == 400 and (bad['error']['line'], bad['error']['position']) == (3, 25)
    lines = ''.join(json.dumps({'id': d['id'], 'right': True}) + '\n' for d in (one, two))
    reply = client('POST', '/v1/models/m/feedback', lines, kind)
    assert [json.loads(line)['result'] for line in reply.body.splitlines()] == ['learned', 'learned']


def test_models_live_and_die(client):
    for name in ('b', 'a', 'c.2_x-Y'):
        client.create(name)
    assert [m['name'] for m in client('GET', '/v1/models').json['models']] == ['a', 'b', 'c.2_x-Y']
    d = client.predict('a', {'z': 1})
    assert client('DELETE', '/v1/models/a').json == {'result': 'deleted'}
    assert client('DELETE', '/v1/models/a').code == 'unknown_model'
    assert client('POST', '/v1/models/a/predict', {'x': {}}).status == 404
    client.create('a', labels=['x', 'y'])
    assert client.feedback('a', id=d['id'], right=True).code == 'unknown_id'
    assert client('GET', '/v1/models/a').json['decisions'] == 0


def test_create_again(client):
    settings = {'learner': 'banditron', 'labels': ['a', 'b'], 'seed': 7}
    assert client('PUT', '/v1/models/m', settings).status == 201
    assert client('PUT', '/v1/models/m', settings).status == 200
    assert client('PUT', '/v1/models/m', {'learner': 'banditron', 'labels': ['a', 'b']}).status == 200
    for change in ({'labels': ['a', 'c']}, {'learner': 'perceptron'}, {'seed': 8}, {'ttl_seconds': 5}, {'memory': 5}):
        reply = client('PUT', '/v1/models/m', dict(settings, **change))
        assert (reply.status, reply.code) == (409, 'model_exists'), change


def test_bad_settings(client):
    good = {'labels': ['a', 'b']}
    for bad in ({'learner': 'nonsense'}, {'learner': 'banditron:gamma=7'}, {'learner': 3}, {'labels': []},
                {'labels': ['a', 'a']}, {'labels': 'a'}, {'labels': [None]}, {'labels': ['']}, {'classes': 2},
                {'features': 'other'}, {'hash_bits': 3}, {'features': 'hashed', 'hash_bits': 27}, {'seed': -1},
                {'ttl_seconds': 0}, {'max_features': 0}, {'memory': -1}, {'typo': 1}):
        reply = client('PUT', '/v1/models/m', dict(good, **bad))
        assert reply.status == 400, (bad, reply.body)
    assert client('PUT', '/v1/models/m', {'classes': 0}).status == 400
    assert client('PUT', '/v1/models/m', [1]).status == 400
    assert client('GET', '/v1/models').json == {'models': []}


def test_bad_requests(client):
    client.create('m')
    d = client.predict('m', {'a': 1})
    for path, body in (('predict', {}), ('predict', {'x': {}, 'y': 1}), ('predict', {'x': None}), ('predict', 3),
                       ('predict', {'x': [1, 2]}), ('predict', {'x': {'a': [1]}}),
                       ('predict', {'x': {'a': 1e39}}), ('predict', {'x': {'': 1}}), ('predict', {'x': {}, 'scores': 1}),
                       ('feedback', {'id': d['id']}), ('feedback', {'id': d['id'], 'right': 1}),
                       ('feedback', {'id': d['id'], 'right': True, 'label': 'tech'}), ('feedback', {'right': True}),
                       ('feedback', {'id': 3, 'right': True}), ('labels', {'labels': []}), ('labels', {})):
        reply = client('POST', '/v1/models/m/' + path, body)
        assert reply.status == 400, (path, body, reply.body)
    assert client('GET', '/v1/models/m').json['decisions'] == 1


def test_decisions_are_listed(client):
    client.create('m')
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(5)]
    client.feedback('m', id=ids[3], label='tech')
    listed = client('GET', '/v1/models/m/decisions?limit=3').json['decisions']
    assert [d['id'] for d in listed] == ids[:1:-1] and [d['x'] for d in listed] == [{'a': 4}, {'a': 3}, {'a': 2}]
    assert listed[1]['feedback']['label'] == 'tech' and listed[0]['feedback'] is None
    one = client('GET', '/v1/models/m/decisions/' + ids[0]).json
    assert one['id'] == ids[0] and one['x'] == {'a': 0} and one['seen'] == 0
    assert client('GET', '/v1/models/m/decisions/' + ids[0][:-1]).status == 404
    assert client('GET', '/v1/models/m/decisions?limit=x').status == 400


def test_decisions_are_paged_by_id(client):
    client.create('m')
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(7)]
    seen, rest = [], ''
    while True:
        page = client('GET', '/v1/models/m/decisions?limit=3' + rest).json['decisions']
        seen += [d['id'] for d in page]
        if not page:
            break
        rest = '&before=' + seen[-1]
    assert seen == ids[::-1]
    for unknown in (ids[0][:-1] + ('0' if ids[0][-1] != '0' else '1'), 'not-an-id'):
        assert client('GET', '/v1/models/m/decisions?before=' + unknown).code == 'unknown_id'


def test_decisions_before_a_place(client):
    client.create('m')
    ids = [client.predict('m', {'a': i}, durable=True)['id'] for i in range(5)]
    before = int(ids[2][:16], 16)
    listed = client('GET', '/v1/models/m/decisions?before=%d' % before).json['decisions']
    assert [d['id'] for d in listed] == [ids[1], ids[0]]


def test_order_of_predictions_and_feedback(client):
    """A prediction sees all feedback that was acknowledged before it was asked for."""
    client.create('m', learner='banditron:gamma=0.3', seed=1)
    seen = []
    for i in range(20):
        d = client.predict('m', {'a': 1})
        assert client.feedback('m', id=d['id'], right=i % 2 == 0).status == 200
        seen.append(client('GET', '/v1/models/m/decisions?limit=1').json['decisions'][0]['seen'])
    assert seen == list(range(20))


def test_same_seed_same_life(make_server, tmp_path):
    """Two servers, the same requests: the same bytes."""
    models = []
    for name in ('one', 'two'):
        client = make_server(folder=tmp_path / name).client
        client.create('m', learner='soba', seed=3)
        for i in range(50):
            d = client.predict('m', {'f%d' % (i % 7): 1, 'bias': 1})
            client.feedback('m', id=d['id'], right=d['label'] == 'tech')
        models.append(client('GET', '/v1/models/m/snapshot').body)
    assert models[0] == models[1]


def test_learners_are_listed(client):
    table = client('GET', '/v1/learners').json
    names = [learner['name'] for learner in table['learners']]
    assert table['default'] in names and {'banditron', 'confidit'} <= set(names)
    for learner in table['learners']:
        assert learner['title'] and all(s['name'] and s['kind'] for s in learner['settings'])


def test_an_unknown_field_is_refused_with_those_that_are_known(client):
    client.create('m')
    reply = client('POST', '/v1/models/m/predict', {'user': 1})
    assert reply.status == 400 and reply.json['error']['message'].startswith('unknown field "user"; the fields are: x, row, ')
    reply = client('POST', '/v1/models/m/teach', {'x': {'a': 1}, 'é' * 60: 1})  # cut, and still UTF-8
    assert reply.status == 400 and 'the fields are: x, row, label' in reply.json['error']['message']
