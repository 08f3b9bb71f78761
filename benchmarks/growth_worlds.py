# SPDX-License-Identifier: Apache-2.0

"""
The worlds of benchmarks/growth: what grows in each, and what stays as it is.

A move succeeds with probability 0.9 and else stays put, except in the random graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from families import draw
from grids import grid, SLIP
from mnm_ros.simulation.cmp import Cmp, GENERATORS, GRID_MOVES, MoveCmp
from mnm_ros.simulation.scenario import load, Scenario, Setting

WIDTH = 1000    # of a row in the ids of the plane
WIDE = 9.0      # L of the grids whose size grows: all of 9 x 9 is within it
SQUARE = 4      # sides of the grid whose actions grow

TOPICS = ('known_states', 'policies', 'model', 'activity', 'markers')
"""Whose messages grow."""


@dataclass(frozen=True)
class World:
    """A scenario in which nothing changes, and what is asked of it."""

    scenario: Scenario
    radius: float

    @property
    def cmp(self) -> Cmp:
        """Return its only CMP."""
        return self.scenario.settings[0].cmp


def _world(name: str, actions: tuple[str, ...], cmp: Cmp, radius: float) -> World:
    return World(Scenario(name, actions, cmp.start, (Setting(cmp, None),), Path()), radius)


def plane(radius: float) -> World:
    """Return an endless plane, of which there is more to know with every step of ``L``."""
    moves = [lambda cell, by=WIDTH * down + right: cell + by
             for down, right in GRID_MOVES.values()]
    start = WIDTH * WIDTH // 2 + WIDTH // 2    # ids stay positive and fit into as many bytes
    return _world('plane', tuple(GRID_MOVES), MoveCmp(start, moves, 1 - SLIP), radius)


def square(side: float) -> World:
    """Return an open grid with home in the middle, all of it within the same ``L`` up to 9."""
    return World(grid(int(side)), WIDE)


def corridor(radius: float) -> World:
    """Return an endless corridor, of which a stretch on either side is within ``L``."""
    generator = GENERATORS['endless_corridor']
    rules = generator.build(1 - SLIP)
    cmp = MoveCmp(rules.start, list(rules.moves.values()), rules.success)
    return _world('corridor', generator.actions, cmp, radius)


def room(radius: float) -> World:
    """Return an open 5 x 5 grid, all of it within 5 steps; more of ``L`` brings nothing."""
    return World(grid(5), radius)


def many_actions(actions: float) -> World:
    """Return a grid with home in a corner, in which further actions repeat the first four."""
    names = ['east', 'south', 'west', 'north']    # the first two are enough

    def move(name: str) -> Callable[[int], int]:
        down, right = GRID_MOVES[name]

        def moved(cell: int) -> int:
            row, column = cell // SQUARE + down, cell % SQUARE + right
            inside = 0 <= row < SQUARE and 0 <= column < SQUARE
            return SQUARE * row + column if inside else cell
        return moved

    repeated = tuple(names[number % len(names)] for number in range(int(actions)))
    cmp = MoveCmp(0, [move(name) for name in repeated], 1 - SLIP)
    return _world('actions', tuple(f'{name} {i}' for i, name in enumerate(repeated)), cmp, 7.0)


def random_graph(seed: float) -> World:
    """Return a graph of the family ``random_graph``; it has 3 to 15 states within ``L``."""
    return World(draw('random_graph', int(seed), 4.0), 4.0)


def shipped(name: str) -> World:
    """Return the first setting of a shipped scenario."""
    scenario = load(name)
    return _world(name, scenario.actions, scenario.settings[0].cmp, 4.0)


WORLDS: Mapping[str, Callable[[float], World]] = {
    'plane': plane, 'square': square, 'corridor': corridor, 'room': room,
    'actions': many_actions, 'random_graph': random_graph,
    'two_rooms': lambda number: shipped('two_rooms'),
    'grid_5x5': lambda number: World(grid(5), 4.0)}
"""From the number that grows, or the seed of a random graph, to a world."""
