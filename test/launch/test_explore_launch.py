# SPDX-License-Identifier: Apache-2.0

"""``explore.launch.py`` starts both nodes, they explore, and both end cleanly."""

from __future__ import annotations

from collections.abc import Callable
import time
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing is not installed')

from launch import LaunchDescription  # noqa: E402, I100
from launch.actions import IncludeLaunchDescription  # noqa: E402
from launch.launch_description_sources import PythonLaunchDescriptionSource  # noqa: E402
import launch_testing  # noqa: E402
import launch_testing.actions  # noqa: E402
import launch_testing.asserts  # noqa: E402
from launched import DEADLINE, SHARE  # noqa: E402
import rclpy  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from std_msgs.msg import Int64MultiArray, String  # noqa: E402

NAMESPACE = 'robot_1'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    return LaunchDescription([
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(SHARE / 'launch' / 'explore.launch.py')),
            launch_arguments={
                'scenario': 'corridor', 'namespace': NAMESPACE, 'seed': '1'}.items()),
        launch_testing.actions.ReadyToTest()])


class TestExploration(unittest.TestCase):

    def setUp(self) -> None:
        rclpy.init()
        self.node = rclpy.create_node('test_explore_launch', namespace=NAMESPACE)

    def tearDown(self) -> None:
        self.node.destroy_node()
        rclpy.shutdown()

    def received(self, kind: type, topic: str, wanted: Callable[[object], bool]) -> bool:
        """Wait for a message on the topic that is as wanted."""
        messages = []
        subscription = self.node.create_subscription(kind, topic, messages.append, LATCHED)
        deadline = time.monotonic() + DEADLINE
        while not any(map(wanted, messages)) and time.monotonic() < deadline:
            rclpy.spin_once(self.node, timeout_sec=0.1)
        self.node.destroy_subscription(subscription)
        return any(map(wanted, messages))

    def test_explores(self) -> None:
        assert self.received(
            String, 'phase', lambda message: message.data.startswith(('building/', 'checking/')))
        assert self.received(
            Int64MultiArray, 'known_states',
            lambda message: len(message.data) > message.layout.data_offset)


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):

    def test_exit_codes(self, proc_info) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
