# SPDX-License-Identifier: Apache-2.0

"""
The history of an exploration: all transitions that it has observed, in the order of their steps.

``Exploration`` adds each transition once. Displays read how often each pair led where, a restart
without a source reads the last steps, and an event reads when a change began. To forget is a later
moment: nothing is removed, and readers leave out what came before.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence

from mnm_ros.core.model.counts import Counts, Pair
from mnm_ros.core.model.problem import RESET

MOST_RECORDED = 20_000
"""Steps since the last moment that are kept at most, in their order."""

_REMEMBERED = 10_000    # steps before that moment that are kept, to find when a change began
_ROW = 5      # numbers of a step: state, action, next state, source, steps since the last row
_LOST = -1    # minus the number of the source, of a step that was broken off


class History:
    """
    The transitions of an exploration, RESET included.

    :ivar counts: of all of them.
    :ivar met: all states.
    """

    def __init__(self) -> None:
        self.counts = Counts()
        self.met: set[int] = set()
        self._before: dict[Pair, dict[int, int]] = {}    # counts at the moment of a pair
        self._steps = array('q')    # the last ones, without RESETs
        self._since = 0    # the place in there of the moment of all pairs
        self._last = 0    # exploration steps at the last of them

    def add(self, before: int | None, action: int, after: int | None, source: int = 0,
            step: int = 0) -> None:
        """
        Record a step.

        :param before: None is a beginning that is not known.
        :param after: None is a step that was broken off.
        :param source: the number of what has reported the step.
        :param step: exploration steps so far.
        """
        if after is not None:
            self.met.add(after)
            if before is not None:
                self.met.add(before)
                self.counts.add(before, action, after)
        if before is not None and action != RESET:
            lost = after is None
            self._steps.extend((before, action, 0 if after is None else after,
                                _LOST - source if lost else source, step - self._last))
            self._last = step
            if len(self._steps) - self._since > _ROW * MOST_RECORDED:
                self._drop(self._since + _ROW * MOST_RECORDED // 4)

    def outdate(self, state: int | None, action: int | None) -> None:
        """Leave out what was counted so far for a pair; None stands for any but RESET."""
        for pair in self.counts.by_pair:
            if pair[1] != RESET and state in (None, pair[0]) and action in (None, pair[1]):
                self._before[pair] = dict(self.counts.next_states(*pair))

    def begin_record(self) -> None:
        """Let ``recorded`` begin at this moment, as the world may have changed since."""
        self._since = len(self._steps)
        self._drop(self._since - _ROW * _REMEMBERED)

    def keep_only(self, but: Collection[int]) -> None:
        """Leave out all but RESETs and what is recorded, and of that these sources."""
        kept, more = self._steps[:self._since], 0
        for *step, source, since in self._rows():
            more += since
            if _number(source) not in but:
                kept.extend((*step, source, more))
                more = 0
        self._steps = kept
        self._last -= more
        self.outdate(None, None)
        for state, action, after in self.recorded(but):
            nexts = self._before.get((state, action), {})
            if after is not None and nexts.get(after):
                nexts[after] -= 1

    def recorded(self, but: Collection[int] = ()) -> Iterator[tuple[int, int, int | None]]:
        """
        Yield the last steps in their order, none before ``begin_record``; None if broken off.

        :param but: the numbers of sources that do not count.
        """
        for state, action, after, source, _ in self._rows():
            if _number(source) not in but:
                yield state, action, None if source < 0 else after

    def latest(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield state, action, next state and number of the last steps, the latest first."""
        number = self._last
        for place in range(len(self._steps) - _ROW, -1, -_ROW):
            state, action, after, source, since = self._steps[place:place + _ROW]
            if source >= 0:
                yield state, action, after, number
            number -= since

    def next_states(self, state: int, action: int) -> Mapping[int, int]:
        """Return how often each next state has followed a pair, as far as that still holds."""
        nexts = self.counts.next_states(state, action)
        old = self._before.get((state, action))
        if not old:
            return nexts
        return {after: count - old.get(after, 0) for after, count in nexts.items()
                if count > old.get(after, 0)}

    def rows(self) -> Iterator[Sequence[int]]:
        """Yield state, action, next state and how often, as far as that still holds."""
        for state, action in sorted(self.counts.by_pair):
            for after, count in sorted(self.next_states(state, action).items()):
                yield state, action, after, count

    def _rows(self) -> Iterator[array[int]]:
        """Yield the rows of the last steps since the moment of all pairs."""
        for place in range(self._since, len(self._steps), _ROW):
            yield self._steps[place:place + _ROW]

    def _drop(self, most: int) -> None:
        """Drop the oldest rows, of so many numbers."""
        dropped = max(0, most)
        del self._steps[:dropped]
        self._since = max(0, self._since - dropped)


def _number(source: int) -> int:
    """Return the number of the source of a row."""
    return source if source >= 0 else _LOST - source
