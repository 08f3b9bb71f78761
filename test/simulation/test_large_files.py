# SPDX-License-Identifier: Apache-2.0

"""Files that would take hours or all memory are refused at once; large tables load."""

from __future__ import annotations

from pathlib import Path
import time

from mnm_ros import located_yaml
from mnm_ros.core.errors import FileError
from mnm_ros.simulation import scenario, world
import pytest
from tiers import strength

HEAD = 'actions: [east, west]\n'
SECONDS = 60.0    # of processor time: what this guards against takes hours


def refusal(folder: Path, text: str) -> str:
    """Return why a scenario is refused, which must not take long."""
    path = folder / 'scenario.yaml'
    path.write_text(text, encoding='utf-8')
    before = time.process_time()
    with pytest.raises(FileError) as refused:
        scenario.load(str(path))
    assert time.process_time() - before < SECONDS
    message = str(refused.value)
    assert len(message) < 600
    return message.removeprefix(str(path))


def aliases(levels: int) -> str:
    """Return lists, each with ten times the one before it."""
    first = 'x0: &x0 [a]\n'
    return first + ''.join(
        f'x{i}: &x{i} [{", ".join([f"*x{i - 1}"] * 10)}]\n' for i in range(1, levels + 1))


@pytest.mark.parametrize(('text', 'expected'), [
    (f'{HEAD}start: 0x{"f" * 5000}\n', ':2: found 0x' + 'f' * 38 + '... (5,002 characters), exp'),
    (f'{HEAD}start: {"9" * 5000}\n', ':2: found ' + '9' * 40 + '... (5,000 characters), expected'),
    (f'{HEAD}start: {"9" * 900}\n', ':2: ' + '9' * 40 + '... (900 characters) does not fit'),
    (f'{HEAD}start: 1{":59" * 350_000}\n', ':2: found 1' + ':59' * 13 + '... (1,050,001 charact'),
    (f'{HEAD}start: 0x{"f" * 2 ** 20}\n', ':2: found 0xff'),
    ('!!map a: 1\n', ':1: found a, expected a name or a number as key of a scenario'),
    ('!!set a: 1\n', ':1: found a, expected a name or a number as key of a scenario'),
    (f'{HEAD}start: !!binary AAAA\n', ':2: found AAAA, expected the start state'),
    (HEAD + aliases(9), ':9: with all that its aliases repeat, the file has more than 5,000,000'),
    ('a: &a [*a]\n', ":1: alias 'a' stands for what it is in, expected an earlier entry"),
    ('a: &a 1\nb: &a 2\n', ':2: not YAML: anchor a appears twice, expected distinct ones'),
    ('[' * 101 + ']' * 101, ':1: nested more than 100 levels deep, expected a scenario'),
], ids=['hexadecimal', 'decimal', 'less', 'sexagesimal', 'megabyte', 'map', 'set', 'binary',
        'aliases', 'recursive', 'anchor', 'nested'])
def test_refused_at_once(tmp_path: Path, text: str, expected: str) -> None:
    assert refusal(tmp_path, text).startswith(expected)


def test_many_aliases_of_a_table(tmp_path: Path) -> None:
    table = ', '.join(f'{state}: {{east: {{{state}: 1}}}}' for state in range(1000))
    text = f'{HEAD}start: 0\nsettings:\n  - transitions: &t {{{table}}}\n    until: 1\n'
    text += ''.join(f'  - transitions: *t\n    until: {i}\n' for i in range(2, 3000))
    assert 'with all that its aliases repeat' in refusal(tmp_path, text)


SIDE = strength(100, 400)
MOST = strength(31_250, 500_000)    # cells; three squares have fewer
SQUARE = ', '.join([f'"S{"." * (SIDE - 1)}"', *[f'"{"." * SIDE}"'] * (SIDE - 1)])


