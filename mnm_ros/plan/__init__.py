# SPDX-License-Identifier: Apache-2.0

"""
From a map of nav2 to places, rooms, doors and keep-outs, without ROS.

Read ``ground``: what is found on a map by ``nav2_map``, ``specks``, ``openings`` (which uses
``basins`` and ``gates``), ``rooms`` and ``home``. ``place_maker`` makes a place graph on it, by
``layout``, ``spread`` and ``place_rules``; ``plan_maker`` makes a plan with cells, by
``grid_fit``. ``floor_plan`` is what a plan is, and what follows from it; ``plan_file``, how it is
kept; ``findings`` and ``place_findings``, what is wrong with a plan and with a graph. ``edits``
and ``place_edits`` change a ``draft`` of them. ``picture`` draws both.
"""
