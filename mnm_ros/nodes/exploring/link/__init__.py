# SPDX-License-Identifier: Apache-2.0

"""
The way to the robot: from the next action to the message, and from the answer to the step.

Read ``link`` (what the explorer asks of it), ``command_link`` (the way to one robot and back),
``fleet_link`` (several robots). ``callback_guard`` keeps the node serving while a step plans.
"""
