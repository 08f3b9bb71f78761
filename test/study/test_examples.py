# SPDX-License-Identifier: Apache-2.0

"""The examples that need no ROS run, and print what they promise."""

from __future__ import annotations

from pathlib import Path
import re
import runpy
from textwrap import dedent

from mnm_ros import explore
from mnm_ros.core import RESET
from pages import blocks, DOCS, ROOT
import pytest
from tiers import thorough

EXAMPLES = ROOT / 'examples'


@pytest.mark.parametrize(('name', 'needs', 'said', 'files'), [
    pytest.param(
        'explore_without_ros', 'matplotlib',
        ['13 states are known', r'leads elsewhere than before',
         r'no longer reached by their policies, deleted',
         r'(to state +\d+ begin with \w+\n){6}$'],
        ['explore_without_ros.png'], marks=thorough(
            'study/test_examples.py::test_an_example_runs '
            'test_readme.py::test_the_exploration_without_ros_that_is_shown_knows_the_grid '
            'test_notebook.py::test_the_lake_is_explored_and_its_change_noticed')),
    ('named_building', 'numpy',
     ['to the archive: door 0, door 2, door 1\n', '(to the .*\n){7}building.csv'],
     ['building.csv']),
    pytest.param(
        'gymnasium_lake', 'gymnasium pandas',
        ['16 states after', 'in state 15 after 6 steps', r'15 proven +6.0'], ['lake.log.sqlite'],
        marks=thorough(
            'study/test_examples.py::test_an_example_runs '
            'study/test_explore.py::test_what_is_saved_is_loaded_and_goes_on_alike '
            'test_notebook.py::test_the_lake_is_explored_and_its_change_noticed')),
    ('own_base', 'numpy', [r'SureSteps: 10 states after 1\d\d steps', r'disco: 10 states'], []),
    ('own_detector', 'numpy',
     ['AfterFailure: 12 failures', 'Detector: 24 failures', '3 states are known'], []),
    ('mnm_and_ucb_explore', 'matplotlib',
     [r'mnm .* 0 of 2\n', r'once .* 2 of 2\n'], ['mnm_and_ucb_explore.png']),
    ('route_graph', 'numpy',
     [r'5 places after \d\d steps: (dock|hall)'], ['learnt.geojson', 'route.geojson'])])
def test_an_example_runs(
        name: str, needs: str, said: list[str], files: list[str], tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module in needs.split():
        found = pytest.importorskip(module, reason=f'{module} is not installed')
        if module == 'matplotlib':
            found.use('agg')
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)    # as for a script there: it names its own module
    runpy.run_path(str(EXAMPLES / f'{name}.py'), run_name='__main__')
    shown = capsys.readouterr().out
    assert [part for part in said if not re.search(part, shown)] == [], shown
    assert sorted(path.name for path in tmp_path.iterdir()) == files


def test_the_detector_of_the_docs_does_what_they_print(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    made, used = (dedent(code) for code in blocks(DOCS / 'extending.md', 'python')
                  if 'Hasty' in code)
    (tmp_path / 'my_detector.py').write_text(made)
    monkeypatch.syspath_prepend(tmp_path)
    exec(used, {})
    printed, = (dedent(code) for code in blocks(DOCS / 'extending.md') if 'Hasty 15' in code)
    assert capsys.readouterr().out == printed


def test_the_own_base_finds_states_that_a_change_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn of a rediscovery is long enough to walk to the end of the corridor."""
    monkeypatch.syspath_prepend(EXAMPLES)
    here = steps = 0

    def step(action: int) -> int:
        nonlocal here, steps
        steps += 1
        top = 6 if steps < 200 else 9
        here = 0 if action == RESET else min(max(here + (1, -1)[action], 0), top)
        return here

    result = explore(step, 900, actions=2, radius=9.0, progress=False,
                     overrides={'base': 'own_base:SureSteps'})
    assert {*result.known} == {*range(10)} and result.exploration.hypothesis.round == 1


def test_each_example_says_what_one_learns_and_how_to_run_it() -> None:
    examples = sorted(EXAMPLES.glob('*.py'))
    assert len(examples) == 11
    for path in examples:
        said = path.read_text(encoding='utf-8').split('"""')[1]
        assert said.startswith('\nLearn to '), path.name
        assert f'python3 examples/{path.name}' in ' '.join(said.split()), path.name
