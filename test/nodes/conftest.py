# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
import shutil
from typing import NamedTuple

from driven_robot import DrivenRobot, FAST
from faulty_robot import Step
from kept_exploration import learn
from mnm_ros import messages
from navigating import Commander, KNOWN, Operator, PLACES, publish
from node_processes import (
    arguments,
    Done,
    end_all,
    NodeProcess,
    PAUSE,
    Peer,
    ScriptedRobot,
)
from node_server import COMMAND
import pytest
from std_msgs.msg import String
from unicycle import Unicycle

Start = Callable[..., NodeProcess]

CORRIDOR = """
name: corridor
actions: [east, west]
start: 0
settings:
  - transitions:
      0: {east: {1: 0.9, 0: 0.1}}
      1: {east: {2: 1.0}, west: {0: 1.0}}
      2: {west: {1: 1.0}}
"""


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """End what a test has made: a robot side that is left would disturb all tests after it."""
    yield
    end_all()


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Start nodes with parameters."""
    numbers = count()

    def start_node(module: str, namespace: str = '', given: Sequence[str] = (),
                   **parameters: object) -> NodeProcess:
        own = {'latency': PAUSE} if module == 'cmp_sim' else {}
        return NodeProcess(module, tmp_path / f'output_{next(numbers)}.txt',
                           given or arguments({**own, **parameters}, namespace))
    return start_node


@pytest.fixture
def explorer(start: Start) -> Start:
    """Start an explorer of a corridor with two actions."""
    def start_explorer(**parameters: object) -> NodeProcess:
        return start('explorer', **{'actions': ['east', 'west'], **parameters})
    return start_explorer


@pytest.fixture
def begin_command(tmp_path: Path) -> Callable[..., NodeProcess]:
    """Start ``mnm_ros`` with arguments, as a fork, which spares it half a second of imports."""
    numbers = count()

    def begin(*words: str) -> NodeProcess:
        name = f'command_{next(numbers)}'
        return NodeProcess(
            COMMAND, tmp_path / f'{name}.txt', words, tmp_path / f'{name}_errors.txt')
    return begin


@pytest.fixture
def commands(begin_command: Callable[..., NodeProcess]) -> Callable[..., list[Done]]:
    """Run ``mnm_ros`` with each of several lists of arguments, at once, and return the results."""
    def run(*lists: Sequence[str]) -> list[Done]:
        processes = [begin_command(*words) for words in lists]
        return [Done(process.wait(), process.output, process.errors) for process in processes]
    return run


@pytest.fixture
def command(commands: Callable[..., list[Done]]) -> Callable[..., Done]:
    """Run ``mnm_ros`` with arguments and return the result."""
    return lambda *words: commands(words)[0]


@pytest.fixture
def peer() -> Peer:
    return Peer()


@pytest.fixture
def robot(peer: Peer) -> ScriptedRobot:
    return ScriptedRobot(peer)


@pytest.fixture
def scenario(tmp_path: Path) -> str:
    """Return the path of a small scenario."""
    path = tmp_path / 'corridor.yaml'
    path.write_text(CORRIDOR)
    return str(path)


class Learnt(NamedTuple):
    """An exploration of the corridor with its first hypothesis: where it is kept, its counts."""

    folder: Path
    counts: Counter[Step]


@pytest.fixture(scope='session')
def learnt(tmp_path_factory: pytest.TempPathFactory) -> Learnt:
    """Return what all tests of a run may go on from; its folder is to be copied."""
    folder = tmp_path_factory.mktemp('learnt')
    scenario = folder / 'corridor.yaml'
    scenario.write_text(CORRIDOR)
    return Learnt(folder / 'kept', learn(folder / 'kept', str(scenario)))


@pytest.fixture
def knowing(explorer: Start, learnt: Learnt, tmp_path: Path) -> Start:
    """Start an explorer that goes on from what was learnt of the corridor."""
    def start_knowing(**parameters: object) -> NodeProcess:
        folder = shutil.copytree(learnt.folder, tmp_path / 'known')
        return explorer(checkpoint_dir=str(folder), **parameters)
    return start_knowing


@pytest.fixture
def operator(peer: Peer) -> Operator:
    return Operator(peer)


@pytest.fixture
def navigator(start: Start, peer: Peer, operator: Operator) -> Callable[..., NodeProcess]:
    """Start a navigator that has heard the policies."""
    def start_navigator(**parameters: object) -> NodeProcess:
        process = start('navigator', **parameters)
        publish(peer, KNOWN)
        operator.wait_for_navigator()
        return process
    return start_navigator


@pytest.fixture
def commander(navigator: Callable, peer: Peer, operator: Operator) -> Commander:
    described = peer.node.create_publisher(String, 'robot_side', messages.LATCHED)
    described.publish(String(data=PLACES.to_text()))
    navigator()
    return Commander(peer)


@pytest.fixture
def drive(start: Start, peer: Peer) -> Callable[..., DrivenRobot]:
    """Start a driver of ``node``, with the robot that it drives."""
    def start_driver(node: str = 'grid_driver', **parameters: object) -> DrivenRobot:
        platform = Unicycle(
            peer, parameters.get('pose_source', 'odom'), parameters.get('stamped', False))
        return DrivenRobot(peer, start(node, **{**FAST, **parameters}), platform)
    return start_driver
