# SPDX-License-Identifier: Apache-2.0

"""One node commands a robot, and no command is executed but in the state that it is meant for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
import json
from pathlib import Path
import random
import signal

from diagnostic_msgs.msg import DiagnosticArray
from faulty_robot import as_steps, learns
from logged_robot import played
from mnm_ros import messages
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.task.navigation import GoalStatus
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.robot_description import RobotDescription
from navigating import Operator
from node_processes import arguments, NodeProcess, Peer, read_counts
import pytest
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import strength

EAST, WEST = 0, 1


class Corridor(RobotSide):
    """A corridor of three states, whose end must not be left to the east."""

    action_names = ('east', 'west')

    def __init__(self, **node_arguments: object) -> None:
        super().__init__('corridor', **node_arguments)
        self.place, self.moved = 0, 0

    def execute(self, action: int) -> int:
        self.moved += 1
        self.place = min(2, self.place + 1) if action == EAST else max(0, self.place - 1)
        return self.place

    def return_home(self) -> int:
        self.moved += 1
        self.place = 0
        return 0

    def describe(self) -> RobotDescription:
        return RobotDescription(self.action_names, home=0, declaration=Declaration(
            {2: ((), (1,))}))


class Guarded:
    """The corridor, and who commands it."""

    def __init__(self, peer: Peer) -> None:
        self.robot, self.peer = Corridor(context=peer.context), peer
        peer.spin_also(self.robot)
        self.states = peer.listen(Int64MultiArray, 'state', messages.STEP)
        self.reports = peer.listen(String, 'step_report', messages.STEP)
        self._orders = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
        peer.wait_for(self._orders.get_subscription_count, 'the robot side')

    def command(self, *numbers: int) -> list[list[int]]:
        """Send a command and return the messages of the robot side up to the answer."""
        self.states.clear()
        self._orders.publish(Int64MultiArray(data=numbers))
        self.peer.wait_for(
            lambda: self.states and self.states[-1].data[0] == numbers[0], 'the answer')
        return [[*message.data] for message in self.states]


@pytest.fixture
def guarded(peer: Peer) -> Iterator[Guarded]:
    made = Guarded(peer)
    yield made
    made.robot.destroy_node()


def test_a_command_for_another_state_moves_nothing(guarded: Guarded) -> None:
    said = guarded.peer.listen(String, 'robot_side')
    guarded.peer.wait_for(lambda: said, 'the description')
    assert RobotDescription.from_text(said[-1].data).guarded
    assert guarded.command(1, -1) == [[1, 0]]
    assert guarded.command(2, EAST, 0) == [[2, 1]]
    moved = guarded.robot.moved
    # The report says to whom has sent it that what it had under way is no transition.
    assert guarded.command(3, EAST, 0) == [[-1, 1], [3, 1]]
    assert guarded.command(3, EAST, 0) == [[-1, 1], [3, 1]]    # sent again, and refused again
    assert guarded.robot.moved == moved and guarded.robot.place == 1
    guarded.peer.wait_for(lambda: guarded.reports, 'the reason')
    assert json.loads(guarded.reports[0].data) == {'seq': 3, 'refused': 'not in state 0'}
    assert guarded.command(4, EAST, 1) == [[4, 2]]
    assert guarded.command(5, WEST) == [[5, 1]]    # two numbers mean what they meant


@pytest.mark.parametrize('meant', [(), (2,)], ids=['two numbers', 'three'])
def test_what_is_declared_forbidden_is_refused_whoever_asks(
        guarded: Guarded, meant: tuple[int, ...]) -> None:
    guarded.peer.wait_for(lambda: guarded.robot._forbidden, 'the description')
    for seq, action in enumerate((-1, EAST, EAST), 1):
        guarded.command(seq, action)
    moved = guarded.robot.moved
    assert guarded.command(9, EAST, *meant) == [[-1, 2], [9, 2]]
    assert guarded.robot.moved == moved
    guarded.peer.wait_for(lambda: guarded.reports, 'the reason')
    assert 'never to be commanded in state 2' in json.loads(guarded.reports[0].data)['refused']


class Storm:
    """An explorer, a navigator, both killed at times, and a robot whose messages are lost."""

    def __init__(self, start: Callable[..., NodeProcess], peer: Peer, folder: Path,
                 scenario: str, seed: int) -> None:
        self._start, self.peer, self._folder = start, peer, folder
        self.random = random.Random(seed)
        self._numbers = count()
        self.log, self.counts = folder / 'played', []
        self.log.touch()
        self._scenario = scenario
        self.operator = Operator(peer)
        self.explore = peer.node.create_client(SetBool, 'explore')
        self.simulator, self.explorer = self.start_simulator(), self.start_explorer()
        learns(peer)
        self.navigator = self.start_navigator()
        self.wait_for_navigator()

    def start_simulator(self) -> NodeProcess:
        given = arguments({'scenario': self._scenario, 'drop_action': 0.05, 'drop_state': 0.05,
                           'latency': strength(0.01, 0.002)})
        return self._start(str(Path(__file__).with_name('logged_sim.py')),
                           given=[str(self.log), *given])

    def start_explorer(self) -> NodeProcess:
        self.counts.append(self._folder / f'counts_{next(self._numbers)}')
        return self._start('explorer', actions=['east', 'west'], step_timeout=0.2, step_retries=20,
                           checkpoint_dir=str(self._folder / 'kept'), record=str(self.counts[-1]))

    def start_navigator(self) -> NodeProcess:
        return self._start('navigator', step_timeout=0.2, dwell=0.0)

    def wait_for_navigator(self) -> None:
        """Wait until the policies have been heard; one that was killed is still seen."""
        self.operator.results.clear()

        def knows() -> bool:
            self.operator.send(99)
            self.peer.spin(0.1)
            return 'refused 99: unknown state' in self.operator.results

        self.peer.wait_for(knows, 'the navigator')
        self.peer.spin(0.3)    # for the results of what was sent in vain
        self.operator.results.clear()

    def goal(self, target: int) -> str:
        """Send a goal, let others go on or pause meanwhile, and return what comes of it."""
        self.operator.send(target)
        for _ in range(self.random.randrange(3)):
            self.peer.spin(self.random.uniform(0.0, 0.1))
            if self.explore.service_is_ready():
                self.explore.call_async(SetBool.Request(data=self.random.random() < 0.8))
        return self.operator.result()


def test_goals_with_lost_messages_and_resumes_and_kills(
        start: Callable[..., NodeProcess], peer: Peer, scenario: str, tmp_path: Path) -> None:
    storm = Storm(start, peer, tmp_path, scenario, seed=1)
    goals = strength(10, 200)
    results = []
    for number in range(goals):
        results.append(storm.goal(storm.random.randrange(3)))
        if number % 9 == 4:
            storm.navigator.send(signal.SIGKILL)
            storm.navigator = storm.start_navigator()
            storm.wait_for_navigator()
        if number % 9 == 8:    # it goes on from the disk, and nothing that it kept is untrue
            assert storm.explorer.stop() == 0, storm.explorer.output
            storm.explorer = storm.start_explorer()
            storm.wait_for_navigator()
        if number % 50 == 49:    # with --all; the goal goes on when there is an explorer again
            storm.operator.send(2)
            storm.peer.spin(0.1)
            storm.explorer.kill()
            storm.explorer = storm.start_explorer()
            assert storm.operator.result().startswith('reached 2 ')
    assert len(results) == goals
    reached = sum(result.startswith('reached ') for result in results)
    assert reached > 0.7 * goals, results
    for process in (storm.navigator, storm.explorer, storm.simulator):
        assert process.stop() == 0, process.output
    untrue = as_steps(read_counts(storm.counts[-1])) - played(storm.log)
    assert not {step: times for step, times in untrue.items() if step[1] != -1}


def test_each_robot_of_several_takes_goals_of_its_own(
        start: Callable[..., NodeProcess], peer: Peer, scenario: str, tmp_path: Path) -> None:
    shared = [word for topic in (
        'known_states', 'policies', 'policy', 'policy/request', 'provisional_policies', 'trust',
        'phase', 'rest', 'model') for word in ('-r', f'{topic}:=/{topic}')]
    for name in ('r1', 'r2'):
        start('cmp_sim', f'/{name}', scenario=scenario)
    explorer = start('explorer', actions=['east', 'west'], robots=['r1', 'r2'],
                     checkpoint_dir=str(tmp_path))
    learns(peer)
    results = peer.listen(String, 'r1/goal_result')
    goals = peer.node.create_publisher(Int64, 'r1/goal', 10)
    start('navigator', given=[*arguments({'dwell': 60.0}, '/r1'), *shared])
    peer.wait_for(goals.get_subscription_count, 'the navigator')

    def said(text: str) -> bool:
        return bool(results) and results[-1].data.startswith(text)

    def is_refused() -> bool:
        goals.publish(Int64(data=99))
        peer.spin(0.1)
        return said('refused 99: unknown state')

    peer.wait_for(is_refused, 'the policies')
    goals.publish(Int64(data=2))
    peer.wait_for(lambda: said('reached 2 in '), 'the goal')
    peer.wait_for(lambda: 'r1: paused: the robot stays at the goal state 2 for 60 s' in (
        explorer.output), 'that it stays')
    played = peer.listen(Int64MultiArray, 'r2/state', messages.STEP)
    peer.wait_for(lambda: len(played) > 20, 'the other robot to explore')


def test_a_goal_that_the_explorer_refuses_changes_nothing_else(
        start: Callable[..., NodeProcess], peer: Peer, scenario: str) -> None:
    """It comes as the navigator would send it, for a state to which there is no policy."""
    start('cmp_sim', scenario=scenario)
    explorer = start('explorer', actions=['east', 'west'])
    status = peer.listen(DiagnosticArray, 'goal/drive/status')
    goals = peer.node.create_publisher(Int64MultiArray, 'goal/drive', messages.STEP)
    learns(peer)
    peer.wait_for(goals.get_subscription_count, 'the explorer')

    def is_refused(goal_id: int) -> bool:
        return any(report.id == goal_id and report.status is GoalStatus.REFUSED
                   for message in status for report in messages.decode_goals(message))

    for goal_id in range(1, 6):
        goals.publish(messages.encode_drive(messages.DriveGoal(goal_id, 999, 0.0, True, 0)))
        peer.wait_for(partial(is_refused, goal_id), 'the refusal')
    played = peer.listen(Int64MultiArray, 'state', messages.STEP)
    peer.wait_for(lambda: len(played) > 20, 'steps')
    assert explorer.stop() == 0 and 'Traceback' not in explorer.output
