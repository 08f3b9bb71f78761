# SPDX-License-Identifier: Apache-2.0

"""
The command ``mnm_ros``: what a user without ``ros2`` needs, in one place.

Read ``main``, the table of subcommands; each is a module of its name, or in ``call`` where it
calls one service. ``source`` finds what was learnt, ``service_client`` is the node that
speaks for a subcommand.
"""
