# SPDX-License-Identifier: Apache-2.0

"""
The command ``mnm_ros``: what a user without ``ros2`` needs, in one place.

Read ``main``, the table of subcommands; it names the module of each.
``service_client`` is the node that speaks for a subcommand.
"""
