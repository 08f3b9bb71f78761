# SPDX-License-Identifier: Apache-2.0

"""Messages that rclpy itself cannot read do not end a node; its own errors do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from builtin_interfaces.msg import Time
from mnm_ros import messages
from node_processes import NodeProcess, Peer, REST, ScriptedRobot
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import SetParameters
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Bool, Int64
from tiers import strength, thorough


def unreadable_parameter(peer: Peer, node: str) -> None:
    client = peer.node.create_client(SetParameters, f'{node}/set_parameters')
    peer.wait_for(client.service_is_ready, 'the service')
    client.call_async(SetParameters.Request(
        parameters=[Parameter(name='step_timeout', value=ParameterValue(type=77))]))


def before_the_beginning_of_time(peer: Peer, node: str) -> None:
    clock = peer.node.create_publisher(Clock, '/clock', 10)
    peer.wait_for(clock.get_subscription_count, 'the subscription')
    peer.spin(0.2)
    clock.publish(Clock(clock=Time(sec=-1)))


def test_one_bad_packet_and_another_one(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    process = explorer(use_sim_time=True)
    peer.wait_for(lambda: len(robot.executed) > 5, 'steps')
    robot.pause = REST    # the second line in the log comes 5 s later
    said = 'ignored, as it concerns no callback of this node'
    for number, send in enumerate((unreadable_parameter, before_the_beginning_of_time), 1):
        def is_logged() -> bool:    # at most once in 5 s
            send(peer, 'explorer')  # noqa: B023
            peer.spin(0.5)
            return process.output.count(said) >= number  # noqa: B023

        peer.wait_for(is_logged, 'the line in the log')
        count = len(robot.executed)
        peer.wait_for(lambda: len(robot.executed) > count + strength(5, 20), 'more steps')  # noqa: B023
    assert peer.set_parameter('explorer', 'step_timeout', 3.0).successful
    assert process.stop() == 0


@thorough(shown_by=(
    'nodes/test_arbitration.py::test_what_cannot_be_the_time_of_a_start_is_no_claim '
    'nodes/test_arbitration.py::test_a_claim_that_is_not_repeated_does_not_stand_for_ever'))
def test_single_numbers_on_the_topic_of_claims(
        explorer: Callable, peer: Peer, robot: ScriptedRobot) -> None:
    """Their sender lives on, but does not repeat them, as an explorer would."""
    process = explorer()
    peer.wait_for(lambda: len(robot.executed) > 30, 'steps')
    claims = peer.node.create_publisher(Int64, 'action/driver', messages.LATCHED)
    peer.wait_for(claims.get_subscription_count, 'the subscription')
    for number, warning in ((-2**63, f'{-2**63} on /action/driver ignored'),
                            (5, 'it no longer counts')):
        claims.publish(Int64(data=number))
        peer.wait_for(lambda: warning in process.output, 'the line in the log')  # noqa: B023
        count = len(robot.executed)
        peer.wait_for(lambda: len(robot.executed) > count + 100, 'more steps')  # noqa: B023
    assert process.stop() == 0


FAILS = """
import rclpy
from rclpy.node import Node
from std_msgs.msg import Bool
from mnm_ros.nodes.common.spin import run

class Fails(Node):
    def __init__(self):
        super().__init__('fails')
        self.create_subscription(Bool, 'go', self.on_go, 10)

    def on_go(self, message):
        rclpy.time.Time(seconds=-1)    # raised in rclpy, because of this callback

    def close(self):
        print('closed', flush=True)

run('fails', Fails)
"""


def test_an_error_of_a_callback_ends_the_node(
        start: Callable[..., NodeProcess], peer: Peer, tmp_path: Path) -> None:
    script = tmp_path / 'fails.py'
    script.write_text(FAILS)
    process = start(str(script))
    go = peer.node.create_publisher(Bool, 'go', 10)
    peer.wait_for(go.get_subscription_count, 'the subscription')
    peer.spin(0.2)
    go.publish(Bool())
    peer.wait_for(lambda: not process.running, 'the end')
    assert process.wait() == 1 and 'closed' in process.output and 'ValueError' in process.output
