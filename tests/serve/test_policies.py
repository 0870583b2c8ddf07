# SPDX-License-Identifier: BSD-3-Clause
"""Who decides: the application's own choices, controls, deferred decisions; in the log, over kills, in a replay."""
import math
import random

import pytest
from conftest import housekeeping, until
from test_decisions import LABELS, ask, log, model, sound


def say(client, d, right):
    reply = client.feedback('m', id=d['id'], right=right)
    assert reply.status == 200, reply.body


def comparison(client):
    return client('GET', '/v1/models/m/comparison').json


def rows(server, n, seq=0):
    """The n answered decisions: who chose, the label's probability, the model's, agreement, right."""
    def told():
        return log(server, 'SELECT chosen_by, probability, model_probability, label = greedy, was_right FROM log'
                           ' WHERE was_right IS NOT NULL AND seq > %d ORDER BY feedback_seq' % seq)
    until(lambda: len(told()) == n)  # of a group: known by the journal first, then in the log
    return told()


def lower(x, confidence):
    """The bound of value_bounds.h, written from its formula."""
    guess, deviations, total = 0.5, 0.0, 0.0
    for i, v in enumerate(x):
        deviations += (v - min(1, (total + 0.5) / (i + 1))) ** 2
        total += v

    def wealth(m):
        rates = [0.5 ** (j + 1) for j in range(16)]
        return sum(math.exp(min(700, b * (total - len(x) * m) + (math.log1p(-b) + b) * deviations)) for b in rates) / 16
    low, high = 0.0, 1.0
    if wealth(0) < 2 / (1 - confidence):
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if wealth(middle) >= 2 / (1 - confidence) else (low, middle)
    return low


def check_side(said, weights, rights, confidence=0.95):
    right = [w * r for w, r in zip(weights, rights)]
    assert said['answers'] == len(right)
    assert said['right'] == pytest.approx(min(1, sum(right) / len(right)))
    assert said['low'] == pytest.approx(lower(right, confidence), abs=1e-9)
    assert said['high'] == pytest.approx(1 - lower([w * (1 - r) for w, r in zip(weights, rights)], confidence), abs=1e-9)


def truth(i):
    return LABELS[i % 4]


def test_apprentice_and_live(make_server):
    server = make_server()
    client = server.client
    client.create('m', labels=LABELS, learner='banditron:gamma=0.2', seed=1, decides='baseline')
    pick = random.Random(1)
    assert ask(client).code == 'no_baseline'
    for i in range(300):  # the application guesses at random; the model learns from it
        label = pick.choice(LABELS)
        x = {'f%d' % (i % 4): 1}
        if i % 3:
            d = ask(client, x=x, baseline=label, baseline_probability=0.25).json
        else:
            d = client('POST', '/v1/models/m/decisions', {'x': x, 'label': label, 'probability': 0.25}).json
        assert (d['label'], d['probability'], d['chosen_by']) == (label, 0.25, 'baseline')
        say(client, d, label == truth(i))
    d = client('POST', '/v1/models/m/decisions', {'x': {'f0': 1}, 'label': 'b'}).json  # with unknown probability
    assert d['probability'] is None
    say(client, d, False)
    c = comparison(client)
    assert c['policy'] == {'decides': 'baseline', 'control': None} and c['baseline']['decisions'] == 301
    got = rows(server, 301)
    check_side(c['baseline'], [1] * len(got), [r[4] for r in got])
    known = [r for r in got if r[1] is not None]
    assert len(known) == 300
    check_side(c['model_instead'], [r[2] / r[1] for r in known], [r[4] for r in known])
    assert c['model_instead']['same'] == sum(r[3] for r in got)
    assert c['model_instead']['right'] > 0.5 > 0.35 > c['baseline']['right']  # banditron is right in four of five
    m = model(client)
    assert (m['decisions'], m['explored'], m['decides'], m['control']) == (301, 0, 'baseline', None)
    assert client('PATCH', '/v1/models/m', {'decides': 'model'}).json['decides'] == 'model'
    right = 0
    for i in range(100):  # the same request as before, which says what the application would have done
        d = ask(client, x={'f%d' % (i % 4): 1}, baseline=pick.choice(LABELS)).json
        assert 'chosen_by' not in d
        right += d['label'] == truth(i)
    assert right > 60
    assert comparison(client)['baseline']['decisions'] == 0  # anew
    server.kill()
    server.start()
    assert model(server.client)['decides'] == 'model'
    server.stop()
    sound(server)


@pytest.mark.parametrize('control', [{'share': 0.3, 'by': 'uniform'}, {'share': 0.3, 'label': 'b'},
                                     {'share': 0.3, 'by': 'baseline'}])
