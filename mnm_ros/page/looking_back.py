# SPDX-License-Identifier: Apache-2.0

"""Earlier content of the page: kept packed, and shown again when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
import math
import pickle
import time
from typing import Any, NamedTuple, Protocol
import zlib

from mnm_ros.core.errors import MessageError
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import WaysClosed
from mnm_ros.description_entries import MAX_STATES
from mnm_ros.language import moment, phrase
from mnm_ros.messages import PolicySet
from mnm_ros.robot_description import UNDESCRIBED
from mnm_ros.view.event_words import told
from mnm_ros.view.past import CHANGE, DECISION, Moment, NOTHING, Past
from mnm_ros.view.scene import kinds
from mnm_ros.view.telemetry import Ground, Telemetry
from mnm_ros.view.web.layers import Disc, draw, Layers, Places, policy_arrows
from mnm_ros.view.words import joined
from std_msgs.msg import Int64MultiArray

_EVERY = 2.0     # s, between two moments
_SETTLE = 1.0    # s, after which all that follows from a decision has been heard
_REST = 50       # times as long as keeping a moment takes, before the next one
_WEIGHTS = {'change': CHANGE, 'fault': CHANGE}


class Source(Protocol):
    """What is shown: ``Subscriptions``, or a log that is replayed."""

    heard: Telemetry
    policies: Int64MultiArray | None

    def policy_to(self, state: int) -> Policy | None:
        """Return the policy to a known state; None until it is there. Any thread may ask."""


class PastView(NamedTuple):
    """
    The content of the page at a moment.

    :ivar where: each state is drawn; where it is drawn now.
    :ivar layers: of the map.
    """

    moment: Moment
    heard: Telemetry
    where: Mapping[int, Disc]
    layers: Layers
    hypothesis: Hypothesis | None

    def among(self, moments: Sequence[Moment]) -> int:
        """Return where it is, or would be, among moments."""
        return sum(each.number < self.moment.number for each in moments)

    def arrows(self, state: int) -> dict[str, list[Any]] | None:
        """Return the policy to a state as arrows, if it was known then and all were published."""
        if self.hypothesis is None or state not in self.hypothesis.targets:
            return None
        return policy_arrows(self.heard, self.hypothesis.policy_for(state), self.where)

    def told(self, language: str) -> str:
        """Return in words when that was, and what had happened."""
        at, event = self.moment, self.moment.event
        return joined(
            moment(at.time, '%a %H:%M:%S', language) if at.time else '',
            phrase('event.step', language, step=at.step)) + (
            f': {told(event, self.heard.description, language, plain=True)}' if event else '')


class LookingBack:
    """
    Keeps moments, above all those at which something was decided, whether a page is open or not.

    :ivar past: the moments.
    """

    def __init__(self, source: Source) -> None:
        self.past = Past()
        self._source = source
        self._events: tuple[Event, ...] = ()
        self._world: tuple[Any, bytes] = None, b''    # the last one, and the same packed
        self._kept: tuple[int, tuple[Event, ...]] = -1, ()    # steps and events
        self._due = self._latest = -math.inf

    def look(self, now: float) -> None:
        """Keep what is heard now, if it is time and there is something new."""
        heard = self._source.heard
        if heard.count('steps') is None:
            return
        if heard.events != self._events:
            settled = max(self._due, now + _SETTLE)
            if self._events == self._kept[1]:    # the first news since
                self._latest = settled + _EVERY
            self._events, self._due = heard.events, min(settled, self._latest)
        if now >= self._due and (heard.steps, heard.events) != self._kept:
            began = time.thread_time()    # on a busy machine the clock goes on meanwhile
            self.keep(time.time())
            self._due = now + max(_EVERY, _REST * (time.thread_time() - began))

    def keep(self, clock: float | None = None) -> None:
        """
        Keep what is heard now.

        :param clock: in s since 1970; None for the time of what has happened, if that is known.
        """
        heard = self._source.heard
        # That a way is closed is said each time when a try has failed, not only when it closed.
        news = [event for event in heard.events if event not in self._kept[1]
                and not isinstance(event.said, WaysClosed)]
        news.sort(key=lambda event: _WEIGHTS.get(event.kind, DECISION))
        self._kept = heard.steps, heard.events
        when = max((event.time for event in news), default=0.0) if clock is None else clock
        shown = replace(heard, description=UNDESCRIBED, ground=Ground(
            doors=heard.ground.doors, door_size=heard.ground.door_size))
        self.past.add(Moment(
            heard.steps, when, news[-1] if news else None,
            _WEIGHTS.get(news[-1].kind, DECISION) if news else NOTHING,
            zlib.compress(pickle.dumps((shown, self._source.policies)), 1),
            world=self._packed_world(heard)))

    def _packed_world(self, heard: Telemetry) -> bytes:
        """Return robot side and map, which are large and seldom others than before."""
        world = heard.description, replace(heard.ground, doors=(), door_size=0.0)
        if world != self._world[0]:
            self._world = world, zlib.compress(pickle.dumps(world), 1)
        return self._world[1]

    def then(self, at: Moment, places: Places, shown: Layers) -> PastView:
        """
        Return what was to be seen at a moment.

        :param shown: what is to be seen now, the frame of which does not change.
        """
        now = self._source.heard
        heard, policies = pickle.loads(zlib.decompress(at.packed))    # of this process
        description, ground = pickle.loads(zlib.decompress(at.world))
        # What had no name then is called as it is now.
        names = {**now.description.names, **description.names}
        if len({*names, *description.positions}) <= MAX_STATES:
            description = replace(description, names=names)
        heard = replace(heard, description=description, ground=replace(
            ground, doors=heard.ground.doors, door_size=heard.ground.door_size))
        try:
            hypothesis = policies and PolicySet.from_msg(policies)
        except MessageError:
            hypothesis = None
        return PastView(at, heard, places.of(kinds(heard)), {
            **draw(heard, places, still=True), 'box': shown['box']}, hypothesis)
