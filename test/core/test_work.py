# SPDX-License-Identifier: Apache-2.0

"""
What others have had executed counts: in every phase, and it proves nothing that is not so.

The driver of these tests is the worst that is allowed: what it orders, and when it stops, depends
on all that has come of it so far.
"""

from __future__ import annotations

from collections.abc import Callable
import json
from pathlib import Path

from binomial import binomial_tail
from mnm_ros.checkpoint.input_log import InputLog, SavedInputs
from mnm_ros.core import (
    Declaration,
    Exploration,
    InvalidValueError,
    Phase,
    Problem,
    RESET,
    settings,
    Trust,
    WorkObservation,
)
from mnm_ros.core.inputs import Input
from mnm_ros.core.mnm.options import Value
from mnm_ros.simulation.cmp import TableCmp
from mnm_ros.simulation.ground_truth import expected_steps, judge
from mnm_ros.simulation.scenario import load, Scenario, Setting
from mnm_ros.simulation.simulator import Simulator
import numpy as np
import pytest
from small_worlds import closing_row
from tiers import strength, thorough

TWO_ROOMS = load('two_rooms')
WORLD = strength(load('corridor'), TWO_ROOMS)
CLOSING = strength(closing_row(), TWO_ROOMS)
KNOWN_BY = strength(260, 4000)    # steps, after which there is a hypothesis of it
UCB: dict[str, Value] = {'base': 'ucb_explore'}
Choose = Callable[[int], int]


class Flat:
    """
    An exploration, and somebody who works with the robot meanwhile.

    :param options: of the exploration.
    :ivar inputs: all that it has taken.
    """

    def __init__(self, scenario: Scenario = TWO_ROOMS, seed: int = 0,
                 options: dict[str, Value] | None = None) -> None:
        self.settings = settings(
            Problem(len(scenario.actions), 4.0, 1.0, 0.1), overrides=options or {})
        self.exploration = Exploration(self.settings, seed)
        self.simulator = Simulator(scenario, seed)
        self.rng = np.random.default_rng(seed)
        self.inputs: list[Input] = []
        self.exploration.listeners.append(
            lambda update: self.inputs.append(update.input))

    def explore(self, steps: int) -> None:
        for _ in range(steps):
            action = self.exploration.next_action()
            self.exploration.observe(action, self.simulator.step(action))

    def work(self, steps: int, choose: Choose | None = None) -> None:
        """
        Go home, then play what is chosen, by default anything, and let exploration go on.

        It prefers where that has ended.
        """
        self.exploration.pause('a goal')
        here = self.simulator.step(RESET)
        for _ in range(steps):
            action = (choose(here) if choose else
                      int(self.rng.integers(self.settings.problem.actions)))
            after = self.simulator.step(action)
            if action != RESET:
                self.exploration.observe_work(here, action, after)
            here = after
        self.exploration.prefer(here)
        self.exploration.resume()

    def until(self, reached: Callable[[], bool], work: int, most: int = 100_000) -> None:
        while not reached():
            self.explore(50)
            self.work(work)
            assert self.exploration.steps < most, self.exploration.status

    @property
    def checking(self) -> bool:
        return self.exploration.hypothesis is not None


@pytest.mark.parametrize('options', [{}, UCB])
def test_it_counts_in_every_phase(options: dict[str, Value]) -> None:
    flat = Flat(WORLD, options=options)
    flat.work(3)    # before home is known
    flat.until(lambda: flat.checking, strength(40, 30))
    assert judge(flat.simulator.cmp, flat.exploration.hypothesis, 4.0, 1.0).ok
    met = set[Phase]()
    while len(met) < 2:
        flat.explore(7)
        met.add(flat.exploration.phase)
        flat.work(10)
    assert met == {Phase.CHECKING_REDISCOVERY, Phase.CHECKING_EVALUATION}
    worked = [made for made in flat.inputs if isinstance(made, WorkObservation)]
    assert flat.exploration.work == flat.exploration.activity().work == len(worked) > 100
    recorded = sum(sum(nexts.values()) for (_, action), nexts in flat.exploration.counts.items()
                   if action != RESET)
    assert recorded > len(worked)


