# SPDX-License-Identifier: Apache-2.0

"""``robots.launch.py`` starts two mobile robots in flats of their own, and all end cleanly."""

from __future__ import annotations

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
from std_msgs.msg import Int64MultiArray  # noqa: E402

ROBOTS = ('robot_1', 'robot_2')


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
