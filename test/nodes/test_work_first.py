# SPDX-License-Identifier: Apache-2.0

"""The parameter ``explore``: what goals change in when and what is explored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import sqlite3
import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray
from faulty_robot import learns
from mnm_ros import messages
from mnm_ros.core.progress.said import WorkComesFirst
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.core.task.step_task import RunState
from mnm_ros.nodes.exploring.work import WorkFirst
from navigating import Operator
from node_processes import NodeProcess, Peer, ScriptedRobot
import pytest
from std_msgs.msg import Int64MultiArray, String
from tiers import thorough

RESTS = 'paused: goals come first; explores after {:g} s without a goal'


class Board:
    """Publishes goals as the navigator does, and hears what the explorer says."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.status = peer.listen(String, 'status')
        self.phase = peer.listen(String, 'phase')
        self._goals = peer.node.create_publisher(
            DiagnosticArray, 'goal/status', messages.LATCHED)

    def tell(self, *goals: tuple[int, GoalStatus]) -> None:
        self._goals.publish(messages.encode_goals(
            self.peer.node.get_clock().now().to_msg(), [
                GoalReport(goal_id, target, status, '')
                for goal_id, (target, status) in enumerate(goals)]))

    def heard(self) -> None:
        self.peer.wait_for(self._goals.get_subscription_count, 'the explorer')

    def says(self, status: str) -> None:
        self.peer.wait_for(lambda: self.status[-1].data == status, status)

    def explores(self) -> None:
        self.peer.wait_for(lambda: self.phase and '/' in self.phase[-1].data, 'exploration')


def preferred(folder: Path) -> list[int]:
    """Return the states that a log tells of as preferred."""
    log, = folder.glob('*.log.sqlite')
    with sqlite3.connect(log) as database:
        rows = database.execute('SELECT state FROM inputs WHERE kind = 5').fetchall()
    database.close()
    return [state for state, in rows]


def test_with_idle_it_rests_at_home_for_a_while_after_each_goal(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    board = Board(peer)
    process = explorer(explore='idle', idle_after=600.0, checkpoint_dir=str(tmp_path),
                       transition_log=True)
    board.heard()
    board.tell()
    board.explores()    # nobody has asked for anything yet
    board.tell((2, GoalStatus.UNDER_WAY))
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 20, 'steps: the navigator pauses it')
    assert 'work' not in board.status[-1].data
    board.tell((2, GoalStatus.REACHED))
    board.says(RESTS.format(600))
    peer.wait_for(lambda: board.phase[-1].data == 'paused', 'the phase')
    assert robot.executed[-1][1:] == (-1, 0)
    assert peer.set_parameter('explorer', 'idle_after', 0.5).successful
    board.explores()    # that is over
    assert peer.set_parameter('explorer', 'idle_after', 600.0).successful
    board.tell((2, GoalStatus.REACHED), (1, GoalStatus.REFUSED))    # that counts, too
    board.says(RESTS.format(600))
    assert peer.set_parameter('explorer', 'explore', 'always').successful
    board.explores()
    board.tell((2, GoalStatus.REACHED), (1, GoalStatus.REFUSED), (0, GoalStatus.UNDER_WAY))
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 20, 'more steps')
    assert process.stop() == 0
    assert preferred(tmp_path) == [2, 1]


@pytest.mark.parametrize(('explore', 'told', 'rests'), [
    ('always', [], False), ('shared', [0, 1, 2], False), ('idle', [0, 1, 2], True)])
def test_what_goals_change_by_the_parameter(
        explore: str, told: list[int], rests: bool) -> None:
    """Rest after no goal of before the start. There are no nodes here."""
    preferred: list[int] = []
    exploration = SimpleNamespace(state=RunState.RUNNING, prefer=preferred.append)
    guard = SimpleNamespace(for_topic=lambda take, most: take,
                            call=lambda method, *arguments: method(*arguments))
    first = WorkFirst(
        SimpleNamespace(count_publishers=lambda topic: 1),
        {'explore': explore, 'idle_after': 9.0}, guard,
        SimpleNamespace(exploration=exploration))

    def report(target: int, status: GoalStatus) -> GoalReport:
        return GoalReport(target, target, status, '')

    before = report(0, GoalStatus.REACHED)
    first.hear([before])
    now = time.monotonic()
    assert not first.reason(now)
    first.hear([before, report(1, GoalStatus.WAITING)])
    assert not first.reason(now + 1.0)    # the navigator has it paused, or is about to
    first.hear([before, report(1, GoalStatus.REACHED), report(2, GoalStatus.REFUSED)])
    assert first.reason(now + 2.0) == (WorkComesFirst(9.0) if rests else '')
    assert not first.reason(now + 12.0) and preferred == told


