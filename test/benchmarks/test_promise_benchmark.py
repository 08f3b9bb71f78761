# SPDX-License-Identifier: Apache-2.0

"""The promise benchmark repeats itself bit for bit and tells the broken from the kept."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

from batch import Engine, run_batch
from mnm_ros.core.disco.provisional import ProvisionalPolicies
from mnm_ros.core.mnm.building_phase import BuildingPhase
from mnm_ros.core.mnm.capabilities import ProvisionalPolicy
from mnm_ros.core.mnm.phase import MnmPhase
from mnm_ros.core.presets import PRESETS
from mnm_ros.simulation.ground_truth import Verdict
import promise
import pytest
from tiers import strength, thorough
import trials
from trials import Configuration, Outcome

QUICK = Configuration(radius=2.0, change_after=500, budget=100_000)
RIGHT = Verdict((), ())
TASKS = [('corridor', 0, QUICK), ('confusing_chain', 1, QUICK), ('changing_chain', 2, QUICK)]


def measured(path: Path, jobs: int) -> str:
    run_batch(promise.trial, TASKS, promise.names_of, Engine(jobs), path)
    return path.read_text(encoding='utf-8')


@pytest.fixture(scope='module')
def one(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the rows that one process makes."""
    return measured(tmp_path_factory.mktemp('one') / 'one.csv', 1)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


def test_the_same_whatever_the_number_of_processes(one: str, tmp_path: Path) -> None:
    # Two processes make the rows of one: so it is after a kill, too, in test_batch.py.
    assert not strength(False, True) or measured(tmp_path / 'other.csv', 2) == one
    rows = rows_of(one)
    assert [(row['family'], int(row['seed']), QUICK) for row in rows] == TASKS
    assert [row['end'] for row in rows] == ['found', 'found', 'relearnt']
    for row in rows:
        assert (row['preset'], row['base']) == ('onboard', PRESETS['onboard']['base'])
        assert float(row['radius']) == 2 and float(row['epsilon']) == 1
        assert float(row['delta']) == 0.1 and row['version'].startswith('0.')
        assert 0 < int(row['steps_first']) <= int(row['steps'])


def test_seeds_and_families_explore_on_their_own() -> None:
    steps = [trials.run(family, seed, replace(QUICK, alone=True)).steps
             for family in ('corridor', 'broken_wheel') for seed in range(3)]
    # Two of them may be equal by chance, not all.
    assert len(set(steps)) >= 4 and len(set(steps[:3])) > 1 and len(set(steps[3:])) > 1


def test_what_is_declared_saves_steps_and_what_is_false_is_widened() -> None:
    plain, true, false = (trials.run('corridor', 0, replace(QUICK, declare=kind))
                          for kind in ('', 'true', 'false'))
    assert true.end == 'found' and true.first == plain.first == RIGHT
    assert true.steps_first < plain.steps_first
    assert any('the declared succ' in line for line in false.log)
    assert not any('the declared succ' in line for line in true.log)


@thorough(shown_by='core/test_watch_changes.py::test_a_policy_that_has_become_a_little_too_slow_is_'
                   'noticed core/test_transition_detector.py::test_a_slippery_pair_is_noticed_'
                   'when_the_counts_tell')
def test_a_pair_that_has_gone_from_0_45_to_0_2_is_noticed() -> None:
    """It was not within 300,000 steps, with a policy of 10.27 steps and a limit of 9."""
    outcome = trials.run('changing_chain', 70014, Configuration(base='ucb_explore', budget=10_000))
    noticed, = (line for line in outcome.log if 'action 1 in state 10 leads elsewhere' in line)
    assert 4402 < int(noticed.split()[0].replace(',', '')) < 10_000
    assert not outcome.alarms and outcome.end == 'relearnt'


def test_the_base_alone_in_the_first_setting() -> None:
    outcome = trials.run('changing_chain', 0, replace(QUICK, alone=True))
    assert outcome.end == 'found' and len(outcome.reachable) == 1
    assert outcome.first is not None and outcome.last is None


@pytest.mark.parametrize('family', ['interrupted_tree', *(pytest.param(family, marks=thorough(
    'benchmarks/test_promise_benchmark.py::test_a_robot_that_is_interrupted '
    'simulation/test_incidents.py::test_a_helper_comes_after_some_steps_without_movement_and_not_'
    'before')) for family in ('helped_star', 'lost_graph'))])
def test_a_robot_that_is_interrupted(family: str) -> None:
    configuration = replace(QUICK, radius=strength(2.0, 4.0))
    outcome = trials.run(family, 1, configuration)
    assert outcome.end == 'found' and outcome.interruptions > 0
    alone = trials.run(family, 1, replace(configuration, alone=True))
    assert alone.end == 'found' and alone.interruptions > 0


def test_others_work_and_look_meanwhile() -> None:
    outcome = trials.run('worked_star', 1, replace(QUICK, radius=2.0, looks=50))
    assert outcome.end == 'found' and not outcome.broken


def test_no_other_robot_is_interrupted(one: str) -> None:
    assert [row['interruptions'] for row in rows_of(one)] == ['0'] * len(TASKS)


