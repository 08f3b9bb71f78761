# SPDX-License-Identifier: Apache-2.0

"""How a robot executes an action: as a maneuver, one leg after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
import math

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.driving.drive import Leg, Outcome
from mnm_ros.driving.grid import Edge, Ways
from mnm_ros.driving.measures import SteadyTrack
from mnm_ros.driving.occupancy import Point
from mnm_ros.driving.pose import Pose, wrapped

MOVES = {
    'compass': ('east', 'north', 'west', 'south'),      # to the next cell in that direction
    'relative': ('forward', 'left', 'right', 'back')}   # to the next cell, or a quarter turn
"""The names of the actions."""

_AGREEING = 3    # poses that have to say that a robot has arrived which still rolls
_LEAP = 0.15     # of a size, from one pose to the next, after which poses are not believed so soon
_DETOURS = 3     # in a row, after which an action is blocked: else it would be tried for ever


class Maneuver(ABC):
    """
    An action under way.

    :param size: of a cell, or another area in which a maneuver may end, in m.
    :ivar outcome: how the maneuver has ended.
    :ivar problem: why a way home has not led home, or that a move does not count.
    :ivar legs: state, action and next state of each move that a way home has consisted of so far,
        if these count.
    """

    outcome = Outcome.REACHED
    problem = ''
    legs: Sequence[tuple[int, int, int]] = ()

    def __init__(self, size: float) -> None:
        self._size = size
        self._inside = 0           # poses in a row that were well within the last cell
        self._track: SteadyTrack | None = None

    @abstractmethod
    def next(    # noqa: A003
            self, ended: Outcome | None, cell: int | None, pose: Pose,
            elapsed: float = 0.0) -> Leg | None:
        """
        Return the next leg, or None if the maneuver is over.

        :param ended: how the last leg has ended; None at the beginning.
        :param cell, pose: where the robot is now; the cell, or place, is None outside of all.
        :param elapsed: s since the beginning.
        """

    def is_closed(self, pose: Pose) -> bool:
        """Return whether a map that has come meanwhile closes the rest of the leg."""
        return False

    def is_decided(self, cell: int | None, heading: int, pose: Pose, depth: float) -> bool:
        """
        Take a pose on the way; return whether the leg has reached its end, though the robot rolls.

        :param depth: how far within the last cell poses have to be, as a part of its size.
        """
        return False

    def _agreed(self, deep: bool, pose: Pose) -> bool:
        """
        Return whether enough poses in a row were deep in the last cell.

        A localisation that is wrong for a moment leaps there and back: then it has to be followed
        for the length of a cell.
        """
        self._track = self._track or SteadyTrack(pose, _LEAP * self._size)
        deep = self._track.lap(pose) >= self._size and deep
        self._inside = self._inside + 1 if deep else 0
        return self._inside >= _AGREEING


class Homing(Maneuver):
    """
    RESET, whatever the way home is.

    :param limit: of the whole way in s; with the highest speed, it bounds how far is driven.
    """

    def __init__(self, size: float, limit: float) -> None:
        super().__init__(size)
        self._limit = self._left = limit

    def next(    # noqa: A003
            self, ended: Outcome | None, cell: int | None, pose: Pose,
            elapsed: float = 0.0) -> Leg | None:
        self._left = self._limit - elapsed
        leg = self._next(ended, cell, pose)
        if leg is None or self._left > 0:
            return leg and leg._replace(timeout=min(leg.timeout, self._left))
        self._give_up(Outcome.TIMEOUT, 'timeout on the way home')
        return None

    @abstractmethod
    def _next(self, ended: Outcome | None, cell: int | None, pose: Pose) -> Leg | None:
        """Return the next leg, or None if the robot is home or no way leads there."""

    def _give_up(self, outcome: Outcome, problem: str) -> None:
        self.outcome, self.problem = outcome, problem


def after_detours(number: int) -> Outcome:
    """Return what so many long ways round in a row mean: one nothing, many a blocked action."""
    return Outcome.BLOCKED if number >= _DETOURS else Outcome.BROKEN_OFF


def target(ways: Ways, action: str, cell: int | None, heading: int) -> tuple[int | None, int]:
    """Return the cell and the heading to which a move leads; no cell if it may not be driven."""
    if action in ('left', 'right'):
        return cell, (heading + (1 if action == 'left' else 3)) % 4
    if action in MOVES['compass']:
        direction = facing = MOVES['compass'].index(action)
    else:
        direction, facing = heading if action == 'forward' else (heading + 2) % 4, heading
    return None if cell is None else ways.neighbour(cell, direction), facing


def ends(ways: Ways, action: str, cell: int | None, heading: int) -> tuple[int, ...]:
    """
    Return the states in which a move that counts is taken to end.

    It arrives, or it is abandoned and the robot back where it was, perhaps turned already. One
    that drifts into another cell, or is pushed there, is the exception.
    """
    there, facing = target(ways, action, cell, heading)
    grid = ways.grid
    if there is None:
        return (grid.state(cell, heading),)    # nothing is driven
    return tuple(dict.fromkeys(
        (grid.state(there, facing), grid.state(cell, heading), grid.state(cell, facing))))


def successors(ways: Ways, actions: Sequence[str]) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Return of each state, outside of the grid included, the ``ends`` of each action."""
    grid = ways.grid
    return {grid.state(cell, heading): tuple(ends(ways, action, cell, heading)
                                             for action in actions)
            for cell in (None, *range(grid.columns * grid.rows))
            for heading in range(4 if grid.with_heading else 1)}


