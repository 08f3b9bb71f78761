# SPDX-License-Identifier: Apache-2.0

"""The notebooks run, and come to the same end as when they were saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import json
from pathlib import Path
import re
from typing import Any, NamedTuple

import pytest
from tiers import strength, thorough

DOCS = Path(__file__).resolve().parents[1] / 'docs' / 'tutorials'


class Cell(NamedTuple):
    """
    A cell of code that was run.

    saved, now: what it printed when it was saved, and what it does now.
    pictures: how many were saved.
    """

    saved: str
    now: str
    pictures: int


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Yield how many plots each picture has that a notebook draws."""
    matplotlib = pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    matplotlib.use('agg')
    from matplotlib import pyplot
    pyplot.close('all')
    drawn: list[int] = []
    monkeypatch.setattr(pyplot, 'show', lambda: drawn.append(len(pyplot.gcf().axes)))
    yield drawn
    pyplot.close('all')


def run(notebook: str, capsys: pytest.CaptureFixture[str],
        instead: Mapping[str, str] | None = None) -> tuple[list[Cell], dict[str, Any]]:
    """Run a notebook with some texts replaced; return its cells of code and its names."""
    names: dict[str, Any] = {}
    cells = []
    text = (DOCS / notebook).read_text(encoding='utf-8')
    for old, new in (instead or {}).items():
        assert old in text
        text = text.replace(old, new)
    for cell in json.loads(text)['cells']:
        if cell['cell_type'] == 'code':
            exec(''.join(cell['source']), names)
            cells.append(Cell(
                ''.join(line for output in cell['outputs'] for line in output.get('text', ())),
                capsys.readouterr().out,
                sum('image/png' in output.get('data', ()) for output in cell['outputs'])))
    return cells, names


CALMER = strength({'WIND = 0.1': 'WIND = 0.02', 'robot, steps=1000': 'robot, steps=150',
                   'robot, steps=3000': 'robot, steps=900'}, {})


def test_the_lake_is_explored_and_its_change_noticed(
        drawn: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip('gymnasium', reason='gymnasium is not installed')
    cells, names = run('frozen_lake.ipynb', capsys, CALMER)
    for cell in cells:
        # In which step what is noticed depends on the last digits of scipy, and on the wind.
        assert cell.saved == cell.now or (
            'deleted' in cell.saved and re.search(r'\b12\b[^\n]* no longer reached', cell.now))
    assert drawn == [1, 2] and sum(cell.pictures for cell in cells) == 2
    assert cells[-1].now.count('Verdict(missing=(), over_limit=())') == 2
    assert {9, 12, 13} <= set(names['before'].targets)
    assert not {9, 12, 13} & {*names['result'].known}


CLOSED, TAIL = 12_000, 20_000    # steps


@thorough(shown_by=(
    'test_notebook.py::test_the_lake_is_explored_and_its_change_noticed '
    'study/test_run_study.py::test_methods_differ_as_they_should '
    'benchmarks/test_changes_benchmark.py::test_the_table '
    'core/test_window_tests.py::test_the_printed_addition_test_never_adds_with_its_own_window'))
def test_mnm_needs_the_fewest_exploration_steps_and_the_repairs_are_needed(
        drawn: list[int], capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip('pandas', reason='pandas is not installed')
    cells, names = run('study.ipynb', capsys)
    assert drawn == [1, 1] and sum(cell.pictures for cell in cells) == 2
    for cell in cells:    # figures depend on the last digits of scipy
        assert re.findall('[a-z]+', cell.saved) == re.findall('[a-z]+', cell.now)
    for once, oracle, schedule, mnm in zip(*(
            names['study'].of('two_rooms', method)
            for method in ('once', 'oracle', 'schedule', 'mnm'))):
        assert mnm.total < oracle.total < min(once.total, schedule.total)
        assert mnm.right_at_the_end and once.by_setting[1] == CLOSED
    after = {name: [course.by_setting[1] for course in found.courses]
             for name, found in names['repairs'].items()}
    assert {*after['as printed']} == {TAIL}    # nothing is ever added
    assert max(after['checks of onboard']) < min(after['as its proof means it'])
    assert max(after['as its proof means it']) < TAIL
    assert {5, 6} <= set(names['exploration'].hypothesis.targets)
