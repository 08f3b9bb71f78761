"""Driving to a point in the plane, closed on poses; time is passed in, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
import math
from typing import NamedTuple, Optional

from mnm_ros.geometry import Pose, wrapped

_GAIN = 3.0        # 1/s, of the last bit of a way or a turn
_ALIGNED = 0.1     # rad, near enough to the direction of the target to start driving
_ASTRAY = 0.5      # rad, so far from it that it stops and turns again
_LONGEST = 0.2     # s between two poses in which it accelerates; more could be a gap
_PROGRESS = 0.1    # of the full speed: slower than that on average is blocked


class Outcome(Enum):
    """How an attempt to get somewhere has ended."""

    REACHED = 'reached'
    TIMEOUT = 'timeout'
    BUMPED = 'bumped'
    BLOCKED = 'blocked'


class Velocity(NamedTuple):
    """Forward speed in m/s and turning speed in rad/s."""

    forward: float
    turn: float


STILL = Velocity(0.0, 0.0)


class Leg(NamedTuple):
    """Where to go next: m, m, and rad unless the heading does not matter.

    timeout: s. backwards: None is whichever needs less turning. retreat: away from an obstacle,
    so that a bump does not end it.
    """

    x: float
    y: float
    yaw: Optional[float]
    timeout: float
    backwards: Optional[bool] = False
    retreat: bool = False

    def distance(self, pose: Pose) -> float:
        """Return the distance from a pose in m."""
        return math.dist((self.x, self.y), (pose.x, pose.y))

    def misalignment(self, pose: Pose) -> float:
        """Return the turn from the heading of a pose in rad, 0 if it does not matter."""
        return 0.0 if self.yaw is None else wrapped(self.yaw - pose.yaw)


@dataclass(frozen=True)
class Limits:
    """How to drive.

    speed: m/s. turn: rad/s. acceleration: m/s^2. turn_acceleration: rad/s^2.
    tolerance: m. heading_tolerance: rad. patience: s without progress that mean blocked.
    """

    speed: float
    turn: float
    acceleration: float
    turn_acceleration: float
    tolerance: float
    heading_tolerance: float
    patience: float


class Stopwatch:
    """Measures by the stamps of messages, which may jump back."""

    def __init__(self, now: float) -> None:
        self.elapsed = 0.0
        self._last = now

    def lap(self, now: float) -> float:
        """Return the time since the last call in s; a jump back does not count."""
        step, self._last = max(0.0, now - self._last), now
        self.elapsed += step
        return step


class Drive:
    """Turns towards a target, drives there, turns as asked, and comes to rest.

    outcome: None while it is under way.
    """

    def __init__(self, limits: Limits, leg: Leg, now: float, pose: Pose) -> None:
        self.outcome: Outcome | None = None
        self._limits = limits
        self._leg = leg
        self._watch = Stopwatch(now)
        self._velocity = STILL
        self._backwards = leg.backwards
        if self._backwards is None:
            self._backwards = abs(self._off_course(pose)) > math.pi / 2
        self._phase = self._turning
        self._best, self._best_time = math.inf, 0.0

    def step(self, now: float, pose: Pose) -> Velocity:
        """Return the velocity from now on; zero once it is over."""
        if self.outcome:
            return STILL
        step = self._watch.lap(now)
        wanted, remaining = self._phase(pose)
        if self._watch.elapsed >= self._leg.timeout:
            self.outcome = Outcome.TIMEOUT
        elif self._stuck(remaining):
            self.outcome = Outcome.BLOCKED
        else:
            self._velocity = self._towards(wanted, min(step, _LONGEST))
            if self._phase == self._facing and self._velocity == STILL and wanted == STILL:
                self.outcome = Outcome.REACHED
        return STILL if self.outcome else self._velocity

    def bump(self) -> None:
        """End it, unless it leads away from an obstacle anyway."""
        if not self._leg.retreat:
            self.outcome = self.outcome or Outcome.BUMPED

    def _turning(self, pose: Pose) -> tuple[Velocity, float]:
        error = self._off_course(pose)
        if self._leg.distance(pose) <= self._limits.tolerance:
            return self._enter(self._facing, pose)
        if abs(error) <= _ALIGNED:
            return self._enter(self._going, pose)
        return self._turn(error)

    def _going(self, pose: Pose) -> tuple[Velocity, float]:
        distance, error = self._leg.distance(pose), self._off_course(pose)
        if distance <= self._limits.tolerance:
            return self._enter(self._facing, pose)
        if abs(error) > _ASTRAY:
            return self._enter(self._turning, pose)
        speed = math.cos(error) * min(
            self._limits.speed, math.sqrt(self._limits.acceleration * distance),
            _GAIN * distance)
        return (Velocity(-speed if self._backwards else speed, self._turn(error)[0].turn),
                distance / self._limits.speed)

    def _facing(self, pose: Pose) -> tuple[Velocity, float]:
        error = self._leg.misalignment(pose)
        if abs(error) <= self._limits.heading_tolerance:
            return STILL, 0.0
        return self._turn(error)

    def _enter(self, phase, pose: Pose) -> tuple[Velocity, float]:
        self._phase = phase
        self._best, self._best_time = math.inf, self._watch.elapsed
        return phase(pose)

    def _off_course(self, pose: Pose) -> float:
        """Return the turn to the direction of the target in rad."""
        course = math.atan2(self._leg.y - pose.y, self._leg.x - pose.x)
        return wrapped(course - pose.yaw + (math.pi if self._backwards else 0.0))

    def _turn(self, error: float) -> tuple[Velocity, float]:
        speed = min(self._limits.turn, math.sqrt(self._limits.turn_acceleration * abs(error)),
                    _GAIN * abs(error))
        return (Velocity(0.0, math.copysign(speed, error)), abs(error) / self._limits.turn)

    def _stuck(self, remaining: float) -> bool:
        """Whether the rest, in s at full speed, has hardly become less for too long."""
        patience, now = self._limits.patience, self._watch.elapsed
        if remaining <= 0 or remaining < self._best - _PROGRESS * patience:
            self._best, self._best_time = remaining, now
        return now - self._best_time >= patience

    def _towards(self, wanted: Velocity, step: float) -> Velocity:
        return Velocity(
            _approach(self._velocity.forward, wanted.forward, self._limits.acceleration * step),
            _approach(self._velocity.turn, wanted.turn, self._limits.turn_acceleration * step))


def _approach(value: float, wanted: float, most: float) -> float:
    return min(max(wanted, value - most), value + most)
