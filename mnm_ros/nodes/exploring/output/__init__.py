# SPDX-License-Identifier: Apache-2.0

"""
The topics of an explorer: each is made in one place.

Read ``publishers`` (latched, for late joiners), over ``live_topics`` (as often as can be shown)
and ``markers`` (for RViz).
"""
