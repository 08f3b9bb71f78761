# SPDX-License-Identifier: Apache-2.0

"""Goals with an id, and the client that sends them: everybody hears of his own goal."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, ExitStack
from pathlib import Path
import re
from threading import Thread
import time

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from faulty_robot import FaultyRobot
from in_process import navigating_here, navigator_here
from mnm_ros import messages, NavigatorClient
from mnm_ros.core.task.navigation import GoalReport, GoalStatus
from mnm_ros.navigator_client import Goal
from mnm_ros.nodes.navigator import Navigator
from mnm_ros.robot_description import RobotDescription
from navigating import HeldRobot, KNOWN, Operator, publish
from node_processes import Peer, ScriptedRobot, soon
import pytest
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import Int64, Int64MultiArray, String

EAST, RESET = 0, -1
ENOUGH = 20.0    # s, for a way of a few steps
POLICIES = Path(__file__).resolve().parents[2] / 'docs' / 'reference' / 'goals.md'


class Raw:
    """Requests goals and cancels them as a client without this package would."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._requests = peer.node.create_publisher(Int64MultiArray, 'goal/request', messages.STEP)
        self._cancels = peer.node.create_publisher(Int64, 'goal/cancel', messages.STEP)
        self.heard: list[DiagnosticArray] = peer.listen(DiagnosticArray, 'goal/status')

    def find(self) -> Raw:
        self._peer.wait_for(lambda: self._requests.get_subscription_count()
                            and self._cancels.get_subscription_count() and self.heard,
                            'the navigator')
        return self

    def request(self, *numbers: int) -> None:
        self._requests.publish(Int64MultiArray(data=array('q', numbers)))

    def cancel(self, goal_id: int) -> None:
        self._cancels.publish(Int64(data=goal_id))

    def reports(self) -> dict[int, GoalReport]:
        """Return what the last message says, by the id of the goal."""
        return {report.id: report for report in messages.decode_goals(self.heard[-1])}

    def wait_for(self, goal_id: int, status: GoalStatus) -> GoalReport:
        return self._peer.wait_for(
            lambda: (report := self.reports().get(goal_id)) and report.status is status
            and report, f'goal {goal_id} {status.value}')


@pytest.fixture
def navigator(peer: Peer, operator: Operator,
              monkeypatch: pytest.MonkeyPatch) -> Callable[..., Navigator]:
    return navigating_here(peer, operator, monkeypatch)


@pytest.fixture
def client(peer: Peer) -> NavigatorClient:
    return NavigatorClient(peer.node)


@pytest.fixture
def raw(peer: Peer) -> Raw:
    return Raw(peer)


def result(peer: Peer, goal: Goal) -> GoalReport:
    """Return what has become of a goal, looking at it now and then as a node would."""
    return peer.wait_for(lambda: goal.result, 'a result')


def actions(robot: ScriptedRobot) -> list[int]:
    return [action for _, action, _ in robot.executed]


def test_who_asks_for_2_does_not_hear_of_1(
        navigator: Callable, peer: Peer, operator: Operator) -> None:
    ScriptedRobot(peer)
    navigator()
    assert operator.go(1) == 'reached 1 in 1 steps'
    client = NavigatorClient(peer.node)
    goal = client.go(2)
    assert goal.result is None and client.result is None
    heard = [goal.report]
    peer.wait_for(lambda: heard.append(goal.report) or goal.over, 'a result')
    assert {(report.id, report.target) for report in heard} == {(goal.id, 2)}
    assert goal.reached and goal.result == client.result == heard[-1]
    assert goal.result.text == 'reached 2 in 2 steps' and goal.result.steps == 2
    # Who only listens to goal_result still hears of all goals.
    assert Operator(peer).result() == 'reached 2 in 2 steps'


def test_every_end(navigator: Callable, peer: Peer, client: NavigatorClient) -> None:
    robot = FaultyRobot(peer)
    navigator(max_steps=3)
    assert result(peer, client.go(99)).text == 'refused 99: no policy leads there'
    assert client.result.status is GoalStatus.REFUSED and not client.goal.reached
    robot.stuck = {EAST}
    assert result(peer, client.go(2)).text == 'failed 2: max_steps reached: 3 steps'
    assert client.result.status is GoalStatus.FAILED
    robot.stuck = set()
    first, second = client.go(2), client.go(1)
    assert result(peer, second).status is GoalStatus.REACHED
    assert result(peer, first).text == 'cancelled 2: goal 1 replaces this goal'


