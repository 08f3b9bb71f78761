# SPDX-License-Identifier: Apache-2.0

"""``mnm_ros map``: make a place graph or a floor plan of a map of nav2, or check a plan."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import math
from pathlib import Path
import sys

from mnm_ros.console.arguments import add_language, explained, number, Parser
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.pose import Pose
from mnm_ros.files import user_path
from mnm_ros.plan.request import LEAST_SPACING, Request, SIZES, Wishes

EPILOG = """\
By default it writes a place graph, as GeoJSON that nav2's tools edit and mnm_ros explore explores,
and its picture. With --cells it writes a plan, its picture, and parameters for a TurtleBot. To
check and draw an edited file: mnm_ros map flat.yaml --graph flat.geojson, or mnm_ros map
flat.plan.yaml. The exit status is 1 if nothing could be explored. All lengths are in m, in the
frame of the map.
"""

_OF_CELLS = ('cell', 'yaw', 'specks', 'radius', 'battery')
"""Arguments that only a plan with cells has."""

_OF_PLACES = ('spacing', 'graph')
"""Arguments that only a place graph has."""

_OF_NEW_PLACES = ('home', 'spacing', 'output')
"""Arguments that only a place graph has that is made."""


def main(arguments: Sequence[str], program: str) -> int:
    """Write a place graph or a plan, or check a plan; 1 if it is of no use."""
    given = _parser(program).parse_args(list(arguments))
    from mnm_ros.places.graph_file import GEOJSON
    try:
        if given.file.suffix in GEOJSON:
            raise InvalidValueError(f'{given.file} is a route graph, expected a map or a plan; '
                                    'mnm_ros explore takes route graphs as they are, and --graph '
                                    'after the map of one checks and edits it')
        from mnm_ros.plan.plan_file import is_plan
        a_plan = is_plan(given.file)
        _check_kind(given, a_plan or given.cells)
        port = 8080 if given.port is None else given.port
        if not a_plan and not given.cells:
            return _places(given, port)
        from mnm_ros.command.floor_plan import check, write
        wishes = Wishes(given.write_mask, **{name: value for name in ('radius', 'battery') if (
            value := getattr(given, name)) is not None})
        if a_plan:
            path = given.file
            plan, fatal = check(path, wishes)
        else:
            path = Path(given.output or given.file.with_suffix('.plan.yaml').name)
            plan, fatal = write(_request(given), path, wishes, given.overwrite)
        if given.page:
            from mnm_ros.command.plan_page import serve_plan
            serve_plan(plan, path, given.file.name, wishes, port, given.language)
            return 0
    except (OSError, InvalidValueError) as error:
        print(f'{program}: {error}', file=sys.stderr)
        return 1
    return int(fatal)


def _places(given: argparse.Namespace, port: int) -> int:
    """Write a place graph, or check one; 1 if it is of no use."""
    from mnm_ros.command.place_graph import check, write
    request, fatal = _request(given), False
    if given.graph:
        made, fatal = check(request, given.graph, given.write_mask, given.overwrite)
    else:
        made = write(request, given.output or Path(given.file.with_suffix('.geojson').name),
                     given.write_mask, given.overwrite)
    if given.page:
        from mnm_ros.command.plan_page import serve_places
        serve_places(made, port, given.language)
        return 0
    return int(fatal)


def _parser(program: str) -> Parser:
    made = Parser(prog=program, epilog=EPILOG,
                  description='Make a place graph of a map of nav2 (places in every room, the '
                  'ways between them, doors), or a plan with cells; or check a plan.')
    defaults = Request(Path())
    add = made.add_argument
    add('file', type=_path, metavar='FILE', help='a map of nav2 (.yaml), or a plan')
    add('--output', type=_path, metavar='FILE',
        help='file to write (default: in the current folder, the name of FILE with .geojson, or '
        'with --cells .plan.yaml)')
    add('--cells', action='store_true',
        help='make a plan with square cells in place of a place graph')
    add('--spacing', type=_spacing, metavar='M',
        help=f'distance between places of a graph (default {defaults.spacing:g})')
    add('--graph', type=_path, metavar='FILE',
        help='check and draw an existing place graph on its map, with the options with which the '
        'graph was made')
    add('--overwrite', action='store_true', help='replace existing files')
    add('--home', nargs='+', type=float, metavar=('X', 'Y'),
        help='the place where RESET leads, and its heading in degrees (default: the place with '
        'most room, heading 0)')
    add('--keep-unknown', action='store_true',
        help='pixels of the shade 205 stay unknown, even if free_thresh makes them free')
    add('--robot-radius', type=_positive, default=defaults.robot_radius, metavar='M',
        help='radius of the robot (default %(default)s, a TurtleBot 4; a Burger has 0.105)')
    add('--clearance', type=_least_zero, default=defaults.clearance, metavar='M',
        help='distance of ways to walls besides the radius (default %(default)s)')
    add('--cell', nargs='+', type=_positive, metavar='M',
        help='side of a cell, or several to choose from (with --cells; default: '
        f'{" ".join(f"{size:g}" for size in SIZES)})')
    add('--yaw', type=_angle, metavar='DEG',
        help='rotation of the grid (with --cells; default: 0, or parallel to most walls)')
    add('--specks', nargs=2, type=_least_zero, metavar=('M2', 'M2'),
        help='largest area of an unknown and of an occupied speck that count as free; the command '
        'lists these specks (with --cells; default '
        f'{defaults.specks[0]:g} {defaults.specks[1]:g})')
    add('--door-width', type=_positive, default=defaults.door_width, metavar='M',
        help='largest width of an opening between rooms that counts as a door (default '
             '%(default)s)')
    add('--room', nargs=3, action='append', default=[], metavar=('NAME', 'X', 'Y'),
        help='name of the room at a point; repeatable')
    add('--door', nargs=5, action='append', default=[], metavar=('NAME', 'X', 'Y', 'X2', 'Y2'),
        help='a line from wall to wall; it replaces the search for doors; repeatable')
    add('--keep-out', nargs='+', action='append', default=[], metavar=('NAME', 'X Y'),
        help='a polygon of three corners or more; repeatable')
    add('--mask', type=_path, metavar='FILE', help='a keep-out filter mask of nav2 (.yaml)')
    add('--write-mask', type=_path, metavar='FILE',
        help='write the keep-outs as such a mask, and its picture (.pgm)')
    add('--page', action='store_true',
        help='afterwards, serve a page on which you edit and save the place graph or the plan')
    add('--port', type=int, metavar='N',
        help='port of the page; 0 for any that is free (default 8080)')
    add_language(made, 'a page that asks for none in its address, as with ?language=de')
    add('--radius', type=_radius, metavar='L',
        help='learn the cells within this many expected moves (with --cells; default '
        f'{Wishes.radius:g})')
    add('--battery', type=_positive, metavar='H',
        help='hours that the robot drives with one charge (with --cells; default '
        f'{Wishes.battery:g})')
    return made


def _check_kind(given: argparse.Namespace, cells: bool) -> None:
    """Raise InvalidValueError for an argument that what is made has no use for."""
    others, reason = (
        (_OF_PLACES, 'only allowed for a place graph, hence without --cells') if cells
        else (_OF_CELLS, 'only allowed with --cells'))
    if given.graph and not cells:
        others, reason = (*others, *_OF_NEW_PLACES), 'not allowed with --graph'
    for name in others:
        if getattr(given, name) is not None:
            raise InvalidValueError(f'argument --{name}: {reason}')


def _request(given: argparse.Namespace) -> Request:
    """Return what is asked for; InvalidValueError if arguments have the wrong form."""
    from mnm_ros.plan.plan_file import MOST_POINTS
    rooms, doors = _things(given.room, '--room'), _things(given.door, '--door')
    keep_outs = {name: _polygon(name, numbers) for name, numbers in _things(
        given.keep_out, '--keep-out').items()}
    count = sum(map(len, keep_outs.values()))
    if count > MOST_POINTS:
        raise InvalidValueError(f'argument --keep-out: {count:,} corners, expected at most '
                                f'{MOST_POINTS:,} in all')
    return Request(
        given.file, _home(given.home),
        given.robot_radius, given.clearance, tuple(sorted(given.cell or SIZES, reverse=True)),
        None if given.yaw is None else math.radians(given.yaw),
        tuple(given.specks or Request.specks), given.door_width,
        rooms={name: (x, y) for name, (x, y) in rooms.items()},
        doors={name: ((x, y), (to_x, to_y)) for name, (x, y, to_x, to_y) in doors.items()},
        keep_outs=keep_outs, mask=given.mask, keep_unknown=given.keep_unknown,
        spacing=Request.spacing if given.spacing is None else given.spacing)


def _home(given: Sequence[float] | None) -> Pose | None:
    if given is None:
        return None
    if not 2 <= len(given) <= 3:
        raise InvalidValueError(f'argument --home: {len(given)} numbers, expected X Y or X Y DEG')
    x, y, turned = [*(_number('--home', str(each)) for each in given), 0.0][:3]
    return Pose(x, y, math.remainder(math.radians(turned), math.tau))


def _things(given: Sequence[Sequence[str]], option: str) -> dict[str, list[float]]:
    """Return the numbers of rooms, doors or keep-outs by their names."""
    from mnm_ros.language import ENGLISH, phrase
    from mnm_ros.plan.plan_file import is_name, MOST_THINGS
    found: dict[str, list[float]] = {}
    for name, *numbers in given:
        if not is_name(name):
            raise InvalidValueError(f'argument {option}: {name!r}, '
                                    f'expected {phrase("expected.name", ENGLISH)}')
        if name in found:
            raise InvalidValueError(f"argument {option}: '{name}' twice, expected distinct names")
        found[name] = [_number(option, each) for each in numbers]
    if len(found) > MOST_THINGS:
        raise InvalidValueError(f'argument {option}: {len(found):,} of them, expected at most '
                                f'{MOST_THINGS:,}')
    return found


def _polygon(name: str, numbers: Sequence[float]) -> tuple[tuple[float, float], ...]:
    if len(numbers) < 6 or len(numbers) % 2:
        raise InvalidValueError(f"argument --keep-out: '{name}' has {len(numbers)} numbers, "
                                'expected X and Y of at least 3 corners')
    return tuple(zip(numbers[::2], numbers[1::2]))


def _number(option: str, text: str) -> float:
    from mnm_ros.driving.grid import FARTHEST
    value = number(text)
    if not abs(value) <= FARTHEST:
        raise InvalidValueError(f"argument {option}: '{text}', expected a number from "
                                f'{-FARTHEST:g} to {FARTHEST:g}')
    return value


def _path(text: str) -> Path:
    return explained(user_path, text)


def _angle(text: str) -> float:
    return _in_range(text, 'a number of at least -360', -360.0)


def _positive(text: str) -> float:
    return _in_range(text, 'a number above 0', 1e-6)


def _spacing(text: str) -> float:
    return _in_range(text, f'a number of at least {LEAST_SPACING:g}', LEAST_SPACING)


def _least_zero(text: str) -> float:
    return _in_range(text, 'a number of at least 0', 0.0)


def _radius(text: str) -> float:
    return _in_range(text, 'a number of at least 1', 1.0)


def _in_range(text: str, expected: str, least: float) -> float:
    value = number(text)
    if not least <= value < math.inf:
        raise argparse.ArgumentTypeError(f'{text!r}, expected {expected}')
    return value
