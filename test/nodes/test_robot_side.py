# SPDX-License-Identifier: Apache-2.0

"""The class that robot sides share, with a robot that takes its time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
import time

from mnm_ros import messages
from mnm_ros.nodes.common.allowance import AT_ONCE, TOO_MANY
from mnm_ros.nodes.common.commanding import FREE
from mnm_ros.nodes.robot_side import RobotSide
from mnm_ros.protocol.exchange import Command
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.sentences import sentence
from node_processes import DEADLINE, NodeProcess, Peer
import pytest
from std_msgs.msg import Bool, Header, Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger


class SlowRobot(RobotSide):
    """Counts its steps; an action ends when the test says so."""

    action_names = ('on',)

    def __init__(self, **node_arguments: object) -> None:
        super().__init__('slow_robot', **node_arguments)
        self.place = 3
        self.begun: list[int] = []
        self.cancelled: list[str] = []
        self.obedient = True

    def execute(self, action: int) -> int | None:
        self.begun.append(action)
        return None

    def return_home(self) -> int | None:
        self.begun.append(-1)
        return self.place if self.place == 0 else None

    def cancel(self, reason: str) -> int | None:
        self.cancelled.append(reason)
        return self.place if self.obedient else None

    def arrive(self, place: int) -> None:
        self.place = place
        self.arrived(place)


def stop(robot: SlowRobot, wanted: bool) -> str:
    return robot._on_stop(SetBool.Request(data=wanted))[1]


@pytest.fixture
def robot(peer: Peer) -> Iterator[SlowRobot]:
    robot = SlowRobot(context=peer.context)
    peer.spin_also(robot)
    yield robot
    robot.destroy_node()


@pytest.fixture
def talk(peer: Peer, robot: SlowRobot):
    publisher = peer.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    heard = peer.listen(Int64MultiArray, 'state', messages.STEP)
    peer.wait_for(lambda: publisher.get_subscription_count() and peer.node.count_publishers(
        'state'), 'the robot')
    return lambda *numbers: publisher.publish(Int64MultiArray(data=array('q', numbers))), heard


def test_slow_action(peer: Peer, robot: SlowRobot, talk) -> None:
    send, heard = talk
    send(5, 0)
    send(5, 0)
    send(6, 0)
    peer.wait_for(lambda: robot.begun, 'the first action')
    peer.spin(0.1)
    assert robot.begun == [0] and not heard
    robot.arrive(4)
    peer.wait_for(lambda: len(robot.begun) == 2, 'the action that waited')
    robot.arrive(5)
    send(6, 0)
    peer.wait_for(lambda: len(heard) == 3, 'two answers and a repetition')
    assert [list(message.data) for message in heard] == [[5, 4], [6, 5], [6, 5]]


def test_unknown_and_malformed_actions_are_ignored(
        peer: Peer, robot: SlowRobot, talk, capfd) -> None:
    send, _ = talk
    send(1, 1)
    send(2, -2)
    send(3)
    send(4, 0)
    peer.wait_for(lambda: robot.begun, 'the last action')
    assert robot.begun == [0]
    log = capfd.readouterr().err
    assert 'action 1 ignored: unknown, expected -1 for RESET or 0 .. 0' in log
    assert 'action ignored: step message has 1 numbers, expected 2' in log


@pytest.mark.usefixtures('talk')    # its commander is there, however long it takes
def test_too_many_ways_home_are_refused_but_to_a_commander_whose_reset_they_are(
        peer: Peer, robot: SlowRobot) -> None:
    """Also those that come while an action is executed, lest one of them comes right after it."""
    now = time.monotonic()
    robot.allowance._clock = lambda: now    # on a busy machine calls would be few a second
    robot._obey(Command(7, -1))
    with peer.client(Trigger, 'return_home') as call:

        def answers(more: int = 3) -> list[str]:
            return [call(Trigger.Request()).message for _ in range(more)]

        refused = sentence(TOO_MANY)
        assert answers(AT_ONCE)[-1].startswith('an action is being executed')
        robot.arrive(0)
        assert refused in answers(AT_ONCE)
        robot._gate._commander.take(Command(8, 0), 0.0)
        assert {*answers()} == {'at home in state 0'}
        robot._gate._commander.take(Command(9, -1), 0.0)
        assert refused in answers()


def test_a_flood_of_calls_that_free_it_pushes_no_stop_out(peer: Peer, robot: SlowRobot) -> None:
    with peer.client(SetBool, 'stop'):    # which is answered, so that the next one is known, too
        client = peer.node.create_client(SetBool, 'stop')
        peer.wait_for(client.service_is_ready, 'the service')
        peer.spin_without(robot)
        now = time.monotonic()
        robot.allowance._clock = lambda: now
        for _ in range(2 * AT_ONCE):    # from now on calls that free it are refused
            robot.allowance.takes('service stop')
        refused = robot.allowance.refused['service stop']
        for wanted in (True, *[False] * AT_ONCE):
            client.call_async(SetBool.Request(data=wanted))
        peer.spin_also(robot)
        peer.wait_for(lambda: robot.allowance.refused['service stop'] > refused, 'the flood')
    assert robot._stopped


def test_slow_way_home(peer: Peer, robot: SlowRobot, talk) -> None:
    send, heard = talk
    assert peer.call(Trigger, 'return_home').message == 'on the way home, call again'
    send(9, 0)
    assert peer.call(Trigger, 'return_home').message == 'on the way home, call again'
    assert robot.begun == [-1]    # neither twice, nor something else in between
    robot.arrive(0)
    response = peer.call(Trigger, 'return_home')
    assert response.success and response.message == 'at home in state 0'
    peer.wait_for(lambda: heard, 'the report')
    assert list(heard[0].data) == [-1, 0]


def test_the_command_home_waits_for_the_end_and_names_the_place(
        peer: Peer, robot: SlowRobot, begin_command: Callable[..., NodeProcess]) -> None:
    robot.describe = lambda: RobotDescription(('on',), names={0: 'the hall'})
    robot.describe_again()
    home, other = begin_command('home'), begin_command('home')
    peer.wait_for(lambda: [each.output for each in (home, other)] == ['on the way home\n'] * 2,
                  'both')
    assert robot.begun == [-1]
    robot.arrive(0)
    peer.wait_for(lambda: not (home.running or other.running), 'their end')
    for each in (home, other):
        assert (each.wait(), each.output, each.errors) == (
            0, 'on the way home\nat home in the hall\n', '')


def test_the_command_home_says_why_the_robot_does_not_come_home(
        peer: Peer, robot: SlowRobot, talk, begin_command: Callable[..., NodeProcess]) -> None:
    send, _ = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    late, home = begin_command('home', '--timeout', '5'), begin_command(
        'home', '--timeout', str(DEADLINE))
    peer.wait_for(lambda: not late.running, 'its end')
    assert (late.wait(), late.errors) == (
        1, 'refused: an action is being executed, call again\n')
    robot.arrive(4)    # it begins once the action is over
    peer.wait_for(lambda: 'on the way home' in home.output, 'the way home')
    robot.arrived(4, 'a door is closed')
    peer.wait_for(lambda: not home.running, 'its end')
    assert (home.wait(), home.errors) == (1, 'refused: a door is closed\n')


def test_a_command_after_a_way_home_that_was_not_told_of(
        peer: Peer, robot: SlowRobot, talk) -> None:
    """Whoever gives it believes the robot where it was before somebody sent it home."""
    send, heard = talk
    assert peer.call(Trigger, 'return_home').message == 'on the way home, call again'
    robot.arrive(0)
    send(9, 0)
    peer.wait_for(lambda: heard, 'the report')
    assert list(heard[0].data) == [-1, 0] and robot.begun == [-1]
    send(10, 0)
    peer.wait_for(lambda: robot.begun == [-1, 0], 'the next command')


def test_a_command_that_overtakes_the_report_of_having_come_home(
        peer: Peer, robot: SlowRobot, talk) -> None:
    """The report waits for the response; a step from home would count for where it was before."""
    _, heard = talk
    robot.place = 0
    assert robot._on_return_home(Trigger.Request())[0]
    robot._receive(Command(9, 0))    # before the timer
    assert robot.begun == [-1]
    peer.wait_for(lambda: heard, 'the report')
    assert list(heard[0].data) == [-1, 0]
    robot._receive(Command(10, 0))
    assert robot.begun == [-1, 0]


def test_not_home_while_executing(peer: Peer, robot: SlowRobot, talk) -> None:
    send, _ = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    response = peer.call(Trigger, 'return_home')
    assert not response.success and response.message == 'an action is being executed, call again'


def test_a_way_home_that_fails(peer: Peer, robot: SlowRobot, talk) -> None:
    assert peer.call(Trigger, 'return_home').message == 'on the way home, call again'
    robot.arrived(2, 'a door is closed')
    response = peer.call(Trigger, 'return_home')
    assert not response.success and response.message == 'a door is closed'
    assert peer.call(Trigger, 'return_home').message == 'on the way home, call again'
    assert robot.begun == [-1, -1]


def test_an_action_that_takes_too_long(peer: Peer, robot: SlowRobot, talk) -> None:
    send, heard = talk
    robot.action_timeout = 0.3
    send(1, 0)
    peer.wait_for(lambda: heard, 'the answer')
    assert list(heard[0].data) == [1, 3]
    assert robot.cancelled == ['it takes longer than 0.3 s']


def test_cancelled_once_though_that_takes_time(peer: Peer, robot: SlowRobot, talk) -> None:
    send, heard = talk
    robot.action_timeout, robot.obedient = 0.1, False
    send(1, 0)
    peer.wait_for(lambda: robot.cancelled, 'the timeout')
    peer.spin(0.3)
    assert len(robot.cancelled) == 1 and not heard
    robot.arrive(7)
    peer.wait_for(lambda: heard, 'the answer')
    assert list(heard[0].data) == [1, 7]


def test_stop_and_go_on(peer: Peer, robot: SlowRobot, talk) -> None:
    """A step that was stopped has no answer; the explorer is told where the robot is."""
    send, heard = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    assert peer.call(SetBool, 'stop', SetBool.Request(data=True)).message == 'stopped'
    assert robot.cancelled == ['service stop called'] and not robot.busy
    send(2, 0)
    refusal = peer.call(Trigger, 'return_home')
    assert not refusal.success and 'stopped' in refusal.message
    assert robot.begun == [0] and not heard
    assert peer.call(SetBool, 'stop', SetBool.Request(data=False)).message == FREE
    peer.wait_for(lambda: heard, 'the report')
    assert list(heard[0].data) == [-1, 3]
    send(3, 0)
    peer.wait_for(lambda: len(robot.begun) == 2, 'another action')


def test_a_command_that_came_while_it_stood_is_not_waited_for(
        peer: Peer, robot: SlowRobot, talk) -> None:
    """The explorer would send it again after ``step_timeout`` only, a minute on wheels."""
    send, heard = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    robot.arrive(4)
    stop(robot, True)
    send(2, 0)
    peer.wait_for(lambda: robot._reports, 'the command')
    stop(robot, False)
    peer.wait_for(lambda: len(heard) == 2, 'the report')
    assert [list(message.data) for message in heard] == [[1, 4], [-1, 4]]
    assert robot.begun == [0]


def test_whether_it_is_stopped_is_told_whenever_it_is_asked_for(
        peer: Peer, robot: SlowRobot) -> None:
    """A robot side that has died since may have said something else."""
    told = peer.listen(Bool, 'stopped')
    peer.wait_for(lambda: told, 'what holds at the beginning')
    for stop in (False, True, True, False):
        told.clear()
        assert peer.call(SetBool, 'stop', SetBool.Request(data=stop)).success
        peer.wait_for(lambda: told, 'what holds')
        assert told[-1].data is stop


def test_a_step_that_says_nothing_about_the_world(
        peer: Peer, robot: SlowRobot, talk) -> None:
    send, heard = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    robot.break_off(4, 'the planner has no transform')
    peer.wait_for(lambda: heard, 'the report')
    send(2, 0)
    peer.wait_for(lambda: len(robot.begun) == 2, 'the next action')
    robot.arrive(5)
    peer.wait_for(lambda: len(heard) == 2, 'its answer')
    assert [list(message.data) for message in heard] == [[-1, 4], [2, 5]]


def test_a_person_stops_it_and_the_explorer_goes_on(
        peer: Peer, robot: SlowRobot, talk) -> None:
    """The explorer is paused; to go on, it is enough to tell it so."""
    send, heard = talk
    asked: list[bool] = []

    def explore(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        asked.append(request.data)
        return response

    peer.node.create_service(SetBool, 'explore', explore)
    phases = peer.node.create_publisher(String, 'phase', messages.LATCHED)
    phases.publish(String(data='building/discovery'))
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    robot.stand('a person')
    assert robot.cancelled == ['a person']
    peer.wait_for(lambda: asked and heard, 'that it asks for a pause and says where it is')
    send(2, -1)    # before the pause
    phases.publish(String(data='paused'))
    peer.wait_for(lambda: robot._stand and robot._stand.paused, 'that it hears of the pause')
    assert not peer.call(Trigger, 'return_home').success
    assert robot.begun == [0] and not any(asked)
    send(3, -1)
    peer.wait_for(lambda: robot._stand and robot._stand.command, 'a command')
    phases.publish(String(data='building/discovery'))
    peer.wait_for(lambda: len(robot.begun) == 2, 'the command')
    assert robot.begun == [0, -1]
    robot.arrive(0)
    peer.wait_for(lambda: heard[-1].data[0] == 3, 'its answer')
    assert {tuple(message.data) for message in heard} == {(-1, 3), (3, 0)}


def test_a_person_stops_it_without_an_explorer(peer: Peer, robot: SlowRobot, talk) -> None:
    send, heard = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    robot.stand('a person')
    peer.wait_for(lambda: robot._stand._report_at, 'that it looks for one')
    send(2, -1)
    assert 'stopped' in peer.call(Trigger, 'return_home').message
    assert robot.begun == [0] and not heard
    stop(robot, False)
    peer.wait_for(lambda: heard, 'the report')
    send(3, -1)
    peer.wait_for(lambda: robot.begun == [0, -1], 'the next command')


def test_stopped_by_the_service_as_well(peer: Peer, robot: SlowRobot, talk) -> None:
    """Then an explorer that goes on does not free it."""
    phases = peer.node.create_publisher(String, 'phase', messages.LATCHED)
    phases.publish(String(data='paused'))
    send, _ = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    robot.stand('a person')
    peer.wait_for(lambda: robot._stand.paused, 'that it hears of the pause')
    stop(robot, True)
    phases.publish(String(data='building/discovery'))
    peer.wait_for(lambda: robot._pause.disturbed, 'that it hears of the exploration')
    send(2, -1)
    assert 'stopped' in peer.call(Trigger, 'return_home').message
    assert robot.begun == [0]


def test_the_explorer_leaves(peer: Peer, robot: SlowRobot, talk) -> None:
    other = Peer()
    publisher = other.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    send, _ = talk
    send(1, 0)
    peer.wait_for(lambda: robot.begun and peer.node.count_publishers('action') == 2, 'an action')
    assert robot.cancelled == []
    other.node.destroy_publisher(publisher)
    other.close()
    peer.node.destroy_publisher(next(
        mine for mine in peer.node.publishers if mine.topic_name.endswith('/action')))
    peer.wait_for(lambda: robot.cancelled, 'that the robot notices')
    assert robot.cancelled == ['its commander is gone']


def test_stopped_and_free_again_before_it_has_come_to_rest(
        peer: Peer, robot: SlowRobot, talk) -> None:
    send, heard = talk
    robot.obedient = False
    send(5, 0)
    peer.wait_for(lambda: robot.begun, 'the action')
    assert stop(robot, True) == 'not at rest yet'
    assert stop(robot, False) == FREE
    send(6, 0)
    peer.spin(0.2)
    assert not heard and robot.begun == [0]
    robot.arrive(4)
    send(7, 0)
    peer.wait_for(lambda: heard and len(robot.begun) == 2, 'a report and the next action')
    assert [list(message.data) for message in heard] == [[-1, 4]]
    robot.arrive(5)
    peer.wait_for(lambda: len(heard) == 2, 'its answer')
    assert list(heard[-1].data) == [7, 5]


def test_the_report_comes_before_the_command_is_repeated(
        peer: Peer, robot: SlowRobot, talk) -> None:
    """An explorer that hears the report first no longer takes an answer."""
    send, heard = talk
    send(5, 0)
    peer.wait_for(lambda: robot.begun, 'the action')
    stop(robot, True)
    stop(robot, False)
    robot._receive(Command(5, 0))
    peer.wait_for(lambda: len(heard) == 2, 'a report and a repetition')
    assert [message.data[0] for message in heard] == [-1, 5]


@pytest.mark.parametrize('another', [False, True])
def test_the_heartbeat_stops(peer: Peer, robot: SlowRobot, talk, another: bool) -> None:
    """Also if there is another explorer, that waits for its turn and is well."""
    send, heard = talk
    heart = peer.node.create_publisher(Header, 'heartbeat', messages.HEARTBEAT)
    peer.wait_for(heart.get_subscription_count, 'the subscription')
    heart.publish(Header(frame_id='/peer'))
    if another:
        peer.node.create_timer(0.5, lambda: heart.publish(Header(frame_id='/standby')))
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    peer.wait_for(lambda: robot.cancelled, 'that the robot notices')
    assert robot.cancelled == ['the heartbeat of the explorer has stopped']
    peer.wait_for(lambda: heard, 'the report')
    assert list(heard[0].data) == [-1, 3]    # a step that was broken off does not count


@pytest.mark.parametrize('how', ['hangs', 'ends'])
def test_an_explorer_that_does_not_command_it_is_gone(
        peer: Peer, robot: SlowRobot, talk, how: str) -> None:
    """One that stands by, or advises, has a heartbeat and does not publish action."""
    send, _ = talk
    heart = peer.node.create_publisher(Header, 'heartbeat', messages.HEARTBEAT)
    other = Peer()
    standby = other.node.create_publisher(Header, 'heartbeat', messages.HEARTBEAT)
    for each in (heart, standby):
        peer.wait_for(each.get_subscription_count, 'the subscription')
    peer.node.create_timer(0.1, lambda: heart.publish(Header(frame_id='/peer')))
    standby.publish(Header(frame_id='/standby'))
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    if how == 'ends':
        other.close()
        peer.wait_for(lambda: peer.node.count_publishers('heartbeat') == 1, 'its end')
    peer.spin(3.0)    # more than the lease of the heartbeat
    other.close()
    assert robot.cancelled == []


def test_the_commander_ends_while_a_navigator_is_there(
        peer: Peer, robot: SlowRobot, talk) -> None:
    """The navigator publishes action, too, but has no heartbeat."""
    send, heard = talk
    heart = peer.node.create_publisher(Header, 'heartbeat', messages.HEARTBEAT)
    navigator = Peer(name='navigator')
    navigator.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(heart.get_subscription_count, 'the subscription')
    peer.node.create_timer(0.1, lambda: heart.publish(Header(frame_id='/peer')))
    send(1, 0)
    peer.wait_for(lambda: robot.begun and peer.node.count_publishers('action') == 2, 'an action')
    peer.spin(0.5)
    assert robot.cancelled == []
    peer.node.destroy_publisher(next(
        mine for mine in peer.node.publishers if mine.topic_name.endswith('/action')))
    peer.wait_for(lambda: robot.cancelled, 'that the robot notices')
    # Not by its heartbeat, which goes on.
    assert robot.cancelled == ['its commander is gone']
    peer.wait_for(lambda: heard, 'the report')
    navigator.close()


def test_comes_to_rest_before_the_node_ends(peer: Peer, robot: SlowRobot, talk) -> None:
    send, _ = talk
    assert robot.leave()
    robot.obedient = False
    send(1, 0)
    peer.wait_for(lambda: robot.begun, 'an action')
    assert not robot.leave()
    robot.arrive(2)
    assert robot.leave() and robot.cancelled == ['the node is ending']
