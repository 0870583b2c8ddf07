# SPDX-License-Identifier: BSD-3-Clause
"""Several nodes over Kafka: what one learns all know, exactly once, in one order."""
import ctypes
import ctypes.util
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

from conftest import HUNCH, Client, until, until_equal, verify

X = {'user=42': 1, 'hour': 0.7}


def produce(cluster, topic, value):
    """A record of any bytes."""
    k = ctypes.CDLL(ctypes.util.find_library('rdkafka'))
    for f in (k.rd_kafka_conf_new, k.rd_kafka_new, k.rd_kafka_topic_new):
        f.restype = ctypes.c_void_p
    conf, why = ctypes.c_void_p(k.rd_kafka_conf_new()), ctypes.create_string_buffer(200)
    k.rd_kafka_conf_set(conf, b'bootstrap.servers', cluster.servers.encode(), why, 200)
    producer = ctypes.c_void_p(k.rd_kafka_new(0, conf, why, 200))
    handle = ctypes.c_void_p(k.rd_kafka_topic_new(producer, topic.encode(), None))
    assert k.rd_kafka_produce(handle, 0, 2, value, ctypes.c_size_t(len(value)), None, ctypes.c_size_t(0), None) == 0
    assert k.rd_kafka_flush(producer, 30000) == 0


def administer(cluster, name, new=None, **config):
    """Makes a topic (new: partitions, replicas), or gives one these settings and no others."""
    k = ctypes.CDLL(ctypes.util.find_library('rdkafka'))
    for f in (k.rd_kafka_conf_new, k.rd_kafka_new, k.rd_kafka_NewTopic_new, k.rd_kafka_ConfigResource_new,
              k.rd_kafka_queue_new, k.rd_kafka_queue_poll):
        f.restype = ctypes.c_void_p
    why, conf = ctypes.create_string_buffer(300), ctypes.c_void_p(k.rd_kafka_conf_new())
    k.rd_kafka_conf_set(conf, b'bootstrap.servers', cluster.servers.encode(), why, 300)
    client = ctypes.c_void_p(k.rd_kafka_new(0, conf, why, 300))
    queue = ctypes.c_void_p(k.rd_kafka_queue_new(client))
    made = k.rd_kafka_NewTopic_new(name.encode(), *new, why, ctypes.c_size_t(300)) if new else k.rd_kafka_ConfigResource_new(2, name.encode())
    made = ctypes.c_void_p(made)
    for key, value in config.items():
        (k.rd_kafka_NewTopic_set_config if new else k.rd_kafka_ConfigResource_set_config)(made, key.replace('_', '.').encode(), str(value).encode())
    for f in (k.rd_kafka_event_CreateTopics_result, k.rd_kafka_CreateTopics_result_topics, k.rd_kafka_event_AlterConfigs_result,
              k.rd_kafka_AlterConfigs_result_resources):
        f.restype = ctypes.c_void_p

    def done():
        (k.rd_kafka_CreateTopics if new else k.rd_kafka_AlterConfigs)(client, ctypes.byref(made), ctypes.c_size_t(1), None, queue)
        event, n = ctypes.c_void_p(k.rd_kafka_queue_poll(queue, 30000)), ctypes.c_size_t()
        if not event or k.rd_kafka_event_error(event):
            return False
        if new:
            of = ctypes.c_void_p(k.rd_kafka_CreateTopics_result_topics(ctypes.c_void_p(k.rd_kafka_event_CreateTopics_result(event)), ctypes.byref(n)))
            errors = k.rd_kafka_topic_result_error
        else:
            of = ctypes.c_void_p(k.rd_kafka_AlterConfigs_result_resources(ctypes.c_void_p(k.rd_kafka_event_AlterConfigs_result(event)), ctypes.byref(n)))
            errors = k.rd_kafka_ConfigResource_error
        first = ctypes.cast(of, ctypes.POINTER(ctypes.c_void_p))[0] if n.value else None
        return first is not None and errors(ctypes.c_void_p(first)) in (0, 36)  # 36: it is there, from a try whose answer was lost
    until(done)


def test_topic_settings_are_told(make_node, cluster):
    a = make_node('a', start=False)
    administer(cluster, a.prefix + 'models', (1, 1), cleanup_policy='delete')
    a.start()
    until(lambda: a.seen('topic_settings'))
    told = a.client('GET', '/v1/nodes').json['topics']
    assert [t['topic'] for t in told] == [a.prefix + 'models'] and 'replicas' in told[0]['problem'], told
    reply = a.client('GET', '/readyz')
    assert reply.json.get('topic_problems') == told, reply.body
    assert 'hunch_topic_problems 1' in a.client('GET', '/metrics').body.decode()
    a.client.create('m')
    topic = about(a, "SELECT value FROM about WHERE key = 'topic'")[0]
    administer(cluster, topic, cleanup_policy='delete', message_timestamp_type='LogAppendTime', retention_ms=60000)

    def told_at_a_start():  # the broker that is asked may not have heard of the change yet
        a.stop()
        a.start()
        time.sleep(1)
        told = {t['topic']: t['problem'] for t in a.client('GET', '/v1/nodes').json['topics']}
        return told.get(topic, '').startswith('retention.ms')
    until(told_at_a_start)


