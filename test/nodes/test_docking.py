# SPDX-License-Identifier: Apache-2.0

"""
On the dock for the battery, and off it before the next command, with a stand-in for the actions.

Where the types of an action are installed, also with servers of the real types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
import re
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus
from driven_robot import DrivenRobot, EAST, HOME, RESET
from mnm_ros import messages
from mnm_ros.core.errors import ParameterError
from mnm_ros.core.progress.said import BatteryLow, OutsideHours, Reason
from mnm_ros.driving.pose import Pose
from mnm_ros.nodes.mobile import docking
from mnm_ros.nodes.mobile.docking import AGAIN, Docking, KINDS
from node_processes import Peer
import pytest
from rclpy.action import ActionServer, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String

GIVEN = {'docking': 'nav2', 'dock_id': 'hall', 'home_timeout': 300.0}
LOW = BatteryLow(15, 20.0, 90.0)
SUCCEEDED, ABORTED, CANCELED = (
    GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_ABORTED, GoalStatus.STATUS_CANCELED)


class Action:
    """Takes goals and answers when the test says so."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready = True
        self.goals: list[Any] = []
        self.answers: list[Future] = []
        self.results: list[Future] = []
        self.cancelled = 0

    def server_is_ready(self) -> bool:
        return self.ready

    def send_goal_async(self, goal: Any) -> Future:
        self.goals.append(goal)
        self.answers.append(Future())
        return self.answers[-1]

    def respond(self, accepted: bool = True, number: int = -1) -> None:
        result = Future()
        self.results.append(result)
        self.answers[number].set_result(SimpleNamespace(
            accepted=accepted, get_result_async=lambda: result, cancel_goal_async=self._cancel))

    def _cancel(self) -> Future:
        self.cancelled += 1
        return Future()

    def end(self, status: int = SUCCEEDED, number: int = -1, **result: Any) -> None:
        self.results[number].set_result(SimpleNamespace(
            status=status, result=SimpleNamespace(**{'success': status == SUCCEEDED, **result})))