# With seed 1, a policy of the last family takes 7% more than the limit once another one has been
# deleted, which takes longer to tell than there is time.
@pytest.mark.parametrize(('family', 'seed', 'end'), [
    ('fleet_tree', 1, 'found'), ('fleet_star', 1, 'found'),
    ('fleet_changing', 3, 'relearnt')])
@thorough(shown_by=(
    'core/test_fleet.py::test_the_first_hypothesis_is_right_and_every_step_is_counted_once '
    'benchmarks/test_promise_benchmark.py::test_the_base_alone_where_a_fleet_explores'))
def test_a_world_that_a_fleet_explores(family: str, seed: int, end: str) -> None:
    outcome = trials.run(family, seed, QUICK)
    assert outcome.end == end and not outcome.broken and outcome.interruptions > 0
    assert outcome.setting == (end == 'relearnt') and outcome.log


def test_the_base_alone_where_a_fleet_explores() -> None:
    assert trials.run('fleet_tree', 1, replace(QUICK, alone=True)).end == 'found'


def told(outcome: Outcome, what: str) -> list[int]:
    """Return at which lines of the log there is something."""
    return [number for number, line in enumerate(outcome.log) if what in line]


def test_a_second_change_is_made_while_the_first_one_is_open() -> None:
    outcome = trials.run('twice_grid', 0, QUICK)
    assert outcome.end == 'relearnt' and outcome.setting == 2 and outcome.last is not None
    first, second = told(outcome, 'takes over')
    # What was noticed stands right before the second change.
    assert second > first + 1 and len(outcome.reachable) == 3


def test_a_change_in_the_building_phase_comes_before_the_first_hypothesis() -> None:
    graph, closes, radius = strength((7, 2, 2.0), (2, 4, 0.0))
    outcome = trials.run('early_graph', graph, replace(QUICK, radius=radius))
    assert told(outcome, 'takes over')[0] < told(outcome, ' first hypothesis, ')[0]
    assert outcome.first == RIGHT and outcome.last is not None and outcome.end == 'relearnt'
    # The promise says nothing of a change that was not noticed before the first hypothesis.
    outcome = trials.run('early_closes', closes, replace(QUICK, radius=radius))
    assert outcome.first is None and outcome.last is not None and outcome.end == 'relearnt'


@thorough(shown_by=(
    'core/test_early_changes.py::test_what_was_certified_through_the_pair_is_doubted_and_all_else_'
    'is_not benchmarks/test_promise_benchmark.py::test_what_is_broken'))
