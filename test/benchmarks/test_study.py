# SPDX-License-Identifier: Apache-2.0

"""A study compares combinations of parameters over the trials of the promise benchmark."""

from __future__ import annotations

import csv
from pathlib import Path

from batch import Engine, run_batch
import promise
import pytest
import study

WORDS = ['--families', 'corridor', '--seeds', '2', '--jobs', '1']


def test_a_study(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    output = tmp_path / 'study.csv'
    words = [*WORDS, '--radius', '2', '3', '--base', 'disco', 'ucb_explore']
    assert study.main([*words, '--output', str(output)]) == 0
    head, *lines, seconds = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ['family', 'base', 'radius', 'seeds'] and ' s with' in seconds
    assert [line.split()[:4] for line in lines] == [
        ['corridor', base, radius, '2'] for base in ('disco', 'ucb_explore')
        for radius in ('2.0', '3.0')]
    rows = list(csv.DictReader(output.open(newline='')))
    assert len(rows) == 8
    for line, (one, other) in zip(lines, zip(rows[::2], rows[1::2])):
        steps = [int(row['steps_first']) for row in (one, other)]
        assert line.split()[5] == f'{max(steps):,}' and line.split()[-2:] == ['0', '0']
    task = ('corridor', 1, study.parse(words).configurations[1])
    alone = run_batch(promise.trial, [task], promise.names_of, Engine())
    assert alone == [rows[3]]


def test_trials_without_a_hypothesis(capsys: pytest.CaptureFixture) -> None:
    assert study.main([*WORDS, '--budget', '10']) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == [
        'corridor', '2', '-', '-', '10', '-', '2', '0']


@pytest.mark.parametrize(('words', 'error'), [
    (['--seeds', '0'], '--seeds is 0, expected at least 1'),
    (['--radius', '0.5'], 'radius is 0.5, expected a number in [1, 1000]'),
    (['--base', 'magic'], 'magic'), (['--jobs', '0'], '--jobs is 0, expected at least 1')])
def test_bad_arguments(words: list[str], error: str, capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        study.parse(words)
    assert error in capsys.readouterr().err
