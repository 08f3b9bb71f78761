# SPDX-License-Identifier: Apache-2.0

"""
Several robots of one kind that explore as one.

Read ``fleet``, which hands out the class and its link to one robot; ``assignments`` says what is
wanted next and which robot goes where, and ``sample_pool`` keeps what was brought home until it is
asked for.
"""
