# SPDX-License-Identifier: Apache-2.0

"""
Watch the exploration of a simulated CMP or robot live in a terminal: ``scripts/explore``.

Read ``live_run`` (start the nodes, watch them, stop them) with ``processes``, and
``command_line``, which becomes ``run_options``. What is shown is in the room ``view``.
"""