@thorough('nodes/test_work_first.py::test_what_goals_change_by_the_parameter '
          'nodes/test_work_first.py::test_with_idle_it_rests_at_home_for_a_while_after_each_goal')
@pytest.mark.parametrize(('explore', 'told'), [('shared', [1, 2]), ('always', [])])
def test_what_goals_need_comes_first_unless_it_is_always_the_same(
        explorer: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot, tmp_path: Path,
        explore: str, told: list[int]) -> None:
    board = Board(peer)
    process = explorer(explore=explore, checkpoint_dir=str(tmp_path), transition_log=True)
    board.heard()
    board.tell((1, GoalStatus.REACHED))    # of before it was started
    board.explores()
    board.tell((1, GoalStatus.REACHED), (2, GoalStatus.WAITING))
    board.tell((1, GoalStatus.REACHED), (2, GoalStatus.UNDER_WAY))
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 30, 'steps')
    assert process.stop() == 0
    assert preferred(tmp_path) == told


@thorough('nodes/test_navigator.py::test_goals_while_the_robot_rests nodes/test_work_first.py::'
          'test_with_idle_it_rests_at_home_for_a_while_after_each_goal')
def test_goals_are_taken_while_it_rests_for_them_though_not_at_rest_otherwise(
        start: Callable, explorer: Callable[..., NodeProcess], peer: Peer,
        scenario: str) -> None:
    start('cmp_sim', scenario=scenario)
    process = explorer(explore='idle', idle_after=600.0)
    status, phase = peer.listen(String, 'status'), peer.listen(String, 'phase')
    learns(peer)
    navigator, operator = start('navigator', goals_at_rest=False, dwell=0.0), Operator(peer)
    operator.wait_for_navigator()

    def rests() -> bool:
        """Send a goal that is refused; the first may have been before the explorer heard any."""
        operator.go(99)
        return status[-1].data == RESTS.format(600)

    peer.wait_for(rests, 'the rest')
    states = peer.listen(Int64MultiArray, 'state', messages.STEP)
    for goal in (2, 1, 2):
        peer.wait_for(lambda: status[-1].data == RESTS.format(600), 'the rest')
        assert operator.go(goal).startswith(f'reached {goal}')
        states.clear()
        peer.wait_for(lambda: states[-1].data[1] == 0, 'the way home')
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the phase')
    for node in (navigator, process):
        assert node.stop() == 0, node.output


@thorough('nodes/test_navigator_trust.py::test_as_far_as_they_may_be_trusted '
          'nodes/test_trust_topics.py::test_policies_before_the_first_hypothesis '
          'nodes/test_work_first.py::test_what_goals_change_by_the_parameter')
def test_with_a_map_goals_are_taken_before_anything_is_certified(
        start: Callable, peer: Peer, tmp_path: Path) -> None:
    start('cmp_sim', scenario='two_rooms', declare_successors=True, latency=0.1)
    phase = peer.listen(String, 'phase')
    process = start('explorer', explore='shared', checkpoint_dir=str(tmp_path),
                    transition_log=True)
    start('navigator', least_trust='assumed')
    operator = Operator(peer)
    operator.wait_for_subscription()
    peer.wait_for(lambda: not operator.go(3).startswith('refused'), 'a way by the map')
    # Each check of the explorer adds the policies of some states.
    peer.wait_for(lambda: operator.go(4).startswith('reached 4'), 'a way to another state')
    assert {message.data.split('/')[0] for message in phase} <= {
        'waiting_for_robot', 'building', 'paused'}
    assert process.stop() == 0
    assert preferred(tmp_path)[-1] == 4
