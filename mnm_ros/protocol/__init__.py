# SPDX-License-Identifier: Apache-2.0

"""
The discrete step protocol, both sides, without ROS: time is passed in, in seconds.

Read ``exchange``, its two sides, then ``step_loop``, which plays an exploration by it, over
``loop``; ``single_robot_guard`` says which robot side it may command, and ``rest_rules`` when a
robot has to rest.
"""
