# SPDX-License-Identifier: Apache-2.0

"""
MNM, the meta-algorithm: rounds of a building phase and a checking phase, over any base.

Read ``mnm`` (the table of phases), ``phase`` (what any phase is), ``building_phase`` (which run of
the base has the robot when), ``checking_phase`` (what any check of a hypothesis is), and ``base``,
the one interface to the algorithms below. ``change_log`` has the decisions, and ``options``
declares what can be chosen.
"""
