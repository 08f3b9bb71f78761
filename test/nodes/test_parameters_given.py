# SPDX-License-Identifier: Apache-2.0

"""Parameters from files and from the command line, with nodes in processes of their own."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
import signal

from mnm_ros.checkpoint.input_log import SavedInputs
from mnm_ros.core.presets import base_factory
from node_processes import NodeProcess, Peer
import pytest
from rcl_interfaces.srv import DescribeParameters, GetParameters
from std_msgs.msg import String
from tiers import thorough

ROBOT = Path(__file__).resolve().parents[2] / 'config' / 'robot.yaml'
Run = Callable[..., NodeProcess]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Start a node with arguments as in a shell."""
    numbers = count()

    def run_node(module: str, *words: object) -> NodeProcess:
        return NodeProcess(module, tmp_path / f'output_{next(numbers)}.txt',
                           ['--ros-args', *map(str, words)])
    return run_node


def write(folder: Path, text: str) -> Path:
    path = folder / 'params.yaml'
    path.write_text(text, encoding='utf-8')
    return path


def values(peer: Peer, node: str, *names: str) -> list[float]:
    request = GetParameters.Request(names=names)
    found = peer.call(GetParameters, f'{node}/get_parameters', request).values
    return [value.double_value for value in found]


def test_of_files_and_assignments_for_a_node_the_last_one_wins(run: Run, peer: Peer) -> None:
    run('grid_driver', '-p', 'max_turn:=0.7', '--params-file', ROBOT, '-p', 'max_speed:=0.1', '-p',
        'grid_driver:tolerance:=3e-2', '-p', 'explorer:cell_size:=0.9')
    assert values(peer, 'grid_driver', 'max_speed', 'tolerance', 'max_turn', 'cell_size') == [
        0.1, 0.03, 1.0, 0.5]


def test_what_an_assignment_says_is_checked(run: Run) -> None:
    process = run('grid_driver', '--params-file', ROBOT, '-p', 'max_speed:=fast')
    assert process.wait() == 1
    assert "parameter 'max_speed' is 'fast', expected a double" in process.output


def test_a_parameter_that_no_node_has_is_told_of(run: Run, peer: Peer, tmp_path: Path) -> None:
    path = write(tmp_path, '/**:\n  ros__parameters: {raduis: 3.0, scenario: corridor, xyz: 1}\n')
    process = run('explorer', '--params-file', path, '-p', 'actions:=[east]', '-p', 'sede:=1',
                  '-p', 'use_sim_time:=false')
    peer.wait_for(lambda: 'xyz' in process.output, 'the last warning')
    lines = [line for line in process.output.splitlines() if 'is ignored' in line]
    assert [line.split(']: ')[-1] for line in lines] == [
        "parameter 'raduis' is ignored: no node has one of that name; did you mean radius?",
        "parameter 'sede' is ignored: no node has one of that name; did you mean seed?",
        "parameter 'xyz' is ignored: no node has one of that name"]
    assert all('[WARN]' in line for line in lines)


@pytest.mark.parametrize(('text', 'complaint'), [
    ('/**/explorer:\n  ros__parameters:\n    # radius: 3.0\n',
     ':2: found nothing below ros__parameters, expected a mapping from names to values (with'),
    ('/**:\n  ros__parameters: [radius, 3.0]\n',
     ':2: found a list below ros__parameters, expected a mapping from names to values; expected'),
    ('/**:\n  ros__parameters: {radius: [1\n', ':3: not YAML: while parsing a flow sequence'),
    ('/**:\n  radius: 3.0\n', ":2: found 3.0 below 'radius', expected ros__parameters there"),
    ('/**:\n  ros__parameters:\n    radius:\n', ":3: found nothing for 'radius', expected a"),
    ('- radius\n', ':1: found a list, expected a mapping from names of nodes'),
])
def test_a_file_that_is_none_of_parameters(
        run: Run, tmp_path: Path, text: str, complaint: str) -> None:
    path = write(tmp_path, text)
    process = run('explorer', '--params-file', path)
    assert process.wait() == 1
    assert process.output.startswith(f'explorer: {path}{complaint}')
    assert len(process.output.splitlines()) == 1


def test_ranges_can_be_described(run: Run, peer: Peer) -> None:
    run('cmp_sim', '-p', 'scenario:=corridor')
    found, = peer.call(DescribeParameters, 'cmp_sim/describe_parameters',
                       DescribeParameters.Request(names=['drop_action'])).descriptors
    limits, = found.floating_point_range
    assert (limits.from_value, limits.to_value) == (0.0, 1.0)


@thorough('test_parameters.py::test_read_only')
@pytest.mark.parametrize(('module', 'names'), [
    ('explorer', ('base', 'record', 'checkpoint_dir')), ('cmp_sim', ('record', 'scenario'))])
