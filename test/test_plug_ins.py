# SPDX-License-Identifier: Apache-2.0

"""Parts of another distribution are found by their names, and refused by them."""

from __future__ import annotations

from functools import partial
import json
from pathlib import Path
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

from mnm_ros.checkpoint.input_log import InputLog
from mnm_ros.command.main import main
from mnm_ros.core import Exploration, InWords, play, Problem, settings
from mnm_ros.core.errors import InvalidValueError
from mnm_ros.core.plug_ins import GROUPS, installed
from mnm_ros.core.presets import new_base, options_by_name
from mnm_ros.parameters.tables import NODES
from mnm_ros.simulation.scenario import load
from mnm_ros.simulation.simulator import Simulator
import pytest
from rclpy.parameter import Parameter
from tiers import strength, thorough

ROOT = Path(__file__).resolve().parents[1]
FOLDER = Path(__file__).with_name('plug_ins')
PROBLEM = Problem(2, 3.0, 1.0, strength(0.5, 0.1))
LATER = strength(900, 1500)    # steps, after which a hypothesis is checked


@pytest.fixture(autouse=True)
def own_parts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have the other distribution installed, and return its module."""
    monkeypatch.syspath_prepend(FOLDER)
    import own_parts
    return own_parts


def explored(steps: int, **overrides: str) -> Exploration:
    exploration = Exploration(settings(PROBLEM, overrides=overrides), 0)
    play(exploration, Simulator(load('corridor'), 0).step, steps)
    return exploration


def test_each_place_to_plug_in_has_a_row_and_a_group() -> None:
    text = (ROOT / 'docs' / 'extending.md').read_text(encoding='utf-8')
    assert all(f'`{group}`' in text for group in GROUPS.values())
    assert {kind: [*installed(kind)] for kind in GROUPS} == {
        'base': ['broken', 'homebody', 'no_base'], 'planner': ['cautious'],
        'detector': ['counting'], 'checks': ['trusting'], 'robot_side': ['still'],
        'format': ['no_format', 'states']}


def test_a_base_algorithm(own_parts: Any) -> None:
    assert isinstance(new_base(settings(PROBLEM, overrides={'base': 'homebody'}), 0),
                      own_parts.Homebody)
    exploration = explored(50, base='homebody')
    assert exploration.hypothesis is not None and exploration.hypothesis.targets == (0,)
    base, = (spec for spec in NODES['explorer'] if spec.name == 'base')
    assert base.accepts(Parameter('base', value='homebody'))
    assert not base.accepts(Parameter('base', value='nobody'))


def test_a_base_without_a_policy_for_home_is_refused(
        own_parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_parts.Homebody, 'policies', ())
    with pytest.raises(InvalidValueError, match=(
            r'base homebody has finished with policies for \[\], expected one for home, state 0')):
        explored(50, base='homebody')


@pytest.mark.parametrize('name', ['cautious', pytest.param(
    'own_parts:CautiousPlanner',
    marks=thorough('test_plug_ins.py::test_a_planner test_plug_ins.py::test_a_detector'))])
def test_a_planner(name: str, own_parts: Any) -> None:
    exploration = explored(LATER, planner=name)
    assert own_parts.CautiousPlanner.planned > own_parts.CautiousPlanner.made > 0
    assert exploration.hypothesis is not None and len(exploration.hypothesis.targets) > 2
    simulator = Simulator(load('corridor'), 1)
    points = []
    for _ in range(200):
        play(exploration, simulator.step, 1)
        points.append(exploration.can_snapshot)
    assert not all(points)    # a run is replayed from where it began
    assert explored(300).can_snapshot


@pytest.mark.parametrize('name', ['own_parts:CountingDetector', pytest.param(
    'counting',
    marks=thorough('test_plug_ins.py::test_a_planner test_plug_ins.py::test_a_detector'))])
def test_a_detector(name: str, own_parts: Any) -> None:
    overrides = {'detector': name}
    exploration, simulator = explored(LATER, **overrides), Simulator(load('corridor'), 1)
    assert own_parts.CountingDetector.heard > 0 and not exploration.can_snapshot
    while not exploration.can_snapshot:
        play(exploration, simulator.step, 1)
    again = Exploration(settings(PROBLEM, overrides=overrides), 0,
                        json.loads(json.dumps(exploration.to_state())))
    before = own_parts.CountingDetector.heard
    play(again, simulator.step, strength(200, 500))
    assert own_parts.CountingDetector.heard > before
    assert again.hypothesis is not None and again.hypothesis.targets == (
        exploration.hypothesis and exploration.hypothesis.targets)


@pytest.mark.parametrize('name', ['trusting', pytest.param(
    'own_parts:trusting', marks=thorough('test_plug_ins.py::test_checks '
                                         'test_plug_ins.py::test_a_detector'))])
def test_checks(name: str) -> None:
    exploration = explored(LATER, checks=name)
    assert exploration.activity().said == InWords('trusting all policies')
    assert exploration.hypothesis is not None and len(exploration.hypothesis.targets) > 2
    assert not exploration.can_snapshot
    with pytest.raises(InvalidValueError, match='policies are not improved'):
        exploration.improve(1)


def test_an_export(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    log = InputLog.create(tmp_path / 'explorer.log.sqlite', {
        'version': '0.1.0', 'actions': ['east', 'west'], 'radius': 3.0, 'epsilon': 1.0,
        'delta': PROBLEM.delta, 'preset': 'onboard', 'seed': 0, **options_by_name({})}, None)
    exploration, simulator = Exploration(settings(PROBLEM), 0), Simulator(load('corridor'), 0)
    for _ in range(200):
        action = exploration.next_action()
        log.append([exploration.observe(action, simulator.step(action)).input])
    log.close()
    command = ['export', '--from', str(log.path), '--format']
    assert main([*command, 'states']) == 0
    assert capsysbinary.readouterr().out == f'{exploration.states} states\n'.encode()
    assert main([*command, 'no_format']) == 1
    assert b"format 'no_format' is <function count_states" in capsysbinary.readouterr().err
    with pytest.raises(SystemExit):
        main(['export', '--help'])
    assert b'states      of another package: own_parts:STATES' in capsysbinary.readouterr().out


@pytest.mark.parametrize(('overrides', 'said'), [
    ({'base': 'nobody'}, "base is 'nobody', expected one of ucb_explore, disco, broken, homebody, "
                         'no_base, a module:factory, or an entry point of the group '
                         'mnm_ros.base_algorithms$'),
    ({'base': 'broken'}, "base is 'broken', expected an entry point that can be imported: "
                         'own_parts:missing: AttributeError: '),
    ({'base': 'no_base'}, 'no_base cannot be called as factory'),
    ({'planner': 'none'}, "planner is 'none', expected one of optimistic, cautious, a module:"
                          'factory, or an entry point of the group mnm_ros.planners$'),
    ({'planner': 'own_parts:missing'}, "is 'own_parts:missing', expected a module:factory"),
    ({'planner': 'own_parts:STATES'}, r'STATES cannot be called as factory\('),
    ({'detector': 'own_parts:count_states'}, r'factory\(limit, horizon, delta\)$'),
    ({'checks': 'own_parts:STATES'}, r'STATES cannot be called as factory\(settings\)$'),
    ({'detector': 'none'}, "detector is 'none', expected one of betting, counting, a module:"
                           'factory, or an entry point of the group mnm_ros.detectors$')])
def test_what_is_none_is_refused(overrides: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        settings(PROBLEM, overrides=overrides)


def test_a_part_that_lacks_a_member_is_refused_at_the_start(
        own_parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(own_parts.CautiousPlanner, 'give')
    with pytest.raises(InvalidValueError, match=(
            "planner is 'cautious', which lacks give, expected every member of Planner ")):
        settings(PROBLEM, overrides={'planner': 'cautious'})
    monkeypatch.setattr(own_parts, 'half', lambda limit, horizon, delta: SimpleNamespace(
        **{**vars(own_parts.CountingDetector), 'threshold': 1.0}), raising=False)
    with pytest.raises(InvalidValueError, match=(
            "detector is 'own_parts:half', which lacks evidence, .*, from_state, expected")):
        settings(PROBLEM, overrides={'detector': 'own_parts:half'})
    monkeypatch.setattr(own_parts, 'half', lambda limit, horizon, delta: 1 / 0)
    with pytest.raises(InvalidValueError, match='expected one that can be made with .*ZeroDiv'):
        settings(PROBLEM, overrides={'detector': 'own_parts:half'})


def test_checks_that_make_no_checking_phase_are_refused_at_the_start(
        own_parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Half(own_parts.CheckingPhase):    # type: ignore[misc]
        def __init__(self, round_: Any, policies: Any, rate: float = 1.0) -> None:
            pass

    for made, said in (
            (None, 'which makes None, expected a factory\\(round_, policies\\)'),
            (lambda round_: Half, 'which makes <function .*, expected a factory'),
            (Half, 'which lacks activity, figures, interrupt, next_action, observe, expected'),
            (partial(Half, rate=0.5), 'which lacks activity, ')):
        monkeypatch.setattr(own_parts, 'trusting', lambda settings, made=made: made)
        with pytest.raises(InvalidValueError, match=f"checks is 'trusting', {said}"):
            settings(PROBLEM, overrides={'checks': 'trusting'})
    monkeypatch.setattr(own_parts, 'trusting', lambda settings: settings.missing)
    with pytest.raises(InvalidValueError, match='expected one that can be made with .*: Attr'):
        settings(PROBLEM, overrides={'checks': 'trusting'})


def test_a_base_that_lacks_a_method_is_refused_at_the_start(
        own_parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Half(own_parts.BaseAlgorithm):    # type: ignore[misc]
        def __init__(self, settings: Any, home: int, rng: Any, policies: Any = ()) -> None:
            pass

    monkeypatch.setattr(own_parts, 'Homebody', Half)
    with pytest.raises(InvalidValueError, match='which lacks evaluating, finished, interrupt, '):
        settings(PROBLEM, overrides={'base': 'own_parts:Homebody'})


def test_a_robot_side() -> None:
    running = subprocess.Popen(
        [sys.executable, '-m', 'mnm_ros', 'run', 'still'], cwd=FOLDER, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert running.stdout is not None
    try:
        deadline = time.monotonic() + 60
        said = ''
        while 'it stands still' not in said and time.monotonic() < deadline:
            line = running.stdout.readline()
            assert line, said
            said += line
    finally:
        running.terminate()
    assert running.wait(60) == 0 and 'it stands still' in said
