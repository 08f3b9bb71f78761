# SPDX-License-Identifier: Apache-2.0

"""
The ROS nodes: thin shells around the core and the simulation.

Each module here but ``robot_side``, the base class of robots, is an executable; read ``explorer``
first. What one of them is made of stands in a room beside it. A time that is passed in as ``now``
is one of ``time.monotonic``, in seconds.
"""
