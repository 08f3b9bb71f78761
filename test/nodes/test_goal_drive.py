# SPDX-License-Identifier: Apache-2.0

"""What an explorer does with the goals of a navigator, without either node."""

from __future__ import annotations

import time
from types import SimpleNamespace

from diagnostic_msgs.msg import DiagnosticArray
from mnm_ros import messages
from mnm_ros.core import Policy
from mnm_ros.core.progress.said import (
    GoalUnderWay,
    NotDescribed,
    OtherCommands,
    Reason,
    StaysAtGoal,
)
from mnm_ros.core.task.navigation import GoalStatus
from mnm_ros.nodes.common.allowance import Allowance
from mnm_ros.nodes.exploring.link.goal_drive import GoalDrive
from mnm_ros.protocol.exchange import REPORT, SequenceNumbers
from node_processes import Peer
from std_msgs.msg import Int64MultiArray

LIMITS = {'reset_mode': 'action', 'step_timeout': 60.0, 'step_retries': 3, 'reset_retries': 3,
          'max_steps': 0}


class Goals:
    """The goals of one explorer, and what it does for them."""

    def __init__(self, peer: Peer, **exploration: object) -> None:
        self.peer, self.lent = peer, list[Reason]()
        self.commanded: list[tuple[int, ...]] = []
        self.drive = GoalDrive(peer.node, LIMITS, SimpleNamespace(
            commands=True, lend=self.lent.append, refused=False, learn=lambda *step: None,
            send_command=lambda *command: self.commanded.append(command),
            numbers=SequenceNumbers(1), loop=SimpleNamespace(running=True),
            ask=lambda question: exploration and question(SimpleNamespace(**exploration))),
            Allowance())
        self._told = peer.listen(DiagnosticArray, 'goal/drive/status')
        self._goals = peer.node.create_publisher(Int64MultiArray, 'goal/drive', messages.STEP)
        peer.wait_for(self._goals.get_subscription_count, 'the subscription')
        self.drive.open()

    def begin(self, stays: float = 0.0, number: int = 7) -> None:
        """Ask for state 2 between two steps of the exploration."""
        self._goals.publish(messages.encode_drive(
            messages.DriveGoal(number, 2, stays, True, 0)))
        self.peer.wait_for(lambda: self.drive.driving, 'the goal')
        self.drive.at_rest()

    def answer(self, state: int) -> None:
        """Let the last command have led to a state."""
        seq, *_ = self.commanded[-1]
        self.drive.on_state(seq, state, time.monotonic())

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
    assert goals.end() == (GoalStatus.REFUSED, 'no policy leads there')


def explored(closed: dict[tuple[int, int], int]) -> dict[str, object]:
    """Return an exploration with a policy that leads from home to 1 and on to 2."""
    policy = Policy(2, 12, (0, 1), ((0, 1),))
    return {'home': 0, 'policy_to': lambda target: policy, 'closed': closed,
            'mnm': SimpleNamespace(support=SimpleNamespace(all_forbidden=frozenset()))}


def test_a_goal_waits_for_a_description_and_fails_for_what_ends_it(peer: Peer) -> None:
    goals = Goals(peer, **explored({}))
    goals.begin()
    goals.drive.yield_robot('', NotDescribed(), time.monotonic())
    goals.answer(0)
    assert goals.drive.driving and len(goals.commanded) == 1
    goals.drive.yield_robot('', '', time.monotonic())
    assert len(goals.commanded) == 2
    goals.drive.yield_robot(OtherCommands('/action'), NotDescribed(), time.monotonic())
    assert goals.end() == (GoalStatus.FAILED, 'another node publishes /action')


def test_a_goal_behind_a_closed_way_is_refused(peer: Peer) -> None:
    goals = Goals(peer, **explored({(1, 1): 0}))
    goals.begin()
    assert goals.end() == (
        GoalStatus.REFUSED, 'its policy plays action 1 in state 1, which is closed')
    assert goals.lent[-1] == ''


def test_a_goal_whose_way_turns_out_to_be_closed_fails(peer: Peer) -> None:
    """It would be driven against the door again and again, as nothing is relearnt meanwhile."""
    closed: dict[tuple[int, int], int] = {}
    goals = Goals(peer, **explored(closed))
    goals.begin()

    for state in (0, 1, 1, 1):
        goals.answer(state)
    assert goals.drive.driving and len(goals.commanded) == 5
    closed[1, 1] = 0
    goals.answer(1)
    assert len(goals.commanded) == 5
    assert goals.end() == (
        GoalStatus.FAILED, 'its policy plays action 1 in state 1, which is closed')
    assert not goals.drive.driving and goals.lent[-1] == ''


def test_a_stay_ends_when_the_robot_was_moved_and_at_once_if_asked_for(peer: Peer) -> None:
    goals = Goals(peer, **explored({}))
    goals.begin(stays=60.0)
    for state in (0, 1, 2):
        goals.answer(state)
    for seq, state in ((REPORT, 2), (5, 1)):    # it is still there; the other is an old answer
        goals.drive.on_state(seq, state, time.monotonic())
        goals.drive.tick(time.monotonic())
    assert goals.lent[-1] == StaysAtGoal(2, 60.0) and goals.drive.driving
    goals.drive.on_state(REPORT, 0, time.monotonic())    # it was led home
    goals.drive.tick(time.monotonic())
    assert goals.lent[-1] == '' and not goals.drive.driving
    goals.begin(stays=60.0, number=8)
    for state in (0, 1, 2):
        goals.answer(state)
    assert goals.lent[-1] == StaysAtGoal(2, 60.0)
    goals.drive.leave()
    assert goals.lent[-1] == '' and not goals.drive.driving
