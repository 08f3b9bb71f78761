# SPDX-License-Identifier: Apache-2.0

"""
What the node ``navigator`` is made of, beside ``core/task/navigation``.

Read ``learnt_policies``, what it has heard of them, and ``goal_board``, what it tells of goals.
"""
