# SPDX-License-Identifier: Apache-2.0

"""Where actions may lead, as far as that is declared and has not turned out to be false."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from mnm_ros.core.model.declaration import Declaration

Pair = tuple[int, int]

_NOTHING: Mapping[int, float] = {}


class Support:
    """
    A declaration, less what was withdrawn of it.

    All parts of an exploration share one object, so that what is withdrawn is so everywhere at
    once; a snapshot leaves it out (``in_snapshots``).

    :param declared: what is taken to be true.
    :param withdrawn: the pairs for which it is not any more.
    :ivar declared: the same.
    :ivar changes: how often it has changed.
    """

    in_snapshots = False

    def __init__(self, declared: Declaration | None = None,
                 withdrawn: Iterable[Sequence[int]] = ()) -> None:
        self.declared = declared or Declaration()
        self._withdrawn: dict[Pair, None] = dict.fromkeys(
            (state, action) for state, action in withdrawn)
        self.changes = 0

    def __bool__(self) -> bool:
        """Return whether anything is declared."""
        return bool(self.declared)

    def copy(self) -> Support:
        """Return another one, which is withdrawn by itself."""
        return Support(self.declared, self._withdrawn)

    def ends(self, state: int, action: int) -> tuple[int, ...] | None:
        """Return where a pair may lead; None if anywhere. RESET, -1, is never declared."""
        lists = self.declared.successors.get(state)
        if lists is None or action < 0 or (state, action) in self._withdrawn:
            return None
        return lists[action]

    def forbids(self, state: int, action: int) -> bool:
        """Return whether a pair is never to be commanded: it is declared to lead nowhere."""
        # Asked at each step, as what follows: where nothing is declared, that is all.
        return state in self.declared.successors and self.ends(state, action) == ()

    @property
    def all_forbidden(self) -> frozenset[Pair]:
        """Return all pairs that are never to be commanded."""
        return frozenset((state, action) for state, lists in self.declared.successors.items()
                         for action, ends in enumerate(lists) if not ends)

    def forbidden(self, states: Sequence[int], actions: int) -> list[list[bool]]:
        """Return which of the pairs are never to be commanded, as [state][action]."""
        return [[self.forbids(state, action) for action in range(actions)] for state in states]

    def refuted_by(self, state: int, action: int, end: int) -> bool:
        """Return whether a transition is outside the declaration of its pair."""
        if state not in self.declared.successors:
            return False
        ends = self.ends(state, action)
        return bool(ends) and end not in (ends or ())

    def chances(self, state: int, action: int) -> Mapping[int, float]:
        """
        Return the declared probability of each end of a pair, a bet; empty without one.

        It stays when the declaration of the ends is withdrawn: a bet must not depend on what it
        is about.
        """
        lists = self.declared.chances.get(state)
        return _NOTHING if lists is None or action < 0 else dict(
            zip(self.declared.successors[state][action], lists[action]))

    def withdraw(self, state: int, action: int) -> None:
        """Take the declaration of a pair as false from now on."""
        self._withdrawn[state, action] = None
        self.changes += 1

    def declare(self, declared: Declaration,
                following: Callable[[int, int], Iterable[int]]) -> tuple[list[Pair], list[Pair]]:
        """
        Take another declaration instead.

        :param following: the states that were observed after a pair.
        :returns: The pairs of which less is ruled out than before, so that what was concluded
            may be wrong; those of the new declaration that it withdraws, as they did lead
            elsewhere.
        """
        before = self.copy()
        self.declared, self._withdrawn = declared, {}
        self.changes += 1
        wrong = [(state, action) for state, lists in declared.successors.items()
                 for action, ends in enumerate(lists)
                 if ends and not {*following(state, action)} <= {*ends}]
        for pair in wrong:
            self.withdraw(*pair)
        return [(state, action) for state, lists in before.declared.successors.items()
                for action in range(len(lists))
                if self._allows_more(before, state, action)], wrong

    def _allows_more(self, before: Support, state: int, action: int) -> bool:
        then, now = before.ends(state, action), self.ends(state, action)
        return then is not None and (now is None or not {*now} <= {*then})

    def to_state(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {'declared': self.declared.to_json(), 'withdrawn': list(map(list, self._withdrawn))}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None) -> Support:
        """Return what ``to_state`` was called on; nothing is declared where there is no state."""
        if state is None:
            return cls()
        return cls(Declaration.from_json(state['declared']), state['withdrawn'])
