# SPDX-License-Identifier: Apache-2.0

"""
Maps and filter masks as nav2 keeps them: a YAML file with a picture beside it.

Sources: the documentation of nav2_map_server, and ``map_io.cpp`` in it, for the modes; and
``keepout_filter.cpp`` of nav2_costmap_2d for the values of a mask.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.driving.grid import FARTHEST
from mnm_ros.driving.occupancy import Map, Points
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.located_yaml import Entry, Keys, read
from mnm_ros.plan.plan_file import numbers
import numpy as np
from numpy.typing import NDArray

MOST_PIXELS = 25_000_000    # 250 by 250 m at 0.05 m; reading takes seconds and a GB
LETHAL = 100                # the value of a keep-out in a mask
MODES = ('trinary', 'scale', 'raw')
INSTALL = ("to read the picture of a map, the Python package Pillow is needed: pip install "
           "'mnm_ros[map]', or apt install python3-pil")

_ANGLE = 1e3    # rad, at most, of an origin
_UNKNOWN = -1

_Shades = NDArray[np.float64]


def load(path: Path) -> Map:
    """
    Read a map or a filter mask.

    :raises FileError: with the file, the line, what was found and what was expected.
    """
    keys = read(path, 'map').mapping('a map of nav2')
    what = 'the side of a pixel in m, from 0.001 to 100'
    resolution = keys.required('resolution', what).number(what, 0.001, 100)
    what = 'x, y and yaw of the lower left corner in m and rad, a list of 3 numbers'
    x, y, yaw = numbers(keys.required('origin', what), what, FARTHEST, FARTHEST, _ANGLE)
    occupancy_of = _mode(keys)
    what = 'the path of a picture'
    image = keys.required('image', what)
    colours, opacity = _picture(path.parent / Path(image.text(what)).expanduser(), image)
    values = occupancy_of(colours, opacity)[::-1]    # a picture begins with its upper row
    return Map(resolution, values.shape[1], values.shape[0],
               Pose(x, y, wrapped(yaw)), values.ravel())


def _mode(keys: Keys) -> Callable[[_Shades, _Shades | None], NDArray[np.int8]]:
    """Return what makes occupancy of shades of grey and opacity, each from 0 to 1."""
    mode = 'trinary'
    if 'mode' in keys:
        entry = keys['mode'][1]
        mode = entry.text('one of ' + ', '.join(MODES))
        if mode not in MODES:
            raise entry.unexpected('one of ' + ', '.join(MODES))
    free, occupied = (keys.required(name, what).number(what, 0, 1) for name, what in (
        ('free_thresh', 'a number from 0 to 1 below which a pixel is free'),
        ('occupied_thresh', 'a number from 0 to 1 above which a pixel is occupied')))
    if free >= occupied:
        raise keys['occupied_thresh'][1].unexpected(f'more than free_thresh, which is {free:g}')
    negate = _negate(keys)

    def occupancy_of(shades: _Shades, opacity: _Shades | None) -> NDArray[np.int8]:
        if mode == 'raw':
            value = np.round(shades * 255)
            return np.where(value <= LETHAL, value, _UNKNOWN).astype(np.int8)
        if mode == 'trinary' and opacity is not None:    # as nav2 has it, a fourth colour
            shades = (3 * shades + opacity) / 4
        taken = shades if negate else 1 - shades
        between = (np.rint((taken - free) / (occupied - free) * 100) if mode == 'scale'
                   else np.float64(_UNKNOWN))
        value = np.where(taken > occupied, LETHAL, np.where(taken < free, 0, between))
        if mode == 'scale' and opacity is not None:
            value = np.where(opacity < 1, _UNKNOWN, value)
        return value.astype(np.int8)

    return occupancy_of


def _negate(keys: Keys) -> bool:
    what = '0 or 1, for whether white is occupied'
    entry = keys.required('negate', what)
    value = entry.scalar(what)
    if type(value) not in (bool, int) or value not in (0, 1):
        raise entry.unexpected(what)
    return bool(value)


def _picture(path: Path, entry: Entry) -> tuple[_Shades, _Shades | None]:
    """Return the mean of the colours of each pixel, and its opacity if the picture has any."""
    try:
        from PIL import Image
    except ImportError:
        raise FileError(INSTALL) from None
    try:
        with Image.open(path) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise entry.error(f'{path} has {width} x {height} pixels, expected at most '
                                  f'{MOST_PIXELS:,} in all')
            if image.mode.startswith('I'):    # 16 bits of grey
                return np.asarray(image, np.float64) / 65535, None
            clear = image.mode in ('LA', 'PA', 'RGBA') or 'transparency' in image.info
            pixels = np.asarray(image.convert('RGBA' if clear else 'RGB'), np.float64) / 255
    except FileError:
        raise
    # Pillow raises these, and more, for files that are damaged or are no pictures.
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise entry.error(f'{path} cannot be read ({error}), expected a picture such as pgm or '
                          'png') from None
    return pixels[:, :, :3].mean(axis=2), pixels[:, :, 3] if clear else None


def lethal(mask: Map, map_: Map) -> NDArray[np.bool_]:
    """Return which pixels of a map have something of what a filter mask keeps robots out of."""
    kept_out = mask.pixel_rows >= LETHAL
    there = sampled(kept_out, mask, map_)
    columns, rows, inside = _pixels(map_, mask.points(np.argwhere(kept_out)[:, ::-1] + 0.5))
    there[rows[inside], columns[inside]] = True    # of a mask whose pixels are smaller
    return there


def sampled(values: NDArray[np.bool_], of: Map, map_: Map) -> NDArray[np.bool_]:
    """Return what each pixel of one map has of another one's, at its centre; outside False."""
    corners = np.argwhere(np.ones((map_.height, map_.width), np.bool_))[:, ::-1]
    columns, rows, inside = _pixels(of, map_.points(corners + 0.5))
    found = np.zeros(len(corners), np.bool_)
    found[inside] = values[rows[inside], columns[inside]]
    return found.reshape(map_.height, map_.width)


def _pixels(map_: Map, points: Points) -> tuple[
        NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the columns and rows of points, and whether these are on the map."""
    columns, rows = np.floor(map_.pixels(points) + 1e-9).astype(np.int64).T
    return columns, rows, (0 <= columns) & (columns < map_.width) & (
        (0 <= rows) & (rows < map_.height))


def save_mask(path: Path, map_: Map, kept_out: NDArray[np.bool_]) -> Path:
    """
    Write a filter mask, and its picture beside it; return the path of the picture.

    :param kept_out: for each pixel of the map, the lowest row first.
    """
    picture = path.with_suffix('.pgm')
    shades = np.where(kept_out[::-1], 0, 254).astype(np.uint8)    # as map_saver_cli does
    picture.write_bytes(f'P5\n{map_.width} {map_.height}\n255\n'.encode() + shades.tobytes())
    x, y, yaw = map_.origin
    path.write_text(
        f'image: {picture.name}\nmode: trinary\nresolution: {map_.resolution:g}\n'
        f'origin: [{x:g}, {y:g}, {yaw:g}]\nnegate: 0\noccupied_thresh: 0.65\n'
        'free_thresh: 0.25\n', encoding='utf-8')
    return picture
