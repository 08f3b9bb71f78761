# SPDX-License-Identifier: Apache-2.0

"""
Calls of rclpy for the type checker, which also reports each ignored error that is none.

Nothing imports this module. The list ``files`` in pyproject.toml names it for mypy.
"""

from collections.abc import Callable

from mnm_ros import messages
from mnm_ros.nodes.common.callbacks import every
from mnm_ros.nodes.common.node_scope import NodeInterface, NodeScope
from rclpy.node import Node
from std_msgs.msg import Int64, String
from std_srvs.srv import SetBool, Trigger


def of_node(node: Node, tick: Callable[[], None], take: Callable[[Int64], None], change: Callable[
        [Trigger.Request, Trigger.Response], Trigger.Response]) -> None:
    """Call the methods of a node."""
    numbers = node.create_publisher(Int64, 'numbers', 10)
    numbers.publish(Int64(data=1))
    numbers.publish(String(data='1'))  # type: ignore[arg-type]
    numbers.publish(Int64(datum=1))  # type: ignore[call-arg]
    numbers.publish(Int64(data='1'))  # type: ignore[arg-type]
    node.create_publisher(Int64, 'numbers')  # type: ignore[call-arg]
    node.create_subscription(Int64, 'numbers', take, 10)
    node.create_subscription(String, 'numbers', take, 10)  # type: ignore[arg-type]
    node.create_timer(1.0, tick)
    node.create_timer(1.0, take)  # type: ignore[arg-type]
    node.create_service(Trigger, 'change', change)
    node.create_service(SetBool, 'change', change)  # type: ignore[arg-type]
    node.create_client(Trigger, 'change').call_async(Trigger.Request())
    node.create_client(Trigger, 'change').call_async(SetBool.Request())  # type: ignore[arg-type]
    node.get_logger().information('there')  # type: ignore[attr-defined]


def of_part(node: NodeScope, part: NodeInterface, tick: Callable[[], None]) -> None:
    """Call the methods of a part of a node."""
    part = node
    node.create_publisher(Int64, 'numbers', 10).publish(String())  # type: ignore[arg-type]
    part.create_publisher(Int64, 'numbers', 10).publish(String())  # type: ignore[arg-type]
    part.create_timer('1.0', tick)  # type: ignore[arg-type]
    node.get_clock().now().nanosecond  # type: ignore[attr-defined]  # noqa: B018
    whole: Node = node  # type: ignore[assignment]  # noqa: F841
    every(1.0, node, tick)
    messages.hear(node, Int64, 'numbers', messages.STEP, messages.decode_count, print)
    decode = messages.decode_count
    messages.hear(node, String, 'numbers', messages.STEP, decode)  # type: ignore[arg-type]
