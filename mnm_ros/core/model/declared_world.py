# SPDX-License-Identifier: Apache-2.0

"""The world as it is declared and was seen, to be simulated."""

from __future__ import annotations

from collections.abc import Mapping

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import Declaration


def declared_outcomes(declaration: Declaration, counts: Mapping[Pair, Mapping[int, int]],
                      ) -> dict[Pair, tuple[tuple[int, float], ...]]:
    """Return the declared successors of each pair, with the probabilities of the counts."""
    ends = {(state, action): found for state, lists in declaration.successors.items()
            for action, found in enumerate(lists)}
    stayed = _stayed(ends, counts)
    table: dict[Pair, tuple[tuple[int, float], ...]] = {}
    for pair in {**ends, **counts}:
        weights = {end: float(count) for end, count in counts.get(pair, {}).items()}
        for end, share in zip(ends.get(pair, ()), _shares(pair, ends, declaration, stayed)):
            weights[end] = weights.get(end, 0.0) + share
        whole = sum(weights.values())
        table[pair] = tuple((end, weight / whole) for end, weight in weights.items() if weight)
    return table


def _stayed(ends: Mapping[Pair, tuple[int, ...]],
            counts: Mapping[Pair, Mapping[int, int]]) -> float:
    """Return how often a state was not left by an action that may leave it or stay."""
    stayed, tried = 1.0, 10.0    # as if so many had been tried before
    for pair, seen in counts.items():
        if len(ends.get(pair, ())) > 1 and pair[0] in ends[pair]:
            stayed += seen.get(pair[0], 0)
            tried += sum(seen.values())
    return stayed / tried


def _shares(pair: Pair, ends: Mapping[Pair, tuple[int, ...]], declaration: Declaration,
            stayed: float) -> tuple[float, ...]:
    """Return how likely each declared end is before anything is seen."""
    state, action = pair
    if state in declaration.chances and pair in ends:
        return declaration.chances[state][action]
    found = ends.get(pair, ())
    others = len(found) - (state in found)
    return tuple((stayed if end == state else (1 - stayed) / others) if others else 1.0
                 for end in found)
