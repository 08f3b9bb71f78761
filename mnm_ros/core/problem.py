"""What is asked of the explorer: the actions, the radius and the promise."""

from __future__ import annotations

from dataclasses import dataclass
import math

RESET = -1
"""The action that leads home. It is always there and is never in a list of actions."""


@dataclass(frozen=True)
class Problem:
    """An autonomous exploration problem.

    Attributes:
        actions: number of actions without RESET; they are ``0 .. actions - 1``.
        radius: ``L``, expected steps within which a state counts as reachable, at least 1.
        epsilon: positive; a policy may need ``(1 + epsilon) L`` expected steps.
        delta: in (0, 1), the probability with which the promise may fail.

    Raises:
        ValueError: with the field, its value and what was expected.

    Source: Lim & Auer 2012, section 2.
    """

    actions: int
    radius: float
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if self.actions < 1:
            raise ValueError(f'actions is {self.actions}, expected at least 1 besides RESET')
        if not (math.isfinite(self.radius) and self.radius >= 1):
            raise ValueError(f'radius is {self.radius}, expected a finite number >= 1')
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ValueError(f'epsilon is {self.epsilon}, expected a finite number > 0')
        if not 0 < self.delta < 1:
            raise ValueError(f'delta is {self.delta}, expected a number in (0, 1)')

    @property
    def all_actions(self) -> int:
        """``A``: the number of actions, RESET included."""
        return self.actions + 1

    @property
    def limit(self) -> float:
        """``(1 + epsilon) L``: the most expected steps a learnt policy may take."""
        return (1 + self.epsilon) * self.radius
