# SPDX-License-Identifier: Apache-2.0

"""The latest messages of the nodes as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass

from mnm_ros.console.grid import Picture
from mnm_ros.core.exploration import Phase
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.heard import Heard


def phase_of(text: str) -> Phase | str:
    """Return the phase that has the published name, or the name if there is none."""
    try:
        return Phase(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Snapshot(Heard):
    """
    What has been heard, and what is made of it.

    :ivar phase: of the explorer; text for a phase that is not known here.
    :ivar decisions: the last sentences on ``status`` with their times of the day, oldest first.
    :ivar met: all states in ``counts``.
    :ivar picture: of the grid in ``description``; empty if that has none.
    """

    phase: Phase | str | None = None
    status: str | None = None
    decisions: tuple[tuple[str, str], ...] = ()
    hypothesis: Hypothesis | None = None
    met: frozenset[int] = frozenset()
    picture: Picture = ()

    @property
    def phase_name(self) -> str:
        """Return the phase as published; '' before the first message."""
        return str(self.phase.value) if isinstance(self.phase, Phase) else self.phase or ''

    @property
    def phase_group(self) -> str:
        """Return the phase without its detail: ``building`` for ``building/evaluation``."""
        return self.phase_name.partition('/')[0]

    @property
    def seen(self) -> frozenset[int]:
        """Return the states met since the last change noticed."""
        current = self.activity.current
        return self.met if current is None else self.met | {current}

    @property
    def home(self) -> int | None:
        """Return the state to which RESET leads; None if that is not known."""
        return self.description.home if self.activity.home is None else self.activity.home

    @property
    def candidates(self) -> frozenset[int]:
        """Return the states that may become known, as long as a hypothesis is being built."""
        revised = self.count('changes_noticed') != self.count('changes_relearnt')
        if self.known and self.phase_group != 'building' and not revised:
            return frozenset()
        return frozenset(self.activity.candidates) - {*self.known, *self.activity.lost}

    @property
    def beyond(self) -> tuple[int, ...]:
        """Return the states that were seen, but are too far away, by what is known so far."""
        if len(self.known) == 0 or self.hypothesis is None:
            return ()
        return tuple(sorted(self.seen - self.candidates - {*self.known, *self.activity.lost}))


@dataclass(frozen=True)
class Goal:
    """When to stop: after the first hypothesis, and once so many changes are relearnt."""

    changes: int = 0

    def reached(self, snapshot: Snapshot) -> bool:
        """Return whether there is a hypothesis and enough changes have been relearnt."""
        relearnt = snapshot.count('changes_relearnt') or 0
        return snapshot.hypothesis is not None and relearnt >= self.changes

    def awaited(self, snapshot: Snapshot) -> str:
        """Return in a few words what is still missing."""
        if snapshot.phase is None:
            return 'the first message of the explorer'
        if snapshot.hypothesis is None:
            return 'the first hypothesis'
        relearnt = snapshot.count('changes_relearnt') or 0
        return f'a change to be noticed and relearnt ({relearnt} of {self.changes} so far)'
