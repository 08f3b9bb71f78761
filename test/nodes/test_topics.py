# SPDX-License-Identifier: Apache-2.0

"""What the explorer publishes while it explores a simulated CMP."""

from __future__ import annotations

from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.progress.activity import Activity
from mnm_ros.messages import decode_known_states, decode_model, PolicySet
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from node_processes import Peer
from screen import Screen
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger
from tiers import thorough
from visualization_msgs.msg import MarkerArray

KEYS = {
    'round', 'phase', 'quantum', 'streams', 'known', 'candidates', 'states', 'steps',
    'check_steps',
    'check_window', 'failures', 'failure_threshold', 'last_change', 'changes_noticed',
    'changes_relearnt', 'reset_misses', 'steps_per_second', 'robot_timeouts', 'unanswered',
    'checkpoint', 'closed', 'requests_dropped', 'quarantined'}


def test_diagnostics_and_what_a_late_joiner_gets(
        start: Callable, explorer: Callable, peer: Peer, scenario: str) -> None:
    start('cmp_sim', scenario=scenario, namespace='/a')
    explorer(namespace='/a')
    heard = peer.listen(DiagnosticArray, '/diagnostics', 10)
    early = peer.listen(Int64MultiArray, '/a/policies')
    peer.wait_for(lambda: early, 'a hypothesis')
    status = peer.wait_for(
        lambda: heard[-1].status[0].level == b'\x00' and heard[-1].status[0],
        'diagnostics of a running exploration')
    assert status.name == '/a/explorer: exploration'
    values = {value.key: value.value for value in status.values}
    assert set(values) == KEYS
    peer.wait_for(
        lambda: float({v.key: v.value for v in heard[-1].status[0].values}['steps_per_second'])
        > 0, 'steps per second')
    late = Peer('/a')
    known = late.listen(Int64MultiArray, 'known_states')
    policies = late.listen(Int64MultiArray, 'policies')
    phase = late.listen(String, 'phase')
    status = late.listen(String, 'status')
    markers = late.listen(MarkerArray, 'exploration_markers')
    model = late.listen(Int64MultiArray, 'model')
    activity = late.listen(String, 'activity')
    setting = late.listen(Int64, 'true_setting')
    steps = late.listen(Int64, 'exploration_steps')
    late.wait_for(lambda: all((
        known, policies, phase, status, markers, model, activity, setting, steps)),
        'every latched topic')
    late.wait_for(lambda: len(Screen(*markers).places('known')) == 3, 'a picture of them')
    stamp, ids = decode_known_states(known[0])
    learnt = PolicySet.from_msg(policies[0])
    assert learnt.version == stamp and learnt.targets == ids
    assert set(ids) == {0, 1, 2} and ids[0] == 0
    assert judge(load(scenario).settings[0].cmp, learnt, 4.0, 1.0).ok
    assert '/' in phase[0].data and status[0].data
    assert setting[0].data == 0 and steps[0].data > 0
    told = Activity.from_json(activity[-1].data)
    assert told.home == 0 and told.step > 0 and told.doing != 'idle' and told.limit == 8.0
    counted = decode_model(model[0])
    assert counted.steps > 0 and set(counted.counts) == {0, 1, 2}
    assert all(set(actions) <= {RESET, 0, 1} for actions in counted.counts.values())
    assert set(counted.counts[0][0]) == {0, 1} and set(counted.counts[1][RESET]) == {0}
    assert len(Screen(*markers).places('current')) == len(Screen(*markers).places('home')) == 1


@thorough(shown_by='nodes/test_flat.py::test_two_robots_side_by_side')
def test_two_namespaces(start: Callable, explorer: Callable, scenario: str) -> None:
    peers = [Peer('/a'), Peer('/b')]
    start('cmp_sim', namespace='/a', scenario=scenario)
    explorer(namespace='/a')
    waiting = explorer(namespace='/b')
    policies = peers[0].listen(Int64MultiArray, 'policies')
    phase = peers[1].listen(String, 'phase')
    peers[0].wait_for(lambda: policies, 'a hypothesis in /a')
    peers[1].wait_for(lambda: phase, 'a phase in /b')
    assert [message.data for message in phase] == ['waiting_for_robot']
    assert waiting.running


@thorough('simulation/test_simulator.py::test_there_is_nothing_to_change_to_in_a_single_setting '
          'nodes/test_floods.py::'
          'test_a_robot_side_refuses_floods_of_change_and_of_free_but_no_stop')
def test_change(start: Callable, peer: Peer, scenario: str) -> None:
    start('cmp_sim', scenario=scenario)
    response = peer.call(Trigger, 'change')
    assert not response.success and response.message == 'the scenario has no other setting'


@thorough('nodes/test_declared.py::test_the_simulator_declares_its_first_setting_on_request')
def test_change_to_the_next_setting(start: Callable, peer: Peer) -> None:
    start('cmp_sim', scenario='moving_wall')
    setting = peer.listen(Int64, 'true_setting')
    peer.wait_for(lambda: [message.data for message in setting] == [0], 'the first setting')
    response = peer.call(Trigger, 'change')
    assert response.success and response.message == (
        'setting 1 is in force: r2c1, r2c3 closed; r1c2, r3c2 open')
    peer.wait_for(lambda: [message.data for message in setting] == [0, 1], 'the second setting')
