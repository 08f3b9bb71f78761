# SPDX-License-Identifier: Apache-2.0

"""Maps made for the tests of plans."""

from __future__ import annotations

import math
from pathlib import Path

from mnm_ros.driving.occupancy import Map
from mnm_ros.driving.pose import Pose
import numpy as np
from numpy.typing import NDArray
from PIL import Image

RESOLUTION = 0.05
ORIGIN = Pose(-1.0, -1.5, 0.0)
SHADES = {-1: 205, 0: 254, 100: 0}    # as map_saver_cli draws them
YAML = {'image': 'flat.pgm', 'mode': 'trinary', 'resolution': '0.050', 'origin': '[-1, -1.5, 0]',
        'negate': '0', 'occupied_thresh': '0.65', 'free_thresh': '0.196'}

Rectangle = tuple[float, float, float, float, int]
"""Left, low, right and high in m from the corner, and the value of the pixels."""

WALLS: tuple[Rectangle, ...] = (
    (0, 0, 6, 0.1, 100), (0, 2.9, 6, 3, 100), (0, 0, 0.1, 3, 100), (5.9, 0, 6, 3, 100),
    (3, 0, 3.1, 3, 100))
DOOR: Rectangle = (3, 1.1, 3.1, 1.9, 0)


def flat(*rectangles: Rectangle, yaw: float = 0.0) -> Map:
    """
    Return two rooms of 3 by 3 m, with a door of 0.8 m between them in the first of rectangles.

    :param yaw: by which the flat is turned against the map, about its middle.
    """
    size = 6.0, 3.0
    margin = 2.0 if yaw else 0.2
    height, width = (round((side + 2 * margin) / RESOLUTION) for side in size[::-1])
    up, right = (np.mgrid[0:height, 0:width] + 0.5) * RESOLUTION - margin
    cos, sin = math.cos(yaw), math.sin(yaw)
    x, y = right - size[0] / 2, up - size[1] / 2
    right, up = cos * x + sin * y + size[0] / 2, cos * y - sin * x + size[1] / 2
    rows = np.full((height, width), -1, np.int8)
    for left, low, far, high, value in ((0, 0, *size, 0), *WALLS, *rectangles):
        rows[(right > left) & (right < far) & (up > low) & (up < high)] = value
    origin = ORIGIN._replace(x=ORIGIN.x - margin, y=ORIGIN.y - margin)
    return Map(RESOLUTION, width, height, origin, rows.ravel())


def shades(map_: Map) -> NDArray[np.uint8]:
    """Return the picture of a map, its upper row first."""
    return np.vectorize(SHADES.__getitem__)(map_.pixel_rows[::-1]).astype(np.uint8)


def saved(folder: Path, map_: Map, **entries: str) -> Path:
    """Write a map as nav2 does, with other entries; return the path of its YAML file."""
    Image.fromarray(shades(map_)).save(folder / 'flat.pgm')
    origin = f'[{map_.origin.x:g}, {map_.origin.y:g}, {map_.origin.yaw:g}]'
    return written(folder, **{'origin': origin, **entries})


def written(folder: Path, **entries: str) -> Path:
    """Write a YAML file of nav2 with other entries, none for an empty one."""
    path = folder / 'flat.yaml'
    path.write_text(''.join(f'{name}: {value}\n' for name, value in {**YAML, **entries}.items()
                            if value), encoding='utf-8')
    return path


def building(width: float, height: float, *rectangles: Rectangle,
             resolution: float = RESOLUTION) -> Map:
    """Return a map that is free within walls of 0.1 m around it, with rectangles on it."""
    columns, rows = round(width / resolution), round(height / resolution)
    values = np.zeros((rows, columns), np.int8)
    around = ((0, 0, width, 0.1, 100), (0, height - 0.1, width, height, 100),
              (0, 0, 0.1, height, 100), (width - 0.1, 0, width, height, 100))
    for left, low, right, high, value in (*around, *rectangles):
        first, last, begin, end = (round(each / resolution) for each in (low, high, left, right))
        values[first:last, begin:end] = value
    return Map(resolution, columns, rows, Pose(0.0, 0.0, 0.0), values.ravel())


def house(*openings: float, side: float = 4.0) -> Map:
    """Return six rooms, 3 by 2, with the widths of the openings between neighbours in m."""
    walls: list[Rectangle] = [(0, side, 3 * side, side + 0.1, 100),
                              *((at * side, 0, at * side + 0.1, 2 * side, 100) for at in (1, 2))]
    middles = [(side, side / 2), (2 * side, side / 2), (side, 1.5 * side), (2 * side, 1.5 * side)]
    gaps: list[Rectangle] = [(x, y - width / 2, x + 0.1, y + width / 2, 0)
                             for (x, y), width in zip(middles, openings)]
    gaps += [(x - width / 2, side, x + width / 2, side + 0.1, 0)
             for x, width in zip((side / 2, 1.5 * side, 2.5 * side), openings[len(middles):])]
    return building(3 * side, 2 * side, *walls, *gaps)


def office(rooms: int = 4, door: float = 0.9, corridor: float = 1.6) -> Map:
    """Return a corridor with so many rooms of 3 by 3 m on each side, each behind a door."""
    width, top = 3.0 * rooms, 6.0 + corridor
    found: list[Rectangle] = []
    for wall in (3.0, 3.0 + corridor):
        found.append((0, wall, width, wall + 0.1, 100))
        found += [(3 * at + 1, wall, 3 * at + 1 + door, wall + 0.1, 0) for at in range(rooms)]
    for at in range(1, rooms):
        found += [(3 * at, 0, 3 * at + 0.1, 3, 100),
                  (3 * at, 3.0 + corridor, 3 * at + 0.1, top, 100)]
    return building(width, top, *found)


def hall() -> Map:
    """Return a hall of 8 by 8 m with nine pillars."""
    return building(8, 8, *((x, y, x + 0.4, y + 0.4, 100)
                            for x in (1.5, 3.8, 6.1) for y in (1.5, 3.8, 6.1)))
