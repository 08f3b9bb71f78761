# SPDX-License-Identifier: Apache-2.0

"""The knowledge of an exploration, wherever it comes from, and the likely way to a state."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby
import math
from pathlib import Path
import re
from typing import Union

from mnm_ros.checkpoint.input_log import refusing, SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.knowledge.knowledge import Knowledge, Transition
from mnm_ros.core.model.policy import Policy
from mnm_ros.core.model.problem import RESET
from mnm_ros.export.recording import Recording
from mnm_ros.robot_description import kept_beside, RobotDescription, UNDESCRIBED


@dataclass(frozen=True)
class ExportContents:
    """
    The knowledge of an exploration.

    :ivar source: where this comes from, in a few words.
    :ivar knowledge: what is known.
    :ivar description: names of actions and states, and places of these, as far as they are known.
    :ivar saved: the transitions one by one, if it comes from a file or a recording.
    """

    source: str
    knowledge: Knowledge
    description: RobotDescription = UNDESCRIBED
    saved: Union[SavedInputs, Recording, None] = None

    @classmethod
    def of(cls, exploration: Exploration, description: RobotDescription = UNDESCRIBED,
           source: str = 'an exploration',
           saved: Union[SavedInputs, Recording, None] = None) -> ExportContents:
        """
        Return what an exploration has learnt up to now.

        :param description: with the names and the places of its states.
        """
        return cls(source, exploration.knowledge(
            names=description.names, places=description.positions), description, saved)


_NAME = re.compile(r'(.*)\.(log|\d{8})\.sqlite')


def read(path: Path, log: bool = False) -> ExportContents:
    """
    Return what a file says was learnt, or a file in a folder.

    :param path: a ``*.sqlite`` in the ``checkpoint_dir`` of an explorer, or that folder.
    :param log: whether all transitions are wanted, which only a transition log has.
    :raises CheckpointError: if there is no such file, or if it cannot be used.
    """
    saved = SavedInputs(_file_in(path, log) if path.is_dir() else path)
    if log and (saved.point is not None or not saved.path.name.endswith('.log.sqlite')):
        raise CheckpointError(
            f'{saved.path} does not begin with the exploration, expected a '
            '*.log.sqlite that does, of an explorer with transition_log: true')
    with refusing(saved.path):
        return _learnt(saved)


def _learnt(saved: SavedInputs) -> ExportContents:
    exploration = begun(saved)
    saved.replay(exploration)
    actions = tuple(saved.identity['actions'])
    described = kept_beside(saved.path)
    if described.actions != actions:    # nothing is kept, or of another robot
        described = RobotDescription(actions)
    return ExportContents.of(exploration, described, str(saved.path), saved)


def _file_in(folder: Path, log: bool) -> Path:
    """Return the newest file; CheckpointError if there is none, or of several explorers."""
    files = {path: match for path in folder.glob('*.sqlite')
             if (match := _NAME.fullmatch(path.name))}
    names = sorted({match[1] for match in files.values()})
    if len(names) != 1:
        raise CheckpointError(
            f'{folder} has files of {len(names)} explorers'
            f'{": " if names else ""}{", ".join(names)}, expected those of one; a file '
            'can be named, too')
    wanted = [path for path, match in files.items() if (match[2] == 'log') == log]
    if not wanted:
        raise CheckpointError(
            f'{folder} has no *.log.sqlite, expected the checkpoint_dir of an explorer '
            'with transition_log: true' if log else f'{folder} has no checkpoint')
    return max(wanted, key=lambda path: path.stat().st_mtime)


def route(known: Knowledge, policy: Policy) -> tuple[Transition, ...] | None:
    """
    Return the transitions by which the policy arrives with the greatest probability.

    What fails and may be tried again is not among them. None if it was never seen to arrive.
    """
    if known.home is None:
        return None
    stationary = len(policy.actions) == 1
    queue: list[tuple[float, int, int, tuple[Transition, ...]]] = [(0.0, 0, known.home, ())]
    done: set[tuple[int, int]] = set()
    while queue:    # the way of Dijkstra, as probabilities are multiplied
        cost, step, state, legs = heappop(queue)
        if state == policy.target:
            return legs
        place = state, 0 if stationary else step
        action = policy.action(step, state)
        if place in done or action == RESET:
            continue
        done.add(place)
        for leg in known.after(state, action):
            heappush(queue, (
                cost - math.log(leg.probability), step + 1, leg.following, (*legs, leg)))
    return None


def in_words(description: RobotDescription, legs: tuple[Transition, ...]) -> str:
    """Return the actions of a route, as in ``2 east, south``."""
    names = [description.action_name(leg.action, leg.state) for leg in legs]
    runs = [(name, len(list(same))) for name, same in groupby(names)]
    return ', '.join(name if times == 1 else f'{times} {name}' for name, times in runs)
