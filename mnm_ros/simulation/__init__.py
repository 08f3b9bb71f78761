# SPDX-License-Identifier: Apache-2.0

"""
Simulated controlled Markov processes and what is true of them, without ROS.

Read ``cmp``, ``scenario`` (several of them, one after the other), ``simulator`` (which plays one)
and ``ground_truth``, which judges a hypothesis; ``world`` and ``diff_drive`` are the mobile robot.
"""
