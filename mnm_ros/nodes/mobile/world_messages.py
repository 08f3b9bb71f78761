# SPDX-License-Identifier: Apache-2.0

"""A simulated world and its robot as messages."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from geometry_msgs.msg import Point, Quaternion, Vector3
from mnm_ros.nodes.mobile.poses import set_pose
from mnm_ros.simulation.diff_drive import DiffDrive
from mnm_ros.simulation.world import Cell, World
from nav_msgs.msg import OccupancyGrid
import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

_HEIGHT = 0.4    # m, of walls and closed doors
_COLOURS = {
    'walls': (0.45, 0.45, 0.5), 'open doors': (0.2, 0.7, 0.3), 'closed doors': (0.8, 0.25, 0.2),
    'robot': (0.2, 0.4, 0.9), 'heading': (1.0, 1.0, 1.0)}


def set_covariance(covariance: NDArray[np.float64], position: float, angle: float) -> None:
    """
    Write two standard deviations, m and rad, into the 6x6 covariance of a pose or twist.

    Noise below 1 mm or mrad is given as that: many readers take a zero for unknown.
    """
    covariance[0] = covariance[7] = max(position, 1e-3) ** 2
    covariance[35] = max(angle, 1e-3) ** 2


def occupancy_grid(world: World, frame: str) -> OccupancyGrid:
    """Return the map, one cell for each of the world's; doors are free, open or not."""
    message = OccupancyGrid()
    message.header.frame_id = frame
    message.info.resolution = world.cell_size
    message.info.width, message.info.height = world.size
    message.info.origin.orientation.w = 1.0
    message.data = array('b', (
        100 if (column, row) in world.walls else 0
        for row in range(world.size[1]) for column in range(world.size[0])))
    return message


def markers(robot: DiffDrive, frame: str) -> MarkerArray:
    """Return walls, open and closed doors, and the robot where it really is."""
    world, radius = robot.world, robot.body.radius
    moved = Marker(ns='robot', type=Marker.CYLINDER, scale=Vector3(
        x=2 * radius, y=2 * radius, z=radius))
    heading = Marker(ns='heading', type=Marker.ARROW, scale=Vector3(
        x=radius, y=radius / 3, z=radius / 3))
    for marker, height in ((moved, radius / 2), (heading, radius)):
        set_pose(marker.pose, *robot.pose)
        marker.pose.position.z = height
    still = [
        _cells('walls', world, world.walls, _HEIGHT),
        *(_cells(name, world, (
            cell for door, is_open in robot.doors.items() if is_open is wanted
            for cell in world.doors[door]), height)
          for name, wanted, height in (
              ('open doors', True, 0.02), ('closed doors', False, _HEIGHT)))]
    for marker in still:
        marker.pose.orientation = Quaternion(w=1.0)
    for marker in (*still, moved, heading):
        marker.header.frame_id = frame
        red, green, blue = _COLOURS[marker.ns]
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=0.9)
    return MarkerArray(markers=[*still, moved, heading])


def _cells(name: str, world: World, cells: Iterable[Cell], height: float) -> Marker:
    points = [Point(x=x, y=y, z=height / 2) for x, y in map(world.centre, sorted(cells))]
    return Marker(
        ns=name, type=Marker.CUBE_LIST, points=points,
        action=Marker.ADD if points else Marker.DELETE,    # RViz warns of empty lists
        scale=Vector3(x=world.cell_size, y=world.cell_size, z=height))
