# SPDX-License-Identifier: Apache-2.0

"""
Families of random CMPs, on which the promise is measured.

A family is a function that takes a random generator and the number of changes and returns a
``Draw``. To add one, write it and give it a row in ``FAMILIES``. The function ``draw`` repeats
draws of a family until one is worth a trial.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
import zlib

from mnm_ros.core.model.counts import Pair
from mnm_ros.simulation.cmp import Cmp, GRID_MOVES, Outcomes, TableCmp
from mnm_ros.simulation.ground_truth import reachable_states
from mnm_ros.simulation.scenario import Scenario, Setting
import numpy as np

SMALLEST, LARGEST = 3, 15
"""The numbers of states within the radius that are worth a trial."""

BEYOND = (1.05, 1.3)
"""In a family that goes beyond, two states and more are so many times the radius away."""

_ATTEMPTS = 2000

Table = dict[Pair, Outcomes]
"""The outcomes of each (state, action); one without an entry stays put."""


@dataclass(frozen=True)
class Draw:
    """
    What a family has drawn: settings that share the start state and the actions.

    benign: whether a change is meant to leave a hypothesis right that was right before.
    beyond: whether states a little beyond the radius are asked for.
    """

    start: int
    actions: tuple[str, ...]
    settings: tuple[Table, ...]
    benign: bool = False
    beyond: bool = False

    def cmps(self) -> tuple[Cmp, ...]:
        """Return the CMP of each setting."""
        return tuple(TableCmp(self.start, len(self.actions), table) for table in self.settings)


def random_graph(rng: np.random.Generator, changes: int = 0) -> Draw:
    """
    Return a sparse graph on a ring: most actions lead to a state close by, a few far away.

    There are 6 to 20 states with shuffled ids and 2 to 4 actions. One pair in five stays put;
    the others have one to three next states, the first with a probability of 0.4 to 1. A change
    redraws one to three pairs near the start.
    """
    count, actions = int(rng.integers(6, 21)), int(rng.integers(2, 5))
    ids = [int(i) for i in rng.permutation(count)]

    def outcomes(state: int) -> Outcomes:
        if rng.random() < 0.2:
            return ((ids[state], 1.0),)
        likely = float(rng.choice([1.0, 0.95, 0.9, 0.8, 0.6, 0.4]))
        after = [(state + int(step)) % count for step in rng.integers(-2, 4, size=3)]
        if rng.random() < 0.1:
            after[0] = int(rng.integers(count))
        others = int(rng.integers(1, 3))
        return _mixture([(ids[after[0]], likely)] + [
            (ids[other], (1 - likely) / others) for other in after[1:1 + others]])

    table = {(ids[state], action): outcomes(state)
             for state in range(count) for action in range(actions)}
    settings = [table]
    for _ in range(changes):
        table = dict(table)
        for _ in range(int(rng.integers(1, 4))):
            state = int(rng.integers(-4, 5)) % count
            table[ids[state], int(rng.integers(actions))] = outcomes(state)
        settings.append(table)
    return Draw(ids[0], tuple(f'a{action}' for action in range(actions)), tuple(settings))


def random_grid(rng: np.random.Generator, changes: int = 0) -> Draw:
    """
    Return a slippery grid of 2 to 5 rows and columns with random walls.

    A move slips with a probability of 0 to 0.4. It then stays put or, in every other grid, goes
    to one of the two sides. Moves against a wall or the edge stay put. A change turns one to
    three cells from wall to floor or back, or breaks one of the four actions.
    """
    height, width = (int(size) for size in rng.integers(2, 6, size=2))
    start = int(rng.integers(height * width))
    density = rng.uniform(0, 0.4)
    walls = {int(cell) for cell in np.flatnonzero(rng.random(height * width) < density)}
    slip = float(rng.choice([0.0, 0.05, 0.1, 0.2, 0.3, 0.4]))
    astray = bool(rng.random() < 0.5)
    names = tuple(GRID_MOVES)

    def moved(cell: int, name: str, blocked: set[int]) -> int:
        row, column = cell // width + GRID_MOVES[name][0], cell % width + GRID_MOVES[name][1]
        inside = 0 <= row < height and 0 <= column < width
        return cell if not inside or row * width + column in blocked else row * width + column

    def table(walls: set[int], broken: str) -> Table:
        blocked = walls - {start}
        built: Table = {}
        for cell in set(range(height * width)) - blocked:
            for action, name in enumerate(names):
                if name == broken:
                    continue
                vertical = GRID_MOVES[name][0] != 0
                sides = [moved(cell, side, blocked) for side in names
                         if (GRID_MOVES[side][0] != 0) != vertical]
                slipped = sides if astray else [cell]
                built[cell, action] = _mixture([(moved(cell, name, blocked), 1 - slip)] + [
                    (after, slip / len(slipped)) for after in slipped])
        return built

    broken = ''
    settings = [table(walls, broken)]
    for _ in range(changes):
        if rng.random() < 0.25:
            broken = str(rng.choice(names))
        else:
            turned = rng.choice(height * width, size=int(rng.integers(1, 4)), replace=False)
            walls = walls ^ {int(cell) for cell in turned}
        settings.append(table(walls, broken))
    return Draw(start, names, tuple(settings))


def random_tree(rng: np.random.Generator, changes: int = 0) -> Draw:
    """
    Return a tree with traps: 2 or 3 actions lead down, in some trees another one leads up.

    The tree has five or four levels. Some branches are missing, and some lead into a trap that
    only RESET leaves. The others reach their child with a probability of 0.5 to 1, and else
    stay put or fall into the trap. A change redraws one or two branches near the root.
    """
    down, up = int(rng.integers(2, 4)), bool(rng.random() < 0.4)
    trap = int(rng.choice([-7, 999]))
    likely = [float(p) for p in rng.choice([1.0, 0.95, 0.9, 0.8, 0.65, 0.5], size=2)]
    missing, trapped = float(rng.uniform(0, 0.4)), float(rng.uniform(0, 0.25))
    nodes = range(1, 32 if down == 2 else 41)

    def branch(node: int, child: int) -> Outcomes:
        if rng.random() < missing:
            return ((node, 1.0),)
        if rng.random() < trapped:
            return ((trap, 1.0),)
        success = likely[int(rng.integers(2))]
        return _mixture([(child, success), (trap if rng.random() < 0.3 else node, 1 - success)])

    table: Table = {}
    for node in nodes:
        for action in range(down):
            table[node, action] = branch(node, down * (node - 1) + 2 + action)
        if up:
            table[node, down] = (((node - 2) // down + 1 if node > 1 else node, 1.0),)
    settings = [table]
    for _ in range(changes):
        table = dict(table)
        for _ in range(int(rng.integers(1, 3))):
            node, action = int(rng.integers(1, 2 + down)), int(rng.integers(down))
            table[node, action] = branch(node, down * (node - 1) + 2 + action)
        settings.append(table)
    names = tuple(f'branch{action}' for action in range(down)) + ('up',) * up
    return Draw(1, names, tuple(settings))


def confusing_chain(rng: np.random.Generator, changes: int = 0) -> Draw:
    """
    Return a chain with confusing states just within or just beyond the radius.

    The chain has 3 to 7 links; link ``i`` is state ``10 i``. In each link one of 2 or 3 actions,
    drawn anew, advances with a probability of 0.7 to 1 and else stays put. The others end in a
    confusing state with a probability of 0.1 to 0.6, and else lead back to the link before or to
    the start. Link ``i`` has up to two confusing states, ``10 i + 1`` and ``10 i + 2``, from which
    every action returns to the start. A change exchanges two actions in one link, or redraws
    the outcomes of one.

    Source: in the manner of the confusing chain of J. Tarbouriech, M. Pirotta, M. Valko,
    A. Lazaric, *Improved sample complexity for incremental autonomous exploration in MDPs*,
    NeurIPS 2020; the parameters are drawn, not theirs.
    """
    links, actions = int(rng.integers(3, 8)), int(rng.integers(2, 4))
    advance = float(rng.choice([1.0, 0.95, 0.9, 0.8, 0.7]))

    def aside(link: int) -> Outcomes:
        weight = float(rng.choice([0.1, 0.15, 0.2, 0.3, 0.45, 0.6]))
        back = 10 * (link - 1) if link and rng.random() < 0.5 else 0
        return _mixture([(back, 1 - weight), (10 * link + int(rng.integers(1, 3)), weight)])

    table: Table = {}
    for link in range(links):
        right = int(rng.integers(actions))
        for action in range(actions):
            table[10 * link, action] = aside(link)
            for confusing in (1, 2):
                table[10 * link + confusing, action] = ((0, 1.0),)
        if link < links - 1:
            table[10 * link, right] = _mixture([
                (10 * (link + 1), advance), (10 * link, 1 - advance)])
    settings = [table]
    for _ in range(changes):
        table, link = dict(table), 10 * int(rng.integers(links, size=2).min())
        one, other = (int(action) for action in rng.choice(actions, size=2, replace=False))
        if rng.random() < 0.5:
            table[link, one], table[link, other] = table[link, other], table[link, one]
        else:
            table[link, one] = aside(link // 10)
        settings.append(table)
    return Draw(0, tuple(f'a{action}' for action in range(actions)), tuple(settings))


def random_star(rng: np.random.Generator, changes: int = 0, gap: bool = False) -> Draw:
    """
    Return a home with 3 to 8 targets, each hit by an action of its own.

    The action hits after 1.1 to 12 tries on average and else stays put; every action leads back
    from a target. A change draws the probability of one or two of them anew, and is benign.

    gap: whether each takes either at most 2 tries or at least 6.5. With interruptions after some
        steps without movement, what lies between can hardly be proven, nor ruled out.
    """
    count = int(rng.integers(3, 9))
    chances = [1 / float(tries) for tries in rng.uniform(1.1, 12, size=count)]
    if gap:
        easy = [target < 2 or rng.random() < 0.3 for target in range(count)]
        chances = [1 / float(rng.uniform(1.1, 2) if each else rng.uniform(6.5, 12))
                   for each in easy]

    def table() -> Table:
        hits: Table = {(0, action): ((action + 1, chance), (0, 1 - chance))
                       for action, chance in enumerate(chances)}
        return hits | {(target, action): ((0, 1.0),)
                       for target in range(1, count + 1) for action in range(count)}

    settings = [table()]
    for _ in range(changes):
        for target in rng.choice(count, size=int(rng.integers(1, 3)), replace=False):
            chances[int(target)] = 1 / float(rng.uniform(1.1, 12))
        settings.append(table())
    return Draw(0, tuple(f'a{action}' for action in range(count)), tuple(settings), benign=True)


def beyond_star(rng: np.random.Generator) -> Draw:
    """
    Return a home with 2 or 3 targets within the radius, and 2 to 5 a little beyond it.

    Each is hit by an action of its own, which else stays put. In every other star, two of those
    beyond share an action, which hits either, and lead to each other: each of them would be within
    the radius if the other one were. The radius that is meant is drawn, too.
    """
    radius, near = rng.uniform(1.5, 6.5), int(rng.integers(2, 4))
    tries = [float(rng.uniform(1.1, max(1.2, 0.95 * radius))) for _ in range(near)]
    tries += [float(radius * rng.uniform(1.1, 1.22)) for _ in range(int(rng.integers(2, 6)))]
    count = len(tries)
    table: Table = {(0, action): ((action + 1, 1 / each), (0, 1 - 1 / each))
                    for action, each in enumerate(tries)}
    if rng.random() < 0.5:
        either = 1 / (tries[-2] - 1 if tries[-2] > 3 else 2)    # else one is as near as with both
        table[0, count - 2] = _mixture([(count - 1, either), (count, either), (0, 1 - 2 * either)])
        table[0, count - 1] = ((0, 1.0),)
        table[count - 1, 0], table[count, 0] = ((count, 1.0),), ((count - 1, 1.0),)
    return Draw(0, tuple(f'a{action}' for action in range(count)), (table,), beyond=True)


def random_places(rng: np.random.Generator, changes: int = 0) -> Draw:
    """
    Return 6 to 16 places with drives between them, both ways: a tree, and some more.

    Action ``k`` drives to the ``k``-th neighbour, or stays where it is if there are fewer. A drive
    fails with a probability of its own, 0 to 0.85, and the robot is then where it was. A change
    closes the ways between two places.
    """
    count = int(rng.integers(6, 17))
    ways: list[dict[int, None]] = [{} for _ in range(count)]
    for place in range(1, count):
        others = [int(rng.integers(max(0, place - 4), place))]
        if rng.random() < 0.3:
            others.append(int(rng.integers(place)))
        for other in others:
            ways[place][other] = ways[other][place] = None
    chances = [float(chance) for chance in rng.choice(
        [1.0, 0.98, 0.95, 0.9, 0.7, 0.4, 0.15], size=sum(map(len, ways)))]
    table = {(place, action): _mixture([(other, chance), (place, 1 - chance)])
             for place, others in enumerate(ways) for action, other in enumerate(others)
             for chance in [chances.pop()]}
    settings = [table]
    for _ in range(changes):
        place = int(rng.integers(count))
        other = [*ways[place]][int(rng.integers(len(ways[place])))]
        settings.append({**settings[-1], **{
            (start, [*ways[start]].index(end)): ((start, 1.0),)
            for start, end in ((place, other), (other, place))}})
    return Draw(0, tuple(f'a{action}' for action in range(max(map(len, ways)))), tuple(settings))


def changing_way(rng: np.random.Generator, how: str, changes: int = 1) -> Draw:
    """
    Return a tree or a grid in which one way after the other changes.

    It ``closes``: the action stays put from then on; it ``weakens``: it does in nine of ten times
    or more; or it ``moves``, and leads to another state. A second change takes the first one back
    or is of another action.
    """
    drawn = (random_tree, random_grid)[int(rng.integers(2))](rng)
    table = drawn.settings[0]
    leads = {pair: max(ends, key=lambda end: end[1])[0] for pair, ends in table.items()}
    ways = [pair for pair, end in leads.items() if end != pair[0]]
    settings = [table]
    for number in range(changes if ways else 0):
        pair = ways[int(rng.integers(len(ways)))]
        ends = leads[pair], pair[0]
        if how == 'moves':
            ends = (*ends[:1], [*leads.values()][int(rng.integers(len(leads)))])
        chance = float(rng.uniform(0, 0.1)) if how == 'weakens' else 0.0
        changed = _mixture([(ends[0], chance), (ends[1], 1 - chance)])
        back = number > 0 and rng.random() < 0.5
        settings.append(table if back else {**settings[-1], pair: changed})
    return Draw(drawn.start, drawn.actions, tuple(settings))


Family = Callable[[np.random.Generator], Draw]

FAMILIES: Mapping[str, Family] = {
    'random_graph': random_graph,
    'random_grid': random_grid,
    'random_tree': random_tree,
    'confusing_chain': confusing_chain,
    'changing_graph': partial(random_graph, changes=1),
    'changing_grid': partial(random_grid, changes=1),
    'changing_tree': partial(random_tree, changes=1),
    'changing_chain': partial(confusing_chain, changes=1),
    'interrupted_graph': random_graph,
    'interrupted_tree': random_tree,
    'helped_star': partial(random_star, gap=True),
    'helped_grid': random_grid,
    'lost_graph': random_graph,
    'lost_star': partial(random_star, gap=True),
    'worked_graph': random_graph,
    'worked_star': partial(random_star, gap=True),
    'worked_changing': partial(random_graph, changes=1),
    'twice_grid': partial(random_grid, changes=2),
    'twice_tree': partial(random_tree, changes=2),
    'benign_star': partial(random_star, changes=1),
    'early_graph': partial(random_graph, changes=1),
    'early_grid': partial(random_grid, changes=1),
    'early_closes': partial(changing_way, how='closes'),
    'early_weakens': partial(changing_way, how='weakens'),
    'early_moves': partial(changing_way, how='moves'),
    'early_twice': partial(changing_way, how='closes', changes=2),
    'early_fleet': partial(changing_way, how='closes'),
    'beyond_star': beyond_star,
    'random_places': random_places,
    'worked_places': random_places,
    'changing_places': partial(random_places, changes=1),
    'fleet_graph': random_graph,
    'fleet_tree': random_tree,
    'fleet_star': partial(random_star, gap=True),
    'fleet_changing': partial(random_graph, changes=1),
}
"""In a family ``twice``, the second change is for a time at which the first is open; in one that
is ``early``, all changes are for the building phase. One that goes ``beyond`` never changes, and
has states a little beyond the radius, which may come and go. ``INCIDENTS`` says what happens in
others, and ``COMPANIES`` which robots explore a ``fleet``."""


def draw(family: str, seed: int, radius: float = 4.0, epsilon: float = 1.0) -> Scenario:
    """
    Return the scenario that a family and a seed give; ``Simulator.change`` makes its changes.

    In every setting, ``SMALLEST`` to ``LARGEST`` states are reachable within ``radius``. At every
    change a state within ``radius`` leaves even ``(1 + epsilon) * radius``, or one from outside of
    the latter comes within ``radius``, so that a hypothesis that was right becomes wrong. The
    settings come in either order, so that states are gained as often as they are lost. A benign
    change moves no state across the radius, nor across the limit or close to it.

    :raises ValueError: if there is no such family, the seed is negative or no draw fits.
    """
    if family not in FAMILIES:
        raise ValueError(f'family is {family!r}, expected one of {", ".join(FAMILIES)}')
    if seed < 0:
        raise ValueError(f'seed is {seed}, expected a number >= 0')
    rng = np.random.default_rng([seed, zlib.crc32(family.encode())])
    for _ in range(_ATTEMPTS):
        drawn = FAMILIES[family](rng)
        if worth_a_trial(drawn, radius, epsilon):
            cmps = drawn.cmps()[::int(rng.choice([1, -1]))]
            return Scenario(
                f'{family} {seed}', drawn.actions, drawn.start,
                tuple(Setting(cmp, None) for cmp in cmps), Path(f'{family}-{seed}'))
    raise ValueError(
        f'{family} gives no scenario for radius {radius:g} and epsilon {epsilon:g} in '
        f'{_ATTEMPTS} draws, expected another radius or epsilon')


def worth_a_trial(drawn: Draw, radius: float, epsilon: float) -> bool:
    """Return whether sizes and changes are as ``draw`` promises."""
    within: list[set[int]] = []
    for cmp in drawn.cmps():
        within.append(set(reachable_states(cmp, radius)))
        if not SMALLEST <= len(within[-1]) <= LARGEST:
            return False
    if drawn.beyond:
        near, far = (reachable_states(drawn.cmps()[0], times * radius) for times in BEYOND)
        return len(near) == len(within[0]) <= len(far) - 2
    changes = range(len(within) - 1)
    if drawn.benign and changes:
        return within.count(within[0]) == len(within) and _keeps_right(
            drawn, (1 + epsilon) * radius)
    if any(within[i] == within[i + 1] for i in changes):    # spares the larger sets
        return False
    limits = [set(reachable_states(cmp, (1 + epsilon) * radius))
              for cmp in (drawn.cmps() if changes else ())]
    return all(within[i] - limits[i + 1] or within[i + 1] - limits[i] for i in changes)


def _keeps_right(drawn: Draw, limit: float) -> bool:
    """Return whether all settings have the same states within the limit, and none close to it."""
    sets = (set(reachable_states(cmp, steps))
            for cmp in drawn.cmps() for steps in (0.9 * limit, 1.1 * limit))
    first = next(sets)
    return all(each == first for each in sets)


def _mixture(parts: list[tuple[int, float]]) -> Outcomes:
    """Return outcomes from next states that may repeat, with probabilities that sum to 1."""
    outcomes: dict[int, float] = {}
    for state, probability in parts:
        if probability > 0:
            outcomes[state] = outcomes.get(state, 0.0) + probability
    return tuple(outcomes.items())
