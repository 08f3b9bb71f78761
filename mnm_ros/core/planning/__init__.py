# SPDX-License-Identifier: Apache-2.0

"""
The best that a CMP might still be: optimistic plans over all CMPs that the counts allow.

Read ``plausible`` (the confidence region, and the argument for it), then ``optimistic_planner``,
which this room hands out; ``optimistic_sweeps`` is its inner loop.
"""
