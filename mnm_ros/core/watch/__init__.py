# SPDX-License-Identifier: Apache-2.0

"""
The checking phase of the preset ``onboard``: rediscovering and watching, for as long as needed.

Read ``watch_phase``, whose docstring has the argument, then what it takes turns with:
``rediscovery`` (one base run after the other, and what a change leaves to do), ``watching`` (is a
policy still as good as it was), ``patrol`` and ``watch_schedule`` (which is tried next),
``suspicion`` (which policies are doubted) and ``model_verdicts`` (which are too slow, or slower
than another way). What is detected by is in ``detection`` and ``statistics/reach``.
"""
