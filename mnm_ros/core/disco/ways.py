# SPDX-License-Identifier: Apache-2.0

"""
The ways by which sampling gets about: shortest ones over the transitions counted so far.

Each is made of *moves*, executions of a pair that lead from one place to another, as ``rows``
numbers them. A transition costs the executions that it takes on average, so that of two that serve
as well, one that has not failed is taken.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from mnm_ros.core.model.counts import Floats, Indices, Pair
from mnm_ros.core.model.problem import RESET
from mnm_ros.core.model.transition_rows import TransitionRows
from mnm_ros.core.planning.shortest_ways import cheapest_edges, least_costs
import numpy as np

_DETOUR = 16
"""Steps that are made to avoid a pair."""

_EXPECTED = 8
"""Executions without a declared end, until no way leads there any more."""


class _Moves(NamedTuple):
    """The cheapest move between any two places, as [move]."""

    origins: Indices
    ends: Indices
    costs: Floats
    actions: Indices


def distances(rows: TransitionRows, avoided: Collection[Pair]) -> dict[int, float]:
    """Return by state met the steps from home, as if each pair could be tried on the spot."""
    moves = _moves(rows, avoided)
    found = least_costs(len(rows.places), moves.costs, moves.origins, moves.ends, indices=0)
    return dict(zip(rows.places, found.tolist()))


def way_to(rows: TransitionRows, state: int) -> list[tuple[int, int, int]]:
    """Return state, action and next state of the moves of the shortest way from home."""
    moves, states = _moves(rows, ()), list(rows.places)
    _, before = least_costs(
        len(states), moves.costs, moves.origins, moves.ends, indices=0, return_predecessors=True)
    found, place = [], rows.places[state]
    while (origin := int(before[place])) >= 0:
        move = np.flatnonzero((moves.origins == origin) & (moves.ends == place))[0]
        found.append((states[origin], int(moves.actions[move]), states[place]))
        place = origin
    return found[::-1]


def to_nearest(rows: TransitionRows, targets: Collection[int],
               avoided: Collection[Pair]) -> dict[int, int]:
    """Return by state the action that leads to the nearest target, by Dijkstra's algorithm."""
    if not targets:
        return {}
    moves, states = _moves(rows, avoided), list(rows.places)
    _, following, _ = least_costs(
        len(states), moves.costs, moves.ends, moves.origins,
        indices=[rows.places[state] for state in targets], min_only=True, return_predecessors=True)
    chosen = following[moves.origins] == moves.ends
    return {states[place]: action for place, action in zip(
        moves.origins[chosen].tolist(), moves.actions[chosen].tolist())}


def _moves(rows: TransitionRows, avoided: Collection[Pair]) -> _Moves:
    """Return the moves there are; those of pairs that are avoided cost ``_DETOUR`` more."""
    visits = rows.tally.sum(axis=1)
    # What is declared may still come for a while: it has one success, and one step, more.
    declared = rows.closed[:, None] & rows.filled
    found, slots = np.nonzero((rows.tally > 0) | declared & (visits < _EXPECTED)[:, None])
    more = declared[found, slots]
    entered, resets = rows.entered, np.zeros(len(rows.states), dtype=np.intp)
    origins = np.concatenate([entered[found // rows.actions], entered])
    ends = np.concatenate([rows.next[found, slots], resets])
    costs = np.concatenate([
        np.maximum(1.0, visits[found] + more) / np.maximum(1.0, rows.tally[found, slots] + more),
        resets + 1.0])
    actions = np.concatenate([found % rows.actions, resets + RESET])
    for state, action in avoided:
        costs[(origins == rows.places.get(state, -1)) & (actions == action)] += _DETOUR
    cheapest = cheapest_edges(costs, origins, ends)
    return _Moves(*(each[cheapest] for each in (origins, ends, costs, actions)))
