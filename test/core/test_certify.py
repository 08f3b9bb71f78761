# SPDX-License-Identifier: Apache-2.0

"""States that failed a certificate are looked at again when something was learnt."""

from __future__ import annotations

from mnm_ros.core import Counts, Policy
from mnm_ros.core.disco.certify import most_relevant
from mnm_ros.core.disco.failed_certificates import FailedCertificates

FAILED = Policy(9, 5, (0, 1), ((0, 1),))


def test_a_state_is_due_when_its_pairs_were_tried_or_more_is_known() -> None:
    counts = Counts()

    def execute(state: int, times: int) -> None:
        for _ in range(times):
            counts.add(state, 0, 1)

    execute(0, 60)
    execute(1, 40)
    failed = FailedCertificates(counts)
    assert failed.due(9, 2) and failed.moves(9) is None
    failed.note(FAILED, ((0, 0), (1, 0)))
    assert not failed.due(9, 2) and failed.due(9, 3) and failed.due(8, 2)
    assert failed.moves(9) == (0, 1)
    execute(2, 100)    # of which it does not depend
    execute(1, 4)
    assert not failed.due(9, 2)
    execute(0, 1)
    assert failed.due(9, 2)


def test_a_policy_fails_as_before_while_it_comes_to_the_same_and_little_is_new() -> None:
    counts = Counts()
    for _ in range(100):
        counts.add(0, 0, 1)
    failed, more = FailedCertificates(counts), Policy(9, 5, (0, 1, 2), ((0, 1, 0),))
    pairs = ((0, 0), (1, 1))
    assert not failed.same(more, pairs)
    failed.note(FAILED, pairs)
    assert not failed.same(more, ((0, 0), (2, 0))) and failed.due(9, 3)
    assert failed.same(more, pairs[::-1]) and not failed.due(9, 3)
    assert failed.moves(9) == (0, 1, 0)
    for _ in range(5):
        counts.add(1, 1, 0)
    assert not failed.same(more, pairs)


def test_the_most_relevant_pairs() -> None:
    weights = {(0, 0): 4.0, (0, 1): 2.0, (1, 0): 1.9, (1, 1): 0.0}
    assert most_relevant(weights, 0.5) == [(0, 0), (0, 1)]
    assert most_relevant({(0, 0): 0.0}, 0.5) == most_relevant({}, 0.5) == []
