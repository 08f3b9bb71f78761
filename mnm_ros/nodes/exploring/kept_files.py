# SPDX-License-Identifier: Apache-2.0

"""
The small files of an explorer beside its checkpoints, each of which is written as a whole.

``exploration_store`` has the checkpoints, and ``session`` says what the files are to have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
import json
import math
from pathlib import Path

from mnm_ros.checkpoint.carry_over import described_in, TRUSTED
from mnm_ros.checkpoint.world_log import append, World
from mnm_ros.checkpoint.world_log import KEPT as WORLDS
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.model.declaration import Declaration
from mnm_ros.files import read_own, unread_lines, write_whole
from mnm_ros.nodes.common.node_scope import NodeInterface
from mnm_ros.protocol.exchange import CommandNumbers, MOST
from mnm_ros.robot_description import KEPT, RobotDescription, UNDESCRIBED

_NUMBERS = '.commands'    # after the name of an explorer, beside its checkpoints
_TRUSTED_EVERY = 10.0    # s, at least between two times that it is written

Trusted = list[tuple[int, str, int]]
"""Since when policies are trusted, as ``TrustLedger.to_state`` has it."""


class KeptFiles:
    """
    Reads and writes the files; without a folder, it keeps nothing.

    :param node: that logs.
    :param folder: of the files; None for none.
    :param name: with which the name of each file begins.
    :ivar described: what a robot side has said about itself before; ``UNDESCRIBED`` if nothing.
    :ivar numbers: of commands, which grow from one start to the next.
    """

    def __init__(self, node: NodeInterface, folder: Path | None = None, name: str = '') -> None:
        self._warning = node.get_logger().warning
        self._keeps, path = folder is not None, folder or Path()
        self._described_in, self._numbered_in = path / f'{name}{KEPT}', path / f'{name}{_NUMBERS}'
        self._worlds_in, self._trusted_in = path / f'{name}{WORLDS}', path / f'{name}{TRUSTED}'
        self._text = ''    # what the robot side says about itself
        self._trusted: tuple[Trusted, float] = [], -math.inf    # what is kept, and since when
        self._world: tuple[str, Declaration | None] = '', None
        self._read_worlds = False
        self.described, self.numbers = UNDESCRIBED, CommandNumbers()
        if self._keeps:
            self.numbers = CommandNumbers(
                self._kept_bound(), lambda bound: self._write(self._numbered_in, f'{bound}\n'))
            self.described = self._read_description()

    def _read_description(self) -> RobotDescription:
        try:
            return described_in(self._described_in)
        except FileNotFoundError:
            pass
        except (OSError, ValueError) as error:
            self._warning(
                f'{self._described_in} is not used, until a robot side says what it is: {error}')
        return UNDESCRIBED

    def _kept_bound(self) -> int:
        try:
            bound = int(read_own(self._numbered_in))
            if not 0 <= bound < MOST:
                raise InvalidValueError(f'expected a number below {MOST}')
            return bound
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            self._warning(f'numbers of commands start again: {self._numbered_in}: {error}')
            return 0

    def describe(self, text: str) -> None:
        """Keep what the robot side says about itself."""
        if self._keeps and text != self._text:
            self._text = text
            self._write(self._described_in, text)

    @property
    def trusted(self) -> Trusted:
        """Return since when policies were trusted before; nothing where that is not kept."""
        try:
            return [(int(state), str(trust), int(step))
                    for state, trust, step in json.loads(read_own(self._trusted_in))
                    ] if self._keeps else []
        except (OSError, ValueError, TypeError):
            return []

    def keep_trusted(self, trusted: Trusted, now: float) -> None:
        """Keep since when policies are trusted, if that has changed and is due."""
        before, when = self._trusted
        if self._keeps and trusted != before and now >= when + _TRUSTED_EVERY:
            self._trusted = trusted, now
            self._write(self._trusted_in, json.dumps(trusted))

    def keep_world(self, text: str, declared: Declaration | None, step: int,
                   actions: Sequence[str]) -> None:
        """
        Keep since when the world is said to be so: cheap unless that has changed.

        :param text: what the robot side says about itself; empty if it says nothing.
        :param declared: where actions lead, as the exploration relies on it: it may be the robot
            side that declares it, a file, or neither. None if nothing was ever declared.
        :param step: of the exploration; actions: of the explorer, by name.
        """
        before, relied_on = self._world
        if not self._keeps or text is before and declared is relied_on:
            return
        self._world = text, declared
        if not (text or declared):
            return
        try:
            unread = append(self._worlds_in, World(
                step, _relied_on(text, actions, declared or Declaration())))
            if unread and not self._read_worlds:
                self._warning(unread_lines(self._worlds_in, unread))
            self._read_worlds = True
        except (OSError, ValueError) as error:
            self._warning(f'{self._worlds_in} is not written: {error}')

    def keep_world_again(self) -> None:
        """Let the world be kept once more, by the steps that the exploration goes on from."""
        self._world = '', None

    def _write(self, path: Path, text: str) -> None:
        try:
            write_whole(path, text, own=True)
        except OSError as error:
            self._warning(f'{path} is not written: {error}')


def _relied_on(text: str, actions: Sequence[str], declared: Declaration) -> str:
    """Return what a robot side has said, but with what is declared in place of its own."""
    said = RobotDescription.from_text(text) if text else RobotDescription(tuple(actions))
    return text if text and said.declaration == declared else replace(
        said, declaration=declared).to_text()
