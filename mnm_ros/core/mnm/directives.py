# SPDX-License-Identifier: Apache-2.0

"""
Wishes of people, and what they add up to; the promise does not depend on either.

``Exploration`` makes a wish of an input, ``Mnm`` keeps the ``Directives``, and the phase under way
heeds both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Union

from mnm_ros.core.inputs import ImproveInput, LookInput, Preference
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET

_MOST_PREFERRED = 1000    # states, the last ones


@dataclass(frozen=True)
class Prefer:
    """Sample first the ways to a state; if its policy is doubted, try the policy soon."""

    state: int


@dataclass(frozen=True)
class LeaveClosed:
    """Do not execute closed pairs from now on, unless a ``Look`` asks for it."""


@dataclass(frozen=True)
class Look:
    """Test a closed pair, or all if None; the others are not tried from now on."""

    pair: Pair | None


@dataclass(frozen=True)
class Improve:
    """
    Go on until the policy to a state takes at most ``1 + within`` times the least.

    This is repeated after each change, and waits for a policy if there is none. None ends it.
    """

    target: int | None
    within: float


Wish = Union[Prefer, LeaveClosed, Look, Improve]


def wish_of(made: Preference | LookInput | ImproveInput) -> Wish:
    """Return the wish that an input is."""
    if isinstance(made, Preference):
        return Prefer(made.state)
    if isinstance(made, ImproveInput):
        return Improve(made.state, made.within)
    if made.state is None:
        return LeaveClosed() if made.action == RESET else Look(None)
    return Look((made.state, made.action))


@dataclass(frozen=True)
class Directives:
    """
    The sum of all wishes so far, as one value that the next wish replaces.

    :ivar preferred: states, in the order in which they were first preferred.
    :ivar looks_are_told: whether closed pairs are not executed unless a ``Look`` asks for it.
    :ivar improved: what policies are to be within of the best, by target.
    """

    preferred: tuple[int, ...] = ()
    looks_are_told: bool = False
    improved: Mapping[int, float] = field(default_factory=dict)

    def after(self, wish: Wish) -> Directives:
        """Return the value after another wish."""
        if isinstance(wish, Prefer):
            if wish.state in self.preferred:
                return self
            return replace(self, preferred=(*self.preferred, wish.state)[-_MOST_PREFERRED:])
        if isinstance(wish, Improve):
            return replace(self, improved={} if wish.target is None else {
                **self.improved, wish.target: wish.within})
        return replace(self, looks_are_told=True)

    @property
    def for_checks(self) -> Iterator[Wish]:
        """Yield the wishes that a checking phase begins with."""
        if self.looks_are_told:
            yield LeaveClosed()
        for target, within in self.improved.items():
            yield Improve(target, within)
