# SPDX-License-Identifier: Apache-2.0

"""
What an explorer publishes: each topic is made in one place.

Read ``publishers``, which hands out the class over ``hypothesis_topics`` (latched, for late
joiners), ``live_topics`` (as often as can be shown), ``markers`` (for RViz) and ``diagnosis``.
"""
