# SPDX-License-Identifier: Apache-2.0

"""The joint meaning of the parameters of a driver of a mobile robot, whatever its states are."""

from __future__ import annotations

from collections.abc import Callable
import math

from mnm_ros.core.errors import ParameterError
from mnm_ros.driving.continuity import PoseReach
from mnm_ros.driving.drive import limits_of
from mnm_ros.driving.grid import QUARTER
from mnm_ros.driving.pose import Pose, POSE_SOURCES, TRANSFORMS
from mnm_ros.driving.sight import NO_REVERSE, Sight
from mnm_ros.nodes.mobile.eyes import Eyes, MountOf
from mnm_ros.nodes.mobile.movers import DockMover, GoalMover, Mover, VelocityMover
from mnm_ros.nodes.mobile.nav2_mover import Nav2Mover
from mnm_ros.nodes.mobile.poses import check_frames, PoseTopic, PoseTransforms
from mnm_ros.parameters import Parameters
from rclpy.node import Node


def reach_of(given: Parameters, size: float) -> PoseReach:
    """
    Return how far a pose may be from the one before.

    A planner may have a localisation that speaks only when the robot has moved or turned.

    :param size: of the area of a state in m.
    """
    by_velocity, limits = given['drive'] == 'cmd_vel', limits_of(given)
    return PoseReach(limits.speed, limits.turn, size * (0.5 if by_velocity else 1.0),
                     QUARTER / 2 if by_velocity else math.pi, given['move_timeout'])


def eyes_of(node: Node, given: Parameters, mount_of: MountOf) -> Eyes | None:
    """Return what sees obstacles; None without a scanner."""
    if not given['use_scan']:
        return None
    mount = Pose(given['scan_x'], given['scan_y'], given['scan_yaw'])
    return Eyes(node, Sight(given['robot_radius'], given['scan_margin']), mount, mount_of,
                given['pose_timeout'])


def movers_of(node: Node, given: Parameters, size: float,
              eyes: Eyes | None = None) -> tuple[Mover, Mover]:
    """
    Return what moves the robot from state to state, and what moves it home.

    :param size: of the area of a state in m.
    """
    mover: Mover
    planned = node, limits_of(given), given['max_detour'], size
    if given['drive'] == 'cmd_vel':
        mover = VelocityMover(
            node, limits_of(given), given['base_frame'] if given['stamped'] else None, eyes)
    elif given['drive'] == 'goal_pose':
        mover = GoalMover(*planned)
    else:
        mover = Nav2Mover(*planned)
    return mover, DockMover(node) if given['reset'] == 'service' else mover


def poses_of(
        node: Node, given: Parameters, take: Callable[..., None]) -> PoseTopic | PoseTransforms:
    """Return where the poses come from; ``take`` is called with each."""
    source = given['pose_source']
    if POSE_SOURCES[source] == TRANSFORMS:
        return PoseTransforms(node, given['map_frame'], given['base_frame'],
                              given['pose_timeout'] or math.inf, take)
    return PoseTopic(node, source, take)


def suit_base(given: Parameters) -> None:
    """Let a base turn that must not drive backwards far, unless ``reverse`` is set."""
    given.find('reverse', given['bump_type'] not in NO_REVERSE)


def check(given: Parameters) -> None:
    """Raise ParameterError if values that are allowed do not fit together."""
    check_frames(given, 'map_frame', 'base_frame')
    if given['use_scan'] and not (given['drive'] == 'cmd_vel' and given['robot_radius']):
        raise ParameterError(
            "parameter 'use_scan' is True, expected drive cmd_vel, as planners look for "
            'themselves, and a robot_radius above 0')
    if given['drive'] == 'cmd_vel' and not given['pose_timeout']:
        raise ParameterError(
            "parameter 'pose_timeout' is 0.0, expected > 0 with drive cmd_vel")
