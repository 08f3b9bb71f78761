# SPDX-License-Identifier: Apache-2.0

"""Every family gives valid CMPs of the promised sizes, one from each seed."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import pairwise
import math

import families
from families import Draw, FAMILIES, LARGEST, SMALLEST, worth_a_trial
from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.ground_truth import best_time, reachable_states
from mnm_ros.simulation.scenario import Scenario
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from tiers import strength, thorough

SEEDS = strength((0, 2), range(12))    # of the first, the quickest to draw
CHANGING = [name for name in FAMILIES if name.startswith(('changing', 'twice', 'early'))]
SETTINGS = {'changing': 2, 'early': 2, 'benign': 2, 'twice': 3}
"""By words of the name; all others have one."""


def kind(family: str) -> object:
    """Return what tells a family from those that draw the same, from other random numbers."""
    drawing = FAMILIES[family]
    return (drawing.func, *drawing.keywords.items()) if isinstance(drawing, partial) else drawing


FIRST = {kind(family): family for family in reversed([*FAMILIES])}    # of each kind
EACH = [family if family in FIRST.values() else pytest.param(family, marks=thorough(
    'simulation/test_families.py::test_the_cmps_are_valid '
    'simulation/test_families.py::test_seeds_differ simulation/test_families.py::test_sizes'))
    for family in FAMILIES]


@lru_cache(maxsize=None)
def drawn(family: str, seed: int, radius: float, epsilon: float) -> Scenario:
    return families.draw(family, seed, radius, epsilon)


def draw(family: str, seed: int, radius: float = 4.0, epsilon: float = 1.0) -> Scenario:
    """Draw as ``families.draw``, which may take 2,000 draws, once for all tests."""
    return drawn(family, seed, radius, epsilon)


@lru_cache(maxsize=None)
def tables(scenario: Scenario, radius: float = 4.0) -> list[dict]:
    """Return what every action does in every state that can be met near home."""
    return [
        {(state, action): setting.cmp.transitions(state, action)
         for state in reachable_states(setting.cmp, radius)
         for action in range(len(scenario.actions))}
        for setting in scenario.settings]


@pytest.mark.parametrize('family', EACH)
def test_the_cmps_are_valid(family: str) -> None:
    for seed in SEEDS:
        scenario = draw(family, seed)
        assert len(set(scenario.actions)) == len(scenario.actions) >= 2
        for setting, table in zip(scenario.settings, tables(scenario)):
            assert setting.until is None
            assert setting.cmp.start == scenario.start
            assert setting.cmp.transitions(99, RESET) == ((scenario.start, 1.0),)
            for outcomes in table.values():
                states, probabilities = zip(*outcomes)
                assert len(set(states)) == len(states)
                assert all(type(state) is int for state in states)
                assert min(probabilities) > 0
                assert math.isclose(math.fsum(probabilities), 1)


@pytest.mark.parametrize('family', strength([*FIRST.values()][::4], [*FAMILIES]))
def test_a_seed_always_gives_the_same(family: str) -> None:
    seed = strength(0, 5)
    one, other = draw(family, seed), families.draw(family, seed)
    assert one is not other
    assert tables(one) == tables(other)
    assert (one.name, one.start, one.actions) == (other.name, other.start, other.actions)


@pytest.mark.parametrize('family', EACH)
def test_seeds_differ(family: str) -> None:
    found = [(draw(family, seed).start, tables(draw(family, seed))) for seed in SEEDS]
    assert all(one != other for i, one in enumerate(found) for other in found[:i])
    assert len({len(cmps[0]) for _, cmps in found}) >= strength(1, 4)


@pytest.mark.parametrize('family', EACH)
@pytest.mark.parametrize(('radius', 'seeds'), [
    (4.0, SEEDS), *(pytest.param(radius, SEEDS[:4], marks=thorough(
        'simulation/test_families.py::test_sizes')) for radius in (2.0, 5.0))])
def test_sizes(family: str, radius: float, seeds: range) -> None:
    for seed in seeds:
        for setting in draw(family, seed, radius).settings:
            assert SMALLEST <= len(reachable_states(setting.cmp, radius)) <= LARGEST


@pytest.mark.parametrize('family', FAMILIES)
def test_only_changing_families_change(family: str) -> None:
    drawn = FAMILIES[family](np.random.default_rng(0))
    assert len(drawn.settings) == max(
        SETTINGS.get(word, 1) for word in family.split('_'))


@lru_cache(maxsize=None)
def noticed(family: str) -> tuple[int, int]:
    """Return how many changes take states from within reach, and how many bring some there."""
    lost = gained = 0
    for seed in strength(SEEDS, range(14)):
        cmps = [setting.cmp for setting in draw(family, seed).settings]
        for before, after in pairwise(cmps):
            leaves = set(reachable_states(before, 4)) - set(reachable_states(after, 8))
            joins = set(reachable_states(after, 4)) - set(reachable_states(before, 8))
            assert leaves or joins
            lost += bool(leaves)
            gained += bool(joins)
    return lost, gained


@pytest.mark.parametrize('family', strength(
    [family for family in CHANGING if family in FIRST.values()], CHANGING))
def test_a_change_has_to_be_noticed(family: str) -> None:
    assert min(noticed(family)) >= strength(0, 3)


def test_changes_take_states_as_often_as_they_bring_some() -> None:
    families = strength([family for family in CHANGING if family in FIRST.values()], CHANGING)
    lost, gained = map(sum, zip(*map(noticed, families)))
    assert min(lost, gained) >= len(families)


def test_states_a_little_beyond_the_radius_are_there() -> None:
    helped = 0
    for seed in range(12):
        cmp = draw('beyond_star', seed, 4.0).settings[0].cmp
        within, near, far = (
            reachable_states(cmp, radius) for radius in (4.0, 4.0 * 1.05, 4.0 * 1.3))
        assert len(within) == len(near) <= len(far) - 2
        helped += any(best_time(cmp, far, state) < 4 for state in set(far) - set(within))
    assert 2 < helped < 10


def test_a_benign_change_leaves_a_right_hypothesis_right() -> None:
    """What each target's action does stays on its side of the radius and of the limit."""
    changed = between = 0
    seeds = range(strength(6, 12))
    for seed in seeds:
        before, after = (setting.cmp for setting in draw('benign_star', seed).settings)
        for action in range(before.actions):
            times = [1 / cmp.transitions(0, action)[0][1] for cmp in (before, after)]
            assert (times[0] <= 4) == (times[1] <= 4)
            assert max(times) <= 0.9 * 8 or min(times) > 1.1 * 8
            changed += times[0] != times[1]
            between += 4 < times[0] != times[1] <= 8
    assert changed >= len(seeds) and between >= 3


