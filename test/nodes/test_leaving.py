"""How the explorer leaves a robot, and what a supervisor sees of it."""

from __future__ import annotations

from collections.abc import Callable
import signal
import time

from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from node_processes import NodeProcess, Peer, ScriptedRobot
import pytest
from std_msgs.msg import Header, Int64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from mnm_ros import wire
from mnm_ros.nodes.robot_side import SubscriptionEventCallbacks

ENOUGH = 5.0    # s, until every node has ended


def end(peer: Peer, process: NodeProcess, number: int) -> float:
    """Send the signal, keep the robot going and return how long the node took to exit with 0."""
    began = time.monotonic()
    process.send(number)
    peer.wait_for(lambda: not process.running, 'the end')
    assert process.wait() == 0 and 'Traceback' not in process.output, process.output
    return time.monotonic() - began


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_the_last_order_is_reset(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                                 number: int) -> None:
    process = explorer()
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    assert end(peer, process, number) < ENOUGH
    assert robot.executed[-1][1:] == (-1, 0)
    assert len({seq for seq, _ in robot.received}) == len(robot.received)


def test_it_is_sent_again_if_it_is_lost(explorer: Callable, peer: Peer,
                                        robot: ScriptedRobot) -> None:
    process = explorer(step_timeout=30.0)
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.deaf = 2    # the action under way or the RESET, and what comes next
    assert end(peer, process, signal.SIGTERM) < ENOUGH
    assert robot.executed[-1][1:] == (-1, 0)


def test_the_robot_does_not_answer(explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    process = explorer()
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.deaf = 10**6
    assert end(peer, process, signal.SIGTERM) < ENOUGH
    assert robot.received[-1][1] == -1


def test_nothing_is_explored_after_that(explorer: Callable, peer: Peer,
                                        robot: ScriptedRobot) -> None:
    """Whoever ends at the same time, such as a navigator, may have exploration go on."""
    process = explorer()
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


@pytest.mark.parametrize('paused', [False, True])
def test_the_robot_is_left_alone(explorer: Callable, peer: Peer, robot: ScriptedRobot,
                                 paused: bool) -> None:
    """A robot that others may use by now gets no order, nor one whose owner says so."""
    process = explorer(on_shutdown='reset' if paused else 'nothing')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.mute = 0 if paused else 10**6    # nothing but the action under way
    peer.spin(0.2)
    if paused:
        phase = peer.listen(String, 'phase')
        peer.call(SetBool, 'explore', SetBool.Request(data=False))
        peer.wait_for(lambda: phase and phase[-1].data == 'paused', 'paused')
    count = len(robot.received)
    assert end(peer, process, signal.SIGTERM) < ENOUGH
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
    process = explorer(reset_mode='service')
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    robot.mute = 10**6
    peer.spin(0.2)
    count = len(calls)
    assert end(peer, process, signal.SIGINT) < ENOUGH
    assert len(calls) == count + 1


def test_shutdown_by_a_lifecycle_manager(explorer: Callable, peer: Peer,
                                         robot: ScriptedRobot) -> None:
    explorer()
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    request = ChangeState.Request(
        transition=Transition(id=Transition.TRANSITION_ACTIVE_SHUTDOWN))
    assert peer.call(ChangeState, 'explorer/change_state', request).success
    peer.wait_for(lambda: robot.executed[-1][1:] == (-1, 0), 'a RESET')
    count = len(robot.received)
    peer.spin(0.3)
    assert len(robot.received) == count


def test_heartbeat(explorer: Callable, peer: Peer) -> None:
    """It beats before configuring, and its end is told to whoever asked."""
    process = explorer(autostart=False)
    beats, alive, missed = [], [], []
    peer.node.create_subscription(
        Header, 'heartbeat', beats.append, wire.HEARTBEAT,
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


def test_values_are_published_again(explorer: Callable, peer: Peer,
                                    robot: ScriptedRobot) -> None:
    explorer(republish_period=0.3)
    heard = {topic: peer.listen(kind, topic) for kind, topic in (
        (Int64MultiArray, 'known_states'), (Int64MultiArray, 'policies'), (String, 'phase'),
        (String, 'status'))}
    peer.wait_for(lambda: all(heard.values()), 'a hypothesis')
    peer.call(SetBool, 'explore', SetBool.Request(data=False))
    peer.wait_for(lambda: heard['phase'][-1].data == 'paused', 'paused')
    peer.wait_for(lambda: heard['status'][-1].data.startswith('paused'), 'the reason')
    for messages in heard.values():
        messages[:-1] = []
    peer.wait_for(lambda: all(len(messages) > 3 for messages in heard.values()), 'repetitions')
    assert all(message == messages[0] for messages in heard.values() for message in messages)


def test_values_are_not_published_without_need(explorer: Callable, peer: Peer,
                                               robot: ScriptedRobot) -> None:
    explorer(republish_period=0.0)
    policies = peer.listen(Int64MultiArray, 'policies')
    peer.wait_for(lambda: policies, 'a hypothesis')
    count = len(robot.executed)
    peer.wait_for(lambda: len(robot.executed) > count + 300, 'more steps')
    stamps = [tuple(message.data[:2]) for message in policies]
    assert len(set(stamps)) == len(stamps)
