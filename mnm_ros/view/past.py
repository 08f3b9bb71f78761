# SPDX-License-Identifier: Apache-2.0

"""Moments of an exploration that a page can show again: not all, but spread over all of it."""

from __future__ import annotations

from typing import NamedTuple

from mnm_ros.core.progress.events import Event

MOST = 200                 # moments that are kept
MOST_BYTES = 16_000_000    # of all together
NOTHING, DECISION, CHANGE = 1, 4, 16
"""How much a moment weighs: as many times as far from others, one that weighs 1 is as dear."""


class Moment(NamedTuple):
    """
    The content of a view at an earlier moment.

    :ivar step: after how many steps.
    :ivar time: in s since 1970; 0 if that is not known.
    :ivar event: what had happened just before; None for nothing.
    :ivar weight: one of those above.
    :ivar number: in the order in which they were kept, whatever the clock said; of ``Past``.
    :ivar world: in which that was: many moments have the same one.
    """

    step: int
    time: float
    event: Event | None
    weight: int
    packed: bytes
    number: int = 0
    world: bytes = b''


class Past:
    """
    Keeps moments; of too many, those that are closest to others and weigh least are forgotten.

    :ivar moments: the oldest first; each change replaces it, so that any thread may read it.
    """

    def __init__(self, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self.moments: tuple[Moment, ...] = ()
        self._most, self._most_bytes = most, most_bytes
        self._added = 0

    def add(self, moment: Moment) -> None:
        """Keep a moment; if it has fewer steps than the last, the exploration began again."""
        begun_anew = bool(self.moments) and moment.step < self.moments[-1].step
        self._added += 1
        moment = moment._replace(number=self._added)
        kept = [*(() if begun_anew else self.moments), moment]
        while len(kept) > 1 and (len(kept) > self._most or _size(kept) > self._most_bytes):
            del kept[_least(kept)]
        self.moments = tuple(kept)


def _size(kept: list[Moment]) -> int:
    worlds = {id(moment.world): len(moment.world) for moment in kept}
    return sum(len(moment.packed) + (len(moment.event.text) if moment.event else 0)
               for moment in kept) + sum(worlds.values())


def _least(kept: list[Moment]) -> int:
    """Return which one is missed least; the first and the last one are missed most."""
    return min(range(1, len(kept) - 1), default=0, key=lambda at: (
        kept[at].weight * (kept[at + 1].step - kept[at - 1].step)))
