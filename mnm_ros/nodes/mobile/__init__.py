# SPDX-License-Identifier: Apache-2.0

"""
Poses, transforms and ways to move, of which the drivers and ``diff_drive_sim`` are made.

Read ``mobile_driver`` (what all drivers do), ``movers`` (the ways to move along a leg,
``nav2_mover`` among them), ``pose_tracker`` (where the robot is), ``driven_map`` (by what map it
drives), ``driver_setup``, which makes these of the parameters, and ``grid_setup`` (what is special
about a grid).
"""
