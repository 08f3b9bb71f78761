# SPDX-License-Identifier: Apache-2.0

"""What was to be seen in an exploration, from its log: at each decision, and in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
import math
from pathlib import Path

from mnm_ros.checkpoint import event_log, world_log
from mnm_ros.checkpoint.input_log import LoadCancelled, refusing, SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Update
from mnm_ros.core.knowledge.knowledge import nested
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.core.progress.events import Event
from mnm_ros.core.view import View
from mnm_ros.robot_description import beside, kept_beside, RobotDescription
from mnm_ros.view.event_words import told
from mnm_ros.view.sentences import figures, sentence
from mnm_ros.view.telemetry import Telemetry

_EVENLY = 150    # scenes at which nothing need have been decided
_EVENTS = 50     # that are shown in a scene
_LOOKS = 8       # policies of which the trust is computed again for a scene

Show = Callable[[Telemetry, 'Hypothesis | None'], object]


class Scenes:
    """
    The scenes of one log, or of a checkpoint.

    :raises CheckpointError: if it cannot be read, or has nothing that can be replayed.
    """

    def __init__(self, path: Path) -> None:
        with refusing(path):
            self._saved = SavedInputs(path)
            self._exploration, self._view = begun(self._saved), View()
        self._description = replace(
            kept_beside(path), actions=tuple(self._saved.identity['actions']))
        self._kept = event_log.read(beside(path, event_log.KEPT))
        self._worlds = world_log.read(beside(path, world_log.KEPT))
        self._of_worlds: dict[str, RobotDescription] = {}
        self._decided: list[Event] = []

    def play(self, show: Show, abandoned: Callable[[], bool]) -> None:
        """
        Play it once, and show each scene with the hypothesis of the time.

        :param abandoned: says whether the rest is not wanted any more.
        :raises CheckpointError: if this version decides otherwise than the log says.
        """
        exploration, count = self._exploration, len(self._saved.inputs)
        if not count:
            show(self._scene(exploration, True), exploration.hypothesis)
        exploration.robot_answers()
        number = 0

        def then(update: Update) -> None:
            nonlocal number
            number += 1
            self._decided += [replace(event, text=told(event, self._said(event.step)))
                              for event in update.events]
            if update.events or number % max(1, count // _EVENLY) == 0 or number == count:
                show(self._scene(exploration, number == count), exploration.hypothesis)
        try:
            with refusing(self._saved.path):
                self._saved.replay(exploration, abandoned, then)
        except LoadCancelled:
            pass

    def _scene(self, exploration: Exploration, last: bool) -> Telemetry:
        found, steps = exploration.hypothesis, exploration.steps
        exploration.play_on(self._view)
        trust = exploration.trust(None if last else _LOOKS, self._view)
        said, doing = self._said(steps), exploration.activity(self._view)
        return Telemetry(
            phase=exploration.phase.value, status=sentence(exploration.status, said),
            events=self._events(steps),
            known=found.targets if found else (), version=found.version if found else None,
            trust={each.policy.target: replace(each, why=sentence(each.said, said))
                   for each in trust},
            counts=nested(exploration.history.rows()), description=said,
            activity=replace(doing, sentence=sentence(doing.said, said)),
            report=figures(exploration, said))

    def _said(self, steps: int) -> RobotDescription:
        """Return what the robot side said it was by then, with the names that came later."""
        then = world_log.at(self._worlds, steps)
        if then is None:
            return self._description
        if then.text not in self._of_worlds:
            try:
                found = replace(RobotDescription.from_text(then.text),
                                actions=self._description.actions)
            except ValueError:
                found = self._description
            self._of_worlds[then.text] = found.after(self._description)
        return self._of_worlds[then.text]

    def _events(self, steps: int) -> tuple[Event, ...]:
        """Return the last events by then, those kept beside the log with their times."""
        began = self._kept[0].step if self._kept else math.inf
        found = [*(event for event in self._decided if event.step < began),
                 *(event for event in self._kept if event.step <= steps)]
        return tuple(found[-_EVENTS:])
