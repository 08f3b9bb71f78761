# SPDX-License-Identifier: Apache-2.0

"""The navigator with a robot that does as the test says; the test publishes the policies."""

from __future__ import annotations

from collections.abc import Callable
import time
from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from english import english_in
from faulty_robot import FaultyRobot
from in_process import navigating_here, navigator_here
from mnm_ros import messages
from mnm_ros.core.progress.said import BatteryLow, WorkComesFirst
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.nodes.navigator import Navigator
from navigating import declare, HeldRobot, HORIZON, KNOWN, Operator, publish
from node_processes import Peer, ScriptedRobot, soon
import pytest
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import Trigger
from tiers import thorough

EAST, RESET = 0, -1
ENOUGH = 5.0    # s, until every node has ended


@pytest.fixture
def navigator(peer: Peer, operator: Operator,
              monkeypatch: pytest.MonkeyPatch) -> Callable[..., Navigator]:
    return navigating_here(peer, operator, monkeypatch)


def actions(robot: ScriptedRobot) -> list[int]:
    return [action for _, action, _ in robot.executed]


def test_without_an_explorer(
        peer: Peer, operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = ScriptedRobot(peer)
    robot.state = 1
    navigator_here(peer, monkeypatch)
    operator.wait_for_subscription()
    assert operator.go(2) == 'refused 2: no policies heard yet'
    publish(peer, KNOWN)
    operator.wait_for_navigator()
    assert operator.go(2) == 'reached 2 in 2 steps'
    assert operator.go(1) == 'reached 1 in 1 steps'
    assert operator.go(0) == 'reached 0 in 0 steps'
    assert operator.go(-7) == 'refused -7: no policy leads there'
    assert actions(robot) == [RESET, EAST, EAST, RESET, EAST, RESET]
    late = Operator(peer)
    assert late.result() == 'refused -7: no policy leads there'


def test_restart_after_the_horizon(navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = FaultyRobot(peer)
    robot.stuck = {EAST}
    navigator()
    operator.send(2)
    peer.wait_for(lambda: len(robot.executed) > 2 * HORIZON, 'two attempts')
    robot.stuck = set()
    result = operator.result()
    assert actions(robot)[:8] == [RESET, *[EAST] * HORIZON, RESET, *[EAST] * HORIZON]
    assert result == f'reached 2 in {len(robot.executed) - 1} steps'


def test_limit_of_steps(navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = FaultyRobot(peer)
    robot.stuck = {EAST}
    navigator(max_steps=10)
    assert operator.go(2) == 'failed 2: max_steps reached: 10 steps'
    assert len(robot.executed) == 11


def test_reset_misses_home(navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = FaultyRobot(peer)
    robot.misses = 2
    navigator(reset_retries=2, direct=False)
    assert operator.go(2) == 'reached 2 in 2 steps'
    assert actions(robot) == [RESET, RESET, RESET, EAST, EAST]
    robot.misses = 10
    assert operator.go(2) == (
        'failed 2: RESET led to state 1 instead of home, state 0, 3 times in a row')


def test_moved_by_hand(navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = HeldRobot(peer)
    navigator()
    operator.send(2)
    robot.release()
    robot.release()
    peer.wait_for(lambda: len(robot.executed) == 3, 'two steps')
    robot.state = 1
    robot.send(-1, 1)
    robot.release()    # too late
    for _ in range(3):
        robot.release()
    assert operator.result() == 'reached 2 in 4 steps'    # the lost one does not count
    assert actions(robot) == [RESET, EAST, EAST, RESET, EAST, EAST]


def test_the_robot_is_silent(navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = ScriptedRobot(peer)
    navigator(step_timeout=0.1, step_retries=2)
    robot.deaf = 1
    assert operator.go(1) == 'reached 1 in 1 steps'
    robot.deaf = 10**6
    count = len(robot.received)
    assert operator.go(2) == 'failed 2: the robot does not answer'
    peer.wait_for(lambda: len(robot.received) >= count + 4, 'the last command')
    peer.spin(0.3)
    assert len(robot.received) == count + 4 and len(set(robot.received[count:])) == 1
    robot.deaf = 0
    assert operator.go(2) == 'reached 2 in 2 steps'
    assert len(set(robot.received)) == len(robot.executed) + 1    # nothing of the goal that failed


def test_the_robot_appears_later(navigator: Callable, peer: Peer, operator: Operator) -> None:
    navigator(step_timeout=60.0)
    operator.send(2)
    peer.spin(0.3)
    ScriptedRobot(peer)
    assert operator.result() == 'reached 2 in 2 steps'


def test_cancelled(navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = HeldRobot(peer)
    navigator()
    response = peer.call(Trigger, 'cancel')
    assert not response.success and response.message == 'no goal is under way'
    operator.send(2)
    robot.release()
    peer.wait_for(lambda: robot.held, 'a step under way')
    response = peer.call(Trigger, 'cancel')
    assert response.success and response.message == 'cancelling after the current step'
    assert not operator.results
    robot.release()
    assert operator.result() == 'cancelled 2: service cancel called'
    peer.spin(0.2)
    assert actions(robot) == [RESET, EAST]


def test_replaced(navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = HeldRobot(peer)
    navigator()
    operator.send(2)
    peer.wait_for(lambda: robot.held, 'a step under way')
    assert operator.go(99) == 'refused 99: no policy leads there'    # changes nothing
    assert operator.results == []
    operator.send(0)
    assert operator.go(1) == 'cancelled 0: goal 1 replaces this goal'
    robot.release()
    assert operator.result() == 'cancelled 2: goal 1 replaces this goal'
    robot.release()    # from home, where it is
    assert operator.result() == 'reached 1 in 1 steps'
    assert actions(robot) == [RESET, EAST]


def test_what_has_become_forbidden_is_not_commanded(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    """The goal under way ends after its step, and another one is refused until it may be."""
    robot, told = HeldRobot(peer), peer.listen(DiagnosticArray, 'goal/status')
    navigator(direct=False)
    operator.send(2)
    robot.release()
    peer.wait_for(lambda: robot.held, 'a step under way')
    declare(peer, (1, EAST))
    reason = 'its policy plays action 0 in state 1, which must never be commanded'
    peer.wait_for(lambda: told[-1].status[-1].message == f'ends after this step: {reason}',
                  'that it is heard')
    assert not operator.results
    robot.release()
    assert operator.result() == f'cancelled 2: {reason}'
    assert operator.go(2) == f'refused 2: {reason}'
    assert actions(robot) == [RESET, EAST]
    operator.send(1)    # whose policy does not play that
    robot.release()
    robot.release()
    assert operator.result() == 'reached 1 in 1 steps'
    declare(peer, (2, EAST))
    peer.wait_for(lambda: operator.send(2) or robot.held or operator.results.clear(), 'a way')
    peer.wait_for(lambda: robot.release_if_held() or any(
        result.startswith('reached 2') for result in operator.results), 'the goal')


def test_a_command_under_way_that_is_forbidden_is_not_sent_again(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot = HeldRobot(peer)
    navigator(step_timeout=0.1, step_retries=1000)
    operator.send(2)
    robot.release()
    peer.wait_for(lambda: actions(robot) == [RESET, EAST] and len(robot.received) > 3, 'retries')
    declare(peer, (0, EAST))
    assert operator.result() == (
        'cancelled 2: its policy plays action 0 in state 0, which must never be commanded')
    count = peer.wait_for_rest(lambda: len(robot.received), 'that no more comes', 0.5)
    assert len(set(robot.received)) == 2 and count == len(robot.received)
    assert operator.go(2).startswith('refused 2: its policy plays')
    peer.spin(0.3)
    assert count == len(robot.received)


def test_what_is_declared_can_be_ignored(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    ScriptedRobot(peer)
    navigator(ignore_declared=True)
    declare(peer, (0, EAST), (1, EAST))
    peer.spin(0.5)    # to be heard
    assert operator.go(2) == 'reached 2 in 2 steps'


def test_goals_while_the_robot_rests(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    """A rest for work, which ends with a goal, refuses none; another one if so wanted."""
    ScriptedRobot(peer)
    navigator(goals_at_rest=False)
    rest = peer.node.create_publisher(String, 'rest/reason', messages.LATCHED)
    rest.publish(messages.encode_reason(BatteryLow(14, 20.0, 80.0)))
    peer.wait_for(lambda: operator.go(2).startswith('refused 2: the robot rests: battery 14%'),
                  'a refusal')
    assert peer.set_parameter('navigator', 'goals_at_rest', True).successful
    assert operator.go(2) == 'reached 2 in 2 steps'
    assert peer.set_parameter('navigator', 'goals_at_rest', False).successful
    rest.publish(messages.encode_reason(WorkComesFirst(9.0)))
    peer.wait_for(lambda: operator.go(1).startswith('reached 1'), 'a rest for work')


@pytest.mark.parametrize('answers', [True, False])
def test_ends_while_under_way(
        navigator: Callable, peer: Peer, operator: Operator, answers: bool) -> None:
    """The step under way is waited for, but not for ever."""
    robot = HeldRobot(peer)
    node = navigator()
    operator.send(2)
    peer.wait_for(lambda: robot.held, 'a step under way')
    began = time.monotonic()
    assert not node.leave()
    if answers:
        robot.release()
    peer.wait_for(node.leave, 'the end')
    assert operator.result() == 'cancelled 2: the node is ending'
    assert soon(time.monotonic() - began, ENOUGH)
    assert bool(robot.held) is not answers    # the last command was waited for, or given up


class Explorer:
    """Claims the robot, and says what becomes of goals as the test has it."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.goals = peer.listen(Int64MultiArray, 'goal/drive', messages.STEP)
        self.ends = peer.listen(Int64, 'goal/drive/cancel', messages.STEP)
        self._status = peer.node.create_publisher(
            DiagnosticArray, 'goal/drive/status', messages.LATCHED)
        peer.node.create_publisher(Int64, 'action/driver', messages.LATCHED).publish(Int64(data=1))

    def asked(self) -> messages.DriveGoal:
        """Wait for a goal and take it."""
        self._peer.wait_for(lambda: self.goals, 'a goal')
        asked = messages.decode_drive(self.goals[-1])
        self.goals.clear()
        return asked

    def say(self, asked: messages.DriveGoal, status: GoalStatus, text: str, **more: Any) -> None:
        self._status.publish(messages.encode_goals(Time(), [
            GoalReport(asked.id, asked.target, status, text, **more)]))


def test_its_topics_and_answers_are_in_its_language(
        peer: Peer, operator: Operator, monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str]) -> None:
    robot, told = HeldRobot(peer), peer.listen(DiagnosticArray, 'goal/status')
    asked = peer.listen(String, 'requests', messages.STEP)
    navigator_here(peer, monkeypatch, language='de')
    operator.wait_for_subscription()
    assert operator.go(2) == (
        'Ziel Zustand 2 abgelehnt: es sind noch keine Policies bekannt')
    publish(peer, KNOWN)
    peer.wait_for(lambda: peer.spin(0.25) or operator.go(99) == (
        'Ziel Zustand 99 abgelehnt: keine Policy führt dorthin'), 'policies to be heard')
    assert peer.call(Trigger, 'cancel').message == 'es gibt kein laufendes Ziel'
    peer.wait_for(lambda: any('abgelehnt, es gibt kein laufendes Ziel' in each.data
                              for each in asked), 'what is asked for')
    operator.send(2)
    robot.release()
    peer.wait_for(lambda: robot.held, 'a step under way')
    assert peer.call(Trigger, 'cancel').message == 'bricht nach dem laufenden Schritt ab'
    peer.wait_for(lambda: told[-1].status[-1].message == (
        'Ziel wird beendet: der Dienst cancel wurde aufgerufen'), 'the end to come')
    robot.release()
    assert operator.result() == 'Ziel Zustand 2 abgebrochen: der Dienst cancel wurde aufgerufen'
    robot.holding = False
    assert operator.go(1) == 'Ziel Zustand 1 in 0 Schritten erreicht'
    peer.node.create_publisher(Int64, 'goal/cancel', messages.REQUESTS).publish(Int64(data=77))
    peer.wait_for(lambda: told[-1].status[-1].message.startswith(
        'Ziel abgebrochen: seine Nummer kam auf goal/cancel'), 'a goal that is not known')
    reports = [status for message in told for status in message.status]
    said = {each.message for each in reports} | {
        value.value for each in reports for value in each.values if value.key == 'how'}
    assert len(said) > 8 and english_in(said, 'de') == []
    logged = capfd.readouterr()
    assert 'cancelled 2: service cancel called' in logged.err + logged.out


def test_an_explorer_plays_the_goals(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    robot, explorer, told = ScriptedRobot(peer), Explorer(peer), peer.listen(
        DiagnosticArray, 'goal/status')

    def last() -> GoalReport:
        return messages.decode_goals(told[-1])[-1]

    navigator(dwell=7.5, max_steps=40)
    operator.send(2)
    asked = explorer.asked()
    assert asked[1:] == (2, 7.5, True, 40)
    explorer.say(asked, GoalStatus.UNDER_WAY, 'on the way to 2 as it likes', steps=1)
    peer.wait_for(lambda: last().text == 'on the way to 2 as it likes', 'the way')
    explorer.say(asked, GoalStatus.REACHED, 'in 5 steps', steps=5, stays=7.5)
    assert operator.result() == 'reached 2 in 5 steps'
    peer.wait_for(lambda: last().stays == 7.5 and last().steps == 5, 'the stay')
    explorer.say(asked, GoalStatus.REACHED, 'in 5 steps', steps=5)
    peer.wait_for(lambda: last().stays is None, 'the end of the stay')
    operator.send(1)
    asked = explorer.asked()
    explorer.say(asked, GoalStatus.UNDER_WAY, 'on the way to 1')
    peer.wait_for(lambda: last().text == 'on the way to 1', 'the way')
    explorer.ends.clear()
    operator.send(0)
    peer.wait_for(lambda: [end.data for end in explorer.ends] == [asked.id], 'its end')
    explorer.say(asked, GoalStatus.CANCELLED, 'as it was asked to')
    assert operator.result() == 'cancelled 1: goal 0 replaces this goal'
    explorer.say(explorer.asked(), GoalStatus.FAILED, 'the robot does not answer')
    assert operator.result() == 'failed 0: the robot does not answer'
    assert robot.executed == []    # by this node


def test_an_explorer_that_does_not_begin(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    """A goal that it takes late is ended at once, as nobody waits for it any more."""
    robot, explorer = ScriptedRobot(peer), Explorer(peer)
    navigator(pause_timeout=0.5)
    operator.send(2)
    asked = explorer.asked()
    assert operator.result() == 'failed 2: the explorer did not begin the goal within 0.5 s'
    explorer.ends.clear()
    explorer.say(asked, GoalStatus.UNDER_WAY, 'on the way to 2')
    peer.wait_for(lambda: [end.data for end in explorer.ends] == [asked.id], 'its end')
    assert robot.executed == []


def test_nothing_is_sent_again_once_an_explorer_may_command_the_robot(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    """By then the robot may be anywhere: what was meant for here would be executed there."""
    robot = HeldRobot(peer)
    navigator(step_timeout=0.3)
    operator.send(2)
    peer.wait_for(lambda: robot.held, 'a command')
    Explorer(peer)
    assert operator.result() == 'cancelled 2: an explorer commands the robot now'
    received = len(robot.received)
    peer.spin(0.5)
    assert len(robot.received) == received


_REFUSED = ('nodes/test_navigator.py::test_refused_at_start '
            'test_parameters.py::test_refused_at_start')


@pytest.mark.parametrize(('name', 'value'), [
    ('pause_timeout', 0.0), *(pytest.param(*case, marks=thorough(_REFUSED)) for case in (
        ('max_steps', -1), ('reset_mode', 'magic'), ('step_retries', 0.5)))])
def test_refused_at_start(start: Callable, name: str, value: object) -> None:
    process = start('navigator', **{name: value})
    assert process.wait() == 1
    assert f"navigator: parameter '{name}' is {value!r}, expected " in process.output
