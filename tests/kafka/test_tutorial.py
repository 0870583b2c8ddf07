# SPDX-License-Identifier: BSD-3-Clause
"""docs/tutorials/many-nodes.md does what it says."""
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


def test_many_nodes(cluster):
    ports = ' '.join('%d=%d' % (9092 + i, cluster.port + i) for i in range(3))
    command = [sys.executable, os.path.join(ROOT, 'tests', 'docs', 'test_tutorials.py'), os.environ['HUNCH'], ROOT,
               os.path.join(ROOT, 'docs', 'tutorials', 'many-nodes.md')]
    done = subprocess.run(command, env=dict(os.environ, HUNCH_TUTORIAL_PORTS=ports), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout
