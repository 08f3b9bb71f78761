# SPDX-License-Identifier: Apache-2.0

"""Where actions may lead: what is declared, and what was seen to be true besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mnm_ros.core.model.declaration import Declaration

if TYPE_CHECKING:    # it needs numpy, which takes long to import
    from mnm_ros.core.model.counts import NextStates, Pair

_NOTHING: Mapping[int, float] = {}

_NEAR = 2    # declared moves, up to which an end that was not declared is a move that went astray


class Support:
    """
    A declaration, and the ends that were added to it.

    An action that has led elsewhere than declared may do so again, and to what lies around as
    well: where its end is one or two declared moves from the state, all that is no farther is
    added, too. What was added stays, also under another declaration, as it was seen.

    All parts of an exploration share one object, so that what is added is so everywhere at
    once.

    :param declared: what is taken to be true.
    :param tries: how often a run executes each declared pair of a state that it samples, to see
        whether the declaration is true; 0 where somebody else audits.
    :ivar declared, tries: the same.
    :ivar changes: how often it has changed.
    """

    def __init__(self, declared: Declaration | None = None, tries: int = 0) -> None:
        self.declared = declared or Declaration()
        # The pairs for which it is not true any more (``Declaration.audit``); further ends.
        self._withdrawn: dict[Pair, None] = {}
        self._added: dict[Pair, tuple[int, ...]] = {}
        self.tries = tries
        self.changes = 0

    def __bool__(self) -> bool:
        """Return whether anything is declared."""
        return bool(self.declared)

    def copy(self, tries: int = 0) -> Support:
        """Return another one, which changes by itself; ``tries`` as above."""
        made = Support(self.declared, tries)
        made._withdrawn, made._added = dict(self._withdrawn), dict(self._added)
        return made

    def ends(self, state: int, action: int) -> tuple[int, ...] | None:
        """Return where a pair may lead; None if anywhere. RESET, -1, is never declared."""
        lists = self.declared.successors.get(state)
        if lists is None or action < 0 or (state, action) in self._withdrawn:
            return None
        ends = lists[action]
        added = self._added.get((state, action)) if ends and self._added else None
        return (*ends, *(end for end in added if end not in ends)) if added else ends

    def declared_ends(self, state: int, action: int) -> tuple[int, ...]:
        """Return where a pair is declared to lead; nothing if it may lead anywhere."""
        return self.ends(state, action) or ()

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

        It stays when an end turns out to be missing: a bet must not depend on what it is about.
        """
        lists = self.declared.chances.get(state)
        return _NOTHING if lists is None or action < 0 else dict(
            zip(self.declared.successors[state][action], lists[action]))

    def refute(self, state: int, action: int, end: int) -> tuple[int, ...]:
        """
        Record that a pair has led to where it is not declared to lead.

        :returns: The ends that were added; none where its declaration is withdrawn.
        """
        self.changes += 1
        if self.declared.audit is None:
            self._withdrawn[state, action] = None
            return ()
        known = self.declared_ends(state, action)
        new = tuple(near for near in self._as_near(state, end) if near not in known)
        self._added[state, action] = (*self._added.get((state, action), ()), *new)
        return new

    def _as_near(self, state: int, end: int) -> tuple[int, ...]:
        """Return an end, and what lies as near to the state as that by declared moves."""
        reached, last = {state: None}, [state]
        for _ in range(_NEAR):
            if end in reached:
                break
            last = [after for here in last for ends in self.declared.successors.get(here, ())
                    for after in ends if after not in reached]
            reached.update(dict.fromkeys(last))
        return (end, *(near for near in reached if near != end)) if end in reached else (end,)

    def declare(self, declared: Declaration,
                observed: NextStates) -> tuple[list[Pair], list[Pair]]:
        """
        Take another declaration instead; what was added to the last one is added to this.

        :param observed: the transitions so far.
        :returns: The pairs of which less is ruled out than before, so that what was concluded
            may be wrong; those of the new declaration that did lead elsewhere, as was not known
            yet.
        """
        before = self.copy()
        self.declared, self._withdrawn = declared, {}
        self.changes += 1
        wrong: dict[Pair, None] = {}
        for state, lists in declared.successors.items():
            for action in range(len(lists)):
                for end in observed.next_states(state, action):
                    if self.refuted_by(state, action, end):
                        self.refute(state, action, end)
                        wrong[state, action] = None
        return [(state, action) for state, lists in before.declared.successors.items()
                for action in range(len(lists))
                if self._allows_more(before, state, action)], [*wrong]

    def _allows_more(self, before: Support, state: int, action: int) -> bool:
        then, now = before.ends(state, action), self.ends(state, action)
        return then is not None and (now is None or not {*now} <= {*then})
