# SPDX-License-Identifier: Apache-2.0

"""
The events, as they are published on ``events`` and kept beside a checkpoint: JSON objects.

A reader ignores keys that are not known and takes the defaults for those that are missing, so
that an older program understands a newer explorer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
import math
from typing import Annotated, Any, Union

from mnm_ros.core.model.counts import chance, Pair, usual
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.json_values import (
    by_state,
    integer,
    number,
    one_line,
    read_json,
    wrong,
)
from mnm_ros.core.progress.said import maybe_said, Said

KINDS = ('decision', 'change', 'hint', 'pause', 'rest', 'restart', 'robot', 'fault', 'done',
         'stop', 'free', 'goal', 'command', 'setting', 'source')
"""The values of ``Event.kind``."""


_HARDLY = 0.1      # the part of the executions since a change that counts as hardly any
_LIKELY = 3.0    # nats that a step may lack at which a change may have begun

_followers = by_state('next state', integer)


def _time(what: str, found: Any) -> float:
    """Read a time in s since 1970."""
    if type(found) in (int, float) and 0 <= found < 2**36:
        return float(found)
    raise wrong(what, found, 's since 1970')


@dataclass(frozen=True)
class PairChange:
    """
    Where an action has led: until it changed, estimated from the counts, and since.

    :ivar before, after: how often each next state followed.
    :ivar step: of the first execution since; None if that is long ago.
    :ivar time: of it, in s since 1970; None if that is not known.
    :ivar again: whether it leads again where it led before the last change, once published.
    """

    state: int
    action: int
    before: Annotated[Mapping[int, int], _followers]
    after: Annotated[Mapping[int, int], _followers]
    step: Union[int, None] = None
    time: Union[Annotated[float, _time], None] = None
    again: bool = False

    @property
    def pair(self) -> Pair:
        """Return the state and the action."""
        return self.state, self.action

    @property
    def led_to(self) -> Union[int, None]:
        """Return the other state that usually followed before; None if there was none."""
        end = usual(self.before)
        return None if end == self.state else end

    @property
    def redirected_to(self) -> Union[int, None]:
        """Return the other state to which it leads if it hardly ever leads where it did."""
        was, end = self.led_to, usual(self.after)
        gone = was is not None and (
            self.after.get(was, 0) <= _HARDLY * sum(self.after.values()))
        return end if gone and end != self.state else None

    def reverts(self, last: PairChange) -> bool:
        """Return whether the action leads again where it led before the last change."""
        was, now = usual(self.before), usual(self.after)
        return was != now and (was, now) == (usual(last.after), usual(last.before))

    @property
    def closed(self) -> bool:
        """Return whether the action led to another state before, and nearly always stays since."""
        stays, tried = self.after.get(self.state, 0), sum(self.after.values())
        return self.led_to is not None and stays >= (1 - _HARDLY) * tried > 0


@dataclass(frozen=True)
class MovesChange:
    """
    One change of many moves. A move is a pair that led to another state before.

    :ivar moves: those that have raised the alarm: a state, an action, and where it led before.
    :ivar action: of all moves that have changed; None if the moves with every action have.
    :ivar before, after: how often the moves arrived where they usually did before, and how often
        they were executed.
    :ivar step, latest: the first and the last step at which the change may have begun, by the
        likelihood of what ``moves`` have done; None if that is too long ago.
    :ivar time, latest_time: of these steps, in s since 1970; None if that is not known.
    """

    moves: tuple[tuple[int, ...], ...]
    action: Union[int, None]
    before: tuple[int, ...]
    after: tuple[int, ...]
    step: Union[int, None] = None
    latest: Union[int, None] = None
    time: Union[Annotated[float, _time], None] = None
    latest_time: Union[Annotated[float, _time], None] = None

    @property
    def reliable(self) -> tuple[float, float]:
        """Return the share of the executions that arrived, before and after."""
        return self.before[0] / self.before[1], self.after[0] / self.after[1]


@dataclass(frozen=True)
class WaysChange:
    """
    The result of a change once it is relearnt.

    :ivar other: the states that are reached another way than before it.
    :ivar lost: those that are no longer reached.
    :ivar found: those that were not reached before.
    :ivar reached: all that are, if any is lost.
    :ivar by: states that most of the other ways pass now and did not before, in this order.
    :ivar away: how many steps those that are lost are away by now, if a way is known.
    :ivar radius: ``L``, the radius of the search; 0 if it is not known.
    """

    other: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    found: tuple[int, ...] = ()
    reached: tuple[int, ...] = ()
    by: tuple[int, ...] = ()
    away: Mapping[int, float] = field(default_factory=dict)
    radius: float = 0.0


@dataclass(frozen=True)
class Event:
    """
    Something that has happened.

    :ivar step: after how many steps.
    :ivar text: a sentence for people, once it is published; the core leaves it empty.
    :ivar kind: one of ``KINDS``.
    :ivar change: of a pair, if it is about one.
    :ivar moves: one change of many pairs, if it is about that.
    :ivar ways: what has come of a change, if it is about that.
    :ivar time: in s since 1970; 0 in the core, which has no clock.
    :ivar seconds: the mean time of each action so far, in the event of a stop.
    :ivar by: from where it comes that something was asked for: ``page 192.0.2.7``, ``service
        stop``, ``battery``, ``hour``, ``nav2``, ``mnm_ros goal``.
    :ivar user: who used ``mnm_ros``.
    :ivar what: was asked for, or has come of it, as ``Request.what``; ``reached`` and its like of
        a goal.
    :ivar state: where the robot was.
    :ivar name: what the robot side calls that.
    :ivar robot: of several.
    :ivar goal, target: the id of a goal, and where it leads.
    :ivar said: the same as a value, if the core has reported it.
    :ivar request: the ``Request.id`` of what was asked for, if it has one.
    :ivar refused: whether any of it was.
    :ivar count: how often the same was requested since the last event of it, most recently at
        ``time``; None of the first event of a call. If a view shows failed tries of a closed way
        as one event, how many came before it.
    :ivar corrects: ``by`` of an earlier event about the same call at the same ``time``, which was
        published before it was known who called.
    """

    step: int
    text: str
    kind: str = 'decision'
    change: Union[PairChange, None] = None
    ways: Union[WaysChange, None] = None
    time: Annotated[float, _time] = 0.0
    seconds: Union[Annotated[Mapping[int, float], by_state('action', number)], None] = None
    by: Union[str, None] = None
    user: Union[str, None] = None
    what: Union[str, None] = None
    state: Union[int, None] = None
    name: Union[str, None] = None
    robot: Union[str, None] = None
    goal: Union[int, None] = None
    target: Union[int, None] = None
    request: Union[str, None] = None
    moves: Union[MovesChange, None] = None
    refused: bool = False
    count: Union[int, None] = None
    corrects: Union[str, None] = None
    said: Annotated[Union[Said, None], maybe_said] = None

    def to_json(self) -> str:
        """Return it as one JSON object without line breaks."""
        return one_line(self, **({'said': self.said.to_plain()} if self.said else {}))

    @classmethod
    def from_json(cls, told: str) -> Event:
        """
        Read what ``to_json`` has returned.

        :raises ValueError: says which entry is wrong and what was expected.
        """
        return read_json(cls, 'event', told)


_Steps = Iterable[tuple[int, int, int, int]]
"""State, action, next state and number of the last steps, the latest first."""


def begun(change: PairChange, last: _Steps) -> int | None:
    """Return the step of the first execution since a change; None if it is too long ago."""
    steps = (step for state, action, _, step in last if (state, action) == change.pair)
    return next(islice(steps, max(0, sum(change.after.values()) - 1), None), None)


def begun_together(change: MovesChange, last: _Steps) -> MovesChange:
    """
    Return the change of many moves with the steps at which it may have begun.

    It may have begun at any step after the last execution that is likely to be older.
    """
    ends = {(state, action): end for state, action, end in change.moves}
    before, after = chance(*change.before), chance(*change.after)
    speaks, found = 0.0, []
    for state, action, end, step in last:
        usual_end = ends.get((state, action))
        if usual_end is not None:
            speaks += math.log(after / before if end == usual_end else
                               (1 - after) / (1 - before))
            found.append((speaks, step))
    most = max(found, default=(0.0, 0))[0]
    likely = [place for place, (speaks, _) in enumerate(found) if speaks >= most - _LIKELY]
    if not likely or likely[-1] + 1 == len(found):
        return change    # it is too long ago
    return replace(change, step=found[likely[-1] + 1][1] + 1, latest=found[likely[0]][1])


def ways(policies: tuple[Policy, ...], following: Callable[[int, int], Mapping[int, float]],
         ) -> dict[int, tuple[Pair, ...]]:
    """
    Return by which states and actions each policy leads from home, as a rule; () if unknown.

    :param policies: that for home first.
    :param following: says how often each next state followed an action in a state.
    """
    def leads(state: int, action: int) -> int | None:
        return usual({after: count for after, count in following(state, action).items()
                      if after != state})

    found = {policy.target: tuple(policy.usual_way(policies[0].target, leads))
             for policy in policies}
    return {target: way if way and leads(*way[-1]) == target else ()
            for target, way in found.items()}


def difference(before: Mapping[int, tuple[Pair, ...]], now: Mapping[int, tuple[Pair, ...]],
               ) -> WaysChange:
    """Return what has come of the ways of policies, of which each is as ``ways`` has it."""
    other = tuple(target for target, way in now.items() if way and before.get(target) not in (
        None, (), way))
    lost = tuple(target for target in before if target not in now)
    passed: Counter[int] = Counter()
    for target in other:    # no way passes a state twice
        earlier = dict(before[target])
        passed.update(state for state, _ in now[target] if state not in earlier)
    return WaysChange(
        other, lost, tuple(target for target in now if target not in before),
        tuple(now) if lost else (),
        tuple(state for state, times in passed.items() if 2 * times >= len(other)))
