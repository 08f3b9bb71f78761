# SPDX-License-Identifier: Apache-2.0

"""
The checking phase of the preset ``onboard``: rediscovering and watching, for as long as needed.

Read ``watch_phase``, whose docstring has the argument, then ``policy_watch`` (is a policy still as
good as it was) and what deals with a change: ``turns`` (who is tried when), ``relearning`` and
``step_limit``. What is detected by is in ``detection`` and ``statistics/reach``.
"""
