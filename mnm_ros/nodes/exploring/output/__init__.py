# SPDX-License-Identifier: Apache-2.0

"""
What an explorer publishes: each topic is made in one place.

Read ``publishers`` (latched, for late joiners), over ``live_topics`` (as often as can be shown)
and ``markers`` (for RViz).
"""
