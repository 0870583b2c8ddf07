# SPDX-License-Identifier: BSD-3-Clause
"""Eligible and retired labels, and silence as an answer: in the log, over restarts and kills, and in a replay."""
import concurrent.futures
import json
import random
import sqlite3
import subprocess

import pytest
from conftest import HUNCH, Client, housekeeping, until, verify

LABELS = ['a', 'b', 'c', 'd']


def model(client, name='m'):
    reply = client('GET', '/v1/models/' + name)
    assert reply.status == 200, reply.body
    return reply.json


def log(server, sql):
    db = sqlite3.connect('file:%s/models/m/log.db?mode=ro' % server.folder, uri=True)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def sound(server):
    """A replay of the log comes to the same bytes, and every choice comes out the same."""
    code, told = verify(server.folder)
    assert code == 0 and told[0]['equal'] and told[0]['mismatches'] == 0, told


def ask(client, **more):
    return client('POST', '/v1/models/m/predict', dict({'x': {'f': 1}}, **more))


def test_eligible_labels(make_server):
    server = make_server()
    client = server.client
    client.create('m', labels=LABELS, learner='banditron:gamma=0.4')
    seen = set()
    for i in range(60):
        d = ask(client, eligible=['b', 'd'], scores=True).json
        assert d['label'] in 'bd' and d['greedy'] in 'bd'
        assert d['probability'] == pytest.approx(0.8 if d['label'] == d['greedy'] else 0.2)
        assert set(d['scores']) == set(LABELS)
        seen.add(d['label'])
        client.feedback('m', id=d['id'], right=d['label'] == 'd')
    assert seen == {'b', 'd'}
    d = ask(client, eligible=['b', 'd'], probabilities=True).json
    assert set(d['probabilities']) == set(LABELS) and 'scores' not in d
    assert sum(d['probabilities'].values()) == pytest.approx(1)
    assert d['probabilities'][d['label']] == pytest.approx(d['probability'])
    assert d['probabilities']['a'] == d['probabilities']['c'] == 0
    d = ask(client, exclude=['a', 'b', 'd']).json
    assert (d['label'], d['probability']) == ('c', 1)
    assert ask(client, eligible=['a', 'b'], exclude=['a']).json['label'] == 'b'
    until(lambda: model(client)['decisions'] == 63)
    before = model(client)['decisions']
    for body, code in (({'eligible': []}, 'no_label'), ({'exclude': LABELS}, 'no_label'),
                       ({'eligible': ['q']}, 'unknown_label'), ({'exclude': ['q']}, 'unknown_label'),
                       ({'eligible': 'a'}, 'bad_request'), ({'eligible': [{}]}, 'bad_label')):
        reply = ask(client, **body)
        assert (reply.status, reply.code) == (400, code), reply.body
    assert model(client)['decisions'] == before
    until(lambda: log(server, "SELECT eligible, count(*) FROM decisions GROUP BY 1") == [('1', 1), ('1,3', 61), ('2', 1)])
    listed = client('GET', '/v1/models/m/decisions?limit=3').json['decisions']
    assert [one['eligible'] for one in listed] == [['b'], ['c'], ['b', 'd']]
    ask(client, durable=True)
    assert 'eligible' not in client('GET', '/v1/models/m/decisions?limit=1').json['decisions'][0]
    server.stop()
    sound(server)


def test_retired_labels(make_server):
    server = make_server()
    client = server.client
    client.create('m', labels=LABELS, learner='banditron:gamma=0.5')
    assert client('PATCH', '/v1/models/m', {'retire': ['a', 'c']}).json['retired'] == ['a', 'c']
    for _ in range(30):
        assert ask(client).json['label'] in 'bd'
    assert client('POST', '/v1/models/m/teach', {'x': {'f': 1}, 'label': 'a'}).status == 200
    for body in ({'retire': ['b', 'd']}, {'retire': ['q']}, {'retire': 'a'}, {}, {'other': []}):
        assert client('PATCH', '/v1/models/m', body).status == 400, body
    assert ask(client, eligible=['a', 'c']).code == 'no_label'
    server.kill()
    server.start()
    client = server.client
    assert model(client)['retired'] == ['a', 'c']
    assert client('PATCH', '/v1/models/m', {'restore': ['a', 'b', 'c', 'd']}).status == 200
    assert 'retired' not in model(client)
    assert ask(client, eligible=['a', 'c']).status == 200
    server.stop()
    sound(server)