class Move(Maneuver):
    """
    An action other than RESET: to the next cell, or a quarter turn; if it fails, back again.

    :param action: a name in ``MOVES``.
    :param cell, heading: where it begins.
    :param timeout: of each leg in s.
    :param rolling: whether the robot rolls on from the move before, so that it may drive an arc.
    :param steers: whether the driver steers itself. A planner finds its own way back.
    :param before: the move before. A robot whose heading does not matter goes back the way on
        which it has just come without a turn, as nothing else is behind it.
    """

    def __init__(self, ways: Ways, action: str, cell: int | None, heading: int,
                 timeout: float, rolling: bool = False, steers: bool = True,
                 before: Move | None = None) -> None:
        super().__init__(ways.grid.cell_size)
        self._ways = ways
        self._timeout = timeout
        self._start, self._heading = cell, heading
        self._there, self._facing = target(ways, action, cell, heading)
        self._backwards: bool | None = action == 'back'
        if before is not None and not ways.grid.with_heading and (
                before._leads_from(self._there, cell)):
            self._backwards = None    # whichever needs less turning
        self._rolling = rolling and not self._backwards
        self._steers = steers
        self._retreating = self._aligning = False

    def next(    # noqa: A003
            self, ended: Outcome | None, cell: int | None, pose: Pose,
            elapsed: float = 0.0) -> Leg | None:
        if ended is None and self._start is not None and self._there is not None:
            via, radius = self._ways.curve(pose, self._there) if self._rolling else ((), 0.0)
            if via:
                return self._leg(self._there, self._facing)._replace(via=via, ahead=radius)
            if self._ways.is_off(pose[:2], self._start, self._there):
                self._aligning = True
                return Leg(*self._ways.grid.centre(self._start), None, self._timeout, None)
        if self._there is not None and (
                ended is None or self._aligning and ended is Outcome.REACHED):
            self._aligning = False
            return self._leg(self._there, self._facing)
        if ended is Outcome.DETOUR:
            ended = self._after_a_detour()
        if ended is Outcome.BROKEN_OFF:    # on the way back, too: what was in the way is unknown
            self.outcome, self.problem = ended, ended.value
        elif not self._retreating:
            return self._way_back(ended, pose)
        return None

    def is_decided(self, cell: int | None, heading: int, pose: Pose, depth: float) -> bool:
        there = self._there
        inside = (there == cell != self._start and not self._retreating and not self._aligning
                  and (heading == self._facing or not self._ways.grid.with_heading))
        return self._agreed(inside and self._ways.grid.is_deep(cell, pose, depth), pose)

    def _leads_from(self, cell: int | None, there: int | None) -> bool:
        """Return whether it has led from one cell to another."""
        return self.outcome is Outcome.REACHED and cell is not None and (
            (self._start, self._there) == (cell, there))

    def _after_a_detour(self) -> Outcome:
        if self._start is None or self._there is None:
            return Outcome.BROKEN_OFF
        return after_detours(self._ways.detoured(self._start, self._there))

    def _way_back(self, ended: Outcome | None, pose: Pose) -> Leg | None:
        """Record how the way there has ended; return the one back, if there is any."""
        self.outcome = ended or Outcome.BLOCKED    # without a leg if the next cell is not free
        if self._there is None or self._start is None:
            return None
        if self.outcome is Outcome.REACHED:
            self._ways.succeeded(self._start, self._there)
            return None
        self._ways.failed(self._start, self._there)
        if self.outcome is Outcome.TIMEOUT:
            return None
        back = self._leg(self._start, self._heading)._replace(
            backwards=None, retreat=True, direct=False)
        forward = self._leads_forward(pose, self._start if self._aligning else self._there)
        away = self._ways.away(pose, self._start, forward=forward) if self._steers else None
        self._retreating, self._aligning = True, False
        return back if away is None else back._replace(x=away.x, y=away.y, backwards=forward)

    def _leads_forward(self, pose: Pose, cell: int) -> bool:
        """Return whether the robot faces the centre of a cell."""
        x, y = self._ways.grid.centre(cell)
        return abs(wrapped(math.atan2(y - pose.y, x - pose.x) - pose.yaw)) <= math.pi / 2

    def _leg(self, cell: int, heading: int) -> Leg:
        yaw = self._ways.grid.yaw_of(heading) if self._ways.grid.with_heading else None
        return Leg(*self._ways.grid.centre(cell), yaw, self._timeout, self._backwards, direct=True)


