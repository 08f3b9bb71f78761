# SPDX-License-Identifier: Apache-2.0

"""How the explorer leaves a robot, and what a supervisor sees of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import signal
import time

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from mnm_ros import messages
from mnm_ros.nodes.robot_side import RobotSide
from node_processes import (
    arguments,
    DEADLINE,
    NodeProcess,
    Peer,
    ScriptedRobot,
    soon,
    SubscriptionEventCallbacks,
)
import pytest
from std_msgs.msg import Header, Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger
from tiers import strength, thorough

ENOUGH = 5.0    # s, until every node has ended


def end(peer: Peer, process: NodeProcess, number: int, limit: float = ENOUGH) -> float:
    """Send the signal, keep the robot going and return how long the node took to exit with 0."""
    began = time.monotonic()
    process.send(number)
    peer.wait_for(lambda: not process.running, 'the end')
    assert process.wait() == 0 and 'Traceback' not in process.output, process.output
    took = time.monotonic() - began
    assert soon(took, limit)
    return took


@thorough('nodes/test_start_and_end.py::test_ends_cleanly nodes/test_leaving.py::'
          'test_nothing_is_explored_after_that_and_a_reset_that_is_lost_is_sent_again')
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_the_last_command_is_reset(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                                 number: int) -> None:
    process = explorer(on_shutdown='reset')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    end(peer, process, number)
    assert robot.executed[-1][1:] == (-1, 0)
    assert len({seq for seq, _ in robot.received}) == len(robot.received)


def test_the_robot_does_not_answer(explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """The end waits for it as long as ``shutdown_timeout`` says, and another signal ends that."""
    for limit in (strength(1.0, 3.0), 60.0):
        robot.deaf = 0
        process = explorer(on_shutdown='reset', shutdown_timeout=limit)
        count = len(robot.executed)
        peer.wait_for(lambda: len(robot.executed) > count + 10, 'steps')    # noqa: B023
        robot.deaf = 10**6
        began = time.monotonic()
        process.send(signal.SIGTERM)
        said = f'going home before the node ends, at most {limit:g} s; a second Ctrl-C '
        peer.wait_for(lambda: said in process.output, 'the line')    # noqa: B023
        if limit == 60.0:
            peer.wait_for(lambda: time.monotonic() > began + 2.5,    # noqa: B023
                          'more than other nodes get')
            assert process.running
            end(peer, process, signal.SIGINT, 2.0)
        else:
            peer.wait_for(lambda: not process.running, 'the end')    # noqa: B023
            took = time.monotonic() - began
            assert took >= limit and soon(took - limit, 2.0)
            assert process.wait() == 0
        assert robot.received[-1][1] == -1
        assert 'the robot has not come home' in process.output


@thorough(shown_by=(
    'nodes/test_leaving.py::test_the_robot_does_not_answer '
    'nodes/test_leaving.py::test_nothing_is_explored_after_that_and_a_reset_that_is_lost_is_sent_again'))
def test_the_way_home_takes_its_time(explorer: Callable, peer: Peer,
                                     robot: ScriptedRobot) -> None:
    """Longer than the 2 s in which other nodes end, and than launch waits by itself."""
    process = explorer(on_shutdown='reset')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.mute = 12    # of these, all but the first are sent again every 0.5 s
    assert end(peer, process, signal.SIGINT, DEADLINE) > 4.0
    assert robot.executed[-1][1:] == (-1, 0) and 'the robot is at home' in process.output


@pytest.mark.parametrize('number', [signal.SIGTERM, pytest.param(signal.SIGINT, marks=thorough(
    'nodes/test_start_and_end.py::test_ends_cleanly'))])
def test_no_command_is_given_at_the_end(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                                      number: int) -> None:
    """Nobody expects a robot to set off because its explorer ends."""
    process = explorer()
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.mute = 10**6    # on its way, for as long as it takes
    count = len(robot.received) + 1
    peer.wait_for(lambda: len(robot.received) == count, 'a command under way')
    end(peer, process, number)
    assert len(robot.received) == count
    assert 'the robot has not said that it has come to rest' in process.output


def test_a_robot_side_that_ends_as_well_is_not_waited_for(
        start: Callable, explorer: Callable, peer: Peer) -> None:
    """As in a launch, where Ctrl-C reaches all: no node is left to say anything."""
    simulated = start('cmp_sim', scenario='corridor', latency=60.0)
    process = explorer()
    commands = peer.listen(Int64MultiArray, 'action', messages.STEP)
    peer.wait_for(lambda: commands, 'a command')
    status = peer.listen(String, 'status')
    end(peer, simulated, signal.SIGINT)
    peer.wait_for(lambda: status and 'no node' in status[-1].data, 'that the explorer misses it')
    end(peer, process, signal.SIGINT)
    assert 'has not said that it has come to rest' not in process.output


class Driving(RobotSide):
    """A robot that takes its time for every action, and tells why it was stopped."""

    action_names = ('east', 'west')

    def __init__(self, **node_arguments: object) -> None:
        super().__init__('driving', **node_arguments)
        self.stopped_by: list[str] = []
        self.driving = False
        self.commands: list[int] = []

    def execute(self, action: int) -> int | None:
        self.commands.append(action)
        self.driving = True
        return None

    def return_home(self) -> int | None:
        self.commands.append(-1)
        if self.commands.count(-1) == 1:
            return 0
        self.driving = True
        return None

    def cancel(self, reason: str) -> int | None:
        self.driving = False
        self.stopped_by.append(reason)
        return 1


@pytest.fixture
def driving(peer: Peer) -> Iterator[Driving]:
    robot = Driving(context=peer.context)
    peer.spin_also(robot)
    yield robot
    robot.destroy_node()


@pytest.mark.parametrize('how', ['SIGTERM', pytest.param('SIGINT', marks=thorough(
    'nodes/test_start_and_end.py::test_ends_cleanly')), pytest.param('transition', marks=thorough(
        'nodes/test_leaving.py::test_a_robot_under_way_comes_to_rest_at_once '
        'nodes/test_leaving.py::test_shutdown_by_a_lifecycle_manager'))])
def test_a_robot_under_way_comes_to_rest_at_once(
        explorer: Callable, peer: Peer, driving: Driving, how: str) -> None:
    """Also if a navigator is there, which publishes action as well."""
    navigator = Peer(name='navigator')
    navigator.node.create_publisher(Int64MultiArray, 'action', messages.STEP)
    process = explorer()
    beats = peer.listen(Header, 'heartbeat', messages.HEARTBEATS)
    peer.wait_for(lambda: driving.driving, 'the first action')
    peer.wait_for(lambda: len(beats) > 2, 'heartbeats')
    peer.spin(1.0)    # so that the robot has heard them, too
    commands = list(driving.commands)
    with peer.client(ChangeState, 'explorer/change_state') as change:
        began = time.monotonic()
        if how == 'transition':
            assert change(ChangeState.Request(
                transition=Transition(id=Transition.TRANSITION_ACTIVE_SHUTDOWN))).success
        else:
            process.send(getattr(signal, how))
        peer.wait_for(lambda: driving.stopped_by, 'that it stops')
        assert soon(time.monotonic() - began, 1.0)
    # Told by the end of the explorer itself, before its heartbeat is missed.
    assert driving.stopped_by == ['its commander is gone']
    if how != 'transition':
        peer.wait_for(lambda: not process.running, 'the end')
        assert process.wait() == 0 and soon(time.monotonic() - began, ENOUGH)
        assert 'has not said that it has come to rest' not in process.output
    peer.spin(0.3)
    navigator.close()
    assert driving.commands == commands and len(driving.stopped_by) == 1


@thorough(shown_by=(
    'nodes/test_what_is_told.py::test_one_that_stands_by_finds_the_robot '
    'nodes/test_arbitration.py::test_only_the_first_one_commands '
    'nodes/test_robot_side.py::test_an_explorer_that_does_not_command_it_is_gone'))
def test_ending_one_that_stands_by_or_advises_disturbs_no_other_node(
        explorer: Callable, start: Callable, peer: Peer, driving: Driving) -> None:
    explorer()
    peer.wait_for(lambda: driving.driving, 'the first action')
    peer.spin(1.2)    # whoever is found within a second of a command may have given it
    remapped = arguments({'actions': ['east', 'west']}, '/elsewhere')
    remapped += [part for name in ('action', 'state', 'heartbeat')
                 for part in ('-r', f'{name}:=/{name}')]
    for more in ([], ['-p', 'advisory:=true']):
        other = start('explorer', given=[*remapped, *more])
        peer.wait_for(lambda: peer.node.count_publishers('heartbeat') == 2, 'the other one')
        peer.spin(1.5)
        # A busy machine may take its time until the other one has heard that it is not alone.
        peer.wait_for(lambda: peer.node.count_publishers('action') == 1, 'that one commands')
        peer.spin(0.5)
        assert len(peer.node.get_publishers_info_by_topic('action')) == 1
        assert other.stop() == 0
        peer.wait_for(lambda: peer.node.count_publishers('heartbeat') == 1, 'its end')
        peer.spin(0.5)
        assert driving.stopped_by == []


def test_nothing_is_explored_after_that_and_a_reset_that_is_lost_is_sent_again(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """Whoever ends at the same time, such as a navigator, may have exploration go on."""
    process = explorer(step_timeout=30.0, on_shutdown='reset')
    client = peer.node.create_client(SetBool, 'explore')
    status = peer.listen(String, 'status')
    peer.wait_for(lambda: len(robot.executed) > 30 and client.service_is_ready(), 'steps')
    peer.spin(0.5)    # until the service knows the client, too
    robot.deaf = 10**6
    process.send(signal.SIGINT)
    peer.wait_for(lambda: status[-1].data == 'paused: the node is ending', 'the end')
    count = len(robot.received)
    going_on = client.call_async(SetBool.Request(data=True))
    peer.wait_for(going_on.done, 'a response')
    robot.deaf = 0
    peer.wait_for(lambda: not process.running, 'the end')
    assert process.wait() == 0
    assert not going_on.result().success
    assert {action for _, action in robot.received[count:]} == {-1}
    assert robot.executed[-1][1:] == (-1, 0)


@pytest.mark.parametrize('paused', [False, pytest.param(True, marks=thorough(
    'nodes/test_leaving.py::test_values_are_published_again_and_a_paused_robot_is_left_alone'))])
def test_the_robot_is_left_alone(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                                 paused: bool) -> None:
    """A robot that others may use by now gets no command, nor one whose owner says so."""
    process = explorer(on_shutdown='reset' if paused else 'nothing')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.mute = 0 if paused else 10**6    # nothing but the action under way
    peer.spin(0.2)
    if paused:
        phase = peer.listen(String, 'phase')
        peer.call(SetBool, 'explore', SetBool.Request(data=False))
        peer.wait_for(lambda: phase[-1].data == 'paused', 'paused')
    count = len(robot.received)
    end(peer, process, signal.SIGTERM)
    assert len(robot.received) == count


def test_home_by_service(explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    calls = []

    def serve(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        calls.append(robot.state)
        robot.state = 0
        robot.send(-1, 0)
        response.success = True
        return response

    peer.node.create_service(Trigger, 'return_home', serve)
    process = explorer(reset_mode='service', on_shutdown='reset')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.mute = 10**6
    received = len(robot.received)
    peer.wait_for(lambda: len(robot.received) > received, 'a command under way')
    count = len(calls)
    end(peer, process, signal.SIGINT)
    assert len(calls) == count + 1


def test_shutdown_by_a_lifecycle_manager(explorer: Callable, peer: Peer,
                                         robot: ScriptedRobot) -> None:
    """The last RESET is waited for, though that goes on when the transition is over."""
    process = explorer(on_shutdown='reset', record='')
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    request = ChangeState.Request(
        transition=Transition(id=Transition.TRANSITION_ACTIVE_SHUTDOWN))
    with peer.client(ChangeState, 'explorer/change_state') as change:
        robot.deaf = strength(4, 6)    # what is under way, and RESET, sent again every 0.5 s
        assert change(request).success
        began = time.monotonic()
        assert peer.node.count_publishers('action') == 1
    peer.wait_for(lambda: robot.executed[-1][1:] == (-1, 0), 'a RESET')
    peer.wait_for(lambda: not peer.node.count_publishers('action'), 'that the robot is left')
    assert time.monotonic() - began > strength(0.5, 1.5)
    assert 'the robot is at home' in process.output
    assert phase[-1].data == 'paused'
    count = len(robot.received)
    peer.spin(0.3)
    assert len(robot.received) == count
    assert not peer.call(ChangeState, 'explorer/change_state', ChangeState.Request(
        transition=Transition(id=Transition.TRANSITION_CONFIGURE))).success
    assert process.stop() == 0


@thorough(shown_by=(
    'nodes/test_lifecycle.py::test_round_trip '
    'test_qos.py::test_a_node_that_hangs_is_noticed_although_its_middleware_lives '
    'nodes/test_access.py::test_complete_nothing_superfluous_and_of_declared_types'))
def test_heartbeat(explorer: Callable, peer: Peer) -> None:
    """It beats before configuring, and its end is told to whoever asked."""
    process = explorer(autostart=False)
    beats, alive, missed = [], [], []
    peer.node.create_subscription(
        Header, 'heartbeat', beats.append, messages.HEARTBEAT,
        event_callbacks=SubscriptionEventCallbacks(
            liveliness=lambda event: alive.append(event.alive_count),
            deadline=missed.append))
    peer.wait_for(lambda: len(beats) > 3 and alive, 'a heartbeat')
    assert alive[-1] == 1 and not missed
    assert beats[-1].frame_id == '/explorer' and beats[-1].stamp.sec > 0
    process.send(signal.SIGSTOP)    # hangs, but does not say good-bye
    try:
        peer.wait_for(lambda: alive[-1] == 0 and missed, 'the end of the heartbeat')
    finally:
        process.send(signal.SIGCONT)
    peer.wait_for(lambda: alive[-1] == 1, 'the heartbeat again')
    process.kill()


def test_values_are_published_again_and_a_paused_robot_is_left_alone(
        knowing: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    process = knowing(republish_period=0.3, on_shutdown='reset')
    heard = {topic: peer.listen(kind, topic) for kind, topic in (
        (Int64MultiArray, 'known_states'), (Int64MultiArray, 'policies'), (String, 'phase'),
        (String, 'status'))}
    peer.wait_for(lambda: all(heard.values()), 'a hypothesis')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: heard['phase'][-1].data == 'paused', 'paused')
    peer.wait_for(lambda: heard['status'][-1].data.startswith('paused by'), 'who has paused')
    for each in heard.values():
        each[:-1] = []
    peer.wait_for(lambda: all(len(each) > 3 for each in heard.values()), 'repetitions')
    assert all(message == each[0] for each in heard.values() for message in each)
    count = len(robot.received)
    end(peer, process, signal.SIGTERM)
    assert len(robot.received) == count


def test_values_are_not_published_without_need(knowing: Callable, peer: Peer,
                                               robot: ScriptedRobot) -> None:
    knowing(republish_period=0.0)
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies, 'a hypothesis')
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + strength(50, 300), 'more steps')
    stamps = [tuple(message.data[:2]) for message in policies]
    assert len(set(stamps)) == len(stamps)
