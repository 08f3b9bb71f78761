# SPDX-License-Identifier: Apache-2.0

"""The bond with nav2's lifecycle manager, with a stand-in for ``bondpy``."""

from __future__ import annotations

from collections.abc import Callable
import json
import os
from pathlib import Path
import runpy
from types import SimpleNamespace

from explorer_here import ExplorerHere
from lifecycle_msgs.msg import Transition
from mnm_ros.nodes import explorer as explorer_node
from node_processes import Peer, ScriptedRobot
import pytest
from std_msgs.msg import String
from test_lifecycle import change

STAND_IN = '''
"""Has the interface of bondpy.bondpy, and tells on its topic what is done with it."""
import json
from std_msgs.msg import String

class Bond:
    heartbeat_period, heartbeat_timeout = 1.0, 2.0

    def __init__(self, node, topic, bond_id, on_broken=None, on_formed=None):
        self.node, self.topic, self.id = node, topic, bond_id
        self.pub = node.create_publisher(String, topic, 10)

    def start(self):
        self.sub = self.node.create_subscription(String, self.topic, lambda message: None, 10)
        self.timer = self.node.create_timer(self.heartbeat_period, self.beat)
        # As bondpy does once the manager is silent for too long, without a look if it is there:
        self.node.declare_parameter('/bond_disable_heartbeat_timeout', False)

    def beat(self):
        if self.timer:    # else it was due when it was destroyed, and is called yet
            self.tell(True)

    def break_bond(self):
        timer, self.timer = self.timer, None
        self.node.destroy_timer(timer)
        self.tell(False)

    def shutdown(self):
        self.sub.destroy()
        self.pub.destroy()

    def tell(self, active):
        self.pub.publish(String(data=json.dumps(
            [self.id, active, self.heartbeat_period, self.heartbeat_timeout])))
'''
ALIVE, DEAD = ['explorer', True, 0.1, 4.0], ['explorer', False, 0.1, 4.0]


@pytest.fixture
def bonds(peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list]:
    """Put the stand-in where the nodes find it; return what is told on the topic."""
    package = tmp_path / 'path' / 'bondpy'
    package.mkdir(parents=True)
    (package / '__init__.py').touch()
    (package / 'bondpy.py').write_text(STAND_IN)
    monkeypatch.setenv('PYTHONPATH', f'{package.parent}{os.pathsep}{os.environ["PYTHONPATH"]}')
    heard = peer.listen(String, 'bond', 10)
    return lambda: [json.loads(message.data) for message in heard]


def test_there_is_a_bond_while_the_explorer_is_active(
        explorer: Callable, peer: Peer, robot: ScriptedRobot, bonds: Callable[[], list]) -> None:
    process = explorer(autostart=False)
    assert change(peer, Transition.TRANSITION_CONFIGURE)
    peer.spin(0.3)
    assert not bonds()
    for number in (1, 2):
        assert change(peer, Transition.TRANSITION_ACTIVATE)
        peer.wait_for(lambda: bonds() and bonds()[-1] == ALIVE, 'the bond')
        count = len(robot.executed)
        peer.wait_for(lambda count=count: len(robot.executed) > count + 5, 'steps')
        assert change(peer, Transition.TRANSITION_DEACTIVATE)
        peer.wait_for(lambda number=number: bonds().count(DEAD) == number, 'its end')
    count = len(bonds())
    peer.spin(0.3)
    assert len(bonds()) == count
    assert change(peer, Transition.TRANSITION_ACTIVATE)
    peer.wait_for(lambda: bonds()[-1] == ALIVE, 'the bond')
    assert process.stop() == 0, process.output
    peer.wait_for(lambda: bonds()[-1] == DEAD, 'its end with the node')
    assert 'Traceback' not in process.output


def test_there_is_none_with_a_manager_that_cannot_be(
        peer: Peer, robot: ScriptedRobot, bonds: Callable[[], list], tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    stand_in = runpy.run_path(str(tmp_path / 'path' / 'bondpy' / 'bondpy.py'))
    monkeypatch.setattr(explorer_node, 'bondpy', SimpleNamespace(**stand_in))
    process = ExplorerHere(peer, capfd, actions=['east', 'west'])
    peer.wait_for(lambda: len(robot.executed) > 5, 'steps')
    peer.spin(0.3)
    assert not bonds()
    process.stop()