def test_silence_is_an_answer(make_server, clock):
    server = make_server(clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=3600, answer_default='wrong')
    ids = [ask(client, durable=True).json['id'] for _ in range(10)]
    client.feedback('m', id=ids[0], right=True)
    clock.write_text('%d 0' % (1800 * 1000))
    housekeeping(client)
    assert model(client)['silent'] == 0
    clock.write_text('%d 0' % (3700 * 1000))
    until(lambda: model(client)['silent'] == 9)
    m = model(client)
    assert (m['feedback'], m['right'], m['late']) == (10, 1, 0)
    until(lambda: [(one['feedback'] or {}).get('silent', False) for one in client('GET', '/v1/models/m/decisions').json['decisions']] ==
          [True] * 9 + [False])
    # a later answer is reported and counted, once, and changes nothing else
    assert client.feedback('m', id=ids[1], right=True).json['result'] == 'late'
    assert client.feedback('m', id=ids[1], right=True).json['result'] == 'already'
    assert client.feedback('m', id=ids[0], right=False).status == 409
    m = model(client)
    assert (m['feedback'], m['right'], m['late']) == (10, 1, 1)
    server.kill()
    server.start()
    client = server.client
    assert client.feedback('m', id=ids[2], right=True).json['result'] == 'late'
    assert client.feedback('m', id=ids[1], right=True).json['result'] == 'already'
    housekeeping(client)
    m = model(client)
    assert (m['silent'], m['feedback'], m['right'], m['late']) == (9, 10, 1, 2)
    server.stop()
    sound(server)


def test_charts_are_the_same_after_a_restart(make_server, clock):
    """Default answers and the control's choices count neither as errors nor as exploration."""
    server = make_server(clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=60, answer_default='wrong', control={'share': 0.5, 'by': 'uniform'})
    for i in range(60):
        d = ask(client, durable=True).json
        if i % 2:
            client.feedback('m', id=d['id'], right=d['label'] == 'a')
    clock.write_text('%d 0' % (100 * 1000))
    until(lambda: model(client)['silent'] == 30)

    def charts():
        slices = client('GET', '/v1/models/m/stats?span=day').json['slices']
        return [sum(one[key] for one in slices) for key in ('decisions', 'answers', 'wrong', 'explored')]
    before, rate = charts(), model(client)['error_rate']
    assert before[:2] == [60, 30]
    server.stop()
    client = server.start().client
    assert charts() == before and model(client)['error_rate'] == rate
    server.stop()


def test_late_feedback_replaces(make_server, clock):
    server = make_server(clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=60, answer_default='right', late_feedback='replace')
    ids = [ask(client, durable=True).json for _ in range(6)]
    clock.write_text('%d 0' % (100 * 1000))
    until(lambda: model(client)['silent'] == 6)
    assert client.feedback('m', id=ids[0]['id'], right=False).json['result'] == 'replaced'
    assert client.feedback('m', id=ids[1]['id'], label=ids[1]['label']).json['result'] == 'replaced'
    m = model(client)
    assert (m['feedback'], m['right'], m['late'], m['told']) == (6, 5, 2, 1)
    server.stop()
    sound(server)


