# SPDX-License-Identifier: Apache-2.0

"""The topic ``events``: what has happened, with clock times and the names of states."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
import math
import time

from mnm_ros import messages
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.progress.events import Event, PairChange
from mnm_ros.core.progress.said import (
    ExploreCalled,
    ExploreCalledBefore,
    PausedBy,
    PausedToGoHomeBy,
    Reason,
    WayStillClosed,
)
from mnm_ros.core.task.step_task import RunState
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.link import RobotReport
from mnm_ros.nodes.exploring.output.repeats import Repeats
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.event_words import pause_after, paused, told
from mnm_ros.view.sentences import sentence
from std_msgs.msg import String

_SAMPLES = 20_000    # of the clock, one in a second


class EventTopic:
    """
    Publishes what happens; late subscribers get the last events.

    Who calls the service ``explore`` is not known, but for which goal of the navigator that was.

    :param language: of the sentences.
    :param past: what has happened before, oldest first.
    :param keep: called with each event.
    :param clock: returns s since 1970.
    """

    def __init__(self, node: NodeInterface, language: str, past: Sequence[Event] = (),
                 keep: Callable[[Event], object] = lambda event: None,
                 clock: Callable[[], float] = time.time) -> None:
        self._node, self._language = node, language
        self._clock = clock
        self._keep = keep
        self._publisher = node.create_publisher(String, 'events', messages.EVENTS)
        for event in past[-messages.EVENTS.depth:]:
            self._publisher.publish(String(data=event.to_json()))
        self._robots: dict[str, RunState] = {}    # of several
        self._lent: set[str] = set()    # those that a goal has, until they explore again
        self._samples: deque[tuple[int, float]] = deque(maxlen=_SAMPLES)
        self._change: Event | None = None    # the last one
        self._changed: dict[Pair, PairChange] = {}    # the last change of each
        self._pause: Event | None = None     # the last one, if it is known who has asked for it
        for event in past:
            self._pause = pause_after(self._pause, event)
            self._remember(event)
        self._asked: Event | None = None    # the last that may be why it is paused, or goes on
        self._repeats = Repeats()

    def pass_time(self, step: int) -> None:
        """Record how many steps there are by now; to be called about once a second."""
        if not self._samples or step > self._samples[-1][0]:
            self._samples.append((step, self._clock()))

    def tell(self, event: Event, description: RobotDescription, why: Reason = '') -> Event:
        """
        Publish an event, in the words of people, and return it so; ``why`` it is paused.

        The same call once more is only counted; the ``count`` of what is returned is then 0.
        """
        event = replace(event, time=event.time or self._clock(), change=event.change and (
            self._dated(event.change)), moves=event.moves and replace(
            event.moves, time=self._time_of(event.moves.step),
            latest_time=self._time_of(event.moves.latest)))
        event = replace(event, text=event.text or told(
            event, description, self._language), name=None if (
            event.state is None) else description.names.get(event.state))
        if event.change is not None or event.moves is not None:
            self._change = event
        self._remember(event)
        if event.what in ('pause', 'resume') or (
                event.what == 'home' and (event.by or '').startswith('page')):    # pauses first
            self._asked = event
        event = self._caused(event, why)
        self._pause = pause_after(self._pause, event)
        if self._repeats.takes(event):
            return replace(event, count=0)
        self._publish(event)
        return event

    def tell_repeats(self, description: RobotDescription, end: bool = False) -> list[Event]:
        """
        Publish how often the same was asked for, and return it; to be called every second.

        :param end: whether nothing follows.
        """
        repeated = [replace(event, text=told(event, description, self._language))
                    for event in self._repeats.due(math.inf if end else self._clock())]
        for event in repeated:
            self._publish(event)
        return repeated

    def _publish(self, event: Event) -> None:
        self._publisher.publish(String(data=event.to_json()))
        self._keep(event)

    def in_words(self, said: Reason, description: RobotDescription, language: str) -> str:
        """Return what the core says in words: a change or a pause in those of its event."""
        change = self._last_change(said)
        if change:
            return change.text if language == self._language else told(
                change, description, language)
        return paused(said, self._pause, language=language) or sentence(
            said, description, language)

    def named(self, said: Reason) -> Pair | None:
        """Return the pair that ``in_words`` names as changed or blocked; None for no pair."""
        if isinstance(said, WayStillClosed):
            return said.state, said.action
        change = self._last_change(said)
        return change.change.pair if change and change.change else None

    def _last_change(self, said: Reason) -> Event | None:
        """Return the event of the last change, if that is what the core says."""
        change = self._change
        return change if change and change.said is not None and change.said == said else None

    def watch(self, robots: Iterable[RobotReport], step: int,
              description: RobotDescription) -> None:
        """
        Publish when one of several robots stops or goes on; call it about once a second.

        The events of a goal say enough of a pause for the goal.
        """
        for robot in robots:
            if robot.for_goal:
                self._lent.add(robot.name)
                continue
            if robot.name in self._lent and robot.state is RunState.WAITING_FOR_ROBOT:
                continue    # until the robot is home
            self._lent.discard(robot.name)
            before, self._robots[robot.name] = self._robots.get(robot.name), robot.state
            if before not in (None, robot.state):
                self.tell(Event(step, f'{robot.name}: {robot.status}', 'fault' if (
                    robot.state is RunState.FAULT) else 'robot'), description)

    def _caused(self, event: Event, why: Reason) -> Event:
        """Return a pause with who has asked for it, if that is known."""
        asked = self._asked
        if isinstance(why, ExploreCalledBefore):
            return replace(event, said=why)
        if not isinstance(why, ExploreCalled) or asked is None or asked.what == 'resume':
            return event
        by = asked.by or ''
        said = (PausedToGoHomeBy if asked.what == 'home' else PausedBy)(by)
        return replace(event, by=by, said=said, text=sentence(said, language=self._language))

    def _dated(self, change: PairChange) -> PairChange:
        """Return a change with its time, and whether it ends the last one of the pair."""
        last = self._changed.get(change.pair)
        return replace(change, time=self._time_of(change.step),
                       again=last is not None and change.reverts(last))

    def _remember(self, event: Event) -> None:
        if event.change is not None and event.kind == 'change':
            self._changed[event.change.pair] = event.change

    def _time_of(self, step: int | None) -> float | None:
        """Return about when a step was made, if that was examined."""
        if step is None or not self._samples or step < self._samples[0][0]:
            return None
        found = bisect_left(self._samples, (step, 0.0))
        return self._samples[found][1] if found < len(self._samples) else self._clock()

