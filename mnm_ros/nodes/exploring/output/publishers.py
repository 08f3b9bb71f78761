# SPDX-License-Identifier: Apache-2.0

"""The topics of the explorer: each value is published when it has changed, and not too often."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
import math
from typing import Any, TypeVar

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from mnm_ros import messages
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.progress.activity import ClosedWay
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import (
    Because,
    is_for_goal,
    NodeEnding,
    Reason,
    Restarted,
    Said,
)
from mnm_ros.core.queries import Phase
from mnm_ros.core.task.step_task import RunState
from mnm_ros.language import ENGLISH, phrase
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.link import Link, RobotReport
from mnm_ros.nodes.exploring.output.event_topic import EventTopic
from mnm_ros.nodes.exploring.output.hypothesis_topics import HypothesisTopics, Keep
from mnm_ros.nodes.exploring.output.live_topics import LiveTopics, TrustTopics
from mnm_ros.nodes.exploring.output.markers import PictureTopic
from mnm_ros.nodes.exploring.output.stops import Stops
from mnm_ros.protocol.rest_rules import without_charge
from mnm_ros.robot_description import RobotDescription
from mnm_ros.view.event_words import closed_way, next_try, told
from mnm_ros.view.sentences import figures, sentence
from mnm_ros.view.shapes import Caption
from mnm_ros.view.telemetry import NOT_KEPT
from rclpy.publisher import Publisher
from std_msgs.msg import Header, String

_MsgT = TypeVar('_MsgT')
_PHASE_PERIOD = 0.1      # s, at least between two phases: they change thousands of times a second
_WAITS = (Phase.WAITING_FOR_ROBOT, Phase.PAUSED)


class Publishers:
    """
    All topics about an exploration; late subscribers get the latest value.

    :param policies_up_to: known states up to which ``policies`` has policies of one row each.
    :param language: of the sentences for people.
    :param link: to the robots.
    :param keep: as ``HypothesisTopics`` has it.
    :param trusted: as ``TrustTopics`` has ``since``.
    :ivar closed: each way that is closed.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard, policies_up_to: int,
                 language: str, link: Link, events: EventTopic,
                 keep: Keep = lambda: lambda now: True,
                 trusted: Iterable[tuple[int, str, int]] = ()) -> None:
        self._node = node
        self._link, self._language = link, language
        self._events = events
        self.closed: Mapping[Pair, ClosedWay] = {}
        self._learnt = HypothesisTopics(node, guard, policies_up_to, keep)
        self._live = LiveTopics(node, language)
        self._trust = TrustTopics(node, policies_up_to, language, trusted)
        self._phase = node.create_publisher(String, 'phase', messages.LATCHED)
        self._status = node.create_publisher(String, 'status', messages.LATCHED)
        self._diagnostics = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._picture = PictureTopic(node)
        self._said: tuple[Phase | None, str] = (None, '')
        self._why: tuple[object, ...] = ()    # the same as values
        self._diagnosed = DiagnosticStatus()
        self._next_phase = -math.inf
        self._stops = Stops(events, link)
        self._counted = (0, -math.inf)    # steps and when
        self._timeouts = 0
        self._level = DiagnosticStatus.STALE
        self._latest: dict[Publisher[Any], object] = {}
        self._republished: float | None = None

    def close(self, exploration: Exploration) -> None:
        """Publish what still waits, and that it has stopped, before the topics are removed."""
        self._learnt.publish_due(math.inf)
        if not self._stops.told:    # it may have stopped since the last news
            phase, why = exploration.phase, exploration.status
            if phase not in (Phase.PAUSED, Phase.FAULT, Phase.DONE) or is_for_goal(why):
                # Several robots pause one by one, and a plan cannot be paused.
                phase, why = Phase.PAUSED, Because('paused', NodeEnding())
            self._stops.hear(
                phase, sentence(why, self._names, self._language), why, exploration)
        self._stops.tell()
        self._events.tell_repeats(self._names, end=True)
        self._live.close()
        self._trust.close()
        self._picture.close()

    @property
    def trusted(self) -> list[tuple[int, str, int]]:
        """Return since when policies are trusted."""
        return self._trust.since

    def republish(self, period: float, now: float) -> None:
        """Publish all values again every ``period`` s, for nodes that lost them; 0: never."""
        if self._republished is None or not period:
            self._republished = now
        elif now >= self._republished + period:
            self._republished = now
            self._learnt.republish(now)
            self._live.republish()
            self._trust.republish()
            self._picture.republish()
            for publisher, message in self._latest.items():
                publisher.publish(message)

    def hypothesis(self, hypothesis: Hypothesis | None, now: float) -> None:
        """Publish known states and policies, as soon as they may be, if their version is new."""
        self._learnt.change(hypothesis, now)

    def news(self, exploration: Exploration, waits: bool, now: float) -> None:
        """
        Publish whatever has changed and is due.

        :param waits: whether it may still be heard who has asked for a stop.
        """
        self._learnt.publish_due(now)
        names = self._names
        phase, missing = exploration.phase, self._link.missing(now)
        doing = self._status_of(exploration, missing, self._language)
        status = self._with_closed(doing, exploration.status, self._language)
        phase_before, status_before = self._said
        if (phase, status) != self._said and now >= self._next_phase:
            why = without_charge(exploration.status), missing, self.closed
            if phase is not phase_before or phase in _WAITS and why != self._why:
                self._log(phase, self._with_closed(self._status_of(
                    exploration, missing, ENGLISH), exploration.status, ENGLISH))
                self._stops.hear(phase, doing, exploration.status, exploration)
            self._said, self._why = (phase, status), why
            self._next_phase = now + _PHASE_PERIOD
            if status != status_before:
                self._publish(self._status, String(data=status))
            if phase is not phase_before:    # a node that sees it knows why
                self._publish(self._phase, String(data=phase.value))
        if not waits:
            self._stops.tell()
        seen = self._link.last_seen()
        self._live.news(exploration, status, tuple(self.closed.values()), names, seen, now)
        self._trust.news(exploration, self._link.loop.seconds, names, self._picture.watched, now)
        self._picture.news(exploration, self._link.profile.description, Caption(
            self._level[0], f'{phase.value}\n{status}'), self._trust.told, seen, now)

    def event(self, event: Event) -> Event:
        """Publish a decision, and log it; return it as it is published."""
        event = self._events.tell(event, self._names)
        self._node.get_logger().info(f'step {event.step}: {self._in_english(event)}')
        return event

    def asked(self, event: Event) -> None:
        """Publish what somebody has asked for, and log it."""
        event = self._events.tell(event, self._names)
        if event.count != 0:    # else it is only counted
            self._node.get_logger().info(self._in_english(event))

    def _in_english(self, event: Event) -> str:
        """Return the sentence about an event that is published, as the log has it."""
        return event.text if self._language == ENGLISH else told(event, self._names)

    def restarted(self, step: int) -> None:
        """Report that it goes on from what was kept."""
        self._events.tell(
            Event(step, '', 'restart', said=Restarted(step)), self._names)

    def kept(self, found: Iterable[str], step: int) -> None:
        """Report what was found wrong with what is kept; the log has it, too."""
        for each in found:
            self._events.tell(Event(step, each, 'restart'), self._names)

    def declared(self, said: Said, step: int, now: float) -> None:
        """Say on ``status`` what is declared, log it, and report what is doubted for it."""
        self._trust.republish()
        self._node.get_logger().info(sentence(said))
        event = self._events.tell(Event(step, '', said=said), self._names)
        self._said, self._why = (self._said[0], event.text), ()
        self._next_phase = now + _PHASE_PERIOD
        self._publish(self._status, String(data=event.text))

    def diagnostics(self, exploration: Exploration, disk: str, refused: str, keeps: bool,
                    dropped: int, now: float) -> None:
        """
        Find out what ``publish_diagnostics`` says; to be called once a second.

        :param disk: why not everything is kept in ``checkpoint_dir`` at the moment, or empty.
        :param refused: what was found there and not gone on from, or empty.
        :param keeps: whether there is such a folder.
        :param dropped: how many requests were left out of the record.
        """
        self._events.pass_time(exploration.steps)
        for event in self._events.tell_repeats(self._names):
            self._node.get_logger().info(self._in_english(event))
        steps, since = self._counted
        self._counted = exploration.steps, now
        timeouts = self._link.loop.timeouts
        asked_again, self._timeouts = timeouts - self._timeouts, timeouts
        names = self._names
        level, text = diagnosis(
            exploration, self._status_of(exploration, self._link.missing(now), self._language),
            self._link.standing_by, disk, asked_again, refused, self._language)
        values = {
            **figures(exploration, names, self._language),
            'steps_per_second': round((exploration.steps - steps) / (now - since), 1),
            'robot_timeouts': timeouts,
            'requests_dropped': dropped,
            'closed': '; '.join(closed_way(way, names, self._language)
                                for way in self.closed.values()),
            'checkpoint': disk or refused or ('ok' if keeps else NOT_KEPT)}
        self._level = level
        self._diagnosed = DiagnosticStatus(
            level=level, name=f'{self._node.get_fully_qualified_name()}: exploration',
            message=text, values=_key_values(values))

    def publish_diagnostics(self, now: float) -> None:
        """Publish how the robots are now, with what ``diagnostics`` has found out last."""
        known, unanswered = self._diagnosed, round(self._link.unanswered(now), 1)
        robots = self._link.robots
        self._events.watch(robots, self._counted[0], self._names)
        self._diagnostics.publish(DiagnosticArray(
            header=Header(stamp=self._node.get_clock().now().to_msg()),
            status=[DiagnosticStatus(
                level=known.level, name=known.name, message=known.message,
                values=[*known.values, *_key_values({'unanswered': unanswered})]),
                *(self._of_robot(robot) for robot in robots)]))

    def _of_robot(self, robot: RobotReport) -> DiagnosticStatus:
        level = (DiagnosticStatus.OK if robot.state is RunState.RUNNING else
                 DiagnosticStatus.ERROR if robot.state is RunState.FAULT else
                 DiagnosticStatus.WARN)
        return DiagnosticStatus(
            level=level, name=f'{self._node.get_fully_qualified_name()}: robot {robot.name}',
            message=robot.status, values=_key_values(robot.values))

    def while_busy(self, now: float) -> None:
        """Publish what waits, and show a new viewer what was drawn last, while a plan is made."""
        self._learnt.publish_due(now)
        self._live.while_busy(now)
        self._trust.collect()
        self._picture.greet(now)

    def _publish(self, publisher: Publisher[_MsgT], message: _MsgT) -> None:
        self._latest[publisher] = message
        publisher.publish(message)

    @property
    def _names(self) -> RobotDescription:
        return self._link.profile.names

    def _status_of(self, exploration: Exploration, missing: Reason, language: str) -> str:
        """Return what the exploration is doing or why it stopped, a change as its event has it."""
        said = self._events.in_words(exploration.status, self._names, language)
        waits = missing and exploration.phase is Phase.WAITING_FOR_ROBOT
        return f'{said} ({sentence(missing, language=language)})' if waits else said

    def _with_closed(self, doing: str, status: Reason, language: str) -> str:
        """Return what it is doing and the closed ways, but for the name of one in ``status``."""
        named = self._events.named(status)
        return '; '.join(filter(None, (doing, *(
            next_try(way, language) if pair == named else
            closed_way(way, self._names, language) for pair, way in self.closed.items()))))

    def _log(self, phase: Phase, status: str) -> None:
        """Log when it starts, stops or waits, and why."""
        logger, (before, _) = self._node.get_logger(), self._said
        if phase is Phase.FAULT:
            logger.error(status)
        elif phase is Phase.WAITING_FOR_ROBOT and before not in (None, *_WAITS):
            logger.warning(status)
        elif phase in (*_WAITS, Phase.DONE):
            logger.info(status)
        elif before in _WAITS:
            logger.info('exploring')


