# SPDX-License-Identifier: Apache-2.0

"""Results become figures, the same ones from the same results."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import exploration_steps
from late import late
import pytest
import references

late('scipy')
late('matplotlib')
figures = late('figures')


def test_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, name in enumerate(exploration_steps.ALL_METHODS):
        monkeypatch.setitem(exploration_steps.ALL_METHODS, name, lambda *_, number=number: (
            references.Trial(0, [500, 100 + number], 0, True, 9000, 300,
                             Counter(dict.fromkeys(references.REASONS, 1)))))
    results = tmp_path / 'exploration.csv'
    exploration_steps.main([
        '--seeds', '2', '--scaled-seeds', '0', '--scenarios', 'broken_wheel',
        '--jobs', '1', '--output', str(results)])
    for folder in ('one', 'other'):
        assert figures.main([
            '--exploration', str(results), '--folder', str(tmp_path / folder)]) == 0
    one, other = (tmp_path / folder / 'exploration_steps.png' for folder in ('one', 'other'))
    assert one.read_bytes() == other.read_bytes()


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        figures.parse(['--exploration', 'nowhere.csv'])
    assert 'nowhere.csv is not there' in capsys.readouterr().err
