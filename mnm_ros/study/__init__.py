# SPDX-License-Identifier: Apache-2.0

"""
Explorations of changing worlds side by side, by MNM and by what it is compared with.

Read ``study`` (one call for all), ``methods`` (what explores) and ``course`` (what came of it).
"""
