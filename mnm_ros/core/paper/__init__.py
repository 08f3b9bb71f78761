# SPDX-License-Identifier: Apache-2.0

"""
The parts of the preset ``paper``: UcbExplore, and its parts as they are printed.

Read ``ucb_explore``, then ``discovery`` and ``optimism``; ``kl_optimism`` is what the preset
onboard has with this base, and ``window_phase`` is the checking phase.
"""
