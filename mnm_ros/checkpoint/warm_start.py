# SPDX-License-Identifier: Apache-2.0

"""
Begin an exploration with what another one has seen, from its transition log.

The transitions of each pair (state, action) are independent draws from one distribution as long
as the world does not change, whatever has chosen when to make them. So the sets and martingales of
the base ``disco`` (``docs/explanation/disco.md``) are as valid if they begin with the transitions
of a log, in their order, as if the run had made them itself. Tests of attempts are left out, as
the attempts were made with other policies. Only what came after the last change that was noticed,
and after the last refuted hypothesis, is taken. Each notice depends on the past alone; that it is
the last does not, nor does the last resume point of a checkpoint: ``docs/explanation/disco.md``
says what that costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import hashlib
import json
from pathlib import Path
from typing import Any

from mnm_ros.checkpoint.input_log import refusing, SavedInputs
from mnm_ros.core.errors import CheckpointError
from mnm_ros.core.exploration import ALGORITHM, Exploration
from mnm_ros.core.inputs import Observation, PLACING, Update, WorkObservation
from mnm_ros.core.mnm.base import Recollection
from mnm_ros.core.mnm.capabilities import Recollects, Step
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.presets import (
    base_factory,
    parameters_of,
    settings_by_name,
    settings_of_file,
)
from mnm_ros.version import __version__
import numpy as np

VERSION = f'{__version__}, algorithm {ALGORITHM}'
"""In what an exploration was asked for: which version of the package explored."""

KEY = 'warm_start'
"""In what an exploration was asked for: the log and the checksum of what was taken from it."""


def recollect(saved: SavedInputs, abandoned: Callable[[], bool] = lambda: False) -> Recollection:
    """
    Return what can be taken from a log.

    :raises LoadCancelled: once ``abandoned`` says so.
    :raises CheckpointError: if it cannot be replayed: it is not known then when a change was
        noticed.
    """
    with refusing(saved.path):
        return _recollected(saved, begun(saved), abandoned)


def _recollected(saved: SavedInputs, exploration: Exploration,
                 abandoned: Callable[[], bool]) -> Recollection:
    steps: list[Step] = []
    here, epoch = exploration.last_state, _epoch(exploration)

    def hear(update: Update) -> None:
        nonlocal here, epoch
        made = update.input
        if isinstance(made, WorkObservation):
            steps.append((made.state, made.action, made.after))
        elif here is not None and isinstance(made, PLACING):
            action = made.action if isinstance(made, Observation) else made.asked
            if action is not None and action != RESET:
                steps.append((here, action, made.state if isinstance(made, Observation) else None))
        here = exploration.last_state
        if _epoch(exploration) != epoch:
            epoch = _epoch(exploration)
            steps.clear()

    saved.replay(exploration, abandoned, hear)
    if exploration.home is None or not steps:
        raise CheckpointError(
            f'{saved.path} has no step that could be taken, expected some since the '
            'last change that was noticed')
    return Recollection(exploration.home, tuple(steps))


def warm_start(path: Path, wanted: Mapping[str, Any],
               abandoned: Callable[[], bool] = lambda: False,
               ) -> tuple[Recollection, dict[str, str]]:
    """
    Return what can be taken from a log, and how an exploration that takes it is identified.

    :param path: of a transition log or a checkpoint.
    :param wanted: what the exploration at hand is asked for.
    :raises CheckpointError: if the log is of no use for that.
    :raises LoadCancelled: once ``abandoned`` says so.
    """
    saved = SavedInputs(path)
    if saved.identity.get('actions') != list(wanted['actions']):
        raise CheckpointError(
            f'{path} is for the actions {saved.identity.get("actions")}, expected '
            f'{wanted["actions"]}')
    settings = settings_by_name(wanted)
    base = base_factory(settings.base)(settings, 0, np.random.default_rng(0))
    if not isinstance(base, Recollects):
        raise CheckpointError(
            f'the base {settings.base} cannot begin with a log, as its tests are of '
            'attempts with policies of its own; expected disco')
    found = recollect(saved, abandoned)
    return found, {'log': str(path), 'sha256': _digest(found)}


def asked_for(exploration: Exploration, actions: Sequence[str]) -> dict[str, Any]:
    """
    Return the parameters of an exploration, from which ``begun`` makes the same again.

    :param actions: the names of the actions.
    """
    return {'version': VERSION, 'actions': [*actions], 'seed': exploration.seed,
            **parameters_of(exploration.settings)}


def begun(saved: SavedInputs) -> Exploration:
    """
    Return the exploration that has received the inputs of a file.

    :raises CheckpointError: if its parameters are not known here, or if what it has begun with is
        gone.
    """
    try:
        settings, seed = settings_of_file(saved.identity), saved.identity['seed']
    except (KeyError, ValueError) as error:
        raise CheckpointError(
            f'the parameters of {saved.path} are not known here: {error}') from None
    return Exploration(settings, seed, saved.point, recalled(saved.identity))


def replay_log(path: str | Path) -> Exploration:
    """
    Return an exploration that has taken all that a transition log or a checkpoint holds.

    :raises CheckpointError: if the file cannot be used, or if this version acts otherwise at any
        step.
    """
    saved = SavedInputs(Path(path))
    with refusing(saved.path):
        exploration = begun(saved)
        saved.replay(exploration)
    return exploration


def recalled(identity: Mapping[str, Any]) -> Recollection | None:
    """
    Return what an exploration has begun with; None if with nothing.

    :raises CheckpointError: if the log is not there any more, or has changed.
    """
    used = identity.get(KEY)
    if not used:
        return None
    found = recollect(SavedInputs(Path(used['log'])))
    if _digest(found) != used['sha256']:
        raise CheckpointError(f'{used["log"]} has changed since an exploration has begun with it')
    return found


def _epoch(exploration: Exploration) -> tuple[int, int]:
    """
    Return what is another once a change was noticed.

    The world may have changed again before the first change was relearnt, so that whatever is
    noticed counts.
    """
    return exploration.mnm.log.notices, exploration.mnm.round


def _digest(found: Recollection) -> str:
    return hashlib.sha256(json.dumps([found.home, found.steps]).encode()).hexdigest()