def test_control(make_server, control):
    server = make_server('--snapshot-events', '200')
    client = server.client
    client.create('m', labels=LABELS, seed=1)
    for i in range(20):  # before there is a control: not compared with it
        say(client, ask(client, x={'f%d' % (i % 4): 1}).json, False)
    assert client('PATCH', '/v1/models/m', {'control': control}).json['control'] == control
    assert client('PATCH', '/v1/models/m', {'control': control}).status == 200  # nothing changes
    since = comparison(client)['since_seq']
    by = []
    for i in range(400):
        eligible = LABELS if i % 5 else ['c', 'd']
        own = 'c' if i % 5 == 0 else 'a'
        d = ask(client, x={'f%d' % (i % 4): 1}, eligible=eligible, baseline=own).json
        assert d['label'] in eligible
        by.append(d.get('chosen_by', 'model'))
        if by[-1] == 'control':
            if control.get('by') == 'baseline':
                assert (d['label'], d['probability']) == (own, 1)
            elif 'label' in control and i % 5:
                assert (d['label'], d['probability']) == ('b', 1)
            else:  # a fixed label that may not be shown is replaced by a uniform one
                assert d['probability'] == pytest.approx(1 / len(eligible))
        say(client, d, d['label'] == truth(i))
        if i == 250:
            server.kill()
            server.start()
            client = server.client
    assert set(by) == {'model', 'control'} and 80 < by.count('control') < 160
    c = comparison(client)
    assert c['since_seq'] == since and c['model']['decisions'] == by.count('model')
    got = rows(server, len(by), since)
    sides = [[r[4] for r in got if (r[0] == 'model') == want] for want in (True, False)]
    check_side(c['model'], [1] * len(sides[0]), sides[0])
    check_side(c['control'], [1] * len(sides[1]), sides[1])
    lift = c['lift']
    assert lift['value'] == pytest.approx(c['model']['right'] - c['control']['right'])
    assert lift['low'] < lift['value'] < lift['high']
    assert lift['low'] > 0.1  # the model knows what to show
    explored = model(client)['explored']
    assert explored == log(server, "SELECT count(*) FROM log WHERE label <> greedy AND chosen_by = 'model'")[0][0]
    server.stop()
    sound(server)


def test_deferred_decisions(make_server, clock):
    server = make_server('--snapshot-events', '10', clock=clock)
    client = server.client
    client.create('m', labels=LABELS, answer_after=3600, answer_default='wrong', ttl_seconds=10000)
    ids = [ask(client, defer=True, durable=True).json['id'] for _ in range(6)]

    def activate(id):
        reply = client('POST', '/v1/models/m/activate', {'id': id})
        return reply.json['result'] if reply.status == 200 else reply.code

    clock.write_text('%d 0' % (3000 * 1000))
    assert client.feedback('m', id=ids[0], right=True).code == 'not_active'
    assert [activate(ids[0]), activate(ids[0]), activate(ids[1])] == ['activated', 'already', 'activated']
    assert client.feedback('m', id=ids[0], right=True).json['result'] == 'learned'
    now = ask(client, durable=True).json['id']
    assert activate(now) == 'already'  # was never deferred
    clock.write_text('%d 0' % (4000 * 1000))  # an hour after the decisions, not after the activations
    housekeeping(client)
    assert model(client)['silent'] == 0
    server.kill()
    server.start()
    client = server.client
    assert [activate(ids[1]), activate(ids[2])] == ['already', 'activated']
    clock.write_text('%d 0' % (7000 * 1000))
    until(lambda: model(client)['silent'] == 2)  # ids[1] and the one that was not deferred
    clock.write_text('%d 0' % (8000 * 1000))
    until(lambda: model(client)['silent'] == 3)
    assert client.feedback('m', id=ids[1], right=True).json['result'] == 'late'
    many = client('POST', '/v1/models/m/activate', [{'id': ids[2]}, {'id': '1-2'}, {'id': ids[3], 'more': 1}]).json
    assert many[0]['result'] == 'already' and [one['error']['code'] for one in many[1:]] == ['unknown_id', 'bad_request']
    clock.write_text('%d 0' % (11000 * 1000))  # the rest was never shown: dropped without a lesson
    until(lambda: model(client)['expired'] == 3)
    assert activate(ids[4]) == 'expired_id' and client.feedback('m', id=ids[4], right=True).status in (404, 409)
    m = model(client)
    assert (m['deferred'], m['activated'], m['feedback'], m['silent'], m['late']) == (6, 3, 4, 3, 1)
    listed = client('GET', '/v1/models/m/decisions').json['decisions']
    assert [d.get('activated') for d in listed] == [None, False, False, False, True, True, True]
    server.stop()
    sound(server)


