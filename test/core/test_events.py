# SPDX-License-Identifier: Apache-2.0

"""What is told of a change: where a pair led before and since, from when on, and the new ways."""

from __future__ import annotations

from collections.abc import Iterator
import random

from binomial import binomial_tail
from mnm_ros.core import (
    Event,
    Exploration,
    MovesChange,
    PairChange,
    Policy,
    Problem,
    settings,
    WaysChange,
)
from mnm_ros.core.model.history import History
from mnm_ros.core.progress.events import begun, begun_together, difference, ways
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
from mnm_ros.view.sentences import sentence
import pytest
from tiers import strength, thorough

CHANGE = PairChange(5, 1, {6: 40, 5: 1}, {5: 9}, 230, 1.5e9)


@pytest.mark.parametrize('event', [
    Event(0, ''), Event(240, 'blocked', 'change', CHANGE, time=1.6e9),
    Event(7, 'relearnt', 'change', ways=WaysChange((1, 2), (-4,), (2**62,))),
    Event(9, 'worse', 'change', moves=MovesChange(((5, 1, 6),), None, (9, 10), (5, 10), 3, 7))])
def test_there_and_back(event: Event) -> None:
    assert Event.from_json(event.to_json()) == event


@pytest.mark.parametrize(('message', 'error'), [
    ('[]', 'event is \\[\\], expected a JSON object'),
    ('{"text": 7}', 'event: text is 7, expected a text'),
    ('{"time": NaN}', 'event: found NaN, expected finite numbers'),
    ('{"change": {"before": {"5": 1.5}}}', 'event: change: before: 5 is 1.5, expected an integer'),
    ('{"ways": {"lost": 3}}', 'event: ways: lost is 3, expected a list')])
def test_what_does_not_fit_is_refused(message: str, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        Event.from_json(message)


def test_when_a_change_began() -> None:
    last = History()
    for step in range(20_000):
        last.add(None if step % 7 else 5, step % 2, 6, step=step + 1)
    # State 5 is left by action 1 in every 14th step, and in the last one.
    assert begun(PairChange(5, 1, {}, {5: 1}), last.latest()) == 20_000
    assert begun(PairChange(5, 1, {}, {5: 2, 6: 1}), last.latest()) == 20_000 - 28
    assert begun(PairChange(5, 1, {}, {5: 10_000}), last.latest()) is None    # too long ago


def test_when_a_change_of_many_moves_began_is_told_with_its_uncertainty() -> None:
    covered, widths = 0, []
    seeds = range(strength(25, 100))
    for seed in seeds:
        last, generator = History(), random.Random(seed)
        for step in range(1, 3_001):
            state = generator.randrange(4)
            arrives = generator.random() < (0.95 if step < 2_500 else 0.6)
            last.add(state, 0, state + 1 if arrives else state, step=step)
        change = begun_together(MovesChange(
            ((0, 0, 1), (1, 0, 2)), None, (95, 100), (60, 100)), last.latest())
        assert change.step is not None and change.latest is not None
        covered += change.step <= 2_500 <= change.latest
        widths.append(change.latest - change.step)
    assert covered >= 0.9 * len(seeds) and max(widths) < 400, (covered, max(widths))
    short = History()
    short.add(0, 0, 0, step=1)
    assert begun_together(change, short.latest()).step == change.step    # nothing older is known


def test_other_ways_are_told_where_both_are_known() -> None:
    counts = {(0, 0): {1: 9, 0: 11}, (0, 1): {2: 5}, (1, 0): {3: 4}, (2, 0): {3: 2}}

    def following(state: int, action: int) -> dict[int, int]:
        return counts.get((state, action), {})

    def policy(target: int, *actions: int) -> Policy:
        return Policy(target, 9, (0, 1, 2), (actions,))

    before = ways((policy(0, 0, 0, 0), policy(1, 0, 0, 0), policy(3, 0, 0, 0)), following)
    assert before == {0: (), 1: ((0, 0),), 3: ((0, 0), (1, 0))}
    now = ways((policy(0, 0, 0, 0), policy(2, 1, 0, 0), policy(3, 1, 0, 0)), following)
    assert difference(before, now) == WaysChange((3,), (1,), (2,), (0, 2, 3), (2,))
    assert difference(before, before) == WaysChange()
    assert ways((policy(0, 0, 0, 0), policy(3, 0, 1, 0)), following)[3] == ()    # never tried


def changed(name: str, seed: int, radius: float = 3.0) -> Iterator[tuple[Exploration, int]]:
    """Yield an exploration after each step, and when the world changed: with the hypothesis."""
    scenario = load(name)
    exploration = Exploration(settings(Problem(
        len(scenario.actions), radius, 1.0, strength(0.5, 0.1))), seed)
    simulator, step = Simulator(scenario, seed), 0
    for _ in range(10_000):
        action = exploration.next_action()
        exploration.observe(action, simulator.step(action))
        if exploration.hypothesis and not step:
            step = exploration.steps
            simulator.change()
        yield exploration, step


@thorough('core/test_change.py::test_a_change_of_one_action_is_told_as_one')
def test_a_broken_wheel_is_told_with_its_counts_and_since_when() -> None:
    """
    The change is placed where it was.

    It is placed too early if the wheel has slipped just before, as it does in a tenth of the
    executions.
    """
    seeds, early = range(8), []
    for seed in seeds:
        told, step = next(
            (event, step) for exploration, step in changed('broken_wheel', seed, 3.0)
            for event in list(exploration.events)[-1:] if event.change and event.kind == 'change')
        change = told.change
        before, after = (max(seen, key=seen.get) for seen in (change.before, change.after))
        assert before != after == change.state, (seed, change)
        assert change.action == 1, (seed, change)    # of the wheel, in whichever state
        assert change.step and change.step + sum(change.after.values()) <= told.step + 1, seed
        early += [seed] * (change.step <= step)
    assert binomial_tail(len(seeds), 0.1, len(early)) > 1e-3, early


@thorough(
    'core/test_events.py::test_other_ways_are_told_where_both_are_known '
    'core/test_improve.py::'
    'test_a_shorter_way_that_has_opened_takes_the_place_of_one_within_the_limit')
def test_what_has_come_of_a_shortcut() -> None:
    """It is told once the change is relearnt, and is no news for ``status``."""
    exploration = next(
        exploration for exploration, _ in changed('shortcut', 0) if exploration.changes_relearnt)
    last = exploration.events[-1]
    assert (last.step, last.kind, sentence(last.said)) == (
        exploration.steps, 'change', 'the change is relearnt')
    assert {*last.ways.found} == {4, 5, 6} and not last.ways.lost
    assert exploration.status != last.said
