# SPDX-License-Identifier: Apache-2.0

"""
The course of an exploration, from its transition log.

The core is deterministic, so playing the log again shows what was known at each step.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input, Observation, Update
from mnm_ros.core.knowledge.knowledge import Knowledge
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.progress.events import Event


@dataclass
class ReplaySummary:
    """
    The course of an exploration.

    :ivar known: per change of the number of known states the step and the new number.
    :ivar events: the decisions.
    :ivar inputs: how many of each kind there were.
    :ivar actions: how often each action was executed.
    :ivar noticed: how many changes were noticed.
    :ivar noticed_at: at which steps.
    :ivar candidates: per change of their number the step and the new number.
    :ivar phases: the phase after each input at which it has changed, as the input's number from 0
        on, and its name.
    :ivar steps: how many there were before each of these inputs, and at the end.
    """

    exploration: Exploration
    known: list[tuple[int, int]] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    inputs: Counter[type[Input]] = field(default_factory=Counter)
    actions: Counter[int] = field(default_factory=Counter)
    noticed: int = 0
    noticed_at: list[int] = field(default_factory=list)
    candidates: list[tuple[int, int]] = field(default_factory=list)
    phases: list[tuple[int, str]] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)

    def take(self, update: Update) -> None:
        """Record an input, after the exploration has taken it."""
        exploration, made = self.exploration, update.input
        self.inputs[type(made)] += 1
        if isinstance(made, Observation):
            self.actions[made.action] += 1
        self._take_phase()
        if exploration.changes_noticed != self.noticed:
            self.noticed = exploration.changes_noticed
            self.noticed_at.append(exploration.steps)
        self.events += update.events
        found = len(exploration.hypothesis.targets) if exploration.hypothesis else 0
        if not self.known or self.known[-1][1] != found:
            self.known.append((exploration.steps, found))
        met = len(exploration.candidates)
        if not self.candidates or self.candidates[-1][1] != met:
            self.candidates.append((exploration.steps, met))

    def _take_phase(self) -> None:
        phase = self.exploration.phase.value
        if not self.phases or self.phases[-1][1] != phase:
            self.phases.append((sum(self.inputs.values()) - 1, phase))
            self.steps.append(self.exploration.steps)

    def steps_by_phase(self) -> dict[str, int]:
        """Return how many steps were made in each phase."""
        found: dict[str, int] = {}
        ends = [*self.steps[1:], self.exploration.steps]
        for (_, phase), begin, end in zip(self.phases, self.steps, ends):
            found[phase] = found.get(phase, 0) + end - begin
        return found

    @cached_property
    def knowledge(self) -> Knowledge:
        """Return what is known once all is taken."""
        return self.exploration.knowledge()

    def least_tried(self, policy: Policy) -> int:
        """
        Return how often the least tried action of a policy was tried.

        Only the states count through which the policy leads, by what is counted.
        """
        return min((sum(seen.values()) for seen in self.knowledge.on_the_way(policy).values()),
                   default=0)


def replay(saved: SavedInputs) -> ReplaySummary:
    """Return what happened; CheckpointError if this version decides otherwise than the log."""
    exploration = begun(saved)
    summary = ReplaySummary(exploration)
    exploration.robot_answers()    # so that its phase is that of the algorithm
    saved.replay(exploration, then=summary.take)
    return summary
