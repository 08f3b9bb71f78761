# SPDX-License-Identifier: Apache-2.0

"""The telemetry of an explorer and its robot side, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
import json
import math

from mnm_ros.core.knowledge.knowledge import Counts, Knowledge, StateKind
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.progress.activity import Activity, Progress
from mnm_ros.core.progress.events import Event
from mnm_ros.core.progress.trust import PolicyTrust
from mnm_ros.description_entries import Point
from mnm_ros.robot_description import RobotDescription, UNDESCRIBED
from mnm_ros.topics import MOST_ROBOTS

SURE = 0.4
"""
How much of a prediction has to be left for a time to go.

Of 12 runs of ``two_rooms``, ``grid_3x3`` and ``moving_wall``, the steps that were really left were
in the predicted range in 86% to 100% of the checks at which more was left, and else in 53%: at the
end of a run a half to a third is still predicted. The upper end of the range holds to the end: in
16 runs, with ``shortcut``, at 100% of the late checks of a first hypothesis, 93% of relearning.
"""

SILENCE = 3.0    # s without a heartbeat, of which there are two in a second
_ENDLESS = 365 * 86400.0    # s
_MEMORY = 30.0              # s, of the pace
_SHORTEST = 0.9             # s, from which a pace can be computed

NOT_KEPT = 'off'
"""What the diagnostics say of ``checkpoint`` without a ``checkpoint_dir``."""


@dataclass(frozen=True)
class RobotTelemetry:
    """
    How one of several robots of an explorer is.

    :ivar name: its namespace.
    :ivar level: ``ok``, ``warning`` or ``error``.
    :ivar status: a sentence for people: what it does, or why it does nothing.
    :ivar steps: that it has made; None if that is not known.
    :ivar place: the state that it is in; None if that is not known.
    :ivar unanswered: s for which it has owed an answer, if that is unusual; else 0.
    """

    name: str
    level: str
    status: str
    steps: int | None = None
    place: int | None = None
    unanswered: float = 0.0


class StepRate:
    """The steps in a second over the last half a minute in which there was exploration."""

    def __init__(self) -> None:
        self._steps = self._seconds = 0.0
        self._last: tuple[int, float] | None = None

    def update(self, steps: int | None, exploring: bool, now: float) -> float | None:
        """
        Take in a report; return the pace, None as long as it is not known.

        :param now: s, of a clock that never goes back.
        """
        if steps is None or not exploring:
            self._last = None
            return self._pace
        if self._last is not None and steps >= self._last[0]:
            seconds = now - self._last[1]
            kept = math.exp(-seconds / _MEMORY)
            self._steps = kept * self._steps + steps - self._last[0]
            self._seconds = kept * self._seconds + seconds
        self._last = steps, now
        return self._pace

    @property
    def _pace(self) -> float | None:
        return self._steps / self._seconds if self._seconds > _SHORTEST else None


class RobotsMet:
    """Which of several robots have been heard of, and which setting their simulators report."""

    def __init__(self) -> None:
        self._met: set[str] = set()
        self._settings: dict[str, int] = {}

    def new(self, names: Iterable[str]) -> list[str]:
        """Return those that have not been heard of before, as long as there is room for them."""
        found = [name for name in dict.fromkeys(names) if name not in self._met]
        found = found[:MOST_ROBOTS - len(self._met)]
        self._met.update(found)
        return found

    def reached(self, robot: str, setting: int) -> int:
        """Record the setting of a robot; return the one that all have reached."""
        self._settings[robot] = setting
        return min(self._settings.values())


@dataclass(frozen=True)
class Ground:
    """
    The ground that a robot moves on, in the frame of the positions of states.

    :ivar image: the map as a ``data:`` URL of a picture; '' for none.
    :ivar corner, size: of the picture, in m.
    :ivar doors: centres and whether they are open.
    :ivar door_size: of a door, in m.
    """

    image: str = ''
    corner: Point = (0.0, 0.0)
    size: Point = (0.0, 0.0)
    doors: tuple[tuple[float, float, bool], ...] = ()
    door_size: float = 0.0


@dataclass(frozen=True)
class Telemetry:
    """
    The latest message of each topic; None or empty before the first one.

    :ivar phase, status: as published.
    :ivar events: the last ones, oldest first.
    :ivar known: ids of the known states, home first.
    :ivar version: ``(round, revision)`` of the hypothesis that they are of.
    :ivar hypothesis: with its policies, if these are decoded as they come.
    :ivar trust: how far the policy to a state may be trusted, known or not.
    :ivar counts: the transitions counted, since the last change noticed.
    :ivar activity: what is being done now.
    :ivar description: what the robot side says it is.
    :ivar report: the diagnostics of the explorer, text by key.
    :ivar reports: how many diagnostics have been heard.
    :ivar pace: steps in a second while it explores, a mean; None if that is not known.
    :ivar robots: how each robot is, if there are several.
    :ivar true_setting, exploration_steps: as a simulator reports them.
    :ivar ground: what the robot moves on.
    :ivar pose: x, y and yaw of the robot in the frame of the positions.
    :ivar offered: services that are there.
    :ivar navigator: whether there is a navigator.
    :ivar stopped: the robots that the service ``stop`` keeps at rest; an only one has no name.
    :ivar heartbeat: when the last one was heard, in s of a clock that never goes back.
    :ivar gone: whether an explorer was there, and no node is that now.
    """

    phase: str = ''
    status: str = ''
    events: tuple[Event, ...] = ()
    known: tuple[int, ...] = ()
    version: tuple[int, int] | None = None
    hypothesis: Hypothesis | None = None
    trust: Mapping[int, PolicyTrust] = field(default_factory=dict)
    counts: Counts = field(default_factory=dict)
    activity: Activity = Activity()
    description: RobotDescription = UNDESCRIBED
    report: Mapping[str, str] = field(default_factory=dict)
    reports: int = 0
    pace: float | None = None
    robots: tuple[RobotTelemetry, ...] = ()
    true_setting: int | None = None
    exploration_steps: int | None = None
    ground: Ground = Ground()
    pose: tuple[float, float, float] | None = None
    offered: frozenset[str] = frozenset()
    navigator: bool = False
    stopped: frozenset[str] = frozenset()
    heartbeat: float | None = None
    gone: bool = False

    @property
    def phase_group(self) -> str:
        """Return the phase without its detail: ``building`` for ``building/evaluation``."""
        return self.phase.partition('/')[0]

    @property
    def home(self) -> int | None:
        """Return the state to which RESET leads; None if that is not known."""
        if self.activity.home is not None:
            return self.activity.home
        return self.known[0] if self.known else self.description.home

    @property
    def occupied(self) -> tuple[int, ...]:
        """Return the states that robots are in; several are not where the exploration is."""
        if self.robots:
            places = (robot.place for robot in self.robots)
            return tuple(sorted({place for place in places if place is not None}))
        return () if self.activity.current is None else (self.activity.current,)

    @cached_property
    def knowledge(self) -> Knowledge:
        """Return what is known, by all that was heard."""
        activity, said = self.activity, self.description
        policies = self.hypothesis.policies if self.hypothesis else ()
        return Knowledge(
            self.steps, self.home, self.known, activity.candidates, activity.lost,
            activity.revising or self.phase_group == 'building', self.counts, self.occupied,
            {policy.target: policy for policy in policies}, self.trust, activity.expected_steps,
            activity.limit or None, said.names, said.positions, self.closed)

    @property
    def closed(self) -> tuple[Pair, ...]:
        """Return the pairs that are closed by the last change that was noticed there."""
        last = {(event.change.state, event.change.action): event.change.closed
                for event in self.events if event.change and event.kind == 'change'}
        return tuple(pair for pair, closed in last.items() if closed)

    @property
    def candidates(self) -> int | None:
        """Return how many candidates there are; the activity comes more often than a report."""
        return (len(self.knowledge.of(StateKind.CANDIDATE)) if self.activity.limit
                else self.count('candidates'))

    @property
    def steps(self) -> int:
        """Return the steps so far."""
        return max(self.activity.step, self.count('steps') or 0)

    def silent(self, now: float) -> float | None:
        """Return for how many s the explorer has been silent, or is gone; None if it is not."""
        if self.heartbeat is None or now - self.heartbeat <= SILENCE and not self.gone:
            return None
        return now - self.heartbeat

    def number(self, key: str) -> float | None:
        """Return a number of the diagnostics; None if it is missing or no sensible one."""
        return number(self.report, key)

    def count(self, key: str) -> int | None:
        """Return a number of the diagnostics as an integer; None as above."""
        value = self.number(key)
        return None if value is None else int(value)

    @property
    def exploring(self) -> bool:
        """Return whether steps are being made, by the last report."""
        return not self.all_stopped and (
            self.report.get('phase', '').partition('/')[0] in ('building', 'checking'))

    @property
    def all_stopped(self) -> bool:
        """Return whether the service ``stop`` keeps every robot at rest."""
        return len(self.stopped) >= max(1, len(self.robots))

    @property
    def late(self) -> tuple[tuple[str, float], ...]:
        """Return the robots that may move and owe an answer for unusually long, with the s."""
        return tuple((robot.name, robot.unanswered) for robot in self.robots or (
            RobotTelemetry('', '', '', unanswered=self.number('unanswered') or 0.0),)
            if robot.unanswered > 0 and robot.name not in self.stopped)

    @property
    def progress(self) -> Progress | None:
        """Return how far the present aim is; None if unknown, or if the activity is older."""
        found = self.activity.progress
        over = self.phase_group == 'checking' and found is not None and (
            found.aim == 'first hypothesis')
        return None if over else found

    def steps_left(self) -> int | None:
        """Return the predicted steps until the aim is reached; None if nothing can be said."""
        progress = self.progress
        if progress is None:
            return None
        left = progress.expected - progress.done
        least = 0 if progress.aim == 'check' else SURE * progress.expected
        return left if left > least else None

    def most_steps_left(self) -> int | None:
        """Return the steps that are left at most, by the predicted range; None if it is over."""
        progress = self.progress
        if progress is None or progress.done >= progress.expected:
            return None
        return progress.high - progress.done

    def seconds_left(self) -> float | None:
        """Return the predicted time to the aim, at least 1 s; None if nothing can be said."""
        return self._seconds(self.steps_left())

    def most_seconds_left(self) -> float | None:
        """Return the same of the steps that are left at most."""
        return self._seconds(self.most_steps_left())

    def _seconds(self, left: int | None) -> float | None:
        if left is None or not self.pace or not self.exploring or self.late and not self.robots:
            return None
        return max(1.0, left / self.pace) if left < _ENDLESS * self.pace else None


def number(values: Mapping[str, str], key: str) -> float | None:
    """Return a number of the diagnostics; None if it is missing or no sensible one."""
    try:
        value = float(values[key])
    except (KeyError, ValueError):
        return None
    return value if abs(value) < 2**63 else None


def as_json(heard: Telemetry) -> str:
    """Return it as one JSON object without line breaks; null is what is not known."""
    now, activity = heard, heard.activity
    return json.dumps({
        'phase': now.phase or None, 'status': now.status or None, 'round': now.count('round'),
        'hypothesis': now.hypothesis.version if now.hypothesis is not None else None,
        'home': now.home, 'current': None if now.robots else activity.current, 'known': now.known,
        'candidates': now.knowledge.of(StateKind.CANDIDATE),
        'beyond': now.knowledge.of(StateKind.BEYOND),
        'lost': now.knowledge.of(StateKind.LOST),
        'steps': now.count('steps'), 'work': activity.work, 'sources': dict(activity.sources),
        'steps_per_second': now.number('steps_per_second'),
        'changes_noticed': now.count('changes_noticed'),
        'changes_relearnt': now.count('changes_relearnt'),
        'true_setting': now.true_setting, 'exploration_steps': now.exploration_steps,
        'doing': activity.doing, 'target': activity.target, 'action': activity.action,
        'sentence': activity.sentence,
        'tests': [asdict(test) for test in activity.tests],
        'progress': asdict(now.progress) if now.progress is not None else None,
        'seconds_left': now.seconds_left(), 'limit': activity.limit or None,
        'robots': [asdict(robot) for robot in now.robots],
        'expected_steps': {str(state): steps for state, steps in activity.expected_steps.items()},
        'trust': {str(state): told.trust.value for state, told in now.trust.items()},
    }, separators=(',', ':'))
