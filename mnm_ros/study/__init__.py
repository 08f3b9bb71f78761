# SPDX-License-Identifier: Apache-2.0

"""
One call that explores (``explore``), and one that compares MNM with other methods (``study``).

Read ``explore``; then ``study``, ``methods`` (what is compared) and ``course`` (one exploration).
"""