def test_stamps(navigator: Callable, peer: Peer, raw: Raw) -> None:
    robot = HeldRobot(peer)
    navigator()
    raw.find()
    began = time.time_ns()
    raw.request(5, 1)
    report = raw.wait_for(5, GoalStatus.UNDER_WAY)
    assert began <= report.accepted <= time.time_ns() and report.ended is None
    robot.release()
    robot.release()
    ended = raw.wait_for(5, GoalStatus.REACHED)
    stamp = raw.heard[-1].header.stamp
    assert ended.accepted == report.accepted < ended.ended <= (
        stamp.sec * 10**9 + stamp.nanosec) <= time.time_ns()


def test_steps_so_far_and_steps_expected(
        navigator: Callable, peer: Peer, client: NavigatorClient) -> None:
    robot = HeldRobot(peer)
    navigator(direct=False)    # else the robot, which is there, has arrived

    def way() -> list[tuple[int, int, float | None]]:
        """Go to state 2; return steps, attempts and expected steps at every action."""
        goal, figures = client.go(2), []
        for steps in range(3):
            peer.wait_for(lambda: robot.held, 'an action')
            peer.wait_for(lambda: goal.report.status is GoalStatus.UNDER_WAY
                          and goal.report.steps == max(0, steps - 1)    # noqa: B023
                          and goal.report.attempts == min(steps, 1), 'the figures')    # noqa: B023
            report = goal.report
            figures.append((report.steps, report.attempts, report.expected_steps_left))
            assert (report.expected_steps_left is None) == (report.expected_seconds_left is None)
            assert report.expected_seconds_left is None or report.expected_seconds_left > 0
            robot.release()
        assert result(peer, goal).text == 'reached 2 in 2 steps'
        assert goal.report.expected_steps_left is goal.report.expected_seconds_left is None
        return figures

    assert way() == [(0, 0, None), (0, 1, None), (1, 1, None)]    # nobody has been there before
    assert way() == [(0, 0, 2.0), (0, 1, 2.0), (1, 1, 1.0)]


def test_goals_by_the_names_of_the_robot_side(navigator: Callable, peer: Peer) -> None:
    ScriptedRobot(peer)
    navigator()
    client = NavigatorClient(peer.node)
    goal = client.go('Küche')
    assert (goal.target, goal.name, goal.report.target) == (None, 'Küche', None)
    peer.spin(0.3)
    assert not goal.over and goal.target is None    # nobody has said what that is
    described = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    described.publish(String(data=RobotDescription(
        ('east', 'west'), 0, names={1: 'Flur', 2: 'Küche', 5: 'Bad', 6: 'Bad'}).to_text()))
    assert result(peer, goal).text == 'reached 2 in 2 steps' and goal.target == 2
    assert result(peer, client.go('Flur')).target == 1    # known by now
    assert result(peer, client.go('2')).status is GoalStatus.REACHED
    for name, why in (('Keller', "no state is called 'Keller', expected its id or its name, such "
                                 'as Flur, Küche, Bad'),
                      ('Bad', "'Bad' is the name of the states 5, 6, expected the id of one of "
                              'them')):
        refused = client.go(name)
        assert refused.result.status is GoalStatus.REFUSED and refused.target is None
        assert refused.result.text == f'refused {name}: {why}'
    client.destroy()


def test_a_name_that_nobody_tells(peer: Peer) -> None:
    client = NavigatorClient(peer.node, patience=0.3)
    assert result(peer, client.go('Küche')).text == 'lost: no robot side publishes names of states'
    assert result(peer, client.go('')).status is GoalStatus.LOST


def test_a_quick_robot_does_not_flood(navigator: Callable, peer: Peer, raw: Raw) -> None:
    robot = FaultyRobot(peer)
    robot.stuck = {EAST}
    navigator(max_steps=0)
    raw.find()
    raw.request(5, 2)
    raw.wait_for(5, GoalStatus.UNDER_WAY)
    before, steps, began = len(raw.heard), len(robot.executed), time.monotonic()
    peer.wait_for(lambda: len(raw.heard) > before + 5, 'that it is told how far it is')
    messages, seconds = len(raw.heard) - before, time.monotonic() - began
    assert len(robot.executed) - steps > messages    # a message for each step would be more
    assert messages <= 10 * seconds + 2
    raw.cancel(5)
    report = raw.wait_for(5, GoalStatus.CANCELLED)
    assert report.text == 'cancelled 2: the client has cancelled the goal'
    assert report.attempts > 1 and report.steps == len(robot.executed) - 1


