# SPDX-License-Identifier: Apache-2.0

"""Copies of an exploration that is made once, for all tests of a file that begin with it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

from mnm_ros.simulation.simulator import Simulator

_P, _T = ParamSpec('_P'), TypeVar('_T')


def made_once(make: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function that makes a thing once, and gives each caller a copy of its own."""
    kept = lru_cache(maxsize=None)(make)

    @wraps(make)
    def copy(*arguments: _P.args, **options: _P.kwargs) -> _T:
        return deepcopy(kept(*arguments, **options))
    return copy


class CopiedSimulator(Simulator):
    """A simulator whose copies continue in its state, and draw other random numbers."""

    def __deepcopy__(self, memo: dict[int, Any]) -> CopiedSimulator:
        copy = CopiedSimulator(self.scenario, self.steps)
        copy.state, copy.steps, copy.setting = self.state, self.steps, self.setting
        copy.counts, copy.changes = deepcopy((self.counts, self.changes))
        copy._until = self._until
        return copy
