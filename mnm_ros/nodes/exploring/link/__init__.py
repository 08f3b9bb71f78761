# SPDX-License-Identifier: Apache-2.0

"""
The way to the robot: from the next action to the message, and from the answer to the step.

Read ``link`` (what the explorer asks of it), ``robot_link`` (what every link to one robot does),
``command_link`` (the usual one), ``fleet_link`` (several robots). ``callback_guard`` keeps the
node serving while a step plans.
"""
