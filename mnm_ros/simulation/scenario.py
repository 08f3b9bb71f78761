# SPDX-License-Identifier: Apache-2.0

"""Scenario files: the settings of a changing CMP, in the order in which they are in force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
import math
from pathlib import Path

from mnm_ros.core.errors import FileError
from mnm_ros.core.model.counts import Pair
from mnm_ros.core.model.declaration import listed
from mnm_ros.core.model.problem import radius_for_all
from mnm_ros.description_entries import MAX_ACTIONS
from mnm_ros.file_kinds import refuse_kind
from mnm_ros.located_yaml import Entry, Keys, read
from mnm_ros.places.geojson import read_geojson
from mnm_ros.places.graph_file import GEOJSON, graph_in
from mnm_ros.places.place_graph import PlaceGraph
from mnm_ros.robot_description import RobotDescription
from mnm_ros.simulation.cmp import (
    Cmp,
    described,
    GENERATORS,
    grid_cmp,
    GRID_MOVES,
    MoveCmp,
    Outcomes,
    support,
    TableCmp,
)
from mnm_ros.simulation.config_files import files, find, floor_plan, MOST_CELLS_IN_ALL
from mnm_ros.simulation.route_scenario import passage, RouteWorld

__all__ = ['FileError', 'Scenario', 'Setting', 'changes', 'describe', 'load', 'shipped']

_KINDS = ('transitions', 'grid', 'generator')
_MOST_WARNED_OF = 5    # states of a setting
_MOST_NAMED = 5    # passages that open, or close, with a setting


@dataclass(frozen=True)
class Setting:
    """
    A CMP, and the total number of steps after which the next setting is in force, if any.

    :ivar rows: of a grid, as they stand in the file.
    """

    cmp: Cmp
    until: int | None
    rows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scenario:
    """
    One or more settings that share the start state and the actions.

    :ivar actions: the names in the order of the numbers, without RESET.
    :ivar settings: in the order in which they are in force.
    :ivar warnings: what is allowed and may yet be a mistake, each with the file and the line.
    :ivar graph: the route graph along whose edges the robot drives, if there is one.
    """

    name: str
    actions: tuple[str, ...]
    start: int
    settings: tuple[Setting, ...]
    path: Path
    warnings: tuple[str, ...] = ()
    graph: PlaceGraph | None = None

    @cached_property
    def radius(self) -> float:
        """
        Return the ``L`` that takes in every state to which the first setting leads.

        :raises ValueError: as ``radius_for_all`` does.
        """
        return radius_for_all(support(self.settings[0].cmp), self.start)


def load(path_or_name: str) -> Scenario:
    """
    Read a scenario or a route graph, from its path or from the name of a shipped scenario.

    :raises FileError: with the file, the line and what was expected there.
    """
    path = find(path_or_name, 'scenario')
    if path.suffix in GEOJSON:
        return of_graph(RouteWorld(read_geojson(path)))
    root = read(path)
    graph = graph_in(path, root)
    return _scenario(path, root) if graph is None else of_graph(RouteWorld(graph))


def describe(scenario: Scenario, setting: int) -> RobotDescription:
    """Return what the simulated robot says about itself while a setting is in force."""
    if scenario.graph is not None:
        return scenario.graph.describe(scenario.start)
    return described(scenario.actions, scenario.start, scenario.settings[setting].rows)


def changes(scenario: Scenario, before: int, after: int) -> str:
    """
    Return in words which passages close and open from one setting to another.

    Of a generator, and of a grid of another size, that is not known: the text is empty.
    """
    first, second = scenario.settings[before], scenario.settings[after]
    if first.rows:
        if not second.rows or len(first.rows[0]) != len(second.rows[0]):
            return ''
        was, now = ({*describe(scenario, each).names.items()} for each in (before, after))
        gone, come = ([name for _, name in sorted(cells)] for cells in (was - now, now - was))
    elif isinstance(first.cmp, TableCmp) and isinstance(second.cmp, TableCmp):
        names = describe(scenario, before)
        gone, come = (_passages(one, other, names) for one, other in (
            (first.cmp.moves, second.cmp.moves), (second.cmp.moves, first.cmp.moves)))
    else:
        return ''
    return '; '.join(f'{listed(found, _MOST_NAMED)} {word}' for found, word in (
        (gone, 'closed'), (come, 'open')) if found)


def _passages(moves: Mapping[Pair, int], others: Mapping[Pair, int],
              names: RobotDescription) -> list[str]:
    """Return how people call the ways that are not among the others, a door by its name."""
    ways = {way: action for way, action in moves.items() if way not in others}
    found: dict[str, None] = {}
    for (state, end), action in sorted(ways.items()):
        door, both = names.door(state, action), (end, state) in ways
        here, there = (names.place(each) for each in (
            sorted((state, end)) if both else (state, end)))
        found[f'door {door}' if door else passage(here, there) if both else
              f'way from {here} to {there}'] = None
    return [*found]


def shipped() -> tuple[str, ...]:
    """Return the names of the scenarios that come with the package, sorted."""
    return tuple(files('scenario'))


def of_graph(world: RouteWorld) -> Scenario:
    """Return the scenario of a robot that drives along the edges of a graph."""
    graph = world.graph
    settings = [Setting(world.open, None)] if world.closed is None else [
        Setting(world.open, world.until), Setting(world.closed, None)]
    return Scenario(
        graph.path.name.partition('.')[0], graph.describe(world.home).actions, world.home,
        tuple(settings), graph.path, graph.warnings, graph)


def _scenario(path: Path, root: Entry) -> Scenario:
    refuse_kind(path, root.names, 'scenario', 'route graph')
    top = root.mapping('a scenario', ('name', 'actions', 'start', 'settings'))
    name = top['name'][1].text('the name of the scenario') if 'name' in top else path.stem
    actions = _actions(top.required('actions', 'a list of names'))
    start = top['start'][1].integer('the start state') if 'start' in top else None
    what = 'a list of at least one setting'
    settings: list[Setting] = []
    warnings: list[FileError] = []
    latest = cells = 0
    made: dict[tuple[int, ...], tuple[Cmp, tuple[str, ...]]] = {}    # aliases share what is made
    entries = top.required('settings', what).sequence(what)
    for entry in entries:
        keys = entry.mapping('a setting', (*_KINDS, 'until'))
        same = tuple(id(keys[kind][1]) for kind in _KINDS if kind in keys)
        if same not in made:
            made[same] = _cmp(entry, keys, actions, start, warnings), _rows(keys)
        cmp, rows = made[same]
        cells += sum(map(len, rows))
        if cells > MOST_CELLS_IN_ALL:
            raise entry.error(f'with this setting, all grids together have {cells:,} cells, '
                              f'expected at most {MOST_CELLS_IN_ALL:,}')
        start = cmp.start
        until = keys['until'][1].integer(
            f'a number of steps, more than {latest}', latest + 1) if 'until' in keys else None
        latest = until or latest
        if until is None and entry is not entries[-1]:
            warnings.append(entry.error(
                'this setting has no until: the next one is in force only once the service '
                'change is called'))
        settings.append(Setting(cmp, until, rows))
    if settings[-1].until is not None:
        raise keys['until'][0].error('no setting follows, expected no until on the last one')
    return Scenario(name, actions, settings[0].cmp.start, tuple(settings), path,
                    tuple(map(str, warnings)))


def _rows(keys: Keys) -> tuple[str, ...]:
    """Return the rows of a grid, which has been read before; none for anything else."""
    return tuple(floor_plan(keys['grid'][1].mapping('a grid'))) if 'grid' in keys else ()


def _actions(entry: Entry) -> tuple[str, ...]:
    names: list[str] = []
    items = entry.sequence('a list of at least one name')
    if len(items) > MAX_ACTIONS:
        raise entry.error(f'found {len(items):,} names, expected at most {MAX_ACTIONS:,}')
    for item in items:
        name = item.text('the name of an action, in quotes if YAML takes it for something else')
        if name.upper() == 'RESET':
            raise item.error('RESET is always there, expected only the other actions')
        if name in names:
            raise item.error(f'action {name} appears twice, expected distinct names')
        names.append(name)
    return tuple(names)


def _cmp(entry: Entry, keys: Keys, actions: tuple[str, ...], start: int | None,
         warnings: list[FileError]) -> Cmp:
    """Return the CMP of a setting; it must begin in ``start`` unless that is None."""
    kinds = [kind for kind in keys if kind in _KINDS]
    if len(kinds) != 1:
        where = keys[kinds[1]][0] if kinds else entry
        raise where.error(
            f'found {" and ".join(kinds) or "none"}, expected one of {", ".join(_KINDS)}')
    key, value = keys[kinds[0]]
    cmp: Cmp
    if kinds[0] == 'transitions':
        if start is None:
            raise value.error('start is missing, expected the start state beside the settings')
        cmp = _table(value, actions, start, warnings)
    else:
        cmp = _grid(value, actions) if kinds[0] == 'grid' else _generated(value, actions)
    if start is not None and cmp.start != start:
        raise value.error(f'starts in state {cmp.start}, expected the start state {start}')
    if all(state == cmp.start for action in range(cmp.actions)
           for state, _ in cmp.transitions(cmp.start, action)):
        warnings.append(key.error(
            f'no action leaves the start state {cmp.start}: there is nothing to explore in this '
            'setting'))
    return cmp


def _table(entry: Entry, actions: tuple[str, ...], start: int,
           warnings: list[FileError]) -> TableCmp:
    outcomes: dict[Pair, Outcomes] = {}
    with_moves = {start}
    reached: dict[int, Entry] = {}    # with the first action that leads there
    for state_key, by_action in entry.mapping('a mapping from states to actions').values():
        state = state_key.integer('a state, an integer')
        with_moves.add(state)
        what = 'a mapping from actions to next states'
        for action_key, distribution in by_action.mapping(what).values():
            name = action_key.text('the name of an action')
            if name not in actions:
                raise action_key.error(
                    f"unknown action '{name}', expected one of " + ', '.join(actions))
            found = outcomes[state, actions.index(name)] = _outcomes(
                action_key, distribution, f'state {state}, action {name}')
            for after, _ in found:
                reached.setdefault(after, action_key)
    _warn_of_dead_ends(
        {state: key for state, key in reached.items() if state not in with_moves}, warnings)
    return TableCmp(start, len(actions), outcomes)


def _warn_of_dead_ends(reached: dict[int, Entry], warnings: list[FileError]) -> None:
    for i, (state, key) in enumerate(reached.items()):
        if i == _MOST_WARNED_OF:
            warnings.append(key.error(f'so it is with {len(reached) - i} further states'))
            return
        warnings.append(key.error(
            f'state {state} is reached but has no moves: the robot stays there until RESET; '
            f"'{state}: {{}}' says that this is meant"))


def _outcomes(key: Entry, entry: Entry, where: str) -> Outcomes:
    outcomes = [
        (state.integer('a next state, an integer'),
         value.number(f'a probability between 0 and 1 ({where})', 0, 1))
        for state, value in entry.mapping('a mapping from next states to probabilities').values()]
    total = math.fsum(weight for _, weight in outcomes)
    if abs(total - 1) > 1e-9:
        raise key.error(
            f'probabilities of {where} sum to {total:.12g}, expected 1 (within 1e-9)')
    return tuple((state, weight / total) for state, weight in outcomes if weight > 0)


def _grid(entry: Entry, actions: tuple[str, ...]) -> Cmp:
    keys = entry.mapping('a grid', ('rows', 'slip'))
    _same_names(entry, 'a grid', actions, tuple(GRID_MOVES))
    rows = floor_plan(keys)
    slip = keys['slip'][1].number('a probability between 0 and 1', 0, 1) if 'slip' in keys else 0
    return grid_cmp(rows, slip, actions)


def _generated(entry: Entry, actions: tuple[str, ...]) -> Cmp:
    keys = entry.mapping('a generator, a mapping with its name and parameters')
    name_entry = keys.required('name', f'one of {", ".join(GENERATORS)}')
    name = name_entry.text('the name of a generator')
    if name not in GENERATORS:
        raise name_entry.error(
            f"unknown generator '{name}', expected one of " + ', '.join(GENERATORS))
    generator = GENERATORS[name]
    entry.mapping(f'generator {name}', ('name', *generator.parameters))
    _same_names(entry, f'generator {name}', actions, generator.actions)
    values = {}
    for key, parameter in generator.parameters.items():
        low, high = parameter.minimum, parameter.maximum
        values[key] = parameter.default if key not in keys else keys[key][1].number(
            f'a number between {low:g} and {high:g}', low, high)
    rules = generator.build(**values)
    return MoveCmp(rules.start, [rules.moves[action] for action in actions], rules.success)


def _same_names(
        entry: Entry, what: str, actions: tuple[str, ...], expected: tuple[str, ...]) -> None:
    if set(actions) != set(expected):
        raise entry.error(
            f'the actions are {", ".join(actions)}, expected those of {what}: '
            + ', '.join(expected))
