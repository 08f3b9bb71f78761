# SPDX-License-Identifier: Apache-2.0

"""Repeated calls become one event with a count, which the explorer publishes at their end."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
import math

from mnm_ros.core.progress.events import Event

_QUIET = 10.0      # s, after which the same call begins a new series
_LONGEST = 600.0   # s, after which the count of a series that goes on is published
_MOST = 200        # different things whose repetitions are counted
_STOPS = 10        # of the same stop, which are published one by one


@dataclass
class _Series:
    """
    One call that is made again and again.

    :ivar last: the event of the last call.
    :ivar met: calls so far.
    :ivar untold: calls of which no event was published yet.
    :ivar told_at: time of the last event that was published, in s since 1970.
    """

    last: Event
    met: int
    untold: int
    told_at: float


class Repeats:
    """Counts events that differ by the time, the step and the place of the robot alone."""

    def __init__(self) -> None:
        self._series: dict[Hashable, _Series] = {}    # that of the last event at the end

    def takes(self, event: Event) -> bool:
        """Return whether an event is only counted, as the same one came within 10 s before."""
        if event.by is None:
            return False
        key = (event.kind, event.by, event.user, event.what, event.said, event.robot, event.target)
        series = self._series.pop(key, None)
        if series is None or event.time > series.last.time + _QUIET:
            series = _Series(event, 0, 0, event.time)
        self._series[key] = series
        series.last, series.met = event, series.met + 1
        freely = _STOPS if event.kind in ('stop', 'free') else 1
        series.untold += series.met > freely
        return series.met > freely

    def due(self, now: float = math.inf) -> list[Event]:
        """
        Return an event with a count for each series that is over, or goes on for 10 minutes.

        :param now: s since 1970; infinite for all.
        """
        told = []
        for key, series in [*self._series.items()]:
            over = now > series.last.time + _QUIET or len(self._series) > _MOST
            if series.untold and (over or now > series.told_at + _LONGEST):
                told.append(replace(series.last, count=series.untold))
                series.untold, series.told_at = 0, now
            if over:
                del self._series[key]
        return told
