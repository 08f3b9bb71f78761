# SPDX-License-Identifier: Apache-2.0

"""What all pages of a dashboard show, made once for all of them."""

from __future__ import annotations

from typing import Any

from mnm_ros.dashboard.facts import Facts
from mnm_ros.dashboard.picture import draw, Layers
from mnm_ros.dashboard.places import Places
from mnm_ros.dashboard.timeline import Timeline
from mnm_ros.nodes.showing.ears import Ears
from mnm_ros.nodes.showing.hands import Hands

_CHART = 2.0        # s, between two pictures of the timeline


class Shared:
    """
    The facts as layers and as a chart, drawn when they have changed.

    :param hands: None for a page that commands nothing.
    :param where: namespace and domain, for people.
    """

    def __init__(self, ears: Ears, hands: Hands | None, where: str) -> None:
        self.ears, self.hands, self.where = ears, hands, where
        self.places = Places()
        self.timeline = Timeline()
        self.layers: Layers = {}
        self._drawn: tuple[Any, ...] = ()
        self._charted, self._new = 0.0, False
        self.chart: dict[str, Any] = self.timeline.options()

    def remember(self, now: float) -> None:
        """Keep the course of things, whether anybody has a page open or not."""
        self._new |= self.timeline.update(self.ears.facts)
        if self._new and now >= self._charted + _CHART:
            self._new, self._charted, self.chart = False, now, self.timeline.options()

    def update(self) -> Facts:
        """Draw what is new and return the facts that it shows."""
        facts = self.ears.facts
        activity = facts.activity
        drawn = (facts.known, facts.counts, facts.description, facts.ground, facts.robot,
                 [(robot.name, robot.place) for robot in facts.robots], activity.current,
                 activity.home, activity.candidates, activity.lost)
        if len(drawn) != len(self._drawn) or any(
                one is not other and one != other
                for one, other in zip(drawn, self._drawn, strict=True)):
            self._drawn, self.layers = drawn, draw(facts, self.places)
        return facts
