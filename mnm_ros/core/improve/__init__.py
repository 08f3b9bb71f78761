# SPDX-License-Identifier: Apache-2.0

"""
A plug-in: policies that are improved on request, until they are proven to be nearly the best.

Read ``improvements``, a ``BackgroundTask`` of the watch phase, then ``least_steps``, the bound on
the best policy that its proofs rest on. No other room imports this one; ``components`` names it.
"""
