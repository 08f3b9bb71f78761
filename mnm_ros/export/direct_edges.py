# SPDX-License-Identifier: Apache-2.0

"""
The direct ways between states that were learnt, as edges of a graph, and routes over it.

An edge leads from a state to where an action usually ends, if it does not stay: where a policy
plays it on its way from home, or where it has been executed so often that at most ``_EXECUTIONS``
of them are expected for each arrival, with the confidence ``CONFIDENCE``. Of several such actions
it is one that policies play, or else the one with the greatest probability.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from mnm_ros.core.knowledge.knowledge import Knowledge, Transition
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.problem import RESET
from scipy.special import betaincinv

CONFIDENCE = 0.95
_EXECUTIONS = 4.0    # that an arrival may take on an edge that no policy plays


@dataclass(frozen=True)
class DirectEdges:
    """
    A graph of states.

    :ivar edges: one for a pair of states at most, in the order of states and actions.
    :ivar played: the states and actions that policies use, among those of the edges.
    """

    edges: tuple[Transition, ...]
    played: frozenset[Pair]

    @classmethod
    def of(cls, known: Knowledge, nodes: Collection[int]) -> DirectEdges:
        """Return the edges between some states."""
        played = {pair for state in known.known if state in known.policies
                  for pair in known.on_the_way(known.policies[state])}
        edges = tuple(_direct(known, played, nodes))
        return cls(edges, frozenset(
            played.intersection((edge.state, edge.action) for edge in edges)))

    def route(self, start: int, end: int) -> tuple[Transition, ...] | None:
        """Return the edges of the way with the fewest expected steps; None if there is none."""
        after: dict[int, list[Transition]] = {}
        for edge in self.edges:
            after.setdefault(edge.state, []).append(edge)
        queue: list[tuple[float, int, tuple[Transition, ...]]] = [(0.0, start, ())]
        done: set[int] = set()
        while queue:
            cost, state, way = heappop(queue)
            if state == end:
                return way
            if state not in done:
                done.add(state)
                for edge in after.get(state, ()):
                    heappush(queue, (cost + 1 / edge.probability, edge.following, (*way, edge)))
        return None


def bounds(edge: Transition) -> tuple[float, float]:
    """Return between what the probability of an edge is, with the confidence for each edge."""
    return interval(edge.times, round(edge.times / edge.probability))


def interval(successes: int, trials: int) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson (1934) for a probability, at ``CONFIDENCE``."""
    others, tail = trials - successes, (1 - CONFIDENCE) / 2
    return (float(betaincinv(successes, others + 1, tail)) if successes else 0.0,
            float(betaincinv(successes + 1, others, 1 - tail)) if others else 1.0)


def _direct(known: Knowledge, played: Collection[Pair],
            nodes: Collection[int]) -> Iterator[Transition]:
    """Yield the best direct way for each pair of nodes, in the order of states and actions."""
    best: dict[tuple[int, int], tuple[bool, float, Transition]] = {}
    pairs = sorted((state, action) for state in nodes for action in known.counts.get(state, {}))
    for state, action in pairs:
        if action == RESET:
            continue
        moved = [leg for leg in known.after(state, action) if leg.following != state]
        usual = max(moved, key=lambda leg: leg.times, default=None)
        if usual is None or usual.following not in nodes:
            continue
        by_policy, ends = (state, action) in played, (state, usual.following)
        if not by_policy and bounds(usual)[0] * _EXECUTIONS < 1:
            continue
        if ends not in best or (by_policy, usual.probability) > best[ends][:2]:
            best[ends] = by_policy, usual.probability, usual
    for *_, edge in best.values():
        yield edge
