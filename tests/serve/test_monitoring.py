# SPDX-License-Identifier: BSD-3-Clause
"""The example dashboard and alerts: every metric that they name is one that the server has."""
import json
import os
import re
import shutil
import subprocess

import pytest

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'examples', 'monitoring')


def served(client):
    client.create('m')
    d = client.predict('m', {'a': 1})
    client.feedback('m', id=d['id'], right=True)
    return set(re.findall(r'^([a-z_]+)', client('GET', '/metrics').body.decode(), re.M)) | {'up'}


def named(expression):
    return set(re.findall(r'\b((?:hunch|process)_[a-z_]+|up)\b(?=[{ \[)]|$)', expression))


def test_dashboard(client):
    there = served(client)
    with open(os.path.join(FOLDER, 'grafana.json')) as f:
        dashboard = json.load(f)
    expressions = [t['expr'] for p in dashboard['panels'] for t in p['targets']]
    assert len(expressions) > 15
    for e in expressions:
        assert named(e) and named(e) <= there, (e, named(e) - there)


def test_alerts(client):
    there = served(client)
    text = open(os.path.join(FOLDER, 'alerts.yml')).read()
    expressions = re.findall(r'^ +expr: (.*)$', text, re.M)
    assert len(expressions) > 10
    for e in expressions:
        assert named(e) and named(e) <= there, (e, named(e) - there)


@pytest.mark.skipif(not shutil.which('promtool'), reason='needs promtool (of Prometheus)')
def test_alerts_with_promtool():
    done = subprocess.run(['promtool', 'check', 'rules', os.path.join(FOLDER, 'alerts.yml')], capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_errors_of_hour_and_week(client):
    client.create('m')
    for i in range(10):
        d = client.predict('m', {'a': 1})
        client.feedback('m', id=d['id'], right=i < 7)
    body = client('GET', '/metrics').body.decode()
    for span in ('hour', 'week'):
        assert abs(float(re.search(r'^hunch_error_rate_%s\{model="m"\} (\S+)' % span, body, re.M)[1]) - 0.3) < 1e-9


def test_restarts_of_the_learner(client):
    """A stream whose rule changes: the learner starts over, and metrics and the model say so."""
    client.create('m', learner='panel:restart=1', seed=1)
    client.create('still', learner='banditron')

    def restarts():
        return client('GET', '/v1/models/m').json['drift']['restarts']
    assert restarts() == 0 and 'drift' not in client('GET', '/v1/models/still').json
    for rule in range(6):
        for i in range(400):
            d = client.predict('m', {'f%d' % (i % 3): 1})
            truth = ('sports', 'politics', 'tech')[(i + rule) % 3]
            client('POST', '/v1/models/m/feedback', {'id': d['id'], 'label': truth} if i % 2 else {'id': d['id'], 'right': d['label'] == truth})
        if restarts():
            break
    assert restarts() > 0 and client('GET', '/v1/models/m').json['drift']['last_restart'] > 0
    body = client('GET', '/metrics').body.decode()
    assert float(re.search(r'^hunch_learner_restarts_total\{model="m"\} (\S+)', body, re.M)[1]) == restarts()
    assert 'hunch_learner_restarts_total{model="still"}' not in body
