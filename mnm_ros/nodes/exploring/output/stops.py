# SPDX-License-Identifier: Apache-2.0

"""The events that say that the explorer has stopped, and why, or that it goes on."""

from __future__ import annotations

import time

from mnm_ros.core.exploration import Exploration
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import GoesOn, is_for_goal, Reason, Said
from mnm_ros.core.queries import Phase
from mnm_ros.nodes.exploring.link.link import Link
from mnm_ros.nodes.exploring.output.event_topic import EventTopic
from mnm_ros.protocol.rest_rules import asked_by, without_charge

_GOAL = 'goal'    # has the robot: its own events say so


class Stops:
    """
    Makes an event of each stop, which waits until it is known who has asked for it.

    That there is no robot yet is no news. A goal for which it pauses has events of its own.

    :param events: publishes them.
    :param link: to the robots.
    """

    def __init__(self, events: EventTopic, link: Link) -> None:
        self._events, self._link = events, link
        self._first = True    # whether nothing was heard yet
        self._kind = ''    # of the event that has said that it stopped, until it goes on; or _GOAL
        self._why: Reason = ''    # as that event has it
        self._lent = False    # whether a goal has had the robot since then
        self._untold: list[tuple[Event, Reason]] = []

    @property
    def told(self) -> bool:
        """Whether an event has said why it has stopped, and it has not gone on since then."""
        return self._kind not in ('', 'robot', _GOAL)

    def hear(self, phase: Phase, status: str, why: Reason, exploration: Exploration) -> None:
        """
        Make an event if it has stopped, or goes on.

        :param why: the same as ``status``, as a value if it is one.
        """
        first, self._first = self._first, False
        kind = {Phase.PAUSED: 'rest' if self._link.resting else 'pause', Phase.FAULT: 'fault',
                Phase.DONE: 'done', Phase.WAITING_FOR_ROBOT: 'robot'}.get(phase)
        if kind == 'robot' and (self._kind or first):
            self._kind = self._kind or kind
            return
        if is_for_goal(why):
            self._kind, self._lent = self._kind or _GOAL, True
            return
        lent, self._lent = self._lent, False
        if lent and kind == self._kind and without_charge(why) == self._why:
            return    # it has stopped as before the goal
        if kind or self._kind not in ('', _GOAL):
            seconds = {action: round(mean, 3) for action, mean in self._link.loop.seconds.items()}
            self._untold.append((Event(
                exploration.steps, status if kind else '', kind or self._kind,
                time=time.time(), seconds=seconds if kind else None,
                by=asked_by(self._link.resting) if kind == 'rest' else None,
                said=why if kind and isinstance(why, Said) else None if kind else GoesOn()),
                exploration.why if kind else ''))
        self._kind, self._why = kind or '', without_charge(why)

    def tell(self) -> None:
        """Publish what waits."""
        while self._untold:
            event, why = self._untold.pop(0)
            self._events.tell(event, self._link.profile.names, why)
