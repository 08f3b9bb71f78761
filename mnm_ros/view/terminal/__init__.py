# SPDX-License-Identifier: Apache-2.0

"""
The live view in a terminal, and the lines in its place: no ROS.

Read ``live_view``, then ``state_grid`` (its map).
"""
