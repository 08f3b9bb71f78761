# SPDX-License-Identifier: Apache-2.0

"""
What the preset ``paper`` is made of: UcbExplore, and its parts as they are printed.

Read ``ucb_explore``, which hands out the class, over ``incremental`` (known states grow one by
one), ``discovery`` and ``optimism``. ``split_samples``, ``monte_carlo``, ``per_visit_discovery``
and ``step_bound`` are as printed, ``kl_optimism`` is what ``onboard`` uses with this base, and
``window_phase`` with ``window_tests`` is the checking phase.
"""
