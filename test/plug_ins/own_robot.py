# SPDX-License-Identifier: Apache-2.0

"""A robot side that another distribution brings."""

from __future__ import annotations

from mnm_ros import RobotSide


class Still(RobotSide):
    """A robot that stays where it is."""

    action_names = ('stay',)

    def __init__(self) -> None:
        super().__init__('still')
        self.get_logger().info('it stands still')

    def execute(self, action: int) -> int:
        return 0

    def return_home(self) -> int:
        return 0
