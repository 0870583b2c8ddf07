# SPDX-License-Identifier: BSD-3-Clause
"""The example of a proxy in front of nodes (examples/kafka/haproxy.cfg) does what it says."""
import os
import re
import shutil
import subprocess

import pytest
from conftest import HERE, Client, reserve, until

EXAMPLE = os.path.join(HERE, '..', '..', 'examples', 'kafka', 'haproxy.cfg')


@pytest.mark.skipif(not shutil.which('haproxy'), reason='no haproxy')
def test_proxy(make_node, tmp_path):
    nodes = {8811: make_node('news1', '--models', 'news-*'), 8812: make_node('news2', '--models', 'news-*'),
             8821: make_node('rest1', '--models', '[!n]*'), 8822: make_node('rest2', '--models', '[!n]*')}
    front = reserve()
    ports = {8810: front, **{k: n.port for k, n in nodes.items()}}
    text = open(EXAMPLE).read()
    config = tmp_path / 'haproxy.cfg'
    config.write_text(re.sub(r'127\.0\.0\.1:(\d+)', lambda m: '127.0.0.1:%d' % ports[int(m[1])], text))
    proxy = subprocess.Popen(['haproxy', '-db', '-q', '-f', str(config)])
    try:
        client = Client(front)

        def up():
            try:
                return client('GET', '/readyz').status == 200 and client('PUT', '/v1/models/news-1', {'labels': ['a', 'b']}).status in (200, 201)
            except OSError:
                return False
        until(up)
        until(lambda: client('PUT', '/v1/models/shop', {'labels': ['c', 'd']}).status in (200, 201))
        for n in nodes.values():
            until(lambda: n.model('news-1') or n.model('shop'))
        assert nodes[8811].model('shop') is None and nodes[8821].model('news-1') is None
        ids = [client.predict('news-1', {'x': 1})['id'] for _ in range(10)] # by turns from both nodes
        for i in ids:
            assert client.feedback('news-1', id=i, right=True).status == 200
        nodes[8811].kill()  # answers go on by the other
        for _ in range(50):
            client.predict('news-1', {'x': 1})
        until(lambda: client('GET', '/v1/models/news-1').json['feedback'] == 10)  # this node may be some milliseconds behind
    finally:
        proxy.terminate()
        proxy.wait(10)
