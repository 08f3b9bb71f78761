# SPDX-License-Identifier: Apache-2.0

"""Every benchmark that explores takes the base to explore with, and refuses one that is not."""

from __future__ import annotations

from collections.abc import Callable
import importlib
from pathlib import Path
import sys

from arguments import Arguments
import fleet
from growth_trial import run, Task
import navigation
import pytest
import steps
from tiers import strength, thorough

BENCHMARKS = Path(fleet.__file__).parent
EXPLORING = ('blocked', 'changes', 'checkpoint', 'doors', 'exploration_steps', 'false_alarms',
             'fleet', 'grids', 'growth', 'lower_bound', 'memory', 'navigation', 'prediction',
             'progress', 'promise', 'steps', 'study', 'work')


@pytest.mark.parametrize('name', EXPLORING)
def test_a_base_that_is_not_there_is_refused(
        name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    study = ['states'] if name == 'growth' else []
    monkeypatch.setattr(sys, 'argv', [f'{name}.py', *study, '--base', 'magic'])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(name).main()
    said = capsys.readouterr().err
    assert ended.value.code == 2 and f'benchmarks/{name}: error: base is ' in said


def test_all_that_explore_are_named_here() -> None:
    taking = {path.stem for path in BENCHMARKS.glob('*.py')
              if '.base(' in path.read_text(encoding='utf-8')}
    assert taking == set(EXPLORING)


@pytest.mark.parametrize('explore', [
    pytest.param(lambda base: fleet.trial(base, ('corridor', 2, 0))['learnt'], marks=thorough(
        'benchmarks/test_benchmark_arguments.py::test_the_base_that_is_given_explores')),
    lambda base: run(Task('explored', 'corridor', 2.0, 0, 100_000, base))['steps'],
    lambda base: navigation.explore('corridor', 0, strength(2.0, 3.0), 1.0, base)[0].steps,
    lambda base: steps.run('corridor', strength(2.0, 3.0), 'onboard', base, 0)[0]])
def test_the_base_that_is_given_explores(explore: Callable[[str], int]) -> None:
    assert explore('') == explore('disco') != explore('ucb_explore')


def test_a_least_value(capsys: pytest.CaptureFixture) -> None:
    parser = Arguments('What it does.')
    parser.seeds(3, 'of each')
    assert parser.read(['--first-seed', '5']).seeds == range(5, 8)
    with pytest.raises(SystemExit):
        parser.read(['--first-seed', '-1'])
    assert '--first-seed is -1, expected at least 0' in capsys.readouterr().err
