# SPDX-License-Identifier: Apache-2.0

"""How long moves and ways home take a robot that follows each velocity exactly."""

from __future__ import annotations

import math

from mnm_ros.driving.drive import Drive, Limits, Outcome, STILL, Velocity
from mnm_ros.driving.grid import Ways
from mnm_ros.driving.maneuvers import Maneuver, Move, MOVES, WayHome
from mnm_ros.driving.pose import Pose

_TICK = 0.1      # s, between two velocities
_LONGEST = 600.0    # s, after which a maneuver is abandoned


class Pace:
    """
    Adds up seconds along the steps of a robot that goes to the next cell in a direction.

    Each kind of move, and each way home, is driven once, as ``grid_driver`` does it: a move that
    goes straight on does not stop.

    :param ways: on which nothing fails.
    :param home: where a way home ends.
    :param decided_at: how far within a cell a move counts as done, as a part of a cell.
    """

    def __init__(self, ways: Ways, limits: Limits, home: Pose, decided_at: float) -> None:
        self._ways = ways
        self._limits = limits
        self._home = home
        self._decided_at = decided_at
        self._moves: dict[tuple[bool, float], float] = {}
        self._homes: dict[tuple[int, float], float] = {}
        self._yaw = home.yaw      # of the robot
        self._rolling = False     # whether the last move has led on

    def seconds(self, cell: int, action: int | None, there: int) -> float:
        """
        Return what the next step takes.

        :param cell, there: where it begins and ends.
        :param action: the number of a direction in ``MOVES``; None for the way home.
        """
        if action is None:
            key = cell, self._yaw
            if key not in self._homes:
                self._homes[key] = self._way_home(cell)
            self._yaw, self._rolling = self._home.yaw, False
            return self._homes[key]
        meant = self._ways.neighbour(cell, action)
        if meant is None:
            return 0.0
        yaw = self._ways.grid.yaw_of(action)
        turn = (self._rolling, round(math.remainder(yaw - self._yaw, math.tau), 3))
        if turn not in self._moves:
            self._moves[turn] = self._move(cell, action, meant)
        self._yaw, self._rolling = yaw, there == meant
        # One that fails is abandoned after a while, and leads back.
        return self._moves[turn] * (1 if self._rolling else 2) + (
            0.0 if self._rolling else self._limits.blocked_after)

    def _move(self, cell: int, action: int, there: int) -> float:
        """Return the s of a move from the middle of a cell, or from where one has led there."""
        pose, velocity = Pose(*self._ways.grid.centre(cell), self._yaw), STILL
        name = MOVES['compass'][action]
        if self._rolling:
            size = self._ways.grid.cell_size
            behind = size / 2 - self._decided_at * size    # where the last move was decided
            pose = pose.moved(-behind, 0.0)
            velocity = Velocity(min(
                self._limits.speed, math.sqrt(self._limits.acceleration * behind)), 0.0)
        return self._driven(Move(self._ways, name, cell, 0, _LONGEST), cell, pose, velocity)

    def _way_home(self, cell: int) -> float:
        pose = Pose(*self._ways.grid.centre(cell), self._yaw)
        return self._driven(WayHome(self._ways, self._home, 0, _LONGEST, False), cell, pose, STILL)

    def _driven(self, maneuver: Maneuver, cell: int, pose: Pose, velocity: Velocity) -> float:
        """Return how long a maneuver takes."""
        elapsed, ended, grid = 0.0, None, self._ways.grid
        place: int | None = cell
        while (leg := maneuver.next(ended, place, pose, elapsed)) is not None:
            drive, ended = Drive(self._limits, leg, elapsed, pose, elapsed, velocity), None
            while ended is None and elapsed < _LONGEST:
                elapsed += _TICK
                velocity = drive.step(elapsed, pose, elapsed)
                pose = pose.moved(velocity.forward * _TICK, velocity.turn * _TICK)
                place = grid.cell_at(pose.x, pose.y)
                if isinstance(maneuver, Move) and maneuver.is_decided(
                        place, 0, pose, self._decided_at):
                    return elapsed
                ended = drive.outcome
            velocity = STILL
            if ended is not Outcome.REACHED:
                break
        return elapsed
