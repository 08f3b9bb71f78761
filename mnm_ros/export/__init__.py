# SPDX-License-Identifier: Apache-2.0

"""
The knowledge of an exploration, for people and for other programs.

Read ``formats``, the table of what can be written, then ``contents``, the values that each of them
receives, and ``writers``; ``recording`` keeps an exploration in memory as it goes.
"""