@pytest.mark.parametrize('repeated', ['grid', 'row', 'setting'])
def test_grids_of_all_settings_together(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeated: str) -> None:
    """Each is small enough, and so is the file, as aliases repeat most of it."""
    assert scenario.MOST_CELLS_IN_ALL == 500_000
    monkeypatch.setattr(scenario, 'MOST_CELLS_IN_ALL', MOST)
    head = 'actions: [east, west, south, north]\nsettings:\n'
    text = {
        'grid': f'{head}  - grid: &g {{rows: [{SQUARE}]}}\n    until: 1\n' + ''.join(
            f'  - grid: *g\n    until: {i}\n' for i in range(2, 100)),
        'row': f'x: &r "{"." * SIDE}"\n'.replace('x: ', 'name: ') + head + ''.join(
            f'  - grid: {{rows: ["S{"." * (SIDE - 1)}"{", *r" * (SIDE - 1)}]}}\n    until: {i}\n'
            for i in range(1, 100)),
        'setting': f'{head}  - &s {{grid: {{rows: [{SQUARE}]}}}}\n' + '  - *s\n' * 4000}[repeated]
    found = refusal(tmp_path, text)
    line = {'grid': 9, 'row': 10, 'setting': 3}[repeated]
    assert found == (f':{line}: with this setting, all grids together have {4 * SIDE ** 2:,} '
                     f'cells, expected at most {MOST:,}')


def test_settings_that_are_one_and_the_same_are_made_once(tmp_path: Path) -> None:
    table = ', '.join(f'{state}: {{east: {{{state + 1}: 1}}}}' for state in range(1000))
    path = tmp_path / 'scenario.yaml'
    path.write_text(f'{HEAD}start: 0\nsettings:\n  - transitions: &t {{{table}}}\n    until: 1\n'
                    + ''.join(f'  - transitions: *t\n    until: {i}\n' for i in range(2, 500))
                    + '  - transitions: *t\n')
    before = time.process_time()
    loaded = scenario.load(str(path))
    assert time.process_time() - before < SECONDS
    assert len(loaded.settings) == 500 and len({id(each.cmp) for each in loaded.settings}) == 1
    assert len(loaded.warnings) == 1    # state 1000 is reached, but has no moves


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(located_yaml, 'MOST_BYTES', 100)
    assert refusal(tmp_path, '#' * 101) == (
        ': the file has more than 100 bytes, expected a scenario of at most as many')


@pytest.mark.parametrize('load', [scenario.load, world.load])
def test_a_plan_that_is_too_large(tmp_path: Path, load) -> None:
    path = tmp_path / 'plan.yaml'
    head = ('actions: [east, west, south, north]\nsettings:\n- grid:\n' if load is scenario.load
            else 'cell_size: 1\n')
    key = '    rows' if load is scenario.load else 'rows'
    rows = ''.join(f'    - "{"." * 1000}"\n' for _ in range(251))
    path.write_text(f'{head}{key}:\n{rows}')
    with pytest.raises(FileError, match='has 251,000 cells, expected at most 250,000'):
        load(str(path))


def test_a_large_table_loads_in_seconds(tmp_path: Path) -> None:
    # What compares each with all others takes minutes, or a quarter of that.
    states, most = strength((25_000, SECONDS / 4), (50_000, SECONDS))
    path = tmp_path / 'large.yaml'
    path.write_text(f'{HEAD}start: 0\nsettings:\n  - transitions:\n' + ''.join(
        f'      {i}: {{east: {{{i + 1}: 1}}}}\n' for i in range(states - 1))
        + f'      {states - 1}: {{east: {{0: 0.9, {states - 1}: 0.1}}}}\n')
    before = time.process_time()
    loaded = scenario.load(str(path))
    assert time.process_time() - before < most
    assert loaded.settings[0].cmp.transitions(states - 1, 0) == ((0, 0.9), (states - 1, 0.1))
    assert loaded.warnings == ()


def test_more_actions_than_a_robot_side_may_have(tmp_path: Path) -> None:
    """Each name is compared with all before it."""
    names = [f'a{number}' for number in range(40_000)]
    rest = 'start: 0\nsettings:\n  - transitions: {0: {a1: {1: 1}}, 1: {}}\n'
    found = refusal(tmp_path, f'actions: [{", ".join(names)}]\n{rest}')
    assert found.endswith(':1: found 40,000 names, expected at most 1,000')
    path = tmp_path / 'scenario.yaml'
    path.write_text(f'actions: [{", ".join(names[:1000])}]\n{rest}')
    assert len(scenario.load(str(path)).actions) == 1000
