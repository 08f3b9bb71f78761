# SPDX-License-Identifier: Apache-2.0

"""The notebook runs, and comes to the same end as when it was saved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / 'docs' / 'gymnasium.ipynb'


def test_the_notebook_runs_and_says_what_it_said(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip('gymnasium', reason='gymnasium is not installed')
    matplotlib = pytest.importorskip('matplotlib', reason='matplotlib is not installed')
    matplotlib.use('agg')
    from matplotlib import pyplot
    drawn: list[int] = []
    monkeypatch.setattr(pyplot, 'show', lambda: drawn.append(len(pyplot.gcf().axes)))
    names: dict = {}
    pictures = 0
    for cell in json.loads(NOTEBOOK.read_text(encoding='utf-8'))['cells']:
        if cell['cell_type'] != 'code':
            continue
        exec(''.join(cell['source']), names)
        printed = ''.join(line for output in cell['outputs'] for line in output.get('text', ()))
        now = capsys.readouterr().out
        # In which step what is noticed depends on the last digits of scipy.
        assert printed == now or printed.count('deleted') and 'state 12 no longer' in now
        pictures += sum('image/png' in output.get('data', ()) for output in cell['outputs'])
    pyplot.close('all')
    assert drawn == [1, 2] and pictures == 2
    assert now.count('Verdict(missing=(), over_limit=())') == 2
    assert {9, 12, 13} <= set(names['before'].targets)
    assert not {9, 12, 13} & set(names['exploration'].hypothesis.targets)
