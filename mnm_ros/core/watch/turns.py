# SPDX-License-Identifier: Apache-2.0

"""Which of the watched policies makes the next attempt."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any


class Turns:
    """
    Policies take turns in a ring; every other turn may go to one that is under suspicion.

    However long some of them are preferred, every second turn is that of the next in the ring: of
    ``n`` policies, each gets at least every ``2 n``-th turn.

    :param targets: of the policies.
    :param state: from ``to_state``, to go on from there.
    """

    def __init__(self, targets: Iterable[int], state: Mapping[str, Any] | None = None) -> None:
        self._ring = deque(targets if state is None else state['ring'])
        self._first: dict[int, None] = dict.fromkeys(() if state is None else state['first'])
        self._by_ring = False if state is None else bool(state['by_ring'])

    def to_state(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {'ring': list(self._ring), 'first': list(self._first), 'by_ring': self._by_ring}

    def prefer(self, targets: Iterable[int]) -> None:
        """Let each of ``targets`` have one of the preferred turns as soon as possible."""
        self._first.update(dict.fromkeys(targets))

    def change(self, targets: Iterable[int]) -> None:
        """Let ``targets`` take turns from now on; what was never tried is tried first."""
        now = dict.fromkeys(targets)
        waiting = [target for target in self._ring if target in now]
        new = [target for target in now if target not in self._ring]
        self._ring = deque((*new, *waiting))
        self._first = {target: None for target in self._first if target in now}

    def next(self, urgent: Callable[[int], bool]) -> int | None:    # noqa: A003
        """Return whose turn it is; every other turn goes to one that is ``urgent`` if any is."""
        if not self._ring:
            return None
        chosen = self._ring[0]
        self._by_ring = not self._by_ring
        if not self._by_ring:
            chosen = next(iter(self._first), next(filter(urgent, self._ring), chosen))
        self._first.pop(chosen, None)
        self._ring.remove(chosen)
        self._ring.append(chosen)
        return chosen
