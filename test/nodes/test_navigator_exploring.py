# SPDX-License-Identifier: Apache-2.0

"""The navigator beside an explorer: one robot, and both count on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
import signal
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from faulty_robot import as_steps, learns
from mnm_ros import messages
from mnm_ros.core.progress.events import Event
from mnm_ros.messages import PolicySet
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.ground_truth import judge
from mnm_ros.simulation.scenario import load
from navigating import declare, describe, HeldRobot, Operator
from node_processes import NodeProcess, PAUSE, Peer, read_counts
import pytest
from std_msgs.msg import Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from tiers import thorough

Step = tuple[int, int, int]
TARGETS = (0, 1, 2)


class Nodes:
    """An explorer that has learnt the corridor, a simulated robot and a navigator."""

    def __init__(self, start: Callable, explorer: Callable, before: Counter[Step], peer: Peer,
                 scenario: str, folder: Path, pause: float = PAUSE, dwell: float = 0.0,
                 **mode: object) -> None:
        self._start, self._folder, self._before = start, folder, before
        self.by_service = False
        self.peer = peer
        self.operator = Operator(peer)
        self.phase = peer.listen(String, 'phase')
        self.status = peer.listen(String, 'status')
        self._explore = peer.node.create_client(SetBool, 'explore')
        self.simulator: NodeProcess = start(
            'cmp_sim', scenario=scenario, latency=pause, record=str(folder / 'simulator'))
        self.explorer: NodeProcess = explorer(record=str(folder / 'explorer'), **mode)
        self.policies: list[Int64MultiArray] = learns(peer)
        self.navigator: NodeProcess = start('navigator', dwell=dwell, **mode)
        self.operator.wait_for_navigator()

    def explores(self) -> None:
        self.peer.wait_for(lambda: '/' in self.phase[-1].data, 'exploration')

    def explore(self, wanted: bool) -> str:
        future = self._explore.call_async(SetBool.Request(data=wanted))
        self.peer.wait_for(future.done, 'a response')
        assert future.result().success
        return future.result().message

    def pause(self) -> None:
        self.explore(False)
        self.peer.wait_for(lambda: self.phase[-1].data == 'paused', 'paused')

    def slow_down(self, latency: float) -> None:
        assert self.peer.set_parameter('cmp_sim', 'latency', latency).successful

    def start_another_navigator(self, **parameters: object) -> None:
        self.operator.results.clear()
        self.navigator = self._start('navigator', **parameters)
        self.operator.wait_for_navigator()
        self.peer.spin(0.3)    # for the results of what was sent in vain
        self.operator.results.clear()

    def end(self) -> tuple[dict[Step, int], dict[Step, int]]:
        """Return what the explorer has counted, and what was played besides."""
        for process in (self.navigator, self.explorer, self.simulator):
            assert process.stop() == 0, process.output
        counted = as_steps(read_counts(self._folder / 'explorer')) - self._before
        played = as_steps(read_counts(self._folder / 'simulator'))
        assert not counted - played
        return counted, played - counted


@pytest.fixture(params=['service', pytest.param('action', marks=thorough(
    'nodes/test_navigator_exploring.py::test_every_known_state_while_exploration_waits '
    'nodes/test_navigator_exploring.py::'
    'test_what_others_ask_of_the_explorer_disturbs_neither_a_goal_nor_a_stay_at_it'))])
def nodes(start: Callable, explorer: Callable, peer: Peer, scenario: str, tmp_path: Path,
          request: pytest.FixtureRequest) -> Nodes:
    # Longer than any deadline but that of the first hypothesis: the middleware may lose the first
    # response of a service, but from then on nothing but a fault may take a timeout.
    nodes = Nodes(start, explorer, Counter(), peer, scenario, tmp_path, reset_mode=request.param,
                  step_timeout=25.0)
    nodes.by_service = request.param == 'service'
    return nodes


@pytest.fixture
def slow(start: Callable, knowing: Callable, learnt: Any, peer: Peer, scenario: str,
         tmp_path: Path) -> Nodes:
    """Nodes with a robot that takes its time, and goes home before each goal."""
    nodes = Nodes(start, knowing, learnt.counts, peer, scenario, tmp_path, pause=0.3)
    assert peer.set_parameter('navigator', 'direct', False).successful
    return nodes


@pytest.fixture
def staying(start: Callable, knowing: Callable, learnt: Any, peer: Peer, scenario: str,
            tmp_path: Path) -> Nodes:
    """Nodes with a robot that takes its time, and stays at goals."""
    return Nodes(start, knowing, learnt.counts, peer, scenario, tmp_path, pause=0.1, dwell=60.0)


def test_every_known_state_while_exploration_waits(nodes: Nodes, scenario: str) -> None:
    results = []
    for target in TARGETS:
        nodes.explores()
        results.append(nodes.operator.go(target))
    for target in TARGETS:    # as quick as can be: exploration hardly goes on in between
        results.append(nodes.operator.go(target))
    nodes.explores()
    nodes.pause()
    heard = len(nodes.phase)
    results += [nodes.operator.go(target) for target in TARGETS]
    text = nodes.navigator.output
    if not nodes.by_service:    # from 0 to 1 and from 1 to 2, while exploration waits
        assert ' from where it is: about 1.' in text or ' from home, where it is' in text, text
    nodes.peer.spin(0.3)
    assert {message.data for message in nodes.phase[heard:]} <= {'paused'}
    assert [result.partition(' in ')[0] for result in results] == [
        f'reached {target}' for target in 3 * TARGETS]
    assert not any('another node' in message.data for message in nodes.status)
    assert judge(load(scenario).settings[0].cmp, PolicySet.from_msg(nodes.policies[-1]),
                 4.0, 1.0).ok
    counted, besides = nodes.end()
    assert sum(counted.values()) > 100
    assert {action for _, action, _ in besides} <= {-1}    # all else was learnt from


def test_what_others_ask_of_the_explorer_disturbs_neither_a_goal_nor_a_stay_at_it(
        staying: Nodes) -> None:
    the_events_have_the_goal_and_its_end_alone(staying)
    all_hear_that_it_stays(staying)
    it_goes_by_way_of_home_if_another_node_may_have_moved_it(staying)
    it_leaves_by_itself(staying)
    a_pause_ends_it_and_lasts(staying)
    it_leaves_when_the_navigator_ends(staying)
    staying.start_another_navigator(dwell=0.0, direct=False)
    staying.slow_down(0.3)
    who_resumes_exploration(staying)
    a_pause_at_the_same_time_holds(staying)
    cancelled_before_exploration_has_paused(staying)
    the_navigator_ends_while_under_way(staying)
    staying.end()


def who_resumes_exploration(slow: Nodes) -> None:
    slow.operator.send(2)
    slow.peer.wait_for(lambda: slow.phase[-1].data == 'paused', 'paused')
    slow.explore(True)
    slow.slow_down(PAUSE)
    assert slow.operator.result().startswith('reached 2 in ')


def a_pause_at_the_same_time_holds(slow: Nodes) -> None:
    """Pause while goals come; the pause goes on after them."""
    slow.explores()
    slow.slow_down(0.3)
    paused = slow._explore.call_async(SetBool.Request(data=False))
    slow.operator.send(2)
    slow.operator.send(1)
    slow.peer.wait_for(paused.done, 'a response')
    assert slow.operator.result() == 'cancelled 2: goal 1 replaces this goal'
    slow.slow_down(PAUSE)
    assert slow.operator.result().startswith('reached 1 in ')
    # What is heard on two topics is in no command.
    slow.peer.wait_for(lambda: slow.phase[-1].data == 'paused', 'paused')
    heard = len(slow.phase)
    slow.peer.spin(0.5)
    assert {message.data for message in slow.phase[heard - 1:]} == {'paused'}
    slow.explore(True)


def cancelled_before_exploration_has_paused(slow: Nodes) -> None:
    slow.explores()
    slow.slow_down(1.0)
    slow.operator.send(2)
    slow.operator.send(1)
    assert slow.operator.result() == 'cancelled 2: goal 1 replaces this goal'
    slow.slow_down(PAUSE)
    assert slow.operator.result().startswith('reached 1 in ')


def the_navigator_ends_while_under_way(slow: Nodes) -> None:
    slow.explores()
    slow.slow_down(0.3)
    slow.operator.send(2)
    slow.peer.wait_for(lambda: slow.phase[-1].data == 'paused', 'paused')
    assert slow.navigator.stop(signal.SIGINT, limit=5.0) == 0
    assert slow.operator.result() == 'cancelled 2: the node is ending'
    slow.explores()


def the_events_have_the_goal_and_its_end_alone(staying: Nodes) -> None:
    """Not the pause for the goal, nor the end of this pause."""
    staying.explores()    # else the end of the wait for the robot is an event, too
    heard, begun = staying.peer.listen(String, 'events', messages.EVENTS), time.time()

    def asked() -> list[str]:
        events = [Event.from_json(message.data) for message in heard]
        return [event.what or event.kind for event in events if event.time >= begun
                and event.kind not in ('decision', 'change', 'hint')]

    assert staying.operator.go(2).startswith('reached 2 in ')
    staying.peer.wait_for(lambda: 'stays at' in staying.status[-1].data, 'that it stays')
    staying.explore(True)
    staying.explores()
    staying.peer.wait_for(lambda: 'resume' in asked(), 'who goes on')
    staying.peer.call(Trigger, 'cancel')
    staying.peer.wait_for(lambda: 'cancel' in asked(), 'a later event')
    # The first goals may be refused, before the navigator has the policies.
    assert {*asked()} - {'refused'} == {'goal', 'reached', 'resume', 'cancel'}, [
        message.data for message in heard]


def all_hear_that_it_stays(staying: Nodes) -> None:
    told = staying.peer.listen(DiagnosticArray, 'goal/status')

    def stays() -> list[float]:
        reports = messages.decode_goals(told[-1])
        return [report.stays for report in reports if report.stays is not None]

    assert staying.operator.go(2).startswith('reached 2 in ')
    sentence = ('paused: the robot stays at the goal state 2 for 60 s, or until the next goal or '
                'mnm_ros resume')
    staying.peer.wait_for(lambda: staying.status[-1].data == sentence, 'that it stays')
    staying.peer.wait_for(lambda: stays() == [60.0], 'that all hear of it')
    staying.peer.wait_for(lambda: staying.phase[-1].data == 'paused', 'the pause')
    before = len(staying.phase)
    assert staying.operator.go(2) == 'reached 2 in 0 steps'    # at once: it stands there
    assert staying.operator.go(1) == 'reached 1 in 1 steps'
    staying.peer.wait_for(lambda: 'the goal state 1' in staying.status[-1].data, 'the next one')
    assert {message.data for message in staying.phase[before - 1:]} == {'paused'}
    staying.peer.wait_for(lambda: stays() == [60.0], 'that all hear of it')
    assert staying.explore(True) == 'exploring'    # not once the goal is over
    staying.explores()
    staying.peer.wait_for(lambda: not stays(), 'that it leaves')


def it_goes_by_way_of_home_if_another_node_may_have_moved_it(staying: Nodes) -> None:
    """Do so as the answer to the other node may be lost, so that nobody knows of it."""
    peer, operator = staying.peer, staying.operator
    assert operator.go(2).startswith('reached 2 in ')
    peer.wait_for(lambda: operator.go(2) == 'reached 2 in 0 steps', 'the same place')
    other = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: operator.go(2) == 'reached 2 in 2 steps', 'a way from home')
    assert operator.go(2) != 'reached 2 in 0 steps'
    peer.node.destroy_publisher(other)


def stays_at_2(staying: Nodes, seconds: float) -> None:
    assert staying.peer.set_parameter('navigator', 'dwell', seconds).successful
    assert staying.operator.go(2).startswith('reached 2 in ')
    staying.peer.wait_for(lambda: f'stays at the goal state 2 for {seconds:g} s' in (
        staying.status[-1].data), 'that it stays')


def it_leaves_by_itself(staying: Nodes) -> None:
    stays_at_2(staying, 1.0)
    staying.explores()


def a_pause_ends_it_and_lasts(staying: Nodes) -> None:
    stays_at_2(staying, 60.0)
    assert staying.explore(False) == 'paused'
    staying.peer.wait_for(
        lambda: staying.status[-1].data.startswith('paused by service explore'), 'a pause')
    assert staying.phase[-1].data == 'paused'
    assert staying.explore(True) == 'exploring'
    staying.explores()


def it_leaves_when_the_navigator_ends(staying: Nodes) -> None:
    stays_at_2(staying, 60.0)
    assert staying.navigator.stop(signal.SIGINT, limit=5.0) == 0
    staying.explores()


@thorough('nodes/test_goal_drive.py::test_a_goal_of_a_navigator_that_has_gone_is_given_up')
def test_exploration_goes_on_when_the_navigator_is_killed(slow: Nodes) -> None:
    slow.operator.send(2)
    slow.peer.wait_for(lambda: slow.phase[-1].data == 'paused', 'paused')
    slow.navigator.kill()
    slow.explores()


def test_a_goal_waits_until_a_robot_side_that_has_joined_has_said_what_it_is(
        start: Callable, knowing: Callable, peer: Peer, operator: Operator) -> None:
    """Issue: it failed if the publisher was seen before its message."""
    robot, status = HeldRobot(peer), peer.listen(String, 'status')
    robot.holding = False
    knowing()
    learns(peer)
    start('navigator', direct=False, dwell=0.0)
    operator.wait_for_navigator()
    robot.holding = True
    operator.send(2)
    robot.wait_until_held()
    late = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    peer.wait_for(
        lambda: 'no description of the robot side has come yet' in status[-1].data, 'the wait')
    late.publish(String(data=RobotDescription(('east', 'west')).to_text()))
    robot.holding = False
    robot.release_if_held()
    assert operator.result().startswith('reached 2 ')


def test_what_becomes_forbidden_on_the_way_is_commanded_by_neither(
        start: Callable, knowing: Callable, peer: Peer, operator: Operator) -> None:
    robot, told = HeldRobot(peer), peer.listen(DiagnosticArray, 'goal/status')
    trust = peer.listen(String, 'trust')
    robot.holding = False
    described = describe(peer)
    exploring = knowing()
    learns(peer)
    start('navigator', direct=False, dwell=0.0)
    operator.wait_for_navigator()
    robot.holding = True
    operator.send(2)

    def is_told(text: str) -> bool:
        return bool(told and told[-1].status and told[-1].status[-1].message.startswith(text))
    robot.wait_until_held()
    while not (is_told('on the way to 2') and robot.executed[-1] == (0, 0, 1)):
        robot.release_if_held()
        robot.wait_until_held()
    before = len(robot.executed)
    declare(peer, (1, 0), publisher=described)
    peer.wait_for(lambda: is_told('ends after this step: its policy plays'), 'that it ends')
    peer.wait_for(lambda: 'must never be commanded' in exploring.output and 'doubted' in (
        trust[-1].data), 'the explorer')
    robot.holding = False
    robot.release()
    assert operator.result().startswith('cancelled 2: its policy plays action 0 in state 1, ')
    peer.wait_for(lambda: len(robot.executed) > before + 20, 'exploration')
    assert operator.go(2).startswith('refused 2: ')
    assert not [step for step in robot.executed[before:] if step[:2] == (1, 0)]
