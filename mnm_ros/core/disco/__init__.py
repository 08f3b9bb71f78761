# SPDX-License-Identifier: Apache-2.0

"""
The base algorithm ``disco``, of the preset ``onboard``; ``docs/disco.md`` tells it.

Read ``disco``, which hands out the class, in the order of a state's life: ``sampling`` (which pair
next, with ``sampling_plan``), ``evidence`` (what certifies a policy), ``policy_tests`` (attempts
that do) and ``failed_certificates`` (when it is tried again).
"""
