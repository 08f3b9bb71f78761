# SPDX-License-Identifier: Apache-2.0

"""
Find out whether many moves share one change: those with one action, or all there are.

``Doubts`` asks this after the alarms of single pairs. A move is a pair that led to another state;
a pair that stayed may do so for a wall. The moves without an alarm are asked, by the likelihood of
what they have done since the notice, whether they go on as before or as those with an alarm do.
The answer changes the events, and whether the next round begins. The promise does not need it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mnm_ros.core.detection.pooled_detector import speaks, sums
from mnm_ros.core.detection.transition_monitor import TransitionMonitor
from mnm_ros.core.model.counts import chance, Pair
from mnm_ros.core.progress.events import MovesChange, PairChange
from mnm_ros.core.statistics.reach import Reach
from mnm_ros.core.watch.rediscovery import Relearning

_SEVERAL = 2    # moves that have changed: a single one is relearnt for itself
_SURE = 5.0    # nats that the other moves have to speak for a shared change, or against it


@dataclass(frozen=True)
class _Move:
    """A move: how often it arrived and was executed before a notice, and the same since."""

    pair: Pair
    before: tuple[int, int]
    since: tuple[int, int]


class SharedChange:
    """
    Compares the moves with an alarm and all others.

    :param transitions: what the moves usually do.
    :param reach: with the counts since the notice.
    :param relearning: with the changes of the moves that have raised the alarm.
    """

    def __init__(self, transitions: TransitionMonitor, reach: Reach,
                 relearning: Relearning) -> None:
        self._transitions, self._reach, self._relearning = transitions, reach, relearning

    @property
    def of_all(self) -> MovesChange | None:
        """Return the change that all moves share; None if they seem to share none."""
        if len(self._relearning.changed) < _SEVERAL:
            return None
        others = self._others
        return self._change(others, None) if _speaks(others, self._now) > _SURE else None

    def of_action(self, action: int) -> MovesChange | None:
        """Return the change that the moves with an action share, and no others; or None."""
        changed = self._relearning.changed
        if len(changed) < _SEVERAL or any(pair[1] != action for pair in changed):
            return None
        others, now = self._others, self._now
        same = [move for move in others if move.pair[1] == action]
        rest = [move for move in others if move.pair[1] != action]
        return self._change(same, action) if (
            _speaks(same, now) >= 0 and _speaks(rest, now) < -_SURE) else None

    @property
    def _now(self) -> float:
        """Return the chance with which the moves with an alarm arrive by now, as estimated."""
        return chance(*sums(map(_arrived_since, self._relearning.changed.values())))

    @property
    def _others(self) -> list[_Move]:
        """Return the moves without an alarm that were executed since the notice."""
        counts, found = self._reach.sets.counts, []
        for pair, since in counts.by_pair.items():
            end, times, all_ = self._transitions.usual(pair)
            if (pair in self._relearning.changed or end == pair[0] or end is None
                    or all_ <= since):
                continue
            arrived = counts.next_states(*pair).get(end, 0)
            found.append(_Move(pair, (times - arrived, all_ - since), (arrived, since)))
        return found

    def _change(self, others: Iterable[_Move], action: int | None) -> MovesChange:
        """Return the change that the moves with an alarm share with others."""
        changed = self._relearning.changed
        before = [_arrived(change, change.before) for change in changed.values()]
        after = [_arrived_since(change) for change in changed.values()]
        for move in others:
            before.append(move.before)
            after.append(move.since)
        return MovesChange(tuple((*pair, _led_to(change)) for pair, change in changed.items()),
                           action, sums(before), sums(after))


def _speaks(moves: Iterable[_Move], now: float) -> float:
    """Return the nats for moves that arrive with the chance ``now`` rather than as before."""
    return sum(speaks(now, move.before, move.since) for move in moves)


def _led_to(change: PairChange) -> int:
    assert change.led_to is not None    # it is the change of a move
    return change.led_to


def _arrived(change: PairChange, followed: Mapping[int, int]) -> tuple[int, int]:
    """Return how often a move arrived where it usually did before, and was executed."""
    return followed.get(_led_to(change), 0), sum(followed.values())


def _arrived_since(change: PairChange) -> tuple[int, int]:
    return _arrived(change, change.after)
