# SPDX-License-Identifier: Apache-2.0

"""The pages become a site, with one command and without the internet."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
import re
import subprocess
import sys

from mnm_ros.core.mnm.mnm import MNM_TRANSITIONS
from mnm_ros.core.paper.ucb_explore import UCB_TRANSITIONS
from mnm_ros.core.task.step_task import diagram, RUN_TRANSITIONS, RunState
from pages import DOCS, ROOT
import pytest
from tiers import thorough


@pytest.fixture(autouse=True)
def sphinx() -> None:
    for module in ('sphinx', 'myst_parser', 'matplotlib'):
        pytest.importorskip(module, reason=f'{module} is not installed')


@pytest.mark.filterwarnings('ignore:.myst_parser')    # which calls what Sphinx gives up
def test_pages_are_read_without_a_warning(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    """All but the reference of the API, for which all modules would be imported."""
    from sphinx.cmd.build import main
    monkeypatch.setattr(sys, 'path', [*sys.path])    # to which the settings of Sphinx add
    status = main(['-q', '--fresh-env', '-b', 'dummy', '-D', 'exclude_patterns=site,api.rst', '-D',
                   'smartquotes=0', str(DOCS), str(tmp_path)])
    said = capsys.readouterr().err
    assert status == 0, said
    assert [line for line in said.splitlines() if "document 'api'" not in line] == []


@thorough(shown_by='test_site.py::test_pages_are_read_without_a_warning '
                   'test_layers.py::test_the_layers_name_each_package_of_ros_that_is_imported '
                   'test_face.py::test_one_page_documents_all_of_it '
                   'test_site.py::test_a_diagram_names_every_state_and_label_in_text_that_can_be_'
                   'read_aloud')
def test_the_site(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(ROOT / 'scripts' / 'docs'), str(tmp_path)], capture_output=True, text=True,
        timeout=900, env={**os.environ, 'MNM_PYTHON': sys.executable})
    assert done.returncode == 0, done.stderr
    assert done.stdout == f'The first page is {tmp_path}/index.html\n'
    made = {path.stem: path.read_text(encoding='utf-8') for path in tmp_path.rglob('*.html')}
    for name, text in made.items():    # everything is there without the internet
        assert re.findall(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"',
                          text) == [], name
    assert 'search.html' in made['index'] and 'turtlebot' in (
        tmp_path / 'searchindex.js').read_text(encoding='utf-8')
    for trigger, *_ in (*RUN_TRANSITIONS, *MNM_TRANSITIONS, *UCB_TRANSITIONS):
        assert f'>{trigger}</text>' in made['algorithm']
    assert 'data:image/png' in made['frozen_lake']


def test_a_diagram_names_every_state_and_label_in_text_that_can_be_read_aloud(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS / 'site')
    diagrams = importlib.import_module('state_diagrams')
    text = diagram(RUN_TRANSITIONS, RunState.WAITING_FOR_ROBOT)
    svg = diagrams.draw(text)
    assert svg == diagrams.draw(text)
    for state in RunState:
        assert f'>{state.name}</text>' in svg
    assert 'PAUSED --&gt; DONE: finish' in svg.split('style=')[0]
    for wrong, found in (('stateDiagram-v2\nONE -- TWO', "'ONE -- TWO' .* STATE --> STATE"),
                         ('flowchart\nONE --> TWO', "'flowchart' .* stateDiagram-v2")):
        with pytest.raises(ValueError, match=found):
            diagrams.parse(wrong)
