# SPDX-License-Identifier: Apache-2.0

"""Driving to a pose by feedback on the robot's poses; time is passed in, in seconds."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
import math
from typing import Any, NamedTuple, Protocol

from mnm_ros.driving.measures import Stopwatch
from mnm_ros.driving.occupancy import Point
from mnm_ros.driving.path import Path
from mnm_ros.driving.pose import Pose, wrapped

_GAIN = 3.0        # 1/s, speed per remaining distance or angle, close to the end
_ALIGNED = 0.4     # rad from the direction of the target, within which it starts to drive
_ASTRAY = 0.5      # rad from that direction; if it is farther off, it stops and turns again
_LOST = 1.0        # rad, the same on a path, whose curves need more than a straight way
_EARLY = 0.4       # s, at least, that it aims ahead on a path
_SWAY = 0.9        # of the turning speed, which curves may take
_SHORTEST = 1e-6   # m, and 1/m, in place of 0
_BEHIND = 2.5      # rad from the direction of the target; farther off, either turn will do
_LONGEST = 0.2     # s between two poses that count for acceleration; more may be a gap
_SURE = 0.5        # s without room, during which it stops, until that is believed
_PROGRESS = 0.1    # of the full speed; a robot that is slower on average is blocked


class Outcome(Enum):
    """How a leg, or a maneuver of several legs, has ended."""

    REACHED = 'reached'
    TIMEOUT = 'timeout'
    BUMPED = 'bumped'
    BLOCKED = 'blocked'
    OBSTRUCTED = 'obstructed'    # by what was seen, before it was touched
    DETOUR = 'detour'            # abandoned on a long way round
    BROKEN_OFF = 'broken off'    # which says nothing about the world
    STOPPED = 'stopped'          # by a person


class Velocity(NamedTuple):
    """A forward speed in m/s and a turning speed in rad/s."""

    forward: float
    turn: float


STILL = Velocity(0.0, 0.0)

_Phase = Callable[[Pose], tuple[Velocity, float]]
"""From a pose to the velocity wanted and the time that the phase still takes at full speed."""


class Leg(NamedTuple):
    """
    Where to drive next.

    :ivar x, y: the target in m.
    :ivar yaw: the heading there in rad; None if it does not matter.
    :ivar timeout: in s.
    :ivar backwards: whether to drive backwards; None for whichever needs less turning.
    :ivar retreat: whether it leads away from an obstacle, so that a bump does not end it.
    :ivar direct: whether it is a move, which a long way round would not be.
    :ivar via: the points of the way there, which is driven without a stop.
    :ivar ahead: how far to aim ahead on that way in m.
    """

    x: float
    y: float
    yaw: float | None
    timeout: float
    backwards: bool | None = False
    retreat: bool = False
    direct: bool = False
    via: tuple[Point, ...] = ()
    ahead: float = 0.0

    def distance(self, pose: Pose) -> float:
        """Return the distance of a pose from the target in m."""
        return math.dist((self.x, self.y), (pose.x, pose.y))

    def misalignment(self, pose: Pose) -> float:
        """Return the turn that a pose still needs in rad; 0 if the heading does not matter."""
        return 0.0 if self.yaw is None else wrapped(self.yaw - pose.yaw)


@dataclass(frozen=True)
class Limits:
    """
    Limits in m, s and rad; without progress for ``blocked_after`` s the robot is blocked.

    :ivar latency: s until the robot follows a velocity.
    :ivar reverse: whether it may drive backwards; else it turns first, whatever a leg says.
    """

    speed: float
    turn: float
    acceleration: float
    turn_acceleration: float
    tolerance: float
    heading_tolerance: float
    blocked_after: float
    latency: float = 0.0
    reverse: bool = True


class ByName(Protocol):
    """Parameters, or a mapping."""

    def __getitem__(self, name: str, /) -> Any: ...


def limits_of(given: ByName) -> Limits:
    """Return the limits that the parameters of ``grid_driver`` say."""
    return Limits(*(given[name] for name in (
        'max_speed', 'max_turn', 'acceleration', 'turn_acceleration', 'tolerance',
        'heading_tolerance', 'blocked_after', 'latency', 'reverse')))


class Lag:
    """
    Foresees where a robot is when it follows the next velocity.

    :param seconds: from when a velocity is sent until the robot follows it.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._sent: deque[tuple[float, Velocity]] = deque()    # the first is in force

    def send(self, now: float, velocity: Velocity) -> None:
        """Record a velocity that is sent."""
        self._sent.append((now, velocity))

    def ahead(self, now: float, pose: Pose) -> Pose:
        """Return the pose by the velocities that are under way."""
        sent, since = self._sent, now - self._seconds
        while sent and (sent[0][0] > now or len(sent) > 1 and sent[1][0] <= since):
            sent.popleft()    # also where the time jumps back
        ends = [at for at, _ in sent][1:] + [now]
        for (begin, velocity), end in zip(sent, ends):
            seconds = max(0.0, end - max(begin, since))
            pose = pose.moved(velocity.forward * seconds, velocity.turn * seconds)
        return pose


