# SPDX-License-Identifier: Apache-2.0

"""What was learnt of a graph counts on after the graph was edited, if it is still the same."""

from __future__ import annotations

import atexit
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from re import escape
import shutil
from tempfile import mkdtemp
from types import SimpleNamespace

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.checkpoint.warm_start import begun
from mnm_ros.core.errors import ParameterError
from mnm_ros.core.model.problem import radius_for_all, RESET
from mnm_ros.core.presets import OPTIONS
from mnm_ros.nodes.exploring.exploration_store import concerns_graph, ExplorationStore
from mnm_ros.places.place_graph import Edge, Place, PlaceGraph
from mnm_ros.robot_description import UNDESCRIBED
from mnm_ros.simulation.route_scenario import RouteWorld
from mnm_ros.simulation.scenario import of_graph
from mnm_ros.simulation.simulator import Simulator
import pytest
from tiers import thorough

NAMES = ('hall', 'kitchen', 'lab', 'store')
PLACES = {number: Place(4.0 * number, 0, name) for number, name in enumerate(NAMES)}
LINE = ((0, 1), (1, 2), (2, 3), (0, 2))
STEPS = 250


def graph(places: Mapping[int, Place], ends: tuple[tuple[int, int], ...]) -> PlaceGraph:
    return PlaceGraph(Path('office.geojson'), places, tuple(
        Edge(f'{number}', *pair) for number, each in enumerate(ends)
        for pair in (each, each[::-1])))


BEFORE = graph(PLACES, LINE)
OTHER = {0: 7, 1: 2, 2: 1, 3: 9}
RENUMBERED = graph({OTHER[number]: place for number, place in PLACES.items()},
                   tuple((OTHER[start], OTHER[end]) for start, end in LINE))


class Keeper:
    """Keeps an exploration of a graph as the explorer does."""

    def __init__(self, folder: Path, of: PlaceGraph, known: bool = True,
                 **parameters: object) -> None:
        self.logged: list[str] = []
        logger = SimpleNamespace(**dict.fromkeys(
            ('info', 'warning', 'error'), lambda text, **_: self.logged.append(text)))
        node = SimpleNamespace(
            get_fully_qualified_name=lambda: '/explorer', get_logger=lambda: logger)
        self.described, self._graph, home = of.describe(of.home), of, of.home
        declared = self.described.declaration
        self.store = ExplorationStore(node, {
            'actions': [*self.described.actions], 'radius': radius_for_all(declared, home),
            'epsilon': 1.0, 'delta': 0.1, 'preset': 'onboard', 'seed': 0, 'audit': 0.005,
            'checkpoint_dir': str(folder), 'transition_log': False, 'warm_start': '',
            'overrides': '', **{option.name: option.default for option in OPTIONS}, **parameters},
            self.described if known else UNDESCRIBED, declared)
        if self.store.waiting:
            self.store.adopt(self.store.restore())
        self.exploration = self.store.exploration
        self.exploration.declare(declared.audited(0.005))
        self.store.describe(self.described.to_text())

    def explore(self, steps: int = STEPS) -> int:
        """Make steps; return after how many the first hypothesis came."""
        simulator, first = Simulator(of_graph(RouteWorld(self._graph)), 1), 0
        for step in range(steps):
            action = self.exploration.next_action()
            self.exploration.observe(action, simulator.step(action))
            first = first or (step + 1) * (self.exploration.hypothesis is not None)
        return first

    def close(self) -> None:
        assert self.store.save()[0]
        self.store.close()


def learnt(folder: Path) -> tuple[Counter[tuple[int, int, int]], int]:
    """Let the graph of before be learnt; return how often each transition was seen, and when."""
    kept, counts, first = _learnt_once()
    shutil.copytree(kept, folder, dirs_exist_ok=True)
    return Counter(counts), first


def _folder_of_the_run() -> Path:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder)
    return folder


@lru_cache(maxsize=None)
def _learnt_once() -> tuple[Path, Counter[tuple[int, int, int]], int]:
    folder = _folder_of_the_run()
    keeper = Keeper(folder, BEFORE)
    first = keeper.explore()
    assert first
    keeper.close()
    return folder, Counter((state, action, after) for state, action, after
                           in keeper.exploration.recorded if after is not None), first


@lru_cache(maxsize=None)
def _logged_once() -> Path:
    """Return a folder with the log of a few steps in the graph of before."""
    folder = _folder_of_the_run()
    keeper = Keeper(folder, BEFORE, transition_log=True)
    keeper.explore(50)
    keeper.close()
    return folder


@thorough(
    'checkpoint/test_carry_over.py::test_places_and_ways_are_added_to_what_goes_on '
    'checkpoint/test_carry_over.py::test_what_is_not_the_same_is_forgotten')