@pytest.mark.parametrize(('options', 'after'), [
    ({}, 1), ({}, KNOWN_BY), (UCB, strength(400, 700)), *(
        pytest.param(*each, marks=thorough(
            'core/test_work.py::test_a_replay_and_a_resume_point_lead_to_the_same_place'))
        for each in (({}, 700), (UCB, 1), (UCB, 6000)))])
def test_a_replay_and_a_resume_point_lead_to_the_same_place(
        tmp_path: Path, options: dict[str, Value], after: int) -> None:
    """A resume point is made just after work, with 1 where nothing else has been learnt."""
    flat = Flat(WORLD, options=options)
    flat.explore(after)
    flat.work(40)
    exploration = flat.exploration
    assert exploration.can_snapshot
    log = InputLog.create(tmp_path / 'a.sqlite', {'version': 'x'}, None)
    log.append(flat.inputs)
    log.close()
    saved = SavedInputs(tmp_path / 'a.sqlite')
    assert saved.inputs == flat.inputs
    again = Exploration(flat.settings, 0)
    saved.replay(again)
    point = json.loads(json.dumps(exploration.to_state()))
    assert again.to_state() == point
    others = (again, Exploration(flat.settings, 0, point))
    assert {other.work for other in others} == {40}
    for step in range(strength(100, 1500)):
        action = exploration.next_action()
        assert [other.next_action() for other in others] == [action] * 2, step
        state = flat.simulator.step(action)
        for each in (exploration, *others):
            each.observe(action, state)


@pytest.mark.parametrize('options', [UCB, pytest.param({}, marks=thorough(
    shown_by='core/test_work.py::test_a_change_met_at_work_is_noticed '
             'core/test_progress_estimator.py::test_the_story_of_a_change'))])
def test_a_change_met_at_work_is_noticed(options: dict[str, Value]) -> None:
    """The door closes, and exploration, which stands still, hears of it from others alone."""
    flat = Flat(CLOSING, options=options)
    flat.until(lambda: flat.checking, 0)
    flat.explore(strength(200, 500))
    exploration, before = flat.exploration, flat.simulator.cmp
    flat.simulator.change()
    door = next((state, action) for state in exploration.hypothesis.targets
                for action in range(len(CLOSING.actions))
                if before.transitions(state, action) != flat.simulator.cmp.transitions(
                    state, action))
    for _ in range(200):
        flat.simulator.state = door[0]
        exploration.observe_work(*door, flat.simulator.step(door[1]))
        if exploration.changes_noticed:
            break
    assert exploration.changes_noticed == 1
    change = next(event.change for event in exploration.events if event.change)
    assert (change.state, change.action) == door and change.step == exploration.steps
    trusts = {told.policy.target: told.trust for told in exploration.trust()}
    assert Trust.DOUBTED in trusts.values()
    exploration.lose_place()
    while exploration.changes_relearnt < 1:
        flat.explore(1)
        assert exploration.steps < 100_000
    assert judge(flat.simulator.cmp, exploration.hypothesis, 4.0, 1.0).ok


@pytest.mark.parametrize('after', [100, KNOWN_BY])
def test_what_comes_while_an_action_is_open_leaves_it_open(after: int) -> None:
    """The last message of a goal may come when exploration has gone on already."""
    flat = Flat(WORLD)
    flat.explore(after)
    exploration = flat.exploration
    while exploration.next_action() == RESET:
        flat.explore(1)
    asked, here = exploration.next_action(), exploration.last_state
    exploration.observe_work(WORLD.start, 0, WORLD.start)
    assert flat.inputs[-1] == WorkObservation(WORLD.start, 0, WORLD.start, asked)
    assert (exploration.next_action(), exploration.last_state) == (asked, here)
    flat.explore(strength(100, 1000))


def test_a_step_that_was_broken_off_makes_certificates_dearer_and_is_no_transition() -> None:
    """Else the steps that end well would be chosen by that: the others take longer."""
    flat = Flat(temptation())
    flat.explore(100)
    exploration, bounds = flat.exploration, []
    assert all(told.trust is Trust.ASSUMED for told in exploration.trust()[1:])
    for _ in range(150):
        flat.work(1, lambda here: 3)
    for _ in range(3):
        told = next(told for told in exploration.trust() if told.policy.target == 4)
        assert told.trust is Trust.CERTIFIED and told.at_most_steps
        bounds.append(told.at_most_steps)
        counts, work = exploration.counts, exploration.work
        for _ in range(2):
            exploration.observe_work(0, 3, None)
        assert exploration.counts == counts and exploration.work == work + 2
    assert bounds == sorted({*bounds})


