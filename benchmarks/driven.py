# SPDX-License-Identifier: Apache-2.0

"""A simulated robot that maneuvers drive in this process, as the nodes of the drivers do it."""

from __future__ import annotations

from collections.abc import Mapping
import math
from typing import Any

from mnm_ros.driving.drive import Drive, Lag, Limits, Outcome, STILL, Velocity
from mnm_ros.driving.grid import Place
from mnm_ros.driving.maneuvers import Maneuver
from mnm_ros.driving.pose import Pose, Transform
from mnm_ros.driving.sight import MapSight, seen_points, Sight
from mnm_ros.places.zones import ZonePlace
from mnm_ros.simulation.diff_drive import DiffDrive

SCANS, RAYS = 4, 120    # ticks from one scan to the next, and its rays
THINKING = 1            # ticks from an answer to the next command


class DrivenRobot:
    """
    The robot, and the driver that executes one maneuver after the other.

    :param place: where it is by its poses.
    :param given: of the parameters of a driver ``robot_radius``, ``scan_margin``, ``use_scan`` and
        ``decided_at``.
    :param scan: of the parameters of ``diff_drive_sim`` ``scan_range`` and ``scan_noise``.
    :param walls: that it keeps from without a scanner; None if it has no map.
    :ivar contact: s in which it touched something.
    :ivar metres: that it has driven.
    """

    def __init__(self, robot: DiffDrive, place: Place | ZonePlace, limits: Limits,
                 given: Mapping[str, Any], scan: Mapping[str, Any], seed: int,
                 walls: MapSight | None = None) -> None:
        self.robot, self.place, self.limits = robot, place, limits
        self.contact = self.metres = 0.0
        self._decided_at: float = given['decided_at']
        self._sight = Sight(given['robot_radius'], given['scan_margin']) if (
            given['use_scan']) else None
        self._walls = walls
        self._scanner = robot.scanner(RAYS, scan['scan_range'], scan['scan_noise'], seed)
        self._lag = Lag(limits.latency)
        self._drive: Drive | None = None    # the last one, which may still roll
        self._pose = self._seen()

    @property
    def time(self) -> float:
        """Return the s since the start."""
        return self.robot.ticks * self.robot.body.tick

    @property
    def rolls(self) -> bool:
        """Whether the robot still drives on to the end of a leg that is decided."""
        drive = self._drive
        return drive is not None and not drive.outcome and drive.velocity.forward > 0

    def play(self, maneuver: Maneuver) -> int:
        """Execute a maneuver; return the state that is answered."""
        begin = self.time
        leg = maneuver.next(None, self.place.cell, self._ahead)
        while leg is not None:
            drive = self._drive
            drive = self._drive = Drive(self.limits, leg, self.time, self._ahead, 0.0,
                                        drive.velocity if drive and not drive.outcome else STILL)
            decided = False
            while drive.outcome is None and not decided:
                self.step()
                decided = maneuver.is_decided(
                    self.place.cell, self.place.heading, self._pose, self._decided_at)
            leg = maneuver.next(drive.outcome or Outcome.REACHED, self.place.cell, self._ahead,
                                self.time - begin)
        return self.place.state

    def think(self) -> None:
        """Let the time pass until the next command."""
        for _ in range(THINKING):
            self.step()

    def step(self) -> None:
        """Let a tick pass."""
        drive, place = self._drive, self._ahead
        if drive is None or drive.outcome:
            self._tick(STILL)
            return
        sight = self._sight or self._walls
        aside = sight.aside(*drive.way(place)[:2]) if sight else 0.0
        room = self._sight.room(drive.way(place, aside)) if self._sight else math.inf
        self._tick(drive.step(self.time, place, 0.0, room, aside))
        if self.robot.bumped:
            drive.bump()

    @property
    def _ahead(self) -> Pose:
        return self._lag.ahead(self.time, self._pose)

    def _tick(self, velocity: Velocity) -> None:
        robot, before = self.robot, self.robot.pose
        self._lag.send(self.time, velocity)
        robot.command(*velocity)
        robot.tick()
        self.contact += robot.touched * robot.body.tick
        self.metres += math.dist(before[:2], robot.pose[:2])
        self._pose = self._seen()

    def _seen(self) -> Pose:
        pose = self.robot.localised()
        self.place.update(pose)
        if self._sight and self.robot.ticks % SCANS == 0:
            ranges = self._scanner.scan(self.robot.pose, self.robot.closed)
            self._sight.look(seen_points(
                ranges, 0.0, math.tau / RAYS, (0.0, self._scanner.farthest), Transform()), pose)
        return pose
