# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""The latest messages of the nodes as one immutable value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mnm_ros.core.exploration import Phase
from mnm_ros.core.policy import Hypothesis


def phase_of(text: str) -> Phase | str:
    """Return the phase that has the published name, or the name if there is none."""
    try:
        return Phase(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Snapshot:
    """
    The latest message of every topic; None or empty before the first one.

    :ivar phase: of the explorer; text for a phase that is not known here.
    :ivar report: the diagnostics of the explorer, text by key.
    :ivar reports: the number of diagnostics so far.
    :ivar exploration_steps: as they were at the last report.
    """

    phase: Phase | str | None = None
    status: str | None = None
    hypothesis: Hypothesis | None = None
    known: tuple[int, ...] = ()
    report: Mapping[str, str] = field(default_factory=dict)
    reports: int = 0
    true_setting: int | None = None
    exploration_steps: int | None = None

    @property
    def phase_name(self) -> str:
        """The phase as published; '' before the first message."""
        return str(self.phase.value) if isinstance(self.phase, Phase) else self.phase or ''

    @property
    def phase_group(self) -> str:
        """The phase without its detail: ``building`` for ``building/evaluation``."""
        return self.phase_name.partition('/')[0]

    def number(self, key: str) -> float | None:
        """Return a number of the report; None if it is missing or no number."""
        try:
            return float(self.report[key])
        except (KeyError, ValueError):
            return None

    def count(self, key: str) -> int | None:
        """Return a number of the report as an integer; None if it is missing or no number."""
        value = self.number(key)
        return None if value is None else int(value)


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
