# SPDX-License-Identifier: Apache-2.0

"""
How a mobile robot becomes a CMP: cells, routes and driving, without ROS.

Read ``grid`` (poses as states, and routes), ``maneuvers`` (actions as legs), ``drive`` (a leg as
velocities) and ``continuity`` (which poses to believe).
"""
