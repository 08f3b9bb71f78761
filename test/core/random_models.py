# SPDX-License-Identifier: Apache-2.0

"""Random counts of a few known states, and the model of them."""

from __future__ import annotations

from dataclasses import replace

from mnm_ros.core import Counts, EmpiricalModel, TransitionRows
from mnm_ros.core.model.empirical_model import Excess
import numpy as np

OUTSIDE = 50
TARGET = 99


class RandomModel:
    """Known states ``0 .. known - 1``, home first; ``OUTSIDE`` and ``TARGET`` are not known."""

    def __init__(self, seed: int, most: float = 3.0, target: bool = True) -> None:
        self.begin(seed, (1, 5), (1, 4))
        for _ in range(self.known * self.actions):
            self.sample(most, target)
        self.add(0, 0, TARGET if target else OUTSIDE, 3)

    def begin(self, seed: int, known: tuple[int, int], actions: tuple[int, int]) -> None:
        """Draw how many states and actions there are, none of them tried yet."""
        self.rng = np.random.default_rng(seed)
        self.known, self.actions = int(self.rng.integers(*known)), int(self.rng.integers(*actions))
        self.counts = Counts()
        self.rows = TransitionRows(self.counts, self.actions)
        for state in range(self.known):
            self.rows.enter(state)

    def sample(self, most: float, target: bool) -> None:
        """Execute some pair up to ``10 ** most`` times."""
        state, action = (int(self.rng.integers(n)) for n in (self.known, self.actions))
        ends = [*range(self.known), OUTSIDE, *[TARGET] * target]
        for end in self.rng.choice(ends, size=3):
            self.add(state, action, int(end), int(10 ** self.rng.uniform(0, most)))

    def add(self, state: int, action: int, following: int, times: int) -> None:
        for _ in range(times):
            self.counts.add(state, action, following)
            self.rows.add(state, action, following)

    @property
    def model(self) -> EmpiricalModel:
        """All that was counted, as if predicting it had cost more the more it is."""
        model = EmpiricalModel.of(self.rows, range(self.known))
        excess = np.log1p(model.visits)
        return replace(model, excess=Excess(excess, 0.5 + excess[:, None] + 0 * model.tally))
