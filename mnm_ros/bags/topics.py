# SPDX-License-Identifier: Apache-2.0

"""Which topics of an exploration belong into a bag."""

STEPS = ('action', 'state', 'interruption', 'configuration')
"""All that a replay needs."""

RECORDED = (
    *STEPS, 'action/driver', 'robot_side', 'known_states', 'phase', 'status', '/diagnostics',
    'goal', 'goal_result', 'outcome', 'true_setting', 'exploration_steps')
"""What is recorded. Policies are left out: they are large, and a replay finds them again."""
