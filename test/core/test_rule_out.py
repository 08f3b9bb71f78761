# SPDX-License-Identifier: Apache-2.0

"""How many more samples are asked for before states are ruled out."""

from __future__ import annotations

import math

from mnm_ros.core import Counts, EmpiricalModel, OptimisticPlanner, Problem, TransitionRows
from mnm_ros.core.disco.rule_out import (
    _worth,
    EVEN_PART,
    EVEN_PART_IF_MANY,
    LEAST_CHANCE,
    PLANS_AHEAD,
    SAMPLE_GROWTH,
    SamplingPlan,
)
import numpy as np
import pytest

DELTA = 0.02
FAR = 9


class World:
    """Two known states; each action of state 1 leads to ``FAR`` with a small chance."""

    def __init__(self, radius: float, chance: float, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.chance = chance
        self.counts = Counts()
        self.rows = TransitionRows(self.counts, 2)
        for state in (0, 1):
            self.rows.enter(state)
        self.planner = OptimisticPlanner(DELTA, radius)
        self.requirement = SamplingPlan(Problem(2, radius, 1.0, 0.1), self.planner)

    def samples(self, others: tuple[int, ...]) -> dict[tuple[int, int], int]:
        return self.requirement.samples(
            EmpiricalModel.of(self.rows, (0, 1)), others, {0: 0.0, 1: 1.0})

    def execute(self, wanted: dict[tuple[int, int], int]) -> None:
        for (state, action), executions in wanted.items():
            while self.counts.visits(state, action) < executions:
                far = state == 1 and self.rng.random() < self.chance
                following = FAR if far else 1 - state
                self.counts.add(state, action, following)
                self.rows.add(state, action, following)

    def sample(self, others: tuple[int, ...], rounds: int = 200) -> int:
        """Do what is asked for, and return how often something was."""
        for number in range(rounds):
            wanted = self.samples(others)
            if not wanted:
                return number
            assert all(executions > self.counts.visits(*pair)
                       for pair, executions in wanted.items())
            self.execute(wanted)
        raise AssertionError('it asks for ever more')


@pytest.mark.parametrize('dear', [False, True])
def test_first_it_asks_for_what_no_pair_can_do_without(
        dear: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less of it where less is left of the radius."""
    even, most = (EVEN_PART_IF_MANY, 0.25) if dear else (EVEN_PART, 0.4)
    monkeypatch.setattr('mnm_ros.core.disco.rule_out.MANY_STATES', 1 if dear else 2)
    for radius, chances in ((4.0, (1 / 4, min(most, 1 / 3))), (2.0, (most, most)),
                            (20.0, (LEAST_CHANCE, LEAST_CHANCE))):
        world = World(radius, 0.0)
        least = [math.ceil(even * world.planner.budget((0, 1)) / -math.log1p(-chance))
                 for chance in chances]
        assert world.samples(()) == {(state, action): least[state]
                                     for state in (0, 1) for action in (0, 1)}


@pytest.mark.parametrize('radius', [1.5, 3.0, 5.0])
def test_it_asks_until_what_was_never_seen_is_ruled_out(radius: float) -> None:
    world = World(radius, 0.0)
    assert world.sample(()) > 1
    outlook = OptimisticPlanner(DELTA, radius).plan(EmpiricalModel.of(world.rows, (0, 1)), None)
    assert outlook.steps > radius


def test_it_asks_until_the_others_are_ruled_out_too() -> None:
    alone, both = World(3.0, 0.02), World(3.0, 0.02)
    alone.sample(())
    both.sample((FAR,))
    planner, model = OptimisticPlanner(DELTA, 3.0), EmpiricalModel.of(both.rows, (0, 1))
    assert any(planner.plan(model, FAR).steps > 3.0 for _ in range(30))    # each at another price
    assert sum(map(sum, visits(both))) > sum(map(sum, visits(alone)))


def test_whatever_is_ruled_out_with_all_met_needs_no_plan_of_its_own(
        monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(3.0, 0.02)
    world.sample((FAR,))
    asked: list[int | None] = []
    plan = world.planner.plan
    monkeypatch.setattr(world.planner, 'plan', lambda model, target: (
        asked.append(target), plan(model, target))[1])
    assert world.samples((FAR,)) == {} and not asked and world.requirement.ruled_out > 1
    assert world.samples(()) == {} and asked == [None]


def visits(world: World) -> list[list[int]]:
    return [world.counts.visits_of_all(state, 2) for state in (0, 1)]


def test_a_state_that_nothing_leads_to_asks_for_nothing() -> None:
    world = World(3.0, 0.0)
    world.sample(())
    assert world.samples((77,)) == {}


def test_a_state_within_reach_is_never_ruled_out() -> None:
    world = World(3.0, 0.9)
    for _ in range(3):    # the samples asked for grow by a power of SAMPLE_GROWTH each time
        wanted = world.samples((FAR,))
        assert wanted
        world.execute(wanted)


def test_asking_changes_no_counts() -> None:
    world = World(3.0, 0.9)
    world.execute({(s, a): 40 for s in (0, 1) for a in (0, 1)})
    before, tally = world.counts.as_dict(), world.rows.tally.copy()
    assert world.samples((FAR,))
    assert world.counts.as_dict() == before and np.array_equal(world.rows.tally, tally)


def test_samples_grow_by_a_part_of_what_is_there_and_by_one_at_least() -> None:
    """Up to so often as it is planned ahead; never so much that planning comes too late."""
    for visits in (2, 300):
        world = World(1.99, 1.0)    # so near that nothing is sampled evenly first
        world.execute({(s, a): visits for s in (0, 1) for a in (0, 1)})
        wanted = world.samples((FAR,))
        assert wanted and all(
            visits < executions
            <= math.ceil(visits * SAMPLE_GROWTH ** PLANS_AHEAD) + PLANS_AHEAD * 2
            for executions in wanted.values())
        assert max(wanted.values()) >= visits * 1.2


def test_what_cannot_be_ruled_out_as_the_counts_are_is_open() -> None:
    world = World(3.0, 0.9)
    assert world.requirement.ruled_out == 0.6    # nothing is planned yet
    while not world.requirement.open_targets:
        wanted = world.samples((FAR, 77))
        assert wanted
        world.execute(wanted)
    assert world.requirement.open_targets == [FAR]    # not 77, which was never seen
    assert 0 < world.requirement.ruled_out < 1
    far = World(3.0, 0.0)
    far.sample(())
    assert far.requirement.open_targets == [] and far.requirement.ruled_out > 1


def test_pairs_whose_next_sample_tells_most_are_worth_it() -> None:
    """What a pair owes to optimism, by the samples that it shares it with."""
    world = World(3.0, 0.9)
    world.execute({(0, 0): 9, (0, 1): 3, (1, 0): 4, (1, 1): 19})
    model = EmpiricalModel.of(world.rows, (0, 1))

    def worth(moves: tuple[int, int], *gains: float) -> list[int]:
        return _worth(model, np.array(moves), np.array(gains)).tolist()

    assert worth((0, 0), 1.0, 1.0) == [0, 2]        # a tenth and a fifth
    assert worth((0, 0), 0.9, 1.0) == [2]           # less than a half of it
    assert worth((0, 1), 1.0, 1.0) == [0, 3]
    assert worth((1, 1), 1.0, 1.0) == [1]
    assert worth((0, 0), 0.0, 0.0) == [0, 1, 2, 3]    # nothing to weigh
