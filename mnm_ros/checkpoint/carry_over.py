# SPDX-License-Identifier: Apache-2.0

"""
Takes over what an exploration has learnt of a graph into one of a graph that differs.

The transitions of a way that is the same count as work of the new exploration, in their order, as
with ``forget``: where an execution has led is a draw of its own pair, whatever the places are
called. As with a warm start, only transitions since the last change that was noticed are taken.
A way that has ever ended in a place that is not there any more is left out as a whole: to leave
out single transitions by their ends would be a choice by what has come of them.

The new files take the place of the old ones, which stay beside them under other names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mnm_ros.checkpoint.database import set_aside
from mnm_ros.checkpoint.forget import FILE, files_of
from mnm_ros.checkpoint.generations import Generations
from mnm_ros.checkpoint.input_log import refusing, SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.checkpoint.world_log import KEPT as WORLDS
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import Input
from mnm_ros.core.mnm.capabilities import Step
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import RESET
from mnm_ros.files import read_own, write_whole
from mnm_ros.places.graph_change import GraphChange
from mnm_ros.robot_description import KEPT, RobotDescription, UNDESCRIBED

TRUSTED = '.trusted'
"""After the name of an explorer, of the file that says since when policies are trusted."""

OTHER_GRAPH = 'other_graph'
"""In the names of files that are kept from before the graph has changed."""

_FOUND_WITH_THE_GRAPH = ('actions', 'radius')    # of what an exploration is asked for


class CarriedOver(NamedTuple):
    """
    The result of carrying over.

    :ivar steps: transitions that count on.
    :ivar left: those that do not.
    :ivar aside: the files that were there before.
    """

    change: GraphChange
    steps: int
    left: int
    aside: tuple[Path, ...]

    def __str__(self) -> str:
        """Return in a sentence what stays learnt and what does not."""
        return (f'the graph has changed ({self.change.text}): {len(self.change.states):,} places '
                f'are the same, {self.steps:,} transitions count on, and {self.left:,} do not; '
                f'kept: {", ".join(path.name for path in self.aside)}')


@dataclass(frozen=True)
class OtherGraph:
    """
    A graph that differs from the one of which files are kept.

    :param change: how it differs.
    :param described: what the robot side says that it is now.
    :param declared: where its actions lead, as the new exploration relies on it.
    """

    change: GraphChange
    described: RobotDescription
    declared: Declaration | None

    def is_served_by(self, folder: Path, name: str, identity: Mapping[str, Any]) -> bool:
        """Return whether the files of a folder can be gone on from as they are."""
        return self.change.keeps_numbers and _identity(folder, name) in (None, identity)

    def carry_over(self, folder: Path, name: str, identity: Mapping[str, Any],
                   transition_log: bool, begin: Callable[[], Exploration],
                   abandoned: Callable[[], bool]) -> CarriedOver:
        """
        Write files of an exploration of this graph in place of those that are there.

        :param identity: what the new exploration is asked for.
        :param begin: makes it.
        :raises OSError: if the disk fails; nothing has changed then, or the old files are aside.
        :raises LoadCancelled: once ``abandoned`` says so.
        """
        steps = _recorded(folder, name, identity, abandoned)
        pairs, states = self.change.pairs, self.change.states
        astray = {(state, action) for state, action, after in steps
                  if after is not None and after not in states}
        same = [(*pairs[state, action], None if after is None else states[after])
                for state, action, after in steps
                if (state, action) in pairs and (state, action) not in astray]
        exploration, inputs = self._taught(begin(), same)
        aside = tuple(set_aside(path, OTHER_GRAPH) for path in _files(folder, name))
        # A crash from here on leaves nothing to go on from, rather than other numbers.
        write_whole(folder / f'{name}{KEPT}', self.described.to_text(), own=True)
        files = Generations(folder, name, identity, transition_log, backlog=0)
        try:
            files.create(0, None)
            files.append(inputs)
            if exploration.can_snapshot:
                files.create(len(inputs), exploration.to_state())
            files.write_late()
        finally:
            files.close(0, '')
        return CarriedOver(self.change, len(same), len(steps) - len(same), aside)

    def _taught(self, exploration: Exploration, steps: list[Step],
                ) -> tuple[Exploration, list[Input]]:
        """Give the steps to an exploration that begins; return it and what it has taken."""
        inputs: list[Input] = []
        home = self.described.home
        if home is None or not steps:
            return exploration, inputs
        exploration.listeners.append(lambda update: inputs.append(update.input))
        if self.declared is not None:
            exploration.declare(self.declared)
        exploration.observe(RESET, home)    # where RESET leads, as the robot side says
        for step in steps:
            exploration.observe_work(*step)
        exploration.lose_place()
        return exploration, inputs


def described_in(path: Path) -> RobotDescription:
    """
    Return the description that is kept in a file.

    :raises OSError: if the file cannot be read.
    :raises ValueError: if it holds no description.
    """
    return RobotDescription.from_text(read_own(path).decode('utf-8'))


def described_beside(log: Path) -> RobotDescription:
    """
    Return the description that is kept beside a transition log or a checkpoint.

    :return: ``UNDESCRIBED`` if there is none.
    :raises CheckpointError: if it cannot be read.
    """
    path = kept_beside(log)
    try:
        return described_in(path)
    except FileNotFoundError:
        return UNDESCRIBED
    except (OSError, ValueError) as error:
        raise CheckpointError(f'{path} cannot be read: {error}') from None


def check_same_graph(log: Path, described: RobotDescription) -> bool:
    """
    Check that the places and ways of a log have the same numbers in a description.

    :returns: whether anything is known of the log beside its steps.
    :raises CheckpointError: if they do not, or if that is not known.
    """
    before = described_beside(log)
    if not (before.moves or described.moves):
        return before is not UNDESCRIBED
    change = GraphChange.between(before, described)
    if change is None:
        graph, other = (log, 'the robot side') if before.moves else ('the robot side', log)
        raise CheckpointError(
            f'{graph} has the ways of a graph and {other} has none, expected one graph'
            + ('' if before.moves else f', of which {kept_beside(log)} tells'))
    if not change.keeps_numbers:
        raise CheckpointError(
            f'{log} is of another graph than the robot side ({change.text}), expected the same '
            'graph; what is the same counts on if checkpoint_dir is a copy of the folder of the '
            'log')
    return True


def kept_beside(log: Path) -> Path:
    """Return the file in which the description of a log is kept."""
    found = FILE(log.name)
    return log.parent / f'{found["name"] if found else log.name.partition(".")[0]}{KEPT}'


def _recorded(folder: Path, name: str, identity: Mapping[str, Any],
              abandoned: Callable[[], bool]) -> tuple[Step, ...]:
    """Return what the files hold of transitions that count; nothing if they cannot be used."""
    before = _identity(folder, name)
    if before is None or any(before.get(key) != value for key, value in identity.items()
                             if key not in _FOUND_WITH_THE_GRAPH):
        return ()

    def revive(saved: SavedInputs) -> Exploration:
        with refusing(saved.path):
            exploration = begun(saved)
            saved.replay(exploration, abandoned)
            return exploration

    files = Generations(folder, name, before, transition_log=False, backlog=0)
    try:
        loaded = files.load(revive)
    finally:
        files.close(0, '')
    return loaded[1].recorded if loaded else ()


def _identity(folder: Path, name: str) -> dict[str, Any] | None:
    """Return what the newest exploration that can be read was asked for."""
    for path in reversed(files_of(folder, name)):
        try:
            return SavedInputs(path).identity
        except CheckpointError:    # it is refused later, with the reason
            continue
    return None


def _files(folder: Path, name: str) -> list[Path]:
    """Return the files that mean something with the numbers of one graph alone."""
    return [*files_of(folder, name), *(path for path in (
        folder / f'{name}{KEPT}', folder / f'{name}{WORLDS}', folder / f'{name}{TRUSTED}')
        if path.exists())]