def test_bad_policies_change_nothing(make_server):
    client = make_server().client
    for bad in ({'decides': 'nobody'}, {'decides': 3}, {'control': {}}, {'control': {'share': 0, 'by': 'uniform'}},
                {'control': {'share': 1, 'by': 'uniform'}}, {'control': {'share': 0.1, 'by': 'x'}},
                {'control': {'share': 0.1, 'by': 'uniform', 'label': 'a'}}, {'control': {'share': 0.1, 'label': 'q'}}):
        reply = client('PUT', '/v1/models/m', dict(labels=LABELS, **bad))
        assert reply.status == 400 and reply.code in ('bad_setting', 'unknown_label'), bad
    client.create('m', labels=LABELS, decides='baseline', control={'share': 0.25, 'label': 'c'})
    m = model(client)
    assert (m['decides'], m['control']) == ('baseline', {'share': 0.25, 'label': 'c'})
    for bad in ({'decides': 'x'}, {'decides': 'model', 'control': 1}, {'decides': 'model', 'more': 1},
                {'control': {'share': 0.5, 'label': 'q'}}):
        assert client('PATCH', '/v1/models/m', bad).status == 400, bad
    assert model(client)['seq'] == 0
    for body, code in (({}, 'no_baseline'), ({'baseline': 'q'}, 'unknown_label'), ({'baseline': 1.5}, 'bad_label'),
                       ({'baseline': 'a', 'eligible': ['b']}, 'not_eligible'),
                       ({'baseline': 'a', 'baseline_probability': 0}, 'bad_request'),
                       ({'baseline_probability': 0.5}, 'bad_request'), ({'baseline': 'a', 'defer': 1}, 'bad_request')):
        reply = ask(client, **body)
        assert (reply.status, reply.code) == (400, code), body
    for body, code in (({}, 'bad_request'), ({'label': 'q'}, 'unknown_label'),
                       ({'label': 'a', 'probability': 2}, 'bad_request'), ({'label': 'a', 'scores': True}, 'bad_request')):
        reply = client('POST', '/v1/models/m/decisions', dict({'x': {'f': 1}}, **body))
        assert (reply.status, reply.code) == (400, code), body
    assert client('POST', '/v1/models/m/decisions', {'x': {'f': 1}, 'label': 'a', 'event': 'e'}).json == \
        client('POST', '/v1/models/m/decisions', {'x': {'f': 1}, 'label': 'a', 'event': 'e'}).json
    assert model(client)['decisions'] == 1


