# SPDX-License-Identifier: Apache-2.0

"""What has failed unexpectedly is left alone for a while, then tried first."""

from __future__ import annotations

from mnm_ros.core import Counts, Exploration, Problem, settings, TransitionRows
from mnm_ros.core.detection.pair_watch import PairWatch
from mnm_ros.core.disco.sample import Sampling
from mnm_ros.simulation.simulator import Simulator
import pytest
from saved import again
from test_fleet import still
from tiers import thorough

PAIR = (3, 1)


def after_failures(watch: PairWatch, times: int, before: int, worked: int) -> list[int]:
    """Return the steps that each failure is followed by until the pair is due."""
    found = []
    for failures in range(1, times + 1):
        watch.record(PAIR, 3, (4, worked, before + failures), rests=True)
        steps = 0
        while PAIR in watch.resting:
            watch.step()
            steps += 1
        found.append(steps)
    return found


@pytest.mark.parametrize(('before', 'worked', 'steps'), [
    (20, 20, [4, 8, 8, 8, 8]), (100, 90, [0, 4, 8, 8, 8]), (9, 9, [0] * 5),
    (10, 10, [0, 4, 8, 8, 8]),
    (100, 60, [0] * 5)])
def test_pauses_grow_after_what_is_not_expected(before: int, worked: int, steps: list[int],
                                                ) -> None:
    assert after_failures(PairWatch(), 5, before, worked) == steps


def test_a_hint_shortens_them_and_what_works_is_tried_as_any_other() -> None:
    watch = PairWatch()
    assert after_failures(watch, 5, 50, 50) == [4, 8, 8, 4, 4]
    assert [*watch.suspected] == [PAIR]
    assert [*watch.due] == [PAIR] and not watch.step()
    resumed = again(watch)
    assert [*resumed.due] == [PAIR]
    resumed.record(PAIR, 4, (4, 51, 56), rests=True)
    assert not resumed.resting and not resumed.due
    assert after_failures(resumed, 2, 900, 895) == [4, 4]
    for _ in range(3):
        resumed.record(PAIR, 4, (4, 900, 905), rests=True)
    assert not resumed.suspected and after_failures(resumed, 2, 905, 900) == [4, 8]


def corridor(avoided: bool) -> Sampling:
    """Return the sampling of 0, 1, 2 in a row, in which both moves of 1 lack an execution."""
    counts = Counts()
    rows = TransitionRows(counts, 2)
    sampling = Sampling(counts, rows, 50)
    for state in range(3):
        sampling.enter(state)
        for action, after in enumerate((min(2, state + 1), max(0, state - 1))):
            for _ in range(5):
                counts.add(state, action, after)
                rows.add(state, action, after)
        sampling.reopen(state)
    if avoided:
        sampling.avoid([(1, 0)])
    return sampling


def test_what_rests_is_sampled_last_and_ways_lead_around_it() -> None:
    for avoided, expected in ((False, 0), (True, 1)):
        sampling = corridor(avoided)
        for action in range(2):
            sampling.want((1, action), 6)
        assert sampling.action(1) == expected
    sampling.want((0, 1), 6)
    sampling.observe(1, 1, 0)
    sampling = corridor(avoided=True)
    sampling.want((1, 0), 6)
    sampling.want((0, 1), 6)
    assert sampling.action(1) == 1    # to 0, where something else is to be done
    sampling = corridor(avoided=True)
    sampling.want((1, 0), 6)
    assert sampling.action(1) == 0    # nothing else is


def test_of_two_moves_that_serve_as_well_one_that_has_not_failed_is_taken() -> None:
    counts = Counts()
    rows = TransitionRows(counts, 2)
    sampling = Sampling(counts, rows, 50)
    sampling.enter(0)
    sampling.enter(1)
    for pair, ends in (((0, 0), (1, 0)), ((0, 1), (1, 1)), ((1, 0), (0, 0)), ((1, 1), (0, 0))):
        for after in ends:
            counts.add(*pair, after)
            rows.add(*pair, after)
    for state in range(2):
        sampling.reopen(state)
    sampling.want((1, 0), 3)
    assert sampling.action(0) == 1


@thorough('core/test_pauses.py::test_pauses_grow_after_what_is_not_expected')
@pytest.mark.parametrize('seed', range(3))
def test_a_closed_door_is_not_pushed_again_and_again(seed: int) -> None:
    """Before the change is noticed: no move six times within half a minute of 5 s steps."""
    scenario = still('two_rooms')
    simulator = Simulator(scenario, seed)
    exploration = Exploration(settings(Problem(
        len(scenario.actions), 4.0, 1.0, 0.1)), seed)

    def step() -> tuple[int | None, int]:
        here, action = exploration.last_state, exploration.next_action()
        exploration.observe(action, simulator.step(action))
        return here, action
    while exploration.hypothesis is None:
        step()
    for _ in range(1500):
        step()
    cmp, noticed = simulator.cmp, exploration.changes_noticed
    simulator.change()
    pushed: dict[tuple[int, int], list[int]] = {}
    start = exploration.steps
    while exploration.changes_noticed == noticed and exploration.steps < start + 3000:
        here, action = step()
        if here is not None and action >= 0 and cmp.transitions(here, action) != (
                simulator.cmp.transitions(here, action)):
            pushed.setdefault((here, action), []).append(exploration.steps)
    assert exploration.changes_noticed > noticed
    assert max(map(len, pushed.values())) >= 4
    spans = [later - first for times in pushed.values() for first, later in zip(times, times[5:])]
    assert all(span > 20 for span in spans), f'seed {seed}: {pushed}'
