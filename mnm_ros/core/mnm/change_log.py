# SPDX-License-Identifier: Apache-2.0

"""
The decisions of MNM, as values, and how many changes they make.

``Mnm`` and its phases record here; ``Exploration`` takes the decisions after each input.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mnm_ros.core.detection.pair_watch import News
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.progress.events import MovesChange, PairChange
from mnm_ros.core.progress.said import (
    DeclarationsExtended,
    DeclarationsWithdrawn,
    DeclarationWithdrawn,
    EndAdded,
    EndsAdded,
    PairChanged,
    Said,
    WayOpen,
    WayStillClosed,
)

_SHOWN = 5    # actions, of those whose declaration is not true


@dataclass(frozen=True)
class Decided:
    """
    A decision.

    :ivar kind: as of ``Event``.
    :ivar change: of a pair or of many moves, if the decision is about that.
    """

    said: Said
    kind: str = 'decision'
    change: PairChange | MovesChange | None = None


@dataclass(frozen=True)
class Outdated:
    """The counts of a pair are no longer valid; None is any state, or action."""

    state: int | None
    action: int | None


@dataclass(frozen=True)
class ChangeNoticed:
    """A change was noticed while none was open."""


class ChangeLog:
    """
    Collects what was decided, and counts how many changes that makes.

    :ivar news: what ``take`` returns next.
    :ivar noticed: changes so far; while one is open, what else is noticed belongs to it.
    :ivar relearnt: those after which nothing was left to revise.
    :ivar notices: how often anything was noticed since this log was made, whichever change it
        belongs to.
    """

    left_to_fresh = ('news',)    # the exploration takes them before it is saved

    def __init__(self) -> None:
        self.news: list[Decided | Outdated | ChangeNoticed] = []
        self.noticed = 0
        self.relearnt = 0
        self.notices = 0

    @property
    def open(self) -> bool:    # noqa: A003
        """Whether a change was noticed that is not relearnt yet."""
        return self.noticed > self.relearnt

    def take(self) -> list[Decided | Outdated | ChangeNoticed]:
        """Return what happened since the last call, in its order."""
        taken, self.news = self.news, []
        return taken

    def tell(self, said: Said, kind: str = 'decision',
             change: PairChange | MovesChange | None = None) -> None:
        """Record a decision."""
        self.news.append(Decided(said, kind, change))

    def notice(self) -> None:
        """Record a decision that hardly comes about in a CMP that does not change."""
        self.notices += 1
        if not self.open:
            self.noticed += 1
            self.news.append(ChangeNoticed())

    def outdate(self, state: int | None = None, action: int | None = None) -> None:
        """Record that counts are no longer valid: None is all states, or all actions."""
        self.news.append(Outdated(state, action))

    def tell_changed(self, round_number: int, change: PairChange) -> None:
        """Report that a pair leads elsewhere than before."""
        self.tell(PairChanged(round_number, *change.pair), 'change', change)
        self.outdate(*change.pair)

    def tell_recheck(self, round_number: int, pair: Pair, news: News) -> None:
        """Report whether a closed pair leads on again."""
        self.tell((WayOpen if news is News.OPEN else WayStillClosed)(round_number, *pair))

    def tell_refuted(self, pair: Pair, end: int, declared: Sequence[int],
                     added: Collection[int]) -> None:
        """
        Report that a pair has led to an end that is not declared.

        :param declared: its ends before; none if it is not declared.
        :param added: the ends that it may have from now on beside them; none if it is not
            declared any more.
        """
        ends = tuple(declared[:_SHOWN])
        self.tell(
            EndsAdded(*pair, end, ends, len(added) - 1) if len(added) > 1 else (
                EndAdded if added else DeclarationWithdrawn)(*pair, end, ends), 'change')

    def tell_wrong(self, wrong: Sequence[Pair], extended: bool) -> None:
        """Report the pairs whose declaration contradicts what was observed; extended: or not."""
        kind = DeclarationsExtended if extended else DeclarationsWithdrawn
        self.tell(kind(len(wrong), tuple(wrong[:_SHOWN])))

    def revise(self) -> None:
        """Record a change that was suspected alone, and is relearnt: other ways are taken."""
        self.noticed += 1
        self.relearnt += 1

    def settle(self) -> None:
        """Record that nothing is at odds with the hypothesis any more."""
        self.relearnt = self.noticed
