# SPDX-License-Identifier: Apache-2.0

"""
The parts of the node ``navigator``: what it has heard, how it drives, and what it says of goals.

Read ``learnt_policies`` (how to get there), ``own_drive`` (how to drive there without an
explorer) and ``goal_board``, then what nav2's clients get: ``nav2_server``, ``place_finder``,
``pose_goals`` and ``path_answers``.
"""
