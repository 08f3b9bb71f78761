# SPDX-License-Identifier: Apache-2.0

"""
The common parts of several nodes.

Read ``spin`` (how each starts, spins and ends), ``callbacks`` (how it hears and answers) and
``graph_watch`` (which nodes are there); the others are the ends of single topics and services.
"""
