# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a table, sent as they are: the server makes the same of them as the tool."""
import csv
import json
import random
import subprocess

import pytest
from conftest import HUNCH, verify

WORDS = {'billing': 'invoice refund payment charged twice card', 'login': 'password reset locked account sign in',
         'delivery': 'parcel late courier address lost box'}
COLUMNS = ['ticket', 'subject', 'channel', 'age', 'opened', 'topic']


def tickets(n, seed):
    chance = random.Random(seed)
    for i in range(n):
        topic = chance.choice(sorted(WORDS))
        subject = ' '.join(chance.choice(WORDS[topic].split() + ['please', 'Help', 'the', 'Ünicode', '"quoted"']) for _ in range(6))
        yield dict(zip(COLUMNS, ('T-%05d' % i, subject, chance.choice(['web', 'mail', 'phone, old']),
                                 chance.choice(['', '%.1f' % (chance.random() * 90), '41', 'NA']),
                                 '2026-0%d-1%d %02d:00' % (chance.randrange(1, 9), chance.randrange(9), chance.randrange(24)), topic)))


def write(path, rows, columns=COLUMNS):
    with open(path, 'w', newline='') as f:
        w = csv.DictWriter(f, columns, extrasaction='ignore')
        w.writeheader()
        w.writerows(rows)


