# SPDX-License-Identifier: Apache-2.0

"""What an explorer does with the goals of a navigator, without either node."""

from __future__ import annotations

import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.task.allowance import Allowance
from mnm_ros.core.task.navigation import GoalStatus
from mnm_ros.nodes.exploring.link.goal_drive import GoalDrive
from node_processes import Peer
from std_msgs.msg import Int64MultiArray


def test_a_goal_of_a_navigator_that_has_gone_is_given_up(peer: Peer) -> None:
    """It asks for its goal twice a second as long as it wants it."""
    lent: list[str] = []
    drive = GoalDrive(peer.node, {}, SimpleNamespace(
        commands=True, ask=lambda question: None, lend=lent.append), Allowance())
    told = peer.listen(DiagnosticArray, 'goal/drive/status')
    goals = peer.node.create_publisher(Int64MultiArray, 'goal/drive', messages.STEP)
    peer.wait_for(goals.get_subscription_count, 'the subscription')
    drive.open()
    goals.publish(messages.encode_drive(messages.DriveGoal(7, 2, 0.0, True, 0)))
    peer.wait_for(lambda: drive.driving, 'the goal')
    heard = time.monotonic()
    drive.at_rest()
    assert lent == ['the robot is on the way to the goal state 2']
    drive.tick(heard + 4.0)
    assert drive.driving and drive.reason
    drive.tick(heard + 5.1)
    assert not drive.driving and lent[1:] == ['']
    report, = peer.wait_for(lambda: [found for found in messages.decode_goals(told[-1])
                                     if found.status.over], 'the end')
    assert (report.id, report.status, report.text) == (
        7, GoalStatus.CANCELLED, 'the navigator has gone')
