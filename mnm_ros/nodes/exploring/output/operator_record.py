# SPDX-License-Identifier: Apache-2.0

"""Who did what: each thing that somebody asks for becomes an event, wherever it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
import math
import time

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.said import as_said, Reason, Said, SettingChanged, TooManyCalls
from mnm_ros.core.task.navigation import GoalReport
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.nodes.common.request_topic import BY_PARAMETERS, SERVICE
from mnm_ros.nodes.exploring.explored import Explored
from mnm_ros.nodes.exploring.link.callback_guard import CallbackGuard
from mnm_ros.nodes.exploring.link.link import Link
from mnm_ros.protocol.rest_rules import asked_by
from mnm_ros.request import Request
from mnm_ros.view.event_words import goal_said
from mnm_ros.view.sentences import sentence
from std_msgs.msg import Bool, String

_GRACE = 1.0      # s, in which it is heard who has called a service
_FRESH = 5.0      # s, for which what was said on requests is waited for,
_AGAIN = 1.5      # and for which a call may be the same once more;
_WAY_HOME = 30.0  # both for a way home, which begins after the step under way
_FLOOD = 60.0     # s without a refusal, after which the next refusal is an event again
_GOALS = 0.1      # s, at least between two checks of what is said of goals
_STOPS = '"stop"'    # in what is said of a stop, which is let through without being read
_SAME_STOP = 1.0  # s, for which a stop that is said again is the same
_MOST = 30        # of what was said on requests, which are kept
_LONGEST = 200    # characters of what another node says
_AT_ONCE = ('home', 'cancel', 'change', 'setting', 'hazard')    # said of others than the explorer
_HOME_ENDS = ('at_home', 'not_home')
_KINDS = ('stop', 'free', 'goal', 'setting')    # of events, beside commands


@dataclass
class _Heard:
    """
    A message on ``requests``, when in s, and for which robots it has become an event.

    :ivar robot: that has said it; empty for all others.
    :ivar over: the robots that have done it, so that a later call is another one.
    """

    request: Request
    robot: str
    at: float
    told: set[str] = field(default_factory=set)
    over: set[str] = field(default_factory=set)

    def has_told(self, robot: str) -> bool:
        return not self.told.isdisjoint(('', robot))


@dataclass
class _Open:
    """An event whose requester is not known yet."""

    event: Event
    until: float


class OperatorRecord:
    """
    Makes events of calls, goals, stops and parameters, and says from where they come.

    The services do not say who calls them. Pages, commands and navigators say it on
    ``requests``, just before or after. If nobody has said it a second later, the event names the
    service itself. An event names also who says it seconds later.

    :param robots: the namespaces of several; empty for one without a name.
    :param tell: called with each event, which lacks only the time and the names.
    :param explored: what counts the steps.
    :param link: to the robots.
    :param past: what has happened before.
    :ivar on_goals: called with what is heard of goals.
    """

    def __init__(self, node: NodeInterface, guard: CallbackGuard, robots: Sequence[str],
                 tell: Callable[[Event], object], explored: Explored, link: Link,
                 past: Iterable[Event] = ()) -> None:
        self._name = node.get_name()
        self._robots = tuple(robots) or ('',)
        self._tell, self._explored, self._link = tell, explored, link
        self._heard: list[_Heard] = []
        self._open: list[_Open] = []
        self._unnamed: list[_Open] = []    # published as by the service itself, and not long ago
        self._stopped: dict[str, bool] = {}
        self._goals: dict[int, bool] = {}    # those with an event, and whether they are over
        self._from: dict[int, Event] = {}    # how each has begun
        self._homing: dict[str, Event] = {}    # how the way home under way has begun
        self._rests: dict[str, Reason] = {}
        for event in past:
            if event.kind in ('stop', 'free'):
                self._stopped[event.robot or ''] = event.kind == 'stop'
            elif event.kind == 'goal' and event.goal is not None:
                self._goals[event.goal] = event.what != 'goal'
        self._met_goals = bool(self._goals)
        self._goals_heard: DiagnosticArray | None = None    # not examined yet
        self._goals_at = -math.inf
        self.on_goals: Callable[[Sequence[GoalReport]], object] = lambda reports: None
        self._allowance = guard.allowance
        self._stop = '', -math.inf    # what was said of the last, and until when
        self._refused: Mapping[str, int] = dict(self._allowance.refused)    # as of the last event
        self._refused_at = -math.inf
        for robot in dict.fromkeys(('', *robots)):
            self._hear_requests(node, guard, robot)
        for robot in self._robots:
            self._hear_stops(node, guard, robot)
        self._read_goals = messages.dropping(
            node, 'goal/status', messages.decode_goals, self._take_goals)
        node.create_subscription(
            DiagnosticArray, 'goal/status', guard.while_open(self._hear_goals), messages.LATCHED)

    @property
    def waiting(self) -> bool:
        """Whether something has happened, and it is not known yet for whom."""
        return bool(self._open)

    def called(self, service: str, what: str, said: Reason = '') -> None:
        """Record a call of a service of the explorer; ``said`` is why it was refused."""
        self._add(what, f'service {service}', said=said)

    def heard(self, topic: str, what: str, said: Reason, refused: bool) -> None:
        """Record what was asked for on a topic of the explorer; ``said`` is the answer."""
        self._add(what, f'topic {topic}', said=said, refused=refused)

    def setting(self, name: str, before: object, now: object) -> None:
        """Record a parameter of the explorer that has changed."""
        self._tell(self._event('setting', BY_PARAMETERS,
                               said=SettingChanged(self._name, name, repr(before), repr(now))))

    def rests(self, reasons: Mapping[str, Reason]) -> None:
        """Record why each robot is sent home to rest, or of the end of that."""
        for robot, reason in reasons.items():
            if reason and not self._rests.get(robot):
                self._tell(self._event('rest', asked_by(reason), robot, as_said(reason)))
            self._rests[robot] = reason

    def goals(self, reports: Iterable[GoalReport]) -> None:
        """Record what has become of goals, those excepted that were over before."""
        for report in reports:
            by, over = report.by or 'topic goal', report.status.over
            if report.id not in self._goals:
                known = report.target is not None and (self._met_goals or not over)
                self._goals[report.id] = not known
                if known:
                    self._add('goal', by, goal=report.id, target=report.target)
            if over and not self._goals[report.id]:
                self._goals[report.id] = True
                self._open.append(_Open(self._event(
                    report.status.value, by, goal=report.id, target=report.target,
                    said=goal_said(report)), 0.0))
        self._met_goals = True
        for goal_id in [*self._goals][:-10 * _MOST]:
            del self._goals[goal_id]
            self._from.pop(goal_id, None)
        self._look(time.monotonic())

    @property
    def dropped(self) -> int:
        """How many calls and requests were refused so far, as there were too many."""
        return sum(self._allowance.refused.values())

    def tick(self, now: float) -> None:
        """Publish what has waited long enough, or comes too often; to be called often."""
        if self._goals_heard is not None and now >= self._goals_at + _GOALS:
            heard, self._goals_heard, self._goals_at = self._goals_heard, None, now
            self._read_goals(heard)
        if self._open:
            self._look(now)
        refused = self._allowance.refused
        if refused != self._refused:
            if now > self._refused_at + _FLOOD:
                entries = ', '.join(each for each in refused if (
                    refused[each] > self._refused.get(each, 0)))
                self._tell(Event(self._explored.exploration.steps, '', 'robot', time=time.time(),
                                 said=TooManyCalls(entries)))
            self._refused, self._refused_at = dict(refused), now

    def _hear_goals(self, message: DiagnosticArray) -> None:
        self._goals_heard = message    # as each is complete, the last one will do

    def _take_goals(self, reports: Sequence[GoalReport]) -> None:
        self.on_goals(reports)
        self.goals(reports)

    def _hear_requests(self, node: NodeInterface, guard: CallbackGuard, robot: str) -> None:
        topic = f'{robot}/requests'.lstrip('/')
        take = guard.while_open(messages.dropping(
            node, topic, lambda message: Request.from_json(message.data),
            lambda request: self._on_request(robot, request)))
        stops, others = (guard.limited(entry, take) for entry in (f'{topic} (stop)', topic))

        def hear(message: String) -> None:
            if _STOPS not in message.data:
                others(message)
            elif message.data != self._stop[0] or time.monotonic() >= self._stop[1]:
                self._stop = message.data, time.monotonic() + _SAME_STOP
                stops(message)

        node.create_subscription(String, topic, hear, messages.REQUESTS)

    def _hear_stops(self, node: NodeInterface, guard: CallbackGuard, robot: str) -> None:
        def on_stopped(message: Bool) -> None:
            before, self._stopped[robot] = self._stopped.get(robot, False), message.data
            if message.data is not before:
                self._add('stop' if message.data else 'free', 'service stop', robot=robot)
        messages.hear(node, Bool, f'{robot}/stopped'.lstrip('/'), messages.LATCHED,
                      lambda message: message, guard.while_open(on_stopped))

    def _add(self, what: str, service: str, robot: str = '', said: Reason = '',
             goal: int | None = None, target: int | None = None, refused: bool = False) -> None:
        """Publish an event as soon as its origin is known."""
        now = time.monotonic()
        event = replace(
            self._event(what, service, robot, as_said(said), goal, target), refused=refused)
        waits = service.startswith((SERVICE, 'topic '))
        self._open.append(_Open(event, now + _GRACE if waits else now))
        self._look(now)

    def _event(self, what: str, by: str, robot: str = '', said: Said | None = None,
               goal: int | None = None, target: int | None = None) -> Event:
        kind = (what if what in _KINDS else 'robot' if what in (*_HOME_ENDS, 'hazard') else
                'command' if goal is None else 'goal')
        return Event(self._explored.exploration.steps, '', kind, time=time.time(), by=by,
                     what=what, said=said, robot=robot or None,
                     state=self._link.last_seen(robot), goal=goal, target=target)

    def _on_request(self, robot: str, request: Request) -> None:
        request = replace(
            request, by=_short(request.by), user=request.user and _short(request.user),
            text=request.text and _short(request.text),
            said=request.said if _is_short(sentence(request.said)) else None)
        now = time.monotonic()
        if request.what in _HOME_ENDS:
            self._open.append(_Open(self._event(
                request.what, request.by, robot, as_said(request.reason)), 0.0))
            self._look(now)
            return
        if request.what != 'setting' and request.by.startswith(SERVICE):
            if request.what != 'home' or not self._link.resets_by_service(robot):
                self._add(request.what, request.by, robot, request.reason)
            return
        heard = _Heard(request, robot, now)
        if self._told_late(heard, now):
            return
        if request.what in _AT_ONCE and not request.part_of and not self._is_open(request, robot):
            heard.told.add(robot)
            self._now(replace(self._event(
                request.what, request.by, robot, as_said(request.reason)),
                user=request.user))
        self._heard = [*self._heard, heard][-_MOST:]
        self._look(now)
        if request.what == 'stop' and not request.part_of:    # one that is stopped once more
            for each, stopped in self._stopped.items():
                if stopped and not heard.told and robot in ('', each):
                    self._add('stop', 'service stop', robot=each)

    def _is_open(self, request: Request, robot: str) -> bool:
        """Return whether it is said afterwards of what waits, and says why it was refused."""
        return request.ago is not None and any(
            each.until and each.event.what == request.what
            and robot in ('', each.event.robot or '') for each in self._open)

    def _told_late(self, heard: _Heard, now: float) -> bool:
        """Name who has asked for what was reported as by the service; return whether so."""
        request = heard.request
        if request.ago is None:
            return False
        late = {each.event.robot: each for each in self._unnamed
                if now < each.until and each.event.what == request.what
                and heard.robot in ('', each.event.robot or '')}
        for each in late.values():
            self._unnamed.remove(each)
            self._now(replace(
                each.event, by=request.by, user=request.user, corrects=each.event.by))
        return bool(late)

    def _look(self, now: float) -> None:
        """Publish what is known by now, or has waited long enough, in its order."""
        while self._open:
            event, until = self._open[0].event, self._open[0].until
            heard = self._asked(event, now) if until else None
            if heard is None and now < until:
                return
            del self._open[0]
            if heard is not None:
                request, again = heard.request, heard.has_told(event.robot or '')
                heard.told.add(event.robot or '')
                if again or request.part_of and event.kind == 'command':
                    continue
                event = replace(event, by=request.by, user=request.user, request=request.id,
                                said=event.said or as_said(request.reason))
            elif until and (event.by or '').startswith(SERVICE):
                self._unnamed = [*self._unnamed, _Open(event, now + _FRESH)][-_MOST:]
            begun = (self._has_ended(event.robot or '') if event.what in _HOME_ENDS else
                     event if event.goal is None else self._from.setdefault(event.goal, event))
            if begun is not None:    # else a RESET of an exploration
                self._now(replace(event, by=begun.by, user=begun.user))

    def _now(self, event: Event) -> None:
        if event.what == 'home':
            self._homing.update(dict.fromkeys(
                (event.robot,) if event.robot else self._robots, event))
        self._tell(event)

    def _has_ended(self, robot: str) -> Event | None:
        """Return how the way home of a robot has begun that is over, if it is known."""
        for heard in self._heard:
            if heard.request.what == 'home':
                heard.over.add(robot)
        return self._homing.pop(robot, None)

    def _asked(self, event: Event, now: float) -> _Heard | None:
        """Return what was said of it on ``requests``, those that were reported already last."""
        home, robot = event.what == 'home', event.robot or ''
        fresh, once_more = (_WAY_HOME, _WAY_HOME) if home else (_FRESH, _AGAIN)
        fitting = [each for each in self._heard if each.request.what == event.what
                   and now < each.at + fresh and robot not in each.over
                   and each.robot in ('', event.robot) and (
                       event.goal is None or each.request.goal == event.goal
                       or each.request.goal is None and each.request.state == event.target)]
        again = [each for each in fitting if each.has_told(robot)]
        if len(again) < len(fitting):
            return next(each for each in fitting if each not in again)
        # Without an answer a call is made again.
        return again[-1] if (again and event.kind == 'command'
                             and now < again[-1].at + once_more) else None


def _is_short(said: str) -> bool:
    return said == _short(said)


def _short(said: str) -> str:
    return messages.plain(said)[:_LONGEST]
