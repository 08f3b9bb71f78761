# SPDX-License-Identifier: Apache-2.0

"""
The least that any policy takes to a state, by the sets of ``certificate.py``.

With the sets ``C`` of all pairs of the known states,

    V(s) = 1 + min over a and Q in C(s, a) of Q V,    V(elsewhere) = 1 + V(home),    V(target) = 0,

where a RESET costs a step and leads home, and mass on states never seen is on the target, or on
the best of what the pair is declared to lead to. If the sets contain all true distributions, the
steps of the best policy on the known states satisfy the same with ``>=``. So any ``V`` that is no
more than these stays so with each sweep, and so does the larger of both: each sweep is a bound,
from 0 on, or from the bounds of an earlier computation with the same sets.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mnm_ros.core.model.counts import Indices, Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.support import Support
from mnm_ros.core.statistics.certificate import Balls, columns, plausible_rows
from mnm_ros.core.statistics.kl_ball import least_mean
import numpy as np

_PRECISION = 1e-4    # of the steps from home, by which the last sweep has changed any
_MOST_SWEEPS = 1000


class LeastSteps:
    """
    A lower bound on the expected steps to a state, over all policies on the known states.

    :param sets, support: as of ``PolicyModel``.
    :param known: states, home first.
    :param actions: number of actions without RESET.
    :param target: any state but home.
    :param without: pairs that no policy plays.
    :param before: from ``by_state``, of the same sets and known states when they were larger.
    :ivar steps: from home.
    :ivar by_state: the same from each known state.
    :ivar moves: the action by known state that may take the least.
    """

    steps: float
    moves: Indices

    def __init__(self, sets: Balls, known: Sequence[int], actions: int,
                 target: int, support: Support, *, without: Collection[Pair] = (),
                 before: Mapping[int, float] | None = None) -> None:
        pairs = [(state, action) for state in known for action in range(actions)]
        self._rows = plausible_rows(sets, pairs, columns(known, target), support)
        self._barred = np.array([
            pair in without or support.forbids(*pair) for pair in pairs]).reshape(-1, actions)
        self._tilts = np.full(len(pairs), np.nan)
        values = np.zeros(len(known) + 2)    # by column
        values[:-2] = [(before or {}).get(state, 0.0) for state in known]
        arrived = np.array([state == target for state in known])
        for _ in range(_MOST_SWEEPS):
            costs = self._costs(values)
            self.moves = costs.argmin(axis=1)
            least = costs.min(axis=1)
            home = 1 + values[0]    # by a RESET
            self.moves[least > home] = RESET
            found = np.maximum(values, [
                *np.where(arrived, 0.0, np.minimum(least, home)), home, 0.0])
            change, values = (found - values).max(), found
            if change <= _PRECISION * values[0]:
                break
        self.steps = float(values[0])
        self.by_state = dict(zip(known, values[:-2].tolist()))

    def _costs(self, values: np.ndarray) -> np.ndarray:
        """Return the least steps to go with each action, as [state, action]."""
        rows = self._rows
        lowest = np.where(rows.closed, values[rows.ends].min(axis=1, initial=np.inf), 0.0)
        # A step that was broken off may have led to the target.
        ahead = np.where(rows.reserved, 0.0, values[rows.following])
        _, means = least_mean(rows.fractions, np.maximum(0.0, ahead - lowest[:, None]),
                              rows.radius, self._tilts)
        costs = (1 + lowest + means).reshape(self._barred.shape)
        costs[self._barred] = np.inf
        return costs
