# SPDX-License-Identifier: Apache-2.0

"""
When to try closed ways again: the clock that the exploration has not.

``LookTimes`` has the times, and ``ClosedWays`` asks the exploration, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
import math
import time

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.progress.activity import ClosedWay
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import PairChanged, WayOpen, WaysClosed, WayStillClosed
from mnm_ros.nodes.exploring.explored import Explored
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.link import Link
from mnm_ros.nodes.exploring.output.publishers import Publishers
from mnm_ros.parameters import Parameters
from mnm_ros.view.event_words import closed_way

_LONGEST = 86400.0    # s, however often it was tried in vain
_STEP = 3.0    # s that a step counts at least: a simulated robot may be faster than any clock


@dataclass(frozen=True)
class ClosedSince:
    """
    A way that is closed.

    :ivar looks: tries in vain, so far.
    :ivar since: s since 1970; None if that is not known.
    :ivar next: time of the next try, s since 1970; infinite if somebody asked for one now.
    :ivar step: at which the try is due, if that comes before the time.
    :ivar trying: whether the try is under way.
    """

    looks: int
    since: float | None
    next: float    # noqa: A003
    step: float
    trying: bool = False


class LookTimes:
    """
    Schedules the next try of each closed way, ``first`` s after the alarm, then after twice that.

    A step counts as at least ``_STEP`` s. Otherwise what a simulated robot learns would depend on
    how fast the machine is, and half an hour would be tens of thousands of its steps.

    :param first: returns s; 0 for never.
    :param past: what has happened before, oldest first: a restart forgets no time.
    :param clock: returns s since 1970.
    """

    def __init__(self, first: Callable[[], float], past: Iterable[Event] = (),
                 clock: Callable[[], float] = time.time) -> None:
        self._first = first
        self._clock = clock
        self._since: dict[Pair, float] = {}
        self._begun: dict[Pair, tuple[float, int]] = {}    # the waits under way before a restart
        self._ways: dict[Pair, ClosedSince] = {}
        for event in past:
            self.hear(event)

    def hear(self, event: Event) -> None:
        """Record an event, with clock times: it may say since when a way is closed."""
        if isinstance(event.said, WaysClosed):
            for state, action in event.said.pairs:
                self._begun[state, action] = event.time, event.step
        elif isinstance(event.said, (WayOpen, WayStillClosed)):
            self._begun.pop((event.said.state, event.said.action), None)
        elif event.kind == 'change' and event.change is not None:
            pair = event.change.state, event.change.action
            self._since[pair] = event.change.time or event.time
            self._begun.pop(pair, None)

    def update(self, closed: Mapping[Pair, int], steps: int) -> list[Pair]:
        """
        Record what is closed; return the ways of which the next try is news.

        :param closed: the ways that are closed, and how often they were tried in vain.
        :param steps: of the exploration so far.
        """
        first, now = self._first(), self._clock()
        before, self._ways = self._ways, {}
        news = []
        for pair, looks in closed.items():
            way = before.get(pair)
            if way is None or way.looks != looks:
                if pair not in self._begun:
                    news.append(pair)
                at, step = self._begun.pop(pair, (now, steps))
                wait = min(first * 2.0 ** min(looks, 99), max(first, _LONGEST)) or math.inf
                way = ClosedSince(looks, self._since.get(pair), min(at, now) + wait,
                                  min(step, steps) + wait / _STEP)
            self._ways[pair] = way
        return news

    def due(self, steps: int) -> list[Pair]:
        """Return the ways of which a try is due, each once for a try."""
        now = self._clock()
        found = [pair for pair, way in self._ways.items()
                 if not way.trying and (way.next <= now or way.step <= steps)]
        self._ways.update({pair: replace(self._ways[pair], trying=True) for pair in found})
        return found

    def look_now(self) -> None:
        """Record that somebody has asked to try all of them."""
        self._ways = {pair: replace(way, next=math.inf, trying=True)
                      for pair, way in self._ways.items()}

    @property
    def closed(self) -> dict[Pair, ClosedWay]:
        """Return each way that is closed; the time of a try under way stays until it has come."""
        now = self._clock()
        return {pair: ClosedWay(*pair, way.since, way.next if (
            math.isfinite(way.next) and not (way.trying and way.next <= now)) else None)
            for pair, way in self._ways.items()}


class ClosedWays:
    """
    Asks the exploration to try closed ways again, when a try is due or somebody asks for one.

    :param parameters: of the explorer.
    :param guard: calls the exploration, if need be after a plan.
    :param publishers: publish what is closed.
    :param explored: what is to try them.
    :param link: to the robots, whose names are told.
    :param past: what has happened before, oldest first.
    :ivar times: of the next tries.
    """

    def __init__(self, parameters: Parameters, guard: CallbackGuard, publishers: Publishers,
                 explored: Explored, link: Link, past: Iterable[Event]) -> None:
        self._parameters = parameters
        self._guard = guard
        self._publishers = publishers
        self._explored = explored
        self._link = link
        self.times = LookTimes(lambda: parameters['first_look'], past)

    def look(self) -> str:
        """Try all closed ways at once; return which these are, for people."""
        closed = self.times.closed.values()
        if closed:
            self.times.look_now()
            self._guard.call(self._look_at_all)
        return self._said(replace(way, next_try=None) for way in closed)    # which is now

    def _look_at_all(self) -> None:
        self._explored.exploration.look()    # the one loaded last, if the call had to wait

    def ask(self) -> None:
        """Ask the exploration, which has no clock, to try what has been closed for long."""
        exploration = self._explored.exploration
        if exploration.closed and self._parameters['first_look']:
            exploration.leave_closed()
        self._schedule()
        for pair in self.times.due(exploration.steps):
            exploration.look(*pair)
        self._publishers.closed = self.times.closed

    def hear(self, event: Event) -> None:
        """
        Record an event; if a way may have closed or opened, schedule its next try.

        The status about the event has the time of the next try then.
        """
        self.times.hear(event)
        if isinstance(event.said, (PairChanged, WayOpen, WayStillClosed)):
            self._schedule()
            self._publishers.closed = self.times.closed

    def _schedule(self) -> None:
        """Schedule the next try of each closed way; new ones become an event."""
        exploration = self._explored.exploration
        news = self.times.update(exploration.closed, exploration.steps)
        if news:
            closed = self.times.closed
            self._publishers.event(Event(
                exploration.steps, self._said(closed[pair] for pair in news),
                said=WaysClosed(tuple(news))))

    def _said(self, ways: Iterable[ClosedWay]) -> str:
        """Return what is closed, for people."""
        names, language = self._link.profile.names, self._parameters['language']
        return '; '.join(closed_way(way, names, language) for way in ways)
