# SPDX-License-Identifier: Apache-2.0

"""Poses from messages."""

from __future__ import annotations

from itertools import count
import math

from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseWithCovarianceStamped
from mnm_ros.nodes.mobile.pose_tracker import PoseTracker
from mnm_ros.nodes.mobile.poses import planar, set_pose
from mnm_ros.parameters import NODES
from node_processes import Peer
import pytest


@pytest.mark.parametrize('length', [1.0, 0.7, 1.42, 20.0])
@pytest.mark.parametrize('yaw', [0.0, 1.0, math.pi / 2, -2.5])
def test_the_length_of_a_quaternion_does_not_matter(yaw: float, length: float) -> None:
    message = PoseMessage()
    set_pose(message, 1.0, 2.0, yaw)
    message.orientation.z *= length
    message.orientation.w *= length
    assert planar(message) == pytest.approx((1.0, 2.0, yaw))


@pytest.mark.parametrize('w', [0.0, 1e-200, 1e308, math.nan, math.inf])
def test_what_is_no_rotation(w: float) -> None:
    message = PoseMessage()
    message.orientation.w = w
    assert planar(message) is None


@pytest.mark.parametrize('x', [1e308, -1e308, 2e8, math.nan, math.inf])
def test_what_is_no_place(x: float) -> None:
    message = PoseMessage()
    message.orientation.w = 1.0
    message.position.x = x
    assert planar(message) is None
    message.position.x, message.position.y = 0.0, x
    assert planar(message) is None
    message.position.y = 1e7
    assert planar(message) == (0.0, 1e7, 0.0)


def test_a_leap_of_the_pose_tells_no_other_cell(peer: Peer) -> None:
    """Unless it lasts; a long one counts as soon as it is believed."""
    given = {spec.name: spec.default for spec in NODES['grid_driver']}
    tracker, ticks = PoseTracker(peer.node, given), count(1)

    def states(*places: float) -> list[int]:
        found = []
        for x in places:
            message = PoseWithCovarianceStamped()
            message.header.stamp.sec, tenths = divmod(next(ticks), 20)
            message.header.stamp.nanosec = tenths * 50_000_000
            message.pose.pose.position.x, message.pose.pose.orientation.w = x, 1.0
            tracker.take(message)
            found.append(tracker.place.state)
        return found
    assert {*states(*(tick * 0.015 for tick in range(16)))} == {60}    # 0.3 m/s, up to 0.225 m
    assert states(*[0.37] * 10, *[0.24] * 10) == [60] * 20
    assert states(0.26, 0.28, 0.29, 0.31, 0.32) == [60, 60, 60, 61, 61]
    lasting = states(*[0.19] * 20)
    assert lasting[:14] == [61] * 14 and lasting[16:] == [60] * 4
    assert states(*[0.8] * 6) == [60] * 5 + [62]
