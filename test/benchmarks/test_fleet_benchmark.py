# SPDX-License-Identifier: Apache-2.0

"""The benchmark of a fleet compares it with one robot, and its table says what came of it."""

from __future__ import annotations

import fleet
import pytest
from tiers import strength


def test_a_fleet_is_compared_with_one_robot(capsys: pytest.CaptureFixture[str]) -> None:
    seeds = strength('1', '2')
    words = ['--worlds', 'corridor', '--robots', '2', '--seeds', seeds, '--jobs', '1']
    assert fleet.main(words) == 0
    _, alone, two, seconds = capsys.readouterr().out.splitlines()
    assert alone.split()[:3] == ['corridor', 'alone', seeds] and ' s with' in seconds
    assert two.split()[:3] == ['corridor', '2', seeds] and 1 < float(two.split()[4]) < 2.2


def test_what_is_below_its_target_or_wrong_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    row = {'world': 'grid_5', 'made': '9', 'known': '9', 'seconds': '1', 'ok': '1'}
    rows = [{**row, 'robots': '0', 'rounds': '1000'}, {**row, 'robots': '8', 'rounds': '160'},
            {**row, 'robots': '16', 'rounds': '100'}]
    assert not fleet.print_table(rows)
    lines = capsys.readouterr().out.splitlines()
    assert [line.endswith('BELOW 11') for line in lines] == [False, False, False, True]
    assert ' 6.25 ' in lines[2]
    assert fleet.print_table(rows[:2])
    assert not fleet.print_table([rows[0], {**rows[1], 'ok': '0'}])


@pytest.mark.parametrize(('words', 'error'), [
    (['--robots', '0'], '--robots has 0, expected at least 1'),
    (['--seeds', '0'], '--seeds is 0, expected at least 1'), (['--worlds', 'nowhere'], 'nowhere')])
def test_bad_arguments(words: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        fleet.parse(words)
    assert error in capsys.readouterr().err
