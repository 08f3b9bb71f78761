# SPDX-License-Identifier: Apache-2.0

"""Measures of a drive: the time by stamps, the way by poses, and how far poses can be believed."""

from __future__ import annotations

import math

from mnm_ros.driving.pose import Pose

_OUTLIERS = 3      # poses that may lie apart


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


class SteadyTrack:
    """
    Measures how far poses have followed one another since the last leap, which was none before.

    A few poses that lie apart, after which they go on where they were, are no leap.

    :param leap: in m, from which on the distance of two poses is one.
    """

    def __init__(self, pose: Pose, leap: float) -> None:
        self._leap = leap
        self._length = math.inf
        self._last = pose
        self._left: tuple[Pose, float] | None = None    # where it has leapt from, and the length
        self._apart = 0                                 # poses since then

    def lap(self, pose: Pose) -> float:
        """Return the m up to a pose."""
        before, self._last = self._last, pose
        step = math.dist(before[:2], pose[:2])
        self._apart += 1
        recent = self._left if self._apart <= _OUTLIERS else None
        if recent and math.dist(recent[0][:2], pose[:2]) <= self._leap:
            self._length, self._left = recent[1], None
        elif step > self._leap:
            if recent is None:
                self._left, self._apart = (before, self._length), 0
            self._length = 0.0
        else:
            self._length += step
        return self._length
