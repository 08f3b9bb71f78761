# SPDX-License-Identifier: Apache-2.0

"""Parameters of ``diff_drive_sim``."""

from __future__ import annotations

from mnm_ros.parameters.declaration import Row

DIFF_DRIVE_SIM: tuple[Row, ...] = (
    Row('world', '', 'path, or name of a file in config/worlds', read_only=True),
    Row('seed', 0, 'of slip and noise', minimum=0, read_only=True),
    Row('real_time_factor', 1.0, 'simulated seconds per second; 0 for as fast as commands come',
        minimum=0, maximum=1000, read_only=True),
    Row('publish_clock', True, 'publish the simulated time on /clock', read_only=True),
    Row('stamped', False, 'cmd_vel is a TwistStamped', read_only=True),
    Row('broadcast', 'map', 'transforms on tf: map (from map_frame to odom_frame to base_frame), '
        'odom (from odom_frame to base_frame only) or none', choices=('map', 'odom', 'none'),
        read_only=True),
    Row('map_frame', 'map', 'frame of the world, for amcl_pose, true_pose, map and markers',
        read_only=True),
    Row('odom_frame', 'odom', 'frame in which the wheels count', read_only=True),
    Row('base_frame', 'base_link', 'frame of the robot', read_only=True),
    Row('tick', 0.05, 's of simulated time between two poses', minimum=0.001, maximum=1,
        read_only=True),
    Row('robot_radius', 0.15, 'm, less than half a cell', minimum=0.001, maximum=100,
        read_only=True),
    Row('wheel_separation', 0.2, 'm', minimum=0.001, maximum=100, read_only=True),
    Row('max_speed', 0.5, 'm/s', minimum=0.001, maximum=100, read_only=True),
    Row('max_turn_rate', 2.0, 'rad/s', minimum=0.001, maximum=100, read_only=True),
    Row('acceleration', 1.0, 'm/s^2', minimum=0.001, maximum=1e6, read_only=True),
    Row('turn_acceleration', 6.0, 'rad/s^2', minimum=0.001, maximum=1e6, read_only=True),
    Row('command_timeout', 0.5, 's of simulated time after a command until the robot brakes',
        minimum=0.001, maximum=3600, read_only=True),
    Row('slip', 0.0, 'probability that a wheel slips in a tick', minimum=0, maximum=1,
        read_only=True),
    Row('odom_noise', 0.0, 'standard deviation of what a wheel is seen to turn, relative',
        minimum=0, maximum=1, read_only=True),
    Row('pose_noise', 0.0, 'm, standard deviation of amcl_pose, in x and in y', minimum=0,
        maximum=100, read_only=True),
    Row('heading_noise', 0.0, 'rad, standard deviation of the heading of amcl_pose', minimum=0,
        maximum=1, read_only=True),
)
