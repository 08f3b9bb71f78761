# SPDX-License-Identifier: Apache-2.0

"""Where actions may lead, as robot sides declare it."""

from __future__ import annotations

from collections.abc import Callable

from mnm_ros.core.model.declaration import Declaration
from mnm_ros.robot_description import RobotDescription
from node_processes import Peer
from std_msgs.msg import Int64, String
from std_srvs.srv import Trigger


def test_the_simulator_declares_its_first_setting_on_request(start: Callable, peer: Peer) -> None:
    heard, setting = peer.listen(String, 'robot_side'), peer.listen(Int64, 'true_setting')
    silent = peer.listen(String, 'silent/robot_side')
    start('cmp_sim', scenario='moving_wall', declare_successors=True)
    start('cmp_sim', '/silent', scenario='moving_wall')
    peer.wait_for(lambda: heard and silent, 'descriptions')
    assert not RobotDescription.from_text(silent[-1].data).declaration
    first = RobotDescription.from_text(heard[-1].data)
    assert first.declaration.successors[0] == ((1, 0), (0,), (5, 0), (0,))
    assert len(first.declaration.successors) == len(first.names)
    peer.call(Trigger, 'change', Trigger.Request())
    peer.wait_for(lambda: setting and setting[-1].data == 1, 'the other setting')
    peer.wait_for(lambda: len(heard) == 2, 'other walls')
    after = RobotDescription.from_text(heard[-1].data)
    assert after.walls != first.walls and after.declaration == first.declaration != Declaration()
