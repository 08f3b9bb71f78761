# SPDX-License-Identifier: Apache-2.0

"""
Maps and filter masks as nav2 keeps them: a YAML file with a picture beside it.

Sources: the documentation of nav2_map_server, and ``map_io.cpp`` in it, for the modes; and
``keepout_filter.cpp`` of nav2_costmap_2d for the values of a mask.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
import re
from typing import Any, TYPE_CHECKING

from mnm_ros.core.errors import FileError, how_to_install
from mnm_ros.driving.grid import FARTHEST
from mnm_ros.driving.occupancy import blocks, Map, Points
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.file_kinds import refuse_kind
from mnm_ros.files import open_regular, user_path, write_whole
from mnm_ros.located_yaml import Entry, Keys, read
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 50_000_000    # 350 by 350 m at 0.05 m; reading takes seconds and 300 MB
MOST_BYTES = 2 ** 28        # of a picture
FORMATS = ('PPM', 'PNG', 'BMP', 'JPEG')
"""As Pillow names them; PPM is pgm and pbm, too. Others may run programs, or are for cameras."""

LETHAL = 100                # the value of a keep-out in a mask
MODES = ('trinary', 'scale', 'raw')
INSTALL = ('to read the picture of a map, the Python package Pillow is needed: '
           + how_to_install('map', 'apt install python3-pil'))

UNKNOWN_SHADE = 205         # of 255, by which map_saver_cli draws what is unknown

_ANGLE = 1e3    # rad, at most, of an origin
_UNKNOWN = -1
_FREED = -2     # until the file is read: of that shade, and yet free by the threshold
_NUMBER = re.compile(r'[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,3})?')
_TRUTH = {'true': 1, 'yes': 1, 'on': 1, 'y': 1, 'false': 0, 'no': 0, 'off': 0, 'n': 0}

_Shades = NDArray[np.float64]
_Occupancy = Callable[[_Shades, '_Shades | None'], NDArray[np.int8]]


@dataclass(frozen=True)
class MapFile:
    """
    The content of a file of a map.

    :ivar remarks: what the person whose map this is should know, as sentences.
    """

    map: Map    # noqa: A003
    remarks: tuple[str, ...] = ()


def load(path: Path) -> Map:
    """
    Read a map or a filter mask.

    :raises FileError: with the file, the line, what was found and what was expected.
    """
    return read_map(path).map


def read_map(path: Path, keep_unknown: bool = False) -> MapFile:
    """
    Read a map; a picture that is not where the file says is taken from beside the file.

    :param keep_unknown: whether pixels of ``UNKNOWN_SHADE`` stay unknown if they are free by the
        threshold of the file.
    :raises FileError: as ``load``.
    """
    root = read(path, 'map')
    refuse_kind(path, root.names, 'map of nav2')
    keys = root.mapping('a map of nav2')
    what = 'the side of a pixel in m, from 0.001 to 100'
    resolution = _number(keys.required('resolution', what), what, 0.001, 100)
    x, y, yaw = _origin(keys)
    occupancy_of = _mode(keys)
    remarks = []
    _check_pillow()
    what = 'the path of a picture'
    image = keys.required('image', what)
    try:
        picture = path.parent / user_path(image.text(what))
        beside = path.parent / PureWindowsPath(image.text(what)).name
        if not _is_there(picture) and _is_there(beside):
            remarks.append(f'{picture} is not there: the picture is {beside}')
            picture = beside
        rows = _picture(picture, occupancy_of)
    except FileError as error:
        raise image.error(str(error)) from None
    freed = rows == _FREED
    if freed.any():
        area = np.count_nonzero(freed) * resolution ** 2
        rows[freed] = _UNKNOWN if keep_unknown else 0
        if not keep_unknown:
            remarks.append(
                f'taken for free: {area:.1f} m^2 of the shade {UNKNOWN_SHADE}, which usually '
                'means unknown, because free_thresh makes it free; --keep-unknown keeps it '
                'unknown')
    # A picture begins with its upper row.
    return MapFile(Map(resolution, rows.shape[1], rows.shape[0], Pose(x, y, wrapped(yaw)),
                       rows[::-1].ravel()), tuple(remarks))


def _check_pillow() -> None:
    """Raise FileError if the package is missing, which is no fault of any file."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise FileError(INSTALL) from None


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):    # ValueError of a name that has a NUL
        return False


def _number(entry: Entry, what: str, least: float, most: float) -> float:
    """Return a number as nav2 reads one: in quotes, and with an exponent but no point, too."""
    value = entry.scalar(what)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if type(value) not in (int, float) or not least <= value <= most:
        raise entry.unexpected(what)
    return float(value)


def _origin(keys: Keys) -> list[float]:
    what = 'x, y and yaw of the lower left corner in m and rad, a list of 3 numbers'
    entry = keys.required('origin', what)
    found = entry.sequence(what)
    if len(found) != 3:
        raise entry.error(f'found {len(found)} numbers, expected {what}')
    return [_number(item, what, -most, most)
            for item, most in zip(found, (FARTHEST, FARTHEST, _ANGLE))]


