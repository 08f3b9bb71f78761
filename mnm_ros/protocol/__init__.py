# SPDX-License-Identifier: Apache-2.0

"""
The discrete step protocol, both sides, without ROS: time is passed in, in seconds.

Read ``clients`` and ``step_server``, its two sides, then ``step_loop``, which plays an exploration
by it and hands out the class, over ``loop``; ``single_robot_guard`` says whom it may command.
"""
