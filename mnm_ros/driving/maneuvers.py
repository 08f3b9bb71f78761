"""What a robot does about an action: one leg after the other until it is over."""

from __future__ import annotations

from abc import ABC, abstractmethod

from mnm_ros.driving.drive import Leg, Outcome
from mnm_ros.driving.grid import QUARTER, heading_of
from mnm_ros.driving.route import Edge, Ways
from mnm_ros.geometry import Pose, wrapped

MOVES = {
    'compass': ('east', 'north', 'west', 'south'),      # to the neighbouring cell
    'relative': ('forward', 'left', 'right', 'back')}   # a cell on or back, a quarter turn
"""The names of the actions."""


class Maneuver(ABC):
    """An action under way.

    outcome: how it has ended. problem: why the way home has not led home.
    """

    outcome = Outcome.REACHED
    problem = ''

    @abstractmethod
    def next(self, ended: Outcome | None, cell: int | None, pose: Pose) -> Leg | None:
        """Return the next leg, or None if the maneuver is over.

        ended: how the last leg has ended; None at the beginning. cell, pose: where the robot is
        now; None is outside of the grid.
        """


class Move(Maneuver):
    """One action other than RESET: a cell on, or a quarter turn; and back again if that fails.

    cell, heading: where it begins. timeout: s.
    """

    def __init__(
            self, ways: Ways, action: str, cell: int | None, heading: int,
            timeout: float) -> None:
        self._ways = ways
        self._timeout = timeout
        self._start = cell
        self._heading = heading    # at the start
        self._facing = heading     # at the end
        self._there = cell
        self._backwards = action == 'back'
        self._retreating = False
        if action in ('left', 'right'):
            self._facing = (heading + (1 if action == 'left' else 3)) % 4
        elif cell is not None:
            direction = heading if action == 'forward' else (heading + 2) % 4
            if action in MOVES['compass']:
                direction = self._facing = MOVES['compass'].index(action)
            self._there = ways.neighbour(cell, direction)

    def next(self, ended: Outcome | None, cell: int | None, pose: Pose) -> Leg | None:
        """Return the next leg, or None if the action is over."""
        if ended is None and self._there is not None:
            return self._leg(self._there, self._facing)
        if self._retreating:
            return None
        self.outcome = ended or Outcome.BLOCKED    # nothing is driven into what is not free
        if self._there is None or self._start is None:
            return None
        if self.outcome is Outcome.REACHED:
            self._ways.succeeded(self._start, self._there)
            return None
        self._ways.failed(self._start, self._there)
        if self.outcome is Outcome.TIMEOUT:
            return None
        self._retreating = True
        return self._leg(self._start, self._heading)._replace(backwards=None, retreat=True)

    def _leg(self, cell: int, heading: int) -> Leg:
        yaw = wrapped(heading * QUARTER) if self._ways.grid.with_heading else None
        return Leg(*self._ways.grid.centre(cell), yaw, self._timeout, self._backwards)


class WayHome(Maneuver):
    """RESET: cell by cell over free ways, or in one go, with retries.

    home: its pose. retries: legs that may fail. timeout: s for a leg.
    in_one_go: somebody else knows the way.

    Raises ValueError if home is outside of the grid.
    """

    def __init__(
            self, ways: Ways, home: Pose, retries: int, timeout: float, in_one_go: bool) -> None:
        self._ways = ways
        self._home = home
        home_cell = ways.grid.cell_at(home.x, home.y)
        if home_cell is None:
            raise ValueError(f'home is {home}, expected a pose on the grid')
        self._home_cell = home_cell
        self._left = retries
        self._timeout = timeout
        self._in_one_go = in_one_go
        self._blocked: set[Edge] = set()
        self._from: int | None = None
        self._to: int | None = None    # None: to the home pose itself
        self._refuge: Leg | None = None
        self._retreating = False

    def next(self, ended: Outcome | None, cell: int | None, pose: Pose) -> Leg | None:
        """Return the next leg, or None if the robot is at home or has given up."""
        if self._retreating or ended is None:
            self._retreating = False
            return self._set_out(cell, pose)
        at_home = self._to is None and cell == self._home_cell and self._turned_home(pose)
        if ended is Outcome.REACHED and (at_home or self._to is not None):
            return None if at_home else self._pass_on(cell, pose)
        return self._fail(ended, cell, pose)

    def _turned_home(self, pose: Pose) -> bool:
        """Whether the heading is that of home, or does not matter."""
        return (not self._ways.grid.with_heading
                or heading_of(pose.yaw) == heading_of(self._home.yaw))

    def _pass_on(self, cell: int | None, pose: Pose) -> Leg | None:
        if self._from is not None and self._to is not None:
            self._ways.succeeded(self._from, self._to)
        return self._set_out(cell, pose)

    def _fail(self, ended: Outcome, cell: int | None, pose: Pose) -> Leg | None:
        what = 'on the way home'
        if self._to is not None:
            self._blocked.add((self._from, self._to))
            what = f'from {_named(self._from)} to cell {self._to}'
        if self._from is not None and self._to is not None:
            self._ways.failed(self._from, self._to)
        if not self._left:
            self.outcome = ended
            self.problem = (
                'home was missed' if ended is Outcome.REACHED else f'{ended.value} {what}')
            return None
        self._left -= 1
        if ended in (Outcome.BUMPED, Outcome.BLOCKED) and not self._in_one_go:
            self._retreating = True
            return self._refuge
        return self._set_out(cell, pose)

    def _set_out(self, cell: int | None, pose: Pose) -> Leg | None:
        self._from, self._to = cell, None
        if not self._in_one_go and cell != self._home_cell:
            self._to = self._next_cell(cell, pose)
            if self._to is None:
                self.outcome = Outcome.BLOCKED
                self.problem = f'no free way leads home from {_named(cell)}'
                return None
        refuge = (pose.x, pose.y) if cell is None else self._ways.grid.centre(cell)
        self._refuge = Leg(*refuge, None, self._timeout, None, retreat=True)
        if self._to is None:
            return Leg(*self._home, self._timeout)
        return Leg(*self._ways.grid.centre(self._to), None, self._timeout)

    def _next_cell(self, cell: int | None, pose: Pose) -> int | None:
        if cell is None:
            return self._ways.entry(pose.x, pose.y, self._blocked)
        return self._ways.next_cell(cell, self._home_cell, self._blocked)


def _named(cell: int | None) -> str:
    return 'outside of the grid' if cell is None else f'cell {cell}'
