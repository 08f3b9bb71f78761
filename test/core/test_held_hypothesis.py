# SPDX-License-Identifier: Apache-2.0

"""What speaks against the hypothesis while no phase has it."""

from __future__ import annotations

from mnm_ros.core import Policy, RESET
from mnm_ros.core.mnm.memory import HeldHypothesis


def test_a_pair_that_is_forbidden_puts_only_those_in_doubt_that_play_it() -> None:
    held = HeldHypothesis()
    held.publish(1, tuple(Policy(target, 9, (0, 1, 2), (moves,)) for target, moves in (
        (0, (RESET, RESET, RESET)), (1, (0, RESET, RESET)), (2, (0, 1, RESET)))))
    held.forbid(frozenset([(0, 5)]))    # which no policy plays
    assert held.hypothesis is not None and held.hypothesis.revision == 0 and not held.doubted
    held.forbid(frozenset([(1, 1)]))
    assert {*held.doubted} == {2} and [*held.kept] == [0, 1] and held.hypothesis.revision == 1
    assert [policy.actions for policy in held.hypothesis.policies] == [
        ((RESET, RESET, RESET),), ((0, RESET, RESET),), ((0, RESET, RESET),)]