def test_late_feedback_and_retention(make_server, clock):
    """What silence has answered can still be answered, so its decision stays in the log; then it may go."""
    server = make_server('--keep-days', '1', clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=60, answer_default='wrong', late_feedback='replace')
    told = ask(client, durable=True).json['id']
    client.feedback('m', id=told, right=True)
    ids = [ask(client, durable=True).json['id'] for _ in range(4)]

    def later(days):
        clock.write_text('%d 0' % (days * 86400 * 1000))
        for _ in range(2):
            client('POST', '/v1/models/m/teach', {'x': {'f': 1}, 'label': LABELS[0]})
            assert client('POST', '/v1/models/m/snapshot').status == 200
    later(2)
    until(lambda: model(client)['silent'] == 4)
    later(4)
    until(lambda: log(server, 'SELECT min(seq) FROM decisions') == [(3,)])  # the first one has gone
    assert [client.feedback('m', id=i, right=True).json['result'] for i in ids[:2]] == ['replaced'] * 2
    server.kill()
    client = server.start().client
    assert model(client)['status'] == 'ok' and model(client)['late'] == 2, model(client)
    assert client.feedback('m', id=ids[2], right=True).json['result'] == 'replaced'
    assert client.feedback('m', id=ids[2], right=True).json['result'] == 'already'
    server.stop()
    assert verify(server.folder)[0] == 0


def test_a_clock_that_jumps_answers_nothing(make_server, clock):
    server = make_server(clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=3600, answer_default='wrong')
    for _ in range(50):
        ask(client, durable=True)
    clock.write_text('0 %d' % (86400 * 1000))
    assert server.wait_for('clock_jumped')
    housekeeping(client)
    assert model(client)['silent'] == 0


def test_silence_after_a_pause(make_server, clock):
    """The pause may be a wrong clock, so it counts for no decision; but what happens after it has its own time at once."""
    server = make_server(clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=600, answer_default='wrong')
    for _ in range(20):
        ask(client, durable=True)
    server.stop()
    clock.write_text('%d 0' % (5 * 3600 * 1000))
    client = server.start().client
    housekeeping(client)
    assert model(client)['silent'] == 0  # they have waited for no time that is certain
    assert server.seen('clock_unconfirmed')
    late = ask(client, durable=True).json['id']
    waits = ask(client, defer=True, durable=True).json['id']
    clock.write_text('%d 0' % (5 * 3600 * 1000 + 300 * 1000))
    assert client('POST', '/v1/models/m/activate', {'id': waits}).status == 200
    clock.write_text('%d 0' % (5 * 3600 * 1000 + 700 * 1000))
    until(lambda: model(client)['silent'] == 21)
    assert client.feedback('m', id=late, right=True).json['result'] == 'late'
    clock.write_text('%d 0' % (5 * 3600 * 1000 + 1000 * 1000))
    until(lambda: model(client)['silent'] == 22)
    server.stop()
    sound(server)


def test_settings_of_silence(make_server):
    client = make_server().client
    for bad in ({'answer_after': 10}, {'answer_default': 'wrong'}, {'answer_after': 0, 'answer_default': 'wrong'},
                {'answer_after': 10, 'answer_default': 'maybe'}, {'late_feedback': 'keep'},
                {'answer_after': 20, 'answer_default': 'right', 'ttl_seconds': 10},
                {'answer_after': 10, 'answer_default': 'right', 'late_feedback': 'ignore'}):
        reply = client('PUT', '/v1/models/m', dict(labels=LABELS, **bad))
        assert (reply.status, reply.code) == (400, 'bad_setting'), bad
    settings = dict(labels=LABELS, answer_after=10, answer_default='right', late_feedback='replace')
    made = client('PUT', '/v1/models/m', settings).json
    assert {name: made[name] for name in settings} == settings
    assert client('PUT', '/v1/models/m', settings).status == 200
    assert client('PUT', '/v1/models/m', dict(settings, answer_after=11)).status == 409


