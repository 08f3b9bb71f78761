# SPDX-License-Identifier: Apache-2.0

"""
What the node ``navigator`` is made of: the policies it has heard, and what it says of goals.

Read ``learnt_policies``, then ``goal_board``.
"""
