# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

# ruff: noqa: E402
"""``explore.launch.py`` starts both nodes, they explore, and both end cleanly."""

from __future__ import annotations

from collections.abc import Callable
import time
import unittest

import pytest

pytest.importorskip('launch_testing', reason='launch_testing is not installed')

from launch import LaunchDescription
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
import launch_testing
import launch_testing.actions
import launch_testing.asserts
from launched import SHARE
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Int64MultiArray, String

NAMESPACE = 'robot_1'
DEADLINE = 30.0    # s
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
