# SPDX-License-Identifier: Apache-2.0

"""The poses that say where a robot is: those that follow from the ones before."""

from __future__ import annotations

import math
from typing import NamedTuple

from mnm_ros.driving.pose import Pose, wrapped

_AGREEING = 5    # poses that have to follow from one that did not, before such are believed
_PACE = 0.01     # of the steady clock; stamps that advance more slowly stand still
_SILENT = 1.0    # s after which a pose that no other contradicts is believed, if silence is rest


class PoseReach(NamedTuple):
    """
    How far a pose may be from the one before.

    :ivar speed, turn: of the robot at most, in m/s and rad/s.
    :ivar margin, turn_margin: more than that, in m and rad, for a localisation that corrects
        itself.
    :ivar longest: s between two poses that count; stamps may leap ahead, too.
    """

    speed: float
    turn: float
    margin: float
    turn_margin: float
    longest: float

    def allows(self, before: Pose, pose: Pose, seconds: float) -> bool:
        """Whether a robot can have come from one pose to another in this time."""
        seconds = min(seconds, self.longest)
        return (math.dist(before[:2], pose[:2]) <= self.margin + self.speed * seconds
                and abs(wrapped(pose.yaw - before.yaw)) <= self.turn_margin + self.turn * seconds)


class _Fix(NamedTuple):
    stamp: float
    pose: Pose


class Continuity:
    """
    Distinguishes poses that can be relied on from those of a localisation or a clock that jumps.

    A pose follows from another one if its stamp is later, and the robot can have come so far. One
    that does not follow from the last believed one is believed once others have followed from it.
    Until then a step that is too long is a doubt, while a stamp that is not later changes nothing.

    :param timeout: s by the steady clock after which a pose has to be heard again; may be
        infinite, and then silence means that the robot is at rest.
    :ivar doubt: why it is not known where the robot is although poses come; '' if that is known.
    """

    def __init__(self, reach: PoseReach, timeout: float) -> None:
        self.doubt = ''
        self._reach = reach
        self._timeout = timeout
        self._last: _Fix | None = None      # believed
        self._doubted: list[_Fix] = []      # since then, each of which follows from the one before
        self._restarted = False
        # By the steady clock: when the last pose came, when the last believed one, when the last
        # one by which the stamps had advanced, and since when, and from which stamp, they have to.
        self._came = self._believed = self._heard = -math.inf
        self._mark = -math.inf, 0.0

    def begin(self) -> None:
        """Record a command: the clock of the stamps may start again once in each."""
        self._restarted = False

    def fresh(self, now: float) -> bool:
        """Whether it is known where the robot is."""
        return not self.doubt and not self.lost(now)

    def lost(self, now: float) -> bool:
        """Whether there has been no pose with a later stamp for too long."""
        return now > self._heard + self._timeout

    def creeping(self, now: float) -> bool:
        """Whether poses are lost because their stamps hardly advance."""
        return self.lost(now) and now <= self._believed + self._timeout

    def take(self, stamp: float, pose: Pose, now: float) -> bool:
        """
        Take a pose; return whether it says where the robot is.

        :param now: when it was heard, in s by the steady clock.
        """
        fix, last, self._came = _Fix(stamp, pose), self._last, now
        if last is None or self._follows(last, fix):
            return self._believe(fix, now, anew=last is None)
        if not self._doubted or not self._follows(self._doubted[-1], fix):
            self._doubted = []
        elif self.doubt:
            self._heard = now    # it is doubted, not lost
        self._doubted.append(fix)
        if len(self._doubted) > _AGREEING:
            return self._believe(fix, now, anew=True)
        if stamp > last.stamp:
            self.doubt = self.doubt or (
                f'the pose has jumped by {math.dist(last.pose[:2], pose[:2]):.3g} m and '
                f'{abs(wrapped(pose.yaw - last.pose.yaw)):.2f} rad in {stamp - last.stamp:.3g} s')
        elif len(self._doubted) == _AGREEING:
            since = stamp - self._doubted[0].stamp
            if not self._restarted and self._reach.allows(last.pose, pose, since):
                self._restarted = True
                return self._believe(fix, now, anew=True)
            self.doubt = self.doubt or 'the stamps of the poses have begun anew'
        return False

    def settle(self, now: float) -> bool:
        """Return whether a pose that was not believed is, as nothing has followed it."""
        if self._doubted and self._timeout == math.inf and now > self._came + _SILENT:
            return self._believe(self._doubted[-1], now, anew=True)
        return False

    def _follows(self, before: _Fix, fix: _Fix) -> bool:
        return fix.stamp > before.stamp and self._reach.allows(
            before.pose, fix.pose, fix.stamp - before.stamp)

    def _believe(self, fix: _Fix, now: float, anew: bool = False) -> bool:
        """Rely on a pose; it counts as heard only if the stamps advance, too."""
        since, stamp = self._mark
        if (anew or now > self._believed + self._timeout
                or fix.stamp - stamp >= _PACE * self._timeout):
            self._mark, self._heard = (now, fix.stamp), now
        elif now > since + self._timeout:
            self._mark = now, fix.stamp
        self._last, self._doubted, self._believed, self.doubt = fix, [], now, ''
        return True
