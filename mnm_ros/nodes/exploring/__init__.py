# SPDX-License-Identifier: Apache-2.0

"""
The parts of the explorer: an exploration with a robot on one side and topics on the other.

Read ``session``, which ``nodes/explorer`` starts: it builds the exploration, the ``link`` to the
robot or to several, the ``output`` of topics, the ``services`` and the ``exploration_store`` with
its ``kept_files``.
"""
