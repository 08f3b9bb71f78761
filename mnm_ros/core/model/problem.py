# SPDX-License-Identifier: Apache-2.0

"""The task of the explorer: the actions, the radius and the promise."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import Any, TYPE_CHECKING

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.integers import as_count
from mnm_ros.core.model.support import Support

if TYPE_CHECKING:    # it needs numpy, which takes long to import
    from mnm_ros.core.model.counts import Pair

RESET = -1
"""The action that leads home. It is always there and is never in a list of actions."""

RADIUS = (1.0, 1000.0)
EPSILON = (0.001, 1000.0)
"""The least and the greatest allowed value. Samples grow with the square of the radius, and the
steps of an attempt with both: above these limits a run would take too long."""

MARGIN = 1.15
"""By how much the radius for all that is declared exceeds the fewest steps, as steps may fail."""


def pair_of(here: int | None, action: int | None) -> Pair | None:
    """Return the pair that a step executes; None for a RESET, or if one of both is not known."""
    return None if here is None or action is None or action == RESET else (here, action)


@dataclass(frozen=True)
class Problem:
    """
    An autonomous exploration problem.

    :ivar actions: number of actions without RESET; they are ``0 .. actions - 1``.
    :ivar radius: ``L``, expected steps within which a state counts as reachable, in ``RADIUS``.
    :ivar epsilon: in ``EPSILON``; a policy may need ``(1 + epsilon) L`` expected steps.
    :ivar delta: in (0, 1), the probability with which the promise may fail.
    :ivar support: where actions may lead, as far as that is declared:
        ``Support(Declaration(...))``. An exploration takes a copy, to which it adds the
        ends that were not declared.
    :raises ValueError: with the field, its value and what was expected.

    Source: Lim & Auer 2012, section 2.
    """

    actions: int
    radius: float
    epsilon: float
    delta: float
    support: Support = field(default_factory=Support, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'actions', as_count(self.actions))    # as it may be of numpy
        for name, value, (low, high) in (
                ('radius', self.radius, RADIUS), ('epsilon', self.epsilon, EPSILON)):
            if not (_is_number(value) and low <= value <= high):
                raise InvalidValueError(
                    f'{name} is {value!r}, expected a number in [{low:g}, {high:g}]')
        if not (_is_number(self.delta) and 0 < self.delta < 1):
            raise InvalidValueError(f'delta is {self.delta!r}, expected a number in (0, 1)')
        if not isinstance(self.support, Support):
            raise InvalidValueError(f'support is {self.support!r}, expected a Support')
        self.support.declared.check(self.actions)

    @property
    def all_actions(self) -> int:
        """Return ``A``: the number of actions, RESET included."""
        return self.actions + 1

    @property
    def limit(self) -> float:
        """``(1 + epsilon) L``: the most expected steps a learnt policy may take."""
        return (1 + self.epsilon) * self.radius


def radius_for_all(declared: Declaration, home: int | None) -> float:
    """
    Return the radius that takes in every state to which declared actions may lead from home.

    :raises ValueError: if there is none, or if it is too large for an exploration.
    """
    steps = 0 if home is None else declared.depth(home)
    if not steps:
        raise InvalidValueError(
            'radius is 0, for all that is declared, and nothing declared leads away from home, '
            f'state {home}; expected such a declaration, or another radius')
    if MARGIN * steps > RADIUS[1]:
        raise InvalidValueError(
            f'radius is 0, for all that is declared, and the farthest state is {steps} steps from '
            f'home, expected at most {RADIUS[1] / MARGIN:.0f}, or another radius')
    return MARGIN * steps


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
