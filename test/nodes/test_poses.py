# SPDX-License-Identifier: Apache-2.0

"""Poses from messages."""

from __future__ import annotations

import math

from geometry_msgs.msg import Pose as PoseMessage
from mnm_ros.nodes.mobile.poses import planar, set_pose
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
