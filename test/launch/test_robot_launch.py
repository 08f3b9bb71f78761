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
"""``robots.launch.py`` starts two mobile robots in flats of their own, and all end cleanly."""

from __future__ import annotations

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
from std_msgs.msg import Int64MultiArray

ROBOTS = ('robot_1', 'robot_2')
DEADLINE = 60.0    # s


@pytest.mark.launch_test
def generate_test_description() -> LaunchDescription:
    return LaunchDescription([
        IncludeLaunchDescription(
            PythonLaunchDescriptionSource(str(SHARE / 'launch' / 'robots.launch.py')),
            launch_arguments={
                'robots': ' '.join(ROBOTS), 'each': 'robot.launch.py'}.items()),
        launch_testing.actions.ReadyToTest()])


class TestRobots(unittest.TestCase):

    def setUp(self) -> None:
        rclpy.init()
        self.node = rclpy.create_node('test_robot_launch')

    def tearDown(self) -> None:
        self.node.destroy_node()
        rclpy.shutdown()

    def test_both_robots_move(self) -> None:
        states = {robot: set() for robot in ROBOTS}
        for robot, seen in states.items():
            self.node.create_subscription(
                Int64MultiArray, f'{robot}/state',
                lambda message, seen=seen: seen.add(message.data[1]), 10)
        wanted = {f'/{robot}/{node}' for robot in ROBOTS
                  for node in ('explorer', 'grid_driver', 'diff_drive_sim')}
        deadline = time.monotonic() + DEADLINE
        while time.monotonic() < deadline and (
                min(map(len, states.values())) < 2 or self.missing(wanted)):
            rclpy.spin_once(self.node, timeout_sec=0.1)
        assert min(map(len, states.values())) >= 2, states
        assert not self.missing(wanted)

    def missing(self, wanted: set[str]) -> set[str]:
        return wanted - {f'{namespace}/{name}' for name, namespace
                         in self.node.get_node_names_and_namespaces()}


@launch_testing.post_shutdown_test()
class TestShutdown(unittest.TestCase):

    def test_exit_codes(self, proc_info) -> None:
        launch_testing.asserts.assertExitCodes(proc_info)