def test_a_certificate_that_a_change_made_false_is_wrong_unless_it_is_doubted(
        monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = replace(QUICK, radius=0.0, delta=0.1)
    assert not trials.run('early_closes', 1, configuration).broken
    for notices in ('_watch', '_watch_certificates'):
        monkeypatch.setattr(BuildingPhase, notices, lambda *step: None)
    monkeypatch.setattr(ProvisionalPolicies, 'look', as_it_was_certified)
    outcome = trials.run('early_closes', 1, configuration)
    assert outcome.certificates and outcome.broken and outcome.end == 'relearnt'


def as_it_was_certified(self: ProvisionalPolicies, at_most: int | None = None,
                        ) -> list[ProvisionalPolicy]:
    """Look at no certificate again."""
    found: dict[int, ProvisionalPolicy] = vars(self._certifier).setdefault('kept', {})
    for each in LOOK(self, at_most):
        if each.certified:
            found.setdefault(each.policy.target, each)
    return [*found.values()]


LOOK = ProvisionalPolicies.look


def test_a_benign_change_need_not_be_noticed() -> None:
    outcome = trials.run('benign_star', 0, QUICK)
    assert outcome.end == 'relearnt' and outcome.setting == 1
    assert outcome.last is not None and outcome.last.ok


def test_a_budget_that_is_used_up() -> None:
    outcome = trials.run('corridor', 0, replace(QUICK, budget=10))
    assert (outcome.end, outcome.steps) == ('no hypothesis', 10)
    assert not outcome.finished and not outcome.broken
    alone = trials.run('corridor', 0, replace(QUICK, budget=10, alone=True))
    assert (alone.end, alone.steps) == ('no hypothesis', 10)


def test_a_change_that_is_not_noticed_in_time(one: str) -> None:
    found, = (row for row in rows_of(one) if row['family'] == 'changing_chain')
    steps_first = int(found['steps_first'])
    outcome = trials.run('changing_chain', 2, replace(
        QUICK, budget=steps_first, change_after=steps_first // 2))
    assert outcome.end in ('relearnt', 'unnoticed', 'not relearnt')
    assert outcome.last is not None and outcome.first == RIGHT
    assert outcome.steps_first == steps_first and found['ok_first'] == '1'


def test_a_crash_is_counted_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise ZeroDivisionError('by the robot')
    monkeypatch.setattr(trials, 'new_mnm', crash)
    outcome = trials.run('corridor', 0, QUICK)
    assert outcome.end == 'crashed' and outcome.broken and not outcome.finished
    assert outcome.log[-1] == 'ZeroDivisionError: by the robot'


@pytest.mark.parametrize(('first', 'last', 'broken'), [
    (RIGHT, None, False), (RIGHT, RIGHT, False), (Verdict((3,), ()), RIGHT, True),
    (RIGHT, Verdict((), ((3, 9.0),)), True), (None, None, False)])
def test_what_is_broken(first: Verdict | None, last: Verdict | None, broken: bool) -> None:
    outcome = Outcome(4.0, first=first, last=last)
    assert outcome.broken is broken
    row = {name: str(value) for name, value in trials.columns(outcome).items()}
    assert trials.is_broken(row) is broken


def test_the_row_tells_what_is_wrong() -> None:
    outcome = Outcome(4.0, first=Verdict((3, 5), ((7, 8.25),)), last=RIGHT)
    columns = trials.columns(outcome)
    assert columns['missing_first'] == '3 5' and columns['over_first'] == '7:8.25'
    assert (columns['ok_first'], columns['ok_last']) == (0, 1)
    names = trials.names('corridor', 1, replace(QUICK, options=('c1=4.0',)))
    assert (names['options'], names['base'], names['radius']) == (
        'c1=4.0', PRESETS['onboard']['base'], 2.0)


def test_the_row_names_the_radius_that_was_drawn() -> None:
    anything = Configuration()
    for family, seed in (('corridor', 0), ('random_tree', 3), ('early_graph', 4)):
        _, radius, _ = trials.prepare(family, seed, anything)
        assert trials.names(family, seed, anything)['radius'] == radius


def test_the_command_replays_the_trial(capsys: pytest.CaptureFixture) -> None:
    configuration = replace(QUICK, alone=True, options=('c1=4.0', 'horizon=9'), delta=0.2)
    words = promise.command('corridor', 3, configuration).split()
    parsed = promise.parse(words[1:])
    assert parsed.replay == ['corridor', '3'] and parsed.configurations == [configuration]
    assert promise.main(words[1:]) == 0
    told = capsys.readouterr().out
    assert 'corridor 3: L = 2, limit = 4' in told and 'first hypothesis: right' in told


def test_a_broken_promise_is_told_in_detail(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    real = trials.run

    def wrong(*arguments: object) -> Outcome:
        outcome = real(*arguments)  # type: ignore[arg-type]
        outcome.first = Verdict((1,), ((2, 4.5),))
        return outcome
    monkeypatch.setattr(promise, 'run', wrong)
    assert promise.main(['--replay', 'corridor', '0', '--radius', '2', '--alone']) == 1
    told = capsys.readouterr().out
    assert 'first hypothesis: WRONG' in told
    assert 'misses state 1, reachable in 1.11111 steps (L = 2)' in told
    assert 'takes 4.5 steps to state 2 (limit 4' in told


@pytest.mark.parametrize(('words', 'error'), [
    (['--trials', '0'], '--trials is 0, expected at least 1'),
    (['--replay', 'corridor', 'x'], "the seed is 'x', expected a number >= 0"),
    (['--set', 'c1=many'], "c1 is 'many', expected a number"),
    (['--set', 'colour=red'], "unknown option 'colour', expected one of base"),
    (['--families', 'maze'], 'invalid choice'),
    (['--radius', '0.5'], 'radius is 0.5, expected a number in [1, 1000]')])
def test_bad_arguments(words: list[str], error: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        promise.parse(words)
    assert error in capsys.readouterr().err


def test_the_table(capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip('scipy')
    assert promise.main(['--families', 'corridor', '--trials', '2', '--radius', '2',
                         '--jobs', '1']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f'preset onboard, base {PRESETS["onboard"]["base"]}'
    assert [line.split()[:2] for line in lines[3:5]] == [['corridor', '2'], ['total', '2']]


def test_a_rate_above_delta_is_not_well(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    pytest.importorskip('scipy')
    monkeypatch.setattr(promise, 'run', lambda *_: Outcome(4.0, first=Verdict((3,), ())))
    assert promise.main(['--families', 'trap', '--trials', '1', '--jobs', '1']) == 1
    told = capsys.readouterr().out
    assert 'broken (no hypothesis): benchmarks/promise --replay trap 0\n' in told
    assert 'ABOVE DELTA' in told


def test_what_is_noticed_where_nothing_changes_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    calm = strength(60, 300)    # steps
    seed, radius = strength((1, 2.0), (0, 0.0))
    configuration = replace(QUICK, radius=radius, change_after=calm)
    outcome = trials.run('beyond_star', seed, configuration)
    assert (outcome.end, outcome.alarms) == ('found', 0)
    assert outcome.steps == outcome.steps_first + calm
    check = trials.Mnm.check

    def cry_wolf(mnm: trials.Mnm, *found: Any) -> MnmPhase:
        checks = check(mnm, *found)
        mnm.log.notice()
        return checks

    monkeypatch.setattr(trials.Mnm, 'check', cry_wolf)
    assert trials.run('beyond_star', seed, configuration).alarms == 1
