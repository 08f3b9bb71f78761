# SPDX-License-Identifier: Apache-2.0

"""What is allowed in a scenario and may yet be a mistake is told, with its line."""

from __future__ import annotations

from pathlib import Path

from mnm_ros.simulation.scenario import load, shipped
import pytest

HEAD = 'actions: [east, west]\nstart: 0\nsettings:\n'
MEANT = "the robot stays there until RESET; '{0}: {{}}' says that this is meant"


def warned(folder: Path, text: str) -> list[str]:
    path = folder / 'scenario.yaml'
    path.write_text(text, encoding='utf-8')
    return [each.removeprefix(str(path)) for each in load(str(path)).warnings]


@pytest.mark.parametrize(('settings', 'expected'), [
    ('  - transitions:\n      0: {east: {1: 1.0}}\n      1: {west: {0: 1.0}}\n', []),
    ('  - transitions:\n      0: {east: {0: 1.0}}\n      1: {west: {0: 1.0}}\n',
     [':4: no action leaves the start state 0: there is nothing to explore in this setting']),
    ('  - transitions: {}\n',
     [':4: no action leaves the start state 0: there is nothing to explore in this setting']),
    ('  - generator: {name: endless_corridor, success: 0}\n',
     [':4: no action leaves the start state 0: there is nothing to explore in this setting']),
    ('  - transitions:\n      0: {east: {1: 0.5, 0: 0.5},\n'
     '          west: {7: 1.0}}\n      1: {}\n',
     [':6: state 7 is reached but has no moves: ' + MEANT.format(7)]),
    ('  - transitions:\n      0: {east: {1: 0.0, 0: 1.0}, west: {2: 1.0}}\n'
     '      2: {west: {0: 1}}\n',
     []),
    ('  - generator: {name: endless_corridor}\n  - generator: {name: endless_corridor}\n'
     '    until: 9\n  - generator: {name: endless_corridor}\n',
     [':4: this setting has no until: the next one is in force only once the service change is '
      'called']),
], ids=['none', 'start', 'empty table', 'no success', 'destination', 'impossible', 'until'])
def test_warnings(tmp_path: Path, settings: str, expected: list[str]) -> None:
    assert warned(tmp_path, HEAD + settings) == expected


def test_no_more_than_a_few(tmp_path: Path) -> None:
    outcomes = ', '.join(f'{state}: 0.01' for state in range(1, 101))
    told = warned(tmp_path, f'{HEAD}  - transitions:\n      0: {{east: {{{outcomes}}}}}\n')
    assert len(told) == 6 and told[-1] == ':5: so it is with 95 further states'


@pytest.mark.parametrize('name', shipped())
def test_shipped_scenarios_have_none(name: str) -> None:
    assert load(name).warnings == ()
