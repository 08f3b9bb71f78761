# SPDX-License-Identifier: Apache-2.0

"""
What is known of an explorer from outside, and what is shown of it: in terminal, page and RViz.

Read ``telemetry``, which ``subscriptions`` beside this room fills from the topics, then ``scene``
(what is drawn), ``language`` (the table of words), ``sentences`` and ``words``. They are shown by
``terminal``, ``web`` and ``shapes`` (in RViz).
"""
