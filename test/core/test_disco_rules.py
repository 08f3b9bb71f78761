# SPDX-License-Identifier: Apache-2.0

"""What Disco does when it is told something, without a run to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math

from mnm_ros.core import EmpiricalModel, Policy, Problem, RESET, settings
from mnm_ros.core.components import BASES
from mnm_ros.core.disco.disco import Disco, DiscoPhase
from mnm_ros.core.statistics.certificate import PolicyModel
import numpy as np
import pytest

PROBLEM = Problem(actions=2, radius=4.0, epsilon=1.0, delta=0.1)
HORIZON = 20


def to(target: int, *states: int) -> Policy:
    """Return a policy that plays action 0 in home and all other states given."""
    return Policy(target, HORIZON, (0, *states), ((RESET if not target else 0,) * (
        len(states) + 1),))


def disco(*policies: Policy) -> Disco:
    run = BASES['disco'](settings(PROBLEM), 0, np.random.default_rng(0), policies)
    assert isinstance(run, Disco)
    return run


def line(run: Disco, steps: int, end: int) -> None:
    """Walk in a corridor in which action 0 leads on up to an end, and action 1 leads back."""
    here: int | None = None
    for _ in range(steps):
        if run.finished:
            return
        action = run.next_action()
        here = 0 if action == RESET or here is None else (
            min(end, here + 1) if action == 0 else max(0, here - 1))
        run.observe(action, here)


def test_other_policies_are_taken_over_and_what_was_deleted_is_forgotten() -> None:
    run = disco(to(0), to(1), to(2, 1))
    assert set(run.sampling.sampled) == {0, 1, 2} and run.candidates == ()
    for state in (0, 1, 2):
        for _ in range(6):
            run.add_transition(state, 0, state + 1)
    assert run.candidates == (3,)
    assert run.revise((to(0), to(1), to(5, 1)))
    assert [policy.target for policy in run.policies] == [0, 1, 5]
    assert set(run.sampling.sampled) == {0, 1, 5}
    # It may be found again, but not by what was seen of it before.
    assert set(run.candidates) == {2, 3}
    counts = run.certifier.evidence[0].sets.counts
    assert counts.visits(2, 0) == 0 and counts.visits(0, 0) == counts.visits(1, 0) == 6
    assert run.certifier.evidence[0].sets.ball(2, 0)[0] == [0.0]


def test_what_was_forgotten_is_sampled_again() -> None:
    run = disco(to(0), to(1))
    for state, action in ((0, 0), (0, 1), (1, 0), (1, 1)):
        for _ in range(9):
            run.add_transition(state, action, 0)
    assert not run.sampling.open
    run.forget(1, 0)
    assert list(run.sampling.open) == [1] and run.sampling.lacking(1) == 0
    assert run.certifier.examiner.model((0, 1)).tally[1 * PROBLEM.actions].sum() == 0


def test_what_is_wanted_is_executed_before_all_else_and_only_where_it_is_sampled() -> None:
    run = disco(to(0), to(1))
    line(run, 5, 1)
    run.request_sample(77, 0)    # nobody samples there
    before = run.certifier.evidence[0].sets.counts.visits(1, 1)
    run.request_sample(1, 1)
    assert run.sampling.heading(1) == (1, 1)
    for _ in range(9):
        if run.certifier.evidence[0].sets.counts.visits(1, 1) > before:
            break
        run.observe(run.next_action(), 0 if run.next_action() == RESET else 1)
    assert run.certifier.evidence[0].sets.counts.visits(1, 1) == before + 1


def test_a_step_that_was_broken_off_is_counted_as_lost_but_no_reset() -> None:
    run = disco(to(0), to(1))
    sets = run.certifier.evidence[0].sets
    run.next_action()
    run.interrupt()    # a RESET
    run.observe(RESET, 0)
    action = run.next_action()
    assert action != RESET and sets.counts.lost(0, action) == 0
    run.interrupt()
    assert sets.counts.lost(0, action) == 1 and run.next_action() == RESET
    run.observe(RESET, 0)
    run.interrupt()    # nobody has asked for a step
    assert sets.counts.lost(0, 0) + sets.counts.lost(0, 1) == 1
    run.restart_confidence(0.01)
    run.add_censored(0, action)    # somebody else's counts for all that certifies
    assert [evidence.sets.counts.lost(0, action) for evidence in run.certifier.evidence] == [2, 1]


@pytest.mark.parametrize('known', [True, False])
def test_with_policies_from_the_start_a_new_state_is_sampled_before_all_that_lacks_samples(
        known: bool) -> None:
    """Somebody waits for it; without policies, all is sampled together."""
    run = disco(*(to(0), to(1), to(2, 1)) if known else ())
    line(run, 1, 4)
    here = 0
    while len(run.sampling.sampled) < 4:
        assert not run.sampling.preferred
        action = run.next_action()
        here = 0 if action == RESET else min(4, here + 1) if action == 0 else max(0, here - 1)
        run.observe(action, here)
    assert 3 in run.sampling.sampled and bool(run.sampling.preferred) is known
    if known:
        assert run.sampling.heading(here)[0] == 3


def test_few_steps_do_not_show_that_a_policy_takes_too_long() -> None:
    run = disco(to(0), to(1))
    for steps in (3, 400):
        for _ in range(steps):
            run.add_transition(0, 0, 0)    # it stays where it is
        assert (run.lower_bound(to(1)) > PROBLEM.limit) is (steps == 400)


def set_bound(bound: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the worst plausible CMP bound the steps of every policy by ``bound``."""
    monkeypatch.setattr(PolicyModel, 'bound', bound)


