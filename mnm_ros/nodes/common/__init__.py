# SPDX-License-Identifier: Apache-2.0

"""
What several nodes share.

Read ``spin`` (how each starts, spins and ends) and ``graph_watch`` (who is there); the others are
the two ends of single topics and services.
"""
