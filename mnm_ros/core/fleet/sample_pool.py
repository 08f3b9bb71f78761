# SPDX-License-Identifier: Apache-2.0

"""
What several robots have found out, in the order in which they set out to find it.

The outcomes of a pair (state, action) are taken from here one by one, as if one robot had executed
the pair again and again. They come in the order in which the executions *began*: the outcome of a
slow robot is waited for, as what takes longer may well be what leads elsewhere. An execution whose
end will not be heard of keeps its place, too, and counts as broken off.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from mnm_ros.core.model.counts import Pair

TAKEN_LATELY = 256
"""How many executions count as those taken lately."""


@dataclass(eq=False)
class Ticket:
    """
    One execution of a pair.

    :ivar robot: that makes it.
    :ivar settled: whether it is over, one way or another.
    :ivar state: where it has led; None if that will never be known.
    """

    robot: str = ''
    settled: bool = False
    state: int | None = None

    def settle(self, state: int | None) -> None:
        """Take note of the end of it; only the first one counts."""
        if not self.settled:
            self.state = state    # first: another thread may look
            self.settled = True


class SamplePool:
    """
    Executions that have begun and were not taken yet, by pair.

    :ivar begun: how many ever were, by pair.
    :ivar taken: how many of them were taken.
    :ivar lately: the pairs of the last of these.
    """

    def __init__(self) -> None:
        self.begun: Counter[Pair] = Counter()
        self.taken = 0
        self.lately: deque[Pair] = deque(maxlen=TAKEN_LATELY)
        self._queues: dict[Pair, deque[Ticket]] = {}

    def begin(self, pair: Pair, robot: str = '') -> Ticket:
        """Note that a robot begins to execute a pair."""
        ticket = Ticket(robot)
        self._queues.setdefault(pair, deque()).append(ticket)
        self.begun[pair] += 1
        return ticket

    def waiting(self, pair: Pair) -> int:
        """Return how many executions of a pair were not taken yet, over or not."""
        return len(self._queues.get(pair, ()))

    def take(self, pair: Pair) -> Ticket | None:
        """Return the oldest execution that was not taken, if it is over; else None."""
        queue = self._queues.get(pair)
        if not queue or not queue[0].settled:
            return None
        self.taken += 1
        self.lately.append(pair)
        return queue.popleft()

    def outcomes(self) -> dict[Pair, list[int | None]]:
        """Return what would be taken next, by pair."""
        found: dict[Pair, list[int | None]] = {}
        for pair, queue in list(self._queues.items()):
            ready = found.setdefault(pair, [])
            for ticket in list(queue):
                if not ticket.settled:
                    break
                ready.append(ticket.state)
        return found

    def clear(self) -> None:
        """Drop everything, also what is not over yet."""
        for pair, queue in self._queues.items():
            self.begun[pair] -= len(queue)
        self._queues.clear()