def test_what_was_learnt_of_a_graph_that_was_numbered_again_counts_on(tmp_path: Path) -> None:
    before, first = learnt(tmp_path)
    old = {path.name: path.read_bytes() for path in tmp_path.glob('*.sqlite')}
    keeper = Keeper(tmp_path, RENUMBERED, transition_log=True)
    said, = (text for text in keeper.logged if 'the graph has changed' in text)
    assert 'other numbers: hall (0) is 7, kitchen (1) is 2' in said
    assert f'4 places are the same, {sum(before.values())} transitions count on, and 0 do' in said
    counts = keeper.exploration.counts
    ends = {(edge.start, edge.end): pair for edge, action in RENUMBERED.actions_of.items()
            for pair in [(edge.start, action)]}
    for (state, action, after), times in before.items():
        edge = BEFORE.outgoing(state)[action]
        pair = ends[OTHER[edge.start], OTHER[edge.end]]
        assert counts[pair][OTHER[after]] == times
    assert 0 < keeper.explore(100) < first / 2
    assert len(keeper.exploration.hypothesis.policies) == 4
    keeper.close()
    asides = {path.name.partition('.other_graph')[0]: path.read_bytes()
              for path in tmp_path.glob('*.sqlite.other_graph.1')}
    assert asides == old
    # From then on it is an exploration like any other.
    again = Keeper(tmp_path, RENUMBERED, transition_log=True)
    assert again.exploration.steps == keeper.exploration.steps
    assert not any('changed' in text for text in again.logged)
    again.close()
    log = SavedInputs(tmp_path / 'explorer.log.sqlite')
    replayed = begun(log)
    log.replay(replayed)
    assert replayed.counts == again.exploration.counts


def test_what_is_not_the_same_is_forgotten(tmp_path: Path) -> None:
    before, _ = learnt(tmp_path)
    moved = graph({**PLACES, 3: Place(12, 2, 'store')}, LINE)
    keeper = Keeper(tmp_path, moved)
    assert any('(places moved: store (3)): 3 places are the same' in text
               for text in keeper.logged)
    same = {transition: times for transition, times in before.items()
            if 3 not in (transition[0], moved.outgoing(transition[0])[transition[1]].end)}
    assert {(state, action, after): times for (state, action), nexts
            in keeper.exploration.counts.items() if action != RESET
            for after, times in nexts.items()} == same
    keeper.close()


def test_places_and_ways_are_added_to_what_goes_on(tmp_path: Path) -> None:
    learnt(tmp_path)
    more = graph({**PLACES, 4: Place(12, 4, 'attic')}, (*LINE, (3, 4)))
    keeper = Keeper(tmp_path, more)
    assert any('(new places: attic (4)): 4 places are the same' in text and ', and 0 do' in text
               for text in keeper.logged)
    keeper.close()


def test_files_of_other_parameters_are_kept_and_count_nothing(tmp_path: Path) -> None:
    learnt(tmp_path)
    keeper = Keeper(tmp_path, RENUMBERED, delta=0.05)
    assert any(', 0 transitions count on' in text for text in keeper.logged)
    assert not keeper.exploration.counts and [*tmp_path.glob('*.sqlite.other_graph.1')]
    keeper.close()


@pytest.mark.parametrize(('now', 'said'), [
    (BEFORE, ''), (graph({**PLACES, 4: Place(16, 0, 'attic')}, (*LINE, (3, 4))), ''),
    (RENUMBERED, 'is of another graph than the robot side (other numbers: hall (0) is 7'),
    (graph({**PLACES, 3: Place(12, 2, 'store')}, LINE), 'places moved: store (3)')])
def test_a_log_of_another_graph_starts_no_exploration(
        tmp_path: Path, now: PlaceGraph, said: str) -> None:
    shutil.copytree(_logged_once(), tmp_path / 'before')
    log = tmp_path / 'before' / 'explorer.log.sqlite'
    if said:
        with pytest.raises(ParameterError, match=f"parameter 'warm_start' is .*{escape(said)}"):
            Keeper(tmp_path / 'now', now, warm_start=str(log))
        return
    assert Keeper(tmp_path / 'now', now, warm_start=str(log)).store.identity['warm_start']
    (tmp_path / 'before' / 'explorer.robot_side.json').unlink()
    with pytest.raises(ParameterError, match='the robot side has the ways of a graph and .* has '
                       'none, expected one graph, of which .*explorer.robot_side.json tells'):
        Keeper(tmp_path / 'now', now, warm_start=str(log))


@pytest.mark.parametrize(('now', 'said'), [
    (BEFORE, ''), (RENUMBERED, 'which the graph of the robot side has not: it is of another')])
def test_a_log_of_which_no_graph_is_kept_is_checked_by_its_steps(
        tmp_path: Path, now: PlaceGraph, said: str) -> None:
    """The exploration begins before the robot side has said what it is."""
    shutil.copytree(_logged_once(), tmp_path / 'before')
    kept = tmp_path / 'before' / 'explorer.robot_side.json'
    kept.unlink()
    after = Keeper(tmp_path / 'now', now, known=False, warm_start=str(
        tmp_path / 'before' / 'explorer.log.sqlite'))
    after.store.describe(after.described.to_text())    # once more, as with each tick
    missing, *found = (text for text in after.logged if 'warm_start' in text)
    assert f'{kept} is missing' in missing
    assert len(found) == bool(said) and all(said in text for text in found)
    after.close()


def test_whether_a_log_is_of_a_graph_is_known_before_the_robot_side_is(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, BEFORE, transition_log=True)
    keeper.explore(10)
    keeper.close()
    log = tmp_path / 'explorer.log.sqlite'
    node = SimpleNamespace(get_fully_qualified_name=lambda: '/explorer')
    assert concerns_graph(node, '', str(log)) and concerns_graph(node, str(tmp_path), '')
    (tmp_path / 'explorer.robot_side.json').write_text('{}')
    assert not concerns_graph(node, '', str(log)) and not concerns_graph(node, '', '')
