# SPDX-License-Identifier: Apache-2.0

"""
A plug-in: policies that are improved on request, until they are proven to be nearly the best.

Read ``improvements``, a ``BackgroundTask`` of the watch phase. No other room imports this one;
``components`` names it.
"""
