# SPDX-License-Identifier: Apache-2.0

"""The simulator follows its scenario, its seed and its probabilities."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
import random

from mnm_ros.core.model.problem import RESET
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.scenario import load, Scenario, Setting, shipped
from mnm_ros.simulation.simulator import Simulator
import pytest


def scenario(*untils: int | None) -> Scenario:
    """Return settings in which action 0 leads from everywhere to 10, 11, ..."""
    settings = tuple(
        Setting(TableCmp(0, 1, {(s, 0): ((10 + i, 1.0),) for s in (0, 10, 11, 12)}), until)
        for i, until in enumerate(untils))
    return Scenario('test', ('go',), 0, settings, Path('test.yaml'))


def walk(simulator: Simulator, steps: int, seed: int = 0) -> list[int]:
    draw = random.Random(seed)
    actions = len(simulator.scenario.actions)
    return [simulator.step(draw.randrange(-1, actions)) for _ in range(steps)]


def test_starts_at_home_in_the_first_setting() -> None:
    simulator = Simulator(load('two_rooms'))
    assert (simulator.state, simulator.steps, simulator.setting) == (6, 0, 0)
    assert (simulator.counts, simulator.changes) == ({}, [])
    assert simulator.cmp is simulator.scenario.settings[0].cmp


@pytest.mark.parametrize('name', shipped())
def test_a_seed_decides_everything(name: str) -> None:
    first, again, other = (Simulator(load(name), seed) for seed in (5, 5, 6))
    path = walk(first, 3000)
    assert path == walk(again, 3000)
    assert path != walk(other, 3000)
    assert first.counts == again.counts


def test_its_random_numbers_are_its_own() -> None:
    alone, beside = Simulator(load('corridor'), 1), Simulator(load('corridor'), 1)
    other = Simulator(load('corridor'), 1)
    path = []
    for _ in range(500):
        path.append(beside.step(0))
        other.step(RESET)
        other.step(0)
    assert path == [alone.step(0) for _ in range(500)]


@pytest.mark.parametrize('name', shipped())
def test_only_possible_states_follow_and_all_are_counted(name: str) -> None:
    simulator = Simulator(load(name), 3)
    path = walk(simulator, 5000)
    assert sum(sum(tally.values()) for tally in simulator.counts.values()) == 5000
    assert simulator.state == path[-1]
    for (state, action), tally in simulator.counts.items():
        assert set(tally) <= {after for after, _ in simulator.cmp.transitions(state, action)}
        assert min(tally.values()) >= 1


def test_frequencies_agree_with_the_probabilities() -> None:
    outcomes = ((1, 0.5), (2, 0.25), (3, 0.2), (0, 0.05))
    cmp = TableCmp(0, 1, {(0, 0): outcomes})
    simulator = Simulator(
        Scenario('die', ('roll',), 0, (Setting(cmp, None),), Path('die.yaml')), 11)
    rolls = 100_000
    for _ in range(rolls):
        simulator.step(0)
        simulator.step(RESET)
    for state, probability in outcomes:
        deviation = simulator.counts[0, 0][state] - rolls * probability
        assert abs(deviation) < 4.5 * sqrt(rolls * probability * (1 - probability))


def test_reset_leads_home_and_is_counted() -> None:
    simulator = Simulator(scenario(None))
    assert (simulator.step(0), simulator.step(RESET), simulator.step(RESET)) == (10, 0, 0)
    assert simulator.counts == {(0, 0): {10: 1}, (10, RESET): {0: 1}, (0, RESET): {0: 1}}


def test_settings_change_after_until_steps() -> None:
    simulator = Simulator(scenario(3, 5, None))
    assert [simulator.step(0) for _ in range(8)] == [10, 10, 10, 11, 11, 12, 12, 12]
    assert simulator.changes == [(3, 1), (5, 2)]
    assert simulator.setting == 2
    assert simulator.counts[10, 0] == {10: 2, 11: 1}


def test_change_goes_on_and_from_the_last_to_the_first() -> None:
    simulator = Simulator(scenario(3, None))
    assert simulator.change() and simulator.setting == 1
    assert [simulator.step(0) for _ in range(5)] == [11] * 5
    assert simulator.change() and simulator.setting == 0
    assert [simulator.step(0) for _ in range(5)] == [10] * 5, 'an until that passed has no effect'
    assert simulator.changes == [(0, 1), (5, 0)]


def test_until_counts_all_steps_even_after_a_change_on_demand() -> None:
    simulator = Simulator(scenario(3, 5, None))
    simulator.step(0)
    simulator.change()
    assert [simulator.step(0) for _ in range(6)] == [11, 11, 11, 11, 12, 12]


def test_a_setting_without_until_stays_until_change_is_called() -> None:
    simulator = Simulator(scenario(None, 50, None))
    assert {simulator.step(0) for _ in range(20)} == {10}
    assert simulator.change()
    assert {simulator.step(0) for _ in range(30)} == {11}
    assert simulator.step(0) == 12


def test_there_is_nothing_to_change_to_in_a_single_setting() -> None:
    simulator = Simulator(scenario(None))
    assert not simulator.change()
    assert (simulator.setting, simulator.changes) == (0, [])


def test_a_robot_that_was_moved_goes_on_from_there() -> None:
    simulator = Simulator(load('grid_3x3'))
    simulator.state = 8
    assert simulator.step(0) == 8
    assert simulator.counts == {(8, 0): {8: 1}}


@pytest.mark.parametrize('action', (-2, 1, 99))
def test_unknown_actions_change_nothing(action: int) -> None:
    simulator = Simulator(scenario(None))
    with pytest.raises(ValueError, match=rf'action is {action}, expected -1 \(RESET\) to 0'):
        simulator.step(action)
    assert (simulator.state, simulator.steps, simulator.counts) == (0, 0, {})


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match='non-negative'):
        Simulator(scenario(None), -1)