def test_simulated_on_demand() -> None:
    simulator = Simulator(draw('changing_grid', 1), 3)
    for _ in range(100):
        simulator.step(0)
    assert simulator.setting == 0
    assert simulator.change() and simulator.setting == 1


def test_some_states_are_close_to_the_radius() -> None:
    """They lie on both sides of the radius, where the promise is hardest to keep."""
    within = beyond = 0
    for seed in range(30):
        cmp = draw('confusing_chain', seed).settings[0].cmp
        members = reachable_states(cmp, 4.0)
        border = {after for state in members for action in range(cmp.actions)
                  for after, _ in cmp.transitions(state, action)} - set(members)
        within += any(3.6 < best_time(cmp, members, state) <= 4 for state in members)
        beyond += any(4 < best_time(cmp, members, state) < 4.8 for state in border)
    assert within >= 5 and beyond >= 5


def test_only_reset_leaves_a_trap() -> None:
    traps = 0
    for seed in range(12):
        scenario = draw('random_tree', seed)
        cmp = scenario.settings[0].cmp
        for trap in (-7, 999):
            met = {after for state in reachable_states(cmp, 8.0)
                   for action in range(cmp.actions) for after, _ in cmp.transitions(state, action)}
            traps += trap in met
            assert all(cmp.transitions(trap, action) == ((trap, 1.0),)
                       for action in range(cmp.actions))
    assert traps >= 4


def test_what_is_not_worth_a_trial() -> None:
    def row(length: int) -> dict:
        return {(state, 0): ((state + 1, 1.0),) for state in range(length)}

    assert worth_a_trial(Draw(0, ('on',), (row(4),)), 4.0, 1.0)
    assert not worth_a_trial(Draw(0, ('on',), (row(1),)), 4.0, 1.0)
    assert not worth_a_trial(Draw(0, ('on',), (row(20),)), 16.0, 1.0)
    assert worth_a_trial(Draw(0, ('on',), (row(4), row(3))), 4.0, 1.0)
    assert not worth_a_trial(Draw(0, ('on',), (row(4), row(4))), 4.0, 1.0)


def test_bad_requests_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(families, '_ATTEMPTS', strength(100, 2000))
    with pytest.raises(ValueError, match="family is 'maze', expected one of random_graph"):
        draw('maze', 0)
    with pytest.raises(ValueError, match='seed is -1, expected a number >= 0'):
        draw('random_graph', -1)
    with pytest.raises(ValueError, match='changing_chain gives no scenario for radius 1 and'):
        draw('changing_chain', 0, 1.0)
