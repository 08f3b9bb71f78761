# SPDX-License-Identifier: Apache-2.0

"""
Predictions of where declared pairs lead, learnt from all of them together.

Of a pair that is declared, what follows is one of its ends, a state outside of these, or a place
that nobody saw, as the step was broken off. These have *roles*, by which pairs are compared: to
stay, the first end that is not to stay, the second, and so on. Where moves hardly ever fail, a
robot knows that of the next pair, too, before it has tried it.

A prediction mixes what the pair did itself with what all pairs did that have as many ends, as a
Dirichlet prior of some strength does; of the strengths, those count most that have predicted the
pair best (Bayes). It depends on the past alone, so that the product of predicted over true
probabilities is a nonnegative supermartingale, over any pairs that the past has chosen; that is
all that anybody may rely on (``joint.py``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
import math

from mnm_ros.core.model.counts import Pair

_STAY, _OUTSIDE, _LOST = -1, -2, -3    # roles; other ends have their number
_STRENGTHS = (1.0, 8.0, 64.0)
_FIRST, _OTHER, _ODD = 4.0, 0.5, 0.05    # what counts before anything was seen


@dataclass(frozen=True)
class Record:
    """
    The predictions of a pair, and its outcomes.

    :ivar paid: code length of the predictions, in nats.
    :ivar tally: how often each end came, but for the first time if it was not declared then.
    :ivar lost: how often the step was broken off.
    """

    paid: float
    tally: Mapping[int, int]
    lost: int

    @cached_property
    def made(self) -> int:
        """Return how many executions that is."""
        return self.lost + sum(self.tally.values())

    def since(self, before: Record | None) -> Record:
        """Return what came after another record of the same pair."""
        if before is None:
            return self
        return Record(self.paid - before.paid, {
            end: count - before.tally.get(end, 0) for end, count in self.tally.items()},
            self.lost - before.lost)

    def plus(self, later: Record) -> Record:
        """Return what both are of together."""
        return Record(self.paid + later.paid, {
            end: self.tally.get(end, 0) + later.tally.get(end, 0)
            for end in (*self.tally, *later.tally)}, self.lost + later.lost)


NOTHING = Record(0.0, {}, 0)


class Predictions:
    """The predictions of all pairs that are declared, each made before what it is of."""

    def __init__(self) -> None:
        self._together: dict[tuple[int, int], dict[int, int]] = {}    # by kind, then role
        self._paid: dict[Pair, float] = {}
        self._tally: dict[Pair, dict[int, int]] = {}
        self._odd: dict[Pair, dict[int, int]] = {}
        self._weights: dict[Pair, tuple[float, ...]] = {}

    @cached_property
    def _records(self) -> dict[Pair, Record]:
        """Return the records that were asked for, by each test, until they change."""
        return {}

    def add(self, pair: Pair, ends: Sequence[int], came: int | None) -> None:
        """
        Predict a transition, and record it.

        What came from outside of the ends is one more of them from then on. The support is not
        asked: it has received the outcome already.

        :param ends: where the pair is declared to lead, in the order of its declaration.
        :param came: None for a step that was broken off.
        """
        self._records.pop(pair, None)
        tally, odd = self._tally.setdefault(pair, {}), self._odd.setdefault(pair, {})
        roles = _roles(pair[0], [*ends, *(end for end in tally if end not in ends)])
        role = _LOST if came is None else roles.get(came, _OUTSIDE)
        own = {**{each: tally.get(end, 0) for end, each in roles.items()},
               _OUTSIDE: odd.get(_OUTSIDE, 0), _LOST: odd.get(_LOST, 0)}
        together = self._together.setdefault((len(roles), _STAY in own), {})
        prior = {each: together.get(each, 0) + (
            _FIRST if each == 0 else _OTHER if each > _OUTSIDE else _ODD) for each in own}
        base, made = prior[role] / math.fsum(prior.values()), sum(own.values())
        chances = [(own[role] + strength * base) / (made + strength) for strength in _STRENGTHS]
        weights = self._weights.get(pair) or (1 / len(_STRENGTHS),) * len(_STRENGTHS)
        joint = [weight * chance for weight, chance in zip(weights, chances)]
        chance = math.fsum(joint)
        self._weights[pair] = tuple(each / chance for each in joint)
        self._paid[pair] = self._paid.get(pair, 0.0) - math.log(chance)
        together[role] = together.get(role, 0) + 1
        if came is not None:
            tally[came] = tally.get(came, 0) + (role != _OUTSIDE)
        if role <= _OUTSIDE:
            odd[role] = odd.get(role, 0) + 1

    def forget(self, pair: Pair) -> None:
        """Begin again with a pair; what it has learnt of others stays."""
        for kept in (self._paid, self._tally, self._odd, self._weights, self._records):
            kept.pop(pair, None)

    def record(self, pair: Pair) -> Record | None:
        """Return what was predicted of a pair, as one object until more is; None if nothing."""
        if pair not in self._paid:
            return None
        found = self._records.get(pair)
        if found is None:
            found = self._records[pair] = Record(
                self._paid[pair], dict(self._tally[pair]), self._odd[pair].get(_LOST, 0))
        return found


def _roles(state: int, ends: Sequence[int]) -> dict[int, int]:
    """Return the role of each end."""
    others = [end for end in ends if end != state]
    roles = {end: number for number, end in enumerate(others)}
    return {**roles, state: _STAY} if state in ends else roles
