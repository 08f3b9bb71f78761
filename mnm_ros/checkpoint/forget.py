# SPDX-License-Identifier: Apache-2.0

"""
Takes back what an exploration has learnt from one source, from the files that the explorer keeps.

The inputs are replayed without the transitions of the source. Up to the first one of these, the
replay is exact: the same policies, tests and hypothesis. What comes later is counted as work, in
its order: each transition of another source as an execution that somebody else has ordered.
Which transition was made depends on the past alone, also on what is taken back; but where it has
led is a draw of its own pair. So all sets and tests of pairs are valid. Attempts of policies are
left out after that point, as another exploration has chosen them.

The new files take the place of the old ones, which are set aside beside them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
import re
from typing import NamedTuple

from mnm_ros.checkpoint.database import set_aside
from mnm_ros.checkpoint.generations import Generations
from mnm_ros.checkpoint.input_log import InputLog, refusing, SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.errors import CheckpointError, InvalidValueError
from mnm_ros.core.exploration import Exploration
from mnm_ros.core.inputs import (
    Input,
    Interruption,
    Observation,
    Relocation,
    ROBOT,
    WorkObservation,
)
from mnm_ros.core.model.problem import RESET

_STEPS = re.compile('[0-9]{1,18}').fullmatch
FILE = re.compile(r'(?P<name>.+?)\.(\d{8,}|log)\.sqlite').fullmatch


class Forgotten(NamedTuple):
    """
    The result of forgetting.

    :ivar source: of what was taken back.
    :ivar name: how the files begin.
    :ivar taken_back: transitions of the source that do not count any more.
    :ivar kept: transitions that count, by source.
    :ivar steps: of the exploration so far.
    :ivar exact: steps up to which it is what it was.
    :ivar known: states of the hypothesis that still holds.
    :ivar aside: the files that were there before.
    """

    source: str
    name: str
    taken_back: int
    kept: Counter[str]
    steps: int
    exact: int
    known: int
    aside: tuple[Path, ...]

    def __str__(self) -> str:
        """Return in a sentence what does not count any more."""
        return f'{self.taken_back:,} transitions reported by {self.source} were taken back'


def forget(folder: Path, source: str, since: str = '', name: str = '') -> Forgotten:
    """
    Take back what an exploration has learnt from a source.

    :param folder: the ``checkpoint_dir`` of an explorer that has ended.
    :param source: name of the robot or node; ``robot`` for a robot without a name.
    :param since: a number of steps, or a local time as ISO 8601 has it, with or without a date,
        from which on; empty for all.
    :param name: how the files begin, if several explorers keep theirs there.
    :raises InvalidValueError: if there is no such source, or if ``since`` is neither.
    :raises CheckpointError: if the files cannot be used, or do not reach back far enough.
    :raises OSError: if an explorer keeps the files, or if the disk fails.
    """
    name = _named(folder, name)
    paths = files_of(folder, name)
    log = folder / f'{name}.log.sqlite'
    identity = SavedInputs(paths[0]).identity
    try:
        files = Generations(folder, name, identity, transition_log=False, backlog=0)
    except OSError as error:
        raise OSError(f'{error}: end that explorer, call forget again, and start it') from None
    try:
        saved = _whole(log, [path for path in paths if path != log])
        first = _first(saved, source, since)
        with refusing(saved.path):
            exploration = begun(saved)
            inputs, exact = _replayed(saved, exploration, source, first)
        aside = tuple(map(set_aside, paths))
        if log in paths:
            whole = InputLog.create(log, identity, saved.point, saved.first)
            whole.append(inputs)
            whole.close()
        point = exploration.to_state() if exploration.can_snapshot else None
        if point is not None:
            files.create(saved.first + len(inputs), point)
        else:
            files.create(saved.first, saved.point)
            files.append(inputs)
    finally:
        files.close(0, '')
    kept, hypothesis = Counter(exploration.sources), exploration.hypothesis
    return Forgotten(source, name, saved.sources()[source] - kept[source], kept, exploration.steps,
                     exact, len(hypothesis.policies) if hypothesis else 0, aside)


def files_of(folder: Path, name: str) -> list[Path]:
    """Return the generations of an explorer, the oldest first, and the transition log."""
    return [path for path in sorted(folder.glob(f'{name}.*.sqlite'), key=lambda path: path.name)
            if (found := FILE(path.name)) and found['name'] == name]


def _named(folder: Path, name: str) -> str:
    """Return the name of the explorer whose files are in a folder."""
    names = sorted({found['name'] for path in folder.glob('*.sqlite')
                    if (found := FILE(path.name))})
    if not names or name and name not in names:
        raise CheckpointError(f'{folder} holds files of {", ".join(names) or "no explorer"}, '
                              f'expected those of {name or "one"}')
    if not name and len(names) > 1:
        raise CheckpointError(f'{folder} holds files of {", ".join(names)}, expected --name to '
                              'say which')
    return name or names[0]


def _whole(log: Path, generations: list[Path]) -> SavedInputs:
    """Return all inputs that there are, from the earliest point on."""
    parts = sorted(map(SavedInputs, [*generations, *[log] * log.is_file()]),
                   key=lambda part: (part.first, -part.number))
    whole = parts[0]
    for part in parts[1:]:
        if part.first <= whole.number < part.number:
            whole.inputs += part.inputs[whole.number - part.first:]
            whole.writes += [row for row in part.writes if row[0] > whole.number]
            whole.number = part.number
    if whole.number < max(part.number for part in parts):
        raise CheckpointError(f'{whole.path} ends before the others begin, expected a transition '
                              'log without a gap')
    return whole


def _first(saved: SavedInputs, source: str, since: str) -> int:
    """Return the number of the input from which on the source does not count."""
    before, known = saved.sources_before[source], saved.sources()
    if source not in known:
        raise InvalidValueError(
            f'source {source!r} has reported nothing, expected one of: '
            + ', '.join(f'{name} ({count:,} transitions)' for name, count in sorted(
                known.items())))
    first = _since(saved, since) if since else 0
    if before and first <= saved.first:
        raise CheckpointError(
            f'{saved.path} begins with a resume point that holds {before:,} transitions '
            f'of {source}, which cannot be told apart any more, expected --since a step after '
            f'{(saved.point or {})["steps"]:,}; with transition_log: true from the beginning, all '
            'can be taken back')
    return first


def _since(saved: SavedInputs, since: str) -> int:
    """Return the number of the first input from a step or a time on."""
    if _STEPS(since):
        step = (saved.point or {'steps': 0})['steps']
        for number, made in enumerate(saved.inputs, saved.first + 1):
            if isinstance(made, Observation):
                step += 1
                if step >= int(since):
                    return number
        raise InvalidValueError(f'since is {since}, expected at most {step}, the steps so far')
    try:
        dated = since if '-' in since else f'{date.today()}T{since}'
        moment = datetime.fromisoformat(dated).timestamp()
    except (ValueError, OverflowError):
        raise InvalidValueError(f'since is {since!r}, expected a number of steps, or a time like '
                                '14:05 or 2026-11-27T14:05') from None
    return saved.first_since(moment)


def _replayed(saved: SavedInputs, exploration: Exploration, source: str,
              first: int) -> tuple[list[Input], int]:
    """Give an exploration all inputs but those of a source; return what it has taken instead."""
    taken: list[Input] = []
    exploration.listeners.append(lambda update: taken.append(update.input))
    exact, here, steps = True, exploration.last_state, 0
    for number, made in enumerate(saved.inputs, saved.first + 1):
        left_out = number >= first and _reported_by(made, source)
        if left_out and exact:
            exact, here, steps = False, exploration.last_state, exploration.steps
            exploration.lose_place()
        if exact:
            saved.give(exploration, made)
        elif not left_out:
            _count(exploration, here, made)
        if not exact and isinstance(made, (Observation, Relocation, Interruption)):
            here = None if isinstance(made, Interruption) else made.state
    return taken, exploration.steps if exact else steps


def _count(exploration: Exploration, here: int | None, made: Input) -> None:
    """Count a transition as work, and take what is none but where the robot is."""
    if isinstance(made, (Observation, Relocation, Interruption)):
        action = made.action if isinstance(made, Observation) else made.asked
        if here is not None and action is not None and action != RESET:
            exploration.observe_work(
                here, action, made.state if isinstance(made, Observation) else None, made.robot)
    else:
        exploration.take(replace(made, asked=None))


def _reported_by(made: Input, source: str) -> bool:
    """Return whether an input is a step that a source has reported, perhaps as broken off."""
    if isinstance(made, (Observation, WorkObservation)):
        return made.action != RESET and made.source == source
    return isinstance(made, Interruption) and made.asked not in (None, RESET) and (
        made.robot or ROBOT) == source