def test_cancelled_by_its_id(navigator: Callable, peer: Peer) -> None:
    robot = HeldRobot(peer)
    navigator()
    mine, other = NavigatorClient(peer.node), NavigatorClient(peer.node)
    goal = mine.go(1)
    robot.release()
    robot.release()
    assert result(peer, goal).status is GoalStatus.REACHED
    mine.cancel()    # is over: does nothing
    following = other.go(2)
    peer.wait_for(lambda: robot.held, 'a step under way')
    Raw(peer).find().cancel(goal.id)    # that of a goal which is over does nothing, either
    peer.spin(0.3)
    assert not following.over
    other.cancel()
    peer.wait_for(lambda: following.report.text
                  == 'ends after this step: the client has cancelled the goal', 'that it is heard')
    robot.release()
    assert result(peer, following).text == 'cancelled 2: the client has cancelled the goal'
    assert not robot.held and actions(robot) == [RESET, EAST, RESET]


def test_the_goal_that_waits_is_cancelled_alone(
        navigator: Callable, peer: Peer, client: NavigatorClient) -> None:
    robot = HeldRobot(peer)
    navigator()
    first = client.go(2)
    peer.wait_for(lambda: robot.held, 'a step under way')
    second = client.go(1)
    peer.wait_for(lambda: second.acknowledged, 'that it is heard')
    assert second.report.status is GoalStatus.WAITING
    second.cancel()
    assert result(peer, second).text == 'cancelled 1: the client has cancelled the goal'
    robot.release()
    assert result(peer, first).text == 'cancelled 2: goal 1 replaces this goal'


def test_asked_for_twice_and_done_once(navigator: Callable, peer: Peer, raw: Raw) -> None:
    robot = ScriptedRobot(peer)
    navigator()
    raw.find()
    for _ in range(3):
        raw.request(5, 2)
    raw.wait_for(5, GoalStatus.REACHED)
    heard = len(raw.heard)
    raw.request(5, 1)
    peer.wait_for(lambda: len(raw.heard) > heard, 'that it is told again')
    assert raw.reports()[5].target == 2 and actions(robot) == [RESET, EAST, EAST]


def test_cancelled_before_it_is_heard(navigator: Callable, peer: Peer, raw: Raw) -> None:
    """The two topics may be heard in another order than they were published in."""
    robot = ScriptedRobot(peer)
    navigator()
    raw.find().cancel(5)
    assert raw.wait_for(5, GoalStatus.CANCELLED).target is None
    heard = len(raw.heard)
    raw.request(5, 2)
    peer.wait_for(lambda: len(raw.heard) > heard, 'that it is told again')
    assert raw.reports()[5].status is GoalStatus.CANCELLED and not robot.executed


def test_the_last_twenty_are_remembered(navigator: Callable, peer: Peer, raw: Raw) -> None:
    navigator()
    raw.find()
    for goal_id in range(1, 31):
        raw.request(goal_id, 99)
        raw.wait_for(goal_id, GoalStatus.REFUSED)
    assert list(raw.reports()) == list(range(11, 31))


def test_no_request(navigator: Callable, peer: Peer, raw: Raw,
                    capfd: pytest.CaptureFixture[str]) -> None:
    navigator()
    raw.find()
    for numbers in ((), (1,), (1, 2, 3)):
        raw.request(*numbers)
    peer.wait_for(lambda: 'ignored: goal/request has ' in capfd.readouterr().err, 'the warning')
    raw.request(5, 99)
    raw.wait_for(5, GoalStatus.REFUSED)


def test_sent_before_the_navigator_is_there(
        navigator: Callable, peer: Peer, client: NavigatorClient) -> None:
    ScriptedRobot(peer)
    publish(peer, KNOWN)
    goal = client.go(2)
    navigator()
    assert result(peer, goal).text in ('reached 2 in 2 steps', 'refused 2: no policies heard yet')


def test_there_is_no_navigator(peer: Peer) -> None:
    client = NavigatorClient(peer.node, patience=0.3)
    assert result(peer, client.go(2)).text == 'lost 2: there is no navigator'
    assert client.result.status is GoalStatus.LOST


