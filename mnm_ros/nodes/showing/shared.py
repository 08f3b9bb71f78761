# SPDX-License-Identifier: Apache-2.0

"""What all pages of a dashboard show, made once for all of them."""

from __future__ import annotations

from typing import Any

from mnm_ros.nodes.showing.hands import Hands
from mnm_ros.nodes.showing.page_subscriptions import PageSubscriptions
from mnm_ros.view.heard import Heard
from mnm_ros.view.web.layers import draw, Layers
from mnm_ros.view.web.places import Places
from mnm_ros.view.web.timeline import Timeline

_CHART = 2.0        # s, between two pictures of the timeline


class Shared:
    """
    What is heard as layers and as a chart, drawn when they have changed.

    :param hands: None for a page that commands nothing.
    :param where: namespace and domain, for people.
    """

    def __init__(self, subscriptions: PageSubscriptions, hands: Hands | None, where: str) -> None:
        self.subscriptions, self.hands, self.where = subscriptions, hands, where
        self.places = Places()
        self.timeline = Timeline()
        self.layers: Layers = {}
        self._drawn: tuple[Any, ...] = ()
        self._charted, self._new = 0.0, False
        self.chart: dict[str, Any] = self.timeline.options()

    def remember(self, now: float) -> None:
        """Keep the course of things, whether anybody has a page open or not."""
        self._new |= self.timeline.update(self.subscriptions.heard)
        if self._new and now >= self._charted + _CHART:
            self._new, self._charted, self.chart = False, now, self.timeline.options()

    def update(self) -> Heard:
        """Draw what is new and return what has been heard that it shows."""
        heard = self.subscriptions.heard
        activity = heard.activity
        drawn = (heard.known, heard.counts, heard.description, heard.ground, heard.pose,
                 [(robot.name, robot.place) for robot in heard.robots], activity.current,
                 activity.home, activity.candidates, activity.lost)
        if len(drawn) != len(self._drawn) or any(
                one is not other and one != other
                for one, other in zip(drawn, self._drawn, strict=True)):
            self._drawn, self.layers = drawn, draw(heard, self.places)
        return heard
