# SPDX-License-Identifier: Apache-2.0

"""
How sure is it: bounds that hold with what they may be wrong by.

Read ``delta_spending`` first, what may be wrong by how much; then ``evaluation`` (is a policy
within the limit, by its own attempts), ``certificate`` (the same by all transitions there are) and
``reach`` (is a state within the radius). Each has its argument beside the code, and hands out one
class that receives outcomes and returns a bound. ``kl_ball`` solves the one equation they share.
"""