def test_shadows_see_it_all_and_crashes_lose_nothing(make_server, clock):
    server = make_server('--snapshot-events', '100', clock=clock)
    client = server.client
    client.create('m', labels=LABELS, learner='banditron:gamma=0.3', seed=1, answer_after=60, answer_default='wrong',
                  late_feedback='replace')
    assert client('POST', '/v1/models/m/versions', {'learner': 'confident', 'seed': 3}).status == 202
    pick = random.Random(4)
    passed, ids = 0, []
    for i in range(300):
        more = {}
        if pick.random() < 0.5:
            more['eligible'] = pick.sample(LABELS, pick.randrange(1, 5))
        if i % 60 == 20:
            client('PATCH', '/v1/models/m', {'retire': ['c']} if i % 120 == 20 else {'restore': ['c']})
        reply = ask(client, **more)
        if reply.status == 400:  # only the retired label was eligible
            assert more['eligible'] == ['c']
            continue
        ids.append((reply.json['id'], reply.json['label'] == 'b'))
        if pick.random() < 0.6:
            id, right = ids.pop(pick.randrange(len(ids)))
            assert client.feedback('m', id=id, right=right).status in (200, 404, 409)
        if i % 50 == 40:
            passed += 40
            clock.write_text('%d 0' % (passed * 1000))
            housekeeping(client)
        if i in (120, 250):
            server.kill()
            server.start()
            client = server.client
    until(lambda: len(client('GET', '/v1/models/m/versions').json['versions']) == 2)
    m = model(client)
    assert m['silent'] > 10 and m['late'] >= 0
    server.stop()
    sound(server)


def test_labels_with_examples(make_server):
    server = make_server()
    client = server.client
    labels = [{'name': 'refund', 'examples': [{'x': {'money': 1}}, {'x': {'money': 1, 'back': 1}}]}, 'fax',
              {'name': 'login', 'examples': [{'x': {'password': 1}}]}]
    settings = {'learner': 'confident', 'seed': 1}
    for bad in ([{'name': 'a', 'examples': [{'x': {'f': 1}}, {'x': 7}]}, 'b'], [{'name': 'a', 'more': 1}],
                [{'examples': []}], [{'name': 'a', 'examples': [{'row': {'c': 1}}]}], [{'name': 'a', 'examples': {}}],
                [{'name': 'a', 'examples': [{'x': {'f': 1}, 'label': 'b'}]}, 'b']):
        reply = client('PUT', '/v1/models/m', dict(settings, labels=bad))
        assert reply.status == 400, reply.body
        assert client('GET', '/v1/models/m').status == 404, bad
    made = client('PUT', '/v1/models/m', dict(settings, labels=labels))
    assert made.status == 201, made.body
    assert made.json['labels'] == ['refund', 'fax', 'login'] and made.json['lessons'] == 3
    again = client('PUT', '/v1/models/m', dict(settings, labels=labels))
    assert (again.status, again.json['lessons']) == (200, 3)
    assert client('POST', '/v1/models/m/scores', {'x': {'password': 1}}).json['greedy'] == 'login'
    assert client('POST', '/v1/models/m/scores', {'x': {'money': 1}}).json['greedy'] == 'refund'
    until(lambda: log(server, 'SELECT label FROM lessons ORDER BY seq') == [(0,), (2,), (0,)])
    server.kill()
    server.start()
    until(lambda: model(server.client)['lessons'] == 3)
    server.stop()
    sound(server)


def test_descriptions_are_examples(make_server):
    server = make_server()
    client = server.client
    schema = {'version': 1, 'columns': [{'name': 'subject', 'role': 'text'}, {'name': 'team', 'role': 'label'}]}
    labels = [{'name': 'refund', 'description': 'money back', 'examples': [{'row': {'subject': 'charged twice'}}, {'text': 'my card'}]},
              {'name': 'login', 'description': 'password forgotten'}, 'other']
    settings = {'learner': 'confident', 'seed': 1}
    reply = client('PUT', '/v1/models/m', dict(settings, labels=labels[1:]))
    assert (reply.status, reply.code) == (400, 'no_text') and client('GET', '/v1/models/m').status == 404
    for bad in ({'text': 3}, {'text': 'a', 'x': {'f': 1}}):
        bad = [{'name': 'a', 'examples': [bad]}, 'b']
        assert client('PUT', '/v1/models/m', dict(settings, labels=bad, schema=schema)).code == 'bad_request'
    for bad in (3, ['x'], None):
        assert client('PUT', '/v1/models/m', dict(settings, labels=[{'name': 'a', 'description': bad}])).code == 'bad_label'
    made = client('PUT', '/v1/models/m', dict(settings, labels=labels, schema=schema))
    assert made.status == 201 and made.json['lessons'] == 4, made.body
    for subject, label in (('my money', 'refund'), ('forgotten it', 'login'), ('Refund?', 'refund'), ('twice', 'refund')):
        assert client('POST', '/v1/models/m/scores', {'row': {'subject': subject}}).json['greedy'] == label, subject
    server.stop()
    sound(server)


