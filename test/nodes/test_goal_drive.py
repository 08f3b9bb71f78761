# SPDX-License-Identifier: Apache-2.0

"""What an explorer does with the goals of a navigator, without either node."""

from __future__ import annotations

import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core.progress.said import GoalUnderWay, Reason
from mnm_ros.core.task.allowance import Allowance
from mnm_ros.core.task.navigation import GoalStatus
from mnm_ros.nodes.exploring.link.goal_drive import GoalDrive
from node_processes import Peer
from std_msgs.msg import Int64MultiArray


class Goals:
    """The goals of one explorer, and what it does for them."""

    def __init__(self, peer: Peer, **exploration: object) -> None:
        self.peer, self.lent = peer, list[Reason]()
        self.drive = GoalDrive(peer.node, {}, SimpleNamespace(
            commands=True, lend=self.lent.append,
            ask=lambda question: exploration and question(SimpleNamespace(**exploration))),
            Allowance())
        self._told = peer.listen(DiagnosticArray, 'goal/drive/status')
        self._goals = peer.node.create_publisher(Int64MultiArray, 'goal/drive', messages.STEP)
        peer.wait_for(self._goals.get_subscription_count, 'the subscription')
        self.drive.open()

    def begin(self) -> None:
        """Ask for state 2 between two steps of the exploration."""
        self._goals.publish(messages.encode_drive(messages.DriveGoal(7, 2, 0.0, True, 0)))
        self.peer.wait_for(lambda: self.drive.driving, 'the goal')
        self.drive.at_rest()

    def end(self) -> tuple[GoalStatus, str]:
        """Wait for the report of its end."""
        report, = self.peer.wait_for(lambda: [
            found for found in messages.decode_goals(self._told[-1]) if found.status.over],
            'the end')
        assert report.id == 7
        return report.status, report.text


def test_a_goal_of_a_navigator_that_has_gone_is_given_up(peer: Peer) -> None:
    """It asks for its goal twice a second as long as it wants it."""
    goals = Goals(peer)
    goals.begin()
    heard = time.monotonic()
    assert goals.lent == [GoalUnderWay(2)]
    goals.drive.tick(heard + 4.0)
    assert goals.drive.driving and goals.drive.reason
    goals.drive.tick(heard + 5.1)
    assert not goals.drive.driving and goals.lent[1:] == ['']
    assert goals.end() == (GoalStatus.CANCELLED, 'the navigator has gone')


def test_a_goal_without_a_policy_is_refused(peer: Peer) -> None:
    """The exploration goes on at once."""
    goals = Goals(peer, home=0, policy_to=lambda target: None)
    goals.begin()
    assert not goals.drive.driving and goals.lent[-1] == ''
    assert goals.end() == (GoalStatus.REFUSED, 'the explorer has no policy for it')
