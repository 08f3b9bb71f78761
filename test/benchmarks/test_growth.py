# SPDX-License-Identifier: Apache-2.0

"""What grows: each study runs, and what is said to be the least is that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import csv
from dataclasses import replace
import math
from pathlib import Path

from growth import main, slope, STUDIES
from growth_trial import Point, run, Task
from growth_truth import Truth
from growth_worlds import WORLDS
from mnm_ros.core.model.policy import Hypothesis
from mnm_ros.simulation.ground_truth import judge, reachable_states
import pytest
from tiers import strength, thorough

pytest.importorskip('matplotlib')

from figures import STYLE  # noqa: E402, I100
from growth_sizes import least_log, least_model, least_policies  # noqa: E402, I100

PLANE = strength(1.0, 1.5)
TINY: Mapping[str, Mapping[tuple[str, str], Sequence[float]]] = {
    'states': {('explored', 'plane'): (PLANE,), ('explored', 'random_graph'): strength((), (1,)),
               ('built', 'plane'): (PLANE,)},
    'actions': {('explored', 'actions'): (2,)},    # a log of some pages
    'radius': {('explored', 'corridor'): strength((2,), (2, 2.5, 3))},
    'robots': {('explored', 'corridor'): (2,), ('fleet', 'corridor'): (2,)}}


@pytest.mark.parametrize('study', [
    pytest.param(study, marks=() if study in ('states', 'radius') else thorough(
        'benchmarks/test_growth.py::test_each_study_prints_its_tables')) for study in STUDIES])
def test_each_study_prints_its_tables(
        study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setitem(STUDIES, study, replace(STUDIES[study], numbers=TINY[study]))
    if study != strength('radius', 'actions'):    # one with processes of its own is enough
        monkeypatch.setattr('growth_trial.in_own_process', run)
    arguments = [study, '--seeds', '1', '--jobs', '1', '--output', str(tmp_path / 'rows.csv')]
    picture = tmp_path / 'growth_states.png'
    figure = ['--figure', str(tmp_path)] if study == 'states' else []
    for name in strength(('figure.constrained_layout.use', 'savefig.bbox'), ()):
        monkeypatch.delitem(STYLE, name)    # which would draw it several times
    assert main([*arguments, *figure]) == 0
    assert not figure or picture.read_bytes().startswith(b'\x89PNG')
    printed = capsys.readouterr().out
    assert 'steps' in printed and 'CPU s' in printed
    with (tmp_path / 'rows.csv').open(newline='') as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for name in row:
            if row.get(f'least_{name}') and row[name]:
                # The random walk of a bare step may wander into dearer places.
                assert name == 'seconds' or float(row[f'least_{name}']) <= float(row[name]), name
    assert main(arguments) == 0
    assert capsys.readouterr().out == printed.replace(f'{picture}\n', '')


@pytest.mark.parametrize(('world', 'number'), [
    ('plane', 3.0), ('actions', 3), ('room', 6), ('random_graph', 0), ('random_graph', 4)])
def test_the_truth_is_that_of_the_judge(world: str, number: float) -> None:
    drawn = WORLDS[world](number)
    truth = Truth(drawn.cmp, drawn.radius)
    assert set(truth.members) == set(reachable_states(drawn.cmp, drawn.radius))
    hypothesis = truth.hypothesis()
    assert judge(drawn.cmp, Hypothesis(1, 0, 1000, tuple(
        replace(policy, horizon=1000) for policy in hypothesis.policies)), drawn.radius, 1e-3).ok


def test_the_least_bytes() -> None:
    assert least_policies(16, 3) == 16 * 8 + 16 * 16 * 2 // 8
    assert least_model([(0, 0, 0, 7), (0, 0, 1, 8)]) == 16 + math.ceil(2 * (1 + 4) / 8)
    assert least_log({(0, 0): {0: 5, 1: 5}, (0, -1): {0: 10}}) == pytest.approx(0.5 / 8)


def test_the_slope_of_a_power_law() -> None:
    task = Task('explored', 'plane', 1.0, 0, 1)
    points = [Point(task, [{'known': str(known), 'steps': str(3 * known ** 1.5)}])
              for known in (5, 10, 20, 40)]
    assert slope(points, 'known', 'steps') == pytest.approx(1.5)
    assert slope(points[:3], 'known', 'steps') is None    # the first is too small to count
