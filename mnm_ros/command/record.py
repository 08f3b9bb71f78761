# SPDX-License-Identifier: Apache-2.0

"""Record a run as an MCAP file, whether ``ros2 bag`` is there or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
import sys
from typing import Any, TYPE_CHECKING

from mnm_ros.command.arguments import parser, split, within

if TYPE_CHECKING:
    from mnm_ros.bags.writing import BagWriter
    from rclpy.node import Node

_FLUSH = 1.0      # s
_DEPTH = 5000     # messages that may wait: a second of steps of a fast simulator


def main(arguments: Sequence[str], program: str) -> int:
    """Record until Ctrl-C; 1 if the file cannot be written."""
    words, ros_arguments = split(arguments)
    made = parser(program, 'Record steps, decisions and diagnostics of a run as an MCAP file, '
                  'until Ctrl-C. Begun before the explorer, it has all that `mnm_ros report` '
                  'needs.')
    made.add_argument('--output', '--out', type=Path, metavar='FILE',
                      help='a new file (default: mnm_DATE_TIME.mcap here)')
    given = made.parse_args(words)

    from mnm_ros.bags.writing import BagWriter
    from mnm_ros.checkpoint.input_log import Refused
    from mnm_ros.nodes.common.spin import run
    path = given.output or Path(f'mnm_{datetime.now():%Y-%m-%d_%H-%M-%S}.mcap')
    path = path.expanduser()
    try:
        writer = BagWriter(path)
    except (OSError, Refused) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    count = [0]
    try:
        try:
            status = run(program, lambda: _recorder(writer, path, count),
                         within(given.namespace, ros_arguments))
        finally:
            writer.close()
    except OSError as error:    # as a rule the disk is full
        print(f'{program}: {path} ends after {count[0]:,} messages: {error}', file=sys.stderr)
        return 1
    print(f'{count[0]:,} messages are in {path}', flush=True)
    return status


def _recorder(writer: BagWriter, path: Path, count: list[int]) -> Node:
    """Return a node that writes what it hears, and counts the messages."""
    from importlib import import_module
    import time

    from mnm_ros import wire
    from mnm_ros.bags.topics import RECORDED
    from mnm_ros.interface import TOPICS
    from rclpy.node import Node
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    try:
        from rclpy.event_handler import SubscriptionEventCallbacks
    except ImportError:    # Humble
        from rclpy.qos_event import SubscriptionEventCallbacks
    node = Node('recorder')

    def heard(channel: int) -> Callable[[bytes], None]:
        def write(data: bytes) -> None:
            writer.write(channel, data, time.time_ns())
            count[0] += 1
        return write

    def missed(name: str) -> Callable[[Any], None]:
        return lambda lost: node.get_logger().error(
            f'{lost.total_count} messages of {name} were lost so far: steps come faster than they '
            'can be recorded, and this file may not be one that can be replayed; slow a simulator '
            'down (latency), or keep the run by mnm_ros trial',
            throttle_duration_sec=5.0)

    for topic in (topic for group in TOPICS.values() for topic in group):
        if topic.name in RECORDED:
            package, _, kind = topic.type.partition('/')
            durability = getattr(wire, topic.qos).durability
            name = node.resolve_topic_name(topic.name)
            channel = writer.add_topic(name, topic.type, durability == wire.LATCHED.durability)
            node.create_subscription(
                getattr(import_module(f'{package}.msg'), kind), topic.name, heard(channel),
                QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.RELIABLE,
                           durability=durability),
                event_callbacks=SubscriptionEventCallbacks(message_lost=missed(name)), raw=True)
    node.create_timer(_FLUSH, writer.flush)
    node.get_logger().info(f'recording into {path} until Ctrl-C')
    return node
