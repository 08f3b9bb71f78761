# SPDX-License-Identifier: Apache-2.0

"""
Route graphs that people already have, read as places and the ways between them.

Read ``place_graph``, then ``zones`` (at which place a robot is) and ``drives`` (how it executes an
action, and RESET).
"""
