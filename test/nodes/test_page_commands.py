# SPDX-License-Identifier: Apache-2.0

"""Stop, Go on and Home of the page, with robots that take their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from mnm_ros import messages
from mnm_ros.language import text_in
from mnm_ros.page.commands import _WORDS, Commands
from mnm_ros.page.repeated_calls import CommandOutcome, of_all, RepeatedCalls
from mnm_ros.view.telemetry import RobotTelemetry, Telemetry
from node_processes import Peer
import pytest
from std_msgs.msg import Int64MultiArray
from std_srvs.srv import SetBool
from test_robot_side import SlowRobot


def in_words(outcome: CommandOutcome) -> tuple[str, bool | None]:
    return text_in('en', outcome.text), outcome.good


class Service:
    """A client of a service that answers when the test says so."""

    def __init__(self) -> None:
        self._asked: list[Callable[[Any], None]] = []

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, request: Any) -> Any:
        return SimpleNamespace(add_done_callback=self._asked.append)

    def answer(self, message: str, success: bool) -> None:
        self._asked[-1](SimpleNamespace(cancelled=lambda: False, result=lambda: SimpleNamespace(
            message=message, success=success)))


class Operated:
    """The commands of a page, an explorer that does as it is told, and its robots."""

    def __init__(self, peer: Peer, robots: dict[str, SlowRobot]) -> None:
        self.peer, self.robots = peer, robots
        self.told: list[bool] = []    # to explore
        self.obeys = True
        self.heard = Telemetry(phase='building/discovery', robots=tuple(
            RobotTelemetry(name, 'ok', '') for name in robots if name))
        peer.node.create_service(SetBool, 'explore', self._explore)
        self.commands = Commands(peer.node, lambda: self.heard)
        self._timer = peer.node.create_timer(0.05, self.commands.look)
        peer.wait_for(lambda: self.commands.offered() >= {'explore', 'stop', 'return_home'},
                      'the services')

    def _explore(self, request: SetBool.Request, response: Any) -> Any:
        self.told.append(request.data)
        if self.obeys:
            self.obey()
        response.success, response.message = True, 'exploring' if request.data else 'pausing'
        return response

    def obey(self) -> None:
        self.heard = replace(
            self.heard, phase='building/discovery' if self.told[-1] else 'paused')

    def wait_for(self, name: str, text: str, good: bool | None) -> None:
        def outcome() -> tuple[str, bool | None] | None:
            found = self.commands.outcomes.get(name)
            return found and in_words(found)

        try:
            self.peer.wait_for(lambda: outcome() == (text, good), f'{text}, {good}')
        except AssertionError:
            assert outcome() == (text, good)


@pytest.fixture
def operated(peer: Peer) -> Iterator[Callable[..., Operated]]:
    robots: dict[str, SlowRobot] = {}

    def make(*names: str) -> Operated:
        for name in names:
            robots[name] = SlowRobot(context=peer.context, namespace=name)
            peer.spin_also(robots[name])
        return Operated(peer, robots)
    yield make
    for robot in robots.values():
        robot.destroy_node()


def moving(peer: Peer, robot: SlowRobot) -> None:
    commands = peer.node.create_publisher(
        Int64MultiArray, f'{robot.get_namespace()}/action'.replace('//', '/'), messages.STEP)
    peer.wait_for(commands.get_subscription_count, 'the robot')
    commands.publish(messages.encode_step(1, 0))
    peer.wait_for(lambda: robot.busy, 'a move')


def test_stop_in_the_middle_of_a_move(peer: Peer, operated: Callable[..., Operated]) -> None:
    """It is said to be under way until the robot is at rest."""
    page = operated('')
    robot, = page.robots.values()
    robot.obedient = False
    moving(peer, robot)
    page.commands.press('stop')
    page.wait_for('stop', 'not at rest yet', None)
    assert robot.cancelled == ['service stop called']
    robot.arrive(5)
    page.wait_for('stop', 'stopped', True)
    page.commands.press('resume')
    page.wait_for('resume', 'the exploration continues', True)
    assert not robot._stopped and page.told == [True]
    assert page.commands.latest[0] == 'resume'


def test_home_waits_until_exploration_has_paused(
        peer: Peer, operated: Callable[..., Operated]) -> None:
    page = operated('')
    robot, = page.robots.values()
    page.obeys = False
    page.commands.press('stop')
    page.wait_for('stop', 'stopped', True)
    page.commands.press('home')
    page.wait_for('home', 'first, exploration pauses after the current step', None)
    peer.wait_for(lambda: len(page.told) > 1, 'that it is asked again')
    assert page.told[:2] == [False, False] and robot.begun == []
    page.obey()
    page.wait_for('home', 'on the way home', None)
    robot.arrive(0)
    page.wait_for('home', 'at home', True)
    assert {*robot.begun} == {-1}    # the call that is answered with success finds it there


def test_stop_ends_a_way_home(peer: Peer, operated: Callable[..., Operated]) -> None:
    page = operated('')
    robot, = page.robots.values()
    page.commands.press('home')
    page.wait_for('home', 'on the way home', None)
    page.commands.press('stop')
    assert 'home' not in page.commands.outcomes
    page.wait_for('stop', 'stopped', True)
    peer.spin(1.0)    # nothing comes later
    assert robot._stopped and robot.begun == [-1] and not robot.busy


def test_all_robots_are_stopped_and_each_that_is_not_is_named(
        peer: Peer, operated: Callable[..., Operated]) -> None:
    page = operated('r1', 'r2')
    page.commands.press('stop')
    page.wait_for('stop', 'r1, r2: stopped', True)
    page.heard = replace(page.heard, robots=(
        *page.heard.robots, RobotTelemetry('r3', 'warning', 'no answer')))
    page.commands.press('stop')
    page.wait_for('stop', 'r1, r2: stopped; r3: not there', False)
    page.commands.press('resume')
    page.wait_for('resume', 'the exploration continues', True)
    assert not any(robot._stopped for robot in page.robots.values())


def test_an_answer_is_in_the_language_of_the_page(
        peer: Peer, operated: Callable[..., Operated]) -> None:
    page = operated('')
    page.commands.press('pause')
    page.wait_for('pause', 'pauses after the current step', True)
    assert text_in('de', page.commands.outcomes['pause'].text) == (
        'h\u00e4lt nach dem laufenden Schritt an')
    page.commands.go(3)
    assert page.commands.latest == ('', '')    # the line of the bar has the goal alone


def test_what_came_of_all() -> None:
    done, refused, waiting = (CommandOutcome('a', True), CommandOutcome('b', False),
                              CommandOutcome('c', None))
    assert of_all({'': done}) == done and of_all({'': waiting}) == waiting
    assert in_words(of_all({'r1': done, 'r2': done})) == ('r1, r2: a', True)
    assert in_words(of_all({'r1': done, 'r2': refused})) == ('r1: a; r2: b', False)
    assert in_words(of_all({'r1': waiting, 'r2': refused})) == ('r1: c; r2: b', None)


def test_an_answer_is_told_as_soon_as_it_comes() -> None:
    """Issue: the word after Stop came seconds later on a busy machine."""
    heard: list[CommandOutcome] = []
    service = Service()
    calls = RepeatedCalls({'': service}, None, answered=lambda: heard.append(calls.look(0.1)))
    assert in_words(calls.look(0.0)) == ('requested', None) and not heard
    service.answer('stopped', True)
    assert heard == [CommandOutcome('stopped', True)]


def test_the_page_has_its_own_words_for_a_goal_that_is_not_there_to_be_cancelled() -> None:
    service = Service()
    calls = RepeatedCalls({'': service}, None, words=_WORDS['cancel'])
    calls.look(0.0)
    service.answer('no goal is under way', False)
    outcome = calls.look(0.1)
    assert text_in('de', outcome.text) == 'es gibt kein laufendes Ziel' and outcome.good is False
