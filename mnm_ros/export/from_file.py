# SPDX-License-Identifier: Apache-2.0

"""What was learnt, from a checkpoint or from a transition log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import re

from mnm_ros.checkpoint.input_log import Refused, refusing, Saved
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import settings_of_file
from mnm_ros.export.learnt import Learnt, nested
from mnm_ros.robot_description import RobotDescription

_NAME = re.compile(r'(.*)\.(log|\d{8})\.sqlite')


def read(path: Path, log: bool = False) -> Learnt:
    """
    Return what a file says was learnt, or a file in a folder.

    :param path: a ``*.sqlite`` in the ``checkpoint_dir`` of an explorer, or that folder.
    :param log: whether all transitions are wanted, which only a transition log has.
    :raises Refused: if there is no such file, or if it cannot be used.
    """
    saved = Saved(_file_in(path, log) if path.is_dir() else path)
    if log and (saved.point is not None or not saved.path.name.endswith('.log.sqlite')):
        raise Refused(f'{saved.path} does not begin with the exploration, expected a '
                      '*.log.sqlite that does, of an explorer with transition_log: true')
    with refusing(saved.path):
        return _learnt(saved)


def _learnt(saved: Saved) -> Learnt:
    exploration = begun(saved)
    saved.replay(exploration)
    hypothesis = exploration.hypothesis
    policies = hypothesis.policies if hypothesis is not None else ()
    known = tuple(policy.target for policy in policies)
    candidates = frozenset(exploration.candidates) - {*known}
    return Learnt(
        str(saved.path), exploration.steps, exploration.home, known, policies,
        nested(_rows(exploration)),
        candidates if not known or exploration.under_revision else frozenset(),
        limit=settings_of_file(saved.identity).problem.limit,
        description=RobotDescription(tuple(saved.identity['actions'])), saved=saved)


def _file_in(folder: Path, log: bool) -> Path:
    """Return the newest file; Refused if there is none, or if there are several explorers."""
    files = {path: match for path in folder.glob('*.sqlite')
             if (match := _NAME.fullmatch(path.name))}
    names = sorted({match[1] for match in files.values()})
    if len(names) != 1:
        raise Refused(f'{folder} has files of {len(names)} explorers'
                      f'{": " if names else ""}{", ".join(names)}, expected those of one; a file '
                      'can be named, too')
    wanted = [path for path, match in files.items() if (match[2] == 'log') == log]
    if not wanted:
        raise Refused(f'{folder} has no *.log.sqlite, expected the checkpoint_dir of an explorer '
                      'with transition_log: true' if log else f'{folder} has no checkpoint')
    return max(wanted, key=lambda path: path.stat().st_mtime)


def _rows(exploration: Exploration) -> Iterator[tuple[int, int, int, int]]:
    """Yield state, action, next state and count of what is thought to be true now."""
    counts = exploration.counts
    for (state, action), nexts in counts.items():
        if action == RESET:
            yield from ((state, RESET, following, count) for following, count in nexts.items())
    for state in {state for state, _ in counts}:
        for action, following, count in exploration.successors(state):
            yield state, action, following, count
