# SPDX-License-Identifier: Apache-2.0

"""
How far it is, for people: nothing in here decides anything.

Read ``activity`` (what is being done, as it is published) and ``prediction`` (how many steps are
left).
"""
