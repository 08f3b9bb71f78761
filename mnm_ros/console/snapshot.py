"""What the nodes have published so far, as one immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mnm_ros.core.policy import Hypothesis


@dataclass(frozen=True)
class Snapshot:
    """The latest message of every topic; None and empty where nothing has come yet.

    report: the explorer's diagnostics, key to text.
    reports: how many diagnostics have come.
    exploration_steps: as they were when the last report came.
    """

    phase: str | None = None
    status: str | None = None
    hypothesis: Hypothesis | None = None
    known: tuple[int, ...] = ()
    report: Mapping[str, str] = field(default_factory=dict)
    reports: int = 0
    true_setting: int | None = None
    exploration_steps: int | None = None

    @property
    def phase_group(self) -> str | None:
        """The phase without its detail: ``building`` for ``building/evaluation``."""
        return None if self.phase is None else self.phase.partition('/')[0]

    def number(self, key: str) -> float | None:
        """Return a number of the report; None if it is missing or not a number."""
        try:
            return float(self.report[key])
        except (KeyError, ValueError):
            return None

    def count(self, key: str) -> int | None:
        """Return a number of the report as an integer; None as in ``number``."""
        value = self.number(key)
        return None if value is None else int(value)


@dataclass(frozen=True)
class Goal:
    """When to stop: with the first hypothesis, and once so many changes are relearnt."""

    changes: int = 0

    def reached(self, snapshot: Snapshot) -> bool:
        """Tell whether there is a hypothesis and enough changes have been relearnt."""
        relearnt = snapshot.count('changes_relearnt') or 0
        return snapshot.hypothesis is not None and relearnt >= self.changes

    def awaited(self, snapshot: Snapshot) -> str:
        """Say in a few words what is still missing."""
        if snapshot.phase is None:
            return 'the first message of the explorer'
        if snapshot.hypothesis is None:
            return 'the first hypothesis'
        relearnt = snapshot.count('changes_relearnt') or 0
        return f'a change to be noticed and relearnt ({relearnt} of {self.changes} so far)'
