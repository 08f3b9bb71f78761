# SPDX-License-Identifier: Apache-2.0

"""Driving to a pose by feedback on the robot's poses; time is passed in, in seconds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
import math
from typing import NamedTuple

from mnm_ros.driving.pose import Pose, wrapped

_GAIN = 3.0        # 1/s, speed per remaining distance or angle, close to the end
_ALIGNED = 0.1     # rad from the direction of the target, within which it starts to drive
_ASTRAY = 0.5      # rad from that direction, beyond which it stops and turns again
_LONGEST = 0.2     # s between two poses that count for acceleration; more may be a gap
_PROGRESS = 0.1    # of the full speed; a robot that is slower on average is blocked


class Outcome(Enum):
    """How a leg, or a maneuver of several legs, has ended."""

    REACHED = 'reached'
    TIMEOUT = 'timeout'
    BUMPED = 'bumped'
    BLOCKED = 'blocked'
    DETOUR = 'detour'            # given up on a long way round
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
    """

    x: float
    y: float
    yaw: float | None
    timeout: float
    backwards: bool | None = False
    retreat: bool = False
    direct: bool = False

    def distance(self, pose: Pose) -> float:
        """Return the distance of a pose from the target in m."""
        return math.dist((self.x, self.y), (pose.x, pose.y))

    def misalignment(self, pose: Pose) -> float:
        """Return the turn that a pose still needs in rad; 0 if the heading does not matter."""
        return 0.0 if self.yaw is None else wrapped(self.yaw - pose.yaw)


@dataclass(frozen=True)
class Limits:
    """Limits in m, s and rad; without progress for ``blocked_after`` s the robot is blocked."""

    speed: float
    turn: float
    acceleration: float
    turn_acceleration: float
    tolerance: float
    heading_tolerance: float
    blocked_after: float


class Stopwatch:
    """Measures time by the stamps of messages, which may jump back."""

    def __init__(self, now: float) -> None:
        self.elapsed = 0.0
        self._last = now

    def lap(self, now: float) -> float:
        """Return the s since the last call; a jump back counts as 0."""
        step, self._last = max(0.0, now - self._last), now
        self.elapsed += step
        return step


class Odometer:
    """
    Measures the way driven by poses.

    :param pose: where it begins.
    :param grain: in m, up to which the distance of two poses may be noise.
    """

    def __init__(self, pose: Pose, grain: float) -> None:
        self._length = 0.0
        self._last = pose
        self._grain = grain

    def lap(self, pose: Pose) -> float:
        """Return the m driven up to a pose."""
        step = math.dist(self._last[:2], pose[:2])
        if step > self._grain:
            self._length, self._last = self._length + step, pose
        return self._length


class Drive:
    """
    Turns towards the target of a leg, drives there, turns as asked, and comes to rest.

    :param now: by the stamps of the poses.
    :param steady: by the steady clock, so that stamps that hardly advance do not keep it from
        braking.
    :ivar outcome: None while it is under way.
    """

    def __init__(
            self, limits: Limits, leg: Leg, now: float, pose: Pose, steady: float = 0.0) -> None:
        self.outcome: Outcome | None = None
        self._limits = limits
        self._leg = leg
        self._watch, self._steady = Stopwatch(now), Stopwatch(steady)
        self._velocity = STILL
        self._backwards = leg.backwards
        if self._backwards is None:
            self._backwards = abs(self._off_course(pose)) > math.pi / 2
        self._phase: _Phase = self._turning
        self._best, self._best_time = math.inf, 0.0

    def step(self, now: float, pose: Pose, steady: float = 0.0) -> Velocity:
        """Return the velocity from ``now`` on, which is zero once it is over."""
        if self.outcome:
            return STILL
        step, real = self._watch.lap(now), self._steady.lap(steady)
        wanted, remaining = self._phase(pose)
        if self._watch.elapsed >= self._leg.timeout:
            self.outcome = Outcome.TIMEOUT
        elif self._blocked(remaining):
            self.outcome = Outcome.BLOCKED
        else:
            self._velocity = self._towards(
                wanted, min(step, _LONGEST), min(max(step, real), _LONGEST))
            if self._phase == self._facing and self._velocity == STILL and wanted == STILL:
                self.outcome = Outcome.REACHED
        return STILL if self.outcome else self._velocity

    def bump(self) -> None:
        """Take note of a bump, which ends the leg unless that is a retreat."""
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

    def _enter(self, phase: _Phase, pose: Pose) -> tuple[Velocity, float]:
        self._phase = phase
        self._best, self._best_time = math.inf, self._watch.elapsed
        return phase(pose)

    def _off_course(self, pose: Pose) -> float:
        """Return the turn that the direction of the target needs in rad."""
        course = math.atan2(self._leg.y - pose.y, self._leg.x - pose.x)
        return wrapped(course - pose.yaw + (math.pi if self._backwards else 0.0))

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

    def _towards(self, wanted: Velocity, step: float, braking: float) -> Velocity:
        limits = (self._limits.acceleration, self._limits.turn_acceleration)
        return Velocity(*(_approach(value, there, most * step, most * braking)
                          for value, there, most in zip(self._velocity, wanted, limits)))


def _approach(value: float, wanted: float, gain: float, loss: float) -> float:
    """Return the value at most ``gain`` nearer to the one wanted, or ``loss`` while it shrinks."""
    if value < 0:
        return -_approach(-value, -wanted, gain, loss)
    lowest = min(value - gain, max(0.0, value - loss))
    return min(max(wanted, lowest), value + gain)