def test_everything_at_once(make_server, clock):
    """Masks, silence, deferred events, policies, versions that are promoted, kills: the replay comes to the same bytes."""
    server = make_server('--snapshot-events', '150', clock=clock)
    client = server.client
    client.create('m', labels=LABELS, learner='banditron:gamma=0.3', seed=1, answer_after=60, answer_default='wrong',
                  late_feedback='replace')
    assert client('POST', '/v1/models/m/versions', {'learner': 'confident', 'seed': 3}).status == 202
    pick = random.Random(5)
    policies = [{'decides': 'baseline'}, {'decides': 'model', 'control': {'share': 0.4, 'by': 'uniform'}},
                {'control': {'share': 0.2, 'by': 'baseline'}}, {'control': None}]
    passed, ids = 0, []
    for i in range(400):
        x = {'f%d' % pick.randrange(6): 1}
        if i % 70 == 10:
            assert client('PATCH', '/v1/models/m', policies[i // 70 % 4]).status == 200
        if i == 180:
            until(lambda: client('POST', '/v1/models/m/versions/2/promote').status == 200)
        if i == 330:
            assert client('POST', '/v1/models/m/rollback').status == 200
        label = pick.choice(LABELS)
        if pick.random() < 0.2:
            d = client('POST', '/v1/models/m/decisions', {'x': x, 'label': label, 'defer': pick.random() < 0.5})
        else:
            more = {'eligible': pick.sample(LABELS, 2) + [label]} if pick.random() < 0.5 else {}
            d = ask(client, x=x, baseline=label, defer=pick.random() < 0.3, **more)
        assert d.status == 200, d.body
        ids.append((d.json['id'], d.json['label'] == 'b'))
        if pick.random() < 0.7:
            id, right = ids.pop(pick.randrange(len(ids)))
            assert client('POST', '/v1/models/m/activate', {'id': id}).status in (200, 404)
            assert client.feedback('m', id=id, right=right).status in (200, 404, 409)
        if i % 80 == 60:
            passed += 40
            clock.write_text('%d 0' % (passed * 1000))
            housekeeping(client)
        if i in (150, 290):
            server.kill()
            server.start()
            client = server.client
    m = model(client)
    assert m['silent'] > 5 and m['activated'] > 5 and m['deferred'] > m['activated']
    before = comparison(client)
    server.stop()
    sound(server)
    server.start()
    assert comparison(server.client) == before


def followed(rows, promise):
    """What the log's rows (act_at, mark, right) come to for a promise: answers, those to what was acted on, right ones."""
    marks = [(mark, right) for at, mark, right in rows if at == promise]
    return len(marks), sum(mark & 1 for mark, _ in marks), sum(right for mark, right in marks if mark & 1)


def test_act_or_hand_over(make_server):
    server = make_server('--snapshot-events', '200')
    client = server.client
    for bad in (0, 1, 'x', -1, None):
        assert client('PUT', '/v1/models/m', {'labels': LABELS, 'act_at': bad}).status == 400, bad
    client.create('m', labels=LABELS, learner='banditron:gamma=0.1', seed=1, act_at=0.8)
    assert model(client)['act_at'] == 0.8 and 'promises' not in model(client)
    assert client('PUT', '/v1/models/m', {'labels': LABELS, 'learner': 'banditron:gamma=0.1', 'act_at': 0.7}).status == 409
    assert client('POST', '/v1/models/m/versions', {'learner': 'confident', 'seed': 3}).status == 202
    pick, acted, open_ids = random.Random(3), [], []
    for i in range(1200):
        if i in (300, 800):
            server.kill()
            server.start()
            client = server.client
        if i == 500:
            assert client('PATCH', '/v1/models/m', {'control': {'share': 0.1, 'by': 'uniform'}}).status == 200
        if i == 900:
            until(lambda: client('POST', '/v1/models/m/versions/2/promote').status == 200)
        more = {'act_at': 0.9} if i % 4 == 1 else {}
        d = ask(client, x={'f%d' % (i % 4): 1, 'noise%d' % pick.randrange(9): 1}, durable=i in (299, 799), **more).json
        assert ('act' in d) == ('chosen_by' not in d)  # a control's label is not the model's
        right = d['label'] == truth(i + i // 600) if pick.random() < 0.9 else False
        open_ids.append((d['id'], right))
        if len(open_ids) > 20:  # answers come late and in any order
            id, right = open_ids.pop(pick.randrange(20))
            reply = client.feedback('m', id=id, right=right)
            assert reply.status == 200 or i in range(300, 330) or i in range(800, 830), reply.body
    for bad in (0, 1, 'x'):
        assert ask(client, act_at=bad).status == 400
    by = log(server, 'SELECT d.act_at, d.act, f.was_right FROM decisions d JOIN feedback f ON f.decision = d.seq'
                     ' WHERE d.version = (SELECT version FROM decisions ORDER BY seq DESC LIMIT 1) AND d.act_at IS NOT NULL')
    told = {p['act_at']: p for p in model(client)['promises']}
    assert set(told) == {0.8, 0.9} and all(0 <= p['threshold'] <= 1 for p in told.values())
    for promise, p in told.items():
        assert (p['answers'], p['acted'], p['right']) == followed(by, promise), (promise, p)
    listed = client('GET', '/v1/models/m/decisions?limit=5').json['decisions']
    assert all(('act' in one) == ('chosen_by' not in one) for one in listed)
    server.stop()
    sound(server)


def test_a_promise_is_kept(make_server):
    """Of what is acted on, the promised share is right, although the confidence knows nothing of a change half-way."""
    client = make_server().client
    client.create('m', labels=LABELS, seed=1, act_at=0.8)
    pick, acted = random.Random(4), []
    for i in range(3000):
        kind = pick.randrange(8)  # kinds differ in how often the true label is a matter of luck
        true = LABELS[(kind + i // 1500) % 4] if pick.random() > kind / 9 else pick.choice(LABELS)
        d = ask(client, x={'kind': str(kind)}).json
        acted += [d['label'] == true] if d['act'] else []
        say(client, d, d['label'] == true)
    p = model(client)['promises'][0]
    assert (p['acted'], p['right']) == (len(acted), sum(acted)) and len(acted) > 600
    assert sum(acted) / len(acted) > 0.77, p
    # nine different promises are one too many
    for i in range(10):
        reply = ask(client, act_at=0.5 + i / 100)
        if reply.status == 400:
            assert 'promises' in reply.body.decode() and i >= 7
            break
        say(client, reply.json, True)
    else:
        raise AssertionError('no limit')
