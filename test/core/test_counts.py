# SPDX-License-Identifier: Apache-2.0

"""Counting transitions, dealt into disjoint sets."""

from mnm_ros.core import Counts
from mnm_ros.core.paper.optimism import DealtCounts


def test_transition_j_of_a_pair_goes_to_set_j_mod_sets() -> None:
    counts = DealtCounts(3)
    for next_state in (10, 11, 12, 13, 14):
        counts.add(5, 1, next_state)
    counts.add(5, 0, 99)
    assert [dict(part) for part in counts.dealt(5, 1)] == [{10: 1, 13: 1}, {11: 1, 14: 1}, {12: 1}]
    assert counts.visits(5, 1) == 5 and counts.visits(5, 0) == 1
    assert counts.next_states(5, 0) == {99: 1}


def test_what_was_never_tried_is_empty() -> None:
    counts = DealtCounts(2)
    assert counts.visits(2 ** 62, 0) == 0
    assert counts.next_states(2 ** 62, 0) == {}
    assert [dict(part) for part in counts.dealt(2 ** 62, 0)] == [{}, {}]


def test_the_copy_does_not_grow_with_the_counts() -> None:
    counts = Counts()
    counts.add(0, 0, 1)
    copy = counts.as_dict()
    counts.add(0, 0, 1)
    assert copy == {(0, 0): {1: 1}}
