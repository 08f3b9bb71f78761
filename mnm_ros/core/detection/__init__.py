# SPDX-License-Identifier: Apache-2.0

"""
Detect changes: detectors that receive outcomes one by one.

Read ``detector`` (the steps a policy takes), ``transition_detector`` (where one pair of state and
action leads) and ``transition_monitor`` (all pairs there are). Each may ever be wrong by its
delta; the arguments are in the modules. ``pair_watch`` has what is done about a pair
that fails before any alarm, and about one that has closed; ``failures`` says when failures are a
hint.
"""
