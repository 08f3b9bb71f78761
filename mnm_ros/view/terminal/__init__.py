# SPDX-License-Identifier: Apache-2.0

"""
The live view in a terminal, and the lines in its place: no ROS.

Read ``display``, which hands out both, then ``live_view`` (the screen) and ``state_grid`` (its
map).
"""