def test_a_topic_that_refuses_records_makes_its_model_unready(make_node, cluster):
    a = make_node('a', hunch_wait_ms=1000)
    a.client.create('m')
    a.client.create('good')
    assert a.client('GET', '/readyz?model=m').status == 200
    administer(cluster, about(a, "SELECT value FROM about WHERE key = 'topic'")[0], message_timestamp_type='LogAppendTime', max_message_bytes=300)

    def refused():
        a.client('POST', '/v1/models/m/predict', {'x': {'feature%d' % i: 1 for i in range(100)}})
        return a.client('GET', '/readyz?model=m').status == 503
    until(refused)
    assert a.client('GET', '/readyz?model=m').code == 'refused' and ready_or_slow(a.client('GET', '/readyz'))


def test_nodes_agree(make_node):
    a, b, c = (make_node(n) for n in 'abc')
    a.client.create('news')
    for node in (b, c):
        until(lambda: node.model('news'))
    nodes = (a, b, c)
    for i in range(120):
        x = {'f%d' % (i % 7): 1, 'g': i / 100}
        d = nodes[i % 3].client.predict('news', x)
        reply = nodes[(i + 1) % 3].client.feedback('news', id=d['id'], right=i % 2 == 0)
        assert reply.status == 200 and reply.json['result'] == 'learned', reply.body
        assert nodes[i % 3].client.feedback('news', id=d['id'], right=i % 2 == 0).json['result'] == 'already'
        conflict = nodes[(i + 2) % 3].client.feedback('news', id=d['id'], right=i % 2 == 1)
        assert conflict.status == 409, conflict.body
    assert len(set(until_equal(nodes, 'news'))) == 1
    assert all(n.model('news')['feedback'] == 120 for n in nodes)
    until(lambda: a.metric('hunch_applied_offset', 'news') > 240)  # hashes are in the journal
    assert all(n.metric('hunch_diverged', 'news') == 0 for n in nodes)
    a.stop()
    code, lines = verify(a.folder)  # the store alone gives the same model
    assert code == 0 and lines[0]['equal'], lines


def test_durable_prediction_and_read_your_writes(make_node):
    a, b = make_node('a'), make_node('b', hunch_wait_ms=2000)
    a.client.create('m')
    until(lambda: b.model('m'))
    for _ in range(20):
        reply = a.client.again('POST', '/v1/models/m/predict', {'x': X, 'durable': True})
        seq = reply.headers['X-Hunch-Seq']
        there = b.client.again('GET', '/v1/models/m', headers={'X-Hunch-After': seq})
        assert there.status == 200 and there.json['seq'] >= int(seq)
    late = b.client('GET', '/v1/models/m', headers={'X-Hunch-After': str(10 ** 9)})
    assert late.status == 503 and late.code == 'not_yet', late.body
    assert b.client('GET', '/v1/models/m', headers={'X-Hunch-After': 'x'}).status == 400


def test_lessons_labels_and_batches(make_node):
    a, b = make_node('a'), make_node('b')
    a.client.create('m')
    until(lambda: b.model('m'))
    assert a.client.again('POST', '/v1/models/m/labels', {'labels': ['new']}).json == {'added': 1, 'labels': 4}
    seq = a.client.again('POST', '/v1/models/m/teach', {'x': X, 'label': 'new'}).headers['X-Hunch-Seq']
    assert b.client.again('GET', '/v1/models/m', headers={'X-Hunch-After': seq}).json['lessons'] == 1
    assert b.client.again('POST', '/v1/models/m/teach', {'x': X, 'label': 'none'}).status == 400
    ids = [d['id'] for d in a.client.again('POST', '/v1/models/m/predict', [{'x': X}] * 50).json]
    told = b.client.again('POST', '/v1/models/m/feedback', [{'id': i, 'label': 'new'} for i in ids]).json
    assert all(t['result'] == 'learned' for t in told), told
    again = a.client.again('POST', '/v1/models/m/feedback', [{'id': i, 'label': 'new'} for i in ids] + [{'id': ids[0], 'label': 'tech'}]).json
    assert all(t['result'] == 'already' for t in again[:-1]) and again[-1]['status'] == 409
    assert len(set(until_equal((a, b), 'm'))) == 1
    b.stop()
    code, lines = verify(b.folder)  # labels that were given are in the log by number
    assert code == 0 and lines[0]['equal'], lines


