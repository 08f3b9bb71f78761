# SPDX-License-Identifier: Apache-2.0

"""
Several robots of one kind that explore as one.

Read ``fleet``, which hands out the class, its link to one robot, and what was brought home and not
yet asked for; ``assignments`` says what is wanted next and which robot goes where.
"""