def test_what_runs_code_or_writes_files_is_fixed_at_the_start(
        start: Callable, peer: Peer, tmp_path: Path, module: str,
        names: tuple[str, ...]) -> None:
    given = {'explorer': {'actions': ['east'], 'autostart': False},
             'cmp_sim': {'scenario': 'corridor'}}[module]
    process = start(module, **given)
    target = tmp_path / 'target'
    with peer.setter(module) as set_one:
        for name in names:
            result = set_one(name, f'{target}:x' if name == 'base' else str(target))
            assert not result.successful and 'read-only' in result.reason, name
    assert process.stop(signal.SIGINT) == 0 and not target.exists()


@pytest.mark.parametrize(('base', 'reason'), [
    ('ends:x', 'SystemExit: 3'), *(pytest.param(*case, marks=thorough(
        'nodes/test_parameters_given.py::test_a_base_that_is_none_ends_the_start '
        'nodes/test_parameters_given.py::test_a_base_that_is_none_is_refused')) for case in (
            ('broken:x', 'SyntaxError: '), ('math:pi', 'pi cannot be called'),
            ('.:x', 'TypeError: ')))])
def test_a_base_that_is_none_ends_the_start(
        start: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        base: str, reason: str) -> None:
    (tmp_path / 'ends.py').write_text('raise SystemExit(3)')
    (tmp_path / 'broken.py').write_text('def')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=':')
    process = start('explorer', actions=['east'], base=base)
    assert process.wait() == 1
    assert process.output.startswith(
        f'explorer: base is {base!r}, expected a module:factory to import: {reason}')
    assert len(process.output.splitlines()) == 1


@pytest.mark.parametrize(('base', 'reason'), [
    ('broken:x', 'SyntaxError: '), ('math:pi', 'pi cannot be called'), ('.:x', 'TypeError: ')])
def test_a_base_that_is_none_is_refused(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str, reason: str) -> None:
    (tmp_path / 'broken.py').write_text('def')
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError) as refusal:
        base_factory(base)
    assert str(refusal.value).startswith(
        f'base is {base!r}, expected a module:factory to import: {reason}')


@thorough(shown_by='test_parameters.py::test_refused_at_start '
          'nodes/test_start_and_end.py::test_refused_at_start')
def test_a_number_that_would_overflow_ends_the_start(start: Callable) -> None:
    process = start('explorer', actions=['east'], radius=1e308)
    assert process.wait() == 1
    assert process.output.startswith("explorer: parameter 'radius' is 1e+308, expected a double")
    assert len(process.output.splitlines()) == 1


def test_overrides_vary_the_paper_and_are_kept_by_their_names(
        run: Run, peer: Peer, tmp_path: Path) -> None:
    phases = peer.listen(String, 'phase')
    process = run('explorer', '-p', 'actions:=[east]', '-p', 'preset:=paper', '-p',
                  'check_steps:=9', '-p', 'overrides:=c1=0.03 check_window=4', '-p',
                  f'checkpoint_dir:={tmp_path / "kept"}')
    peer.wait_for(lambda: phases, 'the explorer')
    assert process.stop() == 0
    kept, = (tmp_path / 'kept').glob('*.sqlite')
    asked = SavedInputs(kept).identity
    assert 'overrides' not in asked and {
        'preset': 'paper', 'c1': 0.03, 'check_window': 4, 'check_steps': 9,
        'checks': ''}.items() <= asked.items()


def test_what_is_odd_about_a_scenario_is_told(run: Run, peer: Peer, tmp_path: Path) -> None:
    path = tmp_path / 'odd.yaml'
    path.write_text('actions: [east]\nstart: 0\nsettings:\n  - transitions: {0: {east: {1: 1}}}\n')
    process = run('cmp_sim', '-p', f'scenario:={path}')
    peer.wait_for(lambda: f'{path}:4: state 1 is reached but has no moves' in process.output,
                  'the warning')
    assert '[WARN]' in process.output


_HANGS = """
import ctypes
import sys
from mnm_ros.nodes.common import spin
from mnm_ros.nodes.explorer import Explorer

spin._HANG = 0.5
Explorer.destroy_node = lambda node: ctypes.PyDLL(None).pause()    # with the interpreter's lock
sys.exit(spin.run('explorer', Explorer))
"""


def test_why_a_node_has_not_started_is_told_though_the_middleware_hangs(
        run: Run, tmp_path: Path) -> None:
    """Fast DDS may do so while a participant is destroyed."""
    script = tmp_path / 'hangs.py'
    script.write_text(_HANGS)
    process = run(str(script), '-p', 'actions:=[east, west]', '-p', 'radius:=2.0',
                  '-p', f'warm_start:={tmp_path / "none.sqlite"}')
    assert process.wait() == 1
    assert process.output.startswith("explorer: parameter 'warm_start' is ")
    assert 'Timeout' in process.output
