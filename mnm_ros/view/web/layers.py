# SPDX-License-Identifier: Apache-2.0

"""
The map of states as shapes: states, arrows, walls, in layers that change at different times.

Lengths are those between neighbours, y grows downwards, and everything that is written fits into
what it is written on, so that nothing overlaps however large the picture is shown.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
import math
import struct
import time
from typing import Any, NamedTuple
import zlib

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.description_entries import Point
from mnm_ros.robot_description import RobotDescription, spacing, UNDESCRIBED
from mnm_ros.view import scene
from mnm_ros.view.layout import Layout
from mnm_ros.view.telemetry import Telemetry
import numpy as np

Layers = dict[str, Any]
"""By the name of a layer, what is in it, ready for JSON."""

_MARGIN = 0.3
_LEAST = 0.02      # probability below which a transition is no arrow
_HEAD = 0.13       # of an arrow
_RING = 1.17       # of a state in which there is a robot, times its radius
_WRITTEN = 8       # characters of a name on a state
_ASIDE = 0.09      # how far an arrow is beside the line between two states
_DOOR = 0.3         # side of a door of which no size is published


LEGEND = ('known', 'doubted', 'certified', 'candidate', 'assumed', 'lost', 'beyond', 'met', 'home',
          'current', 'one', 'pose', 'link', 'way', 'reset', 'open', 'closed')
"""The kinds of things on the map; the table has their names under ``kinds`` and ``legend``."""


def on_the_map(layers: Layers) -> set[str]:
    """Return which things of the legend there are, the policy among the layers."""
    doors = {is_open for *_, is_open in (layers['ground'] or {}).get('doors', ())}
    policy = layers['policy'] or {}
    there = {
        'home': layers['home'], 'current': layers['current'], 'one': layers['robots'],
        'pose': layers['robot'], 'link': layers['links'], 'way': policy.get('arrows'),
        'reset': policy.get('resets'), 'open': True in doors, 'closed': False in doors}
    return {entry[4] for entry in layers['states']} | {name for name in there if there[name]}


def draw(heard: Telemetry, places: Places, still: bool = False) -> Layers:
    """
    Return the layers of the map, without those of a policy.

    :param still: of the past: no place of a state changes.
    """
    shown = scene.kinds(heard)
    where = places.of(shown) if still else places.update(heard, shown)
    shown = {state: kind for state, kind in shown.items() if state in where}
    return {
        'box': _box(heard, places, [where[state] for state in shown]),
        'placed': places.placed,
        'ground': _ground(heard, places),
        'walls': _walls(heard, places),
        'links': list(_links(heard, where)),
        'states': [[str(state), *_rounded(where[state]), kind, _short(heard, state),
                    heard.description.name(state)] for state, kind in shown.items()],
        'home': _spot(heard.home, where),
        'current': [spot for state in heard.occupied if (spot := _spot(state, where))],
        'robots': list(_robots(heard, where)),
        'robot': _robot(heard, places),
    }


def policy_arrows(
        heard: Telemetry, policy: Policy, where: Mapping[int, Disc]) -> dict[str, list[Any]]:
    """
    Return what a policy does first in each state.

    There is an arrow to where its action most often leads; of a RESET, which would lead across the
    whole map, only the place.
    """
    arrows: list[Any] = []
    resets: list[Any] = []
    for state, action, likely in scene.steps(heard.knowledge, policy):
        if state not in where:
            continue
        if action == RESET:
            resets.append([*_rounded(where[state])])
        elif likely is not None and likely in where and likely != state:
            arrows.append([arrow(where[state], where[likely], 0.0), 1.0,
                           heard.description.action_name(action, state)])
    return {'arrows': arrows, 'resets': resets}


def _links(heard: Telemetry, where: Mapping[int, Disc]) -> Iterator[list[Any]]:
    """Yield an arrow for each two states that an action leads between: path, weight, words."""
    said = heard.description
    strongest = {
        (state, after): found for state in heard.counts
        for after, found in scene.links(heard.knowledge, state).items() if found[0] >= _LEAST}
    for (state, after), (share, action) in sorted(strongest.items()):
        if state in where and after in where:
            aside = _ASIDE if (after, state) in strongest else 0.0
            yield [arrow(where[state], where[after], aside), round(share, 2),
                   f'{said.name(state)}: {said.action_name(action, state)} \u2192 '
                   f'{said.name(after)}, {share:.0%}']


def arrow(begin: Disc, end: Disc, aside: float) -> str:
    """Return the path of an arrow between the rims of two states, a little to its left."""
    dx, dy = end.x - begin.x, end.y - begin.y
    length = math.hypot(dx, dy) or 1e-9
    dx, dy = dx / length, dy / length
    aside = min(aside, 0.6 * begin.radius, 0.6 * end.radius)
    x, y = begin.x + aside * dy, begin.y - aside * dx
    start = math.sqrt(begin.radius ** 2 - aside ** 2)
    stop = max(length - math.sqrt(end.radius ** 2 - aside ** 2) - 0.02, start)
    head = min(_HEAD, 0.4 * (stop - start))
    tip_x, tip_y = x + stop * dx, y + stop * dy
    back_x, back_y = tip_x - head * dx, tip_y - head * dy
    half = 0.6 * head
    return (f'M{_n(x + start * dx)} {_n(y + start * dy)}L{_n(tip_x)} {_n(tip_y)}'
            f'M{_n(back_x - half * dy)} {_n(back_y + half * dx)}L{_n(tip_x)} {_n(tip_y)}'
            f'L{_n(back_x + half * dy)} {_n(back_y - half * dx)}')


def _n(value: float) -> str:
    return f'{value:.2f}'.rstrip('0').rstrip('.')


def _rounded(place: Disc) -> tuple[float, ...]:
    return tuple(round(value, 2) for value in place)


def _short(heard: Telemetry, state: int) -> str:
    """Return what is written on a state: its name if it has one of its own, else its id."""
    name = heard.description.name(state)
    if name == heard.description.names.get(state):
        return name if len(name) <= _WRITTEN else f'{name[:_WRITTEN - 1]}\u2026'
    text = str(state)
    return text if len(text) <= 6 else f'\u2026{text[-4:]}'


def _spot(state: int | None, where: Mapping[int, Disc]) -> list[float] | None:
    return None if state is None or state not in where else [*_rounded(where[state])]


def _robots(heard: Telemetry, where: Mapping[int, Disc]) -> Iterator[list[Any]]:
    """Yield a spot for each of several robots, side by side on the ring of its state."""
    together: dict[int, list[str]] = {}
    for robot in heard.robots:
        if robot.place is not None and robot.place in where:
            together.setdefault(robot.place, []).append(robot.name)
    for state, names in together.items():
        x, y, radius = where[state]
        ring = _RING * radius
        apart = min(0.7, math.tau / len(names))
        spot = min(0.34 * radius, 0.45 * apart * ring)
        for index, name in enumerate(names):
            # From the bottom, as home and RESET are marked above.
            turn = math.pi / 2 - apart * (index - (len(names) - 1) / 2)
            aside = math.cos(turn)
            side = (aside > 0.01) - (aside < -0.01)    # of the spot, where its name stands
            yield [*(round(value, 3) for value in (
                x + ring * math.cos(turn), y + ring * math.sin(turn), spot)), side, name]


def _walls(heard: Telemetry, places: Places) -> str:
    """Return all walls as one path."""
    if not places.placed:
        return ''
    return ''.join(
        'M{} {}L{} {}'.format(*map(_n, (*places.point(x1, y1), *places.point(x2, y2))))
        for x1, y1, x2, y2 in heard.description.walls)


def _doors(heard: Telemetry) -> tuple[tuple[float, float, bool], ...]:
    """Return the doors of a simulator, else those that were seen; closed if that was noticed."""
    seen, ground = scene.doors(heard), heard.ground
    if not ground.doors:
        return seen
    closed = [(x, y) for x, y, is_open in seen if not is_open]
    return tuple((x, y, is_open and all(
        math.hypot(x - at_x, y - at_y) > ground.door_size for at_x, at_y in closed))
        for x, y, is_open in ground.doors)


def _ground(heard: Telemetry, places: Places) -> dict[str, Any] | None:
    """Return the map under the states, and the doors."""
    ground = heard.ground
    doors = _doors(heard)
    if not places.placed or not (ground.image or doors):
        return None
    left, top = places.point(ground.corner[0], ground.corner[1] + ground.size[1])
    side = ground.door_size / places.unit or _DOOR
    return {
        'image': ground.image, 'x': round(left, 3), 'y': round(top, 3),
        'width': round(ground.size[0] / places.unit, 3),
        'height': round(ground.size[1] / places.unit, 3),
        'doors': [[round(x - side / 2, 3), round(y - side / 2, 3), round(side, 3), is_open]
                  for door_x, door_y, is_open in doors
                  for x, y in [places.point(door_x, door_y)]]}


def _robot(heard: Telemetry, places: Places) -> list[float] | None:
    if not places.placed or heard.pose is None:
        return None
    x, y, yaw = heard.pose
    return [round(value, 2) for value in (*places.point(x, y), -math.degrees(yaw))]


def _box(heard: Telemetry, places: Places, shown: Sequence[Disc]) -> list[float]:
    """Return left, top, width and height of everything."""
    corners: list[tuple[float, float]] = [
        corner for x, y, radius in shown
        for corner in ((x - radius, y - radius), (x + radius, y + radius))]
    if places.placed:
        corners += [places.point(x, y) for wall in heard.description.walls
                    for x, y in (wall[:2], wall[2:])]
        ground = heard.ground
        if ground.image:
            corners += [places.point(*ground.corner), places.point(
                ground.corner[0] + ground.size[0], ground.corner[1] + ground.size[1])]
    return _around(corners or [(-1.0, -1.0), (1.0, 1.0)])


def _around(corners: Iterable[tuple[float, float]]) -> list[float]:
    across, down = zip(*corners)
    left, top = min(across) - _MARGIN, min(down) - _MARGIN
    width, height = max(across) + _MARGIN - left, max(down) + _MARGIN - top
    # One state alone is not to fill the page.
    more_x, more_y = max(0.0, 4.0 - width) / 2, max(0.0, 3.0 - height) / 2
    return [round(value, 2) for value in (
        left - more_x, top - more_y, width + 2 * more_x, height + 2 * more_y)]


_ROUND = 0.36      # radius of a state, where neighbours are 1 from each other
_FREE = (0.14, 0.25)    # least and largest radius in a layout, which has states 0.3 apart at least
_RELAXED = 600     # states of a layout that are moved: more than the explorer has time for
_REST = 20         # times as long as a layout has taken, before the next one
_ROWS = 256        # of distances at a time: all at once, many states take gigabytes
_BESIDE = 1.2      # between states without a place below a picture of others


class Disc(NamedTuple):
    """Where a state is drawn, in lengths of the picture, y downwards, and its radius."""

    x: float
    y: float
    radius: float


class Places:
    """
    Keeps the place of each state; those that have been shown do not jump.

    :param clock: returns the time in s; a layout is made as often as takes little of it.
    :ivar unit: metres in a length of the picture.
    :ivar placed: whether the places are those of the world.
    :ivar latest: the place of each state that has one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next_layout = -math.inf
        self.unit = 1.0
        self.placed = False
        self._description = UNDESCRIBED
        self.latest: dict[int, Disc] = {}
        self._layout = Layout(_RELAXED)
        self._without: dict[int, int] = {}
        self._corner = (0.0, 0.0)

    def update(self, heard: Telemetry, shown: Iterable[int]) -> Mapping[int, Disc]:
        """Return the place of each state shown, and of each that has a place in the world."""
        description = heard.description
        if description is not self._description:
            self._follow(description)
        if not self.placed:
            return self._laid_out(heard, shown)
        for state in shown:
            if state not in self.latest:
                index = self._without.setdefault(state, len(self._without))
                self.latest[state] = Disc(
                    self._corner[0] + _BESIDE * index, self._corner[1] + _BESIDE, _ROUND)
        return self.latest

    def of(self, states: Iterable[int]) -> dict[int, Disc]:
        """Return the places of states that have been shown before, and move none."""
        if self.placed:
            return self.latest
        places = {state: place for state in states if (place := self._layout.place(state))}
        return {state: Disc(x, -y, radius) for (state, (x, y)), radius in zip(
            places.items(), _radii([*places.values()]))}

    def point(self, x: float, y: float) -> Point:
        """Return a point of the world, in m, in lengths of the picture."""
        return x / self.unit, -y / self.unit

    def _follow(self, description: RobotDescription) -> None:
        self._description, positions = description, description.positions
        self.placed = bool(positions)
        if not self.placed:
            self.unit = 1.0
            return
        self.unit = spacing(positions.values())
        self.latest = dict(_spread(positions, self.unit))
        self._without = {}
        points = [self.point(x, y) for wall in description.walls
                  for x, y in (wall[:2], wall[2:])]
        points += [place[:2] for place in self.latest.values()]
        self._corner = (min(x for x, _ in points) + 0.5, max(y for _, y in points))

    def _laid_out(self, heard: Telemetry, shown: Iterable[int]) -> Mapping[int, Disc]:
        began = self._clock()
        if began < self._next_layout:
            return self.latest
        # A state may be published before the transitions that led there are. It waits for them:
        # put anywhere, it would have a long way to its place.
        pairs = [(state, after) for state in heard.counts
                 for _, after, _ in heard.knowledge.successors(state)]
        linked = {heard.home, *chain.from_iterable(pairs)}
        shown = [state for state in shown if state in linked or state in self.latest]
        self._layout.update(shown, pairs)
        self.latest = self.of(shown)
        now = self._clock()
        self._next_layout = now + _REST * (now - began)
        return self.latest


