# SPDX-License-Identifier: Apache-2.0

"""Results become figures, the same ones from the same results."""

from __future__ import annotations

from collections import Counter
import csv
from pathlib import Path

import exploration_steps
import pytest
import references

pytest.importorskip('matplotlib')
pytest.importorskip('scipy')

import figures  # noqa: E402, I100

PROMISE = ({'family': 'corridor', 'preset': 'onboard', 'base': 'ucb_explore', 'options': '',
            'alone': '0', 'delta': '0.1', 'ok_first': ok, 'ok_last': ''} for ok in '1101')


def test_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(exploration_steps.ALL_METHODS):
        monkeypatch.setitem(exploration_steps.ALL_METHODS, name, lambda *_, number=number: (
            references.Trial(0, [500, 100 + number], 0, True, 9000, 300,
                             Counter(dict.fromkeys(references.REASONS, 1)))))
    paths = {name: tmp_path / f'{name}.csv' for name in ('exploration', 'promise')}
    exploration_steps.main([
        '--seeds', '2', '--scaled-seeds', '0', '--scenarios', 'broken_wheel',
        '--jobs', '1', '--output', str(paths['exploration'])])
    rows = list(PROMISE)
    with paths['promise'].open('w', newline='') as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    arguments = [word for name, path in paths.items() for word in (f'--{name}', str(path))]
    for folder in ('one', 'other'):
        assert figures.main([*arguments, '--folder', str(tmp_path / folder)]) == 0
    made = sorted(path.name for path in (tmp_path / 'one').iterdir())
    assert made == ['exploration_steps.png', 'violations.png']
    for name in made:
        assert (tmp_path / 'one' / name).read_bytes() == (tmp_path / 'other' / name).read_bytes()


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        figures.parse(['--promise', 'nowhere.csv'])
    assert 'nowhere.csv is not there' in capsys.readouterr().err
