# Copyright 2026 mnm_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.

"""Parameters of ``grid_driver``."""

from __future__ import annotations

import math

from mnm_ros.driving.maneuvers import MOVES
from mnm_ros.parameters.declaration import Row


def _positive(name: str, default: float, description: str) -> Row:
    return Row(name, default, description, minimum=0, open_ends=True)


GRID_DRIVER: tuple[Row, ...] = (
    Row('moves', 'compass', 'actions east, north, west, south to the neighbouring cell; or '
        'relative: forward, left, right, back', choices=tuple(MOVES)),
    Row('drive', 'cmd_vel', 'how it moves: velocities on cmd_vel, poses on goal_pose, or the '
        'action of nav2', choices=('cmd_vel', 'goal_pose', 'nav2')),
    Row('stamped', False, 'cmd_vel is a TwistStamped instead of a Twist'),
    Row('pose_source', 'odom', 'topic of the pose: odom (Odometry) or amcl_pose '
        '(PoseWithCovarianceStamped)', choices=('odom', 'amcl_pose')),
    Row('use_map', False, 'only the free cells of the OccupancyGrid on map may be entered'),
    _positive('cell_size', 0.5, 'm, side of a cell'),
    Row('origin_x', -2.75, 'm, x of the lower left corner of the grid, in the frame of the poses'),
    Row('origin_y', -2.75, 'm, y of the lower left corner of the grid'),
    Row('columns', 11, 'cells along x', minimum=1, maximum=10_000),
    Row('rows', 11, 'cells along y', minimum=1, maximum=10_000),
    Row('with_heading', False, 'a state is a cell and one of four headings'),
    Row('hysteresis', 0.1, 'fraction of a cell that a pose has to be beyond a border to count',
        minimum=0, maximum=0.4),
    Row('reset', 'drive', 'RESET drives to the home pose, or calls the service dock of the '
        'platform', choices=('drive', 'service')),
    Row('home_x', 0.0, 'm, x of the home pose'),
    Row('home_y', 0.0, 'm, y of the home pose'),
    Row('home_yaw', 0.0, 'rad, heading of the home pose', minimum=-math.pi, maximum=math.pi),
    Row('home_retries', 3, 'legs of a way home that may fail before it counts as failed',
        minimum=0),
    _positive('home_timeout', 120.0, 's, for a way home in one go: by goal_pose, nav2 or dock'),
    _positive('move_timeout', 20.0, 's, for a move to a neighbouring cell'),
    _positive('blocked_after', 2.0, 's without progress after which a move is blocked'),
    Row('pose_timeout', 1.0, 's without a pose after which the robot is stopped; 0 for never',
        minimum=0),
    _positive('max_speed', 0.3, 'm/s, highest speed'),
    _positive('max_turn', 1.0, 'rad/s, highest turning speed'),
    _positive('acceleration', 0.5, 'm/s^2, highest acceleration'),
    _positive('turn_acceleration', 2.0, 'rad/s^2, highest turning acceleration'),
    _positive('tolerance', 0.05, 'm from the target that count as reached'),
    _positive('heading_tolerance', 0.1, 'rad from the wanted heading that count as reached'),
)
