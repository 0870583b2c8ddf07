# SPDX-License-Identifier: BSD-3-Clause
"""The tests of tests/serve, over Kafka: one suite for both journals. Left out is what EMBEDDED names, and why; one broker is
enough, and one node serves all tests that do not want a server of their own."""
import importlib
import os
import sys

import pytest
from conftest import HERE, Client, Cluster, Node, new_prefix

# Rooms of tests/serve and what of them is run; None: everything but what EMBEDDED names.
ROOMS = {
    'api': None, 'features': None, 'rows': None, 'monitoring': None, 'trust': None, 'decisions': None, 'policies': None,
    'durability': {'test_feedback_for_decisions_that_left_memory', 'test_looking_for_many_at_once',
                   'test_concurrent_duplicates_are_learned_once'},
    'operations': {'test_metrics', 'test_stats_survive_a_restart', 'test_term_drains_and_snapshots', 'test_the_log_answers_questions',
                   'test_int_stops_too'},
}
CLOCK = 'the time of a group is that of its brokers: test_group.py'
FILES, DISK = 'models of a group cannot be created from files', 'what the disk has lost the journal has: test_group.py'
EMBEDDED = {
    'test_ids_begin_with_their_place': 'a decision is shown before its place is known',
    'test_decisions_before_a_place': 'the same; by id both page: test_decisions_are_paged_by_id',
    'test_same_seed_same_life': 'each choice is drawn anew, and the journal has it',
    'test_spelling_makes_no_difference': 'the same',
    'test_the_tools_answer': FILES, 'test_what_is_wrong_with_a_row': FILES, 'test_numbers_that_are_categories': FILES,
    'test_a_cell_of_spaces_is_missing': FILES,
    'test_exclude_makes_the_model_forget': 'nothing is excluded from a journal that others follow',
    'test_an_answer_after_its_names_have_lost_their_places': 'the same',
    'test_exclude_while_serving': 'the same', 'test_exclude_refuses_what_is_not_there': 'the same',
    'test_events_that_the_log_refuses_are_refused_once': DISK, 'test_one_broken_model_does_not_make_the_server_unready': DISK,
    'test_every_request_about_a_broken_model_is_answered': DISK,
    'test_a_row_is_checked_when_it_is_read': DISK, 'test_the_logs_numbers_are_checked': DISK,
    'test_a_newer_snapshot_is_not_called_damaged': DISK, 'test_verify_names_what_another_version_made': FILES,
    'test_silence_is_an_answer': CLOCK, 'test_late_feedback_replaces': CLOCK, 'test_late_feedback_and_retention': CLOCK,
    'test_a_clock_that_jumps_answers_nothing': CLOCK, 'test_silence_after_a_pause': CLOCK, 'test_deferred_decisions': CLOCK,
    'test_everything_at_once': CLOCK, 'test_charts_are_the_same_after_a_restart': CLOCK,
    'test_ids_of_clients_while_decisions_are_listed': 'the locks of the log are the same',
    'test_a_damaged_index_learns_nothing_twice': 'a node of a group is not ready while its only model is damaged',
    'test_shadows_see_it_all_and_crashes_lose_nothing': CLOCK,
    'test_a_replay_counts_late_feedback_as_the_model_does': CLOCK, 'test_act_or_hand_over': 'models of a group have one version',
    'test_a_log_that_lost_its_end': DISK, 'test_an_end_lost_without_a_snapshot_is_seen': DISK, 'test_single_bit_flips': DISK,
}

sys.path.append(os.path.join(HERE, '..', 'serve'))
for room, chosen in ROOMS.items():
    pytest.register_assert_rewrite('test_' + room)
    module = importlib.import_module('test_' + room)
    for name, found in list(vars(module).items()):
        if name.startswith('test_') and name not in EMBEDDED and (not chosen or name in chosen):
            globals()['%s_%s' % (name, room)] = found
        elif hasattr(found, '_pytestfixturefunction') and found.__module__ == module.__name__:
            globals()[name] = found


class OwnClient(Client):
    """Whoever looks at the model after a prediction is to see it."""

    def predict(self, model, x, **more):
        return super().predict(model, x, **dict({'durable': True}, **more))


class GroupServer(Node):
    """The only node of its group, as a server of tests/serve."""
    token = env = preexec = None

    def connect(self):
        return OwnClient(self.port, self.token, self.host)


@pytest.fixture(scope='module')
def cluster(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp('cluster'), brokers=1)
    try:
        yield c.start()
    finally:
        c.close()


def make_group_server(cluster, folder, prefix, *arguments):
    return GroupServer(cluster, os.path.dirname(str(folder)), os.path.basename(str(folder)), prefix, *arguments, hunch_replicas=1,
                       hunch_min_insync=1, hunch_wait_ms=3000)


@pytest.fixture
def make_server(cluster, tmp_path):
    made = {}

    def make(*arguments, folder=None, start=True, token=None, **more):
        folder = str(folder or tmp_path / 'state')
        server = make_group_server(cluster, folder, made[folder].prefix if folder in made else new_prefix(), *arguments)
        server.token, server.env, server.preexec = token, more.get('env'), more.get('preexec')
        made[folder] = server
        return server.start() if start else server

    yield make
    for server in made.values():
        server.close()


@pytest.fixture(scope='module')
def only_server(cluster, tmp_path_factory):
    s = make_group_server(cluster, tmp_path_factory.mktemp('only') / 'state', 'only.').start()
    yield s
    s.close()


@pytest.fixture
def server(only_server):
    if only_server.process.poll() is not None:
        only_server.start()
    yield only_server
    if only_server.process.poll() is not None:
        only_server.start()
    only_server.client.close()
    for m in only_server.client('GET', '/v1/models').json['models']:
        assert only_server.client.again('DELETE', '/v1/models/' + m['name']).status == 200
    only_server.client.close()  # the server closes a connection that waits for long


@pytest.fixture
def client(server):
    return server.client
