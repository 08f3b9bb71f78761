# SPDX-License-Identifier: Apache-2.0

"""
Keeps states that only another node has named out of an exploration.

The explorer passes each execution that a node reports on ``work`` through ``UnseenWork``. The
exploration thus meets no state that the robot side has not reported itself.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple

MOST_WAITING = 1000
"""Executions that wait at most, of all nodes together."""

MOST_SEEN = 10_000
"""States of the robot side that are remembered at most while the exploration has not met them."""


class Execution(NamedTuple):
    """
    The report of a node: ``action`` in ``state`` has led to ``after``.

    :ivar after: None if the step was broken off.
    :ivar node: fully qualified name of the node.
    """

    state: int
    action: int
    after: int | None
    node: str


class UnseenWork:
    """
    Lets an execution wait until the robot side has seen the state where it ends.

    An execution that begins in an unseen state is dropped. This is decided before its end, so
    that it selects nothing by outcome. Later executions of a pair by the same node wait behind
    the first that waits, in their order. So the pair is taught a prefix of what the node has
    executed. A confidence sequence holds for each prefix at once, but the one draw after the
    prefix has a say in where it ends. By calculation, the error of such a pair may thereby grow
    from delta to about ``delta * (1 + log(1 / delta))``; this was not measured.

    If ``MOST_WAITING`` executions wait and another one comes, the node with most of them is
    dropped for good: nothing counts any more that it reports, whatever that is.

    Only states in which the robot side has been are kept, ``MOST_SEEN`` at most. Nothing that
    waits is part of an exploration, of its log, or of a checkpoint.

    :param met: returns whether the exploration has met a state.
    :ivar dropped: the nodes that are dropped, in this order.
    :ivar waiting: how many executions wait.
    """

    def __init__(self, met: Callable[[int], bool]) -> None:
        self._met = met
        self._seen: dict[int, None] = {}    # the latest last
        self._queues: dict[tuple[str, int, int], deque[Execution]] = {}
        self.dropped: dict[str, None] = {}
        self.waiting = 0

    def offer(self, made: Execution) -> list[Execution]:
        """Return what counts now: the execution, or nothing if it waits or is dropped."""
        if made.node in self.dropped or not self._has_seen(made.state):
            return []
        key = (made.node, made.state, made.action)
        if key not in self._queues and (made.after is None or self._has_seen(made.after)):
            return [made]
        self._queues.setdefault(key, deque()).append(made)
        self.waiting += 1
        if self.waiting > MOST_WAITING:
            self._drop_worst()
        return []

    def saw(self, state: int) -> list[Execution]:
        """Record a state that the robot side has reported; return what need not wait any more."""
        if not self._met(state):
            self._seen.pop(state, None)
            self._seen[state] = None
            if len(self._seen) > MOST_SEEN:
                del self._seen[next(iter(self._seen))]
        free: list[Execution] = []
        for key, queue in list(self._queues.items()) if self.waiting else ():
            while queue and (queue[0].after is None or self._has_seen(queue[0].after)):
                free.append(queue.popleft())
            if not queue:
                del self._queues[key]
        self.waiting -= len(free)
        return free

    def _has_seen(self, state: int) -> bool:
        return state in self._seen or self._met(state)

    def _drop_worst(self) -> None:
        waiting = Counter[str]()
        for (node, _, _), queue in self._queues.items():
            waiting[node] += len(queue)
        (worst, number), = waiting.most_common(1)
        self.dropped[worst] = None
        self._queues = {key: queue for key, queue in self._queues.items() if key[0] != worst}
        self.waiting -= number
