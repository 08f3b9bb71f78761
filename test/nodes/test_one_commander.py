# SPDX-License-Identifier: Apache-2.0

"""One node commands a robot, and no command is executed but in the state that it is meant for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
import json
from pathlib import Path
import random
import shutil
import signal
import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from faulty_robot import as_steps, learns
from logged_robot import played, start_logged
from mnm_ros import messages
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.progress.activity import Activity
from mnm_ros.core.task.navigation import GoalStatus
from mnm_ros.nodes.common.graph_watch import CommandPublisher, full_name
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.protocol.exchange import SequenceNumbers
from mnm_ros.robot_description import RobotDescription
from navigating import Operator
from node_processes import arguments, NodeProcess, Peer, read_counts, REST, ScriptedRobot
import pytest
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_msgs.msg import Int64, Int64MultiArray, String
from std_srvs.srv import SetBool
from tiers import strength, thorough

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
        self.reports: list[dict[str, object]] = []    # of refusals
        peer.node.create_subscription(String, 'step_report', self._on_report, messages.STEP)
        self._commands = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
        peer.wait_for(self._commands.get_subscription_count, 'the robot side')

    def _on_report(self, message: String) -> None:
        report = json.loads(message.data)
        if 'refused' in report:
            self.reports.append(report)

    def command(self, *numbers: int) -> list[list[int]]:
        """Send a command and return the messages of the robot side up to the answer."""
        self.states.clear()
        self._commands.publish(Int64MultiArray(data=numbers))
        self.wait_for_answer(numbers[0])
        return [[*message.data] for message in self.states]

    def wait_for_answer(self, seq: int) -> None:
        """Wait for an answer, which others may have heard before."""
        self.peer.wait_for(lambda: self.states[-1].data[0] == seq, 'the answer')


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
    assert guarded.reports[0] == {'seq': 3, 'refused': 'not in state 0'}
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
    assert 'never to be commanded in state 2' in guarded.reports[0]['refused']


def test_before_it_knows_its_state_it_does_nothing_that_is_forbidden_anywhere(
        guarded: Guarded) -> None:
    guarded.peer.wait_for(lambda: guarded.robot._forbidden, 'the description')
    guarded.command(1, WEST)    # which is forbidden nowhere
    guarded.robot._here = None
    guarded._commands.publish(Int64MultiArray(data=(2, EAST)))
    guarded.peer.wait_for(lambda: guarded.reports, 'the reason')
    assert guarded.reports[-1]['refused'].endswith('expected RESET first')
    assert guarded.robot.moved == 1


def test_a_number_that_another_command_has_is_no_repetition(guarded: Guarded) -> None:
    """Were it answered again, its sender would count what it has not commanded."""
    assert guarded.command(1, -1) == [[1, 0]]
    assert guarded.command(2, EAST) == [[2, 1]]
    moved = guarded.robot.moved
    assert guarded.command(2, WEST) == [[-1, 1], [2, 1]]
    assert guarded.robot.moved == moved
    guarded.peer.wait_for(lambda: guarded.reports, 'the reason')
    assert guarded.reports[0] == {'seq': 2, 'refused': 'number 2 is that of another command'}


class Commander:
    """A node that sends commands without asking who else does, and says its name."""

    def __init__(self, peer: Peer, name: str, first: int = 0) -> None:
        self.node = Node(name, context=peer.context)
        self.name = self.node.get_fully_qualified_name()
        self.numbers = SequenceNumbers(first or time.time_ns())
        self.commands = CommandPublisher(self.node)
        self.commands.open()
        self.answers: list[int] = []
        self.refusals: list[messages.StepReport] = []
        messages.hear(peer.node, Int64MultiArray, 'state', messages.STEP, messages.decode_step,
                      lambda step: self.answers.append(step[0]))
        messages.hear(peer.node, String, 'step_report', messages.STEP, messages.decode_step_report,
                      lambda report: report.refused and self.refusals.append(report))
        peer.wait_for(self.commands.get_subscription_count, 'the robot side')
        peer.wait_for(lambda: len(known(peer, self.commands.topic_name, self.name)), 'the graph')

    @property
    def own(self) -> range:
        """Return the numbers of its commands."""
        return range(self.numbers.first, self.numbers.last + 1)

    def send(self, action: int, here: int | None = None) -> int:
        """Send a command and return its number."""
        seq = self.numbers.next()
        self.commands.send(seq, action, here, guarded=True)
        return seq

    def is_obeyed(self, peer: Peer, action: int = EAST) -> bool:
        """Send a command; return whether it was answered. If not, it was refused."""
        seq = self.send(action)

        def refused() -> bool:
            return seq in [refusal.seq for refusal in self.refusals]
        peer.wait_for(lambda: seq in self.answers or refused(), 'an answer, or a refusal')
        return not refused()


def known(peer: Peer, topic: str, name: str) -> list[object]:
    """Return the publishers of a topic that a node of that name has."""
    return [found for found in peer.node.get_publishers_info_by_topic(topic)
            if full_name(found) == name]


@pytest.fixture
def two(peer: Peer, guarded: Guarded) -> Iterator[tuple[Commander, Commander]]:
    """Give two nodes, the first of which commands the robot."""
    both = Commander(peer, 'first'), Commander(peer, 'second')
    guarded.robot.set_parameters([Parameter('commander_timeout', value=60.0)])
    assert both[0].is_obeyed(peer, -1)
    guarded.wait_for_answer(both[0].numbers.last)
    yield both
    for one in both:
        one.node.destroy_node()


def test_a_robot_side_takes_commands_of_one_sender_at_a_time(
        peer: Peer, guarded: Guarded, two: tuple[Commander, Commander]) -> None:
    first, second = two
    moved = guarded.robot.moved
    guarded.states.clear()
    for action in (EAST, WEST, -1):    # a RESET moves the robot, too
        assert not second.is_obeyed(peer, action)
    assert guarded.robot.moved == moved
    assert {refusal.commander for refusal in second.refusals} == {'/first'}
    # Nothing is said on ``state``: the first would take it for a change of the world.
    assert first.is_obeyed(peer, WEST)
    guarded.wait_for_answer(first.numbers.last)
    assert len(guarded.states) == 1


def test_the_numbers_of_the_commander_do_not_make_another_sender_the_commander(
        peer: Peer, guarded: Guarded, two: tuple[Commander, Commander]) -> None:
    first = two[0]
    next_one = first.numbers.last + 1
    guarded._commands.publish(Int64MultiArray(data=(next_one, WEST)))
    peer.wait_for(lambda: guarded.reports, 'the refusal')
    assert guarded.reports[0]['commander'] == '/first'
    assert first.send(EAST) == next_one
    peer.wait_for(lambda: next_one in first.answers, 'the answer')
    assert guarded.robot.place == 1


def test_an_answer_of_a_refused_command_is_no_answer_to_who_hears_the_report_alone(
        peer: Peer, guarded: Guarded, two: tuple[Commander, Commander]) -> None:
    """What it says on ``state`` and on ``step_report`` may get lost apart."""
    first = two[0]
    guarded.states.clear()
    first.send(EAST, 2)
    peer.wait_for(lambda: first.refusals, 'the refusal')
    first.is_obeyed(peer)
    guarded.wait_for_answer(first.numbers.last)
    assert [[*message.data] for message in guarded.states] == [
        [-1, 0], [first.numbers.last, 1]]


def test_a_commander_keeps_a_robot_whose_node_was_held_up(
        peer: Peer, guarded: Guarded, two: tuple[Commander, Commander]) -> None:
    first, second = two
    guarded.robot.set_parameters([Parameter('commander_timeout', value=1.0)])
    assert first.is_obeyed(peer)
    peer.spin_without(guarded.robot)
    refused = second.send(WEST)
    peer.spin(1.1)
    peer.spin_also(guarded.robot)
    peer.wait_for(lambda: second.refusals[-1].seq == refused, 'the refusal')
    assert first.is_obeyed(peer)


def test_a_command_of_another_sender_does_not_take_the_place_of_one_that_waits(
        peer: Peer, guarded: Guarded, two: tuple[Commander, Commander]) -> None:
    first, second = two
    executed = guarded.robot.execute
    guarded.robot.execute = lambda action: None    # it takes time
    first.send(EAST)
    peer.wait_for(lambda: guarded.robot.busy, 'the beginning')
    waiting = first.send(WEST)
    assert not second.is_obeyed(peer)
    guarded.robot.execute = executed
    guarded.robot.arrived(1)
    peer.wait_for(lambda: waiting in first.answers, 'the one that waited')


@pytest.mark.parametrize('how', ['it ends', 'it is silent', 'it pauses', 'none is kept'])
def test_another_sender_may_command_once_the_first_does_not(
        peer: Peer, guarded: Guarded, two: tuple[Commander, Commander], how: str) -> None:
    first, second = two
    assert not second.is_obeyed(peer)
    if how == 'it ends':
        first.node.destroy_node()
    elif how == 'it pauses':
        phase = peer.node.create_publisher(String, 'phase', messages.LATCHED)
        phase.publish(String(data='paused'))
    else:
        timeout = 0.0 if how == 'none is kept' else 0.5
        guarded.robot.set_parameters([Parameter('commander_timeout', value=timeout)])
    peer.wait_for(lambda: second.is_obeyed(peer), 'the second to have the robot')
    assert how in ('it ends', 'none is kept') or not first.is_obeyed(peer)


def test_a_node_that_was_started_again_goes_on_and_of_two_with_one_name_one_commands(
        peer: Peer, two: tuple[Commander, Commander]) -> None:
    first, again = two[0], Commander(peer, 'first')
    assert again.is_obeyed(peer)
    assert not first.is_obeyed(peer) and again.is_obeyed(peer, WEST)
    again.node.destroy_node()


def test_an_explorer_keeps_its_robot_and_learns_once_another_node_has_it(
        start: Callable[..., NodeProcess], peer: Peer, scenario: str, tmp_path: Path) -> None:
    """The other node is refused until the explorer pauses; then the robot side is the witness."""
    log, counts = tmp_path / 'played', tmp_path / 'counts'
    start_logged(start, log, scenario, latency=strength(0.02, 0.002))
    explorer = start('explorer', actions=['east', 'west'], record=str(counts))
    said = [peer.listen(String, topic) for topic in ('status', 'activity', 'phase')]
    status, activity, phase = said
    other = Commander(peer, 'other')
    steps = other.answers
    few = strength(10, 50)
    peer.wait_for(lambda: len(steps) > few, 'steps')
    status.clear()
    for _ in range(strength(10, 30)):
        assert not other.is_obeyed(peer, WEST)
    assert {refusal.commander for refusal in other.refusals} == {'/explorer'}
    done = len(steps)
    peer.wait_for(lambda: len(steps) > done + few, 'more steps')
    assert not [message.data for message in status if message.data.startswith('waiting')]
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the pause')
    peer.wait_for(lambda: other.is_obeyed(peer, -1), 'the robot')
    for action in (EAST, EAST, WEST, EAST):
        assert other.is_obeyed(peer, action)
    peer.wait_for(
        lambda: Activity.from_json(activity[-1].data).work == 4, 'the four executions')
    assert explorer.stop() == 0, explorer.output
    counted = as_steps(read_counts(counts))
    assert {step: times for step, times in played(log).items() if step[1] != -1} == {
        step: times for step, times in counted.items() if step[1] != -1}


def test_who_is_refused_says_who_commands_and_counts_nothing(
        start: Callable[..., NodeProcess], knowing: Callable[..., NodeProcess], learnt: Any,
        peer: Peer, scenario: str, tmp_path: Path) -> None:
    """An explorer, which waits until the robot is free, and after it a navigator."""
    log, counts = tmp_path / 'played', tmp_path / 'counts'
    start_logged(start, log, scenario, commander_timeout=60.0, latency=REST)
    first = Commander(peer, 'first')
    assert first.is_obeyed(peer, -1)
    explorer = knowing(record=str(counts))
    status = peer.listen(String, 'status')
    peer.wait_for(
        lambda: 'waiting for the robot: /first commands the robot' in [
            said.data for said in status],
        'the name')
    assert peer.set_parameter('cmp_sim', 'commander_timeout', 0.5).successful
    answered = len(first.answers)
    peer.wait_for(lambda: len(first.answers) > answered + strength(5, 20),
                  'steps once the first is silent')
    operator = Operator(peer)
    start('navigator')
    operator.wait_for_navigator()
    assert explorer.stop() == 0, explorer.output
    assert not as_steps(read_counts(counts)) - learnt.counts - played(log)
    peer.wait_for(lambda: first.is_obeyed(peer, -1), 'that the explorer is silent')
    assert peer.set_parameter('cmp_sim', 'commander_timeout', 60.0).successful
    operator.results.clear()

    def is_refused() -> bool:
        first.send(-1)
        return 'failed 2: /first commands the robot' in operator.results or (
            operator.send(2) or peer.spin(0.5))
    peer.wait_for(is_refused, 'the navigator to be refused')


def test_a_report_of_a_step_counts_once_and_only_if_robot_sides_alone_make_it(
        start: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    counts = tmp_path / 'counts'
    explorer = start('explorer', actions=['east', 'west'], record=str(counts))
    activity, phase = peer.listen(String, 'activity'), peer.listen(String, 'phase')
    peer.wait_for(lambda: len(robot.executed) > 20, 'steps')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: phase[-1].data == 'paused', 'the pause')

    def publisher(reporter: Peer) -> Callable[[int], None]:
        reports = reporter.node.create_publisher(String, 'step_report', messages.STEP)
        reporter.wait_for(reports.get_subscription_count, 'the explorer')
        return lambda seq: reports.publish(messages.encode_step_report(
            messages.StepReport(seq, legs=((2, WEST, 0),))))

    liar, report = Peer(name='liar'), publisher(peer)
    lie = publisher(liar)
    peer.spin(0.5)    # for its name to be known: the next warning would come 10 s later

    def is_ignored() -> bool:
        lie(9)
        peer.spin(0.05)
        return 'step_report ignored: /liar publishes it' in explorer.output

    peer.wait_for(is_ignored, 'it said')
    liar.close()

    def work() -> int:
        return Activity.from_json(activity[-1].data).work if activity else 0

    peer.wait_for(lambda: report(7) or peer.spin(0.05) or work(), 'one step, said many times')
    for seq in (8, 7):
        report(seq)
    peer.wait_for(lambda: work() == 2, 'two steps')
    assert explorer.stop() == 0, explorer.output
    assert as_steps(read_counts(counts))[2, WEST, 0] == 2


def test_own_steps_that_are_reported_too_count_once_and_ways_home_by_their_legs(
        start: Callable[..., NodeProcess], peer: Peer, robot: ScriptedRobot,
        tmp_path: Path) -> None:
    """As by a robot side that has not found out yet that its commander is an explorer."""
    reports = peer.node.create_publisher(String, 'step_report', messages.STEP)
    legs = 0

    def report(seq: int, state: int) -> None:
        nonlocal legs
        step = robot.executed[-1]
        home = step[1] == -1
        legs += home
        reports.publish(messages.encode_step_report(
            messages.StepReport(seq, legs=((7, WEST, 6) if home else step,))))
    robot.around = report
    counts = tmp_path / 'counts'
    explorer = start('explorer', actions=['east', 'west'], record=str(counts))
    activity = peer.listen(String, 'activity')
    peer.wait_for(lambda: activity and Activity.from_json(activity[-1].data).work > 3, 'legs')
    assert explorer.stop() == 0, explorer.output
    counted = as_steps(read_counts(counts))
    assert 3 < counted.pop((7, WEST, 6)) <= legs
    assert not counted - as_steps(robot.counts())


class Storm:
    """
    An explorer, a navigator and a robot whose messages are lost, all of them killed at times.

    Another node commands the robot, too, without asking; east of the last state is forbidden.
    """

    def __init__(self, start: Callable[..., NodeProcess], peer: Peer, folder: Path,
                 scenario: str, seed: int) -> None:
        self._start, self.peer, self._folder = start, peer, folder
        self.random = random.Random(seed)
        self._numbers = count()
        self.log, self.counts = folder / 'played', []
        self.untrue: list[str] = []    # results
        self._scenario = scenario
        self.operator = Operator(peer)
        self.explore = peer.node.create_client(SetBool, 'explore')
        self.simulator, self.explorer = self.start_simulator(), self.start_explorer()
        learns(peer)
        self.navigator = self.start_navigator()
        self.wait_for_navigator()
        self.other = Commander(peer, 'other')

    def start_simulator(self) -> NodeProcess:
        return start_logged(
            self._start, self.log, self._scenario, forbidden=(2, EAST), drop_action=0.05,
            drop_state=0.05, latency=0.002, commander_timeout=1.0)

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
            return 'refused 99: no policy leads there' in self.operator.results

        self.peer.wait_for(knows, 'the navigator')
        self.peer.spin(0.3)    # for the results of what was sent in vain
        self.operator.results.clear()

    def goal(self, target: int) -> str:
        """Send a goal, let others disturb it, and return what comes of it."""
        self.send(target)
        for _ in range(self.random.randrange(3)):
            self.peer.spin(self.random.uniform(0.0, 0.1))
            if self.explore.service_is_ready():
                self.explore.call_async(SetBool.Request(data=self.random.random() < 0.8))
            for _ in range(self.random.choice((0, 0, 3))):
                self.other.send(self.random.randrange(-1, 2),
                                self.random.choice((None, 0, 1, 2)))
        return self.result()

    def send(self, target: int) -> None:
        self._sent_at = len(self.steps)
        self.operator.send(target)

    def result(self) -> str:
        """Return the result of a goal, and note one that the steps since it was sent belie."""
        result = self.operator.result()
        since = self.steps[max(0, self._sent_at - 1):]
        if result.startswith('reached ') and int(result.split()[1]) not in [
                step[2] for step in since]:
            self.untrue.append(f'{result}, but {since}')
        return result

    @property
    def steps(self) -> list[list[int]]:
        """Return what the robot has executed, as ``LoggedSim`` writes it."""
        return [[*map(int, line.split())] for line in self.log.read_text().splitlines()]


@thorough(
    'nodes/test_one_commander.py::test_a_command_for_another_state_moves_nothing '
    'nodes/test_one_commander.py::test_what_is_declared_forbidden_is_refused_whoever_asks '
    'nodes/test_one_commander.py::test_a_robot_side_takes_commands_of_one_sender_at_a_time '
    'nodes/test_one_commander.py::'
    'test_an_explorer_keeps_its_robot_and_learns_once_another_node_has_it '
    'nodes/test_one_commander.py::test_who_is_refused_says_who_commands_and_counts_nothing '
    'nodes/test_navigator_exploring.py::'
    'test_what_others_ask_of_the_explorer_disturbs_neither_a_goal_nor_a_stay_at_it '
    'nodes/test_goal_drive.py::test_a_goal_of_a_navigator_that_has_gone_is_given_up '
    'protocol/test_clients.py::test_resends_until_and_after_the_robot_counts_as_lost')
def test_goals_with_lost_messages_and_resumes_and_kills(
        start: Callable[..., NodeProcess], peer: Peer, scenario: str, tmp_path: Path) -> None:
    storm = Storm(start, peer, tmp_path, scenario, seed=1)
    goals = 200
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
        if number % 50 == 49:    # the goal goes on when there is an explorer again
            storm.send(2)
            storm.peer.spin(0.1)
            storm.explorer.kill()
            storm.explorer = storm.start_explorer()
            result = storm.result()
            while result in ('failed 2: /other commands the robot',    # for a second after a pause
                             # What the navigator drives itself, once it has missed the explorer.
                             'cancelled 2: an explorer commands the robot now'):
                storm.send(2)
                result = storm.result()
            assert result.startswith('reached 2 '), result
        if number % 50 == 24:
            storm.send(2)
            storm.peer.spin(0.1)
            storm.simulator.kill()
            storm.simulator = storm.start_simulator()
            results.append(storm.result())
    reached = sum(result.startswith('reached ') for result in results)
    refused = Counter(report.refused for report in storm.other.refusals)
    steps = storm.steps
    print(f'{len(results)} goals, {reached} reached: {Counter(results)}; {len(steps)} steps; of '
          f'the other node {len({*storm.other.answers} & {*storm.other.own})}; {refused}')
    assert reached > 0.7 * goals, results
    assert not storm.untrue
    assert not [step for step in steps if len(step) == 4 and step[0] != step[3]]
    assert not [step for step in steps if step[:2] == [2, EAST]]
    assert refused['commanded by /explorer']
    for process in (storm.navigator, storm.explorer, storm.simulator):
        assert process.stop() == 0, process.output
    kept = [path for path in storm.counts if path.exists()]    # not before what it replays
    untrue = as_steps(read_counts(kept[-1])) - played(storm.log)
    assert not {step: times for step, times in untrue.items() if step[1] != -1}


def test_each_robot_of_several_takes_goals_of_its_own(
        start: Callable[..., NodeProcess], peer: Peer, learnt: Any, scenario: str,
        tmp_path: Path) -> None:
    shared = [word for topic in (
        'known_states', 'policies', 'policy', 'policy/request', 'provisional_policies', 'trust',
        'phase', 'rest', 'rest/reason', 'model') for word in ('-r', f'{topic}:=/{topic}')]
    for name in ('r1', 'r2'):
        start('cmp_sim', f'/{name}', scenario=scenario, latency=REST)
    kept = shutil.copytree(learnt.folder, tmp_path / 'kept')
    explorer = start('explorer', actions=['east', 'west'], robots=['r1', 'r2'],
                     checkpoint_dir=str(kept))
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
        return said('refused 99: no policy leads there')

    peer.wait_for(is_refused, 'the policies')
    goals.publish(Int64(data=2))
    peer.wait_for(lambda: said('reached 2 in '), 'the goal')
    peer.wait_for(lambda: 'r1: paused: the robot stays at the goal state 2 for 60 s' in (
        explorer.output), 'that it stays')
    played = peer.listen(Int64MultiArray, 'r2/state', messages.STEP)
    peer.wait_for(lambda: len(played) > strength(5, 20), 'the other robot to explore')


@thorough('nodes/test_goal_drive.py::test_a_goal_without_a_policy_is_refused')
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
