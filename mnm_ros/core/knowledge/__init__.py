# SPDX-License-Identifier: Apache-2.0

"""
The knowledge of each state, in one place for all who show it.

Read ``knowledge`` (what a state is, and what is known of the way there), then ``expected_plays``
(what a policy takes if the counts are the truth).
"""
