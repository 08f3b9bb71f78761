# SPDX-License-Identifier: Apache-2.0

"""
Compares the places and ways that a robot side describes with those that it described before.

The explorer does so when it begins, to keep all that it has learnt of places and ways that are the
same, and while it runs, because the numbers of others do not mean what they did. It concerns robot
sides whose actions lead along ways of their own in each state (``moves``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import listed
from mnm_ros.robot_description import RobotDescription
import numpy as np

SAME = 0.05
"""How far apart in m a place may be from where it was and yet be the same."""

_SHOWN = 10    # names of each kind


@dataclass(frozen=True)
class GraphChange:
    """
    The changes of the places and ways of a description.

    A place is the same if it is at the same position. Of several places there, the one with the
    same name is it, else the one with the same number. A way is the same if it joins the same
    places. Ways that join the same two places are the same in their order, unless some are added
    or removed.

    :ivar states: the number of each place that is the same, by its number before.
    :ivar pairs: the state and action of each way that is the same, by those before.
    :ivar text: what is not the same, with names; empty if nothing.
    :ivar keeps_numbers: whether nothing is missing, and all has the numbers that it had.
    """

    states: Mapping[int, int]
    pairs: Mapping[Pair, Pair]
    text: str
    keeps_numbers: bool

    @classmethod
    def between(cls, before: RobotDescription, now: RobotDescription) -> GraphChange | None:
        """Return the change between two descriptions; None if one of them has no ways."""
        if not (before.moves and now.moves):
            return None
        states = _same_states(before, now)
        pairs = _same_pairs(before, now, states)
        home = before.home is None or states.get(before.home) == now.home
        lost = [pair for pair in _ends(before) if pair not in pairs]
        keeps = home and not lost and states.keys() == _numbers(before) and all(
            old == new for old, new in (*states.items(), *pairs.items()))
        return cls(states, pairs, _in_words(before, now, states, pairs, home), keeps)


def _numbers(described: RobotDescription) -> frozenset[int]:
    return frozenset((
        *described.moves, *described.positions, *described.declaration.successors))


def _same_states(before: RobotDescription, now: RobotDescription) -> dict[int, int]:
    """Return by the number of a place before the number that the same place has now."""
    from scipy.spatial import cKDTree
    numbers, old = [*now.positions], [*before.positions]
    at = np.array([now.positions[number] for number in numbers]).reshape(-1, 2)
    near = cKDTree(at).query_ball_point(
        np.array([before.positions[number] for number in old]).reshape(-1, 2), SAME) if (
        numbers and old) else []
    candidates = {number: [numbers[index] for index in found]
                  for number, found in zip(old, near)}
    nowhere = _numbers(now) - now.positions.keys()
    candidates.update((number, [number]) for number in _numbers(before) - before.positions.keys()
                      if number in nowhere)
    same: dict[int, int] = {}
    taken: set[int] = set()
    for is_it in (lambda old, new: before.names.get(old, '') == now.names.get(new, ''),
                  lambda old, new: old == new, lambda old, new: True):
        for number, found in candidates.items():
            if number not in same:
                left = [new for new in found if new not in taken and is_it(number, new)]
                if left:
                    best = number if number in left else left[0]
                    same[number] = best
                    taken.add(best)
    return same


def _ends(described: RobotDescription) -> dict[Pair, frozenset[int]]:
    """Return the ends of each way of which it is declared that it leads away."""
    return {(state, action): frozenset(ends)
            for state, lists in described.declaration.successors.items()
            for action, ends in enumerate(lists) if {*ends} - {state}}


def _same_pairs(before: RobotDescription, now: RobotDescription,
                states: Mapping[int, int]) -> dict[Pair, Pair]:
    """Return by the state and action of a way before those that the same way has now."""
    there: dict[tuple[int, frozenset[int]], list[Pair]] = {}
    for pair, ends in _ends(now).items():
        there.setdefault((pair[0], ends), []).append(pair)
    here: dict[tuple[int, frozenset[int]], list[Pair]] = {}
    for pair, ends in _ends(before).items():
        if pair[0] in states and ends <= states.keys():
            here.setdefault((states[pair[0]], frozenset(map(states.__getitem__, ends))),
                            []).append(pair)
    same = {old: new for key, olds in here.items()
            if len(olds) == len(there.get(key, ())) for old, new in zip(olds, there[key])}
    # A way that a map closes is declared to lead nowhere. Only its name says that it is there.
    away = _ends(before).keys() & _ends(now).keys()
    closable = {(state, action) for state, names in before.moves.items()
                for action, name in enumerate(names) if name and states.get(state) == state
                and now.moves.get(state, ())[action:action + 1] == (name,)}
    same.update((pair, pair) for pair in closable if not (
        pair in away or pair in same))
    return same


def _in_words(before: RobotDescription, now: RobotDescription, states: Mapping[int, int],
              pairs: Mapping[Pair, Pair], home: bool) -> str:
    gone = _numbers(before) - states.keys()
    new = _numbers(now) - {*states.values()}
    by_name = {name: number for number, name in now.names.items()}
    moved = {old: there for old in gone
             if (there := by_name.get(before.names.get(old, ''), old)) in new}
    of_moved = {*moved, *moved.values()}
    found = (
        ('places moved', [before.label(old) for old in sorted(moved)]),
        ('places gone', [before.label(old) for old in sorted(gone - of_moved)]),
        ('new places', [now.label(number) for number in sorted(new - of_moved)]),
        ('ways gone', [_way(before, pair) for pair in sorted(_ends(before).keys() - pairs.keys())
                       if not _touches(before, pair, gone)]),
        ('new ways', [_way(now, pair) for pair in sorted(
            _ends(now).keys() - {*pairs.values()}) if not _touches(now, pair, new)]),
        ('home is', [] if home or now.home is None else [now.label(now.home)]),
        ('other numbers', [f'{before.label(old)} is {there}' for old, there in states.items()
                           if old != there]))
    return '; '.join(f'{what}: {listed(names, _SHOWN)}' for what, names in found if names)


def _touches(described: RobotDescription, pair: Pair, states: frozenset[int]) -> bool:
    return pair[0] in states or not states.isdisjoint(
        described.declaration.successors[pair[0]][pair[1]])


def _way(described: RobotDescription, pair: Pair) -> str:
    return f'{described.label(pair[0])} {described.action_name(pair[1], pair[0])}'
