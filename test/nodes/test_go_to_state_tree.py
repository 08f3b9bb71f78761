# SPDX-License-Identifier: Apache-2.0

"""The example of a leaf for behaviour trees, with a real navigator."""

from __future__ import annotations

from collections.abc import Callable
import importlib.util
from pathlib import Path
import signal
from types import ModuleType

from diagnostic_msgs.msg import DiagnosticArray
from in_process import navigating_here
from mnm_ros import NavigatorClient
from navigating import HeldRobot, Operator
from node_processes import Peer, ScriptedRobot
import pytest
from tiers import thorough

py_trees = pytest.importorskip('py_trees', reason='py_trees is not installed')
Status = py_trees.common.Status

EXAMPLE = Path(__file__).resolve().parents[2] / 'examples' / 'go_to_state_tree.py'


@pytest.fixture
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location('go_to_state_tree', EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def client(peer: Peer, operator: Operator, monkeypatch: pytest.MonkeyPatch) -> NavigatorClient:
    """Return a client of a navigator that has heard the policies."""
    navigating_here(peer, operator, monkeypatch)()
    return NavigatorClient(peer.node)


def test_one_leaf_after_the_other(
        client: NavigatorClient, peer: Peer, example: ModuleType) -> None:
    robot = ScriptedRobot(peer)
    leaves = [example.GoToState(client, state) for state in (2, 0, 1)]
    tree = py_trees.composites.Sequence('round', memory=True, children=leaves)
    seen = []

    def tick() -> bool:
        tree.tick_once()
        seen.append(tree.status)
        return tree.status is not Status.RUNNING

    peer.wait_for(tick, 'the end')
    assert tree.status is Status.SUCCESS and seen[0] is Status.RUNNING
    assert [leaf.goal.report.text for leaf in leaves] == [
        'reached 2 in 2 steps', 'reached 0 in 0 steps', 'reached 1 in 1 steps']
    assert leaves[-1].feedback_message == 'reached 1 in 1 steps, 1 steps' and robot.state == 1


def test_a_leaf_fails(client: NavigatorClient, peer: Peer, example: ModuleType) -> None:
    leaf = example.GoToState(client, 99)
    peer.wait_for(lambda: leaf.tick_once() or leaf.status is Status.FAILURE, 'that it fails')
    assert leaf.feedback_message == 'refused 99: no policy leads there, 0 steps'


def test_the_tree_turns_elsewhere(
        client: NavigatorClient, peer: Peer, example: ModuleType) -> None:
    robot = HeldRobot(peer)
    leaf = example.GoToState(client, 2)
    leaf.tick_once()
    peer.wait_for(lambda: robot.held, 'a step under way')
    leaf.tick_once()
    assert leaf.status is Status.RUNNING
    leaf.stop(Status.INVALID)
    peer.wait_for(lambda: leaf.goal.report.text.startswith('ends after'), 'that it is heard')
    robot.release()
    peer.wait_for(lambda: leaf.goal.over, 'the end')
    assert leaf.goal.report.text == 'cancelled 2: the client has cancelled the goal'


@pytest.mark.parametrize('interrupted', [True, pytest.param(False, marks=thorough(
    'nodes/test_go_to_state_tree.py::test_one_leaf_after_the_other'))])
def test_as_a_program(start: Callable, client: NavigatorClient, peer: Peer,
                      interrupted: bool) -> None:
    robot = HeldRobot(peer) if interrupted else ScriptedRobot(peer)
    program = start(str(EXAMPLE), states=[2, 1])
    if interrupted:
        peer.wait_for(lambda: robot.held and 'on the way to 2' in program.output, 'a step')
        program.send(signal.SIGINT)
        heard = peer.listen(DiagnosticArray, 'goal/status')
        peer.wait_for(lambda: heard and 'ends after this step' in heard[-1].status[-1].message,
                      'that the navigator hears of it')
        peer.wait_for(lambda: robot.release_if_held() or not program.running, 'the end')
        assert 'cancelled 2: the client has cancelled the goal' in program.output
    peer.wait_for(lambda: not program.running, 'the end')
    assert program.wait() == interrupted, program.output
    assert program.output.endswith('round: INVALID\n' if interrupted else 'round: SUCCESS\n')