class Robot:
    """What a driver tells the docking; ``dock`` and ``undock`` are the actions."""

    def __init__(self, node: Node, monkeypatch: pytest.MonkeyPatch, **given: Any) -> None:
        self.now = 0.0
        actions: list[Action] = []

        def client(_: Node, kind: Any, name: str) -> Action:
            actions.append(Action(name))
            return actions[-1]
        monkeypatch.setattr(docking, 'ActionClient', client)
        monkeypatch.setattr(docking, 'time', SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(docking, '_action_type', lambda *_: SimpleNamespace(
            Goal=lambda: SimpleNamespace(dock_id='', use_dock_id=False)))
        self.told: list[str] = []
        self.docking = Docking(node, {**GIVEN, **given}, self.told.append)
        self.dock, self.undock = actions
        self.pose, self.at_home = Pose(0.0, 0.0, 0.0), True
        self.ordered = self.stopped = False

    def rest(self, reason: Reason) -> None:
        self.docking._on_rest(reason)

    def tick(self, seconds: float = 0.0) -> None:
        self.now += seconds
        self.docking.tick(self.pose, self.at_home, self.ordered, self.stopped)

    def docked(self) -> Robot:
        self.rest(LOW)
        self.tick()
        self.dock.respond()
        self.dock.end()
        self.tick()
        return self


@pytest.fixture
def robot(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Robot]:
    node = Node('driver', context=peer.context)
    yield Robot(node, monkeypatch)
    node.destroy_node()


def test_it_docks_once_it_is_home_to_be_charged_and_undocks_before_the_next_command(
        robot: Robot) -> None:
    assert (robot.dock.name, robot.undock.name) == ('dock_robot', 'undock_robot')
    robot.tick()
    robot.rest(OutsideHours('08:00-18:00', '08:00'))
    robot.tick()
    robot.at_home = False
    robot.rest(LOW)
    robot.tick()
    assert not robot.dock.goals and robot.docking.free
    robot.at_home = True
    robot.tick()
    goal, = robot.dock.goals
    assert (goal.use_dock_id, goal.dock_id) == (True, 'hall')
    assert not robot.docking.free
    robot.dock.respond()
    robot.at_home = False    # the dock is elsewhere
    robot.tick(100.0)
    robot.dock.end()
    robot.rest('')    # charged
    robot.tick(1000.0)
    assert robot.told == ['docking: reached'] and not robot.undock.goals
    robot.ordered = True
    robot.tick()
    assert len(robot.undock.goals) == 1 and not robot.docking.free
    robot.undock.respond()
    robot.undock.end()
    robot.tick()
    assert robot.docking.free and robot.told[1:] == ['undocking: reached']
    assert len(robot.dock.goals) == len(robot.undock.goals) == 1


@pytest.mark.parametrize('undocking', [False, True])
@pytest.mark.parametrize(('failure', 'words'), [
    ('gone', r'action server /(un)?dock_robot is not there'),
    ('silent', 'the action server does not answer'), ('refused', 'refused'),
    ('aborted', 'given up with status 6, error_code 904, no dock in sight'),
    ('unsuccessful', 'given up with status 4'), ('endless', 'not over after 300 s')])
def test_whatever_fails_is_said_and_tried_again(
        robot: Robot, undocking: bool, failure: str, words: str) -> None:
    robot.docked() if undocking else robot.rest(LOW)
    action = robot.undock if undocking else robot.dock
    robot.ordered, robot.told[:] = undocking, []
    action.ready = failure != 'gone'
    robot.tick()
    if failure not in ('gone', 'silent'):
        action.respond(failure != 'refused')
    if failure == 'aborted':
        action.end(ABORTED, error_code=904, error_msg='no dock in sight')
    elif failure == 'unsuccessful':
        action.end(success=False)
    robot.tick({'silent': 5.0, 'endless': 300.0}.get(failure, 0.0))
    assert action.cancelled == (failure == 'endless')
    told, = robot.told
    assert re.fullmatch(
        f'{"undocking" if undocking else "docking"}: {words}', told)
    over = failure not in ('silent', 'endless')
    assert robot.docking.detail == told and robot.docking.free is (over and not undocking)
    if failure == 'endless':
        action.end(CANCELED)
        assert robot.docking.free is not undocking
    goals = len(action.goals)
    robot.at_home = False    # it may have left it
    robot.tick(AGAIN - 0.1)
    assert len(action.goals) == goals
    action.ready = True
    robot.tick(0.2)
    assert len(action.goals) == goals + 1
    action.respond()
    action.end()
    assert not robot.docking.detail and robot.docking.free is undocking


def test_a_goal_that_is_accepted_late_is_not_over_before_its_result(robot: Robot) -> None:
    robot.rest(LOW)
    robot.tick()
    robot.tick(5.0)    # it does not answer
    robot.tick(AGAIN)
    robot.ordered = True
    robot.tick()
    assert len(robot.dock.goals) == 2 and not robot.docking.free
    robot.dock.respond(number=0)
    assert robot.dock.cancelled == 1
    robot.dock.respond()
    robot.dock.end(CANCELED)
    assert robot.dock.cancelled == 2 and not robot.docking.free
    robot.dock.end(SUCCEEDED, number=0)
    robot.tick()
    assert not robot.docking.free
    robot.tick(AGAIN)
    assert len(robot.undock.goals) == 1


@pytest.mark.parametrize('docked', [False, True])
def test_a_command_on_the_way_to_the_dock_takes_the_robot_back(robot: Robot, docked: bool) -> None:
    robot.rest(LOW)
    robot.tick()
    robot.ordered = True
    robot.tick()
    assert not robot.dock.cancelled    # it has not accepted it yet
    robot.dock.respond()
    robot.tick()
    assert robot.dock.cancelled == 1
    robot.dock.end(SUCCEEDED if docked else CANCELED)    # the cancellation may come too late
    robot.tick()
    assert robot.docking.free is not docked and len(robot.undock.goals) == docked


def test_a_stop_ends_the_way_to_the_dock(robot: Robot) -> None:
    robot.rest(LOW)
    robot.tick()
    robot.stopped = True
    robot.dock.respond()
    robot.tick()
    robot.tick()
    assert robot.dock.cancelled == 1
    robot.dock.end(CANCELED)
    robot.tick(1000.0)
    assert robot.docking.free and len(robot.dock.goals) == 1
    robot.stopped = False
    robot.tick()
    assert len(robot.dock.goals) == 2


@pytest.mark.parametrize('end', ['succeeded', 'canceled', 'gone', 'another server'])
def test_a_command_waits_until_the_dock_server_has_ended_a_goal(robot: Robot, end: str) -> None:
    robot.rest(LOW)
    robot.tick()
    robot.dock.respond()
    robot.ordered = True
    for _ in range(100):
        robot.tick(5.0)
        assert not robot.docking.free
    assert robot.dock.cancelled == 1 and not robot.undock.goals
    assert robot.told == ['docking: cancelled, but the action server does not end it']
    if end == 'gone':
        robot.dock.ready = False
        robot.tick(4.9)
        assert not robot.docking.free
        robot.tick(0.2)
        assert robot.told[-1] == 'docking: the action server has gone'
    else:    # a server that was started since does not know the goal
        robot.dock.end({'succeeded': SUCCEEDED, 'canceled': CANCELED}.get(end, 0))
    assert robot.docking.free is (end != 'succeeded')
    robot.tick()
    assert len(robot.undock.goals) == (end == 'succeeded')


def test_a_robot_that_is_carried_away_is_on_its_dock_no_more(robot: Robot) -> None:
    robot.docked()
    robot.rest('')
    robot.pose = Pose(0.5, 0.0, 0.0)    # as localisation has it by now
    robot.tick()
    assert not robot.docking.free
    robot.pose, robot.ordered = Pose(3.0, 0.0, 0.0), True
    robot.tick()
    assert robot.docking.free and not robot.undock.goals


def test_the_dock_of_an_irobot_says_whether_it_has_the_robot(
        peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Node('driver', context=peer.context)
    robot = Robot(node, monkeypatch, docking='irobot')
    assert (robot.dock.name, robot.undock.name) == ('dock', 'undock')
    robot.rest(LOW)
    robot.tick()
    robot.dock.respond()
    robot.dock.end(is_docked=False)
    assert robot.docking.free and robot.told == ['docking: given up with status 4']
    robot.tick(AGAIN)
    robot.dock.respond()
    robot.dock.end(is_docked=True)
    robot.ordered = True
    robot.tick()
    robot.undock.respond()
    robot.undock.end(is_docked=False)
    assert robot.docking.free and robot.told[1:] == ['docking: reached', 'undocking: reached']
    node.destroy_node()


def test_without_the_types_it_is_refused(peer: Peer, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)
    monkeypatch.setattr(docking, 'import_module', missing)
    node = Node('driver', context=peer.context)
    with pytest.raises(ParameterError, match="'nav2', which needs the package nav2_msgs or open"):
        Docking(node, GIVEN, print)
    with pytest.raises(ParameterError, match='irobot_create_msgs; expected that it is installed'):
        Docking(node, {**GIVEN, 'docking': 'irobot'}, print)
    node.destroy_node()


def types_of(kind: str) -> list[Any]:
    """Return those of the actions that dock and undock; none where they are not installed."""
    try:
        return [docking._action_type(KINDS[kind], kind, typed) for _, typed in KINDS[kind].actions]
    except ParameterError:
        return []


TYPES = {kind: types_of(kind) for kind in KINDS}


class DockServers:
    """
    Both actions of a kind of dock in their real types, beside a perfect robot.

    :ivar played: their names in the order in which goals were accepted.
    :ivar accepts: whether they do.
    """

    def __init__(self, peer: Peer, kind: str) -> None:
        self.accepts = True
        self.played: list[str] = []
        self._servers = [
            ActionServer(
                peer.node, typed, name, partial(self._execute, name, typed, dock),
                goal_callback=lambda _: (
                    GoalResponse.ACCEPT if self.accepts else GoalResponse.REJECT))
            for dock, typed, (name, _) in zip((True, False), TYPES[kind], KINDS[kind].actions)]

    def _execute(self, name: str, typed: Any, dock: bool, handle: Any) -> Any:
        self.played.append(name)
        handle.succeed()
        result = typed.Result()
        for field, value in (('success', True), ('is_docked', dock)):
            if hasattr(result, field):
                setattr(result, field, value)
        return result


@pytest.mark.parametrize('kind', [pytest.param(kind, marks=pytest.mark.skipif(
    not types, reason=f'{" or ".join(KINDS[kind].packages)} is not installed'))
    for kind, types in TYPES.items()])
def test_a_driver_docks_a_robot_that_rests_and_drives_on_by_a_command(
        peer: Peer, drive: Callable[..., DrivenRobot], kind: str) -> None:
    servers = DockServers(peer, kind)
    servers.accepts = False
    rest = peer.node.create_publisher(String, 'rest/reason', messages.LATCHED)
    robot = drive(docking=kind)
    dock, undock = (name for name, _ in KINDS[kind].actions)
    assert robot.act(EAST)[0] == HOME + 1
    rest.publish(messages.encode_reason(LOW))
    assert robot.act(RESET)[0] == HOME
    peer.wait_for(lambda: robot.outcomes[-1] == 'docking: refused', 'the refusal')
    servers.accepts = True
    peer.wait_for(lambda: robot.outcomes[-1] == 'docking: reached', 'the dock')
    rest.publish(String(data=''))
    assert servers.played == [dock]
    seq = robot.send(RESET)
    assert peer.wait_for(lambda: robot.answers(seq), 'the answer') == [HOME]
    assert servers.played == [dock, undock]
    assert robot.act(EAST)[0] == HOME + 1
