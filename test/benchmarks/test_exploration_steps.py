# SPDX-License-Identifier: Apache-2.0

"""The exploration benchmarks repeat themselves bit for bit and count what they say."""

from __future__ import annotations

from collections.abc import Sequence
import csv
from dataclasses import replace
import math
from pathlib import Path

import exploration_steps
import false_alarms
from mnm_ros.core.model.policy import Hypothesis, Policy
from mnm_ros.core.statistics.delta_spending import EVEN_PARTS, share
from mnm_ros.simulation.scenario import load
import numpy as np
import pytest
import references
from references import Configuration
from tiers import strength, thorough

TAIL, LIMIT = strength((1500, 2000), (5000, 20_000))
SHORT = Configuration(tail=TAIL, limit=LIMIT)


def test_every_method_has_its_row(
        tmp_path: Path, capsys: pytest.CaptureFixture, early: None) -> None:
    """That processes change nothing is shown by test_promise_benchmark.py, of such batches."""
    output = tmp_path / 'rows.csv'
    assert exploration_steps.main([
        '--seeds', '1', '--scenarios', 'broken_wheel', '--tail', str(TAIL), '--limit', str(LIMIT),
        '--base', 'ucb_explore', '--jobs', '1', '--output', str(output)]) == 0
    rows = {row['method']: row for row in csv.DictReader(output.open(newline=''))}
    assert '<= 3 met' in capsys.readouterr().out
    assert set(rows) == set(exploration_steps.ALL_METHODS)
    for row in rows.values():
        assert row['scenario'] == 'broken_wheel' and row['version'].startswith('0.')
        assert sum(map(int, row['exploration'].split())) == int(row['total'])
    assert rows['scaled']['finished'] == '0' and rows['scaled']['preset'] == 'paper'
    assert rows['scaled']['steps'] == str(LIMIT)
    assert rows['mnm']['first'] == rows['building']['first']
    assert rows['oracle']['first'] == rows['once']['first'] == rows['base']['first']


def test_without_change_detection_the_old_hypothesis_is_kept() -> None:
    oracle = references.run_oracle('broken_wheel', 3, SHORT)
    once = references.run_once('broken_wheel', 3, SHORT)
    assert once.exploration == [oracle.exploration[0], TAIL]
    assert oracle.finished and not once.finished and once.wrong == 1
    # The hypothesis for the open door is right again once the door is open.
    assert references.run_once('two_rooms', 0, SHORT).exploration[2] == 0


def test_how_long_each_setting_is_in_force() -> None:
    assert references.lengths(load('two_rooms'), 5000) == [60_000, 100_000, 5000]


def hypothesis(round_: int, *targets: int) -> Hypothesis:
    policies = tuple(Policy(target, 1, targets, ((-1,) * len(targets),)) for target in targets)
    return Hypothesis(round_, 0, 1, policies)


def test_false_alarms_are_told_from_what_may_happen() -> None:
    alarms = false_alarms.Alarms()
    times = {0: 0.0, 1: 3.0, 2: 9.0}
    alarms.compare(hypothesis(1, 0, 1, 2), hypothesis(1, 0), times, times, 8.0)
    assert (alarms.deleted, alarms.rightly_deleted) == (1, 1)
    alarms.compare(hypothesis(1, 0), hypothesis(1, 0, 1, 2), times, times, 8.0)
    assert (alarms.added, alarms.rightly_added) == (1, 1)
    alarms.compare(hypothesis(1, 0), hypothesis(2, 0, 1), times, times, 8.0)
    assert alarms.false == 2
    # Both deletions were noticed, too; a third notice has no such reason.
    alarms.noticed = 2
    assert alarms.false == 2
    alarms.noticed = 3
    assert alarms.false == 3


def test_a_run_without_a_change() -> None:
    steps = strength(1800, 10_000)
    alarms = false_alarms.run('corridor', 0, steps, SHORT)
    # By default, batches show that a run repeats itself: test_promise_benchmark.py.
    assert not strength(False, True) or false_alarms.run('corridor', 0, steps, SHORT) == alarms
    assert alarms.false == 0 and 0 < alarms.first < steps and alarms.rediscoveries > 1
    assert alarms.cut_off == 0


