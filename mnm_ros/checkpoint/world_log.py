# SPDX-License-Identifier: Apache-2.0

"""The descriptions of robot sides, and from which step on: a JSON object in each line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
import json
from pathlib import Path
from typing import NamedTuple

from mnm_ros.core.errors import InvalidValueError
from mnm_ros.files import append_line, make_own, read_each, write_whole

KEPT = '.worlds.jsonl'       # after the name of an explorer
_MOST = 200                  # of them, or
_MOST_BYTES = 20_000_000     # in all; of more, the second half is kept


class World(NamedTuple):
    """
    The description of a robot side.

    :ivar step: from which on.
    :ivar text: the description, as on ``robot_side``.
    """

    step: int
    text: str


def append(path: Path, world: World) -> int:
    """
    Keep what is said from now on, unless it was said last; return how many lines mean nothing.

    What was said at later steps was so before the exploration went back, and is dropped.

    :raises OSError: if that fails.
    """
    kept, unread = read_each(path, _world)
    before = [each for each in kept if each.step <= world.step]
    if before and before[-1].text == world.text:
        return unread
    make_own(path)
    full = (len(before) >= _MOST
            or path.stat().st_size + len(_line(world)) >= _MOST_BYTES)
    if full or len(before) < len(kept):
        left = before[(len(before) + 1) // 2:] if full else before
        write_whole(path, ''.join(f'{_line(each)}\n' for each in (*left, world)), own=True)
    else:
        append_line(path, _line(world))
    return unread


def read(path: Path) -> list[World]:
    """Return what is kept in a file, the oldest first; what cannot be read is left out."""
    return read_each(path, _world)[0]


def _world(line: str) -> World:
    """Return what a line says; ValueError if it was cut off by a crash."""
    try:
        entry = json.loads(line)
        if type(entry['step']) is int and isinstance(entry['text'], str):
            return World(entry['step'], entry['text'])
    except (TypeError, KeyError, RecursionError):
        pass
    raise InvalidValueError(f'a line of {len(line):,} characters is no world, expected a JSON '
                            'object with step and text')


def _line(world: World) -> str:
    return json.dumps(world._asdict(), separators=(',', ':'))


def at(worlds: Sequence[World], step: int) -> World | None:
    """Return what held at a step: before the first one that one, as nothing else is known."""
    index = bisect_right([world.step for world in worlds], step)
    return worlds[max(0, index - 1)] if worlds else None
