# SPDX-License-Identifier: Apache-2.0

"""
Tests that any robot side can be run against: ``python3 -m mnm_ros.contract --help``.

Read ``clauses``, a test for each clause of the step protocol with the probability of failing a
robot that keeps it, over ``robot``, the robot side as they see it.
"""