def test_a_refused_request_has_nothing_left_on_its_way(make_node, cluster):
    """An error behind something that was proposed: the answer is the error, and comes when the rest is certain or given
    up, since until then the journal's verdicts are written to the request."""
    wait_ms = 2000
    a = make_node('a', '--max-queue', '200', hunch_wait_ms=wait_ms)
    a.client.create('m')
    for i in (1, 2, 3):
        cluster.signal(i, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        reply = a.client('POST', '/v1/models/m/labels', {'labels': ['l%d' % i for i in range(400)]})
        assert reply.status == 503 and reply.code == 'busy', reply.body
        assert time.monotonic() - begun >= 0.9 * wait_ms / 1000
    finally:
        for i in (1, 2, 3):
            cluster.signal(i, signal.SIGCONT)
    a.until_ready()
    assert a.client.again('POST', '/v1/models/m/labels', {'labels': ['l0', 'l399']}).status == 200


def test_forged_ids_are_unknown(make_node):
    a = make_node('a', hunch_wait_ms=1000)
    a.client.create('m')
    d = a.client.predict('m', X, durable=True)
    forged = d['id'][:-1] + ('0' if d['id'][-1] != '0' else '1')
    for bad in (forged, '0000000000000001-0000000000000001'):
        reply = a.client.feedback('m', id=bad, right=True)
        assert reply.status == 404 and reply.code == 'unknown_id', reply.body
    assert a.client.feedback('m', id=d['id'], right=True).status == 200


def test_unknown_is_final(make_node):
    """While a node hangs that may have made the decision, no other calls it unknown; with all nodes well they do."""
    a, b = make_node('a'), make_node('b', hunch_wait_ms=2000)
    a.client.create('m', learner='banditron')
    until(lambda: b.model('m'))
    until(lambda: len(b.client('GET', '/v1/nodes').json['nodes']) == 2)
    until(lambda: b.client.feedback('m', id='8000000000000001-0000000000000001', right=True).code == 'unknown_id')
    ids = [d['id'] for d in a.client.again('POST', '/v1/models/m/predict', [{'x': X}] * 500).json]
    a.process.send_signal(signal.SIGSTOP)
    try:
        def not_known_yet():  # not_durable: its question has not come back in time
            reply = b.client('POST', '/v1/models/m/feedback', {'id': '8000000000000002-0000000000000001', 'right': True})
            assert reply.status == 503 and reply.code in ('not_known_yet', 'not_durable') and reply.headers['Retry-After'], reply.body
            return reply.code == 'not_known_yet'
        until(not_known_yet)
        said = b.client('POST', '/v1/models/m/feedback', [{'id': i, 'right': True} for i in ids]).json
        assert not [s for s in said if s.get('status') == 404], said
    finally:
        a.process.send_signal(signal.SIGCONT)
    until(lambda: all('result' in s for s in b.client('POST', '/v1/models/m/feedback', [{'id': i, 'right': True} for i in ids]).json))


def test_a_node_that_hangs_before_it_said_what_it_serves(make_node):
    """It may have made decisions already."""
    a, b = make_node('a'), make_node('b', hunch_wait_ms=1000)
    until(lambda: len(b.client('GET', '/v1/nodes').json['nodes']) == 2)
    for name in ('m1', 'm2', 'm3'):
        a.client.create(name, learner='banditron')
        until(lambda: b.model(name))
        a.process.send_signal(signal.SIGSTOP)
        try:
            reply = b.client('POST', '/v1/models/%s/feedback' % name, {'id': '8000000000000002-0000000000000001', 'right': True})
            assert reply.status == 503 and reply.code in ('not_known_yet', 'not_durable'), reply.body
        finally:
            a.process.send_signal(signal.SIGCONT)
        until(lambda: b.client.feedback(name, id='8000000000000002-0000000000000001', right=True).code == 'unknown_id')


def test_a_node_that_is_behind_does_not_call_a_decision_unknown(make_node):
    a, b = make_node('a'), make_node('b', hunch_wait_ms=20)
    a.client.create('m', learner='confidit')
    until(lambda: b.model('m'))
    b.kill()
    x = {'f%d' % i: i for i in range(100)}
    for _ in range(100):
        assert a.client.again('POST', '/v1/models/m/predict', [{'x': x}] * 200).status == 200
    id = a.client.predict('m', X, durable=True)['id']
    assert a.client.feedback('m', id=id, right=True).status == 200
    b.start(ready=False)
    seen = []

    def already():
        seen.append(b.client.feedback('m', id=id, right=True))
        return seen[-1].status == 200
    until(already)
    assert seen[-1].json['result'] == 'already'
    assert {r.status for r in seen[:-1]} <= {503}, [r.body for r in seen if r.status not in (200, 503)]


def test_racing_answers_count_once(make_node):
    nodes = [make_node(n) for n in 'abc']
    nodes[0].client.create('m')
    for n in nodes:
        until(lambda: n.model('m'))
    ids = [nodes[0].client.predict('m', X, durable=True)['id'] for _ in range(40)]
    results = []

    def tell(node, right):
        client = Client(node.port)
        results.extend((i, right, client.feedback('m', id=i, right=right)) for i in ids)
    threads = [threading.Thread(target=tell, args=(n, k % 2 == 0)) for k, n in enumerate(nodes)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for i in ids:
        mine = [(right, r) for j, right, r in results if j == i]
        counted = {right for right, r in mine if r.status == 200}
        assert len(counted) == 1 and all(r.status == (200 if right in counted else 409) for right, r in mine), mine
        assert sum(r.status == 200 and r.json['result'] == 'learned' for _, r in mine) <= 1, mine
    assert len(set(until_equal(nodes, 'm'))) == 1
    assert nodes[0].model('m')['feedback'] == len(ids)


def test_restart_and_new_node(make_node):
    a, b = make_node('a'), make_node('b')
    a.client.create('m')
    until(lambda: b.model('m'))
    open_ids = [a.client.predict('m', {'f%d' % i: 1}, durable=True)['id'] for i in range(60)]
    b.kill()
    for i in open_ids[:30]:
        assert a.client.feedback('m', id=i, right=True).status == 200
    b.start()
    assert len(set(until_equal((a, b), 'm'))) == 1
    c = make_node('c')  # from the journal's beginning
    assert len(set(until_equal((a, b, c), 'm'))) == 1
    for n, i in zip((a, b, c) * 10, open_ids[30:]):
        assert n.client.feedback('m', id=i, right=False).status == 200
    assert len(set(until_equal((a, b, c), 'm'))) == 1
    c.kill()
    shutil.rmtree(c.folder)  # its disk is lost
    c.start()
    assert len(set(until_equal((a, b, c), 'm'))) == 1
    assert c.client.feedback('m', id=open_ids[0], right=True).json['result'] == 'already'


def test_copy_of_another_node(make_node):
    """Forced by an old journal whose beginning is gone."""
    a = make_node('a')
    a.client.create('m', learner='banditron')
    ids = [d['id'] for _ in range(25) for d in a.client('POST', '/v1/models/m/predict', [{'x': X}] * 1000).json]
    until(lambda: (a.model('m') or {})['seq'] == len(ids))
    assert a.client.feedback('m', id=ids[0], right=True).status == 200
    b = make_node('b')  # beyond that many events another node's copy is preferred
    b.until_ready()
    until(lambda: b.seen('copy_taken'))
    assert len(set(until_equal((a, b), 'm'))) == 1
    assert b.client.feedback('m', id=ids[0], right=True).json['result'] == 'already'
    assert b.client.feedback('m', id=ids[7], right=False).json['result'] == 'learned'
    assert len(set(until_equal((a, b), 'm'))) == 1


def test_delete_and_make_again(make_node):
    a, b = make_node('a'), make_node('b')
    a.client.create('m')
    until(lambda: b.model('m'))
    a.client.predict('m', X, durable=True)
    assert b.client.again('DELETE', '/v1/models/m').status in (200, 404)
    until(lambda: a.model('m') is None)
    b.client.create('m', labels=['x', 'y'])
    until(lambda: (a.model('m') or {}).get('labels') == ['x', 'y'])
    assert a.model('m')['decisions'] == 0
    assert a.client.again('PUT', '/v1/models/m', {'labels': ['x', 'y']}).status == 200
    assert a.client.again('PUT', '/v1/models/m', {'labels': ['x', 'z']}).status == 409


def ready_or_slow(reply):
    """Brokers of a busy machine may be slow to answer, which is another reason not to be ready than those tested here."""
    return reply.status == 200 or b'Timed out' in reply.body


def test_deleted_with_records_on_their_way(make_node):
    """What was to go to a topic that is gone is no sign of brokers that take nothing, and does not keep a node from ending."""
    a = make_node('a')
    for _ in range(8):
        a.client.create('m')
        a.client('POST', '/v1/models/m/predict', [{'x': X}] * 3)
        assert a.client.again('DELETE', '/v1/models/m').status == 200
    end = time.monotonic() + 7  # longer than records may wait
    while time.monotonic() < end:
        reply = a.client('GET', '/readyz')
        assert ready_or_slow(reply), reply.body
        time.sleep(0.2)
    assert a.stop() == 0


def test_feedback_ahead_of_its_decision_counts_in_order(make_node):
    a = make_node('a')
    a.client.create('m')
    for _ in range(20):
        d = a.client.predict('m', X)  # perhaps not in the journal yet
        told = a.client('POST', '/v1/models/m/feedback', [{'id': d['id'], 'right': r} for r in (True, True, False)]).json
        assert [t.get('result') or t['status'] for t in told] == ['learned', 'already', 409], told
        assert a.client('GET', '/v1/models/m/decisions?limit=1').json['decisions'][0]['id'] == d['id']  # and is listed at once


def test_two_creations_of_one_name(make_node):
    a, b = make_node('a'), make_node('b')
    replies = []

    def create(node, labels):
        replies.append(Client(node.port).again('PUT', '/v1/models/m', {'labels': labels}))
    threads = [threading.Thread(target=create, args=x) for x in ((a, ['x', 'y']), (b, ['p', 'q']))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(r.status in (200, 201, 409) for r in replies) and any(r.status != 409 for r in replies), [r.body for r in replies]
    until(lambda: a.model('m') and b.model('m') and a.model('m')['labels'] == b.model('m')['labels'])
    a.kill()
    a.start()
    assert a.model('m')['labels'] == b.model('m')['labels']


def test_shards(make_node):
    a, b = make_node('a', '--models', 'news-*'), make_node('b', '--models', 'shop-*')
    a.client.create('news-1')
    b.client.create('shop-1')
    assert a.client('PUT', '/v1/models/shop-2', {'labels': ['x', 'y']}).code == 'elsewhere'
    time.sleep(1)
    assert a.model('shop-1') is None and b.model('news-1') is None


def test_journal_away(make_node, cluster):
    a = make_node('a', hunch_wait_ms=1000)
    a.client.create('m')
    d = a.client.predict('m', X, durable=True)
    for i in (1, 2, 3):
        cluster.signal(i, signal.SIGSTOP)
    try:
        e = a.client.predict('m', X)  # goes on
        reply = a.client('POST', '/v1/models/m/feedback', {'id': d['id'], 'right': True})
        assert reply.status == 503 and reply.code == 'not_durable', reply.body
        until(lambda: a.client('GET', '/readyz').status == 503)
    finally:
        for i in (1, 2, 3):
            cluster.signal(i, signal.SIGCONT)
    a.until_ready()
    assert a.client.feedback('m', id=d['id'], right=True).status == 200
    assert a.client.feedback('m', id=e['id'], right=True).status == 200
    assert a.model('m')['feedback'] == 2


def test_queue_is_bounded(make_node, cluster):
    a = make_node('a', '--max-queue', '200', hunch_wait_ms=300)
    a.client.create('m')
    for i in (1, 2, 3):
        cluster.signal(i, signal.SIGSTOP)
    try:
        busy = None
        for _ in range(400):
            reply = a.client('POST', '/v1/models/m/predict', {'x': X})
            if reply.status != 200:
                busy = reply
                break
        assert busy and busy.status == 503 and busy.code == 'busy', busy
    finally:
        for i in (1, 2, 3):
            cluster.signal(i, signal.SIGCONT)
    a.until_ready()
    until(lambda: a.client('POST', '/v1/models/m/predict', {'x': X}).status == 200)


def test_time_is_the_journals(make_node, tmp_path):
    """A node whose clock is ten years off neither expires nor keeps anything by it."""
    shift = tmp_path / 'shift'
    shift.write_text(str(10 * 365 * 86400 * 1000))
    a = make_node('a')
    b = make_node('b', start=False)
    b.env = dict(b.env or {}, HUNCH_CLOCK_FILE=str(shift))
    b.start()
    a.client.create('m', ttl_seconds=2)
    until(lambda: b.model('m'))
    first = a.client.predict('m', X, durable=True)
    until(lambda: a.client.feedback('m', id=b.client.predict('m', X, durable=True)['id'], right=True).status == 200)
    time.sleep(2.5)
    a.client.predict('m', X, durable=True)
    until_equal((a, b), 'm')
    for n in (a, b):
        reply = n.client.feedback('m', id=first['id'], right=True)
        assert reply.status == 404 and reply.code == 'expired_id', reply.body


def test_decisions_as_products_make_them(make_node):
    """Default answers, deferred decisions, callers' ids, retired labels and a control: once, whatever node is asked."""
    a, b = make_node('a'), make_node('b')
    a.client.create('m', labels=['x', 'y', 'z'], answer_after=2, answer_default='wrong', late_feedback='replace')
    until(lambda: b.model('m'))
    ids = [n.client.predict('m', X, durable=True)['id'] for n in (a, b) * 3]
    waits = b.client.predict('m', X, durable=True, defer=True)['id']
    event = {'x': X, 'event': 'page 1', 'eligible': ['y', 'z']}
    first = a.client('POST', '/v1/models/m/predict', event).json
    until(lambda: b.client('POST', '/v1/models/m/predict', event).json.get('id') == first['id'])
    until(lambda: b.client.feedback('m', id=ids[0], right=True).status == 200)

    def silent():  # the journal's time goes on with its events
        a.client('POST', '/v1/models/m/teach', {'x': X, 'label': 'x'})
        return a.model('m')['silent'], b.model('m')['silent']
    until(lambda: silent() == (6, 6))
    assert b.client.feedback('m', id=ids[1], right=True).json['result'] == 'replaced'
    assert [n.client('POST', '/v1/models/m/activate', {'id': waits}).json['result'] for n in (a, b)] == ['activated', 'already']
    until(lambda: silent() == (7, 7))
    assert b.client('PATCH', '/v1/models/m', {'retire': ['x', 'y', 'z']}).code == 'no_label'
    assert b.client('PATCH', '/v1/models/m', {'retire': ['z']}).status == 200
    assert b.client('PATCH', '/v1/models/m', {'control': {'share': 0.5, 'by': 'uniform'}}).status == 200
    until(lambda: a.model('m').get('retired') == ['z'] and a.model('m')['control'])
    for i in range(40):
        d = (a, b)[i % 2].client.predict('m', X, durable=True)
        assert d['label'] != 'z'
        until(lambda: (b, a)[i % 2].client.feedback('m', id=d['id'], right=d['label'] == 'y').status == 200)
    assert len(set(until_equal((a, b), 'm'))) == 1
    told = [[n.model('m')[k] for k in ('silent', 'late', 'deferred', 'activated', 'retired', 'decisions')] for n in (a, b)]
    assert told[0] == told[1] and told[0][2:] == [1, 1, ['z'], 48], told
    assert told[0][0] - told[0][1] == 6, told  # of the 40, silence may have been faster, where a machine is slow
    assert a.client('GET', '/v1/models/m/comparison').json == b.client('GET', '/v1/models/m/comparison').json
    for n in (a, b):
        n.stop()
        code, lines = verify(n.folder)
        assert code == 0 and lines[0]['equal'], lines


def test_unknown_format_stops_applying(make_node, cluster):
    a = make_node('a')
    a.client.create('m')
    d = a.client.predict('m', X, durable=True)
    produce(cluster, about(a, "SELECT value FROM about WHERE key = 'topic'")[0], b'\xff\x00' + bytes(60))
    until(lambda: a.client('GET', '/readyz').status == 503)
    assert 'newer' in a.client('GET', '/readyz').json['error']['message']
    assert a.client('POST', '/v1/models/m/scores', {'x': X}).status == 200  # stays readable
    assert a.client.feedback('m', id=d['id'], right=True).status == 503


def about(node, sql, *values):
    with sqlite3.connect(os.path.join(node.folder, 'models', 'm', 'log.db')) as db:
        return db.execute(sql, values).fetchone()


def test_other_arithmetic_does_not_apply(make_node):
    a, b = make_node('a'), make_node('b')
    a.client.create('m')
    until(lambda: b.model('m'))
    d = a.client.predict('m', X, durable=True)
    b.stop()
    about(b, "UPDATE about SET value = value + 1 WHERE key = 'arithmetic'")
    b.start(ready=False)
    until(lambda: b.client('GET', '/readyz').code == 'stopped')
    assert a.client.feedback('m', id=d['id'], right=True).status == 200
    assert b.client.feedback('m', id=d['id'], right=True).status == 503
    assert b.client('POST', '/v1/models/m/scores', {'x': X}).status == 200  # stays readable
    time.sleep(0.5)
    assert b.model('m')['feedback'] == 0


def test_a_node_that_computes_otherwise_makes_no_models(make_node):
    """The others could not apply what it makes."""
    a, b = make_node('a'), make_node('b')
    a.client.create('m')
    until(lambda: b.model('m'))
    b.stop()
    about(b, "UPDATE about SET value = value + 1 WHERE key = 'arithmetic'")
    b.start(ready=False)
    until(lambda: b.client('GET', '/readyz').code == 'stopped')
    reply = b.client('PUT', '/v1/models/bad', {'labels': ['a', 'b']})
    assert reply.status == 503 and reply.code == 'stopped', reply.body
    assert [m['name'] for m in a.client('GET', '/v1/models').json['models']] == ['m']
    assert ready_or_slow(a.client('GET', '/readyz'))


def test_one_stopped_model_leaves_its_nodes_ready(make_node, cluster):
    a, b = make_node('a'), make_node('b')
    for name in ('good', 'm'):
        a.client.create(name)
        until(lambda: b.model(name))
    produce(cluster, about(a, "SELECT value FROM about WHERE key = 'topic'")[0], b'\xff\x00' + bytes(60))
    for n in (a, b):
        until(lambda: n.model('m')['status'] == 'stopped')
        assert ready_or_slow(n.client('GET', '/readyz')), n.client('GET', '/readyz').body
        assert ready_or_slow(n.client('GET', '/readyz?model=good'))
        reply = n.client('GET', '/readyz?model=m')
        assert reply.status == 503 and reply.code == 'stopped', reply.body
        assert n.client.predict('good', X)['id']


def test_nodes_stay_ready_while_models_are_made(make_node):
    nodes = [make_node(n) for n in 'ab']
    nodes[0].client.create('old')
    until(lambda: nodes[1].model('old'))
    seen, over = [], threading.Event()

    def watch(node):
        client = node.connect()
        while not over.is_set():
            reply = client('GET', '/readyz')
            seen.append((node.name, ready_or_slow(reply), reply.body))
            time.sleep(0.005)
    watchers = [threading.Thread(target=watch, args=(n,)) for n in nodes]
    for w in watchers:
        w.start()
    for i in range(6):
        nodes[i % 2].client.create('new%d' % i, learner='banditron')
        until(lambda: nodes[(i + 1) % 2].model('new%d' % i))
    over.set()
    for w in watchers:
        w.join()
    assert len(seen) > 20 and all(ready for _, ready, _ in seen), {s for s in seen if not s[1]}


def test_of_several_creations_at_once_one_is_made(make_node, cluster):
    """The others are compared with it: 409, and no topic stays behind."""
    nodes = [make_node(n) for n in 'ab']
    for i in range(4):
        asked, replies = [['a', 'b', 'c%d' % k] for k in range(2)], [None] * 2

        def put(k):
            replies[k] = nodes[k].connect().again('PUT', '/v1/models/w%d' % i, {'labels': asked[k], 'learner': 'banditron'})
        threads = [threading.Thread(target=put, args=(k,)) for k in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        made = [k for k in range(2) if replies[k].status in (200, 201)]  # 200: 503 came before
        assert len(made) == 1 and replies[1 - made[0]].status == 409, [r.body for r in replies]
        for n in nodes:
            until(lambda: n.model('w%d' % i))
            again = n.client('PUT', '/v1/models/w%d' % i, {'labels': asked[made[0]], 'learner': 'banditron'})
            assert again.status == 200, again.body

    def topics():  # folders of a broker; those of topics that are being deleted end otherwise
        return [t for t in os.listdir(os.path.join(cluster.folder, 'data1'))
                if t.startswith(nodes[0].prefix + 'model.') and t.endswith('-0')]
    until(lambda: len(topics()) == 4)


def test_ages_of_nodes_are_by_the_brokers_clock(make_node, tmp_path):
    """A node that is an hour ahead has heard of the others."""
    shift = tmp_path / 'shift'
    shift.write_text(str(3600 * 1000))
    make_node('a')
    b = make_node('b', start=False)
    b.env = dict(b.env or {}, HUNCH_CLOCK_FILE=str(shift))
    b.start()
    until(lambda: len(b.client('GET', '/v1/nodes').json['nodes']) == 2)
    heard = {n['node']: n['heard_seconds'] for n in b.client('GET', '/v1/nodes').json['nodes']}
    assert max(heard.values()) < 600, heard


def test_a_broker_whose_clock_is_ahead_expires_nothing(make_node, tmp_path):
    """Most nodes are a day behind the brokers, which is the same as brokers that are a day ahead. One node is not."""
    shift = tmp_path / 'shift'
    shift.write_text(str(-86400 * 1000))
    nodes = [make_node(name, start=False) for name in 'abc']
    for n in nodes[:2]:
        n.env = dict(n.env or {}, HUNCH_CLOCK_FILE=str(shift))
    for n in nodes:
        n.start()
    a = nodes[0]
    until(lambda: len(a.client('GET', '/v1/nodes').json['nodes']) == 3)
    until(lambda: [abs(n['clock_seconds']) > 80000 for n in sorted(a.client('GET', '/v1/nodes').json['nodes'], key=lambda n: n['node'])]
          == [False, False, True])
    a.client.create('m', ttl_seconds=3600)
    ids = []
    for n in nodes:
        until(lambda: n.model('m'))
        ids.append(n.client.predict('m', X, durable=True)['id'])
    until(lambda: a.seen('broker_clock_ahead'))
    until_equal(nodes, 'm')
    until(lambda: a.model('m')['committed_seq'] == a.model('m')['seq'])  # the model is ahead of its log
    shown = about(a, 'SELECT min(time_ms), max(time_ms) FROM decisions')
    assert all(abs(t / 1000 + 86400 - time.time()) < 3600 for t in shown), shown
    for n, id in zip(nodes, ids):
        assert n.client.feedback('m', id=id, right=True).status == 200
    metrics = nodes[2].client('GET', '/metrics').body.decode()
    assert [86000 < float(m.split()[1]) < 87000 for m in metrics.splitlines() if m.startswith('hunch_clock_seconds')] == [True]


def test_a_node_that_ends_says_what_the_brokers_have_not_taken(make_node, cluster):
    a = make_node('a')
    a.client.create('m')
    for i in (1, 2, 3):
        cluster.signal(i, signal.SIGSTOP)
    try:
        until(lambda: a.client('GET', '/readyz').status == 503)
        for _ in range(18):
            assert a.client('POST', '/v1/models/m/predict', {'x': X}).status == 200
        a.stop()
    finally:
        for i in (1, 2, 3):
            cluster.signal(i, signal.SIGCONT)
    assert a.event('stopped')['records_unacknowledged'] >= 18, a.event('stopped')


def test_two_nodes_of_one_name_are_noticed(make_node, tmp_path):
    a = make_node('a')
    b = make_node('b', hunch_node='a')
    for n in (a, b):
        until(lambda: n.seen('node_name_taken'))
        assert 'hunch_node_name_taken 1' in n.client('GET', '/metrics').body.decode()


def test_a_node_that_has_ended_is_forgotten(make_node):
    a, b = make_node('a'), make_node('b')
    until(lambda: len(a.client('GET', '/v1/nodes').json['nodes']) == 2)
    b.stop()
    until(lambda: [n['node'] for n in a.client('GET', '/v1/nodes').json['nodes']] == ['a'])


def test_damaged_log_is_replaced_by_a_copy(make_node):
    a, b = make_node('a'), make_node('b')
    a.client.create('m')
    until(lambda: b.model('m'))
    ids = [a.client.predict('m', X, durable=True)['id'] for _ in range(20)]
    until_equal((a, b), 'm')
    b.stop()
    about(b, "UPDATE decisions SET x = replace(x, '0.7', '0.8') WHERE seq = 3")
    for f in os.listdir(os.path.join(b.folder, 'models', 'm')):  # so that it must read the log
        if f.startswith('snapshot'):
            os.unlink(os.path.join(b.folder, 'models', 'm', f))
    b.start(ready=False)
    until(lambda: b.seen('copy_outdated'))
    b.until_ready()
    assert len(set(until_equal((a, b), 'm'))) == 1
    assert b.client.feedback('m', id=ids[2], right=True).status == 200


def test_a_folder_of_nonsense_is_made_anew_from_the_journal(make_node):
    a = make_node('a')
    a.client.create('m')
    for _ in range(5):
        assert a.client.feedback('m', id=a.client.predict('m', X)['id'], right=True).status == 200
    before = a.hash('m')
    a.stop()
    folder = os.path.join(a.folder, 'models', 'm')
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(b'nonsense')
    a.start()
    until(lambda: a.hash('m') == before)
    assert a.model('m')['feedback'] == 5


def test_a_single_machines_model_is_adopted(make_node, make_server, tmp_path):
    single = make_server(folder=tmp_path / 'a')
    single.client.create('m')
    ids = [single.client.predict('m', {'f%d' % (i % 5): 1})['id'] for i in range(40)]
    for i in ids[:20]:
        assert single.client.feedback('m', id=i, right=True).status == 200
    single.client.create('n', labels=['x', 'y'])
    before = single.client('GET', '/v1/models/m').json
    single.stop()
    a = make_node('a', hunch_adopt='*')
    b = make_node('b')
    until(lambda: (b.model('n') or {}).get('status') == 'ok')
    until(lambda: (a.model('m') or {}).get('status') == 'ok' and (b.model('m') or {}).get('status') == 'ok')
    assert all(n.model('m')[k] == before[k] for n in (a, b) for k in ('feedback', 'decisions', 'labels', 'seed'))
    assert len(set(until_equal((a, b), 'm'))) == 1
    assert b.client.feedback('m', id=ids[0], right=True).json['result'] == 'already'  # ids of before go on
    assert b.client.feedback('m', id=ids[0], right=False).status == 409
    assert b.client.feedback('m', id=ids[30], right=True).json['result'] == 'learned'
    d = a.client.predict('m', X, durable=True)
    assert b.client.feedback('m', id=d['id'], right=True).status == 200
    assert len(set(until_equal((a, b), 'm'))) == 1
    a.stop()
    a.start()  # the setting is still there, and does nothing
    assert not a.seen('model_adopted') and len(set(until_equal((a, b), 'm'))) == 1


def test_a_groups_backup_is_restored_on_a_single_machine(make_node, make_server, tmp_path):
    a, b = make_node('a'), make_node('b')
    a.client.create('m')
    until(lambda: b.model('m'))
    ids = [n.client.predict('m', {'f%d' % (i % 5): 1}, durable=True)['id'] for i in range(20) for n in (a, b)]
    for i in ids[:20]:
        assert b.client.feedback('m', id=i, right=True).status == 200
    until_equal((a, b), 'm')
    until(lambda: a.model('m')['committed_seq'] == 60)
    before = a.model('m')
    backup = tmp_path / 'backup.tar'
    backup.write_bytes(a.client('GET', '/v1/backup').body)

    def restore(name, *more):
        folder = str(tmp_path / name)
        done = subprocess.run([HUNCH, 'serve', '--dir', folder, '--restore', str(backup), *more], capture_output=True)
        assert done.returncode == 0, done.stderr
        return folder
    single = make_server(folder=restore('single'))
    now = single.client('GET', '/v1/models/m').json
    assert all(now[k] == before[k] for k in ('feedback', 'decisions', 'labels', 'seq', 'seed')), (now, before)
    assert [single.client('GET', '/v1/models/m/decisions/' + i).status for i in ids] == [200] * len(ids)
    assert single.client.feedback('m', id=ids[0], right=True).json['result'] == 'already'
    assert single.client.feedback('m', id=ids[0], right=False).status == 409
    assert single.client.feedback('m', id=ids[30], right=False).json['result'] == 'learned'
    for _ in range(10):
        assert single.client.feedback('m', id=single.client.predict('m', X)['id'], right=True).json['result'] == 'learned'
    assert single.client.feedback('m', id='8000000000000001-0000000000000001', right=True).code == 'unknown_id'
    single.stop()
    for f in os.listdir(os.path.join(single.folder, 'models', 'm')):  # so that it is made from the log alone
        if f.startswith('snapshot'):
            os.unlink(os.path.join(single.folder, 'models', 'm', f))
    code, lines = verify(single.folder)
    assert code == 0 and lines[0]['mismatches'] == 0, lines
    restore('node', '--kafka', a.config)
    with sqlite3.connect(str(tmp_path / 'node' / 'models' / 'm' / 'log.db')) as db:
        assert db.execute("SELECT count(*) FROM about WHERE key = 'topic'").fetchone() == (1,)


def test_a_cluster_that_lost_its_topics(make_node):
    """Another prefix is another cluster: nothing of the old one is there."""
    a, b = make_node('a', prefix='old%d.' % os.getpid()), make_node('b', prefix='old%d.' % os.getpid())
    a.client.create('m')
    until(lambda: b.model('m'))
    d = a.client.predict('m', X, durable=True)
    until_equal((a, b), 'm')
    a.stop()
    b.stop()
    lost = dict(prefix='new%d.' % os.getpid())
    b = make_node('b', start=False, **lost)
    b.start(ready=False)
    until(lambda: b.client('GET', '/readyz').json.get('error', {}).get('code') == 'stopped')  # kept, not served
    assert b.model('m')['status'] == 'stopped' and b.client.feedback('m', id=d['id'], right=True).status == 503
    a = make_node('a', start=False, hunch_adopt='m', **lost)
    a.start(ready=False)

    def learned():  # never ready without the model, and never without a word of its coming
        ready = b.client('GET', '/readyz').status == 200
        reply = b.client('POST', '/v1/models/m/feedback', {'id': d['id'], 'right': True})
        assert reply.status == 200 or reply.status == 503 and not (ready and reply.code in ('joining', 'stopped')), reply.body
        return reply.status == 200
    until(learned)
    until(lambda: b.model('m')['status'] == 'ok')
    a.until_ready()
    b.until_ready()
    assert len(set(until_equal((a, b), 'm'))) == 1
