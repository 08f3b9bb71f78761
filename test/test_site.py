# SPDX-License-Identifier: Apache-2.0

"""The pages become a site, with one command and without the internet."""

from __future__ import annotations

import ast
import importlib
import json
import os
from pathlib import Path
import re
import subprocess
import sys
from types import ModuleType

from mnm_ros.core.mnm.mnm import MNM_TRANSITIONS
from mnm_ros.core.paper.ucb_explore import UCB_TRANSITIONS
from mnm_ros.core.task.step_task import diagram, RUN_TRANSITIONS, RunState
import pytest

ROOT = Path(__file__).resolve().parents[1]


def extension(name: str, *needed: str) -> ModuleType:
    """Import an extension of Sphinx that belongs to the site."""
    for module in needed:
        pytest.importorskip(module, reason=f'{module} is not installed')
    folder = str(ROOT / 'docs' / 'site')
    if folder not in sys.path:
        sys.path.append(folder)
    return importlib.import_module(name)


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ('sphinx', 'myst_parser', 'matplotlib'):
        pytest.importorskip(module, reason=f'{module} is not installed')
    folder = tmp_path_factory.mktemp('site')
    done = subprocess.run(
        [str(ROOT / 'scripts' / 'docs'), str(folder)], capture_output=True, text=True, timeout=300,
        env={**os.environ, 'MNM_PYTHON': sys.executable})
    assert done.returncode == 0, done.stderr
    assert done.stdout == f'The first page is {folder}/index.html\n'
    return folder


def test_what_is_of_ros_is_not_needed() -> None:
    """The API is made from stand-ins, which the settings name."""
    from test_layers import _ROS
    tree = ast.parse((ROOT / 'docs' / 'conf.py').read_text(encoding='utf-8'))
    stand_ins, = (ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
                  and node.targets[0].id == 'autodoc_mock_imports')
    imported = {name for path in (ROOT / 'mnm_ros').rglob('*.py') for name in re.findall(
        r'^ *(?:from|import) (\w+)', path.read_text(encoding='utf-8'), re.MULTILINE)}
    of_ros = {name for name in imported if _ROS.match(name)} - {'launch', 'launch_ros'}
    assert {'rclpy', 'std_msgs'} < of_ros <= set(stand_ins)


def page(site: Path, name: str) -> str:
    return (site / name).read_text(encoding='utf-8')


def pages_with(site: Path, word: str) -> set[str]:
    """Return what the search of the site finds."""
    from sphinx.search.en import SearchEnglish
    text = page(site, 'searchindex.js')
    index = json.loads(text[text.index('{'):text.rindex('}') + 1])
    stem = SearchEnglish({}).stem(word.lower())
    found = [index[terms].get(stem, []) for terms in ('terms', 'titleterms')]
    return {index['docnames'][number] for each in found
            for number in ([each] if isinstance(each, int) else each)}


def test_the_site(site: Path) -> None:
    """All in one test, as the site takes seconds to make."""
    index = page(site, 'index.html')
    assert 'exploration.gif' in index
    for name in (path.stem for path in (ROOT / 'docs').iterdir()
                 if path.suffix in ('.md', '.rst', '.ipynb')):
        assert f'href="{name}.html"' in index or name == 'index'
    assert 'action="search.html"' in index
    assert 'turtlebot' in pages_with(site, 'TurtleBot')
    assert 'algorithm' in pages_with(site, 'stochastic')
    for path in site.rglob('*.html'):
        outside = re.findall(r'<(?:script|img|link|iframe)[^>]*(?:src|href)="(?:https?:)?//[^"]*"',
                             path.read_text(encoding='utf-8'))
        assert outside == [], path

    algorithm = page(site, 'algorithm.html')
    assert algorithm.count('<svg role="img"') == 3
    for trigger, *_ in (*RUN_TRANSITIONS, *MNM_TRANSITIONS, *UCB_TRANSITIONS):
        assert f'>{trigger}</text>' in algorithm

    api = page(site, 'api.html')
    for name in ('NavigatorClient.go', 'RobotSide.execute', 'RobotDescription',
                 'PolicySet.from_msg', 'core.Exploration.observe', 'core.settings', 'core.RESET',
                 'replay_log'):
        assert f'id="mnm_ros.{name}"' in api, name
    assert 'data:image/png' in page(site, 'gymnasium.html')


def test_a_diagram_names_every_state_and_label_in_text_that_can_be_read_aloud() -> None:
    diagrams = extension('state_diagrams', 'matplotlib', 'docutils')
    text = diagram(RUN_TRANSITIONS, RunState.WAITING_FOR_ROBOT)
    svg = diagrams.draw(text)
    assert svg == diagrams.draw(text)
    for state in RunState:
        assert f'>{state.name}</text>' in svg
    assert 'PAUSED --&gt; DONE: finish' in svg.split('style=')[0]
    with pytest.raises(ValueError, match="'ONE -- TWO' is not drawn, expected STATE --> STATE"):
        diagrams.parse('stateDiagram-v2\nONE -- TWO')
    with pytest.raises(ValueError, match="'flowchart' is not drawn, expected stateDiagram-v2"):
        diagrams.parse('flowchart\nONE --> TWO')


def test_the_contents_are_the_links_of_the_first_page() -> None:
    arrangement = extension('arrangement')
    assert arrangement.contents(
        '# Title\n[not](here.md)\n## One\n- [a](a.md), [b](b.md#there), [c](https://c.org)\n'
        '## Two\n[a](a.md) [n](n.ipynb)\n') == (
        '```{toctree}\n:hidden:\n:caption: One\n\na.md\n```\n\n'
        '```{toctree}\n:hidden:\n:caption: Two\n\nn.ipynb\n```\n')


def test_a_notebook_is_read_with_what_it_printed_and_drew() -> None:
    notebook = extension('notebook', 'myst_parser')
    assert notebook.page(
        '{"cells": [{"cell_type": "markdown", "source": ["# Title\\n", "text"]},'
        ' {"cell_type": "code", "source": ["print(1)"], "outputs": ['
        '{"output_type": "stream", "text": ["1\\n"]},'
        ' {"output_type": "display_data", "data": {"image/png": "QUJD\\n"}}]}]}') == (
        '# Title\ntext\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n'
        '![what the code above draws](data:image/png;base64,QUJD)\n')
