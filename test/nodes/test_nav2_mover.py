# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Goals for nav2, with a stand-in for its action server."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from action_msgs.msg import GoalStatus
from mnm_ros.driving.drive import Leg, Outcome
from mnm_ros.geometry import Pose
from mnm_ros.nodes.mobile import nav2_mover
from mnm_ros.nodes.mobile.nav2_mover import Nav2Mover
from mnm_ros.nodes.mobile.poses import StampedPose
from node_processes import Peer
import pytest
from rclpy.node import Node
from rclpy.task import Future

LEG = Leg(0.5, 0.0, None, 20.0)


class Nav2:
    """Takes goals and answers when the test says so.

    goals: a future for the response to each. results: for how each accepted one has ended.
    cancelled: futures for the responses to cancellations.
    """

    def __init__(self) -> None:
        self.goals: list[Future] = []
        self.results: list[Future] = []
        self.cancelled: list[Future] = []
        self._action_name = 'navigate_to_pose'

    def server_is_ready(self) -> bool:
        return True

    def send_goal_async(self, _: Any) -> Future:
        return self._asked(self.goals)

    def respond(self, accepted: bool) -> None:
        self.goals[-1].set_result(SimpleNamespace(
            accepted=accepted, get_result_async=lambda: self._asked(self.results),
            cancel_goal_async=lambda: self._asked(self.cancelled)))

    def _asked(self, futures: list[Future]) -> Future:
        futures.append(Future())
        return futures[-1]


@pytest.fixture
def nav2(monkeypatch: pytest.MonkeyPatch) -> Nav2:
    nav2 = Nav2()
    monkeypatch.setattr(nav2_mover, 'ActionClient', lambda *_: nav2)
    monkeypatch.setattr(nav2_mover, 'NavigateToPose', SimpleNamespace(Goal=SimpleNamespace))
    return nav2


@pytest.fixture
def mover(peer: Peer, nav2: Nav2) -> Iterator[Nav2Mover]:
    node = Node('driver', context=peer.context)
    yield Nav2Mover(node)
    node.destroy_node()


def fix(time: float) -> StampedPose:
    return StampedPose(time, Pose(0.0, 0.0, 0.0), 'map')


@pytest.mark.parametrize(('status', 'outcome'), [
    (GoalStatus.STATUS_SUCCEEDED, Outcome.REACHED), (GoalStatus.STATUS_ABORTED, Outcome.BLOCKED)])
def test_a_goal_and_its_end(nav2: Nav2, mover: Nav2Mover, status: int, outcome: Outcome) -> None:
    mover.start(LEG, fix(0.0))
    nav2.respond(True)
    assert mover.update(fix(1.0)) is None
    nav2.results[-1].set_result(SimpleNamespace(status=status))
    assert mover.update(fix(2.0)) is outcome


def test_nav2_that_is_not_active_is_no_obstacle(nav2: Nav2, mover: Nav2Mover) -> None:
    """It rejects all goals at once. Nothing is learnt about the world from that."""
    mover.start(LEG, fix(0.0))
    for time in range(1, 6):
        nav2.respond(False)
        assert mover.update(fix(float(time))) is None
        assert mover.update(fix(time + 0.5)) is None
    assert 4 <= len(nav2.goals) <= 6
    nav2.respond(True)
    nav2.results[-1].set_result(SimpleNamespace(status=GoalStatus.STATUS_SUCCEEDED))
    assert mover.update(fix(7.0)) is Outcome.REACHED


def test_nav2_that_stays_inactive(nav2: Nav2, mover: Nav2Mover) -> None:
    mover.start(LEG, fix(0.0))
    nav2.respond(False)
    assert mover.update(fix(20.0)) is Outcome.TIMEOUT
    assert mover.detail == 'rejected by nav2'


def test_a_goal_is_cancelled_before_the_node_ends(nav2: Nav2, mover: Nav2Mover) -> None:
    """Also one that nav2 has not accepted yet."""
    mover.start(LEG, fix(0.0))
    mover.stop(fix(1.0))
    assert not mover.idle and not nav2.cancelled
    nav2.respond(True)
    assert not mover.idle and len(nav2.cancelled) == 1
    nav2.cancelled[-1].set_result(None)
    assert mover.idle