def test_the_navigator_vanishes(peer: Peer) -> None:
    stand_in = peer.node.create_publisher(DiagnosticArray, 'goal/status', messages.LATCHED)
    client = NavigatorClient(peer.node, patience=0.3)
    goal = client.go(2)
    way = GoalReport(goal.id, 2, GoalStatus.UNDER_WAY, 'on the way')
    stand_in.publish(messages.encode_goals(Time(), [way]))
    peer.wait_for(lambda: goal.report == way, 'the report')
    peer.spin(0.6)
    assert not goal.over    # a step may take long, and the navigator is there
    peer.node.destroy_publisher(stand_in)
    assert result(peer, goal).text == 'lost 2: there is no navigator'


def test_the_navigator_is_started_again(
        navigator: Callable, peer: Peer, client: NavigatorClient,
        monkeypatch: pytest.MonkeyPatch) -> None:
    robot = HeldRobot(peer)
    before = navigator()
    goal = client.go(2)
    peer.wait_for(lambda: robot.held and goal.acknowledged, 'a step under way')
    peer.destroy(before)
    navigator_here(peer, monkeypatch)
    assert result(peer, goal).text == 'lost 2: the navigator no longer knows this goal'
    robot.held.clear()
    goals = [client.go(0)]

    def begins() -> bool:
        """Return whether the robot is commanded home; before, policies may not be heard yet."""
        if goals[-1].over:
            goals.append(client.go(0))
        return bool(robot.held)

    peer.wait_for(begins, 'a step')
    robot.release()
    assert result(peer, goals[-1]).text == 'reached 0 in 0 steps'
    assert actions(robot) == [RESET, RESET]


def test_the_navigator_is_told_to_end(
        navigator: Callable, peer: Peer, client: NavigatorClient) -> None:
    robot = HeldRobot(peer)
    node = navigator()
    goal = client.go(2)
    peer.wait_for(lambda: robot.held, 'a step under way')
    assert not node.leave()
    robot.release()
    peer.wait_for(lambda: goal.over, 'the result')
    assert goal.report.text == 'cancelled 2: the node is ending' and node.leave()


@contextmanager
def repeated(spin: Callable[[float], object]) -> Iterator[None]:
    """Let another thread spin for a moment, again and again."""
    running = [True]

    def run() -> None:
        while running:
            spin(0.05)

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        running.clear()
        thread.join()


@pytest.fixture(params=['by wait', 'by a thread'])
def script(peer: Peer, request: pytest.FixtureRequest) -> Iterator[Node]:
    """Yield a node that nobody spins until ``wait``, or one that another thread spins."""
    node = Node('script', context=peer.context)
    executor = SingleThreadedExecutor(context=peer.context)
    with ExitStack() as stack:
        if request.param == 'by a thread':
            executor.add_node(node)
            stack.enter_context(repeated(executor.spin_once))
        yield node
    executor.shutdown()
    node.destroy_node()


def test_a_script_waits(navigator: Callable, peer: Peer, script: Node) -> None:
    robot = HeldRobot(peer)
    robot.holding = False
    navigator()
    client = NavigatorClient(script)
    assert client.wait(0.0) is None
    with repeated(peer.spin):    # the robot and the navigator
        goal = client.go(2)
        assert goal.wait(ENOUGH).text == 'reached 2 in 2 steps' and client.wait() == goal.result
        robot.holding = True
        goal = client.go(1)
        began = time.monotonic()
        assert goal.wait(0.5) is None and not goal.over
        waited = time.monotonic() - began
        assert waited >= 0.5 and soon(waited, ENOUGH)
    client.destroy()


def test_the_script_shown(
        navigator: Callable, start: Callable, peer: Peer, tmp_path: Path) -> None:
    ScriptedRobot(peer)
    navigator()
    code, = re.findall(r'```python\n(import rclpy.*?)```', POLICIES.read_text(encoding='utf-8'),
                       re.DOTALL)
    path = tmp_path / 'shown.py'
    path.write_text(code.replace('client.go(7)', 'client.go(2)'))
    shown = start(str(path))
    peer.wait_for(lambda: not shown.running, 'the end')
    assert shown.wait() == 0 and shown.output.endswith('reached 2 in 2 steps\n'), shown.output
