# SPDX-License-Identifier: Apache-2.0

"""
The base algorithm ``disco``, of the preset ``onboard``; see ``docs/explanation/disco.md``.

Read ``disco``, which hands out the class, and ``agenda``, which says what it does next. Then read
what it asks, in the order of a state's life: ``sample`` (which pair next), ``rule_out`` (when a
state needs no policy) and ``certify`` (when it has one), with ``known`` (how long it keeps it),
``examiner`` (the best policy and its bounds), ``evidence`` (what certifies a policy: transitions,
and tests by attempts), ``policy_tests`` (which test goes on, and which policies share an attempt),
and ``provisional`` (which have one before the run is over).
"""
