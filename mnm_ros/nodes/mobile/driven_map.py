# SPDX-License-Identifier: Apache-2.0

"""The map that a mobile robot drives by: of its floor plan, or as it comes on ``map``."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros import messages
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.occupancy import Map
from mnm_ros.nodes.mobile.poses import planar
from mnm_ros.parameters import Parameters
from mnm_ros.plan.floor_plan import Plan
from mnm_ros.plan.specks import without_unknown_specks
from nav_msgs.msg import OccupancyGrid
from rclpy.node import Node


class DrivenMap:
    """
    Takes each map that is one.

    :param given: the parameters of the driver.
    :param plan: whose map counts; None to hear maps, if the parameters say that one is used.
    :param frame: of the map before one is heard.
    :param read: takes a map; returns whether other moves are free now, or raises
        InvalidValueError if the robot cannot drive by it.
    :param then: called with a map that was heard and read, with what ``read`` has returned, and
        with whether the robot side has to be described again.
    :ivar frame: of the map; '' if that is not known.
    """

    def __init__(self, node: Node, given: Parameters, plan: Plan | None, frame: str,
                 read: Callable[[Map], bool],
                 then: Callable[[Map, bool, bool], None]) -> None:
        self._node = node
        self._read = read
        self._then = then
        self._known = False
        self._given = given
        self.frame = frame
        if plan is not None:
            self._take(plan.driven_map)
        elif given['use_map']:
            node.create_subscription(OccupancyGrid, 'map', self._on_map, messages.LATCHED)

    @property
    def awaited(self) -> bool:
        """Whether there has to be a map before anything is driven, and there is none yet."""
        return self._given['use_map'] and not self._known

    def _take(self, map_: Map) -> bool:
        changed = self._read(map_)
        self._known = True
        return changed

    def _on_map(self, message: OccupancyGrid) -> None:
        map_ = _map_of(message)
        if map_ is None:
            self._node.get_logger().warning(
                'map ignored: expected a resolution above 0, a pose as the origin and '
                f'{message.info.width} x {message.info.height} values')
            return
        map_, _ = without_unknown_specks(map_)
        before = self._known, self.frame
        try:
            changed = self._take(map_)
        except InvalidValueError as error:
            self._node.get_logger().error(f'map ignored: {error}')
            return
        self.frame = message.header.frame_id
        self._then(map_, changed, changed or (True, self.frame) != before)


def _map_of(message: OccupancyGrid) -> Map | None:
    """Return the map of a message; None if it is none."""
    info = message.info
    origin = planar(info.origin)
    if origin is None or info.resolution <= 0 or len(message.data) != info.width * info.height:
        return None
    return Map(info.resolution, info.width, info.height, origin, message.data)