def _mode(keys: Keys) -> _Occupancy:
    """Return what makes occupancy of shades of grey and opacity, each from 0 to 1."""
    mode = 'trinary'
    if 'mode' in keys:
        entry = keys['mode'][1]
        mode = entry.text('one of ' + ', '.join(MODES)).lower()
        if mode not in MODES:
            raise entry.unexpected('one of ' + ', '.join(MODES))
    free, occupied = (_number(keys.required(name, what), what, 0, 1) for name, what in (
        ('free_thresh', 'a number from 0 to 1 below which a pixel is free'),
        ('occupied_thresh', 'a number from 0 to 1 above which a pixel is occupied')))
    if free >= occupied:
        raise keys['occupied_thresh'][1].unexpected(f'more than free_thresh, which is {free:g}')
    negate = _negate(keys)

    def occupancy_of(shades: _Shades, opacity: _Shades | None) -> NDArray[np.int8]:
        if mode == 'raw':
            value = np.round(shades * 255)
            return np.where(value <= LETHAL, value, _UNKNOWN).astype(np.int8)
        unknown_shade = np.abs(shades * 255 - UNKNOWN_SHADE) < 0.25
        if mode == 'trinary' and opacity is not None:    # as nav2 has it, a fourth colour
            shades = (3 * shades + opacity) / 4
        taken = shades if negate else 1 - shades
        between = (np.rint((taken - free) / (occupied - free) * 100) if mode == 'scale'
                   else np.float64(_UNKNOWN))
        value = np.where(taken > occupied, LETHAL, np.where(taken < free, 0, between))
        if mode == 'scale' and opacity is not None:
            value = np.where(opacity < 1, _UNKNOWN, value)
        if mode == 'trinary':
            value = np.where(unknown_shade & (value == 0), _FREED, value)
        return value.astype(np.int8)

    return occupancy_of


def _negate(keys: Keys) -> bool:
    what = '0 or 1, for whether white is occupied'
    entry = keys.required('negate', what)
    value: Any = entry.scalar(what)
    if isinstance(value, str):
        text = value.strip().lower()
        value = _TRUTH.get(text, int(text) if text in ('0', '1') else value)
    if type(value) not in (bool, int) or value not in (0, 1):
        raise entry.unexpected(what)
    return bool(value)


def _picture(path: Path, occupancy_of: _Occupancy) -> NDArray[np.int8]:
    """Return the occupancy of each pixel of a picture, the upper row first; or FileError."""
    from PIL import Image as pictures
    with open_regular(path, 'picture', MOST_BYTES) as file:
        try:
            with pictures.open(file, formats=FORMATS) as image:
                width, height = image.size
                if width * height > MOST_PIXELS:
                    raise FileError(f'{path}: found {width} x {height} pixels, expected at most '
                                    f'{MOST_PIXELS:,} in all')
                return _read(image, occupancy_of)
        except FileError:
            raise
        # Pillow raises errors of many kinds for files that are damaged or are no pictures.
        except Exception as error:
            raise FileError(f'{path}: cannot be read ({error}), expected a picture: pgm, ppm, '
                            'pbm, png, bmp or jpeg') from None


def _read(image: Image, occupancy_of: _Occupancy) -> NDArray[np.int8]:
    """Return the occupancy of each pixel, some rows at a time, which bounds the memory."""
    width, height = image.size
    found = np.empty((height, width), np.int8)
    image.load()
    if image.mode == '1':
        image = image.convert('L')
    table = None
    if image.mode == 'L' and 'transparency' not in image.info:    # of 256 shades, each once
        table = occupancy_of(np.arange(256)[np.newaxis] / 255, None)[0]
    for first, last in blocks(height, width):
        part = image.crop((0, first, width, last))
        found[first:last] = occupancy_of(*_shades(part)) if table is None else table[
            np.asarray(part)]
    return found


def _shades(image: Image) -> tuple[_Shades, _Shades | None]:
    """Return the mean of the colours of each pixel, and its opacity if the picture has any."""
    if image.mode.startswith('I'):    # 16 bits of grey
        return np.asarray(image, np.float64) / 65535, None
    clear = image.mode in ('LA', 'PA', 'RGBA') or 'transparency' in image.info
    pixels = np.asarray(image.convert('RGBA' if clear else 'RGB'), np.float64) / 255
    return pixels[:, :, :3].mean(axis=2), pixels[:, :, 3] if clear else None


def lethal(mask: Map, map_: Map) -> NDArray[np.bool_]:
    """Return which pixels of a map have something of what a filter mask keeps robots out of."""
    kept_out = mask.pixel_rows >= LETHAL
    there = np.zeros((map_.height, map_.width), np.bool_)
    for first, last in blocks(map_.height, map_.width):
        part = np.ones((last - first, map_.width), np.bool_)
        columns, rows, inside = _pixels(mask, _centres(map_, part, first))
        part.ravel()[~inside] = False
        part.ravel()[inside] = kept_out[rows[inside], columns[inside]]
        there[first:last] = part
    for first, last in blocks(mask.height, mask.width):    # of a mask whose pixels are smaller
        columns, rows, inside = _pixels(map_, _centres(mask, kept_out[first:last], first))
        there[rows[inside], columns[inside]] = True
    return there


def _centres(map_: Map, wanted: NDArray[np.bool_], first: int) -> Points:
    """Return the centres of some pixels in m, of a block of rows from ``first`` on."""
    return map_.points(np.argwhere(wanted)[:, ::-1] + (0.5, first + 0.5))


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
    :raises OSError: if one cannot be written, or is a link.
    """
    picture = path.with_suffix('.pgm')
    shades = np.where(kept_out[::-1], 0, 254).astype(np.uint8)    # as map_saver_cli does
    write_whole(picture, f'P5\n{map_.width} {map_.height}\n255\n'.encode() + shades.tobytes())
    x, y, yaw = map_.origin
    write_whole(
        path, f'image: {picture.name}\nmode: trinary\nresolution: {map_.resolution:g}\n'
        f'origin: [{x:g}, {y:g}, {yaw:g}]\nnegate: 0\noccupied_thresh: 0.65\n'
        'free_thresh: 0.25\n')
    return picture