def way_back(exploration: Exploration, language: str = ENGLISH) -> str:
    """Return how to mend a fault."""
    return phrase(f'diagnosis.{"recover" if exploration.recoverable else "load"}', language)


def diagnosis(exploration: Exploration, status: str, standing_by: bool, disk: str,
              timeouts: int, refused: str = '', language: str = ENGLISH) -> tuple[bytes, str]:
    """
    Return the level of the diagnostics, and the sentence that goes with it.

    :param status: as it is published.
    :param standing_by: whether the robot is left to another explorer.
    :param disk: why not everything is kept in ``checkpoint_dir`` at the moment, or empty.
    :param timeouts: how often something had to be sent to the robot again since the last time.
    :param refused: what was kept there and is not gone on from, or empty.
    """
    if exploration.phase is Phase.FAULT:
        return DiagnosticStatus.ERROR, f'{status}; {way_back(exploration, language)}'
    misses = exploration.homing.misses_in_a_row
    reasons = [phrase(f'diagnosis.{name}', language, what=what) for name, what, holds in (
        ('not_kept', disk, disk), ('refused', refused, refused),
        ('quarantined', ', '.join(exploration.quarantined), exploration.quarantined),
        ('misses', misses, misses > 1), ('timeouts', timeouts, timeouts > 0)) if holds]
    message = '; '.join((status, *reasons))
    if exploration.phase is Phase.WAITING_FOR_ROBOT and not standing_by:
        return DiagnosticStatus.STALE, message
    warns = reasons or exploration.phase in (Phase.WAITING_FOR_ROBOT, Phase.PAUSED)
    return DiagnosticStatus.WARN if warns else DiagnosticStatus.OK, message


def _key_values(values: Mapping[str, object]) -> list[KeyValue]:
    return [KeyValue(key=key, value=str(value)) for key, value in values.items()]
