# SPDX-License-Identifier: Apache-2.0

"""What the checking phase as printed says of its check-runs."""

from __future__ import annotations

from mnm_ros.core import RESET
from mnm_ros.core.progress.said import CheckRunAttempts
from mnm_ros.view.sentences import sentence
from scripted import HOME, ScriptedBase, sentences
from test_mnm import check_runs, checking_of, hypothesis_of, run, WINDOW, World


def test_what_a_check_run_is_doing_is_told() -> None:
    machine, world = hypothesis_of((HOME, 3, 5), lambda: ScriptedBase(6, (HOME, 3, 5))), World()
    doing = machine.phase.activity()
    assert sentence(doing.said).startswith('check-run: ') and doing.tests[-1].kind == 'rediscovery'
    assert (doing.tests[-1].evidence, doing.tests[-1].threshold) == (
        0.0, float(checking_of(machine).check_steps))
    check_runs(machine, world, 1)
    run(machine, world, lambda: not checking_of(machine).rediscovering)
    told: list[int | None] = []
    while not checking_of(machine).rediscovering:
        queue = checking_of(machine).runner.queue
        doing = machine.phase.activity()
        told.append(doing.target)
        assert (doing.doing, doing.target) == ('watching', queue[-1].target)
        assert doing.said == CheckRunAttempts(doing.target, 0, 0, len(queue))
        assert [test.state for test in doing.tests] == [doing.target]
        before = doing.target
        run(machine, world, lambda before=before: (    # type: ignore[misc]
            checking_of(machine).rediscovering or machine.phase.activity().target != before))
    assert set(told) - {HOME} == {3, 5}


def test_check_runs_that_went_wrong_in_any_way_are_counted() -> None:
    lives = [0, 6, 6, 0]
    machine = hypothesis_of(
        (HOME, 3), lambda: ScriptedBase(lives.pop(0) if lives else 6, (HOME, 3)), check_steps=10)
    world, wrong = World(), []
    for number in range(5):
        world.closed = {3} if number in (2, 3) else set()    # then it fails
        check_runs(machine, world, 1)
        figures = checking_of(machine).figures()
        wrong.append(figures['failures'])
        assert figures['check_window'] == checking_of(machine).tests.window
        assert figures['failure_threshold'] == round(checking_of(machine).tests.threshold, 4)
    assert [text.split(' of ')[1] for text in map(str, wrong)] == [
        f'{number} check-runs' for number in range(1, 6)]
    counted = [int(text.split()[0]) for text in map(str, wrong)]
    runs = list(checking_of(machine).window)
    assert counted[-1] == sum(each.cut_off or bool(each.failed) for each in runs)
    assert any(each.cut_off and not each.failed for each in runs)
    assert any(each.failed and not each.cut_off for each in runs)
    assert 2 < counted[-1] < 5 and machine.next_action() == RESET


def test_why_a_round_is_over_is_told_in_figures() -> None:
    lives = [1, 0, 0, *[1] * WINDOW]
    machine = hypothesis_of((HOME, 3), lambda: ScriptedBase(lives.pop(0)), check_steps=10)
    machine.log.take()
    check_runs(machine, World(), WINDOW + 1)
    assert sentences(machine.log) == [
        f'round 1: rediscovery took more than 10 steps in 2 of the last {WINDOW} check-runs; '
        'round 2 begins']