def _radii(points: Sequence[Point]) -> list[float]:
    """Return how large each state is drawn, so that it does not reach its nearest neighbour."""
    places = np.array([complex(*point) for point in points])
    nearest = np.full(len(places), np.inf)
    for begin in range(0, len(places), _ROWS):
        distances = np.abs(places[begin:begin + _ROWS, None] - places[None])
        own = np.arange(len(distances))
        distances[own, begin + own] = np.inf
        nearest[begin:begin + _ROWS] = distances.min(axis=1)
    return [float(radius) for radius in np.clip(0.45 * nearest, *_FREE)]


def _spread(positions: Mapping[int, Point], unit: float) -> Iterable[tuple[int, Disc]]:
    """Yield a place for each state; those at one and the same point stand around it."""
    together: dict[Point, list[int]] = {}
    for state, point in positions.items():
        together.setdefault(point, []).append(state)
    for (x, y), states in together.items():
        count = len(states)
        radius = _ROUND if count == 1 else min(0.17, 0.8 / count)
        for index, state in enumerate(states):
            # Counter-clockwise from the right, as headings are counted.
            turn = math.tau * index / count
            away = 0.0 if count == 1 else 0.3
            yield state, Disc(x / unit + away * math.cos(turn), -y / unit - away * math.sin(turn),
                              radius)


_OCCUPIED = 50          # of 100, from where on a cell is a wall
_MOST_CELLS = 16_000_000
_GREY, _ALPHA = 4, 8    # PNG: greyscale with alpha, 8 bits each


def picture(cells: Any, width: int, height: int) -> str:
    """
    Return walls in grey, and the rest transparent, as a ``data:`` URL; '' if it is too large.

    :param cells: how occupied each is, row by row from the bottom; below 0 where unknown.
    """
    if not 0 < width * height <= _MOST_CELLS or len(cells) != width * height:
        return ''
    rows = np.asarray(cells, dtype=np.int8).reshape(height, width)[::-1]
    pixels = np.zeros((height, 1 + 2 * width), np.uint8)    # each row begins with its filter, 0
    pixels[:, 1::2] = 128
    pixels[:, 2::2] = np.where(rows >= _OCCUPIED, 200, 0)
    png = b''.join((
        b'\x89PNG\r\n\x1a\n',
        _chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, _ALPHA, _GREY, 0, 0, 0)),
        _chunk(b'IDAT', zlib.compress(pixels.tobytes(), 6)), _chunk(b'IEND', b'')))
    return f'data:image/png;base64,{b64encode(png).decode()}'


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