DELTA_500 = 0.0076 / 6 * share(500, EVEN_PARTS)


def times_as_long(before: Sequence[float], past: int, after: Sequence[float]) -> float:
    """Return how many times as long as a CUSUM that knows both laws a detector takes."""
    found = [false_alarms.delays(before, past, after, DELTA_500, seed) for seed in range(16)]
    detector, cusum = np.mean(found, 0)
    assert detector > 0, found
    return float(detector / cusum)


@pytest.mark.parametrize(('before', 'after'), [
    pytest.param(*laws, marks=[thorough(
        'benchmarks/test_exploration_steps.py::test_a_change_takes_at_most_two_and_a_half_times_'
        'as_long_as_for_who_knows_both_laws')] if number not in (0, 5) else ())
    for number, laws in enumerate(false_alarms.CHANGES) if min(laws[0]) > 0])
def test_a_change_takes_at_most_two_and_a_half_times_as_long_as_for_who_knows_both_laws(
        before: tuple[float, ...], after: tuple[float, ...]) -> None:
    """Four times with more than two ends; `benchmarks/false_alarms --delays` has other pasts."""
    assert times_as_long(before, 3000, after) <= (2.5 if len(before) == 2 else 4.0)


@pytest.mark.parametrize(('ends', 'most'), [(2, 3.0), (3, 4.0), pytest.param(
    4, 4.0, marks=thorough(
        'benchmarks/test_exploration_steps.py::test_so_it_is_for_laws_at_random_that_the_executions_'
        'before_tell_apart'))])
def test_so_it_is_for_laws_at_random_that_the_executions_before_tell_apart(ends: int,
                                                                           most: float) -> None:
    rng, tried = np.random.default_rng(ends), 0
    while tried < strength(3, 6):
        before, after = rng.dirichlet([1] * ends, 2)
        past = math.ceil(max(200 / np.sum(before * np.log(before / after)), 10 / before.min()))
        if past <= 6000:
            tried += 1
            laws = before.tolist(), past, after.tolist()
            assert times_as_long(*laws) <= most, laws


def test_what_a_pair_had_never_done_is_noticed_after_a_few_times() -> None:
    """A CUSUM that knows that it was impossible needs one."""
    delays = [false_alarms.delays((1.0, 0.0), 1000, (0.8, 0.2), DELTA_500, seed)[0]
              for seed in range(16)]
    assert 0 < np.mean(delays) <= 55, delays


def test_delays_are_printed(capsys: pytest.CaptureFixture,
                            monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(false_alarms, 'CHANGES', (((0.9, 0.1), (0.0, 1.0)),))
    monkeypatch.setattr(false_alarms, 'PASTS', (0, 1000))
    assert false_alarms.main(['--delays', '2']) == 0
    delta, _, row = capsys.readouterr().out.splitlines()
    assert delta == 'delta = 1.8e-07, 2 trials'
    # 18 nats tell the old law from the new one, log 10 each time the new from the old, and 15.5
    # are enough; without a past nothing has changed.
    assert row.split()[:10] == ['0.9', '/', '0.1', '0', '/', '1', '18.33', '7.0', '3000', '428.6x']
    assert row.split()[10] == '0/2' and 7 < int(row.split()[11]) < 20 and len(row.split()) == 13


def test_a_rediscovery_that_is_given_up_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With too few steps allowed, every rediscovery is cut off until the round is over."""
    allowed = {'check_steps': 40}
    real = false_alarms.Configuration.settings
    monkeypatch.setattr(false_alarms.Configuration, 'settings', lambda self, actions: replace(
        real(self, actions), **allowed))
    alarms = false_alarms.run('corridor', 0, strength(1500, 20_000), SHORT)
    assert alarms.cut_off > 1 and 1 <= alarms.restarts <= alarms.cut_off <= alarms.rediscoveries
    assert alarms.false == alarms.restarts
