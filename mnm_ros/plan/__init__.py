# SPDX-License-Identifier: Apache-2.0

"""
From a map of nav2 to places, rooms, doors and keep-outs, without ROS.

Read ``ground``: what is found on a map by ``nav2_map``, ``specks``, ``openings`` (which uses
``basins`` and ``gates``), ``rooms`` and ``home``. ``place_maker`` makes a place graph on it, by
``layout`` and ``spread``; ``plan_maker`` makes a plan with cells, by ``grid_fit``. ``floor_plan``
is what a plan is, and what follows from it; ``plan_file``, how it is kept; ``findings``, what is
wrong with one. ``picture`` draws both.
"""