class WayHome(Homing):
    """
    RESET: along free cells, or in one leg, with retries.

    :param retries: how many legs may fail.
    :param timeout: for each cell of a leg in s.
    :param in_one_go: whether the mover finds the way by itself, in one leg.
    :param limit: as of ``Homing``.
    :param farthest: m outside of the grid; farther away nothing is driven.
    :raises ValueError: if home is outside of the grid.
    """

    def __init__(self, ways: Ways, home: Pose, retries: int, timeout: float,
                 in_one_go: bool, limit: float = math.inf, farthest: float = math.inf) -> None:
        super().__init__(ways.grid.cell_size, limit)
        self._ways = ways
        self._home = home
        home_cell = ways.grid.cell_at(home.x, home.y)
        if home_cell is None:
            raise InvalidValueError(f'home is {home}, expected a pose on the grid')
        self._home_cell = home_cell
        self._retries = retries
        self._timeout = timeout
        self._in_one_go = in_one_go
        self._farthest = farthest
        self._blocked: set[Edge] = set()
        self._route: list[int | None] = []    # the cells of the leg, from where it begins
        self._start: Point = (0.0, 0.0)       # to go back to, if it fails
        self._aligned = False                 # whether it has just gone to the centre of its cell
        self._last = False                    # whether the leg ends at the home pose
        self._retreating = False

    def _next(self, ended: Outcome | None, cell: int | None, pose: Pose) -> Leg | None:
        if self._retreating or ended is None:
            self._retreating = False
            return self._go_on(cell, pose)
        if ended is not Outcome.REACHED:
            return self._fail(ended, cell, pose)
        self._passed(len(self._route) - 1)
        self._aligned = len(self._route) == 1
        if not self._last:
            return self._go_on(cell, pose)
        at_home = cell == self._home_cell and (
            not self._ways.grid.with_heading
            or self._ways.grid.heading_at(pose.yaw)
            == self._ways.grid.heading_at(self._home.yaw))
        return None if at_home else self._fail(ended, cell, pose)

    def is_decided(self, cell: int | None, heading: int, pose: Pose, depth: float) -> bool:
        inside = (self._last and not self._retreating and cell == self._home_cell
                  and not self._ways.grid.with_heading)
        return self._agreed(inside and self._ways.grid.is_deep(cell, pose, depth), pose)

    def _passed(self, moves: int) -> None:
        """Record moves of the leg that have succeeded."""
        for start, there in zip(self._route[:moves], self._route[1:]):
            if start is not None and there is not None:
                self._ways.succeeded(start, there)

    def _fail(self, ended: Outcome, cell: int | None, pose: Pose) -> Leg | None:
        """Record a leg that has failed; return the next leg, or None to abandon."""
        what = 'on the way home'
        if ended is not Outcome.REACHED and len(self._route) > 1 and self._left > 0:
            passed = min(self._route.index(cell) if cell in self._route else 0,
                         len(self._route) - 2)
            self._passed(passed)
            start, there = self._route[passed:passed + 2]
            assert there is not None
            self._blocked.add((start, there))
            what = f'from {_named(start)} to cell {there}'
            if start is not None:
                self._ways.failed(start, there)
        if not self._retries:
            self._give_up(ended, 'home was missed' if ended is Outcome.REACHED
                          else f'{ended.value} {what}')
            return None
        self._retries -= 1
        if self._in_one_go or ended not in (
                Outcome.BUMPED, Outcome.BLOCKED, Outcome.OBSTRUCTED):
            return self._go_on(cell, pose)
        self._retreating = True
        if cell is not None and self._ways.is_free(cell):
            away = self._ways.away(pose, cell, forward=True)
            self._start = self._ways.grid.centre(cell) if away is None else away[:2]
        return Leg(*self._start, None, self._timeout, None, retreat=True)

    def _go_on(self, cell: int | None, pose: Pose) -> Leg | None:
        """Return the leg that leads as far as there is no stop, or home."""
        self._route, self._start = [cell], (pose.x, pose.y)
        astray = self._ways.grid.astray(pose, self._farthest)
        if astray:
            self._give_up(Outcome.BLOCKED, astray)
            return None
        self._last = self._in_one_go or cell == self._home_cell
        if self._last:
            return Leg(*self._home, self._timeout)
        if cell is not None and self._ways.is_free(cell):
            route = self._ways.route(cell, self._home_cell, self._blocked)
            if route:
                return self._along(route)
        else:
            there = self._ways.entry(pose.x, pose.y, cell, self._blocked)
            if there is not None:
                self._route.append(there)
                return Leg(*self._ways.grid.centre(there), None, self._timeout)
        self._give_up(Outcome.BLOCKED, f'no free way leads home from {_named(cell)}')
        return None

    def _along(self, route: Sequence[int]) -> Leg:
        """Return the leg along a route, up to the first corner that cannot be rounded."""
        grid, begin = self._ways.grid, self._route[0]
        if not self._aligned and begin is not None and self._ways.is_off(
                self._start, begin, route[0]):
            route = [begin, *route]
        points = [self._start, *map(grid.centre, route), self._home[:2]]
        part, end, room = self._ways.smooth_part(points)
        self._last = end > len(route)
        self._route += [cell for cell in route[:end] if cell != begin]
        yaw = self._home.yaw if self._last else None
        via = tuple(part[1:-1]) if end > 1 else ()
        return Leg(*part[-1], yaw, self._timeout * min(end, len(route)), via=via,
                   ahead=room)


def _named(cell: int | None) -> str:
    return 'outside of the grid' if cell is None else f'cell {cell}'
