# SPDX-License-Identifier: Apache-2.0

"""
How a file of inputs has each of them: a kind, a state, an action, and perhaps a text.

What is more than a state is JSON, and its checksum stands in place of the state.
"""

from __future__ import annotations

import json
import sys
from typing import Any
import zlib

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.inputs import (
    DeclarationInput,
    ImproveInput,
    Input,
    Interruption,
    LookInput,
    Observation,
    Preference,
    Relocation,
    WorkObservation,
)
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.core.model.problem import RESET

_RESET_ASKED = -2    # in place of an action; RESET itself says that nothing was asked for


def encoded(made: Input) -> tuple[int, int, int, str]:
    """Return kind, state and action of an input, and its text in ``robots``, or nothing."""
    if isinstance(made, Observation):
        return 0, made.state, made.action, made.robot
    action = RESET if made.asked is None else _RESET_ASKED if made.asked == RESET else made.asked
    if isinstance(made, Relocation):
        return 1, made.state, action, made.robot
    if isinstance(made, Interruption):
        return 2, 0, action, made.robot
    if isinstance(made, Preference):
        return 5, made.state, action, ''
    kind, told = _told(made)
    text = json.dumps(told)
    return kind, zlib.crc32(text.encode()), action, text


def _told(made: WorkObservation | DeclarationInput | LookInput | ImproveInput,
          ) -> tuple[int, Any]:
    """Return the kind of an input that is more than a state, and what it says."""
    if isinstance(made, WorkObservation):
        return 4, [made.state, made.action, made.after, made.robot,
                   *([made.node] if made.node else [])]
    if isinstance(made, LookInput):
        return 6, [made.state, made.action]
    if isinstance(made, ImproveInput):
        return 7, [made.state, made.within]
    return 3, made.declaration.to_json()


def decoded(kind: int, state: int, action: int, text: str) -> Input:
    """Return the input of ``encoded``; ValueError if there is none."""
    if kind == 0:
        return Observation(action, state, sys.intern(text))
    asked = None if action == RESET else RESET if action == _RESET_ASKED else action
    if kind == 1:
        return Relocation(state, asked, sys.intern(text))
    if kind == 2:
        return Interruption(asked, sys.intern(text))
    if kind == 5:
        return Preference(state, asked)
    if kind not in (3, 4, 6, 7):
        raise InvalidValueError(f'an input is of kind {kind}, expected 0 to 7')
    if zlib.crc32(text.encode()) != state:
        raise InvalidValueError(f'the text of an input of kind {kind} has CRC-32 '
                                f'{zlib.crc32(text.encode())}, expected {state}')
    return _heard(kind, json.loads(text), asked)


def _heard(kind: int, told: Any, asked: int | None) -> Input:
    """Return the input of ``_told``."""
    if kind == 4:
        origin, played, after, *names = told
        robot, node = map(sys.intern, (*names, '')[:2])
        return WorkObservation(origin, played, after, asked, robot, node)
    if kind == 6:
        state, action = told
        return LookInput(state, action, asked)
    if kind == 7:
        state, within = told
        return ImproveInput(state, within, asked)
    return DeclarationInput(Declaration.from_json(told), asked)