def test_what_is_declared_is_corrected_by_work_too() -> None:
    exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)))
    exploration.observe(RESET, 0)
    exploration.declare(Declaration({0: ((1,), ())}))
    exploration.observe_work(0, 0, 2)
    assert 2 in (exploration.mnm.support.ends(0, 0) or ())
    exploration.observe_work(0, 1, 3)    # which is never to be commanded: only recorded
    assert exploration.counts[0, 1] == {3: 1} and exploration.mnm.support.ends(0, 1) == ()


@pytest.mark.parametrize('action', [RESET, 2])
def test_no_action_is_refused(action: int) -> None:
    exploration = Exploration(settings(Problem(2, 4.0, 1.0, 0.1)))
    with pytest.raises(InvalidValueError, match=f'action at work is {action}, expected'):
        exploration.observe_work(7, action, 8)
    assert exploration.work == 0


def temptation() -> Scenario:
    """
    Return a star: three places a little over the limit, which is 8 steps, and one well within.

    The first three actions work with the chance 0.115, which takes 8.7 steps, the last with 0.5.
    """
    table = {(0, action): ((action + 1, chance), (0, 1 - chance))
             for action, chance in enumerate((0.115, 0.115, 0.115, 0.5))}
    return Scenario('', tuple('abcd'), 0, (Setting(TableCmp(0, 4, table), None),), Path())


class LuckSeeker:
    """
    A driver that wants to see the places over the limit certified, by all that is allowed.

    It executes whatever has looked best so far, and ends each run of work when it was lucky. An
    attempt of the explorer that does not seem to arrive is broken off by a goal; one that arrives
    soon is not.

    :param honest: whether it tells of its failures, too.
    """

    def __init__(self, seed: int, honest: bool = True) -> None:
        self.flat = Flat(temptation(), seed)
        self._honest = honest
        self._made, self._worked = [0, 0, 0], [0, 0, 0]

    def fooled(self) -> bool:
        """Return whether anything over the limit is certified or proven at any time."""
        self.flat.explore(1)
        for _ in range(strength(15, 60)):
            self._work()
            if self._wrong() or self._explore():
                return True
        return False

    def _work(self) -> None:
        exploration, simulator = self.flat.exploration, self.flat.simulator
        exploration.pause('a goal')
        for step in range(25):
            action = max(range(3), key=lambda each: (self._worked[each] + 1) / (
                self._made[each] + 2))
            simulator.state = 0
            after = simulator.step(action)
            self._made[action] += 1
            self._worked[action] += after != 0
            if self._honest or after:
                exploration.observe_work(0, action, after)
            if after and step >= 3:
                break
        exploration.prefer(action + 1)
        exploration.resume()

    def _explore(self) -> bool:
        """Let the explorer go on until an attempt of it goes on for too long."""
        exploration, since = self.flat.exploration, 0
        for _ in range(40):
            self.flat.explore(1)
            since = 0 if exploration.last_state != 0 else since + 1
            if since > 4 and exploration.activity().doing == 'testing':
                break
        return self._wrong()

    def _wrong(self) -> bool:
        cmp = self.flat.simulator.cmp
        return any(told.trust.rank <= Trust.CERTIFIED.rank
                   and expected_steps(cmp, told.policy) > 8.0
                   for told in self.flat.exploration.trust())


def test_certificates_fed_by_a_driver_that_stops_after_luck_are_hardly_ever_wrong() -> None:
    """
    A run is wrong with a chance of 0.07 at most, the delta of the first stream.

    The test fails if all of 3 runs are wrong. With ``--all``, it fails in 9 of 10 cases if that
    chance is 0.51 or more.
    """
    seeds = range(5000, 5000 + strength(3, 16))
    wrong = [seed for seed in seeds if LuckSeeker(seed).fooled()]
    assert binomial_tail(len(seeds), 0.07, len(wrong)) > 1e-3, f'wrong with seeds {wrong}'


def test_a_driver_that_does_not_tell_of_failures_is_believed() -> None:
    """Which is why all or nothing has to be told, and why the test above can fail."""
    assert all(LuckSeeker(seed, honest=False).fooled() for seed in strength((2, 3), (0, 1, 2)))
