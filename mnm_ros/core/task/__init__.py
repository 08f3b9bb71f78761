# SPDX-License-Identifier: Apache-2.0

"""
The tasks that choose the steps of a robot, one action at a time, without blocking.

Read ``step_task`` (``StepTask``, ``play()``, ``Homing``, which says whether a RESET has led home,
and ``PausableTask``, which an exploration is, with its state machine), then ``navigation``, which
leads to a state by learnt policies.
"""
