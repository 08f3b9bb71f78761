# SPDX-License-Identifier: Apache-2.0

"""How many seconds steps take: that affects what is executed, and never what holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
import math
from statistics import fmean
from typing import Any

from mnm_ros.core.errors import InvalidValueError

Pair = tuple[int, int]

_RESET = -1    # ``RESET`` of problem.py, which imports this

LONGEST = 86_400.0    # s, a day
MAX_TIMED = 400_000   # pairs


@dataclass(frozen=True)
class StepTimes:
    """
    The mean time of steps in seconds.

    :ivar actions: by action, RESET among them.
    :ivar pairs: by state and action, RESET among the actions; what is not there takes as long as
        the action does elsewhere.
    :raises ValueError: with the action, what was found and what was expected.
    """

    actions: Mapping[int, float] = field(default_factory=dict)
    pairs: Mapping[Pair, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.pairs) > MAX_TIMED:
            raise InvalidValueError(
                f'seconds has {len(self.pairs)} pairs, expected at most {MAX_TIMED}')
        for action, seconds in self.actions.items():
            _check(f'action {action}', action, seconds)
        for (state, action), seconds in self.pairs.items():
            _check(f'state {state}, action {action}', action, seconds)

    def updated(self, later: StepTimes) -> StepTimes:
        """Return these, with the later ones in place of what was there before."""
        return StepTimes({**self.actions, **later.actions}, {**self.pairs, **later.pairs})

    @cached_property
    def usual(self) -> Mapping[int, float]:
        """Return the mean time by action, also of those that are known of single states alone."""
        found: dict[int, list[float]] = {}
        for (_, action), seconds in self.pairs.items():
            found.setdefault(action, []).append(seconds)
        return {**{action: fmean(each) for action, each in found.items()}, **self.actions}

    @cached_property
    def move(self) -> float:
        """Return the mean time of an action that is not RESET; 0 if none is known."""
        moves = [seconds for action, seconds in self.usual.items() if action != _RESET]
        return fmean(moves) if moves else 0.0

    def __bool__(self) -> bool:
        """Return whether enough is known to choose by it: a move, and RESET."""
        return self.move > 0 and _RESET in self.usual

    @property
    def any_known(self) -> bool:
        """Whether anything is, even if it is not enough to choose by it."""
        return bool(self.actions or self.pairs)

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {'actions': [[*each] for each in self.actions.items()],
                'pairs': [[*pair, seconds] for pair, seconds in self.pairs.items()]}

    @classmethod
    def from_json(cls, found: Mapping[str, Sequence[Any]]) -> StepTimes:
        """Return what ``to_json`` was called on."""
        return cls(dict(found['actions']),
                   {(state, action): seconds for state, action, seconds in found['pairs']})


def _check(what: str, action: Any, seconds: Any) -> None:
    if type(action) is not int or action < _RESET:
        raise InvalidValueError(f'{what}: expected an action, or {_RESET} for RESET')
    if type(seconds) not in (int, float) or not (
            math.isfinite(seconds) and 0 < seconds <= LONGEST):
        raise InvalidValueError(f'seconds of {what} are {seconds!r}, '
                                f'expected seconds above 0, at most {LONGEST:g}')


class StepCosts:
    """
    The costs of steps, in times of a mean move: 1 each as long as no times are known.

    All parts of an exploration share one object, as they do ``Support``.

    :ivar times: that are known.
    """

    def __init__(self, times: StepTimes | None = None) -> None:
        self.times = times or StepTimes()

    def __bool__(self) -> bool:
        """Return whether steps differ."""
        return bool(self.times)

    def copy(self) -> StepCosts:
        """Return another one, which changes by itself."""
        return StepCosts(self.times)

    def learn(self, times: StepTimes) -> None:
        """Take other times, or more."""
        self.times = self.times.updated(times)

    def of(self, state: int, action: int) -> float:
        """Return what a step costs."""
        times = self.times
        if not times:
            return 1.0
        found = times.pairs.get((state, action))
        return (times.usual.get(action, times.move) if found is None else found) / times.move

    def table(self, states: Sequence[int], actions: int) -> list[list[float]]:
        """Return what steps cost as [state, action], RESET being the last action."""
        return [[self.of(state, action) for action in (*range(actions), _RESET)]
                for state in states]
