# SPDX-License-Identifier: Apache-2.0

"""
The knowledge of a CMP, and the words for it: the bottom of the house, which imports no other room.

Read ``problem`` (actions, radius, epsilon, delta, RESET), ``policy`` (``Policy`` and
``Hypothesis``, what all of this is for) and ``counts`` (what was observed); ``declaration`` is
what is said in advance of where actions may lead, ``support`` that as far as it has not turned out
to be false, ``empirical_model`` is the CMP estimated from the counts, ``direct_way`` a way from
elsewhere than home, ``episode`` an attempt to follow a policy, ``snapshot`` what is saved of any
object in a checkpoint.
"""
