# SPDX-License-Identifier: Apache-2.0

"""How long a robot takes for each action in each state, for whoever chooses by it."""

from __future__ import annotations

from statistics import fmean
from typing import TypeVar

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.step_times import StepTimes

SLOW = 1.0
"""Mean seconds of a move from which on a robot is told to take time: what is faster is simulated,
and does the same in each run only as long as nothing depends on its times."""

FIRST = 20           # executions until the times are told, RESET and another action among them
_MORE = 1.5          # times the executions, until they are told again
_RECENT = 0.1        # of a mean is what came last, at least
_LONGEST = 5.0       # times the mean of the action counts at most: the robot may have been held up
_PRECISION = 2       # decimals of a second


_Key = TypeVar('_Key', int, Pair)


class PairTimes:
    """The mean seconds from order to answer by state and action; recent ones weigh most."""

    def __init__(self) -> None:
        self._actions: dict[int, float] = {}
        self._pairs: dict[Pair, float] = {}
        self._times: dict[int | Pair, int] = {}
        self._executions = 0
        self._next = FIRST

    def add(self, state: int, action: int, seconds: float) -> None:
        """Take note of one execution."""
        self._executions += 1
        if action in self._actions:
            seconds = min(seconds, _LONGEST * self._actions[action])
        _weigh(self._actions, action, self._count(action), seconds)
        _weigh(self._pairs, (state, action), self._count((state, action)), seconds)

    def _count(self, key: int | Pair) -> int:
        self._times[key] = self._times.get(key, 0) + 1
        return self._times[key]

    def news(self) -> StepTimes | None:
        """Return all times once there is much to tell since they were returned last."""
        if self._executions < self._next or RESET not in self._actions:
            return None
        self._next = round(_MORE * self._executions)
        moves = [seconds for action, seconds in self._actions.items() if action != RESET]
        if not moves or fmean(moves) < SLOW:
            return None
        return StepTimes(_rounded(self._actions), _rounded(self._pairs))


def _rounded(means: dict[_Key, float]) -> dict[_Key, float]:
    return {key: max(10**-_PRECISION, round(mean, _PRECISION)) for key, mean in means.items()}


def _weigh(means: dict[_Key, float], key: _Key, times: int, seconds: float) -> None:
    mean = means.get(key, seconds)
    means[key] = mean + max(_RECENT, 1 / times) * (seconds - mean)
