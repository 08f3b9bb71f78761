# SPDX-License-Identifier: Apache-2.0

"""
The way to the robot: from the next action to the message, and from the answer to the step.

Read ``robot_link`` (what the explorer asks of it, and what every link to one robot does),
``command_link`` (the usual one), ``fleet_link`` (several robots). ``callback_guard`` keeps the
node serving while a step plans.
"""