def test_the_callers_own_id(make_server):
    server = make_server()
    client = server.client
    client.create('m', labels=LABELS, learner='banditron:gamma=0.9', seed=1)
    first = {}
    for i in range(20):
        first[i] = ask(client, event='page %d' % i, durable=i % 2 == 0).json
    for i in range(20):  # some are on disk by now, some may not be
        again = ask(client, event='page %d' % i, scores=True).json
        assert all(again[k] == first[i][k] for k in ('id', 'label', 'greedy', 'probability'))
        assert set(again['scores']) == set(LABELS)
    assert model(client)['decisions'] == 20
    assert client.feedback('m', id=first[0]['id'], right=True).status == 200
    until(lambda: log(server, 'SELECT count(*) FROM decisions') == [(20,)])
    server.kill()
    server.start()
    client = server.client
    for i in range(20):
        assert ask(client, event='page %d' % i).json['id'] == first[i]['id']
    assert model(client)['decisions'] == 20
    assert ask(client, event='another').json['id'] not in {d['id'] for d in first.values()}
    for bad in ('', 'x' * 129, 3, None):
        assert ask(client, event=bad).status == 400, bad
    assert log(server, "SELECT given_id FROM decisions WHERE seq = 1") == [('page 0',)]
    server.stop()
    sound(server)


def test_explanations(make_server):
    server = make_server()
    client = server.client
    client.create('m', labels=['sport', 'politics'], learner='perceptron', seed=1)

    def explain(**asked):
        return client('POST', '/v1/models/m/explain', asked)
    for _ in range(3):
        client('POST', '/v1/models/m/teach', {'x': {'goal': 1, 'the': 1}, 'label': 'sport'})
        client('POST', '/v1/models/m/teach', {'x': {'vote': 1, 'the': 1}, 'label': 'politics'})
    told = explain(x={'goal': 2, 'the': 1, 'unheard': 1}).json
    assert told['label'] == 'sport' and told['explanation'][0] == {'feature': 'goal', 'amount': 2}
    scores = client('POST', '/v1/models/m/scores', {'x': {'goal': 2, 'the': 1}}).json['scores']
    without = client('POST', '/v1/models/m/scores', {'x': {'the': 1}}).json['scores']
    other = {f['feature']: f['amount'] for f in explain(x={'goal': 2, 'the': 1}, label='politics').json['explanation']}
    assert other['goal'] == pytest.approx(scores['politics'] - without['politics'])
    d = client('POST', '/v1/models/m/predict', {'x': {'vote': 1}, 'exclude': ['politics'], 'durable': True}).json
    assert explain(id=d['id']).json == explain(x={'vote': 1}, label='sport').json  # the label shown, not the best
    batch = client('POST', '/v1/models/m/explain', [{'id': d['id']}, {'x': {'goal': 1}}, {'id': 'no'}]).json
    assert [b.get('label') for b in batch] == ['sport', 'sport', None] and batch[2]['status'] == 404
    before = model(client)
    for bad, code in (({}, 400), ({'id': d['id'], 'x': {'goal': 1}}, 400), ({'id': d['id'], 'label': 'sport'}, 400),
                      ({'x': {'goal': 1}, 'label': 'q'}, 400), ({'id': '%016x-%016x' % (99, 99)}, 404)):
        assert explain(**bad).status == code, bad
    assert model(client) == before
    server.stop()
    server = make_server('--max-scores', '10', folder=server.folder)
    reply = server.client('POST', '/v1/models/m/explain', {'x': {name: 1 for name in 'abcdef'}})
    assert (reply.status, reply.code) == (413, 'too_many_scores')


