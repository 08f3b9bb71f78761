# SPDX-License-Identifier: Apache-2.0

"""
MNM, the meta-algorithm: rounds of a building phase and a checking phase, over any base.

Read ``mnm`` (the table of states), ``phase`` (what any phase is), ``building_phase`` (which run of
the base has the robot when) and ``checking_phase`` (what any check of a hypothesis is). The one
interface to the algorithms below is ``base``. ``memory`` has the published hypothesis,
``change_log`` the decisions, and ``options`` what can be chosen.
"""
