# SPDX-License-Identifier: Apache-2.0

"""Only one robot side may take the commands of an explorer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import signal

from faulty_robot import as_steps
from logged_robot import played, start_logged
from mnm_ros import messages
from mnm_ros.nodes.common.graph_watch import RobotSides
from node_processes import Peer, read_counts, ScriptedRobot
import pytest
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import thorough


@pytest.fixture
def exploring(explorer: Callable, peer: Peer, tmp_path: Path) -> tuple:
    process = explorer(step_timeout=0.3, record=str(tmp_path / 'record'))
    return process, peer.listen(String, 'phase'), peer.listen(String, 'status')


def test_a_second_one_is_started(peer: Peer, exploring: tuple, tmp_path: Path) -> None:
    """It says why it waits, and each step that counts has happened on one of them."""
    process, phase, status = exploring
    sides = [Peer(name=name) for name in ('first', 'second')]

    def spin() -> None:
        for side in sides:
            if not side.closed:
                side.spin_once(0.0)

    def wait_for(condition: Callable, what: str) -> None:
        peer.wait_for(lambda: spin() or condition(), what)
    first = ScriptedRobot(sides[0])
    wait_for(lambda: len(first.executed) > 30, 'steps')
    second = ScriptedRobot(sides[1])
    said = 'waiting for the robot: 2 robot sides at once: '
    both = f'{said}/first, /second', f'{said}/second, /first'
    wait_for(lambda: status[-1].data in both, 'the reason')
    peer.wait_for_rest(lambda: spin() or [len(first.executed), len(second.executed)],
                       'that it commands neither')
    before = len(second.executed)    # until both were noticed
    sides[0].close()
    wait_for(lambda: len(second.executed) > before + 50, 'the other one')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    wait_for(lambda: phase[-1].data == 'paused', 'paused')
    assert process.stop() == 0
    counted = as_steps(read_counts(tmp_path / 'record'))
    assert counted and not counted - as_steps(first.counts()) - as_steps(second.counts())
    assert -1 in [action for _, action, _ in second.executed[before:before + 3]]


@thorough(shown_by=(
    'nodes/test_two_robots.py::test_a_second_one_is_started '
    'protocol/test_single_robot_guard.py::test_one_that_was_killed_is_replaced '
    'protocol/test_robots_at_random.py::'
    'test_one_that_is_killed_and_replaced_holds_it_up_for_two_seconds'))
def test_one_that_was_killed_is_replaced(
        start: Callable, peer: Peer, scenario: str, exploring: tuple, tmp_path: Path) -> None:
    """It stays in the graph for 20 s; that it does not answer a RESET tells that it is gone."""
    for number in range(3):
        log = tmp_path / f'log_{number}'
        robot = start_logged(start, log, scenario, number)
        peer.wait_for(lambda: log.stat().st_size > 300, 'steps')    # noqa: B023
        peer.wait_for(lambda: peer.node.count_publishers('state') > min(number, 1),    # noqa: B023
                      'that it is seen, and that the last one still is')
        robot.stop(signal.SIGKILL)
        peer.spin(0.5)


@thorough(shown_by=(
    'nodes/test_two_robots.py::test_a_second_one_is_started '
    'protocol/test_single_robot_guard.py::test_one_that_was_taken_for_dead_reports '
    'protocol/test_single_robot_guard.py::test_an_answer_from_before_the_roll_call_is_noticed '
    'protocol/test_robots_at_random.py::test_no_step_mixes_up_two_robots'))
def test_one_that_was_taken_for_dead_is_alive(
        start: Callable, peer: Peer, scenario: str, exploring: tuple, tmp_path: Path) -> None:
    """It answers what has been answered before, and neither is commanded from then on."""
    process, phase, status = exploring
    log, other_log = tmp_path / 'log', tmp_path / 'other_log'
    first = start_logged(start, log, scenario, 1)
    peer.wait_for(lambda: log.stat().st_size > 300, 'steps')
    first.send(signal.SIGSTOP)
    commands = peer.listen(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: len(commands) > 1, 'a command that is given in vain, again')
    second = start_logged(start, other_log, scenario, 2)
    peer.wait_for(lambda: other_log.stat().st_size > 300, 'steps')
    first.send(signal.SIGCONT)
    peer.wait_for(lambda: 'at once' in status[-1].data, 'both to be noticed')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    assert process.stop() == 0 and first.stop() == 0 and second.stop() == 0
    counted = as_steps(read_counts(tmp_path / 'record'))
    assert not counted - played(log) - played(other_log)


def test_an_adviser_learns_nothing_from_two(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    explorer(advisory=True)
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: status, 'the adviser')
    other = Peer(name='other')
    ScriptedRobot(other)
    said = 'waiting for the robot: 2 robot sides at once: '
    both = f'{said}/other, /peer', f'{said}/peer, /other'    # later also: nothing drives them
    peer.wait_for(lambda: status[-1].data.startswith(both), 'the reason')
    other.close()
    peer.wait_for(lambda: 'at once' not in status[-1].data, 'the end of it')


@pytest.fixture
def others() -> list[Peer]:
    """Return a recorder, which subscribes both topics, a navigator, which commands, a player."""
    others = [Peer(name='recorder'), Peer(name='navigator'), Peer(name='player')]
    for topic in ('action', 'state'):
        others[0].listen(Int64MultiArray, topic, messages.STEP)
    others[1].node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    others[1].listen(Int64MultiArray, 'state', messages.STEP)
    others[2].node.create_publisher(Int64MultiArray, 'state', messages.STEP)
    return others


def test_who_records_or_commands_is_no_robot(
        peer: Peer, robot: ScriptedRobot, others: list[Peer]) -> None:
    sides = RobotSides(peer.node, '/action', '/state')
    peer.wait_for(lambda: peer.node.count_publishers('action') == 1
                  and peer.node.count_publishers('state') == 2
                  and peer.node.count_subscribers('action') == 2
                  and peer.node.count_subscribers('state') == 2, 'all of them')
    assert [*sides.look().values()] == ['/peer']


@thorough('nodes/test_two_robots.py::test_who_records_or_commands_is_no_robot')
def test_an_explorer_goes_on_with_recorders_and_navigators(
        explorer: Callable, peer: Peer, robot: ScriptedRobot,
        request: pytest.FixtureRequest) -> None:
    explorer()
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    request.getfixturevalue('others')
    peer.wait_for(lambda: peer.node.count_publishers('state') == 2, 'all of them')
    peer.spin(0.3)
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 30, 'steps')
    assert not any('at once' in message.data for message in status)
