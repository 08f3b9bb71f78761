# SPDX-License-Identifier: Apache-2.0

"""
What ``grid_driver`` and ``diff_drive_sim`` are made of: poses, transforms and ways to move.

Read ``movers`` (the ways to move along a leg, ``nav2_mover`` among them), ``pose_tracker`` (where
the robot is) and ``driver_setup``, which makes both of the parameters.
"""