def replay(server, *more):
    """What `hunch replay` says of the model's log."""
    done = subprocess.run([HUNCH, 'replay', '-q', '--json', '%s/models/m/log.db' % server.folder, *more],
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize('late', ['keep', 'replace'])
def test_a_replay_counts_late_feedback_as_the_model_does(make_server, clock, late):
    server = make_server(clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=60, answer_default='wrong', late_feedback=late)
    ids = [ask(client, durable=True).json['id'] for _ in range(8)]
    clock.write_text('%d 0' % (100 * 1000))
    until(lambda: model(client)['silent'] == 8)
    for i in ids[:3]:
        client.feedback('m', id=i, right=True)
    m = model(client)
    assert (m['feedback'], m['right'], m['late']) == (8, 3 if late == 'replace' else 0, 3)
    server.stop()
    told = replay(server, '--policy', 'logged')
    assert (told['rounds'], told['right']) == (8, m['right'] / 8)


def test_a_replay_retires_labels_where_the_log_does(make_server):
    """Policies choose among the labels that could be shown: a uniform one shows each of three with the chance 1/3."""
    server = make_server()
    client = server.client
    client.create('m', labels=LABELS, learner='banditron:gamma=0.6', seed=1)
    expected = []
    for active, change in ((4, {}), (3, {'retire': ['b']}), (2, {'retire': ['d']}), (3, {'restore': ['b']})):
        if change:
            assert client('PATCH', '/v1/models/m', change).status == 200
        for i in range(40):
            among = ['a', 'd'] if i % 4 == 0 else LABELS
            d = ask(client, eligible=among).json if i % 2 == 0 else ask(client, exclude=[]).json if i % 3 else ask(client).json
            retired = model(client).get('retired', [])
            n = len([k for k in (among if i % 2 == 0 else LABELS) if k not in retired])
            client.feedback('m', id=d['id'], right=d['label'] == 'a')
            expected.append((d['label'] == 'a') / d['probability'] / n)
        assert len(LABELS) - len(model(client).get('retired', [])) == active
    server.stop()
    ips = replay(server, '--policy', 'uniform')['policies'][0]['estimates']['ips']
    assert ips['value'] == pytest.approx(sum(expected) / len(expected), abs=1e-9)


def test_a_repeated_request_needs_no_eligible_label(make_server):
    """The label that was shown may have been retired since."""
    client = make_server().client
    client.create('m', labels=LABELS)
    first = ask(client, eligible=['a'], event='page 1', durable=True).json
    assert client('PATCH', '/v1/models/m', {'retire': ['a']}).status == 200
    again = ask(client, eligible=['a'], event='page 1')
    assert again.status == 200, again.body
    assert all(again.json[k] == first[k] for k in ('id', 'label', 'greedy', 'probability'))
    assert ask(client, eligible=['a'], event='page 2').code == 'no_label'


def test_a_refused_change_retires_nothing(make_server):
    client = make_server().client
    client.create('m', labels=LABELS)
    before = model(client)
    reply = client('PATCH', '/v1/models/m', {'retire': ['a', 'b', 'a', 'c', 'd']})
    assert reply.status == 400 and model(client) == before
    assert client('PATCH', '/v1/models/m', {'retire': ['a', 'b', 'a', 'c']}).json['retired'] == ['a', 'b', 'c']


def test_ids_of_clients_while_decisions_are_listed(make_server):
    """Both read the log and need the model's lock: in one order."""
    server = make_server()
    server.client.create('m', labels=LABELS)
    server.client('POST', '/v1/models/m/predict', [{'x': {'f': 1}, 'durable': True}] * 500)

    def several(request):
        client = Client(server.port)
        for k in range(50):
            assert request(client, k).status == 200
    requests = [lambda c, k: ask(c, event='page %d' % (k % 40)), lambda c, k: c('GET', '/v1/models/m/decisions?limit=1000')]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(several, request) for request in requests * 3]:
            done.result()
