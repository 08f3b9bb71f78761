# SPDX-License-Identifier: Apache-2.0

"""
The map of states as shapes: states, arrows, walls, in layers that change at different times.

Lengths are those between neighbours, y grows downwards, and everything that is written fits into
what it is written on, so that nothing overlaps however large the picture is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
import math
from typing import Any

from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.view import scene
from mnm_ros.view.heard import Heard
from mnm_ros.view.web.places import Disc, Places

Layers = dict[str, Any]
"""By the name of a layer, what is in it, ready for JSON."""

_MARGIN = 0.3
_LEAST = 0.02      # probability below which a transition is no arrow
_HEAD = 0.13       # of an arrow
_RING = 1.17       # of a state in which there is a robot, times its radius
_ASIDE = 0.09      # how far an arrow is beside the line between two states


def draw(heard: Heard, places: Places) -> Layers:
    """Return the layers of the map, without those of a policy."""
    shown = scene.kinds(heard)
    where = places.update(heard, shown)
    shown = {state: kind for state, kind in shown.items() if state in where}
    return {
        'box': _box(heard, places, [where[state] for state in shown]),
        'placed': places.placed,
        'ground': _ground(heard, places),
        'walls': _walls(heard, places),
        'links': list(_links(heard, where)),
        'states': [[str(state), *_rounded(where[state]), kind, _short(heard, state),
                    heard.description.label(state)] for state, kind in shown.items()],
        'home': _spot(heard.home, where),
        'current': [spot for state in heard.occupied if (spot := _spot(state, where))],
        'robots': list(_robots(heard, where)),
        'robot': _robot(heard, places),
    }


def policy_arrows(
        heard: Heard, policy: Policy, where: Mapping[int, Disc]) -> dict[str, list[Any]]:
    """
    Return what a policy does first in each state.

    There is an arrow to where its action most often leads; of a RESET, which would lead across the
    whole map, only the place.
    """
    arrows: list[Any] = []
    resets: list[Any] = []
    for state, action, likely in scene.steps(heard, policy):
        if state not in where:
            continue
        if action == RESET:
            resets.append([*_rounded(where[state])])
        elif likely is not None and likely in where and likely != state:
            arrows.append([_arrow(where[state], where[likely], 0.0), 1.0,
                           heard.description.action_name(action)])
    return {'arrows': arrows, 'resets': resets}


def _links(heard: Heard, where: Mapping[int, Disc]) -> Iterator[list[Any]]:
    """Yield an arrow for each two states that an action leads between: path, weight, words."""
    said = heard.description
    strongest = {
        (state, after): found for state in heard.counts
        for after, found in scene.links(heard, state).items() if found[0] >= _LEAST}
    for (state, after), (share, action) in sorted(strongest.items()):
        if state in where and after in where:
            aside = _ASIDE if (after, state) in strongest else 0.0
            yield [_arrow(where[state], where[after], aside), round(share, 2),
                   f'{said.label(state)}: {said.action_name(action)} leads to '
                   f'{said.label(after)} in {share:.0%}']


def _arrow(begin: Disc, end: Disc, aside: float) -> str:
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


def _short(heard: Heard, state: int) -> str:
    """Return what is written on a state: its name if that is short, else its id."""
    name = heard.description.names.get(state, '')
    if 0 < len(name) <= 5:
        return name
    text = str(state)
    return text if len(text) <= 6 else f'\u2026{text[-4:]}'


def _spot(state: int | None, where: Mapping[int, Disc]) -> list[float] | None:
    return None if state is None or state not in where else [*_rounded(where[state])]


def _robots(heard: Heard, where: Mapping[int, Disc]) -> Iterator[list[Any]]:
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
            yield [*(round(value, 3) for value in (
                x + ring * math.cos(turn), y + ring * math.sin(turn), spot)), name]


def _walls(heard: Heard, places: Places) -> str:
    """Return all walls as one path."""
    if not places.placed:
        return ''
    return ''.join(
        'M{} {}L{} {}'.format(*map(_n, (*places.point(x1, y1), *places.point(x2, y2))))
        for x1, y1, x2, y2 in heard.description.walls)


def _ground(heard: Heard, places: Places) -> dict[str, Any] | None:
    """Return the map under the states, and the doors."""
    ground = heard.ground
    if not places.placed or not (ground.image or ground.doors):
        return None
    left, top = places.point(ground.corner[0], ground.corner[1] + ground.size[1])
    side = ground.door_size / places.unit
    return {
        'image': ground.image, 'x': round(left, 3), 'y': round(top, 3),
        'width': round(ground.size[0] / places.unit, 3),
        'height': round(ground.size[1] / places.unit, 3),
        'doors': [[round(x - side / 2, 3), round(y - side / 2, 3), round(side, 3), is_open]
                  for door_x, door_y, is_open in ground.doors
                  for x, y in [places.point(door_x, door_y)]]}


def _robot(heard: Heard, places: Places) -> list[float] | None:
    if not places.placed or heard.pose is None:
        return None
    x, y, yaw = heard.pose
    return [round(value, 2) for value in (*places.point(x, y), -math.degrees(yaw))]


def _box(heard: Heard, places: Places, shown: Sequence[Disc]) -> list[float]:
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