def tool(*arguments):
    done = subprocess.run([HUNCH, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(params=[[], ['--hash-bits', '8', '--ngrams', '2']], ids=['names', 'hashed'])
def trained(request, tmp_path):
    write(tmp_path / 'old.csv', tickets(400, 1))
    tool('run', tmp_path / 'old.csv', '-l', 'confident', *request.param, '--save', tmp_path / 'model.hunch')
    return tmp_path


def test_the_tools_answer(trained, make_server):
    """The scores of the tool for rows of a file, and of the server for the same rows as JSON, to the last digit."""
    new = list(tickets(60, 2))
    write(trained / 'new.csv', new, COLUMNS[:-1])
    expected = [json.loads(line) for line in tool('predict', '--json', trained / 'model.hunch', trained / 'new.csv').splitlines()]
    server = make_server()
    client = server.client
    model = (trained / 'model.hunch').read_bytes()
    assert client('PUT', '/v1/models/desk', model).status == 201
    columns = {c['name']: c for c in client('GET', '/v1/models/desk').json['schema']['columns']}
    assert set(columns) == set(COLUMNS)
    for row, there in zip(new, expected):
        reply = client('POST', '/v1/models/desk/scores', {'row': row})
        assert reply.status == 200, reply.body
        assert reply.json['greedy'] == there['label']
        assert reply.json['scores'] == pytest.approx(there['scores'], rel=0, abs=0), row
        typed = {k: float(v) if k == 'age' and v not in ('', 'NA') else None if v in ('', 'NA') else v for k, v in row.items()}
        assert client('POST', '/v1/models/desk/scores', {'row': typed}).json == reply.json
    many = client('POST', '/v1/models/desk/predict', [{'row': row} for row in new]).json
    assert [d['greedy'] for d in many[:1]] == [expected[0]['label']] and all('id' in d for d in many)
    answers = [{'id': d['id'], 'label': row['topic']} for d, row in zip(many, new)]
    assert all(a['result'] == 'learned' for a in client('POST', '/v1/models/desk/feedback', answers).json)
    assert client('POST', '/v1/models/desk/teach', {'row': new[0]}).json == {'result': 'learned'}  # its own label
    assert client('POST', '/v1/models/desk/teach', {'row': new[0], 'label': 'login'}).status == 200
    assert client('GET', '/v1/models/desk').json['lessons'] == 2
    (trained / 'back.hunch').write_bytes(client('GET', '/v1/models/desk/model').body)
    told = [json.loads(line) for line in tool('predict', '--json', trained / 'back.hunch', trained / 'new.csv').splitlines()]
    for row, there in list(zip(new, told))[:5]:  # and back, with what was learned meanwhile
        assert client('POST', '/v1/models/desk/scores', {'row': row}).json['scores'] == there['scores']
    server.kill()
    client = server.start().client
    assert client('POST', '/v1/models/desk/scores', {'row': new[0]}).json['scores'] == told[0]['scores']
    server.stop()
    code, models = verify(server.folder)
    assert code == 0 and models[0]['equal']


def test_what_is_wrong_with_a_row(trained, make_server):
    client = make_server().client
    client('PUT', '/v1/models/desk', (trained / 'model.hunch').read_bytes())
    client.create('plain')

    def ask(body, model='desk', way='predict'):
        return client('POST', '/v1/models/%s/%s' % (model, way), body)
    assert ask({'row': {'subject': 'refund', 'colour': 'red'}}).json['unknown_columns'] == ['colour']
    assert 'unknown_columns' not in ask({'row': {'subject': 'refund'}}).json
    for body, code in (({'row': {'colour': 'red'}}, 'bad_row'), ({'row': {}}, 'bad_row'), ({'row': 'refund'}, 'bad_row'),
                       ({'row': {'subject': ['refund']}}, 'bad_row'), ({'row': {'subject': 'x'}, 'x': {'a': 1}}, 'bad_request'),
                       ({}, 'bad_request')):
        reply = ask(body)
        assert (reply.status, reply.code) == (400, code), reply.body
    reply = ask({'row': {'subject': 'refund'}}, 'plain')
    assert (reply.status, reply.code) == (400, 'no_schema')
    assert ask({'row': {'subject': 'refund'}}, way='teach').status == 400  # no label


def test_a_schema_of_ones_own(client, tmp_path):
    """A model made by a request, with the schema of a file."""
    write(tmp_path / 'old.csv', tickets(400, 1))
    tool('run', tmp_path / 'old.csv', '-l', 'banditron', '--schema', tmp_path / 'schema.json')
    schema = json.loads((tmp_path / 'schema.json').read_text())
    body = {'labels': sorted(WORDS), 'schema': schema, 'learner': 'confidit'}
    assert client('PUT', '/v1/models/desk', body).status == 201
    assert client('PUT', '/v1/models/desk', body).status == 200
    assert client('PUT', '/v1/models/desk', dict(body, schema=dict(schema, ngrams=3))).status == 409
    lessons = [{'row': row} for row in tickets(200, 3)]
    assert all(r == {'result': 'learned'} for r in client('POST', '/v1/models/desk/teach', lessons).json)
    new = list(tickets(100, 4))
    told = client('POST', '/v1/models/desk/scores', [{'row': row} for row in new]).json
    assert sum(t['greedy'] == row['topic'] for t, row in zip(told, new)) > 80
    assert client('PUT', '/v1/models/other', dict(body, schema={'columns': 1})).status == 400
    assert client('PUT', '/v1/models/other', dict(body, features='hashed')).status == 400


def test_numbers_that_are_categories(client, tmp_path):
    """A size of 0.1 is the category 0.1 of the file, sent as a number too."""
    with open(tmp_path / 'sizes.csv', 'w') as f:
        f.write('size,fits\n' + '0.1,yes\n0.7,no\n' * 100)
    tool('run', tmp_path / 'sizes.csv', '--category', 'size', '-l', 'confident', '--save', tmp_path / 'model.hunch')
    assert client('PUT', '/v1/models/fit', (tmp_path / 'model.hunch').read_bytes()).status == 201
    for size, label in (('0.1', 'yes'), ('0.7', 'no')):
        text, number = (client('POST', '/v1/models/fit/scores', {'row': {'size': v}}).json for v in (size, float(size)))
        assert text == number and text['greedy'] == label


def test_a_cell_of_spaces_is_missing(trained, make_server):
    """As in a file."""
    client = make_server().client
    client('PUT', '/v1/models/desk', (trained / 'model.hunch').read_bytes())
    answers = [client('POST', '/v1/models/desk/scores', {'row': {COLUMNS[1]: 'please help', COLUMNS[3]: cell}}) for cell in (None, ' ', '  \t')]
    assert [a.status for a in answers] == [200] * 3 and len({a.body for a in answers}) == 1
