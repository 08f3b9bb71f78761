# SPDX-License-Identifier: Apache-2.0

"""
Floor plans: from a map of nav2 to cells, rooms, doors and keep-outs, without ROS.

Read ``floor_plan`` (what a plan is, and what follows from it) and ``plan_file``, how it is kept;
then ``plan_maker``: how one is made by ``nav2_map``, ``specks``, ``openings``,
``rooms``, ``home`` and ``grid_fit``.
``findings`` says what is wrong with one, ``picture`` draws it.
"""
