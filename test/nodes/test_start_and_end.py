# SPDX-License-Identifier: Apache-2.0

"""How the nodes start, refuse to start, and end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
import signal
import subprocess
import sys
import time

from node_processes import NodeProcess, Peer
import pytest
from std_msgs.msg import String
from tiers import thorough

BROKEN = """name: broken
actions: [east]
start: 0
settings:
  - transitions:
      0: {east: {0: 0.5, 1: 0.6}}
"""

HANGING = """
import ctypes
from mnm_ros.nodes.common import spin
from rclpy.node import Node

class Hanging(Node):
    def __init__(self):
        super().__init__('hanging')
        self.create_timer(0.01, lambda: print('spins', flush=True))

    def destroy_node(self):
        ctypes.PyDLL(None).sleep(600)    # with the interpreter's lock

spin._HANG = 0.5
spin.run('hanging', Hanging)
"""


@pytest.mark.parametrize('module, parameters, complaint', [
    ('explorer', {'radius': 0.5}, "parameter 'radius' is 0.5, expected a double, such as 4.0, "
                                  'in [1, 1000]'),
    *(pytest.param('explorer', *case, marks=thorough(shown_by=(
        'test_parameters.py::test_refused_at_start '
        'nodes/test_start_and_end.py::test_refused_at_start'))) for case in (
        ({'actions': ['east', 'east']}, "parameter 'actions' is ['east', 'east']"),
        ({'epsilon': 0.0}, "parameter 'epsilon' is 0.0"),
        ({'delta': 1.0}, "parameter 'delta' is 1.0"),
        ({'preset': 'fast'}, "'preset' is 'fast', expected a string, one of onboard, paper"),
        ({'step_timeout': 'soon'}, "parameter 'step_timeout' is 'soon'"))),
    pytest.param('explorer', {'checks': 'none'},
                 "parameter 'checks' is 'none', expected checks=none in the parameter 'overrides'",
                 marks=thorough(
                     'test_parameters.py::test_other_options_are_refused_but_in_overrides')),
    ('explorer', {'overrides': 'c1=0.03'}, "parameter 'overrides' is 'c1=0.03' with 'preset' "
                                           "'onboard', expected 'paper'"),
    ('explorer', {'preset': 'paper', 'overrides': 'c1=-1'}, 'c1 is -1.0, expected a number in'),
    ('cmp_sim', {}, 'cmp_sim: '),
    ('cmp_sim', {'scenario': 'no_such_thing'}, 'no_such_thing'),
    ('cmp_sim', {'scenario': 'corridor', 'drop_state': 1.5}, "'drop_state' is 1.5"),
])
def test_refused_at_start(start: Callable, module: str, parameters: dict[str, object],
                          complaint: str) -> None:
    if module == 'explorer' and parameters:
        parameters = {'actions': ['east', 'west'], **parameters}
    process = start(module, **parameters)
    assert process.wait() == 1
    assert complaint in process.output
    assert len(process.output.splitlines()) == 1


@pytest.mark.parametrize('words', [['--params-file', '/no/such/file'], ['--nonsense']])
def test_bad_ros_arguments(tmp_path: Path, words: list[str]) -> None:
    process = NodeProcess('explorer', tmp_path / 'output', ['--ros-args', *words])
    assert process.wait() == 1
    last = process.output.splitlines()[-1]
    assert last.startswith('explorer: ') and words[-1] in last
    assert 'Traceback' not in process.output


def test_broken_scenario(start: Callable, tmp_path: Path) -> None:
    path = tmp_path / 'broken.yaml'
    path.write_text(BROKEN)
    process = start('cmp_sim', scenario=str(path))
    assert process.wait() == 1
    assert f'{path}:6' in process.output
    assert len(process.output.splitlines()) == 1


def test_refused_at_runtime(explorer: Callable, peer: Peer) -> None:
    explorer()
    for name, value, reason in (
            ('radius', 5.0, "'radius' cannot change to 5.0 while the node is configured"),
            ('radius', 0.5, 'radius'),
            ('step_timeout', 1, "'step_timeout' is 1, expected a double"),
            ('step_retries', -1, 'step_retries'),
            ('autostart', False, 'autostart')):
        result = peer.set_parameter('explorer', name, value)
        assert not result.successful and reason in result.reason
    assert peer.set_parameter('explorer', 'step_timeout', 0.5).successful


@pytest.mark.parametrize(('module', 'number'), [
    ('explorer', signal.SIGINT), *(pytest.param(*case, marks=thorough(
        'nodes/test_start_and_end.py::test_ends_cleanly '
        'nodes/test_leaving.py::test_no_command_is_given_at_the_end')) for case in (
            ('explorer', signal.SIGTERM), ('cmp_sim', signal.SIGTERM),
            ('cmp_sim', signal.SIGINT)))])
def test_ends_cleanly(start: Callable, explorer: Callable, peer: Peer, scenario: str,
                      module: str, number: int) -> None:
    nodes = {'cmp_sim': start('cmp_sim', scenario=scenario), 'explorer': explorer()}
    other, = (process for name, process in nodes.items() if name != module)
    phase = peer.listen(String, 'phase')
    peer.wait_for(lambda: phase and '/' in phase[-1].data, 'exploration')
    assert nodes[module].stop(number, limit=3.0) == 0
    assert other.stop(signal.SIGTERM, limit=3.0) == 0
    for each in nodes.values():
        assert 'Traceback' not in each.output
    assert 'exploration steps' in nodes['cmp_sim'].output


@pytest.mark.parametrize(('module', 'parameters'), [
    ('explorer', {'actions': ['east']}),
    *(pytest.param(*case, marks=thorough(
        'nodes/test_start_and_end.py::test_an_impatient_operator')) for case in (
            ('navigator', {}), ('grid_driver', {}), ('cmp_sim', {'scenario': 'corridor'}),
            ('diff_drive_sim', {'world': 'one_room'})))])
def test_an_impatient_operator(start: Callable, peer: Peer, module: str,
                               parameters: dict[str, object]) -> None:
    """Ctrl-C again and again, until the very end of the process."""
    process = start(module, namespace='/impatient', **parameters)
    peer.wait_for(lambda: (module, '/impatient') in peer.node.get_node_names_and_namespaces(),
                  'this very node')
    deadline = time.monotonic() + 10
    while process.running and time.monotonic() < deadline:
        process.send(signal.SIGINT)
        peer.spin(0.003)
    assert process.wait() == 0, process.output
    assert 'Traceback' not in process.output and 'Aborted' not in process.output


def test_a_node_needs_no_standard_error(peer: Peer) -> None:
    words = '-m mnm_ros run navigator --ros-args -r __node:=unheard'
    with subprocess.Popen(f'exec {sys.executable} {words} 2>&-', shell=True) as node:
        try:
            peer.wait_for(lambda: 'unheard' in peer.node.get_node_names(), 'the node')
            node.send_signal(signal.SIGINT)
            assert node.wait(60) == 0
        finally:
            node.kill()


def test_the_process_ends_although_the_middleware_hangs(tmp_path: Path) -> None:
    script = tmp_path / 'hanging.py'
    script.write_text(HANGING)
    node = NodeProcess(str(script), tmp_path / 'output', ['--ros-args'])
    peer = Peer()
    peer.wait_for(lambda: 'spins' in node.output, 'the node')
    node.send(signal.SIGINT)
    assert node.wait() == 1 and 'in destroy_node' in node.output