class Drive:
    """
    Turns towards the target of a leg, drives there, turns as asked, and comes to rest.

    :param now: by the stamps of the poses.
    :param steady: by the steady clock, so that stamps that hardly advance do not keep it from
        braking.
    :param velocity: with which it begins.
    :ivar velocity: the last one.
    :ivar outcome: None while it is under way.
    """

    def __init__(
            self, limits: Limits, leg: Leg, now: float, pose: Pose, steady: float = 0.0,
            velocity: Velocity = STILL) -> None:
        self.outcome: Outcome | None = None
        self._limits = limits
        self._leg = leg
        self._watch, self._steady = Stopwatch(now), Stopwatch(steady)
        self.velocity = velocity
        self._path = Path([pose[:2], *leg.via, (leg.x, leg.y)], leg.ahead) if leg.via else None
        self._room, self._room_time = math.inf, 0.0    # and when there was enough of it
        self._aside = 0.0
        self._course = math.atan2(leg.y - pose.y, leg.x - pose.x)    # of the way to its end
        self._backwards = False
        if limits.reverse:
            self._backwards = (abs(self._off_course(pose)) > math.pi / 2
                               if leg.backwards is None else leg.backwards)
        # One that rolls on does not stop for a direction to which it can steer.
        self._phase: _Phase = self._turning if velocity.forward <= 0 else (
            self._going if self._path is None else self._following)
        self._best, self._best_time = math.inf, 0.0

    def step(self, now: float, pose: Pose, steady: float = 0.0,
             room: float = math.inf, aside: float = 0.0) -> Velocity:
        """
        Return the velocity from ``now`` on, which is zero once it is over.

        :param room: how far the ``way`` is free in m.
        :param aside: how far to the left of the way it has to go in m.
        """
        if self.outcome:
            return STILL
        step, real = self._watch.lap(now), self._steady.lap(steady)
        self._room, self._aside = room, aside
        if self._path:
            self._path.lap(pose[:2])
        wanted, remaining = self._phase(pose)
        if self._watch.elapsed >= self._leg.timeout:
            self.outcome = Outcome.TIMEOUT
        elif self._obstructed(room):
            self.outcome = Outcome.OBSTRUCTED
        elif self._blocked(remaining):
            self.outcome = Outcome.BLOCKED
        else:
            self.velocity = self._towards(
                wanted, min(step, _LONGEST), min(max(step, real), _LONGEST))
            if self._phase == self._facing and self.velocity == STILL and wanted == STILL:
                self.outcome = Outcome.REACHED
        return STILL if self.outcome else self.velocity

    def way(self, pose: Pose, aside: float = 0.0) -> list[Point]:
        """
        Return the points between which it drives straight on, as far as it can see.

        :param aside: how far to the left its next point is in m.
        """
        if self._path is None:
            return [pose[:2], self._end(aside)]
        _, *ahead = self._path.ahead(self._limits.speed**2 / self._limits.acceleration)
        return [pose[:2], self._aim(pose, aside), *ahead]

    def _end(self, aside: float) -> Point:
        return (self._leg.x - aside * math.sin(self._course),
                self._leg.y + aside * math.cos(self._course))

    def _aim(self, pose: Pose, aside: float) -> Point:
        if self._path is None:
            return self._end(aside)
        x, y = self._path.aim
        course = math.atan2(y - pose.y, x - pose.x)
        return x - aside * math.sin(course), y + aside * math.cos(course)

    def _distance(self, pose: Pose) -> float:
        """Return how far the end is in m."""
        return math.dist(self._end(self._aside), pose[:2])

    def bump(self) -> None:
        """
        Record a bump, which ends the leg unless that is a retreat.

        While it turns on the spot it still rolls by the leg before: what is in that way is not in
        this one.
        """
        if not self._leg.retreat and self._phase != self._turning:
            self.outcome = self.outcome or Outcome.BUMPED

    def _turning(self, pose: Pose) -> tuple[Velocity, float]:
        error = self._off_course(pose)
        if self._is_there(pose):
            return self._enter(self._facing, pose)
        if abs(error) <= _ALIGNED:
            return self._enter(self._going if self._path is None else self._following, pose)
        if abs(error) > _BEHIND and error * self.velocity.turn < 0:
            error -= math.copysign(math.tau, error)    # noise is no reason to turn the other way
        return self._turn(error)

    def _going(self, pose: Pose) -> tuple[Velocity, float]:
        distance, error = self._distance(pose), self._off_course(pose)
        if self._is_there(pose):
            return self._enter(self._facing, pose)
        if abs(error) > _ASTRAY:
            return self._enter(self._turning, pose)
        speed = math.cos(error) * self._speed(max(0.0, min(distance, self._room)))
        return (Velocity(-speed if self._backwards else speed, self._turn(error)[0].turn),
                distance / self._limits.speed)

    def _following(self, pose: Pose) -> tuple[Velocity, float]:
        """Drive to the end of the straight part, and on the arc that leads round a corner."""
        assert self._path is not None
        if self._path.is_last or self._is_there(pose):
            return self._enter(self._going, pose)
        error = self._off_course(pose)
        if abs(error) > _LOST:
            return self._enter(self._turning, pose)
        speed, remaining = self._speed(max(0.0, min(self._path.left, self._room))), (
            self._path.left / self._limits.speed)
        if not self._path.turns:
            return Velocity(math.cos(error) * speed, self._turn(error)[0].turn), remaining
        curvature = 2 * math.sin(error) / max(math.dist(pose[:2], self._path.aim), _SHORTEST)
        speed = min(speed, self._leg.ahead / _EARLY,
                    _SWAY * self._limits.turn / max(abs(curvature), _SHORTEST))
        return Velocity(speed, curvature * speed), remaining

    def _is_there(self, pose: Pose) -> bool:
        arriving = self._path is None or self._path.is_last
        return arriving and self._distance(pose) <= self._limits.tolerance

    def _facing(self, pose: Pose) -> tuple[Velocity, float]:
        error = self._leg.misalignment(pose)
        if abs(error) <= self._limits.heading_tolerance:
            return STILL, 0.0
        return self._turn(error)

    def _enter(self, phase: _Phase, pose: Pose) -> tuple[Velocity, float]:
        self._phase = phase
        self._best, self._best_time = math.inf, self._watch.elapsed
        return phase(pose)

    def _off_course(self, pose: Pose) -> float:
        """Return the turn that the direction of the target needs in rad."""
        x, y = self._aim(pose, self._aside)
        course = math.atan2(y - pose.y, x - pose.x)
        return wrapped(course - pose.yaw + (math.pi if self._backwards else 0.0))

    def _speed(self, distance: float) -> float:
        """Return the speed from which the robot comes to rest within a distance."""
        return min(self._limits.speed, math.sqrt(self._limits.acceleration * distance),
                   _GAIN * distance)

    def _turn(self, error: float) -> tuple[Velocity, float]:
        speed = min(self._limits.turn, math.sqrt(self._limits.turn_acceleration * abs(error)),
                    _GAIN * abs(error))
        return (Velocity(0.0, math.copysign(speed, error)), abs(error) / self._limits.turn)

    def _blocked(self, remaining: float) -> bool:
        """Whether ``remaining``, in s at full speed, has hardly decreased for too long."""
        blocked_after, now = self._limits.blocked_after, self._watch.elapsed
        if remaining <= 0 or remaining < self._best - _PROGRESS * blocked_after:
            self._best, self._best_time = remaining, now
        return now - self._best_time >= blocked_after

    def _obstructed(self, room: float) -> bool:
        """Whether there has been no room for so long that it is not one bad pose or scan."""
        if self._phase == self._facing or room > self._limits.tolerance:
            self._room_time = self._watch.elapsed
        return self._watch.elapsed - self._room_time >= _SURE

    def _towards(self, wanted: Velocity, step: float, braking: float) -> Velocity:
        limits = (self._limits.acceleration, self._limits.turn_acceleration)
        return Velocity(*(_approach(value, there, most * step, most * braking)
                          for value, there, most in zip(self.velocity, wanted, limits)))


def _approach(value: float, wanted: float, gain: float, loss: float) -> float:
    """Return the value at most ``gain`` nearer to the one wanted, or ``loss`` while it shrinks."""
    if value < 0:
        return -_approach(-value, -wanted, gain, loss)
    lowest = min(value - gain, max(0.0, value - loss))
    return min(max(wanted, lowest), value + gain)