AT_LIMIT = pytest.mark.parametrize(('bound', 'within'), [
    (PROBLEM.limit, True), (math.nextafter(PROBLEM.limit, math.inf), False)])


@pytest.mark.quick
@AT_LIMIT
def test_the_model_certifies_no_policy_whose_bound_is_over_the_limit(
        bound: float, within: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    set_bound(bound, monkeypatch)
    run = disco()
    line(run, 340, 9)    # too few for a test of attempts to accept a policy
    assert (len(run.policies) > 1) is within


@pytest.mark.quick
@AT_LIMIT
def test_no_policy_whose_bound_is_over_the_limit_replaces_another_one(
        bound: float, within: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    run = disco()
    line(run, 20_000, 9)
    set_bound(bound, monkeypatch)
    back = Policy(2, HORIZON, (0, 1), ((0, 1),))    # from 1 to home, again and again
    assert (run.better(back) is not None) is within


def test_a_corridor_is_known_to_its_end_and_nothing_beyond_the_radius() -> None:
    run = disco()
    assert run.state is DiscoPhase.SAMPLING and not run.evaluating
    line(run, 20_000, 9)
    known = [policy.target for policy in run.policies]
    assert run.finished and known[:5] == [0, 1, 2, 3, 4] and set(known) <= {0, 1, 2, 3, 4, 5}
    assert set(run.estimates) == set(known) - {0}
    assert all(run.estimates[state] == state for state in known[1:])


def test_what_is_ruled_out_is_planned_for_again_only_for_a_reason(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """More samples are none, as ruling out holds at all times."""
    run = disco()
    require, ruled_out = run.ruling_out.plan.samples, []

    def samples(model: EmpiricalModel, others: Sequence[int],
                distances: Mapping[int, float]) -> dict[tuple[int, int], int]:
        wanted = require(model, others, distances)
        if not wanted:
            ruled_out.append(run.ruling_out._all_but(model.states))
        return wanted

    monkeypatch.setattr(run.ruling_out.plan, 'samples', samples)
    line(run, 20_000, 3)
    inside = tuple(run.sampling.sampled)
    assert run.finished and inside == (0, 1, 2, 3)
    assert len(ruled_out) <= len(set(ruled_out)) + 1    # once more in the end
    assert run.ruling_out.has_ruled_out_all_but(inside)
    run.add_transition(0, 0, 77)    # somebody has met another state
    assert not run.ruling_out.has_ruled_out_all_but(inside)
    run.forget(0, 0)
    assert run.ruling_out._ruled_out is None


def test_a_state_that_nothing_known_leads_to_yet_keeps_no_other_from_a_certificate() -> None:
    """Nor does one that lacks samples, which is then pursued."""
    run = disco()
    run.observe(RESET, 0)
    run.add_transition(0, 0, 1)
    for state in (1, 2, 3):
        run.sampling.enter(state)
    run.add_transition(1, 0, 2)
    for _ in range(100):
        run.add_transition(0, 1, 3)
    run.trigger('sampled')
    run.ruling_out.distance.update({1: 1.0, 2: 2.0, 3: 1.0})
    assert run.certifier.certify({1: 1.0, 2: 2.0, 3: 1.0}, False)
    assert [policy.target for policy in run.policies] == [0, 3] and run.estimates[3] == 1.0
    attempts = run.certifier.attempts
    # An attempt goes on to what is behind it.
    assert ([each.target for each in (*attempts.passed, attempts.policy)] == [1, 2] if attempts
            else run.certifier.sampled.target == 1)
