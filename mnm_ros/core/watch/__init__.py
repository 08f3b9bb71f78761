# SPDX-License-Identifier: Apache-2.0

"""
The checking phase of the preset ``onboard``: rediscovery and attempts, for as long as needed.

Read ``watch_phase``, whose docstring has the argument, then what it takes turns with:
``rediscovery`` (one base run after the other, and what a change leaves to do), ``policy_checks``
(which policy is attempted), ``patrol`` (which of them at rest) and ``policy_monitor`` (is a policy
still as good as it was). ``watch_parts`` has the hypothesis and these parts. ``revisions`` revises
the hypothesis, ``doubts`` has what a change puts in doubt, and ``blocked`` which pairs a run knows
to stay. The detectors, and the status of each pair, are in ``detection`` and ``statistics/reach``.
"""
