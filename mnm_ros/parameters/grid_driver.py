# SPDX-License-Identifier: Apache-2.0

"""Parameters of ``grid_driver``."""

from __future__ import annotations

import math

from mnm_ros.driving.grid import FARTHEST
from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.driving.pose_sources import POSE_SOURCES
from mnm_ros.parameters.declaration import Row

_LONG = 1e6    # s, twelve days, for whoever means never


def _length(name: str, default: float, description: str) -> Row:
    return Row(name, default, description, minimum=0.001, maximum=1e6)


def _time(name: str, default: float, description: str) -> Row:
    return Row(name, default, description, minimum=0.01, maximum=_LONG)


def _rate(name: str, default: float, maximum: float, description: str) -> Row:
    return Row(name, default, description, minimum=0.001, maximum=maximum)


def _coordinate(name: str, default: float, description: str) -> Row:
    return Row(name, default, description, minimum=-FARTHEST, maximum=FARTHEST)


GRID_DRIVER: tuple[Row, ...] = (
    Row('moves', 'compass', 'actions east, north, west, south to the neighbouring cell; or '
        'relative: forward, left, right, back', choices=tuple(MOVES)),
    Row('drive', 'cmd_vel', 'how it moves: velocities on cmd_vel, poses on goal_pose, or the '
        'action of nav2', choices=('cmd_vel', 'goal_pose', 'nav2')),
    Row('stamped', False, 'cmd_vel is a TwistStamped instead of a Twist'),
    Row('pose_source', 'odom', 'topic of the pose: odom (Odometry), amcl_pose or pose (both '
        'PoseWithCovarianceStamped, of AMCL and of slam_toolbox); or tf2: the transform from '
        'map_frame to base_frame', choices=tuple(POSE_SOURCES)),
    Row('map_frame', 'map', 'frame of the grid with pose_source tf2'),
    Row('base_frame', 'base_link', 'frame of the robot, for tf2 and for a stamped cmd_vel'),
    Row('use_map', False, 'only the free cells of the OccupancyGrid on map may be entered'),
    _length('cell_size', 0.5, 'm, side of a cell'),
    _coordinate('origin_x', -2.75, 'm, x of the lower left corner of the grid, in the frame '
                'of the poses'),
    _coordinate('origin_y', -2.75, 'm, y of the lower left corner of the grid'),
    Row('columns', 11, 'cells along x', minimum=1, maximum=10_000),
    Row('rows', 11, 'cells along y', minimum=1, maximum=10_000),
    Row('with_heading', False, 'a state is a cell and one of four headings'),
    Row('hysteresis', 0.1, 'fraction of a cell that a pose has to be beyond a border to count',
        minimum=0, maximum=0.4),
    Row('reset', 'drive', 'RESET drives to the home pose, or calls the service dock of the '
        'platform', choices=('drive', 'service')),
    _coordinate('home_x', 0.0, 'm, x of the home pose'),
    _coordinate('home_y', 0.0, 'm, y of the home pose'),
    Row('home_yaw', 0.0, 'rad, heading of the home pose', minimum=-math.pi, maximum=math.pi),
    Row('home_retries', 3, 'legs of a way home that may fail before it counts as failed',
        minimum=0, maximum=1000),
    _time('home_timeout', 300.0, 's, for a way home with all legs and retries; for each '
          'call of dock'),
    _time('move_timeout', 20.0, 's, for a move to a neighbouring cell'),
    _time('blocked_after', 2.0, 's without progress after which a move is blocked'),
    Row('max_detour', 2.0, 'times the straight way, or the side of a cell if that is longer, that '
        'a planner may drive in a move', minimum=1, maximum=1000),
    Row('pose_timeout', 1.0, 's without a pose after which the robot is stopped; 0 for never',
        minimum=0, maximum=_LONG),
    _rate('max_speed', 0.3, 100, 'm/s, highest speed'),
    _rate('max_turn', 1.0, 100, 'rad/s, highest turning speed'),
    _rate('acceleration', 0.5, 1e6, 'm/s^2, highest acceleration'),
    _rate('turn_acceleration', 2.0, 1e6, 'rad/s^2, highest turning acceleration'),
    _length('tolerance', 0.05, 'm from the target that count as reached'),
    Row('heading_tolerance', 0.1, 'rad from the wanted heading that count as reached',
        minimum=0.001, maximum=math.pi),
)
