# SPDX-License-Identifier: Apache-2.0

"""
Watch the exploration of a simulated CMP or robot live in a terminal: ``scripts/explore``.

Read ``command_line`` (what to run), then ``live_run`` (start, watch and stop the nodes) with
``processes``. What is shown is in the room ``view``.
"""
