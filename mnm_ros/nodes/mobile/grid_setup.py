# SPDX-License-Identifier: Apache-2.0

"""The joint meaning of the parameters of ``grid_driver``, and what it says about its cells."""

from __future__ import annotations

from collections.abc import Sequence

from mnm_ros.core.errors import ParameterError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.description_entries import MAX_STATES
from mnm_ros.driving.grid import Grid, OUTSIDE, QUARTER, Ways
from mnm_ros.driving.maneuvers import successors, target
from mnm_ros.driving.pose import Pose, wrapped
from mnm_ros.parameters import Parameters
from mnm_ros.plan.floor_plan import by_number, Plan, walls
from mnm_ros.robot_description import RobotDescription

_HEADINGS = ('east', 'north', 'west', 'south')


def take(plan: Plan, given: Parameters) -> None:
    """Give the parameters of ``grid_driver`` the values of a plan."""
    grid, home = plan.grid, plan.home
    given.take({
        'cell_size': grid.cell_size, 'origin_x': grid.origin_x, 'origin_y': grid.origin_y,
        'grid_yaw': grid.yaw, 'columns': grid.columns, 'rows': grid.rows, 'home_x': home.x,
        'home_y': home.y, 'home_yaw': home.yaw,
        'robot_radius': given['robot_radius'] or plan.ways_radius}, str(plan.path))


def grid_of(given: Parameters) -> Grid:
    """Return the grid of cells."""
    return Grid(*(given[name] for name in (
        'origin_x', 'origin_y', 'cell_size', 'columns', 'rows', 'with_heading', 'grid_yaw')))


def home_of(given: Parameters) -> Pose:
    """Return the home pose."""
    return Pose(given['home_x'], given['home_y'], given['home_yaw'])


def check_grid(given: Parameters) -> None:
    """Raise ParameterError if values that are allowed do not fit the grid."""
    grid, home = grid_of(given), home_of(given)
    cell = grid.cell_at(home.x, home.y)
    if cell is None:
        raise ParameterError(
            f"parameters 'home_x', 'home_y' are {home.x:g}, {home.y:g}, expected a point of the "
            f'grid, whose corners are {grid.origin_x:g}, {grid.origin_y:g} and '
            f'{grid.origin_x + grid.columns * grid.cell_size:g}, '
            f'{grid.origin_y + grid.rows * grid.cell_size:g}')
    _check_tolerance(given, 'tolerance', -grid.distance_beyond(cell, home.x, home.y),
                     grid.cell_size, 'home has to be so near to the centre of its cell')
    if grid.with_heading:
        off = abs(wrapped(home.yaw - grid.yaw_of(grid.heading_at(home.yaw))))
        _check_tolerance(given, 'heading_tolerance', QUARTER / 2 - off, QUARTER,
                         'home_yaw has to be so near to a heading of the grid')
    if given['moves'] == 'relative' and not given['with_heading']:
        raise ParameterError(
            "parameter 'moves' is 'relative', expected compass unless with_heading is true")
    if given['robot_radius'] > grid.cell_size / 2:
        raise ParameterError(
            f"parameter 'robot_radius' is {given['robot_radius']:g}, expected <= "
            f'{grid.cell_size / 2:g}: a robot has to be within its cell')
    if given['declare_successors'] and _states(grid) > MAX_STATES:
        raise ParameterError(
            f"parameter 'declare_successors' is True with {_states(grid)} states, expected at "
            f'most {MAX_STATES}')


def _check_tolerance(
        given: Parameters, name: str, to_border: float, size: float, reason: str) -> None:
    """Raise ParameterError if a robot within the tolerance of home may be in another state."""
    most = to_border - given['hysteresis'] * size
    if given[name] > most:
        raise ParameterError(
            f"parameter '{name}' is {given[name]:g}, expected <= {most:g}: {reason}, and "
            'hysteresis so small, that the robot cannot end in another state')


def _states(grid: Grid) -> int:
    """Return how many states there are, that outside of the grid included."""
    return grid.columns * grid.rows * (4 if grid.with_heading else 1) + 1


def describe(ways: Ways, actions: Sequence[str], home: int, frame: str,
             declaring: bool = False, plan: Plan | None = None) -> RobotDescription:
    """
    Return names and centres of cells, unless these are too many.

    :param ways: the moves between cells, with or without a heading.
    :param actions: names of the moves.
    :param home: the state of the home pose.
    :param frame: of the poses.
    :param declaring: whether to say where the moves may lead, too.
    :param plan: whose names and walls to publish.
    """
    grid = ways.grid
    if _states(grid) > MAX_STATES:
        return RobotDescription(tuple(actions), home, frame)
    headings = _HEADINGS if grid.with_heading else ('',)
    names, positions = {OUTSIDE: 'outside'}, {}
    for cell in range(grid.columns * grid.rows):
        called = plan.cell_names[cell] if plan is not None else by_number(grid, cell)
        for heading, name in enumerate(headings):
            state = grid.state(cell, heading)
            names[state] = f'{called} {name}'.rstrip()
            positions[state] = grid.centre(cell)
    declaration = Declaration(successors(ways, actions)) if declaring else Declaration()
    return RobotDescription(
        tuple(actions), home, frame, names, positions,
        () if plan is None else walls(plan.map), declaration,
        {} if plan is None else _doors(ways, actions, plan),
        {} if plan is None else _rooms(grid, plan))


def _rooms(grid: Grid, plan: Plan) -> dict[str, tuple[int, ...]]:
    """Return the states within reach of home in each room."""
    found: dict[str, list[int]] = {}
    for cell in sorted(plan.reached):
        room = plan.room_at(grid.centre(cell))
        if room is not None:
            found.setdefault(room, []).extend(
                grid.state(cell, heading) for heading in range(4 if grid.with_heading else 1))
    return {room: tuple(states) for room, states in found.items()}


def _doors(ways: Ways, actions: Sequence[str], plan: Plan) -> dict[str, tuple[Pair, ...]]:
    """Return the states and actions that lead through each door."""
    grid, found = ways.grid, {}
    for door in plan.doors:
        through = {*plan.through(door)}
        found[door] = tuple(
            (grid.state(cell, heading), number)
            for cell in sorted({cell for cell, _ in through if cell is not None})
            for heading in range(4 if grid.with_heading else 1)
            for number, action in enumerate(actions)
            if (there := target(ways, action, cell, heading)[0]) != cell
            and (cell, there) in through)
    return found
